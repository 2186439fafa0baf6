from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.preprocessing import normalize
from torch import nn
from torch_geometric.nn import JumpingKnowledge

from graphprox.nn.convolutions import CONVOLUTIONS
from graphprox.nn.encoder import ACTIVATIONS, Encoder, PReLU
from graphprox.nn.features import FeatureMatrix

HIDDEN, WIDTH = 20, 12
KINDS = [("gat", 1), ("gat", 4), ("gcn", 1), ("sage", 1), ("gin", 1), ("mlp", 1)]
every_kind = pytest.mark.parametrize(("kind", "heads"), KINDS)


def encoder_of(features, *, seed=0, hidden=HIDDEN, width=WIDTH, **options):
    return Encoder(features, hidden=hidden, width=width, rng=torch.Generator().manual_seed(seed), **options)


def weights(edges):
    return np.random.default_rng(0).uniform(0.1, 3, edges.shape[1]).astype(np.float32)


def generated(nodes=60, features=30, degree=4, seed=0):
    """A directed graph with self-loops and nodes without edges, of sparse features."""
    rng = np.random.default_rng(seed)
    edges = np.unique(rng.integers(0, nodes - 5, (2, degree * nodes)), axis=1)
    x = rng.normal(size=(nodes, features)) * (rng.random((nodes, features)) < 0.04)
    return edges, sp.csr_array(x.astype(np.float32))


def embedded(encoder, edges, x, edge_weight=None):
    prepared = encoder.edges(edges, edge_weight, num_nodes=x.shape[0])
    return encoder(encoder.project(FeatureMatrix.of(x)), prepared)


# -- against PyG ----------------------------------------------------------------------------------------------------

TORCHS = {"prelu": nn.PReLU, "elu": lambda _: nn.ELU(), "relu": lambda _: nn.ReLU(), "none": lambda _: nn.Identity()}


def torchs_shortcut(shortcut):
    if shortcut.weight is None:
        return nn.Identity()
    linear = nn.utils.skip_init(nn.Linear, *shortcut.weight.shape, bias=False, dtype=torch.float64)
    linear.load_state_dict({"weight": shortcut.weight.T})
    return linear


def hold_against_pyg(twin, near, edges, x, edge_weight=None, *, kind, heads=1, jumping="last", **options):
    """An encoder against a stack of PyG's layers and torch's activations: values, and gradients of all parameters."""
    widths = [x.shape[1], *[options.get("hidden", HIDDEN)] * (options.get("layers", 2) - 1), WIDTH]
    weighted = edge_weight is not None
    ours = encoder_of(x.shape[1], kind=kind, heads=heads, jumping=jumping, weighted=weighted, **options)
    twins = [twin(kind, *ends, heads=heads, weighted=weighted) for ends in pairwise(widths)]
    activations = [TORCHS[options.get("activation", "prelu")](width).double() for width in widths[1:]]
    for theirs, convolution in zip(twins, ours.convolutions, strict=True):
        theirs.lend(convolution)
    shortcuts = [torchs_shortcut(each) for each in ours.shortcuts]

    outputs = [torch.tensor(x.toarray()).double()]
    for layer, (convolve, activation) in enumerate(zip(twins, activations, strict=True)):
        h = convolve(outputs[-1], edges, edge_weight)
        outputs.append(activation(h + shortcuts[layer - 1](outputs[-1]) if shortcuts and layer else h))
    jump = {"last": lambda each: each[-1], "concat": JumpingKnowledge("cat"), "max": JumpingKnowledge("max")}[jumping]
    expected = jump(outputs[1:])

    made = embedded(ours, edges, x, edge_weight)
    near(made, expected)
    assert made.shape == (x.shape[0], ours.width)
    upstream = torch.randn(made.shape, generator=torch.Generator().manual_seed(2))
    made.backward(upstream)
    expected.backward(upstream.double())
    for theirs, convolution in zip(twins, ours.convolutions, strict=True):
        for mine, pygs in theirs.gradients(convolution).values():
            near(mine, pygs)
    for mine, torchs in zip(ours.activations.parameters(), nn.ModuleList(activations).parameters(), strict=True):
        near(mine.grad, torchs.grad)
    for mine, torchs in zip(ours.shortcuts.parameters(), nn.ModuleList(shortcuts).parameters(), strict=True):
        near(mine.grad, torchs.grad.T)


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("name", ["Cora", "Wisconsin", "view"])
@every_kind
def test_two_layers_are_two_of_pygs(real, twin, assert_near, name, kind, heads, weighted):
    edges, x = real(name)
    x = normalize(x, "l1")
    edge_weight = weights(edges) if weighted and kind != "mlp" else None
    hold_against_pyg(twin, assert_near, edges, x, edge_weight, kind=kind, heads=heads)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@every_kind
