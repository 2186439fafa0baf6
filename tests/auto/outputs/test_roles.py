from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from graphprox import Graph
from graphprox.auto.outputs import OUTPUTS, PreparedGraph
from graphprox.auto.outputs.roles import HOPS, NUM_BUCKETS


def roles_of(graph: nx.Graph) -> np.ndarray:
    num_nodes = len(graph)
    rows = np.zeros((num_nodes, 1), np.float32)
    edges = np.array(graph.edges, np.int64).reshape(-1, 2).T
    return OUTPUTS["roles"](PreparedGraph(Graph(np.ones((num_nodes, 2)), edges), rows, random_state=0))


def test_stars_rings_and_cliques_differ():
    parts = [nx.star_graph(7), nx.cycle_graph(8), nx.complete_graph(8)]
    rows = roles_of(nx.disjoint_union_all(parts))
    center, leaf, ring, clique = rows[0], rows[1], rows[8], rows[16]
    distances = [
        np.abs(a - b).max() for i, a in enumerate((center, leaf, ring, clique)) for b in (leaf, ring, clique)[i:]
    ]
    assert min(distances) > 0.4
    # All leaves are alike, and so are all members of a ring and of a clique.
    assert (
        len(np.unique(rows[1:8], axis=0))
        == len(np.unique(rows[8:16], axis=0))
        == len(np.unique(rows[16:], axis=0))
        == 1
    )


def test_nodes_at_the_same_place_of_two_components_have_equal_rows():
    one = nx.gnm_random_graph(25, 50, seed=0)
    rows = roles_of(nx.disjoint_union(one, one))
    np.testing.assert_allclose(rows[:25], rows[25:], atol=1e-6)


def test_nodes_of_equal_degree_differ_by_the_degrees_around_them():
    path_with_hub = nx.Graph([(0, 1), (1, 2), (2, 3), *((3, hub) for hub in range(4, 14))])
    rows = roles_of(path_with_hub).reshape(14, HOPS + 1, NUM_BUCKETS)
    assert np.array_equal(rows[1, 0], rows[2, 0])  # both have two neighbors,
    assert not np.array_equal(rows[1, 1], rows[2, 1])  # but only one of them is next to the hub
    assert not np.array_equal(rows[0, 2], rows[4, 2])


def test_every_hop_is_a_distribution_of_degrees_around_the_node():
    graph = nx.barabasi_albert_graph(60, 3, seed=0)
    rows = roles_of(graph).reshape(60, HOPS + 1, NUM_BUCKETS)
    assert rows.sum(2) == pytest.approx(1, abs=1e-5)
    degree = np.array([each for _, each in graph.degree])
    bucket = rows[:, 0].argmax(1)
    assert (np.diff(bucket[np.argsort(degree, kind="stable")]) >= 0).all()
    assert bucket.max() - bucket.min() > 3
    adjacency = nx.to_numpy_array(graph)
    walk = adjacency / adjacency.sum(1, keepdims=True)
    for hop in range(1, HOPS + 1):
        np.testing.assert_allclose(rows[:, hop], np.linalg.matrix_power(walk, hop) @ rows[:, 0], atol=1e-5)


def test_isolated_nodes_have_a_role_of_their_own():
    graph = nx.path_graph(4)
    graph.add_nodes_from([4, 5])
    rows = roles_of(graph)
    assert np.array_equal(rows[4], rows[5])
    assert rows[4].sum() == 1
    assert not np.array_equal(rows[4, :NUM_BUCKETS], rows[0, :NUM_BUCKETS])
