"""What the encoder is given of a source: which edges, which features, how often they are prepared."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch

from graphprox.graph import Graph
from graphprox.nn.encoder import Encoder
from graphprox.nn.features import FeatureMatrix
from graphprox.training.model import Model
from graphprox.training.sources import Sources
from graphprox.training.trainer import Trainer


@pytest.fixture
def trainer(graph, rankings):
    def trainer(recipe, graph=graph, rankings=rankings):
        return Trainer(graph, rankings, recipe, device=torch.device("cpu"))

    return trainer


@pytest.fixture
def sources(graph, rankings):
    def sources(recipe, graph=graph, rankings=rankings):
        return Sources(graph, rankings, Model(recipe, features=graph.num_features))

    return sources


@pytest.fixture
def prepared(monkeypatch):
    """The edges, (2, edges), of each time that edges were prepared."""
    seen, original = [], Encoder.edges

    def edges(self, edge_index, edge_weight, **options):
        seen.append(edge_index)
        return original(self, edge_index, edge_weight, **options)

    monkeypatch.setattr(Encoder, "edges", edges)
    return seen


@pytest.fixture
def projected(monkeypatch):
    """What was kept of the features, or None for all, of each time that they were projected."""
    seen, original = [], Encoder.project

    def project(self, features, kept=None):
        seen.append(kept)
        return original(self, features, kept)

    monkeypatch.setattr(Encoder, "project", project)
    return seen


def pairs(edges):
    return set(map(tuple, edges.T.tolist()))


# -- k --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("position", "k"), [(0.0, 1), (0.24, 1), (0.25, 2), (0.5, 3), (0.9999999999999999, 4)])
def test_k_divides_its_range_evenly(sources, small, position, k):
    assert sources(small).k_of("feature", position) == k


def test_k_is_never_more_than_was_ranked(sources, small, rankings):
    wide = sources(small.merged({"views": {"k_min": 1, "k_max": 1_000}}))
    assert {wide.k_of("feature", position) for position in (0.5, 0.99)} == {rankings["feature"].k_max}


def test_views_of_one_range_have_one_k(sources, small):
    each = sources(small)
    for position in np.random.default_rng(0).random(50):
        assert each.k_of("feature", position) == each.k_of("topology", position) == each.k_of("neighbourhood", position)


# -- edges ----------------------------------------------------------------------------------------------------------


def test_edges_are_prepared_once_for_each_view_and_k(trainer, small, prepared):
    training = trainer(small)
    taken = [training.step() for _ in range(40)]
    used = {(view, k) for step in taken for view, k in step.k.items()}
    assert len(used) == 8  # both views, k of 1..4
    assert len(prepared) == len(used) + 1  # and the graph


def test_the_edges_of_a_view_are_those_of_its_ranking(sources, small, rankings, prepared):
    sources(small).encode("topology", 0.5, None, np.random.default_rng(0))
    assert np.array_equal(prepared[0], rankings["topology"].graph(3))


def test_both_directions_are_the_edges_and_their_mirror_each_once(sources, small, rankings, prepared):
    both = sources(small.merged({"views": {"both_directions": True}}))
    both.encode("feature", 0.5, None, np.random.default_rng(0))
    one_way = pairs(rankings["feature"].graph(3))
    assert pairs(prepared[0]) == one_way | {(target, source) for source, target in one_way}
    assert prepared[0].shape[1] == len(pairs(prepared[0]))


@pytest.mark.parametrize("source", ["graph", "feature", "topology"])
def test_a_corruption_drops_its_share_of_edges_anew_each_time(sources, small, graph, rankings, prepared, source):
    rate = 0.3
    recipe = small.merged({"turns": [[f"{source}+some", "graph"]], "corruptions": {"some": {"drop_edges": rate}}})
    corrupted, rng = sources(recipe), np.random.default_rng(0)
    whole = pairs(graph.edge_index if source == "graph" else rankings[source].graph(4))
    for _ in range(30):
        corrupted.encode(f"{source}+some", 0.99, None, rng)
    kept = [pairs(edges) for edges in prepared]
    assert len(kept) == 30
    assert all(each < whole for each in kept)
    assert len(set(map(frozenset, kept))) == 30
    share = sum(map(len, kept)) / len(whole) / 30
    assert share == pytest.approx(1 - rate, abs=4 * (rate * (1 - rate) / len(whole) / 30) ** 0.5)
    # Each edge is as likely to stay as any other.
    stayed = Counter(pair for each in kept for pair in each)
    assert min(stayed.values()) > 5


def test_weights_stay_with_their_edges(small, rankings, graph, monkeypatch):
    weight = np.arange(1, graph.num_edges + 1, dtype=np.float32)
    weighted = Graph(graph.x, graph.edges_once(), edge_weight=weight)
    given = dict(zip(map(tuple, weighted.edge_index.T.tolist()), weighted.edge_weight.tolist(), strict=True))
    recipe = small.merged({"turns": [["graph+some", "feature"]], "corruptions": {"some": {"drop_edges": 0.5}}})
    seen, original = [], Encoder.edges

    def edges(self, edge_index, edge_weight, **options):
        seen.append((edge_index, edge_weight))
        return original(self, edge_index, edge_weight, **options)

    monkeypatch.setattr(Encoder, "edges", edges)
    model = Model(recipe, features=graph.num_features, weighted=True)
    Sources(weighted, rankings, model).encode("graph+some", 0.5, None, np.random.default_rng(0))
    ((index, kept),) = seen
    assert 0 < len(kept) < len(given)
    assert [given[pair] for pair in map(tuple, index.T.tolist())] == kept.tolist()


# -- features -------------------------------------------------------------------------------------------------------


def test_a_mask_hides_its_share_of_features_anew_each_time(sources, small, projected):
    recipe = small.merged({"turns": [["graph+some", "graph"]], "corruptions": {"some": {"mask_features": 0.4}}})
    masked, rng = sources(recipe), np.random.default_rng(0)
    for _ in range(60):
        masked.encode("graph+some", 0.0, None, rng)
    kept = torch.stack(projected)
    assert set(kept.unique().tolist()) == {0.0, 1.0}
    assert kept.mean().item() == pytest.approx(0.6, abs=4 * (0.24 / kept.numel()) ** 0.5)
    assert len(set(map(tuple, kept.tolist()))) == 60
    assert (kept.mean(0) > 0.2).all()  # no feature is always hidden
    assert (kept.mean(0) < 1).all()  # or never


@pytest.mark.parametrize("kind", ["gat", "sage", "gcn", "gin", "mlp"])
def test_masked_features_are_hidden_columns(sources, small, graph, projected, kind):
    recipe = small.merged(
        {
            "turns": [["graph+some", "graph"]],
            "corruptions": {"some": {"mask_features": 0.4}},
            "encoder": {"kind": kind},
        }
    )
    masked = sources(recipe)
    encoded = masked.encode("graph+some", 0.0, None, np.random.default_rng(0))
    hidden = graph.x / np.abs(graph.x).sum(axis=1, keepdims=True) * projected[0].numpy()
    encoder = masked.model.encoder
    edges = encoder.edges(graph.edge_index, None, num_nodes=graph.num_nodes)
    expected = masked.model.head(encoder(encoder.project(FeatureMatrix.of(hidden)), edges))
    torch.testing.assert_close(encoded, expected, rtol=0, atol=1e-5)


def test_what_is_shared_is_what_each_source_would_have_made(sources, small):
    each = sources(small)
    shared = each.model.encoder.project(each.features)
    for source in ("graph", "feature", "topology"):
        rng = np.random.default_rng(0)
        assert torch.equal(each.encode(source, 0.5, shared, rng), each.encode(source, 0.5, None, rng))


def test_the_projection_of_all_features_is_computed_once_a_step(trainer, small, projected):
    for schedule in ("alternate", "sum"):
        training = trainer(small.merged({"schedule": schedule}))
        training.step()
        assert projected == [None]
        projected.clear()


@pytest.mark.parametrize(
    ("turns", "shared", "masked"),
    [
        ([["graph+mask", "feature"]], 1, 1),
        ([["graph+mask", "feature+mask"]], 0, 2),
        ([["graph+drop", "feature+drop"]], 1, 0),
        ([["graph+drop", "feature+mask"], ["graph", "topology"]], 1, 1),
        ([["graph+mask", "feature"], ["graph+mask", "topology"]], 1, 2),
    ],
)
def test_only_masked_sources_need_a_projection_of_their_own(trainer, small, projected, turns, shared, masked):
    corruptions = {"mask": {"mask_features": 0.5}, "drop": {"drop_edges": 0.5}}
    used = {
        name: each
        for name, each in corruptions.items()
        if any(f"+{name}" in source for turn in turns for source in turn)
    }
    trainer(small.merged({"turns": turns, "schedule": "sum", "corruptions": used})).step()
    assert [kept is None for kept in projected].count(True) == shared
    assert [kept is None for kept in projected].count(False) == masked


def test_a_plain_source_takes_nothing_from_the_random_numbers(sources, small):
    rng = np.random.default_rng(0)
    sources(small).encode("feature", 0.5, None, rng)
    assert rng.random() == np.random.default_rng(0).random()
