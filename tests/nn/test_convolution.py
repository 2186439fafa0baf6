from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from graphprox.nn.convolution import glorot, in_neighbor_matrix
from graphprox.nn.encoders.gat import GATConv
from graphprox.nn.encoders.gcn import GCNConv
from graphprox.nn.encoders.gin import GINConv
from graphprox.nn.encoders.mlp import LinearConv
from graphprox.nn.encoders.sage import SAGEConv

IN_CHANNELS, OUT_CHANNELS = 24, 16
CONVOLUTIONS = {"gat": GATConv, "gcn": GCNConv, "sage": SAGEConv, "gin": GINConv, "mlp": LinearConv}
VARIANTS = [
    pytest.param(name, heads, weighted, id=f"{name}{heads if heads > 1 else ''}{'-weighted' * weighted}")
    for name, heads in [("gat", 1), ("gat", 4), ("gcn", 1), ("sage", 1), ("gin", 1), ("mlp", 1)]
    for weighted in (False, True)
    if not (name == "mlp" and weighted)
]
all_variants = pytest.mark.parametrize(("name", "heads", "weighted"), VARIANTS)


def make_convolution(name, in_channels=IN_CHANNELS, out_channels=OUT_CHANNELS, *, heads=1, weighted=False):
    generator = torch.Generator().manual_seed(0)
    options = {"heads": heads, "weighted": weighted} if name == "gat" else {}
    return CONVOLUTIONS[name](in_channels, out_channels, generator=generator, **options)


def sample_weights(edges, seed=0):
    return np.random.default_rng(seed).uniform(0.1, 3, edges.shape[1]).astype(np.float32)


def assert_equals_reference(reference, convolution, edges, edge_weight, h, assert_near):
    """Compare values and all gradients for the same parameters, input and upstream gradient."""
    reference.copy_parameters_to(convolution)
    ours, theirs = h.clone().requires_grad_(), h.double().requires_grad_()
    prepared = convolution.prepare_edges(in_neighbor_matrix(edges, edge_weight, len(h)))
    actual = convolution.propagate(convolution.project(ours.mm), prepared)
    expected = reference(theirs, edges, edge_weight)
    assert_near(actual, expected)
    upstream = torch.randn(actual.shape, generator=torch.Generator().manual_seed(2))
    actual.backward(upstream)
    expected.backward(upstream.double())
    # There are more input than output channels, so this determines the gradient of the projection too.
    assert_near(ours.grad, theirs.grad)
    for mine, pygs in reference.pair_gradients(convolution):
        assert_near(mine, pygs)


# -- equality with PyG ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("graph", ["Cora", "Texas", "Actor", "neighbors"])
@all_variants
def test_convolution_equals_pyg_on_real_graphs(load_real, make_reference, assert_near, graph, name, heads, weighted):
    edges, x = load_real(graph)
    h = torch.randn(x.shape[0], IN_CHANNELS, generator=torch.Generator().manual_seed(1))
    h[::7] = 0  # logits of exactly 0, at the kink of leaky ReLU
    reference = make_reference(name, IN_CHANNELS, OUT_CHANNELS, heads=heads, weighted=weighted)
    convolution = make_convolution(name, heads=heads, weighted=weighted)
    edge_weight = sample_weights(edges) if weighted else None
    assert_equals_reference(reference, convolution, edges, edge_weight, h, assert_near)


def test_real_graphs_have_self_loops_and_directed_edges(load_real):
    cora, texas, neighbors = (load_real(name)[0] for name in ("Cora", "Texas", "neighbors"))
    assert (texas[0] == texas[1]).any()
    for edges in (texas, neighbors):
        assert set(edges[0]) != set(edges[1])
    assert {*map(tuple, cora.T)} == {*map(tuple, cora[::-1].T)}


@st.composite
def graphs(draw):
    """Distinct edges of a small graph in any order, possibly none; their weights; the number of nodes."""
    num_nodes = draw(st.integers(1, 8))
    ends = st.integers(0, num_nodes - 1)
    edges = draw(st.lists(st.tuples(ends, ends), unique=True, max_size=20))
    edge_weight = draw(st.lists(st.floats(0.125, 8, width=32), min_size=len(edges), max_size=len(edges)))
    return np.array(edges, np.int64).reshape(-1, 2).T, np.array(edge_weight, np.float32), num_nodes


