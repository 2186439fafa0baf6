"""Files of graphs without their held-out edges."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from graphprox import Graph, StructuralFeaturesWarning, WriteError, edge_split, read_graph, synthetic
from graphprox.evaluation.edge_holdout import write_training_graph


def undirected_pairs(index):
    return {tuple(sorted(pair)) for pair in index.T.tolist()}


def example(*, sparse=False, names=False, weighted=False, directed=False):
    base = synthetic(nodes=150)
    rng = np.random.default_rng(0)
    edges = base.edges_once()
    return Graph(
        sp.csr_array(np.where(base.x > 1, base.x, 0)) if sparse else base.x,
        edges,
        y=base.y,
        node_ids=[f"ä{each}" for each in rng.permutation(150)] if names else None,
        edge_weight=rng.uniform(1, 2, edges.shape[1]) if weighted else None,
        directed=directed,
    )


@pytest.mark.parametrize("kind", [{}, {"sparse": True}, {"names": True}, {"weighted": True}, {"directed": True}])
def test_written_graph_is_the_training_graph_of_the_split(tmp_path, kind):
    whole = example(**kind)
    split = edge_split(whole, random_state=3)
    read = read_graph(write_training_graph(tmp_path / "rest.npz", whole, split), directed=whole.directed)
    left = split.graph
    assert read.y is None
    assert read.directed == whole.directed
    assert read.ids.tolist() == whole.ids.tolist()
    assert np.array_equal(read.edge_index, left.edge_index)
    for ours, theirs in ((read.x, whole.x), (read.edge_weight, left.edge_weight)):
        assert type(ours) is type(theirs)
        assert ours is None or (ours != theirs).sum() == 0


def test_file_contains_exactly_the_edges_that_are_not_held_out(tmp_path):
    whole = example()
    split = edge_split(whole, random_state=0)
    left = undirected_pairs(read_graph(write_training_graph(tmp_path / "rest.npz", whole, split)).edge_index)
    held_out = undirected_pairs(split.val_edges) | undirected_pairs(split.test_edges)
    assert len(held_out) == 30 + 60
    assert left | held_out == undirected_pairs(whole.edge_index)
    assert not left & held_out


def test_equal_graphs_give_equal_bytes(tmp_path):
    whole = example(names=True)
    for name in ("a.npz", "b.npz"):
        write_training_graph(tmp_path / name, whole, edge_split(whole, random_state=0))
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_structural_features_are_recomputed_from_the_training_edges(tmp_path):
    """Degrees of the whole graph would reveal how many edges of a node are held out."""
    with warnings.catch_warnings(action="ignore", category=StructuralFeaturesWarning):
        whole = Graph(None, synthetic(nodes=1500).edge_index, num_nodes=1500)
        split = edge_split(whole, random_state=0)
        recomputed = Graph(None, split.graph.edge_index, num_nodes=1500)
    with pytest.warns(StructuralFeaturesWarning):
        read = read_graph(write_training_graph(tmp_path / "rest.npz", whole, split))
    assert read.x.shape == recomputed.x.shape
    assert (read.x != recomputed.x).nnz == 0
    assert read.x.shape != whole.x.shape or (read.x != whole.x).nnz > 0


def test_other_suffixes_and_missing_folders_are_rejected(tmp_path):
    whole = example()
    with pytest.raises(WriteError, match=r"must be \.npz; got 'rest\.csv'"):
        write_training_graph(tmp_path / "rest.csv", whole, edge_split(whole, random_state=0))
    with pytest.raises(WriteError, match="cannot be written"):
        write_training_graph(tmp_path / "none" / "rest.npz", whole, edge_split(whole, random_state=0))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("dense", [False, True])
def test_degrees_of_the_whole_graph_are_not_in_the_file(tmp_path, dense):
    edges = np.random.default_rng(0).integers(1200, size=(2, 6000))
    with warnings.catch_warnings(action="ignore", category=StructuralFeaturesWarning):
        whole = Graph(None, edges, num_nodes=1200)
        if dense:  # as features are on their way through PyG
            whole = whole.with_features(whole.x.toarray())
        split = edge_split(whole, random_state=3)
        read = read_graph(write_training_graph(tmp_path / "rest.npz", whole, split))
    assert abs(read.x - split.graph.x).nnz == 0
    assert np.ravel(whole.x.argmax(axis=1) != read.x.argmax(axis=1)).any()