def test_activations_are_torchs(twin, assert_near, kind, heads, activation):
    hold_against_pyg(twin, assert_near, *generated(), kind=kind, heads=heads, activation=activation, layers=3)


@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize(
    ("jumping", "hidden"), [("last", WIDTH), ("last", HIDDEN), ("concat", WIDTH), ("concat", HIDDEN), ("max", WIDTH)]
)
def test_residual_and_jumping_connections_are_pygs(twin, assert_near, layers, hidden, residual, jumping):
    for kind, activation in (("gat", "elu"), ("gcn", "none"), ("mlp", "relu")):
        options = {"hidden": hidden, "layers": layers, "residual": residual, "activation": activation}
        hold_against_pyg(twin, assert_near, *generated(), kind=kind, jumping=jumping, **options)


def test_a_shortcut_learns_where_widths_differ_and_only_there():
    assert [*encoder_of(5, residual=True, hidden=WIDTH, layers=3).shortcuts.parameters()] == []
    shapes = [each.shape for each in encoder_of(5, residual=True, layers=3).shortcuts.parameters()]
    assert shapes == [(HIDDEN, WIDTH)]
    assert [*encoder_of(5, residual=False, layers=3).shortcuts.parameters()] == []


def test_prelu_is_torchs(assert_near):
    ours, theirs = PReLU(3), nn.PReLU(3, init=0.25)
    one, other = (torch.randn(9, 3, generator=torch.Generator().manual_seed(0)).requires_grad_() for _ in range(2))
    made, expected = ours(one), theirs(other)
    assert torch.equal(made, expected)
    made.square().sum().backward()
    expected.square().sum().backward()
    assert_near(one.grad, other.grad)
    assert_near(ours.slope.grad, theirs.weight.grad)


# -- features and edges ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dense", [False, True], ids=["sparse", "dense"])
@every_kind
def test_hiding_features_is_multiplying_columns(assert_near, kind, heads, dense):
    _, x = generated()
    x = x.toarray() + 1 if dense else x
    kept = torch.tensor(np.random.default_rng(1).random(x.shape[1]) < 0.5).float()
    encoder = encoder_of(x.shape[1], kind=kind, heads=heads)
    hidden = x * kept.numpy() if dense else sp.csr_array(x @ sp.diags_array(kept.numpy()))
    outcomes = []
    for project in (
        lambda: encoder.project(FeatureMatrix.of(x), kept),
        lambda: encoder.project(FeatureMatrix.of(hidden)),
    ):
        projected = project()
        outcomes.append((projected, *torch.autograd.grad(projected.square().sum(), encoder.convolutions[0].weight)))
    for ours, theirs in zip(*outcomes, strict=True):
        assert_near(ours, theirs)


@every_kind
def test_hiding_no_feature_changes_nothing(kind, heads):
    _, x = generated()
    encoder, features = encoder_of(x.shape[1], kind=kind, heads=heads), FeatureMatrix.of(x)
    assert torch.equal(encoder.project(features, torch.ones(x.shape[1])), encoder.project(features))


