"""Laws of readers and writers: the order of rows and columns does not matter, and what is written is read."""

from __future__ import annotations

import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fuzz.examples import MIXED, NUMBERED, to_csv, to_excel
from graphprox import GraphproxWarning, WriteError, read_embedding, read_graph, write_embedding

FORMATS = {
    "e.parquet": {},
    "wide.parquet": {"layout": "wide"},
    "e.npz": {},
    "e.npy": {},
    "e.csv": {},
    "e.txt": {},
    "e.w2v": {},
    "e.tsv": {},
    "e.duckdb": {},
}
NUMBERS = st.floats(width=32, allow_nan=False, allow_infinity=False, allow_subnormal=False)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
QUICK, LONG = settings(max_examples=12), settings(max_examples=150)


def write_and_read(name, vectors, ids):
    """Check that an embedding is read as it was written, unless its ids cannot be written."""
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        try:
            write_embedding(path, vectors, ids, **FORMATS[name])
        except WriteError as error:
            assert "ids" in str(error)  # noqa: PT017 - it need not occur
            return
        found = read_embedding(path, ids=ids if name == "e.npy" else None)
        assert np.array_equal(found.vectors, vectors)
        assert [str(each) for each in found.ids.tolist()] == [str(each) for each in ids]


@st.composite
def embeddings(draw):
    shape = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    vectors = draw(arrays(np.float32, shape, elements=NUMBERS))
    kinds = TEXT | st.integers(-(10**6), 10**18).map(str), st.integers(-(2**63), 2**63 - 1)
    return vectors, draw(st.lists(draw(st.sampled_from(kinds)), min_size=shape[0], max_size=shape[0], unique=True))


def check_permuted(data, kind):
    """Check that a graph does not depend on the order of rows and columns."""
    numbers = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    expected = read_tables(NUMBERED, MIXED, kind)
    edges = NUMBERED.iloc[numbers.permutation(len(NUMBERED)), numbers.permutation(2)]
    features = MIXED.iloc[numbers.permutation(len(MIXED)), numbers.permutation(MIXED.shape[1])]
    found = read_tables(edges, features, kind)
    pd.testing.assert_frame_equal(to_frame(found), to_frame(expected))
    assert to_edges(found) == to_edges(expected)


def read_tables(edges, features, kind):
    with TemporaryDirectory() as folder, warnings.catch_warnings(action="ignore", category=GraphproxWarning):
        paths = [Path(folder, f"{name}{kind}") for name in ("edges", "features")]
        for path, table in zip(paths, (edges, features), strict=True):
            write = {".parquet": table.to_parquet, ".csv": table.to_csv, ".csv.gz": table.to_csv}.get(kind)
            write(path, index=False) if write else table.to_csv(path, index=False, sep="\t")
        return read_graph(paths[0], features=paths[1])


def to_frame(graph):
    """Return the features by node id and name of column, in order."""
    x = graph.x if isinstance(graph.x, np.ndarray) else graph.x.toarray()
    return pd.DataFrame(x, index=graph.ids, columns=graph.feature_names).sort_index().sort_index(axis=1)


def to_edges(graph):
    return {frozenset(pair) for pair in graph.ids[graph.edge_index].T.tolist()}


@st.composite
def tables(draw):
    """Draw a table of words and of numbers with at most two decimals, which no thousands have."""
    words = st.text("abzäöüßé€ ,;|'\"", min_size=1, max_size=8).filter(lambda word: word.strip() == word)
    numbers = st.floats(-1e6, 1e6).map(lambda number: round(number, 2))
    cells = {"größe": numbers | st.none(), "stadt": words, "preis": numbers, "Café": words | st.none()}
    size = draw(st.integers(5, 12))
    return pd.DataFrame({"id": range(size), **{name: draw_cells(draw, each, size) for name, each in cells.items()}})


def draw_cells(draw, cells, size):
    # Rows without a cell in any column, and columns with one value, are laws of their own.
    return draw(st.lists(cells, min_size=size, max_size=size).filter(lambda found: len({*found} - {None}) > 1))


EXCEL = {
    "x.csv": {"encoding": "utf-8-sig"},
    "y.csv": {"encoding": "cp1252", "named": False},
    "z.csv": {"encoding": "utf-16", "named": False},
    "x.txt": {"encoding": "utf-16-be", "sep": "|", "decimal": "."},
}


def check_excel(table, name):
    """Check that a table is read as it is, however Excel saves it."""
    options = EXCEL[name]
    with TemporaryDirectory() as folder, warnings.catch_warnings(action="ignore", category=GraphproxWarning):
        edges, plain, path = (Path(folder, each) for each in ("edges.csv", "plain.csv", name))
        edges.write_bytes(to_csv(NUMBERED))
        plain.write_bytes(to_csv(table))
        content = to_excel(table, **options)
        path.write_bytes(b"\xfe\xff" + content if options["encoding"] == "utf-16-be" else content)
        found, expected = (read_graph(edges, features=each) for each in (path, plain))
    assert found.feature_names == expected.feature_names
    assert np.array_equal(found.x, expected.x)


@pytest.mark.parametrize("name", EXCEL)
@given(tables())
@QUICK
def test_a_table_is_the_same_however_excel_saves_it(name, table):
    check_excel(table, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXCEL)
@given(tables())
@LONG
def test_many_tables_are_the_same_however_excel_saves_them(name, table):
    check_excel(table, name)


@pytest.mark.parametrize("name", FORMATS)
@given(embeddings())
@QUICK
def test_an_embedding_is_read_as_it_was_written(name, embedding):
    write_and_read(name, *embedding)


@pytest.mark.parametrize("kind", [".csv", ".csv.gz", ".tsv", ".parquet"])
@given(data=st.data())
@QUICK
def test_the_order_of_rows_and_columns_does_not_matter(kind, data):
    check_permuted(data, kind)


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
@given(embeddings())
@LONG
def test_many_embeddings_are_read_as_they_were_written(name, embedding):
    write_and_read(name, *embedding)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [".csv", ".csv.gz", ".tsv", ".parquet"])
@given(data=st.data())
@LONG
def test_no_order_of_rows_and_columns_matters(kind, data):
    check_permuted(data, kind)
