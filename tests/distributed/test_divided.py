"""Divided training: vectors, losses and files are those of one process, and any number of them resumes it.

Covers graphprox.ftgcl.divided.
"""

from __future__ import annotations

import os
import signal
import warnings

import numpy as np
import pytest

import graphprox
from graphprox import FTGCL, synthetic
from graphprox.errors import ParameterError
from graphprox.ftgcl.fit import fit_recipe
from graphprox.ftgcl.interruption import Interrupted
from graphprox.ftgcl.recipe import Recipe
from graphprox.ftgcl.recipe_tables import OptimizerOptions
from graphprox.graph.graph import Graph

RECIPE = Recipe(
    epochs=6,
    encoder={"name": "sage", "n_components": 8},
    views={"k_max": 4, "topology": {"num_walks": 3, "walk_length": 4, "num_landmarks": 20}},
    optimizer=OptimizerOptions(learning_rate=0.01),
)
GCN = RECIPE.merged({"encoder": {"name": "gcn"}})


def make_graph(seed=0):
    graph = synthetic(nodes=140)
    return Graph(np.random.default_rng(seed).standard_normal((140, 9)), graph.edge_index)


def fit(processes, recipe, folder=None, **options):
    result = fit_recipe(make_graph(), recipe, device="cpu", folder=folder, cache=False, **options)
    return result.vectors, result.losses


def assert_alike(results, expected, tolerance=1e-4):
    for vectors, losses in results:
        np.testing.assert_allclose(losses, expected[1], rtol=tolerance)
        np.testing.assert_allclose(vectors, expected[0], atol=tolerance * np.abs(expected[0]).max())


@pytest.mark.parametrize("size", [2, 3])
def test_vectors_and_losses_are_those_of_one_process(workers, size):
    assert_alike(workers(size, fit, GCN), fit(None, GCN))


def test_same_number_of_processes_gives_the_same_bytes(workers):
    first, second = workers(2, fit, RECIPE), workers(2, fit, RECIPE)
    for one, other in zip(first, second, strict=True):
        assert all(np.array_equal(*each) for each in zip(one, other, strict=True))


def test_one_process_writes_the_files_of_the_model(workers, tmp_path):
    workers(2, fit, RECIPE, tmp_path / "several")
    fit(None, RECIPE, tmp_path / "one")
    names = [sorted(str(path.relative_to(folder)) for path in folder.rglob("*")) for folder in tmp_path.iterdir()]
    assert names[0] == names[1]
    loaded = graphprox.load_embedder(tmp_path / "several")
    assert loaded.loss_curve_.shape == (6,)


@pytest.mark.parametrize(("before", "after"), [(2, 1), (1, 3), (3, 2)])
def test_training_resumes_with_another_number_of_processes(workers, tmp_path, before, after):
    workers(before, fit, RECIPE.merged({"epochs": 3}), tmp_path)
    resumed = workers(after, fit_resumed, RECIPE, tmp_path)
    assert_alike(resumed, fit(None, RECIPE))


def fit_resumed(processes, recipe, folder):
    return fit(processes, recipe, folder, resume=True)


def fit_and_stop_one(processes, folder):
    """Send SIGTERM to one of the processes in the second epoch."""

    def stop(log):
        if log.epoch == 2 and processes.rank == 1:
            os.kill(os.getpid(), signal.SIGTERM)

    try:
        fit(processes, RECIPE, folder, callbacks=[stop])
    except Interrupted as stopped:
        return str(stopped), stopped.code
    return None


def test_signal_to_one_process_stops_all_after_the_same_epoch(workers, tmp_path):
    expected = ("stopped after epoch 2 of 6: set resume=True to continue from there", 128 + signal.SIGTERM)
    assert workers(2, fit_and_stop_one, tmp_path) == [expected] * 2
    assert_alike(workers(2, fit_resumed, RECIPE, tmp_path), fit(None, RECIPE))


# -- refusals -------------------------------------------------------------------------------------------------------


def refuse(processes, recipe):
    try:
        fit(processes, recipe)
    except ParameterError as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"objective": {"name": "node"}},
            "several processes need an objective that is a function of sums over nodes, such as channel; got node: set "
            "objective.name to another one, or start one process",
        ),
    ],
)
def test_recipe_that_cannot_be_divided_is_refused(workers, changes, message):
    assert workers(2, refuse, RECIPE.merged(changes)) == [message] * 2


# -- estimators -----------------------------------------------------------------------------------------------------


def fit_estimator(processes):
    with warnings.catch_warnings(action="ignore"):
        method = FTGCL(epochs=2, n_components=8, k_max=3, cache=False, device="cpu").fit(make_graph())
    return method.embedding_.shape, method.vectors_, method.loss_curve_


def test_estimator_is_fitted_by_all_processes_together(workers):
    shape, vectors, losses = fit_estimator(None)
    for found in workers(2, fit_estimator):
        assert found[0] == shape
        assert_alike([found[1:]], (vectors, losses))
