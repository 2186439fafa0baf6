"""Forecasts grow with the work, count what the process uses already, and use the coefficients that were measured.

Covers graphprox.forecast.largest_arrays, graphprox.forecast.machine and graphprox.forecast.work.
Covers graphprox.auto.auto_costs and graphprox.ftgcl.training_costs.
"""

from __future__ import annotations

import time

import numpy as np
import pytest

from graphprox import DGI, FTGCL, AutoEmbedder, Graph, synthetic
from graphprox._utils.memory import current_memory, peak_memory
from graphprox.auto import auto_costs, row_store
from graphprox.forecast import NOMINAL, Costs, Work, make_forecast, measure_speeds
from graphprox.forecast.forecasts import load_coefficients
from graphprox.forecast.work import add_work, search_work
from graphprox.methods import METHODS


def forecast(method, graph):
    return make_forecast(method.costs(graph), speeds=NOMINAL, base=0)


@pytest.fixture(scope="module")
def graphs():
    return [synthetic(nodes=nodes) for nodes in (700, 2800, 11_200)]


@pytest.mark.parametrize("method", [AutoEmbedder(), AutoEmbedder(keep="features"), FTGCL(), FTGCL(encoder="gat")])
def test_larger_graphs_take_longer_and_more_memory(method, graphs):
    made = [forecast(method, graph) for graph in graphs]
    assert made[0].seconds < made[1].seconds < made[2].seconds
    assert made[0].peak_memory < made[1].peak_memory < made[2].peak_memory


@pytest.mark.parametrize("method", [AutoEmbedder, FTGCL])
def test_smaller_embeddings_take_less(method, graphs):
    small, large = (forecast(method(n_components=size), graphs[2]) for size in (32, 512))
    assert small.seconds < large.seconds
    assert small.peak_memory < large.peak_memory


def test_more_epochs_take_longer(graphs):
    few, many = (forecast(FTGCL(epochs=epochs), graphs[1]) for epochs in (10, 1000))
    assert few.seconds < many.seconds


def test_epochs_take_more_memory_until_every_k_was_drawn(graphs):
    one, some, many, more = (forecast(FTGCL(epochs=epochs), graphs[1]).peak_memory for epochs in (2, 10, 1000, 2000))
    assert one < some < many == more


def test_factorizations_gain_nothing_from_threads():
    speeds = measure_speeds()
    assert speeds.factorizations <= speeds.products
    assert NOMINAL.seconds(Work("factorizations", 5e10)) == 1.0


@pytest.mark.parametrize("name", sorted(name for name, each in METHODS.items() if hasattr(each, "forecast")))
def test_every_method_has_coefficients_for_its_work_or_no_forecast_of_time(name, graphs):
    costs = METHODS[name]().costs(graphs[0])
    made = make_forecast(costs, speeds=NOMINAL, base=0)
    assert bool(costs.work) == (costs.model is not None) == (made.seconds is not None)
    assert made.peak_memory > 0 or name == "raw"  # which makes no arrays


@pytest.mark.parametrize("name", METHODS)
def test_memory_of_every_method_grows_with_the_graph(name, graphs):
    amounts = [sum(METHODS[name]()._memory_costs(graph).memory.values()) for graph in graphs]
    assert amounts[0] <= amounts[1] <= amounts[2]
    assert amounts[0] < amounts[2] or name == "raw"


def test_memory_is_the_same_with_and_without_the_work(graphs):
    for method in (AutoEmbedder(), FTGCL()):
        assert method.costs(graphs[0]).memory == method._memory_costs(graphs[0]).memory


def test_time_of_a_method_without_a_model_is_not_forecast(graphs):
    made = DGI().forecast(graphs[0])
    assert made.seconds is None
    assert made.peak_memory > current_memory()


@pytest.mark.parametrize(("few", "many"), [(500, 600), (10_000, 20_000)])
def test_components_that_are_zeros_count_too(few, many, graphs):
    more = [sum(AutoEmbedder(n_components=size).costs(graphs[2]).memory.values()) for size in (few, many)]
    assert more[1] - more[0] == 4 * graphs[2].num_nodes * (many - few)


def test_zeros_take_hardly_any_time(graphs):
    few, many, more = (forecast(AutoEmbedder(n_components=size), graphs[1]) for size in (256, 10_000, 20_000))
    assert few.seconds < many.seconds < 3 * few.seconds
    assert many.seconds < more.seconds < 1.1 * many.seconds


def test_weights_of_wide_layers_count_with_gradients_and_moments(graphs):
    memory = FTGCL(n_components=5000).costs(graphs[0]).memory
    assert memory["parameters"] == 4 * 4 * (graphs[0].num_features * 5000 + 5000**2)


