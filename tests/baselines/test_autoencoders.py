from __future__ import annotations

import numpy as np
import pytest
import torch

from graphprox import Graph, synthetic
from graphprox.baselines.arvga import ARVGA
from graphprox.baselines.base import EmbeddingBaseline
from graphprox.baselines.gae import GAE, VGAE, Distributions, InnerProducts, NonEdges, edges_and_loops
from graphprox.baselines.neural import GCNLayers, Tensors
from graphprox.errors import GraphError, ParameterError
from graphprox.evaluation.links import score_links
from graphprox.splits import edge_split

SMALL = [each(width=8, hidden=8, epochs=3) for each in (GAE, VGAE, ARVGA)]
methods = pytest.mark.parametrize("method", SMALL, ids=lambda method: method.about.title)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return synthetic(nodes=140)


def ring(nodes: int, *, directed: bool = False, isolated: int = 0, seed: int = 0) -> Graph:
    x = np.random.default_rng(seed).random((nodes + isolated, 5), np.float32)
    return Graph(x, [range(nodes), [*range(1, nodes), 0]], directed=directed)


# -- all of them ----------------------------------------------------------------------------------------------------


@methods
def test_refuses_a_complete_graph(method: EmbeddingBaseline) -> None:
    with pytest.raises(GraphError, match="2 nodes that are all joined"):
        method.embed(Graph(np.eye(2), [[0], [1]]), seed=0)


@methods
def test_no_epochs_leave_the_drawn_weights(method: EmbeddingBaseline, graph: Graph) -> None:
    untrained = type(method)(width=8, hidden=8, epochs=0).embed(graph, seed=0)  # type: ignore[call-arg]
    assert not np.allclose(untrained, method.embed(graph, seed=0))


@pytest.mark.parametrize("method", [GAE, VGAE, ARVGA])
def test_refuses_settings_beyond_limits(method: type[EmbeddingBaseline]) -> None:
    with pytest.raises(ParameterError, match="normalize must be one of rows, none"):
        method.with_settings(overrides={"normalize": "columns"})
    with pytest.raises(ParameterError, match="width"):
        method.with_settings(overrides={"width": 0})


# -- that it learns -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [GAE(), VGAE(), ARVGA()], ids=lambda method: method.about.title)
def test_ranks_held_out_edges_first(method: EmbeddingBaseline) -> None:
    split = edge_split(_communities(), seed=0)
    z = method.embed(split.graph, seed=0)
    assert score_links(z, split.test_edges, split.test_non_edges).auc > 0.8


