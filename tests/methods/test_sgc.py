"""SGC: its network against PyG, and the selection of its weight decay."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch_geometric import nn as pyg

from graphprox import Graph, random_split, synthetic
from graphprox.methods import sgc
from graphprox.methods._neural import GraphTensors, to_edge_index
from graphprox.methods._supervised import SupervisedTask
from graphprox.methods.sgc import SGC, SGCNetwork


@pytest.fixture(params=["undirected", "directed"])
def graph(request):
    undirected = synthetic(nodes=140)
    if request.param == "undirected":
        return undirected
    return Graph(undirected.x, undirected.edges_once(), y=undirected.y, directed=True)


def test_network_equals_pyg(graph):
    tensors = GraphTensors.of(graph)
    network, theirs = SGCNetwork(32, 7, hops=3), pyg.SGConv(32, 7, K=3)
    with torch.no_grad():
        network.weight.copy_(theirs.lin.weight.T)
        network.bias.copy_(theirs.lin.bias)
        expected = theirs(tensors.features.dense, to_edge_index(graph))
        np.testing.assert_allclose(network(tensors).numpy(), expected.numpy(), atol=1e-5)


def test_weight_decay_is_selected_by_validation_score(monkeypatch):
    graph = synthetic(nodes=140)
    split = random_split(graph, random_state=0)
    task, tensors = SupervisedTask.of(graph, split), sgc._to_tensors(graph)
    (worse, _), (better, network) = (SGC()._train(task, tensors, decay, None) for decay in (1.0, 1e-5))
    assert worse < better
    monkeypatch.setattr(sgc, "WEIGHT_DECAYS", (1.0, 1e-5))
    classifier = SGC().fit(graph, split)
    assert classifier.weight_decay_ == 1e-5
    assert torch.equal(classifier.network_.weight, network.weight)
