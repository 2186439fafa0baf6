from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from graphprox.nn.convolutions import CONVOLUTIONS, GAT, Dense, glorot, in_neighbours

INPUTS, OUTPUTS = 24, 16
KINDS = [
    pytest.param(kind, heads, weighted, id=f"{kind}{heads if heads > 1 else ''}{'-weighted' * weighted}")
    for kind, heads in [("gat", 1), ("gat", 4), ("gcn", 1), ("sage", 1), ("gin", 1), ("mlp", 1)]
    for weighted in (False, True)
    if not (kind == "mlp" and weighted)
]
every_kind = pytest.mark.parametrize(("kind", "heads", "weighted"), KINDS)


def convolution(kind, inputs=INPUTS, outputs=OUTPUTS, *, heads=1, weighted=False, seed=0):
    rng = torch.Generator().manual_seed(seed)
    if kind == "gat":
        return GAT(inputs, outputs, rng=rng, heads=heads, weighted=weighted)
    return CONVOLUTIONS[kind](inputs, outputs, rng=rng)


def weights(edges, seed=0):
    return np.random.default_rng(seed).uniform(0.1, 3, edges.shape[1]).astype(np.float32)


def hold_against_pyg(theirs, ours, edges, edge_weight, h, near):
    """Values and all gradients, given the same parameters, input and gradient of the output."""
    theirs.lend(ours)
    one, other = h.clone().requires_grad_(), h.double().requires_grad_()
    made = ours.propagate(ours.project(one.mm), ours.edges(in_neighbours(edges, edge_weight, len(h))))
    expected = theirs(other, edges, edge_weight)
    near(made, expected)
    upstream = torch.randn(made.shape, generator=torch.Generator().manual_seed(2))
    made.backward(upstream)
    expected.backward(upstream.double())
    # The input is wider than the output, so that its gradient tells all of the gradient of its projection.
    near(one.grad, other.grad)
    for mine, pygs in theirs.gradients(ours).values():
        near(mine, pygs)


# -- against PyG ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Cora", "Texas", "Actor", "view"])
@every_kind
def test_values_and_gradients_are_pygs_on_real_graphs(real, twin, assert_near, name, kind, heads, weighted):
    edges, x = real(name)
    h = torch.randn(x.shape[0], INPUTS, generator=torch.Generator().manual_seed(1))
    h[::7] = 0  # nodes without features: their logits are exactly 0, where leaky ReLU has its kink
    theirs = twin(kind, INPUTS, OUTPUTS, heads=heads, weighted=weighted)
    ours = convolution(kind, heads=heads, weighted=weighted)
    hold_against_pyg(theirs, ours, edges, weights(edges) if weighted else None, h, assert_near)


def test_the_real_graphs_have_all_that_could_go_wrong(real):
    cora, texas, view = (real(name)[0] for name in ("Cora", "Texas", "view"))
    assert (texas[0] == texas[1]).any()  # self-loops
    for edges in (texas, view):
        assert set(edges[0]) != set(edges[1])  # one way only, and nodes that nobody lists
    assert {*map(tuple, cora.T)} == {*map(tuple, cora[::-1].T)}  # both ways


@st.composite
def graphs(draw):
    """The edges of a small graph, each once, in any order, perhaps none; their weights; its nodes."""
    nodes = draw(st.integers(1, 8))
    ends = st.integers(0, nodes - 1)
    edges = draw(st.lists(st.tuples(ends, ends), unique=True, max_size=20))
    edge_weight = draw(st.lists(st.floats(0.125, 8, width=32), min_size=len(edges), max_size=len(edges)))
    return np.array(edges, np.int64).reshape(-1, 2).T, np.array(edge_weight, np.float32), nodes


@every_kind
@given(graph=graphs(), seed=st.integers(0, 5))
@settings(max_examples=25)
@example(graph=(np.empty((2, 0), np.int64), np.empty(0, np.float32), 3), seed=0)
@example(graph=(np.array([[0], [2]]), np.ones(1, np.float32), 4), seed=0)
@example(graph=(np.array([[1], [1]]), np.ones(1, np.float32), 2), seed=0)
def test_values_and_gradients_are_pygs_on_small_graphs(twin, assert_near, kind, heads, weighted, graph, seed):
    edges, edge_weight, nodes = graph
    h = torch.randn(nodes, 9, generator=torch.Generator().manual_seed(seed))
    theirs = twin(kind, 9, 8, heads=heads, weighted=weighted)
    ours = convolution(kind, 9, 8, heads=heads, weighted=weighted)
    hold_against_pyg(theirs, ours, edges, edge_weight if weighted else None, h, assert_near)


@pytest.mark.parametrize("kind", ["gat", "gcn", "gin"])
def test_edges_of_weight_zero_are_as_pyg_takes_them(twin, assert_near, kind):
    edges = np.array([[0, 1, 1, 2, 3], [1, 0, 1, 2, 0]])  # 2 has no edge but a self-loop of weight 0
    edge_weight = np.array([0.5, 0, 2, 0, 1], np.float32)
    h = torch.randn(5, INPUTS, generator=torch.Generator().manual_seed(1))
    theirs, ours = twin(kind, INPUTS, OUTPUTS, weighted=True), convolution(kind, weighted=True)
    hold_against_pyg(theirs, ours, edges, edge_weight, h, assert_near)


