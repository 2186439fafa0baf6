"""What needs no training."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
from torch_geometric.nn import SGConv

from graphprox import Graph, load_dataset, synthetic
from graphprox.baselines.floor import RawFeatures, SmoothedFeatures


def dense(rows):
    return rows.toarray() if sp.issparse(rows) else rows


def test_smoothed_features_are_what_sgc_multiplies():
    graph = synthetic(nodes=210)
    layer = SGConv(graph.num_features, graph.num_features, K=2, bias=False)
    with torch.no_grad():
        layer.lin.weight.copy_(torch.eye(graph.num_features))
        expected = layer(torch.tensor(graph.x), torch.tensor(graph.edge_index)).numpy()
    np.testing.assert_allclose(dense(SmoothedFeatures().embed(graph, 0)), expected, atol=1e-5)


def test_sparse_features_stay_sparse_while_they_are(data):
    graph = load_dataset("Cora", data=data).graph
    assert sp.issparse(RawFeatures().embed(graph, 0))
    assert sp.issparse(SmoothedFeatures(steps=1).embed(graph, 0))
    assert isinstance(SmoothedFeatures(steps=4).embed(graph, 0), np.ndarray)


def test_isolated_nodes_keep_their_features():
    graph = Graph(x=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], edge_index=[[0], [1]])
    assert SmoothedFeatures().embed(graph, 0)[2].tolist() == [5, 6]
