"""Laws that every view obeys."""

from __future__ import annotations

import numpy as np
import pytest

from contracts.graphs import DEGENERATE_GRAPHS, ODD_GRAPHS, permute
from graphprox import Recipe, synthetic
from graphprox.views import VIEWS, rank_view


def rank(graph, view, **options):
    return rank_view(graph, view, k_max=3, cache=False, **options)


@pytest.mark.parametrize("kind", [*ODD_GRAPHS, *DEGENERATE_GRAPHS])
@pytest.mark.parametrize("view", VIEWS)
def test_any_graph_can_be_ranked(view, kind):
    graph = (ODD_GRAPHS | DEGENERATE_GRAPHS)[kind]()
    ranking = rank(graph, view)
    assert ranking.neighbors.shape[0] == graph.num_nodes
    assert (ranking.neighbors != np.arange(graph.num_nodes)[:, None]).all()
    assert np.isfinite(ranking.similarities).all()
    source, target = ranking.edge_index(min(3, ranking.k_max))
    assert (source != target).all()
    assert ((target >= 0) & (target < graph.num_nodes)).all()


@pytest.mark.parametrize("view", VIEWS)
def test_ranking_depends_on_the_graph_and_the_random_state_alone(view):
    graph = synthetic(nodes=140)
    expected = rank(graph, view, random_state=1).neighbors
    assert np.array_equal(expected, rank(graph, view, random_state=1).neighbors)
    shuffled = graph.with_labels(np.random.default_rng(0).permutation(graph.y))
    for other in (shuffled, graph.without_labels()):
        assert np.array_equal(expected, rank(other, view, random_state=1).neighbors)
    if view == "topology":  # the other views are random in ties alone, and there are none
        assert not np.array_equal(expected, rank(graph, view, random_state=2).neighbors)


@pytest.mark.parametrize("view", VIEWS)
def test_similarities_do_not_increase_along_a_row(view):
    ranking = rank(synthetic(nodes=140), view)
    assert (np.diff(ranking.similarities, axis=1) <= 1e-5).all()


@pytest.mark.parametrize("view", [name for name in VIEWS if name != "topology"])  # whose walks start from node numbers
def test_best_similarities_are_permutation_equivariant(view):
    graph = synthetic(nodes=140)
    order = np.random.default_rng(0).permutation(graph.num_nodes)
    expected = rank(graph, view).similarities[order]
    np.testing.assert_allclose(rank(permute(graph, order), view).similarities, expected, atol=1e-5)


@pytest.mark.parametrize("view", VIEWS)
def test_recipe_accepts_the_view_and_its_options(view):
    options = VIEWS[view].options()
    recipe = Recipe(pairs=[["graph", view]], views={view: {"k_max": 4}})
    assert recipe.required_views == (view,)
    assert recipe.views.k_range(view) == (1, 4)
    assert Recipe.from_toml(recipe.to_toml()) == recipe
    assert recipe.views.options_of(view).descriptor_options() == options.descriptor_options()
