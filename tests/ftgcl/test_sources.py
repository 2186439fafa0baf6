"""Sources: which edges and features the encoder uses, and how often they are prepared."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch

from graphprox.ftgcl.model import Model
from graphprox.ftgcl.sources import Sources
from graphprox.ftgcl.trainer import Trainer
from graphprox.graph.graph import Graph
from graphprox.nn import propagated_features
from graphprox.nn.encoders import diffusion
from graphprox.nn.encoders.base import ENCODERS, ConvolutionEncoder
from graphprox.nn.features import FeatureMatrix


@pytest.fixture
def trainer(graph, rankings):
    def trainer(recipe, graph=graph, rankings=rankings):
        return Trainer(graph, rankings, recipe, device=torch.device("cpu"))

    return trainer


@pytest.fixture
def sources(graph, rankings):
    def sources(recipe, graph=graph, rankings=rankings):
        return Sources(graph, rankings, Model(recipe, num_features=graph.num_features))

    return sources


@pytest.fixture
def prepared_edges(monkeypatch):
    """Edges, of shape (2, num_edges), of each call of prepare_edges."""
    calls, original = [], ConvolutionEncoder.prepare_edges

    def prepare_edges(self, edge_index, edge_weight, **options):
        calls.append(edge_index)
        return original(self, edge_index, edge_weight, **options)

    monkeypatch.setattr(ConvolutionEncoder, "prepare_edges", prepare_edges)
    return calls


@pytest.fixture
def projected_masks(monkeypatch):
    """Mask of the features, or None, of each call of project."""
    calls, original = [], ConvolutionEncoder.project

    def project(self, features, kept=None):
        calls.append(kept)
        return original(self, features, kept)

    monkeypatch.setattr(ConvolutionEncoder, "project", project)
    return calls


def edge_set(edges):
    return set(map(tuple, edges.T.tolist()))


# -- k --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("position", "k"), [(0.0, 1), (0.24, 1), (0.25, 2), (0.5, 3), (0.9999999999999999, 4)])
def test_position_selects_k_evenly_from_its_range(sources, small, position, k):
    assert sources(small).k_of("feature", position) == k


def test_k_is_at_most_that_of_the_ranking(sources, small, rankings):
    wide = sources(small.merged({"views": {"k_min": 1, "k_max": 1_000}}))
    assert {wide.k_of("feature", position) for position in (0.5, 0.99)} == {rankings["feature"].k_max}


def test_views_of_one_range_share_k(sources, small):
    each = sources(small)
    for position in np.random.default_rng(0).random(50):
        assert each.k_of("feature", position) == each.k_of("topology", position) == each.k_of("neighborhood", position)


# -- edges ----------------------------------------------------------------------------------------------------------


def test_edges_are_prepared_once_for_each_view_and_k(trainer, small, prepared_edges):
    training = trainer(small)
    logs = [training.step() for _ in range(40)]
    used = {(view, k) for log in logs for view, k in log.k.items()}
    assert len(used) == 8  # two views, k from 1 to 4
    assert len(prepared_edges) == len(used) + 1  # and the graph


def test_edges_of_a_view_are_those_of_its_ranking(sources, small, rankings, prepared_edges):
    sources(small).encode("topology", 0.5, None, np.random.default_rng(0))
    assert np.array_equal(prepared_edges[0], rankings["topology"].edge_index(3))


def test_undirected_view_has_each_edge_once_in_both_directions(sources, small, rankings, prepared_edges):
    both = sources(small.merged({"views": {"undirected": True}}))
    both.encode("feature", 0.5, None, np.random.default_rng(0))
    one_way = edge_set(rankings["feature"].edge_index(3))
    assert edge_set(prepared_edges[0]) == one_way | {(target, source) for source, target in one_way}
    assert prepared_edges[0].shape[1] == len(edge_set(prepared_edges[0]))


@pytest.mark.parametrize("source", ["graph", "feature", "topology"])
def test_augmentation_drops_a_new_random_share_of_edges_each_time(
    sources, small, graph, rankings, prepared_edges, source
):
    rate = 0.3
    recipe = small.merged({"pairs": [[f"{source}+some", "graph"]], "augmentations": {"some": {"drop_edges": rate}}})
    augmented, rng = sources(recipe), np.random.default_rng(0)
    whole = edge_set(graph.edge_index if source == "graph" else rankings[source].edge_index(4))
    for _ in range(30):
        augmented.encode(f"{source}+some", 0.99, None, rng)
    kept = [edge_set(edges) for edges in prepared_edges]
    assert len(kept) == 30
    assert all(each < whole for each in kept)
    assert len(set(map(frozenset, kept))) == 30
    share = sum(map(len, kept)) / len(whole) / 30
    assert share == pytest.approx(1 - rate, abs=4 * (rate * (1 - rate) / len(whole) / 30) ** 0.5)
    # All edges are kept with the same probability.
    times = Counter(pair for each in kept for pair in each)
    assert min(times.values()) > 5


def test_kept_edges_keep_their_weights(small, rankings, graph, monkeypatch):
    weight = np.arange(1, graph.num_edges + 1, dtype=np.float32)
    weighted = Graph(graph.x, graph.edges_once(), edge_weight=weight)
    given = dict(zip(map(tuple, weighted.edge_index.T.tolist()), weighted.edge_weight.tolist(), strict=True))
    recipe = small.merged({"pairs": [["graph+some", "feature"]], "augmentations": {"some": {"drop_edges": 0.5}}})
    calls, original = [], ConvolutionEncoder.prepare_edges

    def prepare_edges(self, edge_index, edge_weight, **options):
        calls.append((edge_index, edge_weight))
        return original(self, edge_index, edge_weight, **options)

    monkeypatch.setattr(ConvolutionEncoder, "prepare_edges", prepare_edges)
    model = Model(recipe, num_features=graph.num_features, weighted=True)
    Sources(weighted, rankings, model).encode("graph+some", 0.5, None, np.random.default_rng(0))
    ((index, kept),) = calls
    assert 0 < len(kept) < len(given)
    assert [given[pair] for pair in map(tuple, index.T.tolist())] == kept.tolist()


# -- features -------------------------------------------------------------------------------------------------------


def test_augmentation_masks_a_new_random_share_of_features_each_time(sources, small, projected_masks):
    recipe = small.merged({"pairs": [["graph+some", "graph"]], "augmentations": {"some": {"mask_features": 0.4}}})
    masked, rng = sources(recipe), np.random.default_rng(0)
    for _ in range(60):
        masked.encode("graph+some", 0.0, None, rng)
    kept = torch.stack(projected_masks)
    assert set(kept.unique().tolist()) == {0.0, 1.0}
    assert kept.mean().item() == pytest.approx(0.6, abs=4 * (0.24 / kept.numel()) ** 0.5)
    assert len(set(map(tuple, kept.tolist()))) == 60
    assert (kept.mean(0) > 0.2).all()  # no feature is always masked
    assert (kept.mean(0) < 1).all()  # or never


@pytest.mark.parametrize("encoder", ENCODERS)
def test_masked_features_are_columns_of_zeros(sources, small, graph, projected_masks, encoder):
    recipe = small.merged(
        {
            "pairs": [["graph+some", "graph"]],
            "augmentations": {"some": {"mask_features": 0.4}},
            "encoder": {"name": encoder},
        }
    )
    masked = sources(recipe)
    encoded = masked.encode("graph+some", 0.0, None, np.random.default_rng(0))
    hidden = graph.x / np.abs(graph.x).sum(axis=1, keepdims=True) * projected_masks[0].numpy()
    encode = masked.model.encoder
    edges = encode.prepare_edges(graph.edge_index, None, num_nodes=graph.num_nodes)
    expected = masked.model.head(encode(encode.project(FeatureMatrix.of(hidden)), edges))
    torch.testing.assert_close(encoded, expected, rtol=0, atol=1e-5)


def test_shared_projection_equals_that_of_each_source(sources, small):
    each = sources(small)
    shared = each.model.encoder.project(each.features)
    for source in ("graph", "feature", "topology"):
        rng = np.random.default_rng(0)
        assert torch.equal(each.encode(source, 0.5, shared, rng), each.encode(source, 0.5, None, rng))


def test_projection_of_all_features_is_computed_once_per_epoch(trainer, small, projected_masks):
    for schedule in ("alternate", "sum"):
        training = trainer(small.merged({"schedule": schedule}))
        training.step()
        assert projected_masks == [None]
        projected_masks.clear()


@pytest.mark.parametrize(
    ("pairs", "shared", "masked"),
    [
        ([["graph+mask", "feature"]], 1, 1),
        ([["graph+mask", "feature+mask"]], 0, 2),
        ([["graph+drop", "feature+drop"]], 1, 0),
        ([["graph+drop", "feature+mask"], ["graph", "topology"]], 1, 1),
        ([["graph+mask", "feature"], ["graph+mask", "topology"]], 1, 2),
    ],
)
def test_only_masked_sources_have_a_separate_projection(trainer, small, projected_masks, pairs, shared, masked):
    augmentations = {"mask": {"mask_features": 0.5}, "drop": {"drop_edges": 0.5}}
    used = {
        name: each
        for name, each in augmentations.items()
        if any(f"+{name}" in source for pair in pairs for source in pair)
    }
    trainer(small.merged({"pairs": pairs, "schedule": "sum", "augmentations": used})).step()
    assert [kept is None for kept in projected_masks].count(True) == shared
    assert [kept is None for kept in projected_masks].count(False) == masked


def test_source_without_augmentation_uses_no_random_numbers(sources, small):
    rng = np.random.default_rng(0)
    sources(small).encode("feature", 0.5, None, rng)
    assert rng.random() == np.random.default_rng(0).random()


# -- features that are propagated once ------------------------------------------------------------------------------

LINEAR = {"name": "diffusion", "num_layers": 1, "activation": "none", "n_components": 64}


@pytest.fixture
def diffused_columns(monkeypatch):
    """Number of columns of each diffusion of features, and of their projection."""
    calls, propagated, projected = [], propagated_features.diffuse, diffusion.diffuse

    def record(original):
        def diffuse(edges, h, coefficients):
            if h.shape[1] > 1:  # and not the ones of the bias
                calls.append(h.shape[1])
            return original(edges, h, coefficients)

        return diffuse

    monkeypatch.setattr(propagated_features, "diffuse", record(propagated))
    monkeypatch.setattr(diffusion, "diffuse", record(projected))
    return calls


def test_features_are_propagated_once_for_each_view_and_k(trainer, small, graph, diffused_columns, projected_masks):
    training = trainer(small.merged({"encoder": LINEAR}))
    logs = [training.step() for _ in range(40)]
    used = {(view, k) for log in logs for view, k in log.k.items()}
    assert diffused_columns == [graph.num_features] * (len(used) + 1)
    assert len(projected_masks) == 2 * 40  # one product for each source: there is nothing to share


def test_features_beyond_the_limit_of_memory_are_not_propagated(
    trainer, small, graph, diffused_columns, projected_masks, monkeypatch
):
    monkeypatch.setattr("graphprox.ftgcl.sources.MAX_PROPAGATED_BYTES", 4 * graph.num_nodes * graph.num_features)
    training = trainer(small.merged({"encoder": LINEAR}))
    for _ in range(5):
        training.step()
    assert diffused_columns == [graph.num_features, *[64] * 5]  # the graph once, the view in every epoch
    assert len(projected_masks) == 2 * 5


def test_dropped_edges_are_not_those_of_propagated_features(trainer, small, diffused_columns):
    augmented = {
        "encoder": LINEAR,
        "pairs": [["graph+some", "graph+some"]],
        "augmentations": {"some": {"drop_edges": 0.3, "mask_features": 0.2}},
    }
    trainer(small.merged(augmented)).step()
    assert diffused_columns == [64, 64]


@pytest.mark.parametrize("kernel", ["pagerank", "heat"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("source", ["graph", "feature", "graph+mask", "topology+mask"])
def test_propagated_features_give_the_same_values_and_gradients(
    small, graph, rankings, source, directed, kernel, monkeypatch
):
    recipe = small.merged(
        {
            "encoder": {**LINEAR, "kernel": kernel},
            "pairs": [[source, "graph+mask"], ["graph", "graph+mask"]],
            "augmentations": {"mask": {"mask_features": 0.4}},
        }
    )
    index = graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]]
    weight = np.random.default_rng(0).uniform(0.1, 3, index.shape[1])
    weighted = Graph(graph.x, index, edge_weight=weight, directed=directed)

    def encode():
        model = Model(recipe, num_features=graph.num_features, weighted=True)
        with torch.no_grad():
            model.encoder.convolutions[0].bias += 0.3
        encoded = Sources(weighted, rankings, model).encode(source, 0.5, None, np.random.default_rng(1))
        encoded.square().sum().backward()
        return [encoded, *(weight.grad for weight in model.encoder.parameters())]

    actual = encode()
    monkeypatch.setattr("graphprox.ftgcl.sources.MAX_PROPAGATED_BYTES", 0)
    torch.testing.assert_close(actual, encode(), rtol=1e-4, atol=1e-4)


def test_what_is_propagated_does_not_depend_on_the_number_of_epochs(trainer, small, diffused_columns):
    calls = []
    for epochs in (1, 1000):
        trainer(small.merged({"encoder": LINEAR, "epochs": epochs})).step()
        calls.append(list(diffused_columns))
        diffused_columns.clear()
    assert calls[0] == calls[1]


def test_what_is_propagated_does_not_depend_on_the_order_of_epochs(
    sources, small, graph, diffused_columns, monkeypatch
):
    # Otherwise training that is resumed would not give the same bytes.
    monkeypatch.setattr("graphprox.ftgcl.sources.MAX_PROPAGATED_BYTES", 4 * graph.num_nodes * graph.num_features)
    for order in (("graph", "feature"), ("feature", "graph")):
        each = sources(small.merged({"encoder": LINEAR}))
        for source in order:
            each.encode(source, 0.5, None, np.random.default_rng(0))
        assert sorted(diffused_columns) == [graph.num_features, 64]
        diffused_columns.clear()
