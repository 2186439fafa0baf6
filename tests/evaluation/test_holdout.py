"""A graph without its held-out edges, in a file."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from graphprox import Graph, StructuralFeaturesWarning, WriteError, edge_split, read_graph, synthetic
from graphprox.evaluation.holdout import write_rest


def pairs_of(index):
    return {tuple(sorted(pair)) for pair in index.T.tolist()}


def example(*, sparse=False, names=False, weighted=False, directed=False):
    drawn = synthetic(nodes=150)
    rng = np.random.default_rng(0)
    once = drawn.edges_once()
    return Graph(
        sp.csr_array(np.where(drawn.x > 1, drawn.x, 0)) if sparse else drawn.x,
        once,
        y=drawn.y,
        node_ids=[f"ä{each}" for each in rng.permutation(150)] if names else None,
        edge_weight=rng.uniform(1, 2, once.shape[1]) if weighted else None,
        directed=directed,
    )


@pytest.mark.parametrize("kind", [{}, {"sparse": True}, {"names": True}, {"weighted": True}, {"directed": True}])
def test_what_is_written_is_what_the_split_left(tmp_path, kind):
    whole = example(**kind)
    split = edge_split(whole, seed=3)
    read = read_graph(write_rest(tmp_path / "rest.npz", whole, split), directed=whole.directed)
    left = split.graph
    assert read.y is None
    assert read.directed == whole.directed
    assert read.ids.tolist() == whole.ids.tolist()
    assert np.array_equal(read.edge_index, left.edge_index)
    for ours, theirs in ((read.x, whole.x), (read.edge_weight, left.edge_weight)):
        assert type(ours) is type(theirs)
        assert ours is None or (ours != theirs).sum() == 0


def test_no_held_out_edge_is_in_the_file_and_every_other_is(tmp_path):
    whole = example()
    split = edge_split(whole, seed=0)
    left = pairs_of(read_graph(write_rest(tmp_path / "rest.npz", whole, split)).edge_index)
    held = pairs_of(split.validation_edges) | pairs_of(split.test_edges)
    assert len(held) == 30 + 60
    assert left | held == pairs_of(whole.edge_index)
    assert not left & held


def test_the_same_graph_gives_the_same_bytes(tmp_path):
    whole = example(names=True)
    for name in ("a.npz", "b.npz"):
        write_rest(tmp_path / name, whole, edge_split(whole, seed=0))
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_features_that_were_made_of_edges_are_made_anew(tmp_path):
    """Degrees of the whole graph would tell how many edges a node has lost."""
    with warnings.catch_warnings(action="ignore", category=StructuralFeaturesWarning):
        whole = Graph(None, synthetic(nodes=1500).edge_index, num_nodes=1500)
        split = edge_split(whole, seed=0)
        anew = Graph(None, split.graph.edge_index, num_nodes=1500)
    with pytest.warns(StructuralFeaturesWarning):
        read = read_graph(write_rest(tmp_path / "rest.npz", whole, split))
    assert read.x.shape == anew.x.shape
    assert (read.x != anew.x).nnz == 0
    assert read.x.shape != whole.x.shape or (read.x != whole.x).nnz > 0


def test_another_ending_is_refused(tmp_path):
    whole = example()
    with pytest.raises(WriteError, match=r"must be \.npz; got 'rest\.csv'"):
        write_rest(tmp_path / "rest.csv", whole, edge_split(whole, seed=0))
    with pytest.raises(WriteError, match="cannot be written"):
        write_rest(tmp_path / "none" / "rest.npz", whole, edge_split(whole, seed=0))
    assert list(tmp_path.iterdir()) == []
