"""What cannot fit into memory is refused by fit, before any work; what would fit is named.

Covers graphprox.forecast.ignoring.
"""

from __future__ import annotations

import numpy as np
import pytest

from contracts.small import small
from graphprox import (
    DGI,
    FTGCL,
    GCN,
    AutoEmbedder,
    Graph,
    InsufficientMemoryError,
    ParameterError,
    random_split,
    synthetic,
)
from graphprox.forecast import ignore_memory
from graphprox.methods import METHODS, NodeClassifier, memory_check

SIZES = ("n_components", "hidden_channels", "walk_length")  # the first that a method has decides its largest arrays
WITHOUT_SIZE = ("raw", "smoothed", "diffused", "sgc")  # their arrays are of the size of the features


@pytest.fixture
def graph():
    return synthetic(nodes=140)


def fit(method, graph):
    split = (random_split(graph, random_state=0),) if isinstance(method, NodeClassifier) else ()
    return method.fit(graph, *split)


@pytest.mark.parametrize("name", [name for name in METHODS if name not in WITHOUT_SIZE])
def test_every_method_refuses_what_no_memory_holds_and_says_what_would_fit(name, graph):
    size = next(each for each in SIZES if each in METHODS[name].parameters())
    with pytest.raises(InsufficientMemoryError, match=rf"^{name} must not need .*: use {size}=4096, which needs "):
        fit(small(name, **{size: 10**12}), graph)


@pytest.mark.parametrize("name", WITHOUT_SIZE)
def test_a_method_of_the_size_of_features_is_refused_by_a_limit(name, graph, monkeypatch):
    monkeypatch.setattr(memory_check, "available_memory", lambda: 1_000_000)
    with pytest.raises(InsufficientMemoryError, match=rf"^{name} must not need .*: use a machine with more memory"):
        fit(small(name), graph)


@pytest.mark.parametrize("method", [AutoEmbedder, FTGCL])
@pytest.mark.parametrize("size", [10**9, 2**40, 2**63 - 1, 10**20])
def test_an_embedding_must_fit_into_memory(method, size, graph):
    with pytest.raises(InsufficientMemoryError, match="must not need more memory than is available; it needs about"):
        method(n_components=size).fit(graph)


def test_nothing_is_fitted_by_a_refused_fit(graph, monkeypatch):
    def never_fit(*_):
        raise AssertionError

    monkeypatch.setattr(DGI, "_fit", never_fit)
    with pytest.raises(InsufficientMemoryError, match=r"start all the same with graphprox.forecast.ignore_memory\(\)$"):
        DGI(n_components=10**9).fit(graph)


def test_memory_that_the_process_has_had_and_returned_does_not_count(graph, monkeypatch):
    free = memory_check.current_memory() + 300_000_000
    monkeypatch.setattr("graphprox.forecast.forecasts.peak_memory", lambda: 10 * free)
    monkeypatch.setattr(memory_check, "available_memory", lambda: free)
    assert small("dgi").fit(graph).vectors_.shape == (140, 8)


def test_memory_can_be_ignored(graph, monkeypatch):
    monkeypatch.setattr(memory_check, "available_memory", lambda: 1_000_000)
    with ignore_memory():
        small("dgi").fit(graph)
    with pytest.raises(InsufficientMemoryError):
        small("dgi").fit(graph)


def test_invalid_parameters_are_reported_first(graph):
    with pytest.raises(ParameterError, match="hidden_channels must"):
        GCN(hidden_channels=0).fit(graph, np.zeros(140, int))


def test_no_speed_is_measured_by_fit(graph, monkeypatch):
    def never_measure():
        raise AssertionError

    monkeypatch.setattr("graphprox.forecast.machine.measure_speeds", never_measure)
    small("auto").fit(graph)


def test_a_graph_of_many_nodes_is_refused_by_its_walks():
    graph = Graph(np.ones((1000, 1)), [[0], [1]])
    with pytest.raises(InsufficientMemoryError, match="deepwalk must not need"):
        small("deepwalk", num_walks=10**9).fit(graph)
