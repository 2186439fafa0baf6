"""Registered views and their rankings."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from graphprox import ParameterError, synthetic
from graphprox.views import VIEWS, FeatureOptions, TopologyOptions, ViewOptions, base, rank_view, register_view


@pytest.fixture(autouse=True)
def own_cache(no_data):
    """An empty cache of rankings."""
    return no_data.parent / "rankings"


@pytest.fixture
def registry(monkeypatch):
    """The registry of views, whose changes are undone."""
    assert "feature" in VIEWS
    monkeypatch.setattr(VIEWS, "_entries", dict(VIEWS._entries))
    monkeypatch.setattr(VIEWS, "_origins", dict(VIEWS._origins))
    return VIEWS


@pytest.fixture(scope="module")
def graph():
    return synthetic(nodes=200)


def degrees(graph, rng, *, scale=1):
    """Compare nodes by their degree.

    One-hot.
    """
    return scale * np.eye(graph.num_nodes, dtype=np.float32)[np.bincount(graph.edge_index[0])]


# -- registration ---------------------------------------------------------------------------------------------------


def test_registered_view_is_ranked_by_name_with_its_options(graph, registry, own_cache):
    class DegreeOptions(ViewOptions):
        scale: int = 2

    assert register_view("degree", options=DegreeOptions)(degrees) is degrees
    view = registry["degree"]
    assert (view.summary, view.options.prefix) == ("Compare nodes by their degree.", "views.degree.")
    source, target = rank_view(graph, "degree", k_max=3, options={"scale": 5}).edge_index(3)
    degree = np.bincount(graph.edge_index[0])
    assert np.array_equal(degree[source], degree[target])
    # A descriptor of another package may change without its name: only rankings of built-in views are cached.
    assert list(own_cache.glob("*.npz")) == []
    with pytest.raises(ParameterError, match=r"views\.degree\.scale must be"):
        rank_view(graph, "degree", options={"scale": "large"})


def test_views_without_options_have_prefixes_of_their_own(registry):
    for name in ("one", "two"):
        register_view(name)(degrees)
    assert [registry[name].options.prefix for name in ("one", "two")] == ["views.one.", "views.two."]
    assert ViewOptions.prefix == "views.*."
    with pytest.raises(ParameterError, match=r"views\.two\.k_max must be an integer between 1 and 1,000; got 0"):
        registry["two"].options(k_max=0)


def test_registration_does_not_change_the_given_options(registry):
    class SharedOptions(ViewOptions):
        scale: int = 2

    for name in ("one", "two"):
        register_view(name, options=SharedOptions)(degrees)
    assert SharedOptions.prefix == "views.*."
    assert [registry[name].options.prefix for name in ("one", "two")] == ["views.one.", "views.two."]
    assert all(issubclass(registry[name].options, SharedOptions) for name in ("one", "two"))


def test_options_of_a_view_can_be_pickled():
    options = VIEWS["neighborhood"].options(k_max=3)
    assert pickle.loads(pickle.dumps(options)) == options


def test_name_of_a_view_must_be_unique(registry):
    with pytest.raises(ParameterError, match=r"'feature' is taken by graphprox\.views\.feature\.feature_descriptor"):
        register_view("feature")(degrees)


def test_descriptor_options_exclude_the_range_of_k():
    assert FeatureOptions(k_min=2, k_max=4, binary=True).descriptor_options() == {"binary": True}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k_min": 3, "k_max": 2}, "views.topology.k_min must be at most views.topology.k_max, which is 2; got 3"),
        ({"k_max": 1001}, "views.topology.k_max must be an integer between 1 and 1,000; got 1001"),
        ({"normalize": 1}, "views.topology.normalize must be true or false; got 1"),
        ({"subgraphs": "ego"}, "views.topology.subgraphs must be one of walks, egonet; got 'ego'"),
        ({"p": 0}, "views.topology.p must be a number between 1e-06 and 1e+06; got 0"),
        ({"iterations": -1}, "views.topology.iterations must be an integer between 0 and 1,000; got -1"),
    ],
)
def test_invalid_options_are_rejected(options, message):
    with pytest.raises(ParameterError) as error:
        TopologyOptions(**options)
    assert str(error.value) == message


# -- ranking --------------------------------------------------------------------------------------------------------


def test_random_state_may_be_a_generator(graph):
    by_generator = rank_view(graph, "topology", random_state=np.random.default_rng(0), cache=False)
    by_seed = rank_view(graph, "topology", random_state=int(np.random.default_rng(0).integers(2**31)), cache=False)
    assert by_generator.neighbors.tobytes() == by_seed.neighbors.tobytes()


def test_ranking_of_a_registered_view_is_cached(graph, own_cache, monkeypatch):
    first = rank_view(graph, "feature")
    assert len(list(own_cache.glob("*.npz"))) == 1
    monkeypatch.setattr(base, "rank", None)  # a search would fail
    again = rank_view(graph.with_labels(np.zeros(200, int)), "feature", options={"binary": False})
    assert again.neighbors.tobytes() == first.neighbors.tobytes()
    with pytest.raises(TypeError):
        rank_view(graph, "feature", k_max=3)


def test_options_are_passed_to_the_descriptor(graph):
    one = rank_view(graph, "topology", options={"subgraphs": "egonet", "hops": 1, "iterations": 0, "exact": True})
    other = rank_view(graph, "topology")
    assert one.neighbors.tobytes() != other.neighbors.tobytes()


def test_any_function_is_a_descriptor_and_is_not_cached(graph, own_cache):
    source, target = rank_view(graph, degrees, k_max=3).edge_index(3)
    degree = np.bincount(graph.edge_index[0])
    assert np.array_equal(degree[source], degree[target])
    assert not own_cache.exists()


def test_progress_is_reported_by_stage(graph):
    reports = []
    rank_view(graph, "topology", cache=False, progress=lambda *report: reports.append(report))
    assert {stage for stage, _, _ in reports} >= {"topology", "neighbors"}
    assert reports[-1][1:] == (200, 200)


@pytest.mark.parametrize(
    ("view", "options", "message"),
    [
        ("shape", {}, "view must be a known name; got 'shape': valid names are feature, neighborhood, topology"),
        ("topology", {"num_walk": 3}, "got 'num_walk': did you mean 'num_walks'"),
        ("topology", {"k_max": 3}, "an option of the view 'topology' must be known; got 'k_max'"),
        ("neighborhood", {"binary": True}, "the view 'neighborhood' has no options; got 'binary'"),
    ],
)
def test_unknown_views_and_options_are_rejected(graph, view, options, message):
    with pytest.raises(ParameterError, match=message):
        rank_view(graph, view, options=options)
