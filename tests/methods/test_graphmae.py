"""GraphMAE: masks, encoder, decoder and loss by definition."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric import nn as pyg

from graphprox import ParameterError, synthetic
from graphprox.methods.graphmae import (
    DropoutRates,
    FeatureDecoder,
    GraphMAE,
    MaskedEncoder,
    NodeMask,
    Reconstruction,
    scaled_cosine_error,
)
from graphprox.nn.convolution import in_neighbor_matrix
from graphprox.nn.encoders.gat import GATConv
from graphprox.nn.features import FeatureMatrix


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.fixture(params=["dense", "sparse"])
def features(request):
    """Features of ten nodes, and the same as an array."""
    x = np.zeros((10, 90), np.float32)
    filled = 90 if request.param == "dense" else 3
    random = np.random.default_rng(0)
    for row in x[:-1]:  # the last node has none
        row[random.choice(90, filled, replace=False)] = random.random(filled)
    made = FeatureMatrix.of(x)
    assert (made.dense is None) == (request.param == "sparse")
    return made, torch.tensor(x)


@pytest.fixture
def ring():
    return np.array([[*range(9), *range(1, 9), 0], [*range(1, 9), 0, *range(9)]])


def to_edges(index):
    return GATConv.prepare_edges(in_neighbor_matrix(index, None, 10))


def test_node_mask_has_the_shares_of_its_rates():
    mask = NodeMask.sample(1000, 0.5, 0.1, generator())
    assert len(set(mask.nodes.tolist())) == 500
    unmasked = torch.ones(1000, dtype=torch.bool)
    unmasked[mask.nodes] = False
    assert torch.equal(mask.sources[unmasked], torch.arange(1000)[unmasked])
    tokens = mask.sources[mask.nodes] < 0
    assert int(tokens.sum()) == 450
    assert len(mask.sources[mask.nodes][~tokens].unique()) == 50
    assert len(NodeMask.sample(3, 0.0, 0.5, generator()).nodes) == 1  # there is always something to reconstruct


def test_encoder_replaces_masked_features_by_a_token(features, ring):
    made, x = features
    edges = to_edges(ring)
    encoder = MaskedEncoder(90, 8, heads=2, dropout=DropoutRates(0.5, 0.5), generator=generator()).eval()
    with torch.no_grad():
        encoder.token.copy_(torch.rand(1, 90, generator=generator(5)))
    mask = NodeMask(torch.tensor([2, 4, 7]), torch.tensor([0, 1, -1, 3, -1, 5, 6, 1, 8, 9]))
    other = x.clone()
    other[[2, 4]] = 1 - other[[2, 4]]
    other[7] = other[7].flip(0)
    with torch.no_grad():
        masked = encoder(made, edges, mask)
        # With filled rows, a sparse matrix may become a dense one, whose products round differently.
        torch.testing.assert_close(masked, encoder(FeatureMatrix.of(other.numpy()), edges, mask), rtol=1e-5, atol=1e-6)
        # They are replaced by the token and by the features of node 1.
        other[[2, 4]], other[7] = encoder.token, x[1]
        torch.testing.assert_close(masked, encoder(FeatureMatrix.of(other.numpy()), edges), rtol=1e-5, atol=1e-6)
        # The features of other nodes have an effect.
        other = x.clone()
        other[3] += 1
        assert not torch.allclose(masked, encoder(FeatureMatrix.of(other.numpy()), edges, mask), atol=1e-3)


def test_encoder_equals_two_gat_layers_of_pyg(features, ring):
    made, x = features
    encoder = MaskedEncoder(90, 8, heads=2, dropout=DropoutRates(0.5, 0.5), generator=generator()).eval()
    h = x
    for layer, activation in zip((encoder.first, encoder.second), encoder.activations, strict=True):
        theirs = pyg.GATConv(h.shape[1], 4, 2)
        with torch.no_grad():
            theirs.lin.weight.copy_(layer.weight.T)
            theirs.att_src.copy_(layer.source[None])
            theirs.att_dst.copy_(layer.target[None])
        h = nn.functional.prelu(theirs(h, torch.tensor(ring)), activation.weight)
    torch.testing.assert_close(encoder(made, to_edges(ring)), h, rtol=1e-4, atol=1e-5)


def literal_loss(decoder, h, x, index, mask, gamma):
    """The loss by definition: mask, a GAT layer of PyG, and the cosine similarity of one node at a time."""
    theirs = pyg.GATConv(h.shape[1], x.shape[1], 1).double()
    parameters = dict(theirs.named_parameters())
    layer = decoder.convolution
    ours = {
        "lin.weight": layer.weight.T,
        "att_src": layer.source[None],
        "att_dst": layer.target[None],
        "bias": layer.bias,
    }
    assert parameters.keys() == ours.keys()
    inputs = torch.stack([decoder.linear(row) * (node not in mask.nodes.tolist()) for node, row in enumerate(h)])
    reconstructed = torch.func.functional_call(theirs, ours, (inputs, torch.tensor(index)))
    errors = []
    for node in mask.nodes.tolist():
        ends = (nn.functional.normalize(each[node], dim=0) for each in (reconstructed, x))
        errors.append((1 - torch.dot(*ends)) ** gamma)
    return sum(errors) / len(errors)


@pytest.mark.parametrize("bias", [False, True])
def test_loss_and_gradients_equal_their_definition(features, ring, bias):
    made, x = features
    decoder = FeatureDecoder(6, 90, dropout=DropoutRates(0.2, 0.1), generator=generator()).eval()
    if bias:
        with torch.no_grad():
            decoder.convolution.bias.copy_(torch.rand(90, generator=generator(4)))
    h = torch.randn(10, 6, generator=generator(1))
    mask = NodeMask(torch.tensor([8, 1, 9, 4]), torch.arange(10))
    reconstruction = decoder(h.requires_grad_(), to_edges(ring), mask)
    ours = scaled_cosine_error(reconstruction.cosine_similarity(made, mask.nodes), 3.0)
    double = copy.deepcopy(decoder).double()
    twin = h.detach().double().requires_grad_()
    theirs = literal_loss(double, twin, x.double(), ring, mask, 3.0)
    assert ours.item() == pytest.approx(theirs.item(), rel=1e-5)
    names = [name for name, _ in decoder.named_parameters()]
    mine = torch.autograd.grad(ours, [h, *decoder.parameters()])
    expected = torch.autograd.grad(theirs, [twin, *double.parameters()])
    for name, one, other in zip(["h", *names], mine, expected, strict=True):
        torch.testing.assert_close(one.double(), other, rtol=1e-3, atol=1e-6, msg=lambda text, name=name: name + text)


def test_decoder_ignores_the_embedding_of_masked_nodes(features, ring):
    made, _ = features
    decoder = FeatureDecoder(6, 90, dropout=DropoutRates(0.0, 0.0), generator=generator())
    mask = NodeMask(torch.tensor([3, 5]), torch.arange(10))
    h = torch.randn(10, 6, generator=generator(1))
    other = h.clone()
    other[[3, 5]] += 1
    one, two = (decoder(each, to_edges(ring), mask).cosine_similarity(made, mask.nodes) for each in (h, other))
    assert torch.equal(one, two)
    other[4] += 1
    assert not torch.equal(one, decoder(other, to_edges(ring), mask).cosine_similarity(made, mask.nodes))


def test_initial_weights_are_glorot_normal_with_gain():
    layers = [
        MaskedEncoder(400, 300, heads=2, dropout=DropoutRates(0.0, 0.0), generator=generator(seed)).first
        for seed in (0, 0, 1)
    ]
    assert torch.equal(layers[0].weight, layers[1].weight)
    assert not torch.equal(layers[0].weight, layers[2].weight)
    # Glorot's standard deviation times the root of 2; the fans of attention are those of (1, heads, channels).
    assert layers[0].weight.std().item() == pytest.approx(2 / 700**0.5, rel=0.02)
    ends = torch.cat([layers[0].source, layers[0].target])
    assert ends.std().item() == pytest.approx(2 / (2 * 150 + 150) ** 0.5, rel=0.15)


def test_zero_vector_has_similarity_zero_and_the_gradient_of_torch(features):
    made, x = features
    nodes = torch.tensor([0, 9])
    weight, bias = torch.ones(4, 90, requires_grad=True), torch.zeros(90, requires_grad=True)
    similarity = Reconstruction(torch.zeros(2, 4), weight, bias).cosine_similarity(made, nodes)
    assert similarity.tolist() == [0, 0]
    ours = torch.autograd.grad(similarity.sum(), [weight, bias])
    ends = (nn.functional.normalize(each, dim=1) for each in (torch.zeros(2, 4) @ weight + bias, x[nodes]))
    theirs = torch.autograd.grad(torch.mul(*ends).sum(), [weight, bias])
    assert ours[1].abs().max() > 1e9
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other)


def test_heads_must_divide_the_embedding():
    with pytest.raises(ParameterError, match=r"^n_components must be a multiple of heads; got 10 and 4$"):
        GraphMAE(n_components=10, heads=4).fit(synthetic(nodes=140))
