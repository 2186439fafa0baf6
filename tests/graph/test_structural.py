from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from graphprox import (
    Graph,
    GraphError,
    RawFeatures,
    StructuralFeaturesWarning,
    check_graph,
    random_split,
    read_graph,
)
from graphprox.graph.structural import IDENTITY_LIMIT


def entries(graph: nx.Graph) -> np.ndarray:
    return np.array(graph.edges, np.int64).T


def test_a_small_graph_gets_identity_features():
    with pytest.warns(StructuralFeaturesWarning, match="identity"):
        x = Graph(None, entries(nx.path_graph(5)), num_nodes=5).x
    assert np.array_equal(x.toarray(), np.eye(5))


def test_a_large_graph_gets_one_hot_degree_buckets():
    graph = nx.barabasi_albert_graph(IDENTITY_LIMIT + 1, 3, seed=0)
    with pytest.warns(StructuralFeaturesWarning, match="degree buckets"):
        x = Graph(None, entries(graph), num_nodes=len(graph)).x
    assert (x.sum(axis=1) == 1).all()
    assert x.shape[1] < 20
    bucket = x.indices
    degree = np.array([each for _, each in graph.degree])
    order = np.argsort(degree, kind="stable")
    assert (np.diff(bucket[order]) >= 0).all()  # a higher degree is never in a lower bucket
    assert len(np.unique(bucket)) == x.shape[1]  # no column is empty
    assert all(len(set(bucket[degree == d])) == 1 for d in np.unique(degree))


@pytest.mark.parametrize("directed", [False, True])
def test_features_do_not_depend_on_how_the_edges_are_listed(directed):
    once = entries(nx.gnm_random_graph(IDENTITY_LIMIT + 5, 3000, seed=1))
    loops = np.tile(np.arange(7), (2, 1))
    listings = [once, np.hstack([once, once, loops])]
    if not directed:
        listings += [once[::-1], np.hstack([once, once[::-1]])]
    with pytest.warns(StructuralFeaturesWarning):
        made = [Graph(None, each, num_nodes=IDENTITY_LIMIT + 5, directed=directed).x for each in listings]
    assert all(abs(x - made[0]).nnz == 0 for x in made)


def test_the_number_of_nodes_must_be_known():
    with pytest.raises(GraphError, match="got neither features nor num_nodes nor node_ids"):
        Graph(None, [[0], [1]])
    with pytest.raises(GraphError, match="got 3 by num_nodes and 2 by features"):
        Graph(np.eye(2), [[0], [1]], num_nodes=3)


@pytest.mark.filterwarnings("always")
def test_warning_points_at_the_line_of_the_user(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("source,target\n0,1\n1,2\n")
    edges, adjacency = [[0, 1], [1, 2]], sp.csr_array(np.eye(3, k=1))
    for call in (
        lambda: Graph(None, edges, num_nodes=3),
        lambda: Graph.from_scipy(adjacency),
        lambda: check_graph(adjacency),
        lambda: random_split(adjacency, train=0.4, val=0.4),
        lambda: RawFeatures().fit_transform(adjacency),
        lambda: read_graph(path),
    ):
        with pytest.warns(StructuralFeaturesWarning) as caught:
            call()
        assert [each.filename for each in caught] == [__file__]
