"""GCN: its network against layers of PyG, and its weight decay."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch_geometric import nn as pyg

from graphprox import Graph, random_split, synthetic
from graphprox.methods import gcn
from graphprox.methods._neural import GraphTensors, to_edge_index
from graphprox.methods.gcn import GCN, GCNNetwork


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.fixture(params=["undirected", "directed"])
def graph(request):
    undirected = synthetic(nodes=140)
    if request.param == "undirected":
        return undirected
    return Graph(undirected.x, undirected.edges_once(), y=undirected.y, directed=True)


def make_network():
    return GCNNetwork(32, 6, 7, dropout=0.5, generator=generator())


def test_network_equals_two_layers_of_pyg(graph):
    tensors, edge_index = GraphTensors.of(graph), to_edge_index(graph)
    network = make_network().eval()
    first, second = pyg.GCNConv(32, 6), pyg.GCNConv(6, 7)
    with torch.no_grad():
        for ours, theirs in ((network.first, first), (network.second, second)):
            theirs.lin.weight.copy_(ours.weight.T)
            theirs.bias.copy_(ours.bias.normal_(generator=generator()))
        expected = second(first(tensors.features.dense, edge_index).relu(), edge_index)
        np.testing.assert_allclose(network(tensors).numpy(), expected.numpy(), atol=1e-5)


def test_dropout_is_applied_in_training_only():
    network, tensors = make_network(), GraphTensors.of(synthetic(nodes=140))
    assert not torch.equal(network(tensors), network(tensors))
    network.eval()
    assert torch.equal(network(tensors), network(tensors))


def test_only_the_first_layer_has_weight_decay(monkeypatch):
    groups = []
    monkeypatch.setattr(gcn, "train_classifier", lambda *_, **named: groups.extend(named["parameter_groups"]))
    graph = synthetic(nodes=140)
    GCN().fit(graph, random_split(graph, random_state=0))
    (first, first_decay), (second, second_decay) = groups
    assert (first_decay, second_decay) == (5e-4, 0)
    assert [each.shape for each in first] == [(32, 16), (16,)]
    assert [each.shape for each in second] == [(16, 7), (7,)]
