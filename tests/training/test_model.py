"""A model: the recipe's encoder and head, and what they make of any graph with the same features."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import graphprox
from graphprox import Graph, IgnoredInputWarning, ParameterError
from graphprox.errors import TrainingError
from graphprox.training.model import Model, chosen_device


@pytest.fixture
def model(graph, small):
    return Model(small, features=graph.num_features)


def same_weights(one, other):
    return all(torch.equal(tensor, other.state_dict()[name]) for name, tensor in one.state_dict().items())


# -- weights --------------------------------------------------------------------------------------------------------


def test_the_seed_decides_the_weights(model, graph, recipe):
    made = Model(recipe, features=graph.num_features)
    assert same_weights(made, Model(recipe, features=graph.num_features))
    assert not same_weights(made, Model(recipe.merged({"seed": 1}), features=graph.num_features))


def test_weights_are_drawn_from_nothing_but_the_seed(model, graph, small):
    torch.manual_seed(5)
    state = torch.random.get_rng_state()
    assert same_weights(model, Model(small, features=graph.num_features))
    assert torch.equal(torch.random.get_rng_state(), state)


def test_the_number_of_steps_plays_no_part_in_the_weights(model, graph, small):
    assert same_weights(model, Model(small.merged({"steps": 999}), features=graph.num_features))


# -- embedding ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("jumping", ["last", "concat"])
def test_an_embedding_has_a_finite_row_per_node_and_no_gradient(graph, small, jumping):
    embedding = Model(small.merged({"encoder": {"jumping": jumping}}), features=graph.num_features).embed(graph)
    assert embedding.shape == (graph.num_nodes, 8 if jumping == "last" else 14)
    assert embedding.dtype == np.float32
    assert np.isfinite(embedding).all()


def test_the_head_plays_no_part_in_an_embedding(model, graph):
    before = model.embed(graph)
    with torch.no_grad():
        for parameter in model.head.parameters():
            parameter.fill_(7)
    assert np.array_equal(model.embed(graph), before)


def test_sparse_and_dense_features_are_embedded_alike(graph, small):
    x = graph.x * (np.random.default_rng(0).random(graph.x.shape) < 0.02)
    dense, sparse = (Graph(each, graph.edge_index) for each in (x, sp.csr_array(x)))
    model = Model(small, features=graph.num_features)
    np.testing.assert_allclose(model.embed(dense), model.embed(sparse), rtol=0, atol=1e-6)


def test_rows_are_scaled_or_not_as_the_recipe_says(graph, small):
    larger = graph.with_features(graph.x * 3)
    for normalize, alike in (("rows", True), ("none", False)):
        model = Model(small.merged({"normalize": normalize}), features=graph.num_features)
        assert np.allclose(model.embed(graph), model.embed(larger), rtol=0, atol=1e-6) is alike


def test_another_graph_with_the_same_features_can_be_embedded(model):
    other = graphprox.synthetic(nodes=200, seed=3)
    assert model.embed(other).shape == (200, 8)


def test_another_number_of_features_is_refused(model, graph):
    narrow = graph.with_features(graph.x[:, :30])
    with pytest.raises(ParameterError, match="a graph must have the 32 features that the model was trained on; got 30"):
        model.embed(narrow)


@pytest.mark.parametrize("kind", ["gat", "sage", "gcn", "gin"])
def test_weights_count_where_the_model_knows_them(graph, small, kind):
    weighted = Graph(graph.x, graph.edges_once(), edge_weight=np.linspace(0.5, 3, graph.num_edges))
    recipe = small.merged({"encoder": {"kind": kind}})
    knows, does_not = (Model(recipe, features=graph.num_features, weighted=each) for each in (True, False))
    with pytest.warns(IgnoredInputWarning, match="trained without edge weights: those of the graph are not used"):
        ignored = does_not.embed(weighted)
    assert np.array_equal(ignored, does_not.embed(graph))
    with torch.no_grad():
        for name, parameter in knows.named_parameters():
            if name.endswith(".edge"):
                parameter.fill_(0.5)  # it begins at 0
    assert not np.allclose(knows.embed(weighted), knows.embed(graph))


def test_an_embedding_that_is_not_finite_is_an_error(model, graph):
    with torch.no_grad():
        model.encoder.convolutions[0].weight[0, 0] = float("nan")
    with pytest.raises(TrainingError, match=r"must be finite; .*: lower optimizer.learning_rate \(now 0.0005\)"):
        model.embed(graph)


# -- devices --------------------------------------------------------------------------------------------------------


def test_the_cpu_is_always_at_hand(model):
    assert chosen_device("cpu") == torch.device("cpu")
    assert chosen_device().type in ("cuda", "mps", "cpu")
    assert model.device == torch.device("cpu")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
@pytest.mark.parametrize("name", ["cuda", "cuda:1"])
def test_cuda_is_refused_where_there_is_none(name):
    with pytest.raises(ParameterError, match=rf"device must be auto or one that is at hand \(.*cpu\); got '{name}'"):
        chosen_device(name)


@pytest.mark.parametrize("name", ["", "gpu", "CPU", "meta", "xpu", "cpu:x"])
def test_what_is_no_usable_device_is_refused(name):
    with pytest.raises(ParameterError, match="device must be auto or one that is at hand"):
        chosen_device(name)


@pytest.mark.parametrize(("cuda", "mps", "chosen"), [(True, True, "cuda"), (False, True, "mps"), (False, False, "cpu")])
def test_the_fastest_device_at_hand_is_chosen(monkeypatch, cuda, mps, chosen):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    assert chosen_device("auto").type == chosen
    assert chosen_device("cpu").type == "cpu"
