"""An embedding is a validated, read-only value that is searched, drawn and saved.

Covers graphprox._utils.node_ids.
"""

from __future__ import annotations

import dataclasses
import pickle
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from sklearn.utils import check_array

from graphprox import Embedding, Graph, ParameterError, nearest, read_embedding, write_embedding

VECTORS = np.array([[1.0, 0.0], [3.0, 4.0], [2.0, 0.0], [0.0, 1.0]], np.float32)
NAMES = ["ann", "bob", "cy", "dan"]


@pytest.fixture
def embedding():
    return Embedding(VECTORS, NAMES)


# -- value ----------------------------------------------------------------------------------------------------------


def test_sizes_and_repr(embedding):
    assert (embedding.num_nodes, embedding.n_components, embedding.shape, len(embedding)) == (4, 2, (4, 2), 4)
    assert repr(embedding) == "Embedding(4 nodes, 2 components)"


def test_ids_default_to_row_numbers():
    assert Embedding(VECTORS).ids.tolist() == [0, 1, 2, 3]


def test_an_embedding_is_immutable(embedding):
    with pytest.raises(dataclasses.FrozenInstanceError):
        embedding.ids = None
    for array in (embedding.vectors, embedding.ids, np.asarray(embedding), embedding["ann"]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[1]


def test_changing_the_input_arrays_later_does_not_change_the_embedding():
    vectors, ids = VECTORS.copy(), np.array([7, 8, 9, 10])
    embeddings = [Embedding(vectors, ids), Embedding(vectors[:, :], ids[:])]
    vectors[0], ids[0] = 9, 0
    assert all(embedding[7].tolist() == [1, 0] for embedding in embeddings)


def test_files_mapped_for_reading_are_not_copied_and_others_are(tmp_path):
    np.save(tmp_path / "v.npy", VECTORS)
    reading, writing = (np.load(tmp_path / "v.npy", mmap_mode=mode) for mode in ("r", "r+"))
    assert np.shares_memory(Embedding(reading).vectors, reading)
    embedding = Embedding(writing)
    writing[:] = 0
    assert np.array_equal(embedding.vectors, VECTORS)


def test_vectors_and_ids_of_a_graph_make_an_embedding():
    graph = Graph(VECTORS, [[0], [1]], node_ids=NAMES)
    assert Embedding(graph.x, graph.ids)["bob"].tolist() == [3, 4]


def test_an_embedding_survives_pickling(embedding):
    copy = pickle.loads(pickle.dumps(embedding))
    assert np.array_equal(copy.vectors, embedding.vectors)
    assert copy.ids.tolist() == NAMES


@pytest.mark.parametrize(
    ("vectors", "ids", "message"),
    [
        ([1.0, 2.0], None, r"a matrix of numbers, a row per node; got float64 of shape \(2,\)"),
        (np.empty((0, 3)), None, "a matrix of numbers"),
        ([["a"]], None, "a matrix of numbers"),
        ([[1], [2, 3]], None, "a matrix of numbers"),
        (torch.ones(2, 2, requires_grad=True), None, "a matrix of numbers, a row per node; Can't call numpy"),
        ([[1, np.nan]], None, "must be finite; node 0 has nan in component 1"),
        ([[1.0], [np.inf]], ["a", "b"], "must be finite; node 'b' has inf in component 0"),
        ([[1], [2]], ["a"], r"ids must name every row once; got shape \(1,\) for 2 rows"),
        ([[1], [2]], ["a", "a"], "ids must be unique; got 'a' more than once"),
        ([[1], [2]], [3, 3], "ids must be unique; got 3 more than once"),
        ([[1], [2]], [0.5, 1.5], "all integers below 2.63 or all strings; got 0.5"),
        ([[1], [2]], np.array([1, 2**63], np.uint64), "integer ids must be less than 2.63"),
    ],
)
def test_invalid_vectors_and_ids_are_rejected(vectors, ids, message):
    with pytest.raises(ParameterError, match=message):
        Embedding(vectors, ids)


def test_infinity_is_found_in_any_block():
    vectors = np.zeros((200_000, 3), np.float32)
    vectors[170_001, 2] = -np.inf
    with pytest.raises(ParameterError, match=r"node 170001 has -inf in component 2$"):
        Embedding(vectors)


# -- as an array ----------------------------------------------------------------------------------------------------


def test_asarray_returns_the_vectors_without_a_copy(embedding):
    assert np.asarray(embedding) is embedding.vectors
    assert np.shares_memory(np.array(embedding, copy=False), embedding.vectors)


def test_array_copies_and_converts_on_request(embedding):
    copy = np.array(embedding, copy=True)
    copy[0, 0] = 7
    assert embedding["ann"][0] == 1
    assert np.asarray(embedding, dtype=np.float64).dtype == np.float64
    with pytest.raises(ValueError, match="copy"):
        np.array(embedding, dtype=np.float64, copy=False)


def test_functions_of_arrays_accept_an_embedding(embedding):
    assert np.array_equal(check_array(embedding), VECTORS)
    assert torch.as_tensor(np.array(embedding)).shape == (4, 2)
    assert Embedding(embedding).vectors is embedding.vectors


# -- lookup by id ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ids", [NAMES, [30, -1, 7, 10**12], None])
def test_every_id_leads_to_its_vector(ids):
    embedding = Embedding(VECTORS, ids)
    assert list(embedding) == embedding.ids.tolist()
    for row, node in enumerate(embedding):
        assert node in embedding
        assert np.array_equal(embedding[node], VECTORS[row])
        assert embedding.index(node) == row


def test_ids_are_found_in_any_sequence(embedding):
    for ids in (["cy", "ann"], ("cy", "ann"), np.array(["cy", "ann"]), pd.Series(["cy", "ann"])):
        assert embedding.index(ids).tolist() == [2, 0]
    assert Embedding(VECTORS).index(np.array([3, 0])).tolist() == [3, 0]


@pytest.mark.parametrize(
    ("ids", "query", "message"),
    [
        (NAMES, "Anne", "^the embedding has no node 'Anne'; did you mean 'ann'?"),
        (NAMES, "somebody", "no node 'somebody'; its ids are strings such as 'ann', 'bob', 'cy'$"),
        (NAMES, 0, "no node 0; its ids are strings such as"),
        (NAMES, ["ann", "BOB"], "no node 'BOB'; did you mean 'bob'?"),
        (NAMES, None, "no node None"),
        ([5, 6, 7, 8], 9, r"no node 9; its ids are integers in 5\.\.8$"),
        ([5, 6, 7, 8], "5", r"no node '5'; its ids are integers in 5\.\.8$"),
        ([0, 1, 2, 3], True, "no node True"),
        ([0, 1, 2, 3], 1.0, "no node 1.0"),
        (NAMES, [["ann"]], r"ids must be one node id or a list of them; got an array of shape \(1, 1\)"),
    ],
)
def test_unknown_ids_are_rejected_with_a_suggestion(ids, query, message):
    embedding = Embedding(VECTORS, ids)
    with pytest.raises(ParameterError, match=message):
        embedding.nearest(query, k=1)
    if not isinstance(query, list):
        assert query not in embedding
        with pytest.raises(ParameterError, match=message):
            embedding[query]


# -- nearest --------------------------------------------------------------------------------------------------------


def test_nearest_of_one_node(embedding):
    neighbors = embedding.nearest("ann", k=3)
    assert neighbors.ids.tolist() == ["cy", "bob", "dan"]
    assert neighbors.scores == pytest.approx([1, 0.6, 0])
    assert neighbors.nodes.tolist() == [2, 1, 3]
    assert list(neighbors) == [(node, neighbors.scores[i]) for i, node in enumerate(["cy", "bob", "dan"])]
    assert (len(neighbors), neighbors[0], neighbors[-1]) == (3, ("cy", 1.0), ("dan", 0.0))


def test_nearest_of_several_nodes_is_a_sequence_of_results(embedding):
    several = embedding.nearest(["ann", "dan"], k=2, metric="euclidean")
    assert several.ids.shape == several.scores.shape == (2, 2)
    assert several.query.tolist() == ["ann", "dan"]
    assert len(several) == 2
    for one, name in zip(several, ["ann", "dan"], strict=True):
        alone = embedding.nearest(name, k=2, metric="euclidean")
        assert list(one) == list(alone)
        assert repr(one) == repr(alone)
    with pytest.raises(IndexError):
        several[2]


def test_a_list_of_one_id_gives_a_row(embedding):
    assert embedding.nearest(["ann"], k=2).ids.shape == (1, 2)


@pytest.mark.parametrize("metric", ["cosine", "dot", "euclidean"])
def test_nearest_by_id_equals_nearest_by_row_number(metric):
    vectors = np.random.default_rng(0).normal(size=(50, 5))
    names = [f"n{i}" for i in range(50)]
    by_id = Embedding(vectors, names).nearest(["n3", "n41"], k=7, metric=metric)
    by_row = nearest(vectors, [3, 41], k=7, metric=metric)
    assert np.array_equal(by_id.nodes, by_row.nodes)
    assert np.array_equal(by_id.scores, by_row.scores)
    assert by_id.ids.tolist() == [[names[row] for row in rows] for rows in by_row.ids]


def test_repr_of_neighbors(embedding):
    lines = repr(embedding.nearest("bob", k=2)).splitlines()
    assert lines == ["Neighbors of 'bob' by cosine:", "  dan  0.8000", "  ann  0.6000"]
    assert repr(embedding.nearest(NAMES, k=2)) == "Neighbors(4 queries, k=2, metric='cosine')"
    many = Embedding(np.random.default_rng(0).normal(size=(60, 3))).nearest(0, k=50)
    assert len(repr(many).splitlines()) == 22


@pytest.mark.parametrize("k", [0, 4, 1.5])
def test_k_must_be_less_than_the_number_of_nodes(embedding, k):
    with pytest.raises(ParameterError, match="k must be between 1 and 3, the number of other nodes; got"):
        embedding.nearest("ann", k=k)


# -- files and frames -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["parquet", "npz", "csv", "txt", "w2v", "tsv"])
@pytest.mark.parametrize("ids", [NAMES, [30, -1, 7, 9]])
def test_save_and_load_round_trip(tmp_path, ending, ids):
    embedding = Embedding(VECTORS, ids)
    files = embedding.save(tmp_path / f"vectors.{ending}")
    assert all(file.exists() for file in files)
    loaded = Embedding.load(files[0])
    assert np.array_equal(loaded.vectors, VECTORS)
    assert loaded.ids.tolist() == ids


def test_npy_files_have_no_ids(tmp_path, embedding):
    (path,) = embedding.save(str(tmp_path / "vectors.npy"))
    assert Embedding.load(path).ids.tolist() == [0, 1, 2, 3]
    assert Embedding.load(path, ids=NAMES).nearest("ann", k=1).ids.tolist() == ["cy"]


def test_methods_and_functions_write_and_read_the_same(tmp_path, embedding):
    embedding.save(tmp_path / "method.csv")
    write_embedding(tmp_path / "function.csv", VECTORS, NAMES)
    assert (tmp_path / "method.csv").read_bytes() == (tmp_path / "function.csv").read_bytes()
    assert read_embedding(tmp_path / "function.csv").ids.tolist() == NAMES


def test_frame_has_ids_as_index_and_equals_a_wide_parquet_file(tmp_path, embedding):
    frame = embedding.to_frame()
    assert frame.loc["bob"].tolist() == [3, 4]
    (path,) = embedding.save(tmp_path / "vectors.parquet", layout="wide")
    pd.testing.assert_frame_equal(frame, pd.read_parquet(path).set_index("id"))
    frame.loc["bob", "0"] = 9
    assert embedding["bob"][0] == 3


def test_frame_without_pandas_says_what_to_install(embedding, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="requires pandas: pip install pandas"):
        embedding.to_frame()


def test_a_sparse_matrix_is_refused_with_the_remedy():
    with pytest.raises(
        ParameterError, match=r"must be a dense matrix, a row per node; got a sparse one: call its toarr"
    ):
        Embedding(sp.csr_array(np.eye(3)))
