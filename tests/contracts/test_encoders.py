"""Laws that every encoder obeys."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from contracts.graphs import ODD_GRAPHS, permute
from graphprox import Graph, Recipe, synthetic
from graphprox.ftgcl.model import Model
from graphprox.nn.convolution import in_neighbor_matrix
from graphprox.nn.encoders.base import ENCODERS
from graphprox.nn.features import FeatureMatrix
from graphprox.nn.propagated_features import PropagatedFeatures, propagate_columns
from graphprox.nn.propagation import diffuse_array


def synthetic_graph():
    return synthetic(nodes=140)


def weighted_graph():
    graph = synthetic_graph()
    weight = np.random.default_rng(0).uniform(0.1, 3, graph.num_entries)
    return Graph(graph.x, graph.edge_index, edge_weight=weight, directed=True)


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


@pytest.mark.parametrize("make_graph", [synthetic_graph, weighted_graph])
@pytest.mark.parametrize("encoder", ENCODERS)
def test_encoding_is_permutation_equivariant(encoder, make_graph):
    graph = make_graph()
    order = np.random.default_rng(0).permutation(graph.num_nodes)
    encoded = model(graph, encoder, residual=True, jumping="concat")
    with torch.no_grad():
        for weight in encoded.parameters():  # some are initially zero
            weight += 0.1 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(1))
    np.testing.assert_allclose(encoded.embed(permute(graph, order)), encoded.embed(graph)[order], rtol=1e-4, atol=1e-5)


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


@pytest.mark.parametrize(
    "options", [{"jumping": "last"}, {"jumping": "concat"}, {"jumping": "max"}, {"residual": True}]
)
@pytest.mark.parametrize("encoder", ENCODERS)
def test_every_weight_gets_a_gradient(encoder, options):
    graph = weighted_graph()
    trained = model(graph, encoder, num_layers=3, **options)
    edges = trained.encoder.prepare_edges(graph.edge_index, graph.edge_weight, num_nodes=graph.num_nodes)
    encoded = trained.encoder(trained.encoder.project(trained.feature_matrix(graph)), edges)
    assert encoded.shape == (graph.num_nodes, trained.encoder.n_components)
    encoded.square().sum().backward()
    for name, weight in trained.encoder.named_parameters():
        assert weight.grad is not None, name
        assert weight.grad.isfinite().all(), name
        # A maximum over layers may never select a negative value, by which alone a slope gets a gradient.
        assert weight.grad.any() or options == {"jumping": "max"}, name


@pytest.mark.parametrize("encoder", ENCODERS)
def test_recipe_with_the_encoder_is_the_same_in_toml(encoder):
    recipe = Recipe(encoder={"name": encoder})
    assert recipe.encoder.name == encoder
    assert Recipe.from_toml(recipe.to_toml()) == recipe


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"num_layers": 1, "activation": "none"},
        {"num_layers": 3, "activation": "none", "jumping": "concat"},
        {"num_layers": 2, "activation": "none", "residual": True, "hidden_channels": 5},
        {"num_layers": 2, "activation": "none", "jumping": "max"},
    ],
)
@pytest.mark.parametrize("encoder", ENCODERS)
def test_encoder_that_works_on_rows_of_diffused_features_gives_the_same_embedding(encoder, options):
    graph = weighted_graph()
    encoded = model(graph, encoder, **options)
    coefficients = encoded.encoder.feature_diffusion(encoded.encoder.options)
    if coefficients is None:
        return
    with torch.no_grad():
        for weight in encoded.parameters():  # biases are initially zero
            weight += 0.1 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(1))
    neighbors = in_neighbor_matrix(graph.edge_index, graph.edge_weight, graph.num_nodes)
    matrix = encoded.encoder.propagation_matrix(neighbors)
    (table,) = propagate_columns(
        graph.x, lambda columns: diffuse_array(matrix, columns, coefficients), normalize="rows", width=100
    )
    expected = encoded.embed(graph)
    for rows in (slice(0, 50), slice(50, 51), slice(51, graph.num_nodes)):
        part = torch.from_numpy(table[rows])
        features = FeatureMatrix((len(part), graph.num_features), part[:, :-1], None, None)
        with torch.no_grad():
            found = encoded.encoder.encode_propagated(PropagatedFeatures(features, part[:, -1:]))
        np.testing.assert_allclose(found.numpy(), expected[rows], rtol=1e-4, atol=1e-5)
