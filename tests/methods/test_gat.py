"""GAT: its network against layers of PyG, and dropout of attention."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional
from torch_geometric import nn as pyg

from graphprox import Graph, synthetic
from graphprox.methods._neural import to_edge_index
from graphprox.methods._supervised import to_feature_matrix
from graphprox.methods.gat import AttentionLayer, GATNetwork, _to_pattern


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.fixture(params=["undirected", "directed"])
def graph(request):
    undirected = synthetic(nodes=140)
    if request.param == "undirected":
        return undirected
    return Graph(undirected.x, undirected.edges_once(), y=undirected.y, directed=True)


def make_network(**parameters):
    settings = {"heads": 2, "output_heads": 1, "dropout": 0.6} | parameters
    return GATNetwork(32, 4, 7, **settings, generator=generator())


@pytest.mark.parametrize("output_heads", [1, 3])
def test_network_equals_two_layers_of_pyg(graph, output_heads):
    features, edge_index = to_feature_matrix(graph), to_edge_index(graph)
    network = make_network(output_heads=output_heads).eval()
    layers = pyg.GATConv(32, 4, 2), pyg.GATConv(8, 7, output_heads, concat=False)
    with torch.no_grad():
        for ours, theirs in zip((network.first, network.second), layers, strict=True):
            theirs.lin.weight.copy_(ours.weight.T)
            theirs.att_src.copy_(ours.source)
            theirs.att_dst.copy_(ours.target)
            theirs.bias.copy_(ours.bias.normal_(generator=generator()))
        expected = layers[1](functional.elu(layers[0](features.dense, edge_index)), edge_index)
        np.testing.assert_allclose(network(features, _to_pattern(graph)).numpy(), expected.numpy(), atol=1e-5)


def test_attention_dropout_drops_coefficients_and_scales_the_others(graph):
    """With rows of ones and uniform attention, the mean of a node is the share of coefficients that are not dropped."""
    pattern = _to_pattern(graph)
    layer = AttentionLayer(1, 1, 1, dropout=0.6, generator=generator())
    with torch.no_grad():
        layer.weight.fill_(1)
        layer.source.zero_()
        layer.target.zero_()
    with torch.random.fork_rng():
        torch.manual_seed(0)
        means = layer(torch.ones(graph.num_nodes, 1).mm, pattern).detach().flatten()
    counts = means * pattern.starts.diff() / 2.5
    assert torch.allclose(counts, counts.round(), atol=1e-4)
    assert counts.sum() / pattern.num_entries == pytest.approx(0.4, abs=0.05)


def test_dropout_is_applied_in_training_only():
    graph = synthetic(nodes=140)
    network, inputs = make_network(), (to_feature_matrix(graph), _to_pattern(graph))
    assert not torch.equal(network(*inputs), network(*inputs))
    network.eval()
    assert torch.equal(network(*inputs), network(*inputs))