def test_graph_without_features_is_forecast():
    rng = np.random.default_rng(0)
    graph = Graph(np.ones((500, 1)), rng.integers(0, 500, (2, 2000)))
    assert AutoEmbedder().forecast(graph).seconds > 0


@pytest.mark.parametrize("keep", ["features", "both", "balanced", "graph"])
def test_every_choice_is_forecast(keep, graphs):
    assert forecast(AutoEmbedder(keep=keep), graphs[0]).seconds > 0


def test_forecast_counts_what_the_process_uses_already():
    costs = Costs("auto", {}, {})
    assert make_forecast(costs).peak_memory >= max(current_memory(), peak_memory())


def test_forecast_does_not_change_the_method(graphs):
    method = AutoEmbedder(n_components=8)
    method.forecast(graphs[0])
    assert not hasattr(method, "n_features_in_")
    assert (method.fit_transform(graphs[0]) == AutoEmbedder(n_components=8).fit_transform(graphs[0])).all()


def test_speeds_are_measured_in_a_moment():
    start = time.perf_counter()
    speeds = measure_speeds()
    assert time.perf_counter() - start < 2
    assert 1e8 < speeds.products < 1e14
    assert all(1e7 < each < 1e13 for each in (speeds.reads, speeds.passes, speeds.loops))


def test_large_searches_are_approximate():
    assert "s_descent" in search_work("s", 10**6, 100)
    assert set(search_work("s", 10**4, 100, lists=1.0)) == {"s_products", "s_scores", "s_lists"}


def test_works_of_one_name_are_added():
    total = add_work({"a": Work("reads", 1.0)}, {"a": Work("reads", 2.0), "b": Work("loops", 1.0)})
    assert total == {"a": Work("reads", 3.0), "b": Work("loops", 1.0)}


def test_coefficients_are_not_negative():
    for tables in load_coefficients().values():
        for table in tables.values():
            assert all(value >= 0 for value in table.values())


def test_training_in_chunks_takes_less_memory_and_a_second_pass(graphs):
    settings = {"encoder": "diffusion", "num_layers": 1, "activation": "none", "epochs": 100}
    full = forecast(FTGCL(**settings), graphs[2])
    chunked = forecast(FTGCL(**settings, overrides={"chunk_size": 1000}), graphs[2])
    assert chunked.peak_memory < 0.6 * full.peak_memory
    costs = [FTGCL(**settings, overrides=each).costs(graphs[2]).work for each in ({}, {"chunk_size": 1000})]
    assert costs[1]["epoch_contrast"].amount == pytest.approx(4 / 3 * costs[0]["epoch_contrast"].amount)
    assert "epoch_hops" not in costs[1]
    assert "propagation" in costs[1]


def test_memory_of_an_epoch_in_chunks_does_not_grow_with_the_graph(graphs):
    method = FTGCL(encoder="diffusion", num_layers=1, activation="none", overrides={"chunk_size": 500})
    rows = [method.costs(graph).memory["rows"] for graph in graphs]
    assert rows[0] == rows[1] == rows[2]


def test_training_that_would_not_fit_is_forecast_in_chunks(graphs, monkeypatch):
    linear = FTGCL(encoder="diffusion", num_layers=1, activation="none")
    full = linear.costs(graphs[2]).memory["rows"]
    monkeypatch.setattr("graphprox.ftgcl.training_costs.available_memory", lambda: 2**28)
    assert linear.costs(graphs[2]).memory["rows"] < full / 5
    assert FTGCL().costs(graphs[2]).memory["rows"] >= full  # convolutions need all nodes


def test_rows_that_are_kept_in_files_are_no_memory(graphs, monkeypatch):
    held = AutoEmbedder().costs(graphs[2]).memory["rows"]
    monkeypatch.setattr(row_store, "MEMORY_BYTES", 0)
    monkeypatch.setattr(auto_costs, "BLOCK_ROWS", 100)
    monkeypatch.setattr(row_store, "PANEL_BYTES", 0)
    in_files = AutoEmbedder().costs(graphs[2]).memory["rows"]
    assert in_files < 0.2 * held
    more = AutoEmbedder().costs(graphs[1]).memory["rows"]
    assert in_files - more == 4 * 3 * 16 * (11_200 - 2800)  # of each node, only a panel of columns


def test_features_of_a_large_graph_are_prepared_in_blocks(graphs, monkeypatch):
    whole = AutoEmbedder().costs(graphs[2]).memory["features"]
    monkeypatch.setattr(auto_costs, "ONE_BLOCK", 5_000)
    monkeypatch.setattr(auto_costs, "BLOCK_ROWS", 1_120)
    weights = 4 * graphs[2].num_features * 256
    assert AutoEmbedder().costs(graphs[2]).memory["features"] - weights == pytest.approx(0.1 * (whole - weights))