@all_variants
@given(graph=graphs(), seed=st.integers(0, 5))
@settings(max_examples=25)
@example(graph=(np.empty((2, 0), np.int64), np.empty(0, np.float32), 3), seed=0)
@example(graph=(np.array([[0], [2]]), np.ones(1, np.float32), 4), seed=0)
@example(graph=(np.array([[1], [1]]), np.ones(1, np.float32), 2), seed=0)
def test_convolution_equals_pyg_on_small_graphs(make_reference, assert_near, name, heads, weighted, graph, seed):
    edges, edge_weight, num_nodes = graph
    h = torch.randn(num_nodes, 9, generator=torch.Generator().manual_seed(seed))
    reference = make_reference(name, 9, 8, heads=heads, weighted=weighted)
    convolution = make_convolution(name, 9, 8, heads=heads, weighted=weighted)
    assert_equals_reference(reference, convolution, edges, edge_weight if weighted else None, h, assert_near)


@pytest.mark.parametrize("name", ["gat", "gcn", "gin"])
def test_edges_of_weight_zero_are_treated_as_in_pyg(make_reference, assert_near, name):
    edges = np.array([[0, 1, 1, 2, 3], [1, 0, 1, 2, 0]])  # the only edge of node 2 is a self-loop of weight 0
    edge_weight = np.array([0.5, 0, 2, 0, 1], np.float32)
    h = torch.randn(5, IN_CHANNELS, generator=torch.Generator().manual_seed(1))
    reference = make_reference(name, IN_CHANNELS, OUT_CHANNELS, weighted=True)
    assert_equals_reference(reference, make_convolution(name, weighted=True), edges, edge_weight, h, assert_near)


# -- edges ----------------------------------------------------------------------------------------------------------


def test_rows_of_the_neighbor_matrix_are_targets():
    matrix = in_neighbor_matrix(np.array([[2, 0, 1], [0, 2, 2]]), np.array([5, 6, 7], np.float32), 4)
    assert matrix.toarray().tolist() == [[0, 0, 5, 0], [0, 0, 0, 0], [6, 7, 0, 0], [0, 0, 0, 0]]
    assert matrix.dtype == np.float32


@given(graphs(), st.randoms(use_true_random=False))
@settings(max_examples=30)
def test_prepared_edges_do_not_depend_on_the_order_of_edges(graph, random):
    edges, edge_weight, num_nodes = graph
    order = list(range(edges.shape[1]))
    random.shuffle(order)
    for convolution in CONVOLUTIONS.values():
        one = convolution.prepare_edges(in_neighbor_matrix(edges, edge_weight, num_nodes))
        other = convolution.prepare_edges(in_neighbor_matrix(edges[:, order], edge_weight[order], num_nodes))
        assert torch.equal(one.pattern.columns, other.pattern.columns)
        assert torch.equal(one.pattern.starts, other.pattern.starts)
        assert torch.equal(one.values, other.values)


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_preparing_edges_does_not_modify_its_input(name):
    edges = np.array([[2, 0, 1, 1], [0, 2, 2, 1]])
    matrix = in_neighbor_matrix(edges, sample_weights(edges), 4)
    before = matrix.copy()
    CONVOLUTIONS[name].prepare_edges(matrix)
    assert (matrix != before).nnz == 0
    assert matrix.nnz == before.nnz


# -- parameters -----------------------------------------------------------------------------------------------------


@all_variants
def test_gradient_of_a_shared_projection_is_the_sum_over_views(name, heads, weighted):
    convolution = make_convolution(name, heads=heads, weighted=weighted)
    views = [np.array(edges) for edges in ([[0, 1, 2, 3], [1, 2, 3, 3]], [[3, 2], [0, 0]])]
    prepared = [convolution.prepare_edges(in_neighbor_matrix(edges, sample_weights(edges), 5)) for edges in views]
    parameters = list(convolution.parameters())
    h = torch.randn(5, IN_CHANNELS)
    projected = convolution.project(h.mm)
    shared = torch.autograd.grad(
        sum(convolution.propagate(projected, edges).square().sum() for edges in prepared), parameters
    )
    separate = [
        torch.autograd.grad(convolution.propagate(convolution.project(h.mm), edges).square().sum(), parameters)
        for edges in prepared
    ]
    for total, one, other in zip(shared, *separate, strict=True):
        torch.testing.assert_close(total, one + other)


def test_glorot_initialization_has_the_limits_of_pyg():
    weight = glorot(30, 20, generator=torch.Generator().manual_seed(0))
    limit = (6 / 50) ** 0.5
    assert 0.95 * limit < weight.abs().max() <= limit
    assert weight.mean().abs() < 0.05 * limit
    # Two stacked weights have the limit of a single one.
    stacked = glorot(30, 40, generator=torch.Generator().manual_seed(0), fan_out=20)
    assert 0.95 * limit < stacked.abs().max() <= limit
