"""Tables as numbers, and graphs that have them as features."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from graphprox import AssumedInputWarning, Graph, GraphError, ParameterError
from graphprox.graph import graph_checksum
from graphprox.preprocessing import EncodedTable, Preprocessor, TableEncoder, encode_table

TABLE = pa.table({"age": [31, None, 52], "city": ["Paris", "Rome", "Paris"]})
NAMES = ("age", "age is missing", "city=Paris", "city=Rome")
EDGES = [[0, 1], [1, 2]]


def test_a_table_of_numbers_is_taken_as_it_is():
    encoded = encode_table(pa.table({"a": [1, 2], "b": [0.5, 2**24 + 1]}))
    assert encoded.x.tolist() == [[1, 0.5], [2, 2**24]]
    assert encoded.feature_names == ("a", "b")
    assert (encoded.encoder, encoded.columns) == (None, None)


def test_a_table_of_mostly_zeros_is_sparse_and_stored_once():
    words = sp.random_array((50, 40), density=0.05, rng=np.random.default_rng(0)).toarray()
    encoded = encode_table(pa.table({str(i): words[:, i] for i in range(40)}))
    assert isinstance(encoded.x, sp.csr_array)
    assert encoded.columns is None


@pytest.mark.parametrize("cell", [None, np.nan])
def test_a_missing_number_is_filled(cell):
    encoded = encode_table(pa.table({"a": [1, cell, 3], "b": [1, 2, 3]}))
    assert encoded.x.tolist() == [[1, 0, 1], [2, 1, 2], [3, 0, 3]]


def test_another_encoder_gives_its_columns():
    encoder = TableEncoder.fit(pa.table({"city": ["Paris", "Oslo", "Rome"], "age": [1, 2, 3]}))
    encoded = encode_table(TABLE, encoder)
    assert encoded.feature_names == ("city=Oslo", "city=Paris", "city=Rome", "age")
    assert encoded.x.tolist() == [[0, 1, 0, 31], [0, 0, 1, 2], [0, 1, 0, 52]]


def raised_by(call):
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        call()
    return [(each.category, str(each.message).partition(",")[0]) for each in raised]


def test_many_rows_without_cells_are_a_warning_if_a_fitted_encoder_reads_them():
    encoder = TableEncoder.fit(TABLE)
    few, many = (
        TABLE.take(pa.array([i % 3 if i >= empty else None for i in range(100)], pa.int64())) for empty in (10, 11)
    )
    assert raised_by(lambda: encode_table(few, encoder)) == []
    assert raised_by(lambda: encode_table(many, encoder)) == [
        (AssumedInputWarning, "11 of 100 rows of features have no cells")
    ]
    assert raised_by(lambda: encode_table(many)) == []


def test_rows_are_taken_of_numbers_and_columns():
    taken = encode_table(TABLE).take(np.array([2, 0]))
    assert taken.x.tolist() == [[52, 0, 1, 0], [31, 0, 1, 0]]
    assert taken.columns.column("age").to_pylist() == [52, 31]


def test_a_graph_keeps_names_and_table():
    graph = Graph(encode_table(TABLE), EDGES, y=[0, 1, 1])
    for each in (graph, graph.without_labels(), graph.to_undirected(), graph.with_labels([1, 1, 0])):
        assert each.feature_names == NAMES
        assert each.table.columns.equals(TABLE)
        assert each.table.x is each.x
    assert graph_checksum(graph) == graph_checksum(Graph(graph.x, EDGES))


@pytest.mark.parametrize("copy_of", [copy.copy, copy.deepcopy, lambda graph: pickle.loads(pickle.dumps(graph))])
def test_a_copy_of_a_graph_keeps_names_and_table(copy_of):
    graph = copy_of(Graph(encode_table(TABLE), EDGES))
    assert graph.feature_names == NAMES
    assert graph.table.columns.equals(TABLE)
    assert graph.table.encoder == encode_table(TABLE).encoder
    assert not graph.x.flags.writeable
    assert not graph.table.x.flags.writeable


def test_other_features_have_other_names_and_no_table():
    graph = Graph(encode_table(TABLE), EDGES)
    assert graph.with_features(np.eye(3)).feature_names is None
    assert graph.with_features(np.eye(3)).table is None
    assert graph.with_features(np.eye(3), feature_names="abc").feature_names == ("a", "b", "c")
    assert Graph(np.eye(3), EDGES).with_features(encode_table(TABLE)).feature_names == NAMES


def test_a_graph_of_numbers_keeps_no_table():
    graph = Graph(encode_table(pa.table({"a": [1, 2, 3]})), EDGES)
    assert (graph.feature_names, graph.table) == (("a",), None)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["a"], "one name per column of x; got 1 for 2"),
        (["a", "a"], "must differ; got 'a'"),
        (["a", 3], "strings; got 3"),
    ],
)
def test_feature_names_are_validated(names, words):
    with pytest.raises(GraphError, match=words):
        Graph([[1, 2], [3, 4]], [[0], [1]], feature_names=names)


def test_a_table_must_have_a_row_per_node():
    with pytest.raises(GraphError, match="a row per node; got 3 for 2 nodes"):
        Graph(np.eye(2), [[0], [1]]).with_features(encode_table(TABLE))


def test_an_encoded_table_can_be_made_of_a_matrix():
    assert Graph(EncodedTable(np.eye(3, dtype=np.float32), tuple("abc")), EDGES).feature_names == ("a", "b", "c")


# -- kinds that the user gives --------------------------------------------------------------------------------------

RNG = np.random.default_rng(0)
MIXED = pa.table(
    {
        "age": RNG.normal(40, 9, 30),
        "income": RNG.normal(50_000, 9_000, 30),
        "zip": RNG.integers(1, 5, 30),
        "city": RNG.choice(["Paris", "Rome"], 30),
        "note": [f"{i} is one of many long sentences about what somebody likes" for i in range(30)],
    }
)
CHAIN = [range(29), range(1, 30)]


@pytest.mark.parametrize("names", [["age", "income"], ["age", "income", "city"]], ids=["numbers", "mixed"])
@pytest.mark.parametrize("scale", ["auto", "standard", "none"])
def test_an_ignored_column_changes_nothing_but_that_it_is_known(names, scale):
    without = encode_table(MIXED.select(names))
    ignored = encode_table(MIXED.select([*names, "note"]), kinds={"note": "ignored"})
    assert np.array_equal(ignored.x, without.x)
    assert ignored.feature_names == without.feature_names
    assert ignored.encoder.ignored == ("note",)
    prepared = [
        Preprocessor.fit(Graph(each, CHAIN), scale=scale).transform(Graph(each, CHAIN)).x for each in (ignored, without)
    ]
    assert np.array_equal(*prepared)


@pytest.mark.parametrize("names", [["age", "note"], ["age", "city", "note"]], ids=["numbers", "mixed"])
def test_a_model_knows_what_was_ignored(names):
    graph = Graph(encode_table(MIXED.select(names), kinds={"note": "ignored"}), CHAIN)
    model = Preprocessor.from_dict(Preprocessor.fit(graph).to_dict(), num_features=graph.num_features)
    expected = model.transform(graph).x
    for columns in (names, names[:-1], names[::-1]):
        with warnings.catch_warnings(action="error"):
            other = Graph(encode_table(MIXED.select(columns), model.encoder), CHAIN)
            assert np.array_equal(model.transform(other).x, expected)


def test_codes_of_a_graph_are_categories_of_its_model():
    kinds = {"zip": "category"}
    graph = Graph(encode_table(MIXED.select(["age", "zip"]), kinds=kinds), CHAIN)
    assert graph.feature_names == ("age", "zip=1", "zip=2", "zip=3", "zip=4")
    encoder = Preprocessor.from_dict(Preprocessor.fit(graph).to_dict(), num_features=5).encoder
    assert np.array_equal(encode_table(MIXED.select(["zip", "age"]), encoder).x, graph.x)


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        ({"zpi": "category"}, "kinds must name columns of the table; got 'zpi': did you mean 'zip'"),
        ({"note": "text"}, "kinds must be among number, boolean, category, date, ignored; got 'text' for 'note'"),
        (dict.fromkeys(MIXED.column_names, "ignored"), "must have a column that is not ignored; all of them are"),
    ],
)
def test_kinds_that_cannot_be_taken_are_rejected(kinds, words):
    with pytest.raises((ParameterError, GraphError), match=words):
        encode_table(MIXED, kinds=kinds)


def test_kinds_are_those_of_a_fitted_encoder():
    encoder = TableEncoder.fit(MIXED.select(["age"]))
    with pytest.raises(ParameterError, match="kinds must not be given with an encoder"):
        encode_table(MIXED, encoder, kinds={"age": "number"})


def test_a_graph_with_kinds_can_be_pickled():
    graph = Graph(encode_table(MIXED, kinds={"zip": "category", "note": "ignored"}), CHAIN)
    again = pickle.loads(pickle.dumps(graph))
    assert (again.table.kinds, again.table.encoder) == (graph.table.kinds, graph.table.encoder)
