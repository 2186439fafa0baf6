"""A table that is read in blocks is encoded as the same table in memory.

Covers graphprox.preprocessing.cell_statistics and graphprox.preprocessing.column_statistics.
"""

from __future__ import annotations

import json
import warnings

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from graphprox.errors import GraphError
from graphprox.preprocessing import cell_statistics
from graphprox.preprocessing.cell_statistics import Words
from graphprox.preprocessing.column_statistics import WrongCellError
from graphprox.preprocessing.encoded_table import encode_table
from graphprox.preprocessing.table_encoder import find_missing_rows
from graphprox.preprocessing.table_statistics import TableStatistics, merge_statistics

CELLS = {
    "number": ["1", "2.5", "-3", "0", "1e3", None],
    "zero": ["0", "0", "0", "0", "0", "0", "1"],
    "boolean": ["yes", "no", "Yes", None, "NA"],
    "category": ["Paris", "Rome", "Oslo", " Rome ", "", "n/a"],
    "code": ["007", "08", "1"],
    "constant": ["x"],
    "empty": ["", "NA", None],
    "date": ["2024-01-31", "1999-12-01", "", "2020-02-29 10:30"],
    "two dates": ["1/2/2024", "12/11/2020", "30/1/2024"],
    "mixed": ["1", "2", "3", "x"],
    "wrong date": ["2024-01-31", "2024-01-30", "2024-02-31"],
    "comma": ["1,5", "2", "3"],
    "text": ["a long description of what a node is and does", "another long description of what it is", "x" * 60],
    "names": [f"name {i}" for i in range(40)],
    "floats": [0.5, 0.0, None, float("nan"), 2.0],
    "integers": [1, 2, 3],
    "flags": [True, False, None],
}


@st.composite
def tables(draw):
    rows = draw(st.integers(1, 25))
    kinds = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=4))
    return pa.table(
        {f"{kind} {i}": [draw(st.sampled_from(CELLS[kind])) for _ in range(rows)] for i, kind in enumerate(kinds)}
    )


def fit_in_blocks(table, size, num_missing=0, **options):
    blocks = [table.slice(start, size) for start in range(0, table.num_rows, size)]
    stored = [json.dumps(TableStatistics.of(block).to_dict()) for block in blocks]
    statistics = merge_statistics(TableStatistics.from_dict(json.loads(each)) for each in stored)

    def count(columns):
        return sum(find_missing_rows(each, columns).sum() for each in blocks)

    return statistics.fit(num_missing, count, **options)


def attempt(call, *arguments):
    try:
        return call(*arguments)
    except (GraphError, WrongCellError) as error:
        return error


@given(table=tables(), size=st.integers(1, 30), num_missing=st.integers(0, 2))
@settings(max_examples=100)
def test_statistics_of_blocks_are_those_of_the_table(table, size, num_missing):
    rows = pa.array([*range(table.num_rows), *[None] * num_missing], pa.int64())
    with warnings.catch_warnings(action="ignore"):
        expected = attempt(encode_table, table.take(rows))
        found = attempt(fit_in_blocks, table, size, num_missing)
    if isinstance(expected, GraphError):
        assert isinstance(found, WrongCellError) or str(found) == str(expected)
        return
    assert found.names == expected.feature_names
    assert found.is_sparse == sp.issparse(expected.x)
    assert (found.encoder is None) == (expected.encoder is None)
    if found.encoder is not None and found.encoder.columns:
        x = found.encoder.transform(table.take(rows))
        np.testing.assert_allclose(*(each.toarray() if sp.issparse(each) else each for each in (x, expected.x)))
        assert found.encoder.ignored == expected.encoder.ignored


def test_numbers_of_a_text_file_are_taken_as_they_are():
    table = pa.table({"a": ["1", "2"], "b": ["0", "0"]})
    assert fit_in_blocks(table, 1, numbers_as_text=True).encoder is None
    with pytest.warns(match="'b' has the same value"):
        assert fit_in_blocks(table, 1).names == ("a",)


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_number_of_different_words_is_estimated_if_there_are_many(monkeypatch, share):
    monkeypatch.setattr(cell_statistics, "MAX_WORDS", 1000)
    count = 100_000
    words = [f"word {i % int(share * count)}" for i in range(count)]
    found = Words.of(pa.array(words[:60_000]))
    found.add(Words.of(pa.array(words[60_000:])))
    assert found.counts is None
    assert abs(found.num_distinct / (share * count) - 1) < 0.05


def test_many_names_are_ignored_and_many_categories_are_an_error(monkeypatch):
    monkeypatch.setattr(cell_statistics, "MAX_WORDS", 50)
    names = pa.table({"name": [f"name {i}" for i in range(200)], "age": range(200)})
    with pytest.warns(match="'name' has another value in nearly every row"):
        assert fit_in_blocks(names, 60).names == ("age",)
    cities = pa.table({"city": [f"city {i % 100}" for i in range(200)], "age": range(200)})
    with pytest.raises(GraphError, match=r"at most .* different ones in a graph that is sharded; 'city' has more"):
        fit_in_blocks(cities, 60)


def test_parts_of_other_types_are_an_error():
    first, second = pa.table({"a": [1, 2]}), pa.table({"a": ["x", "y"]})
    with pytest.raises(GraphError, match="'a' has a number in some parts, and a text in others"):
        merge_statistics([TableStatistics.of(first), TableStatistics.of(second)])