# -- edges ----------------------------------------------------------------------------------------------------------


def test_a_row_holds_the_edges_that_lead_to_its_node():
    matrix = in_neighbours(np.array([[2, 0, 1], [0, 2, 2]]), np.array([5, 6, 7], np.float32), 4)
    assert matrix.toarray().tolist() == [[0, 0, 5, 0], [0, 0, 0, 0], [6, 7, 0, 0], [0, 0, 0, 0]]
    assert matrix.dtype == np.float32


@given(graphs(), st.randoms(use_true_random=False))
@settings(max_examples=30)
def test_the_order_in_which_edges_are_listed_plays_no_part(graph, random):
    edges, edge_weight, nodes = graph
    order = list(range(edges.shape[1]))
    random.shuffle(order)
    for kind in CONVOLUTIONS.values():
        one = kind.edges(in_neighbours(edges, edge_weight, nodes))
        other = kind.edges(in_neighbours(edges[:, order], edge_weight[order], nodes))
        assert torch.equal(one.pattern.columns, other.pattern.columns)
        assert torch.equal(one.pattern.starts, other.pattern.starts)
        assert torch.equal(one.values, other.values)


@pytest.mark.parametrize("kind", CONVOLUTIONS)
def test_preparing_edges_changes_nothing_of_what_was_given(kind):
    edges = np.array([[2, 0, 1, 1], [0, 2, 2, 1]])
    matrix = in_neighbours(edges, weights(edges), 4)
    before = matrix.copy()
    CONVOLUTIONS[kind].edges(matrix)
    assert (matrix != before).nnz == 0
    assert matrix.nnz == before.nnz


def test_sage_of_a_node_that_nobody_leads_to_is_its_own_half():
    sage = convolution("sage")
    projected = torch.randn(3, 2 * OUTPUTS)
    made = sage.propagate(projected, sage.edges(in_neighbours(np.array([[0], [1]]), None, 3)))
    assert torch.equal(made[2], projected[2, OUTPUTS:])
    assert torch.equal(made[0], projected[0, OUTPUTS:])


def test_without_convolution_edges_play_no_part():
    dense = convolution("mlp")
    projected = torch.randn(4, OUTPUTS)
    one, other = (Dense.edges(in_neighbours(np.array(edges), None, 4)) for edges in ([[0], [1]], [[2, 3], [1, 3]]))
    assert torch.equal(dense.propagate(projected, one), dense.propagate(projected, other))


# -- parameters -----------------------------------------------------------------------------------------------------


@every_kind
def test_a_projection_serves_any_number_of_views(kind, heads, weighted):
    """No propagation writes to what it was given: the gradient is the sum of those of each view on its own."""
    ours = convolution(kind, heads=heads, weighted=weighted)
    views = [np.array(edges) for edges in ([[0, 1, 2, 3], [1, 2, 3, 3]], [[3, 2], [0, 0]])]
    prepared = [ours.edges(in_neighbours(edges, weights(edges), 5)) for edges in views]
    h = torch.randn(5, INPUTS)
    shared = ours.project(h.mm)
    together = torch.autograd.grad(
        sum(ours.propagate(shared, edges).square().sum() for edges in prepared), list(ours.parameters())
    )
    each = [
        torch.autograd.grad(ours.propagate(ours.project(h.mm), edges).square().sum(), list(ours.parameters()))
        for edges in prepared
    ]
    for ours_of_both, one, other in zip(together, *each, strict=True):
        torch.testing.assert_close(ours_of_both, one + other)


def test_glorots_limits_are_pygs():
    drawn = glorot(30, 20, rng=torch.Generator().manual_seed(0))
    limit = (6 / 50) ** 0.5
    assert 0.95 * limit < drawn.abs().max() <= limit
    assert drawn.mean().abs() < 0.05 * limit
    # Two matrices side by side are drawn as each would be alone.
    assert glorot(30, 40, rng=torch.Generator().manual_seed(0), outputs=20).abs().max() > 0.95 * limit


# -- memory ---------------------------------------------------------------------------------------------------------

STEPS = """
from pathlib import Path
import numpy as np, torch
from graphprox.nn.convolutions import GAT, in_neighbours

def peak():
    return next(int(line.split()[1]) for line in Path("/proc/self/status").open() if line.startswith("VmHWM")) / 1024

def step(nodes, degree, heads):
    gat = GAT(8, 256, rng=torch.Generator().manual_seed(0), heads=heads)
    target = np.repeat(np.arange(nodes), degree)
    source = (target + np.tile(1 + 3 * np.arange(degree), nodes)) % nodes
    edges = gat.edges(in_neighbours(np.stack([source, target]), None, nodes))
    assert edges.pattern.num_entries == nodes * (degree + 1)
    gat.propagate(gat.project(torch.ones(nodes, 8).mm), edges).square().sum().backward()

for heads in (1, 4):
    step(50, 3, heads)  # what the first call sets up does not count
    Path("/proc/self/clear_refs").write_text("5")
    before = peak()
    step(2000, 100, heads)
    print(peak() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the system does not tell the peak of memory")
def test_attention_never_holds_a_message_per_edge():
    """200,000 messages of width 256 would take 200 MB; the edges themselves, in some vectors, take about 30."""
    told = subprocess.run([sys.executable, "-c", STEPS], capture_output=True, text=True, check=True)
    assert max(map(float, told.stdout.split())) < 60
