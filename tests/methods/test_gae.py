"""Graph autoencoders: GAE, VGAE and ARVGA.

Covers graphprox.methods.vgae, graphprox.methods.arvga and graphprox.methods._edge_reconstruction.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch

from graphprox import Graph, synthetic
from graphprox.errors import GraphError
from graphprox.graph.splits import edge_split
from graphprox.methods import InductiveEmbedder
from graphprox.methods._edge_reconstruction import NonEdges, PairDecoder, to_positive_pairs
from graphprox.methods._neural import GCNLayers, GraphTensors
from graphprox.methods.arvga import ARVGA
from graphprox.methods.gae import GAE
from graphprox.methods.vgae import VGAE, VariationalEncoder

methods = pytest.mark.parametrize("method", [GAE, VGAE, ARVGA])


def ring(nodes: int, *, directed: bool = False, isolated: int = 0, seed: int = 0) -> Graph:
    x = np.random.default_rng(seed).random((nodes + isolated, 5), np.float32)
    return Graph(x, [range(nodes), [*range(1, nodes), 0]], directed=directed)


# -- all of them ----------------------------------------------------------------------------------------------------


@methods
def test_complete_graph_is_rejected(method: type[InductiveEmbedder]) -> None:
    with pytest.raises(GraphError, match="got a complete graph of 2 nodes"):
        method(epochs=3).fit(Graph(np.eye(2), [[0], [1]]))


@methods
def test_training_changes_the_initial_weights(method: type[InductiveEmbedder]) -> None:
    graph = synthetic(nodes=140)
    untrained, trained = (method(n_components=8, hidden_channels=8, epochs=epochs) for epochs in (0, 3))
    assert not np.allclose(untrained.fit_transform(graph), trained.fit_transform(graph))


@methods
def test_transform_normalizes_features_as_fit_did(method: type[InductiveEmbedder]) -> None:
    graph = ring(12)
    embedder = method(epochs=1, normalize="none").fit(graph)
    embedder.set_params(normalize="rows")
    assert np.array_equal(embedder.transform(graph), embedder.vectors_)
    assert not np.allclose(embedder.transform(graph), method(epochs=1, normalize="rows").fit_transform(graph))


@methods
def test_held_out_edges_are_ranked_before_non_edges(method: type[InductiveEmbedder]) -> None:
    split = edge_split(_communities(), random_state=0)
    z = method().fit_transform(split.graph)
    edges, non_edges = ((z[pairs[0]] * z[pairs[1]]).sum(1) for pairs in (split.test_edges, split.test_non_edges))
    auc = np.mean(edges[:, None] > non_edges)
    assert auc > 0.8


def _communities() -> Graph:
    """Return six groups of twenty nodes with edges inside only; features are the group and noise."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(6), 20)
    adjacency = np.triu((group[:, None] == group) & (rng.random((120, 120)) < 0.4), 1)
    x = (np.eye(6)[group] + 0.3 * rng.random((120, 6))).astype(np.float32)
    return Graph(x, np.stack(np.nonzero(adjacency)))


# -- against PyG ----------------------------------------------------------------------------------------------------


def test_gae_equals_that_of_pyg() -> None:
    from torch_geometric import nn as pyg

    graph = ring(9, isolated=2)
    tensors, edges = GraphTensors.of(graph, normalize="none"), torch.tensor(np.array(graph.edge_index))
    layers = GCNLayers([5, 8, 4], generator=torch.Generator().manual_seed(0))
    references = torch.nn.ModuleList([pyg.GCNConv(5, 8), pyg.GCNConv(8, 4)])
    for ours, theirs in zip(layers.convolutions, references, strict=True):
        _copy_weights(ours, theirs)
    x = torch.tensor(np.array(graph.x))
    expected = references[1](references[0](x, edges).relu(), edges)
    z = layers(tensors.features, tensors.edges)
    assert torch.allclose(z, expected, atol=1e-6)

    positives, negatives = to_positive_pairs(graph), NonEdges.of(graph).sample(40, torch.Generator().manual_seed(1))
    loss = GAE()._compute_loss(pyg.GAE(layers, PairDecoder()), z, positives, negatives)
    logits = (z @ z.T)[torch.cat([positives, negatives], 1).unbind(0)]
    truth = torch.cat([torch.ones(positives.shape[1]), torch.zeros(40)])
    terms = torch.nn.functional.binary_cross_entropy_with_logits(logits, truth, reduction="none")
    assert torch.allclose(loss, terms[truth == 1].mean() + terms[truth == 0].mean(), rtol=1e-5)
    loss.backward()
    ours = layers.convolutions[0].weight.grad
    their_loss = pyg.GAE(layers).recon_loss(expected, positives, negatives)
    (theirs,) = torch.autograd.grad(their_loss, references[0].lin.weight)
    assert torch.allclose(ours, theirs.T, atol=1e-6)


