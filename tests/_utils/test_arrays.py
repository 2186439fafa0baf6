"""Values with read-only arrays."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from graphprox import Dataset, Embedding, Graph, GraphproxError, NodeSplit, edge_split, nearest
from graphprox._utils.arrays import freeze, freeze_csr
from graphprox.evaluation.links import score_pairs
from graphprox.evaluation.retrieval import score_neighbors
from graphprox.views.ranking import Ranking

X = np.eye(6, 2, dtype=np.float32) + 1
GRAPH = Graph(X, [range(5), range(1, 6)], edge_weight=range(1, 6), y=[0, 1] * 3, node_ids=list("abcdef"))
SPARSE = Graph(sp.csr_array(X), [range(5), range(1, 6)])
SPLIT = NodeSplit([0], [1], [2])
EDGES = edge_split(GRAPH, random_state=0, val=0.2, test=0.2)
VALUES = {
    "graph": (GRAPH, ("x", "edge_index", "edge_weight", "y", "node_ids")),
    "sparse graph": (SPARSE, ("x.data", "x.indices", "x.indptr")),
    "split of nodes": (SPLIT, ("train", "val", "test")),
    "split of edges": (EDGES, ("val_edges", "val_non_edges", "test_edges", "test_non_edges", "graph.edge_index")),
    "ranking": (Ranking([[1], [0]], [[1.0], [1.0]]), ("neighbors", "similarities")),
    "embedding": (Embedding([[1, 2], [3, 4]], ["a", "b"]), ("vectors", "ids")),
    "data set": (Dataset("mine", GRAPH, {"public": (SPLIT,)}), ("graph.x",)),
}
COPIES = {
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
    "oldest pickle": lambda value: pickle.loads(pickle.dumps(value, protocol=2)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


def get(value, path):
    for name in path.split("."):
        value = getattr(value, name)
    return value


@pytest.mark.parametrize("make_copy", COPIES.values(), ids=list(COPIES))
@pytest.mark.parametrize("name", VALUES)
def test_arrays_stay_read_only_in_copies(name, make_copy):
    value, paths = VALUES[name]
    made = make_copy(value)
    for path in paths:
        array = get(made, path)
        assert np.array_equal(array, get(value, path))
        with pytest.raises(ValueError, match="read-only"):
            array[...] = array


def test_copy_of_a_data_set_has_its_splits():
    dataset = Dataset("mine", GRAPH, {"public": (SPLIT,)})
    for make_copy in COPIES.values():
        made = make_copy(dataset)
        assert made.name == "mine"
        assert made.splits["public"][0].train.tolist() == [0]
        with pytest.raises(TypeError):
            made.splits["other"] = ()


RAGGED = [[0, 1], [1]]


@pytest.mark.parametrize(
    "call",
    [
        lambda: Graph(X, RAGGED),
        lambda: Graph(X, [[0], [1]], y=RAGGED),
        lambda: Graph(X, [[0], [1]], edge_weight=RAGGED),
        lambda: Graph(X, [[0], [1]], node_ids=RAGGED),
        lambda: Graph(RAGGED, [[0], [1]]),
        lambda: NodeSplit(RAGGED, [], []),
        lambda: NodeSplit.from_masks(RAGGED, [], []),
        lambda: Embedding(RAGGED),
        lambda: Embedding(X, ids=RAGGED),
        lambda: nearest(X, RAGGED),
        lambda: score_pairs(X, RAGGED, RAGGED),
        lambda: score_neighbors(X, RAGGED),
    ],
)
def test_rows_of_different_lengths_are_refused_in_one_sentence(call):
    with pytest.raises(GraphproxError) as refused:
        call()
    assert "\n" not in str(refused.value)


def test_own_array_is_frozen_without_a_copy():
    array = np.arange(3)
    assert freeze(array) is array
    assert not array.flags.writeable


def test_given_array_is_copied_if_it_is_writeable():
    given = np.arange(3)
    frozen = freeze(given, given=given)
    given[0] = 9
    assert frozen.tolist() == [0, 1, 2]
    assert not frozen.flags.writeable
    assert freeze(frozen, given=frozen) is frozen


def test_view_of_other_memory_is_copied():
    tensor = torch.zeros(3)
    frozen = freeze(tensor.numpy())
    tensor[0] = 9
    assert frozen.tolist() == [0, 0, 0]


def test_sparse_matrix_is_frozen_without_duplicates_and_zeros():
    given = sp.coo_array(([1.0, 2.0, 0.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    frozen = freeze_csr(given)
    assert (frozen.dtype, frozen.nnz, frozen.toarray().tolist()) == (np.float32, 1, [[0, 3], [0, 0]])
    assert given.nnz == 3
    for part in (frozen.data, frozen.indices, frozen.indptr):
        assert not part.flags.writeable


def test_given_sparse_matrix_stays_writeable_and_separate():
    given = sp.csr_array(np.eye(2, dtype=np.float32))
    frozen = freeze_csr(given)
    given.data[:] = 7
    assert frozen.toarray().tolist() == [[1, 0], [0, 1]]


def test_indices_outside_of_the_matrix_are_rejected():
    broken = sp.csr_array(np.eye(2))
    broken.indices = np.array([0, 5], broken.indices.dtype)
    with pytest.raises(ValueError, match="indices"):
        freeze_csr(broken)
