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
from graphprox.graph.structural import (
    IDENTITY_LIMIT,
    count_nonzero_rows,
    find_degree_buckets,
    has_informative_features,
    has_structural_features,
    use_degree_buckets,
)


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


# -- recognition ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("num_nodes", [5, IDENTITY_LIMIT, IDENTITY_LIMIT + 1])
def test_features_that_were_computed_from_edges_are_recognized(num_nodes, directed):
    edges = entries(nx.gnm_random_graph(num_nodes, 2 * num_nodes, seed=0))
    with pytest.warns(StructuralFeaturesWarning):
        graph = Graph(None, edges, num_nodes=num_nodes, directed=directed)
    assert has_structural_features(graph)
    assert not has_informative_features(graph)
    again = Graph(graph.x, edges, directed=directed)  # given as features
    assert has_structural_features(again)


def test_other_features_are_not_taken_for_structural_ones():
    edges = entries(nx.gnm_random_graph(IDENTITY_LIMIT + 1, 3000, seed=0))
    with pytest.warns(StructuralFeaturesWarning):
        x = Graph(None, edges, num_nodes=IDENTITY_LIMIT + 1).x
    shuffled = x[np.random.default_rng(0).permutation(IDENTITY_LIMIT + 1)]
    for other in (shuffled, 2 * x, 2 * x.toarray(), shuffled.toarray()):
        assert not has_structural_features(Graph(other, edges))
    path = entries(nx.path_graph(4))
    for other in (np.eye(4)[::-1], np.eye(4, 5), np.ones((4, 4))):
        assert not has_structural_features(Graph(other, path))
        assert not has_structural_features(Graph(sp.csr_array(other), path))


def test_one_hot_categories_are_informative_in_a_large_graph():
    num_nodes = IDENTITY_LIMIT + 1
    x = sp.csr_array(np.eye(7)[np.random.default_rng(0).integers(7, size=num_nodes)])
    assert has_informative_features(Graph(x, entries(nx.path_graph(num_nodes))))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (np.eye(4), False),
        (np.eye(4)[[2, 0, 3, 1]] * [1, 5, 2, -3], False),  # no two nodes share a feature
        (np.eye(4, 9), False),
        (np.zeros((4, 3)), False),
        (np.ones((4, 3)), False),
        (np.tile([0.0, 2.5, -1.0], (4, 1)), False),  # all nodes have the same
        ([[1, 2], [1, 2], [1, 2], [1, 3]], True),
        ([[1, 0], [1, 0], [0, 1], [0, 1]], True),
        ([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], True),
        ([[0.1], [0.2], [0.3], [0.4]], True),
        ([[-1.0], [-1.0], [0.0], [0.0]], True),
    ],
)
def test_features_are_informative_if_they_are_shared_by_some_nodes_and_not_all_the_same(x, expected, form):
    assert has_informative_features(Graph(form(np.asarray(x, float)), entries(nx.path_graph(4)))) is expected


def test_nonzero_rows_of_each_column_are_counted():
    x = np.array([[1, 0, -2, 0], [0, 0, 0.5, 0], [3, 0, 1, 0]], np.float32)
    assert count_nonzero_rows(x).tolist() == [2, 0, 3, 0]
    sparse = sp.csr_array(x)
    assert count_nonzero_rows(sparse).tolist() == [2, 0, 3, 0]
    sparse.data[0] = 0  # stored, but zero
    assert count_nonzero_rows(sparse).tolist() == [1, 0, 3, 0]
    assert count_nonzero_rows(np.zeros((0, 2))).tolist() == [0, 0]


# -- buckets of another graph ---------------------------------------------------------------------------------------


def star_forest(sizes):
    """Return a graph without features, of stars of several sizes."""
    forest = nx.disjoint_union_all([nx.star_graph(size) for size in sizes])
    with pytest.warns(StructuralFeaturesWarning):
        return Graph(None, entries(forest), num_nodes=len(forest))


def test_a_grown_graph_gets_the_degree_buckets_of_the_earlier_one():
    graph = star_forest([3] * 300 + [40])
    buckets = find_degree_buckets(graph)
    assert buckets == [2, 4, 10]
    assert np.array_equal(use_degree_buckets(graph, buckets).x.toarray(), graph.x.toarray())
    grown = star_forest([3] * 300 + [40, 1000, 4])
    same = use_degree_buckets(grown, buckets)
    assert (grown.num_features, same.num_features) == (4, 3)
    assert np.array_equal(same.x.toarray()[: graph.num_nodes], graph.x.toarray())
    assert same.x.toarray()[graph.num_nodes].tolist() == [0, 0, 1]  # a degree of 1000 is in the last bucket


def test_graphs_with_features_have_no_degree_buckets():
    graph = star_forest([3] * 300)
    other = graph.with_features(np.arange(2.0 * graph.num_nodes).reshape(-1, 2))
    assert find_degree_buckets(other) is None
    assert use_degree_buckets(other, [2, 4]) is other
    assert find_degree_buckets(star_forest([3, 4])) is None  # one-hot vectors of the nodes
