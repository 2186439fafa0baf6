"""What outputs share: neighbors, normalized edges and diffusion, against dense matrices, PyG and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize
from torch_geometric.nn import APPNP

from graphprox import Graph, ParameterError
from graphprox.auto.outputs import OUTPUTS, PreparedGraph, Weights, register_output
from graphprox.auto.spreading import NUM_SIMILAR

NUM_NODES = 50


def make_graph(*, directed=False, weighted=True, seed=0):
    """Return a graph with self-loops, an edge of weight zero and isolated nodes, the last three."""
    rng = np.random.default_rng(seed)
    edges = np.unique(rng.integers(0, NUM_NODES - 3, (2, 160)), axis=1)
    edges = edges[:, edges[0] <= edges[1]] if not directed else edges
    weight = rng.uniform(0.1, 2, edges.shape[1])
    weight[np.flatnonzero(edges[0] != edges[1])[0]] = 0
    x = rng.random((NUM_NODES, 6))
    return Graph(x, edges, edge_weight=weight if weighted else None, directed=directed)


def prepare(graph):
    rows = normalize(np.asarray(graph.x))
    return PreparedGraph(graph, rows, random_state=0, sizes=np.linspace(0.1, 9, len(rows)), position_rows=rows)


def to_dense(edges):
    entries = (edges.values.double().numpy(), edges.pattern.columns.numpy(), edges.pattern.starts.numpy())
    return sp.csr_array(entries, shape=edges.pattern.shape).toarray()


def expected_neighbors(graph):
    adjacency = np.zeros((NUM_NODES, NUM_NODES))
    for entry, (source, target) in enumerate(graph.edge_index.T):
        if source != target:
            weight = 1 if graph.edge_weight is None else graph.edge_weight[entry]
            adjacency[source, target] = max(adjacency[source, target], weight)
            adjacency[target, source] = max(adjacency[target, source], weight)
    return adjacency


def normalize_as_gcn(adjacency):
    looped = adjacency + np.eye(len(adjacency))
    scale = looped.sum(1) ** -0.5
    return scale[:, None] * looped * scale


# -- neighbors ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_neighbors_are_symmetric_weighted_and_without_self_loops(directed, weighted):
    graph = make_graph(directed=directed, weighted=weighted)
    assert graph.num_self_loops
    neighbors = prepare(graph).neighbors
    np.testing.assert_allclose(neighbors.toarray(), expected_neighbors(graph), rtol=1e-6)
    assert (neighbors.data > 0).all()  # a weight of zero is no edge
    assert neighbors.has_sorted_indices
    assert abs(neighbors - neighbors.T).nnz == 0


def test_direction_of_edges_does_not_matter():
    graph = make_graph(directed=True, weighted=False)
    reverse = Graph(graph.x, graph.edge_index[::-1], directed=True)
    assert np.array_equal(prepare(graph).neighbors.toarray(), prepare(reverse).neighbors.toarray())
    undirected = prepare(graph.to_undirected()).neighbors
    assert np.array_equal(prepare(graph).neighbors.toarray(), undirected.toarray())


def test_edges_are_normalized_as_gcn_does():
    graph = make_graph()
    expected = normalize_as_gcn(expected_neighbors(graph))
    np.testing.assert_allclose(to_dense(prepare(graph).edges), expected, atol=1e-6)


# -- diffusion ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(("alpha", "hops"), [(0.15, 10), (0.05, 20), (0.3, 0)])
def test_diffusion_is_a_power_series_of_the_normalized_matrix(alpha, hops, directed):
    graph = make_graph(directed=directed)
    prepared = prepare(graph)
    found = prepared.diffuse(prepared.edges, prepared.rows, alpha=alpha, hops=hops)
    matrix = normalize_as_gcn(expected_neighbors(graph))
    expected = (1 - alpha) ** hops * np.linalg.matrix_power(matrix, hops) @ prepared.rows
    for power in range(hops):
        expected += alpha * (1 - alpha) ** power * np.linalg.matrix_power(matrix, power) @ prepared.rows
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_diffusion_equals_appnp_of_pyg():
    graph = make_graph()
    prepared = prepare(graph)
    different = graph.edge_index[0] != graph.edge_index[1]
    index, weight = torch.tensor(graph.edge_index[:, different]), torch.tensor(graph.edge_weight[different])
    expected = APPNP(K=10, alpha=0.15)(torch.tensor(prepared.rows), index, weight).numpy()
    found = prepared.diffuse(prepared.edges, prepared.rows, alpha=0.15, hops=10)
    np.testing.assert_allclose(found, expected, atol=1e-6)


# -- feature view ---------------------------------------------------------------------------------------------------


def nearest_in_either_direction(rows, k):
    """Return the adjacency matrix of nodes of which one is among the k nearest of the other, by scikit-learn."""
    search = NearestNeighbors(n_neighbors=k, metric="cosine", algorithm="brute").fit(rows)
    adjacency = search.kneighbors_graph(mode="connectivity").toarray()  # without the nodes themselves
    return np.maximum(adjacency, adjacency.T)


@pytest.mark.parametrize("num_nodes", [NUM_NODES, 8])
def test_feature_edges_are_the_nearest_neighbors_of_scikit_learn(num_nodes):
    rows = np.random.default_rng(1).random((num_nodes, 9), np.float32)  # all cosines are positive
    graph = Graph(rows, [[0], [1]])
    k = min(NUM_SIMILAR, num_nodes - 1)
    expected = normalize_as_gcn(nearest_in_either_direction(rows, k))
    found = PreparedGraph(graph, normalize(rows), random_state=0).feature_edges
    np.testing.assert_allclose(to_dense(found), expected, atol=1e-6)


def test_feature_edges_do_not_depend_on_the_edges_of_the_graph():
    one, other = make_graph(seed=0), make_graph(seed=1)
    first, second = (PreparedGraph(each, normalize(one.x), random_state=0).view_rows for each in (one, other))
    assert np.array_equal(first, second)


def test_nodes_without_features_have_no_feature_edges():
    rows = normalize(np.random.default_rng(0).random((30, 4), np.float32))
    rows[:5] = 0
    prepared = PreparedGraph(Graph(rows, [[0], [1]]), rows, random_state=0)
    matrix = to_dense(prepared.feature_edges)
    assert np.array_equal(matrix[:5], np.eye(30)[:5])
    assert not prepared.view_rows[:5].any()


# -- registry -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OUTPUTS)
def test_output_has_a_row_for_every_node_and_a_description(name):
    for directed in (False, True):
        rows = OUTPUTS[name](prepare(make_graph(directed=directed)))
        assert rows.shape[0] == NUM_NODES
        assert rows.dtype == np.float32
        assert np.isfinite(rows).all()
    assert OUTPUTS[name].description.endswith(".")


@pytest.mark.parametrize("name", [name for name in OUTPUTS if name not in ("own", "view", "amount")])
def test_outputs_that_read_edges_are_permutation_equivariant(name):
    graph = make_graph()
    order = np.random.default_rng(0).permutation(NUM_NODES)
    index = np.argsort(order)[graph.edge_index]
    permuted = Graph(graph.x[order], index, edge_weight=graph.edge_weight, directed=None)
    np.testing.assert_allclose(OUTPUTS[name](prepare(permuted)), OUTPUTS[name](prepare(graph))[order], atol=1e-5)


def test_registered_output_is_found_by_its_name_which_is_unique(monkeypatch):
    assert len(OUTPUTS)
    monkeypatch.setattr(OUTPUTS, "_entries", dict(OUTPUTS._entries))
    monkeypatch.setattr(OUTPUTS, "_origins", dict(OUTPUTS._origins))

    @register_output("twice", Weights(graph=0.5))
    def twice(prepared):
        return 2 * prepared.rows

    assert OUTPUTS["twice"].compute is twice
    assert OUTPUTS["twice"].weights.graph == 0.5
    with pytest.raises(ParameterError, match="'own' is taken"):
        register_output("own", Weights())(twice)
