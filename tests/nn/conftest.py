"""Fixtures of the tests of convolutions and encoders: real graphs, and PyG's layers as the reference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
import torch
from sklearn.neighbors import kneighbors_graph
from torch import nn
from torch.sparse import check_sparse_tensor_invariants
from torch_geometric import nn as pyg
from torch_geometric.utils import to_torch_csr_tensor

import graphprox


@pytest.fixture(scope="session")
def load_real(data):
    """Function from the name of a graph to its edges and features.

    "neighbors" is the directed graph of the nearest neighbors by Cora's features, where some nodes have no in-neighbor.
    """

    @cache
    def load_real(name):
        graph = graphprox.load("Cora" if name == "neighbors" else name, data=data).graph
        if name != "neighbors":
            return graph.edge_index, graph.x
        target, source = kneighbors_graph(graph.x, 5, metric="cosine").nonzero()
        return np.stack([source, target]).astype(np.int64), graph.x

    return load_real


@dataclass
class ReferenceLayer:
    """Layer of PyG and its parameters as those of our convolution.

    It computes in float64: in float32, PyG's own gradients of attention have errors of up to 1e-5.
    """

    layer: nn.Module
    call: Callable
    parameters: dict[str, torch.Tensor]

    def __call__(self, h, edge_index, edge_weight):
        weight = None if edge_weight is None else torch.tensor(edge_weight).double()
        return self.call(h, torch.tensor(edge_index), weight)

    def copy_parameters_to(self, convolution):
        """Set all parameters of our convolution to those of PyG's layer."""
        ours = dict(convolution.named_parameters())
        assert ours.keys() == self.parameters.keys()
        with torch.no_grad():
            for name, parameter in ours.items():
                parameter.copy_(self.parameters[name])

    def pair_gradients(self, convolution):
        """Return for each parameter of PyG's layer our gradient, mapped to that parameter, and PyG's."""
        ours = dict(convolution.named_parameters())
        theirs = dict(self.layer.named_parameters())
        mapped = torch.autograd.grad(
            list(self.parameters.values()),
            list(theirs.values()),
            [ours[name].grad.double() for name in self.parameters],
        )
        return list(zip(mapped, (each.grad for each in theirs.values()), strict=True))


def randomize_biases(layer):
    """Replace biases, which are initialized to zeros, by random values, and convert the layer to float64."""
    for parameter in layer.parameters():
        if parameter.dim() == 1:
            nn.init.normal_(parameter, std=0.1)
    return layer.double()


def make_gat(in_channels, out_channels, *, heads, weighted):
    edge_dim = 1 if weighted else None
    layer = randomize_biases(pyg.GATConv(in_channels, out_channels // heads, heads=heads, edge_dim=edge_dim))
    parameters = {
        "weight": layer.lin.weight.T,
        "source": layer.att_src[0],
        "target": layer.att_dst[0],
        "bias": layer.bias,
    }
    if not weighted:
        return ReferenceLayer(layer, lambda h, edges, _: layer(h, edges), parameters)
    parameters["edge"] = (layer.lin_edge.weight.view(heads, -1) * layer.att_edge[0]).sum(1)
    return ReferenceLayer(layer, lambda h, edges, weight: layer(h, edges, weight[:, None]), parameters)


def make_gcn(in_channels, out_channels, *, heads, weighted):
    layer = randomize_biases(pyg.GCNConv(in_channels, out_channels))
    return ReferenceLayer(layer, layer, {"weight": layer.lin.weight.T, "bias": layer.bias})


def make_sage(in_channels, out_channels, *, heads, weighted):
    if not weighted:
        layer = randomize_biases(pyg.SAGEConv(in_channels, out_channels))
        neighbors, itself, call = layer.lin_l, layer.lin_r, lambda h, edges, _: layer(h, edges)
    else:
        # PyG's SAGEConv has no edge weights: a sum with weights that add up to 1 is the weighted mean.
        layer = randomize_biases(pyg.GraphConv(in_channels, out_channels, aggr="add"))
        neighbors, itself = layer.lin_rel, layer.lin_root

        def call(h, edges, weight):
            sums = weight.new_zeros(len(h)).index_add(0, edges[1], weight)
            return layer(h, edges, weight / sums[edges[1]])

    parameters = {"weight": torch.cat([neighbors.weight, itself.weight]).T, "bias": neighbors.bias}
    return ReferenceLayer(layer, call, parameters)


def make_gin(in_channels, out_channels, *, heads, weighted):
    mlp = nn.Sequential(nn.Linear(in_channels, out_channels), nn.ReLU(), nn.Linear(out_channels, out_channels))
    layer = randomize_biases(pyg.GINConv(mlp))
    parameters = {
        "weight": layer.nn[0].weight.T,
        "bias": layer.nn[0].bias,
        "second": layer.nn[2].weight.T,
        "second_bias": layer.nn[2].bias,
    }

    def call(h, edges, weight):
        if weight is None:
            return layer(h, edges)
        # PyG's GINConv accepts weights only as the values of a matrix whose rows are targets.
        with check_sparse_tensor_invariants():
            matrix = to_torch_csr_tensor(edges.flip(0), weight, size=(len(h), len(h)))
        return layer(h, matrix)

    return ReferenceLayer(layer, call, parameters)


def make_linear(in_channels, out_channels, *, heads, weighted):
    layer = randomize_biases(nn.Linear(in_channels, out_channels))
    return ReferenceLayer(layer, lambda h, *_: layer(h), {"weight": layer.weight.T, "bias": layer.bias})


REFERENCES = {"gat": make_gat, "gcn": make_gcn, "sage": make_sage, "gin": make_gin, "mlp": make_linear}


@pytest.fixture(scope="session")
def make_reference():
    """Function that creates PyG's layer of an encoder's name, with random parameters."""

    def make_reference(name, in_channels, out_channels, *, heads=1, weighted=False):
        with torch.random.fork_rng():
            torch.manual_seed(0)
            return REFERENCES[name](in_channels, out_channels, heads=heads, weighted=weighted)

    return make_reference


@pytest.fixture(scope="session")
def assert_near():
    """Function that compares two tensors to 1e-5 of the largest expected value, or of 1 where that is less."""

    def assert_near(actual, expected):
        actual, expected = actual.detach().numpy(), expected.detach().numpy()
        scale = max(1.0, np.abs(expected).max(initial=0))
        np.testing.assert_allclose(actual / scale, expected / scale, rtol=0, atol=1e-5)

    return assert_near