@every_kind
def test_edges_without_weights_weigh_one(kind, heads):
    edges, x = generated()
    encoder = encoder_of(x.shape[1], kind=kind, heads=heads, weighted=True)
    ones = np.ones(edges.shape[1], np.float32)
    assert torch.equal(embedded(encoder, edges, x), embedded(encoder, edges, x, ones))


@every_kind
def test_one_projection_serves_a_graph_and_its_views(assert_near, kind, heads):
    edges, x = generated()
    encoder, features = encoder_of(x.shape[1], kind=kind, heads=heads), FeatureMatrix.of(x)
    views = [encoder.edges(each, None, num_nodes=x.shape[0]) for each in (edges, edges[:, ::3], edges[::-1])]
    parameters = list(encoder.parameters())
    shared = encoder.project(features)
    together = torch.autograd.grad(sum(encoder(shared, view).square().sum() for view in views), parameters)
    apart = torch.autograd.grad(
        sum(encoder(encoder.project(features), view).square().sum() for view in views), parameters
    )
    for ours, theirs in zip(together, apart, strict=True):
        assert_near(ours, theirs)


# -- laws -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@every_kind
def test_numbering_the_nodes_otherwise_numbers_the_embedding_so(assert_near, kind, heads, weighted):
    edges, x = generated()
    order = np.random.default_rng(1).permutation(x.shape[0])
    place = np.argsort(order)  # row i of the new graph is order[i]; node j is now place[j]
    encoder = encoder_of(x.shape[1], kind=kind, heads=heads, weighted=weighted, residual=True, jumping="concat")
    edge_weight = weights(edges) if weighted else None
    if encoder.convolutions[0]._parameters.get("edge") is not None:
        nn.init.normal_(encoder.convolutions[0].edge, generator=torch.Generator().manual_seed(3))
    assert_near(embedded(encoder, place[edges], x[order], edge_weight), embedded(encoder, edges, x, edge_weight)[order])


@every_kind
@pytest.mark.parametrize("options", [{}, {"residual": True}, {"jumping": "concat"}], ids=["", "residual", "concat"])
def test_no_parameter_lies_idle(kind, heads, options):
    edges, x = generated()
    encoder = encoder_of(x.shape[1], kind=kind, heads=heads, weighted=True, layers=3, **options)
    embedded(encoder, edges, x, weights(edges)).square().sum().backward()
    for name, parameter in encoder.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.any(), name


@every_kind
def test_the_same_seed_gives_the_same_bytes(kind, heads):
    edges, x = generated(nodes=300, features=200, degree=10)

    def outcome(seed):
        encoder = encoder_of(x.shape[1], kind=kind, heads=heads, weighted=True, seed=seed)
        made = embedded(encoder, edges, x, weights(edges))
        made.square().sum().backward()
        return [made.detach().numpy().tobytes(), *(each.grad.numpy().tobytes() for each in encoder.parameters())]

    assert outcome(0) == outcome(0)
    assert outcome(0) != outcome(1)


@pytest.mark.parametrize("kind", CONVOLUTIONS)
def test_torchs_own_generator_plays_no_part(kind):
    def drawn(global_seed):
        torch.manual_seed(global_seed)
        state = torch.get_rng_state()
        encoder = encoder_of(7, kind=kind, residual=True, weighted=True)
        assert torch.equal(torch.get_rng_state(), state)
        return [each.detach() for each in encoder.parameters()]

    with torch.random.fork_rng():
        assert all(map(torch.equal, drawn(1), drawn(2)))


@every_kind
def test_what_a_node_becomes_depends_on_nodes_that_lead_to_it_alone(kind, heads):
    """Two layers carry a feature two edges far, along their direction; without convolution nowhere."""
    edges = np.array([[0, 1, 2], [1, 2, 3]])
    x = np.eye(5, dtype=np.float32)
    other = x.copy()
    other[0, 0] = 2
    encoder = encoder_of(5, kind=kind, heads=heads, activation="elu")
    changed = (embedded(encoder, edges, x) != embedded(encoder, edges, other)).any(1)
    assert changed.tolist() == [True, kind != "mlp", kind != "mlp", False, False]
