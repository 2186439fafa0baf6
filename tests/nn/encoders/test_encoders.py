"""Laws of all built-in encoders, and their equality with stacks of PyG's layers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.preprocessing import normalize
from torch import nn
from torch_geometric.nn import JumpingKnowledge

from graphprox.nn.activation import ACTIVATIONS
from graphprox.nn.encoders import ENCODERS
from graphprox.nn.features import FeatureMatrix

HIDDEN_CHANNELS, N_COMPONENTS = 20, 12
VARIANTS = [("gat", {}), ("gat", {"heads": 4}), ("gcn", {}), ("sage", {}), ("gin", {}), ("mlp", {})]
all_encoders = pytest.mark.parametrize(
    ("name", "extra"), VARIANTS, ids=[f"{name}{extra.get('heads', '')}" for name, extra in VARIANTS]
)


def make_encoder(name, in_channels, *, seed=0, weighted=False, **options):
    encoder = ENCODERS[name]
    options = {"n_components": N_COMPONENTS, "hidden_channels": HIDDEN_CHANNELS} | options
    generator = torch.Generator().manual_seed(seed)
    return encoder(in_channels, encoder.Options(**options), weighted=weighted, generator=generator)


def sample_weights(edges):
    return np.random.default_rng(0).uniform(0.1, 3, edges.shape[1]).astype(np.float32)


def make_graph(num_nodes=60, num_features=30, degree=4, seed=0):
    """Return edges and sparse features of a directed graph with self-loops and isolated nodes."""
    rng = np.random.default_rng(seed)
    edges = np.unique(rng.integers(0, num_nodes - 5, (2, degree * num_nodes)), axis=1)
    x = rng.normal(size=(num_nodes, num_features)) * (rng.random((num_nodes, num_features)) < 0.04)
    return edges, sp.csr_array(x.astype(np.float32))


def embed(encoder, edges, x, edge_weight=None):
    prepared = encoder.prepare_edges(edges, edge_weight, num_nodes=x.shape[0])
    return encoder(encoder.project(FeatureMatrix.of(x)), prepared)


# -- equality with PyG ----------------------------------------------------------------------------------------------

TORCH_ACTIVATIONS = {
    "prelu": nn.PReLU,
    "elu": lambda _: nn.ELU(),
    "relu": lambda _: nn.ReLU(),
    "none": lambda _: nn.Identity(),
}
JUMPING = {"last": lambda outputs: outputs[-1], "concat": JumpingKnowledge("cat"), "max": JumpingKnowledge("max")}


def to_torch_shortcut(shortcut):
    if shortcut.weight is None:
        return nn.Identity()
    linear = nn.utils.skip_init(nn.Linear, *shortcut.weight.shape, bias=False, dtype=torch.float64)
    linear.load_state_dict({"weight": shortcut.weight.T})
    return linear


def assert_equals_pyg(make_reference, assert_near, edges, x, edge_weight=None, *, name, **options):
    """Compare values and gradients of all parameters with a stack of PyG's layers and torch's activations."""
    weighted = edge_weight is not None
    encoder = make_encoder(name, x.shape[1], weighted=weighted, **options)
    settings = encoder.options
    heads = options.get("heads", 1)
    channels = [x.shape[1], *[settings.hidden_channels] * (settings.num_layers - 1), N_COMPONENTS]
    layers = [make_reference(name, *ends, heads=heads, weighted=weighted) for ends in pairwise(channels)]
    activations = [TORCH_ACTIVATIONS[settings.activation](size).double() for size in channels[1:]]
    for layer, convolution in zip(layers, encoder.convolutions, strict=True):
        layer.copy_parameters_to(convolution)
    shortcuts = [to_torch_shortcut(each) for each in encoder.shortcuts]

    outputs = [torch.tensor(x.toarray()).double()]
    for i, (layer, activation) in enumerate(zip(layers, activations, strict=True)):
        h = layer(outputs[-1], edges, edge_weight)
        outputs.append(activation(h + shortcuts[i - 1](outputs[-1]) if shortcuts and i else h))
    expected = JUMPING[settings.jumping](outputs[1:])

    actual = embed(encoder, edges, x, edge_weight)
    assert_near(actual, expected)
    assert actual.shape == (x.shape[0], encoder.n_components)
    upstream = torch.randn(actual.shape, generator=torch.Generator().manual_seed(2))
    actual.backward(upstream)
    expected.backward(upstream.double())
    for layer, convolution in zip(layers, encoder.convolutions, strict=True):
        for mine, pygs in layer.pair_gradients(convolution):
            assert_near(mine, pygs)
    for mine, torchs in zip(encoder.activations.parameters(), nn.ModuleList(activations).parameters(), strict=True):
        assert_near(mine.grad, torchs.grad)
    for mine, torchs in zip(encoder.shortcuts.parameters(), nn.ModuleList(shortcuts).parameters(), strict=True):
        assert_near(mine.grad, torchs.grad.T)


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("graph", ["Cora", "Wisconsin", "neighbors"])
@all_encoders
def test_encoder_equals_stack_of_pyg_layers(load_real, make_reference, assert_near, graph, name, extra, weighted):
    edges, x = load_real(graph)
    x = normalize(x, "l1")
    edge_weight = sample_weights(edges) if weighted and name != "mlp" else None
    assert_equals_pyg(make_reference, assert_near, edges, x, edge_weight, name=name, **extra)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@all_encoders
def test_activations_equal_those_of_torch(make_reference, assert_near, name, extra, activation):
    options = {"activation": activation, "num_layers": 3} | extra
    assert_equals_pyg(make_reference, assert_near, *make_graph(), name=name, **options)


@pytest.mark.parametrize("num_layers", [1, 2, 3])
@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize(
    ("jumping", "hidden_channels"),
    [
        ("last", N_COMPONENTS),
        ("last", HIDDEN_CHANNELS),
        ("concat", N_COMPONENTS),
        ("concat", HIDDEN_CHANNELS),
        ("max", N_COMPONENTS),
    ],
)
def test_residual_and_jumping_connections_equal_those_of_pyg(
    make_reference, assert_near, num_layers, hidden_channels, residual, jumping
):
    options = {
        "hidden_channels": hidden_channels,
        "num_layers": num_layers,
        "residual": residual,
        "jumping": jumping,
    }
    for name, activation in (("gat", "elu"), ("gcn", "none"), ("mlp", "relu")):
        assert_equals_pyg(make_reference, assert_near, *make_graph(), name=name, activation=activation, **options)


# -- features and edges ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_dense", [False, True], ids=["sparse", "dense"])
@all_encoders
def test_masking_features_equals_zeroing_columns(assert_near, name, extra, is_dense):
    _, x = make_graph()
    x = x.toarray() + 1 if is_dense else x
    kept = torch.tensor(np.random.default_rng(1).random(x.shape[1]) < 0.5).float()
    encoder = make_encoder(name, x.shape[1], **extra)
    zeroed = x * kept.numpy() if is_dense else sp.csr_array(x @ sp.diags_array(kept.numpy()))
    masked = encoder.project(FeatureMatrix.of(x), kept)
    expected = encoder.project(FeatureMatrix.of(zeroed))
    assert_near(masked, expected)
    weight = encoder.convolutions[0].weight
    gradients = [torch.autograd.grad(each.square().sum(), weight)[0] for each in (masked, expected)]
    assert_near(*gradients)


@all_encoders
def test_mask_of_ones_changes_nothing(name, extra):
    _, x = make_graph()
    encoder, features = make_encoder(name, x.shape[1], **extra), FeatureMatrix.of(x)
    assert torch.equal(encoder.project(features, torch.ones(x.shape[1])), encoder.project(features))


@all_encoders
def test_missing_edge_weights_are_ones(name, extra):
    edges, x = make_graph()
    encoder = make_encoder(name, x.shape[1], weighted=True, **extra)
    ones = np.ones(edges.shape[1], np.float32)
    assert torch.equal(embed(encoder, edges, x), embed(encoder, edges, x, ones))


@all_encoders
def test_projection_can_be_shared_by_views(assert_near, name, extra):
    edges, x = make_graph()
    encoder, features = make_encoder(name, x.shape[1], **extra), FeatureMatrix.of(x)
    views = [encoder.prepare_edges(each, None, num_nodes=x.shape[0]) for each in (edges, edges[:, ::3], edges[::-1])]
    parameters = list(encoder.parameters())
    projected = encoder.project(features)
    shared = torch.autograd.grad(sum(encoder(projected, view).square().sum() for view in views), parameters)
    separate = torch.autograd.grad(
        sum(encoder(encoder.project(features), view).square().sum() for view in views), parameters
    )
    for one, other in zip(shared, separate, strict=True):
        assert_near(one, other)


# -- laws beyond tests/contracts -----------------------------------------------------------------------------------


@all_encoders
def test_two_layers_reach_two_edges_along_their_direction(name, extra):
    edges = np.array([[0, 1, 2], [1, 2, 3]])
    x = np.eye(5, dtype=np.float32)
    other = x.copy()
    other[0, 0] = 2
    encoder = make_encoder(name, 5, activation="elu", **extra)
    is_changed = (embed(encoder, edges, x) != embed(encoder, edges, other)).any(1)
    uses_edges = name != "mlp"
    assert is_changed.tolist() == [True, uses_edges, uses_edges, False, False]
