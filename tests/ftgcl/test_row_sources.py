"""Rows of sources: what is drawn, what is stored, and what stored features depend on."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from graphprox.ftgcl import row_sources
from graphprox.ftgcl.model import Model
from graphprox.ftgcl.row_sources import Draw, RowSources
from graphprox.ftgcl.sources import Sources
from graphprox.ftgcl.stored_tables import WorkFolder
from graphprox.graph.graph import Graph
from graphprox.io.storage.model_files import work_files

LINEAR = {"name": "diffusion", "num_layers": 1, "activation": "none", "n_components": 6}
MASKED = {
    "pairs": [["graph+mask", "feature+mask"], ["graph", "graph+mask"]],
    "augmentations": {"mask": {"mask_features": 0.4}},
    "schedule": "sum",
}


@pytest.fixture
def rows_of(graph, rankings, small, tmp_path):
    """Sources of a recipe with the given changes."""

    def rows_of(*, graph=graph, rankings=rankings, **changes):
        recipe = small.merged({"encoder": LINEAR, "head": {"num_layers": 0}, **changes})
        return RowSources(graph, rankings, Model(recipe, num_features=graph.num_features), WorkFolder(tmp_path))

    return rows_of


@pytest.fixture
def tables(tmp_path):
    """Number of tables in the work folder."""
    return lambda: sum(path.suffix == ".json" for path in work_files(tmp_path))


def test_random_numbers_are_those_of_the_full_batch(graph, rankings, rows_of):
    rows = rows_of(**MASKED)
    full = Sources(graph, rankings, rows.model)
    ours, theirs = np.random.default_rng(0), np.random.default_rng(0)
    draws = rows.draw_pairs(rows.recipe.pairs, 0.5, ours)
    for draw, source in zip([each for pair in draws for each in pair], sum(rows.recipe.pairs, ()), strict=True):
        expected = full.encode(source, 0.5, None, theirs)
        torch.testing.assert_close(rows.embed(draw, slice(0, 140)), expected, rtol=1e-4, atol=1e-6)
    assert ours.random() == theirs.random()


def test_plain_sources_are_one_draw_and_masked_ones_are_not(rows_of):
    rows = rows_of(**{**MASKED, "pairs": [["graph", "feature"], ["graph", "graph+mask"], ["graph+mask", "feature"]]})
    (graph, feature), (again, masked), (other, feature_again) = rows.draw_pairs(
        rows.recipe.pairs, 0.0, np.random.default_rng(0)
    )
    assert graph is again
    assert feature is feature_again
    assert masked is not other
    assert not torch.equal(masked.kept, other.kept)


def test_features_are_propagated_once_for_each_view_and_k(rows_of, tables):
    rows = rows_of()
    for _ in range(2):
        for draw in (Draw("graph", 0), Draw("feature", 2), Draw("feature", 3), Draw("topology", 2)):
            rows.embed(draw, slice(5, 9))
    assert tables() == 4


@pytest.mark.parametrize(
    "changes", [{"normalize": "none"}, {"encoder": {**LINEAR, "alpha": 0.3}}, {"views": {"undirected": True}}]
)
def test_settings_of_propagation_have_features_of_their_own(rows_of, tables, changes):
    for each in ({}, changes):
        rows_of(**each).embed(Draw("feature", 2), slice(0, 4))
    assert tables() == 2


@pytest.mark.parametrize("changes", [{"epochs": 77}, {"encoder": {**LINEAR, "n_components": 9}}, {"random_state": 5}])
def test_other_settings_share_propagated_features(rows_of, tables, changes):
    for each in ({}, changes):
        rows_of(**each).embed(Draw("feature", 2), slice(0, 4))
    assert tables() == 1


def test_another_graph_or_ranking_has_features_of_its_own(graph, rankings, rows_of, tables):
    rows_of().embed(Draw("graph", 0), slice(0, 4))
    fewer = graph.edge_index[:, (graph.edge_index != 0).all(axis=0)]
    rows_of(graph=Graph(graph.x, fewer)).embed(Draw("graph", 0), slice(0, 4))
    assert tables() == 2
    rows_of().embed(Draw("feature", 2), slice(0, 4))
    rows_of(rankings={**rankings, "feature": rankings["topology"]}).embed(Draw("feature", 2), slice(0, 4))
    assert tables() == 4


def test_sampled_edges_are_those_of_the_full_batch(graph, rankings, rows_of, tables):
    sampled = {
        "pairs": [["graph+some", "feature+some"], ["graph+some", "feature"]],
        "augmentations": {"some": {"drop_edges": 0.5, "mask_features": 0.2, "edge_samples": 2}},
        "schedule": "sum",
    }
    rows = rows_of(**sampled)
    full = Sources(graph, rankings, rows.model)
    for epoch in range(6):
        ours, theirs = np.random.default_rng(epoch), np.random.default_rng(epoch)
        draws = rows.draw_pairs(rows.recipe.pairs, 0.5, ours)
        for draw, source in zip([each for pair in draws for each in pair], sum(rows.recipe.pairs, ()), strict=True):
            expected = full.encode(source, 0.5, None, theirs)
            torch.testing.assert_close(rows.embed(draw, slice(0, 140)), expected, rtol=1e-4, atol=1e-6)
        assert draws[0][0].sample != draws[1][0].sample
        assert ours.random() == theirs.random()
    assert tables() == 2 + 2 + 1  # samples of the graph, samples of the view, the view


def test_columns_are_propagated_in_blocks_if_there_is_little_memory(graph, rows_of, tmp_path, monkeypatch):
    whole = rows_of().embed(Draw("feature", 2), slice(0, 140))
    for path in work_files(tmp_path):
        path.unlink()
    monkeypatch.setattr(row_sources, "_choose_width", lambda _: 7)
    blocks = rows_of().embed(Draw("feature", 2), slice(0, 140))
    assert len(work_files(tmp_path)) == 1 + -(-(graph.num_features + 1) // 7)
    torch.testing.assert_close(blocks, whole)
