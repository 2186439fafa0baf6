"""Laws that every encoder obeys."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from contracts.graphs import ODD_GRAPHS, permute
from graphprox import Recipe, synthetic
from graphprox.ftgcl.model import Model
from graphprox.nn.encoders.base import ENCODERS


def model(graph, encoder, random_state=0, **options):
    recipe = Recipe(encoder={"name": encoder, "n_components": 8, **options}, random_state=random_state)
    return Model(recipe, num_features=graph.num_features, weighted=graph.edge_weight is not None)


@pytest.mark.parametrize("kind", ODD_GRAPHS)
@pytest.mark.parametrize("encoder", ENCODERS)
def test_any_graph_can_be_encoded(encoder, kind):
    graph = ODD_GRAPHS[kind]()
    vectors = model(graph, encoder).embed(graph)
    assert vectors.shape == (graph.num_nodes, 8)
    assert np.isfinite(vectors).all()


@pytest.mark.parametrize("encoder", ENCODERS)
def test_encoding_is_permutation_equivariant(encoder):
    graph = synthetic(nodes=140)
    order = np.random.default_rng(0).permutation(graph.num_nodes)
    encoded = model(graph, encoder)
    np.testing.assert_allclose(encoded.embed(permute(graph, order)), encoded.embed(graph)[order], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("encoder", ENCODERS)
def test_initial_weights_depend_on_the_random_state_alone(encoder):
    graph = synthetic(nodes=140)
    torch.manual_seed(1)
    first = model(graph, encoder, random_state=3).embed(graph)
    after = torch.rand(1)
    torch.manual_seed(1)
    assert torch.equal(after, torch.rand(1))
    assert np.array_equal(first, model(graph, encoder, random_state=3).embed(graph))
    assert not np.array_equal(first, model(graph, encoder, random_state=4).embed(graph))


@pytest.mark.parametrize("jumping", ["last", "concat", "max"])
@pytest.mark.parametrize("encoder", ENCODERS)
def test_every_weight_gets_a_gradient(encoder, jumping):
    graph = synthetic(nodes=140)
    trained = model(graph, encoder, jumping=jumping)
    edges = trained.encoder.prepare_edges(graph.edge_index, None, num_nodes=graph.num_nodes)
    encoded = trained.encoder(trained.encoder.project(trained.feature_matrix(graph)), edges)
    assert encoded.shape == (graph.num_nodes, trained.encoder.n_components)
    encoded.square().sum().backward()
    assert all(weight.grad is not None and weight.grad.isfinite().all() for weight in trained.encoder.parameters())


@pytest.mark.parametrize("encoder", ENCODERS)
def test_recipe_with_the_encoder_is_the_same_in_toml(encoder):
    recipe = Recipe(encoder={"name": encoder})
    assert recipe.encoder.name == encoder
    assert Recipe.from_toml(recipe.to_toml()) == recipe