def test_vgae_equals_that_of_pyg() -> None:
    from torch_geometric import nn as pyg

    graph = ring(9, directed=True)
    tensors, edges = GraphTensors.of(graph, normalize="none"), torch.tensor(np.array(graph.edge_index))
    encoder = VariationalEncoder(5, 8, 4, torch.Generator().manual_seed(0))
    hidden, mean, log_std = pyg.GCNConv(5, 8), pyg.GCNConv(8, 4), pyg.GCNConv(8, 4)
    for ours, theirs in zip(
        (encoder.hidden.convolutions[0], encoder.mean, encoder.log_std), (hidden, mean, log_std), strict=True
    ):
        _copy_weights(ours, theirs)
    h = hidden(torch.tensor(np.array(graph.x)), edges).relu()
    outputs = encoder(tensors.features, tensors.edges)
    assert torch.allclose(outputs[0], mean(h, edges), atol=1e-6)
    assert torch.allclose(outputs[1], log_std(h, edges), atol=1e-6)

    # The divergence from the standard normal distribution, by torch's formula.
    model = pyg.VGAE(encoder, PairDecoder())
    z = model.encode(tensors.features, tensors.edges)
    positives, negatives = to_positive_pairs(graph), NonEdges.of(graph).sample(20, torch.Generator().manual_seed(1))
    normal = torch.distributions.Normal(outputs[0], outputs[1].exp())
    divergence = torch.distributions.kl_divergence(normal, torch.distributions.Normal(0.0, 1.0)).sum(1).mean()
    with_divergence, without = (each._compute_loss(model, z, positives, negatives) for each in (VGAE(), GAE()))
    assert torch.allclose(with_divergence - without, divergence / 9, atol=1e-5)


def test_decoder_equals_that_of_pyg() -> None:
    from torch_geometric.nn import InnerProductDecoder

    z, pairs = torch.randn(9, 4, generator=torch.Generator().manual_seed(0)), to_positive_pairs(ring(9))
    for sigmoid in (True, False):
        found, expected = (each(z, pairs, sigmoid) for each in (PairDecoder(), InnerProductDecoder()))
        assert torch.allclose(found, expected, atol=1e-6)


def _copy_weights(ours: torch.nn.Module, theirs: torch.nn.Module) -> None:
    with torch.no_grad():
        ours.bias.uniform_(-1, 1)
        theirs.lin.weight.copy_(ours.weight.T)
        theirs.bias.copy_(ours.bias)


def test_arvga_equals_an_explicit_training_loop() -> None:
    """Three epochs with PyG's model: two steps to reconstruct, one of the discriminator, and one against it."""
    from torch_geometric.nn import ARGVA

    graph, seed = ring(12), 5
    method = ARVGA(
        n_components=4,
        hidden_channels=6,
        discriminator_channels=8,
        reconstruction_steps=2,
        epochs=3,
        learning_rate=0.05,
        discriminator_learning_rate=0.1,
        random_state=seed,
    )
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    tensors = GraphTensors.of(graph, normalize="none")
    linear = torch.nn.Linear
    relu = torch.nn.ReLU()
    encoder = VariationalEncoder(5, 6, 4, generator)
    model = ARGVA(encoder, torch.nn.Sequential(linear(4, 8), relu, linear(8, 8), relu, linear(8, 1)))
    reconstruction_optimizer = torch.optim.Adam(encoder.parameters(), lr=0.05)
    adversarial_optimizer = torch.optim.Adam(encoder.parameters(), lr=0.1)
    discriminator_optimizer = torch.optim.Adam(model.discriminator.parameters(), lr=0.1)
    positives, non_edges = to_positive_pairs(graph), NonEdges.of(graph)
    entropy = torch.nn.functional.binary_cross_entropy_with_logits
    for _ in range(3):
        for _ in range(2):
            reconstruction_optimizer.zero_grad()
            z = model.encode(tensors.features, tensors.edges)
            negatives = non_edges.sample(positives.shape[1], generator)
            (model.recon_loss(z, positives, negatives) / 2 + model.kl_loss() / 12).backward()
            reconstruction_optimizer.step()
        discriminator_optimizer.zero_grad()
        z = model.encode(tensors.features, tensors.edges).detach()
        real, fake = model.discriminator(torch.randn_like(z)), model.discriminator(z)
        (entropy(real, torch.ones(12, 1)) + entropy(fake, torch.zeros(12, 1))).backward()
        discriminator_optimizer.step()
        adversarial_optimizer.zero_grad()
        entropy(model.discriminator(model.encode(tensors.features, tensors.edges)), torch.ones(12, 1)).backward()
        adversarial_optimizer.step()
    expected = encoder(tensors.features, tensors.edges)[0].detach().numpy()
    assert np.allclose(method.fit_transform(graph), expected, atol=1e-5)


# -- pairs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("directed", [False, True])
def test_non_edges_are_sampled_uniformly(directed: bool) -> None:
    graph = Graph(np.eye(6), [[0, 1, 2, 2, 5], [1, 2, 2, 0, 3]], directed=directed)
    pairs = NonEdges.of(graph).sample(4000, torch.Generator().manual_seed(0))
    adjacency = graph.to_scipy().toarray() + np.eye(6)
    counts = np.zeros((6, 6))
    np.add.at(counts, tuple(pairs.numpy()), 1)
    assert (counts[adjacency > 0] == 0).all()
    non_edges = counts[adjacency == 0]
    assert non_edges.min() > 0.6 * non_edges.mean()


def test_every_node_has_one_self_loop_among_positive_pairs() -> None:
    graph = Graph(np.eye(3), [[0, 1], [0, 2]])
    pairs = to_positive_pairs(graph)
    assert sorted(zip(*pairs.tolist(), strict=True)) == [(0, 0), (1, 1), (1, 2), (2, 1), (2, 2)]
