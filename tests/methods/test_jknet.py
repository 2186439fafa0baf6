"""JK-Net: its network against layers of PyG."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch_geometric import nn as pyg

from graphprox import Graph, synthetic
from graphprox.methods._neural import to_edge_index
from graphprox.methods.jknet import CONVOLUTIONS, JKNetwork


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.fixture(params=["undirected", "directed"])
def graph(request):
    undirected = synthetic(nodes=140)
    if request.param == "undirected":
        return undirected
    return Graph(undirected.x, undirected.edges_once(), y=undirected.y, directed=True)


def make_network(conv="gcn", jk="cat"):
    return JKNetwork(32, 6, 7, convolution=CONVOLUTIONS[conv], num_layers=3, jk=jk, dropout=0.5, generator=generator())


def to_pyg(convolution, conv, in_channels):
    """A layer of PyG with the weights of ours."""
    layer = pyg.GCNConv(in_channels, 6) if conv == "gcn" else pyg.SAGEConv(in_channels, 6)
    bias = convolution.bias.normal_(generator=generator())
    if conv == "gcn":
        layer.lin.weight.copy_(convolution.weight.T)
        layer.bias.copy_(bias)
    else:
        layer.lin_l.weight.copy_(convolution.weight.T[:6])
        layer.lin_r.weight.copy_(convolution.weight.T[6:])
        layer.lin_l.bias.copy_(bias)
    return layer


@pytest.mark.parametrize("conv", ["gcn", "sage"])
@pytest.mark.parametrize("jk", ["cat", "max"])
@torch.no_grad()
def test_network_equals_combined_layers_of_pyg(graph, conv, jk):
    network = make_network(conv, jk).eval()
    tensors, edge_index = network.to_tensors(graph), to_edge_index(graph)
    h, outputs = tensors.features.dense, []
    for convolution in (network.first, *network.others):
        h = to_pyg(convolution, conv, h.shape[1])(h, edge_index).relu()
        outputs.append(h)
    combined = torch.cat(outputs, 1) if jk == "cat" else torch.stack(outputs).amax(0)
    np.testing.assert_allclose(network(tensors).numpy(), network.last(combined).numpy(), atol=1e-5)


def test_dropout_is_applied_in_training_only():
    network = make_network()
    tensors = network.to_tensors(synthetic(nodes=140))
    assert not torch.equal(network(tensors), network(tensors))
    network.eval()
    assert torch.equal(network(tensors), network(tensors))
