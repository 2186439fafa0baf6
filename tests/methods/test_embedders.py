"""Embedders behind one interface."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.nn import SGConv

from graphprox import Graph, ParameterError, load_dataset, synthetic
from graphprox.methods.embedders import SMOOTHED, TITLES, SmoothedFeatures, embedder_for
from graphprox.methods.family import recipe_for
from graphprox.training.fitting import fit

FAST = {"steps": 1, "encoder.width": 8}


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
    raw, smoothed = embedder_for("raw").embed(graph, 0), SmoothedFeatures(steps=1).embed(graph, 0)
    assert sp.issparse(raw)
    assert sp.issparse(smoothed)
    assert isinstance(SmoothedFeatures(steps=4).embed(graph, 0), np.ndarray)


@pytest.mark.parametrize("method", TITLES)
def test_labels_never_matter_and_the_same_seed_gives_the_same_bytes(method, no_data):
    graph = synthetic(nodes=140)
    changes = {} if method in ("raw", SMOOTHED) else FAST
    embedder = embedder_for(method, overrides=changes)
    one, other = embedder.embed(graph, 3), embedder.embed(graph.without_labels(), 3)
    assert np.array_equal(dense(one), dense(other))
    assert one.shape[0] == graph.num_nodes
    differs = not np.array_equal(dense(embedder.embed(graph, 4)), dense(one))
    assert differs == embedder.drawn


def test_an_untrained_encoder_is_a_training_of_no_steps(no_data):
    graph = synthetic(nodes=140)
    recipe = recipe_for("ft-gcl", overrides={"steps": 0, "seed": 5})
    assert np.array_equal(embedder_for("untrained").embed(graph, 5), fit(graph, recipe).embedding)


def test_isolated_nodes_keep_their_features():
    graph = Graph(x=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], edge_index=[[0], [1]])
    assert SmoothedFeatures().embed(graph, 0)[2].tolist() == [5, 6]


def test_what_there_is_not_is_refused():
    with pytest.raises(ParameterError, match="did you mean 'smoothed'"):
        embedder_for("smoothd")
    with pytest.raises(ParameterError, match="nothing that could be changed"):
        embedder_for("raw", overrides={"steps": 3})
