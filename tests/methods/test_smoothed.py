"""Features with and without smoothing.

Covers graphprox.methods.raw.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
from torch_geometric.nn import SGConv

from graphprox import Graph, load_dataset, synthetic
from graphprox.methods.raw import RawFeatures
from graphprox.methods.smoothed import SmoothedFeatures


def test_smoothed_features_equal_those_of_pyg_sgconv():
    graph = synthetic(nodes=210)
    layer = SGConv(graph.num_features, graph.num_features, K=2, bias=False)
    with torch.no_grad():
        layer.lin.weight.copy_(torch.eye(graph.num_features))
        expected = layer(torch.tensor(graph.x), torch.tensor(graph.edge_index)).numpy()
    np.testing.assert_allclose(SmoothedFeatures().fit_transform(graph), expected, atol=1e-5)


def test_zero_hops_give_raw_features():
    graph = synthetic(nodes=140)
    raw = RawFeatures().fit_transform(graph)
    assert np.array_equal(raw, graph.x)
    assert np.array_equal(SmoothedFeatures(hops=0).fit_transform(graph), raw)


def test_sparse_features_stay_sparse_until_smoothing_fills_them(data):
    graph = load_dataset("Cora", data=data).graph
    assert sp.issparse(RawFeatures().fit_transform(graph))
    assert sp.issparse(SmoothedFeatures(hops=1).fit_transform(graph))
    assert isinstance(SmoothedFeatures(hops=4).fit_transform(graph), np.ndarray)


def test_isolated_nodes_keep_their_features():
    graph = Graph(x=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], edge_index=[[0], [1]])
    assert SmoothedFeatures().fit_transform(graph)[2].tolist() == [5, 6]


def test_transform_uses_the_hops_of_fit():
    graph = synthetic(nodes=140)
    embedder = SmoothedFeatures(hops=3).fit(graph)
    embedder.set_params(hops=1)
    assert np.array_equal(embedder.transform(graph), embedder.vectors_)