def _communities() -> Graph:
    """Six groups of twenty nodes that are joined inside only; features tell the group, with some noise."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(6), 20)
    adjacency = np.triu((group[:, None] == group) & (rng.random((120, 120)) < 0.4), 1)
    x = (np.eye(6)[group] + 0.3 * rng.random((120, 6))).astype(np.float32)
    return Graph(x, np.stack(np.nonzero(adjacency)))


# -- against PyG ----------------------------------------------------------------------------------------------------


def test_gae_is_that_of_pyg() -> None:
    from torch_geometric import nn as pyg

    graph = ring(9, isolated=2)
    tensors, edges = Tensors.of(graph, normalize="none"), torch.tensor(np.array(graph.edge_index))
    layers = GCNLayers([5, 8, 4], rng=torch.Generator().manual_seed(0))
    references = torch.nn.ModuleList([pyg.GCNConv(5, 8), pyg.GCNConv(8, 4)])
    for ours, theirs in zip(layers.convolutions, references, strict=True):
        _same_weights(ours, theirs)
    x = torch.tensor(np.array(graph.x))
    expected = references[1](references[0](x, edges).relu(), edges)
    z = layers(tensors.features, tensors.edges)
    assert torch.allclose(z, expected, atol=1e-6)

    joined, others = edges_and_loops(graph), NonEdges.of(graph).draw(40, torch.Generator().manual_seed(1))
    loss = GAE()._loss(pyg.GAE(layers, InnerProducts()), z, joined, others)
    logits = (z @ z.T)[torch.cat([joined, others], 1).unbind(0)]
    truth = torch.cat([torch.ones(joined.shape[1]), torch.zeros(40)])
    parts = torch.nn.functional.binary_cross_entropy_with_logits(logits, truth, reduction="none")
    assert torch.allclose(loss, parts[truth == 1].mean() + parts[truth == 0].mean(), rtol=1e-5)
    loss.backward()
    ours = layers.convolutions[0].weight.grad
    theirs_loss = pyg.GAE(layers).recon_loss(expected, joined, others)
    (theirs,) = torch.autograd.grad(theirs_loss, references[0].lin.weight)
    assert torch.allclose(ours, theirs.T, atol=1e-6)


def test_distributions_are_those_of_pyg() -> None:
    from torch_geometric import nn as pyg

    graph = ring(9, directed=True)
    tensors, edges = Tensors.of(graph, normalize="none"), torch.tensor(np.array(graph.edge_index))
    encoder = Distributions(5, 8, 4, torch.Generator().manual_seed(0))
    first, mean, deviation = pyg.GCNConv(5, 8), pyg.GCNConv(8, 4), pyg.GCNConv(8, 4)
    for ours, theirs in zip(
        (encoder.first.convolutions[0], encoder.mean, encoder.deviation), (first, mean, deviation), strict=True
    ):
        _same_weights(ours, theirs)
    h = first(torch.tensor(np.array(graph.x)), edges).relu()
    made = encoder(tensors.features, tensors.edges)
    assert torch.allclose(made[0], mean(h, edges), atol=1e-6)
    assert torch.allclose(made[1], deviation(h, edges), atol=1e-6)

    # The divergence of normal distributions from the standard one, by torch's own formula.
    model = pyg.VGAE(encoder, InnerProducts())
    z = model.encode(tensors.features, tensors.edges)
    joined, others = edges_and_loops(graph), NonEdges.of(graph).draw(20, torch.Generator().manual_seed(1))
    law = torch.distributions.Normal(made[0], made[1].exp())
    divergence = torch.distributions.kl_divergence(law, torch.distributions.Normal(0.0, 1.0)).sum(1).mean()
    loss = VGAE()._loss(model, z, joined, others) - GAE()._loss(model, z, joined, others)
    assert torch.allclose(loss, divergence / 9, atol=1e-5)


def test_inner_products_are_those_of_pyg() -> None:
    from torch_geometric.nn import InnerProductDecoder

    z, pairs = torch.randn(9, 4, generator=torch.Generator().manual_seed(0)), edges_and_loops(ring(9))
    for sigmoid in (True, False):
        found, expected = (each(z, pairs, sigmoid) for each in (InnerProducts(), InnerProductDecoder()))
        assert torch.allclose(found, expected, atol=1e-6)


def _same_weights(ours: torch.nn.Module, theirs: torch.nn.Module) -> None:
    with torch.no_grad():
        ours.bias.uniform_(-1, 1)
        theirs.lin.weight.copy_(ours.weight.T)
        theirs.bias.copy_(ours.bias)


def test_arvga_takes_the_steps_of_a_literal_loop() -> None:
    """Three epochs written out: PyG's model and losses, two optimisers, one step of each an epoch."""
    from torch_geometric.nn import ARGVA

    graph, seed = ring(12), 5
    method = ARVGA(width=4, hidden=6, discriminator=8, epochs=3, learning_rate=0.05, discriminator_rate=0.1)
    torch.manual_seed(seed)
    rng = torch.Generator().manual_seed(seed)
    tensors = Tensors.of(graph, normalize="none")
    linear = torch.nn.Linear
    relu = torch.nn.ReLU()
    encoder = Distributions(5, 6, 4, rng)
    model = ARGVA(encoder, torch.nn.Sequential(linear(4, 8), relu, linear(8, 8), relu, linear(8, 1)))
    slow = torch.optim.Adam(encoder.parameters(), lr=0.05)
    fast = torch.optim.Adam(model.discriminator.parameters(), lr=0.1)
    joined, others = edges_and_loops(graph), NonEdges.of(graph)
    for _ in range(3):
        z = model.encode(tensors.features, tensors.edges)
        fast.zero_grad()
        real, false = model.discriminator(torch.randn_like(z)), model.discriminator(z.detach())
        entropy = torch.nn.functional.binary_cross_entropy_with_logits
        (entropy(real, torch.ones(12, 1)) + entropy(false, torch.zeros(12, 1))).backward()
        fast.step()
        slow.zero_grad()
        fooled = entropy(model.discriminator(z), torch.ones(12, 1))
        pairs = others.draw(joined.shape[1], rng)
        (model.recon_loss(z, joined, pairs) + fooled + model.kl_loss() / 12).backward()
        slow.step()
    expected = encoder(tensors.features, tensors.edges)[0].detach().numpy()
    assert np.allclose(method.embed(graph, seed), expected, atol=1e-5)


# -- the pairs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("directed", [False, True])
def test_non_edges_are_all_drawn_and_no_others(directed: bool) -> None:
    graph = Graph(np.eye(6), [[0, 1, 2, 2, 5], [1, 2, 2, 0, 3]], directed=directed)
    drawn = NonEdges.of(graph).draw(4000, torch.Generator().manual_seed(0))
    adjacency = graph.to_scipy().toarray() + np.eye(6)
    counts = np.zeros((6, 6))
    np.add.at(counts, tuple(drawn.numpy()), 1)
    assert (counts[adjacency > 0] == 0).all()
    often = counts[adjacency == 0]
    assert often.min() > 0.6 * often.mean()  # evenly


def test_loops_count_once() -> None:
    graph = Graph(np.eye(3), [[0, 1], [0, 2]])
    pairs = edges_and_loops(graph)
    assert sorted(zip(*pairs.tolist(), strict=True)) == [(0, 0), (1, 1), (1, 2), (2, 1), (2, 2)]
