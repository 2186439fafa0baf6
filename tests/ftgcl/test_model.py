"""Models: their initial weights, embeddings of graphs, and devices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import graphprox
from graphprox import Graph, IgnoredInputWarning, ParameterError
from graphprox.errors import TrainingError
from graphprox.ftgcl.fit import fit_recipe
from graphprox.ftgcl.model import Model, select_device
from graphprox.ftgcl.model_folder import load_model
from graphprox.ftgcl.trainer import train
from graphprox.nn.feature_directions import leading_directions


@pytest.fixture
def model(graph, small):
    return Model(small, num_features=graph.num_features)


def same_weights(one, other):
    return all(torch.equal(tensor, other.state_dict()[name]) for name, tensor in one.state_dict().items())


# -- weights --------------------------------------------------------------------------------------------------------


def test_random_state_determines_the_weights(graph, recipe):
    made = Model(recipe, num_features=graph.num_features)
    assert same_weights(made, Model(recipe, num_features=graph.num_features))
    assert not same_weights(made, Model(recipe.merged({"random_state": 1}), num_features=graph.num_features))


def test_initial_weights_do_not_depend_on_the_number_of_epochs(model, graph, small):
    assert same_weights(model, Model(small.merged({"epochs": 999}), num_features=graph.num_features))


# -- embedding ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("jumping", ["last", "concat"])
def test_embedding_has_a_finite_row_per_node(graph, small, jumping):
    embedding = Model(small.merged({"encoder": {"jumping": jumping}}), num_features=graph.num_features).embed(graph)
    assert embedding.shape == (graph.num_nodes, 8 if jumping == "last" else 14)
    assert embedding.dtype == np.float32
    assert np.isfinite(embedding).all()


def test_embedding_does_not_depend_on_the_head(model, graph):
    before = model.embed(graph)
    with torch.no_grad():
        for parameter in model.head.parameters():
            parameter.fill_(7)
    assert np.array_equal(model.embed(graph), before)


def test_sparse_and_dense_features_give_the_same_embedding(graph, small):
    x = graph.x * (np.random.default_rng(0).random(graph.x.shape) < 0.02)
    dense, sparse = (Graph(each, graph.edge_index) for each in (x, sp.csr_array(x)))
    model = Model(small, num_features=graph.num_features)
    np.testing.assert_allclose(model.embed(dense), model.embed(sparse), rtol=0, atol=1e-6)


def test_rows_are_normalized_according_to_the_recipe(graph, small):
    larger = graph.with_features(graph.x * 3)
    for normalize, is_invariant in (("rows", True), ("none", False)):
        model = Model(small.merged({"normalize": normalize}), num_features=graph.num_features)
        assert np.allclose(model.embed(graph), model.embed(larger), rtol=0, atol=1e-6) is is_invariant


def test_another_graph_with_the_same_features_can_be_embedded(model):
    other = graphprox.synthetic(nodes=200, random_state=3)
    assert model.embed(other).shape == (200, 8)


def test_another_number_of_features_is_rejected(model, graph):
    narrow = graph.with_features(graph.x[:, :30])
    with pytest.raises(ParameterError, match="a graph must have the 32 features that the model was trained on; got 30"):
        model.embed(narrow)


@pytest.mark.parametrize("encoder", ["gat", "sage", "gcn", "gin"])
def test_edge_weights_are_used_by_a_weighted_model_only(graph, small, encoder):
    weighted = Graph(graph.x, graph.edges_once(), edge_weight=np.linspace(0.5, 3, graph.num_edges))
    recipe = small.merged({"encoder": {"name": encoder}})
    is_weighted, is_not = (Model(recipe, num_features=graph.num_features, weighted=each) for each in (True, False))
    with pytest.warns(IgnoredInputWarning, match="trained without edge weights: those of the graph are ignored"):
        ignored = is_not.embed(weighted)
    assert np.array_equal(ignored, is_not.embed(graph))
    with torch.no_grad():
        for name, parameter in is_weighted.named_parameters():
            if name.endswith(".edge"):
                parameter.fill_(0.5)  # its initial value is 0
    assert not np.allclose(is_weighted.embed(weighted), is_weighted.embed(graph))


def test_embedding_that_is_not_finite_is_an_error(model, graph):
    with torch.no_grad():
        model.encoder.convolutions[0].weight[0, 0] = float("nan")
    with pytest.raises(TrainingError, match=r"must be finite; .*: lower learning_rate \(now 0.001\)"):
        model.embed(graph)


# -- devices --------------------------------------------------------------------------------------------------------


def test_cpu_is_always_available(model):
    assert select_device("cpu") == torch.device("cpu")
    assert select_device().type in ("cuda", "mps", "cpu")
    assert model.device == torch.device("cpu")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
@pytest.mark.parametrize("name", ["cuda", "cuda:1"])
def test_cuda_is_rejected_if_it_is_not_available(name):
    with pytest.raises(ParameterError, match=rf"device must be auto or an available one \(.*cpu\); got '{name}'"):
        select_device(name)


@pytest.mark.parametrize("name", ["", "gpu", "CPU", "meta", "xpu", "cpu:x"])
def test_unusable_device_is_rejected(name):
    with pytest.raises(ParameterError, match="device must be auto or an available one"):
        select_device(name)


@pytest.mark.parametrize(
    ("cuda", "mps", "selected"), [(True, True, "cuda"), (False, True, "mps"), (False, False, "cpu")]
)
def test_fastest_available_device_is_selected(monkeypatch, cuda, mps, selected):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    assert select_device("auto").type == selected
    assert select_device("cpu").type == "cpu"


# -- fewer columns of features --------------------------------------------------------------------------------------

LINEAR = {"name": "diffusion", "num_layers": 1, "activation": "none", "n_components": 8}


@pytest.mark.parametrize("encoder", [LINEAR, {"name": "mlp", "n_components": 8}, {"name": "gcn", "n_components": 8}])
def test_reduced_features_are_those_of_a_graph_with_the_products(graph, rankings, small, encoder):
    recipe = small.merged({"encoder": encoder, "normalize": "none", "epochs": 3})
    products = graph.with_features(graph.x @ leading_directions(graph.x, 5))
    expected, _ = train(products, rankings, recipe)
    reduced, _ = train(graph, rankings, recipe.merged({"max_features": 5}))
    assert reduced.in_channels == 5
    np.testing.assert_allclose(reduced.embed(graph), expected.embed(products), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("encoder", [LINEAR, {"name": "mlp", "n_components": 8}])
def test_reduced_features_are_the_same_in_chunks(graph, small, encoder):
    masked = {"pairs": [["graph+mask", "feature"]], "augmentations": {"mask": {"mask_features": 0.3}}}
    recipe = small.merged({"encoder": encoder, "max_features": 5, "epochs": 3, **masked})
    recipes = recipe, recipe.merged({"chunk_size": 50})
    full, chunked = (fit_recipe(graph, each, cache=False, device="cpu").vectors for each in recipes)
    np.testing.assert_allclose(chunked, full, rtol=0, atol=1e-4 * np.abs(full).max())


def test_limit_that_features_do_not_reach_changes_nothing(graph, rankings, small):
    model, losses = train(graph, rankings, small)
    limited, same = train(graph, rankings, small.merged({"max_features": graph.num_features}))
    assert losses == same
    assert model.embed(graph).tobytes() == limited.embed(graph).tobytes()


def test_saved_model_has_the_directions_it_was_trained_with(graph, small, tmp_path):
    recipe = small.merged({"encoder": LINEAR, "max_features": 5, "epochs": 3})
    trained = fit_recipe(graph, recipe, cache=False, device="cpu", folder=tmp_path / "model")
    other = graph.with_features(graph.x[::-1])
    loaded = load_model(tmp_path / "model")
    assert loaded.embed(graph).tobytes() == trained.model.embed(graph).tobytes()
    assert loaded.embed(other).tobytes() == trained.model.embed(other).tobytes()
