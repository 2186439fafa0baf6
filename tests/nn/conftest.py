"""What the tests of convolutions and of the encoder share: graphs of all sorts, and PyG's layers as a measure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
import torch
from torch import nn
from torch.sparse import check_sparse_tensor_invariants
from torch_geometric.nn import GATConv, GCNConv, GINConv, GraphConv, SAGEConv
from torch_geometric.utils import to_torch_csr_tensor

import graphprox
from graphprox.proximity.views import rank_view


@pytest.fixture(scope="session")
def real(data):
    """A real graph by name, its edges and features; "view" is Cora's feature view, in which nobody lists some nodes."""

    @cache
    def real(name):
        graph = graphprox.load("Cora" if name == "view" else name, data=data).graph
        edges = rank_view(graph, "feature", k_max=5, cache=False).graph(5) if name == "view" else graph.edge_index
        return edges, graph.x

    return real


@dataclass
class Twin:
    """A layer of PyG's, called alike whatever its kind, and its parameters as graphprox has them.

    It computes in float64: in float32 PyG's own gradients of attention are off by as much as 1e-5.
    """

    layer: nn.Module
    call: object
    ours: dict[str, torch.Tensor]

    def __call__(self, h, edge_index, edge_weight):
        weight = None if edge_weight is None else torch.tensor(edge_weight).double()
        return self.call(h, torch.tensor(edge_index), weight)

    def lend(self, convolution):
        """Set the parameters of a convolution of ours to those of PyG's, which must be all that it has."""
        parameters = dict(convolution.named_parameters())
        assert parameters.keys() == self.ours.keys()
        with torch.no_grad():
            for name, parameter in parameters.items():
                parameter.copy_(self.ours[name])

    def gradients(self, convolution):
        """By name PyG's gradient of each parameter, and what ours is as one of that parameter."""
        parameters = dict(convolution.named_parameters())
        theirs = dict(self.layer.named_parameters())
        ours = torch.autograd.grad(
            list(self.ours.values()), list(theirs.values()), [parameters[name].grad.double() for name in self.ours]
        )
        return {name: (mine, theirs[name].grad) for name, mine in zip(theirs, ours, strict=True)}


def drawn(layer):
    """The layer with random biases, too, which would begin as zeros, and in float64."""
    for parameter in layer.parameters():
        if parameter.dim() == 1:
            nn.init.normal_(parameter, std=0.1)
    return layer.double()


def gat(inputs, outputs, *, heads, weighted):
    layer = drawn(GATConv(inputs, outputs // heads, heads=heads, edge_dim=1 if weighted else None))
    ours = {"weight": layer.lin.weight.T, "source": layer.att_src[0], "target": layer.att_dst[0], "bias": layer.bias}
    if not weighted:
        return Twin(layer, lambda h, edges, _: layer(h, edges), ours)
    ours["edge"] = (layer.lin_edge.weight.view(heads, -1) * layer.att_edge[0]).sum(1)
    return Twin(layer, lambda h, edges, weight: layer(h, edges, weight[:, None]), ours)


def gcn(inputs, outputs, *, heads, weighted):
    layer = drawn(GCNConv(inputs, outputs))
    return Twin(layer, layer, {"weight": layer.lin.weight.T, "bias": layer.bias})


def sage(inputs, outputs, *, heads, weighted):
    if not weighted:
        layer = drawn(SAGEConv(inputs, outputs))
        neighbours, itself, call = layer.lin_l, layer.lin_r, lambda h, edges, _: layer(h, edges)
    else:
        # PyG's has no weights: a sum by weights that add up to 1 is the weighted mean.
        layer = drawn(GraphConv(inputs, outputs, aggr="add"))
        neighbours, itself = layer.lin_rel, layer.lin_root

        def call(h, edges, weight):
            sums = weight.new_zeros(len(h)).index_add(0, edges[1], weight)
            return layer(h, edges, weight / sums[edges[1]])

    return Twin(layer, call, {"weight": torch.cat([neighbours.weight, itself.weight]).T, "bias": neighbours.bias})


def gin(inputs, outputs, *, heads, weighted):
    layer = drawn(GINConv(nn.Sequential(nn.Linear(inputs, outputs), nn.ReLU(), nn.Linear(outputs, outputs))))
    ours = {
        "weight": layer.nn[0].weight.T,
        "bias": layer.nn[0].bias,
        "second": layer.nn[2].weight.T,
        "second_bias": layer.nn[2].bias,
    }

    def call(h, edges, weight):
        if weight is None:
            return layer(h, edges)
        # PyG's takes weights only as the values of a matrix, whose rows are targets.
        with check_sparse_tensor_invariants():
            matrix = to_torch_csr_tensor(edges.flip(0), weight, size=(len(h), len(h)))
        return layer(h, matrix)

    return Twin(layer, call, ours)


def mlp(inputs, outputs, *, heads, weighted):
    layer = drawn(nn.Linear(inputs, outputs))
    return Twin(layer, lambda h, *_: layer(h), {"weight": layer.weight.T, "bias": layer.bias})


TWINS = {"gat": gat, "gcn": gcn, "sage": sage, "gin": gin, "mlp": mlp}


@pytest.fixture(scope="session")
def twin():
    """PyG's layer of a kind, with random parameters."""

    def twin(kind, inputs, outputs, *, heads=1, weighted=False):
        with torch.random.fork_rng():
            torch.manual_seed(0)
            return TWINS[kind](inputs, outputs, heads=heads, weighted=weighted)

    return twin


@pytest.fixture(scope="session")
def assert_near():
    """Hold a tensor against another, to 1e-5 of the other's largest value, or of 1 where that is less."""

    def assert_near(ours, theirs):
        ours, theirs = ours.detach().numpy(), theirs.detach().numpy()
        scale = max(1.0, np.abs(theirs).max(initial=0))
        np.testing.assert_allclose(ours / scale, theirs / scale, rtol=0, atol=1e-5)

    return assert_near
