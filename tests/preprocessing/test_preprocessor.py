"""What a method knows of its features: names, encoding and scale, the same for every graph."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from graphprox import Graph, GraphError, IgnoredInputWarning, load
from graphprox.datasets import CATALOG
from graphprox.errors import DatasetError
from graphprox.preprocessing import Preprocessor, TableEncoder, encode_table

EDGES = [[0, 1], [1, 2]]
TABLE = pa.table({"age": [31, 40, 52], "city": ["Paris", "Rome", "Paris"]})
NUMBERS = np.array([[30, 52_000], [50, 31_000], [40, 40_000]], np.float32)


def named(x, names):
    return Graph(x, EDGES, feature_names=names)


def test_columns_of_numbers_are_found_by_their_names():
    fitted = Preprocessor.fit(named(NUMBERS, ["age", "income"]))
    swapped = named(NUMBERS[:, ::-1], ["income", "age"])
    assert np.array_equal(fitted.transform(swapped).x, fitted.transform(named(NUMBERS, ["age", "income"])).x)
    with pytest.raises(GraphError, match="column 'income' is missing"):
        fitted.transform(named(NUMBERS, ["age", "salary"]))
    wide = named(np.column_stack([NUMBERS, [1, 2, 3]]), ["age", "income", "more"])
    with pytest.warns(IgnoredInputWarning, match="column 'more' not in the fitted table"):
        found = fitted.transform(wide)
    assert found.num_features == 2


def test_columns_without_names_are_taken_in_order():
    fitted = Preprocessor.fit(named(NUMBERS, ["age", "income"]))
    assert np.array_equal(fitted.encode(Graph(NUMBERS, EDGES)).x, NUMBERS)
    unnamed = Preprocessor.fit(Graph(NUMBERS, EDGES))
    assert np.array_equal(unnamed.encode(named(NUMBERS, ["a", "b"])).x, NUMBERS)


def test_another_table_is_encoded_by_the_fitted_one():
    fitted = Preprocessor.fit(Graph(encode_table(TABLE), EDGES))
    other = Graph(encode_table(pa.table({"city": ["Oslo", "Rome", None], "age": [41, None, 5]})), EDGES)
    with pytest.warns(IgnoredInputWarning, match="'city' has 'Oslo'"):
        encoded = fitted.encode(other)
    assert encoded.feature_names == ("age", "city=Paris", "city=Rome")
    assert encoded.x.tolist() == [[41, 0, 0], [41, 0, 1], [5, 0, 0]]


def test_cells_may_be_missing_that_were_not():
    fitted = Preprocessor.fit(named(NUMBERS, ["age", "income"]))
    other = Graph(encode_table(pa.table({"age": [10, None, 20], "income": [1, 2, 3]})), EDGES)
    assert fitted.encode(other).x.tolist() == [[10, 1], [40, 2], [20, 3]]


def test_a_table_of_numbers_may_follow_one_of_other_kinds():
    fitted = Preprocessor.fit(Graph(encode_table(TABLE), EDGES))
    with pytest.raises(GraphError, match="column 'city' is missing"):
        fitted.encode(named(NUMBERS, ["age", "income"]))
    with pytest.warns(IgnoredInputWarning, match="'city' has '1"):
        encoded = fitted.encode(named(NUMBERS // 30, ["age", "city"]))
    assert encoded.x.tolist() == [[1, 0, 0], [1, 0, 0], [1, 0, 0]]


def test_quantities_are_standardized_and_categories_are_not():
    graph = Preprocessor.fit(Graph(encode_table(TABLE), EDGES)).transform(Graph(encode_table(TABLE), EDGES))
    assert graph.x.std(axis=0)[0] == pytest.approx(1)
    assert graph.x[:, 1:].tolist() == [[1, 0], [0, 1], [1, 0]]


def test_a_graph_that_needs_no_preparation_stays_the_same():
    graph = Graph(np.eye(3), EDGES)
    assert Preprocessor.fit(graph).transform(graph) is graph


def test_a_preprocessor_is_the_same_after_json():
    graph = Graph(encode_table(TABLE), EDGES)
    fitted = Preprocessor.fit(graph)
    again = Preprocessor.from_dict(json.loads(json.dumps(fitted.to_dict())), num_features=3)
    assert again.encoder == fitted.encoder
    assert np.array_equal(again.transform(graph).x, fitted.transform(graph).x)
    buckets = Preprocessor(degree_buckets=[1, 2, 4]).to_dict()
    assert Preprocessor.from_dict(json.loads(json.dumps(buckets)), num_features=3).degree_buckets == [1, 2, 4]
    empty = Preprocessor.from_dict(None, num_features=3)
    assert (empty.encoder, empty.scaling) == (None, None)


@pytest.mark.parametrize(
    "stored",
    [
        {},
        {"encoder": None, "scaling": None},
        {"encoder": None, "scaling": None, "scale": "much"},
        {"encoder": {"columns": []}, "scaling": {}, "scale": "auto"},
        {"encoder": None, "scaling": {"center": [0.0], "factors": [1.0], "keeps_zero_rows": True}, "scale": "auto"},
        {"encoder": TableEncoder.of_numbers(["a"], np.zeros(1)).to_dict(), "scaling": None, "scale": "auto"},
        {"encoder": None, "scaling": None, "scale": "auto", "degree_buckets": [1, 2]},
        {"encoder": None, "scaling": None, "scale": "auto", "degree_buckets": [1, 3, 2]},
        {"encoder": None, "scaling": None, "scale": "auto", "degree_buckets": [1, 2, "3"]},
        [],
    ],
)
def test_a_damaged_description_is_rejected(stored):
    with pytest.raises(ValueError, match="must"):
        Preprocessor.from_dict(stored, num_features=3)


@pytest.mark.parametrize("name", [*CATALOG, "synthetic"])
@pytest.mark.filterwarnings("ignore::graphprox.StructuralFeaturesWarning")
def test_no_benchmark_graph_is_scaled(name, data, monkeypatch):
    def refuse(*_args, **_options):
        raise DatasetError("nothing is downloaded by tests")

    monkeypatch.setattr("graphprox.datasets.source._download", refuse)
    try:
        graph = load(name, data=data).graph
    except DatasetError as error:
        pytest.skip(f"{name} is not in GRAPHPROX_DATA: {error}")
    assert Preprocessor.fit(graph).transform(graph) is graph


def test_equal_rows_are_encoded_by_a_fitted_model_and_are_not_fitted():
    fitted = Preprocessor.fit(Graph(encode_table(TABLE), EDGES))
    equal = Graph(encode_table(pa.table({"age": [35] * 3, "city": ["Rome"] * 3})), EDGES)
    assert fitted.encode(equal).x.tolist() == [[35, 0, 1]] * 3
    with pytest.raises(GraphError, match="must have a column that differs between nodes; 'age' has the same value"):
        Preprocessor.fit(equal)
