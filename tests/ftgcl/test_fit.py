"""From a graph and a recipe to vectors, and to the folder of a model."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import resource
import signal
import subprocess
import sys

import numpy as np
import pytest
import torch

from graphprox import Graph, ParameterError, WriteError
from graphprox.errors import TrainingError
from graphprox.ftgcl import fit
from graphprox.ftgcl.fit import fit_recipe, rank_views
from graphprox.ftgcl.interruption import Interrupted
from graphprox.ftgcl.model_folder import load_model


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def epochs(folder):
    return [json.loads(line)["epoch"] for line in (folder / "metrics.jsonl").read_text().splitlines()]


# -- reproducibility ------------------------------------------------------------------------------------------------

PROGRAM = """
import hashlib, sys
from pathlib import Path
import graphprox
from graphprox.ftgcl.fit import fit_recipe
from graphprox.ftgcl.recipe import Recipe
folder = Path(sys.argv[1])
for name in sys.argv[2:]:
    result = fit_recipe(graphprox.synthetic(nodes=140), Recipe.read(name), folder=folder / name, device="cpu")
    print(hashlib.sha256(result.vectors.tobytes()).hexdigest())
    print(hashlib.sha256((folder / name / "weights.safetensors").read_bytes()).hexdigest())
"""


def test_another_process_gives_the_same_bytes(graph, small, augmented_recipe, tmp_path):
    """This includes a second process that finds the rankings of the first in the cache."""
    recipes = {"one.toml": small, "two.toml": augmented_recipe}
    for name, recipe in recipes.items():
        recipe.write(tmp_path / name)
    printed = []
    for number in "12":
        environment = os.environ | {
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
            "PYTHONHASHSEED": number,
            "OMP_NUM_THREADS": "1",
        }
        program = [sys.executable, "-c", PROGRAM, f"process-{number}", *recipes]
        child = subprocess.run(program, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=100)
        assert child.returncode == 0, child.stderr
        printed.append(child.stdout.split())
    assert printed[0] == printed[1]
    here = [fit_recipe(graph, recipe, cache=False, device="cpu") for recipe in recipes.values()]
    assert printed[0][::2] == [hashlib.sha256(each.vectors.tobytes()).hexdigest() for each in here]


def test_ranking_does_not_change_the_number_of_threads():
    """Otherwise rounding in training would depend on whether rankings are in the cache."""
    program = (
        "import torch, graphprox\n"
        "from graphprox.ftgcl.fit import rank_views\n"
        "from graphprox.ftgcl.recipe import Recipe\n"
        "rank_views(graphprox.synthetic(nodes=140), Recipe(), cache=False)\n"
        "print(torch.get_num_threads())\n"
    )
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    child = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=100
    )
    assert child.stdout == "1\n", child.stderr


# -- results --------------------------------------------------------------------------------------------------------


def test_result_has_model_vectors_rankings_and_losses(graph, small):
    result = fit_recipe(graph, small, cache=False)
    assert result.vectors.shape == (140, 8)
    assert np.array_equal(result.model.embed(graph), result.vectors)
    assert list(result.rankings) == ["feature", "topology"]
    assert len(result.losses) == small.epochs


def test_zero_epochs_give_an_untrained_encoder_and_rank_no_view(graph, small):
    result = fit_recipe(graph, small.merged({"epochs": 0}), cache=False)
    assert result.vectors.shape == (140, 8)
    assert len(result.losses) == 0
    assert result.rankings == {}


def test_views_are_ranked_with_the_options_of_the_recipe(graph, small, monkeypatch):
    calls = []

    def rank_view(graph, view, **options):
        calls.append((view, options["k_max"], options["random_state"], options["engine"], options["options"]))

    monkeypatch.setattr(fit, "rank_view", rank_view)
    recipe = small.merged(
        {
            "pairs": [["graph", "topology"], ["feature", "neighborhood"]],
            "random_state": 5,
            "views": {"feature": {"binary": True}, "topology": {"k_max": 7}, "engine": "exact"},
        }
    )
    assert list(rank_views(graph, recipe)) == ["topology", "feature", "neighborhood"]
    assert calls == [
        ("topology", 7, 5, "exact", recipe.views.options_of("topology").descriptor_options()),
        ("feature", 4, 5, "exact", {"binary": True}),
        ("neighborhood", 4, 5, "exact", {}),
    ]


def test_callbacks_are_called_after_each_epoch_in_order(graph, small):
    calls = []
    fit_recipe(
        graph,
        small.merged({"epochs": 2}),
        cache=False,
        callbacks=(lambda log: calls.append(("a", log.epoch)), lambda log: calls.append(("b", log.epoch))),
    )
    assert calls == [("a", 1), ("b", 1), ("a", 2), ("b", 2)]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_unavailable_device_is_rejected_before_any_work(graph, small, tmp_path):
    with pytest.raises(ParameterError, match=r"device must be auto or an available one \(.*\); got 'cuda'"):
        fit_recipe(graph, small, device="cuda", folder=tmp_path / "model")
    assert not (tmp_path / "model").exists()


# -- folders --------------------------------------------------------------------------------------------------------


def test_folder_contains_the_model_and_its_checkpoints(graph, small, tmp_path):
    result = fit_recipe(graph, small, cache=False, folder=tmp_path, checkpoint_every=4)
    assert contents(tmp_path).keys() == {
        "recipe.toml",
        "weights.safetensors",
        "metrics.jsonl",
        "about.json",
        *(f"checkpoints/epoch-000000{epoch}.{ending}" for epoch in ("08", "10") for ending in ("json", "safetensors")),
    }
    assert load_model(tmp_path).embed(graph).tobytes() == result.vectors.tobytes()
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [line["loss"] for line in lines] == result.losses.tolist()
    assert [line["epoch"] for line in lines] == list(range(1, 11))


def test_folder_does_not_change_the_result(graph, recipe, tmp_path):
    saved, unsaved = fit_recipe(graph, recipe, cache=False, folder=tmp_path), fit_recipe(graph, recipe, cache=False)
    assert saved.vectors.tobytes() == unsaved.vectors.tobytes()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_resumed_fit_gives_the_same_files(graph, recipe, tmp_path, number):
    def stop(log):
        if log.epoch == 5:
            os.kill(os.getpid(), number)

    with pytest.raises(Interrupted):
        fit_recipe(graph, recipe, cache=False, folder=tmp_path / "stopped", checkpoint_every=3, callbacks=[stop])
    assert not (tmp_path / "stopped" / "weights.safetensors").exists()
    fit_recipe(graph, recipe, cache=False, folder=tmp_path / "stopped", checkpoint_every=3, resume=True)
    fit_recipe(graph, recipe, cache=False, folder=tmp_path / "uninterrupted", checkpoint_every=3)
    stopped, uninterrupted = contents(tmp_path / "stopped"), contents(tmp_path / "uninterrupted")
    assert epochs(tmp_path / "stopped") == list(range(1, 11))
    for each in (stopped, uninterrupted):
        del each["metrics.jsonl"]  # it contains durations
    assert stopped == uninterrupted


def test_finished_fit_can_be_continued_for_more_epochs(graph, small, tmp_path):
    longer = small.merged({"epochs": 13})
    fit_recipe(graph, small, cache=False, folder=tmp_path)
    result = fit_recipe(graph, longer, cache=False, folder=tmp_path, resume=True)
    assert result.vectors.tobytes() == fit_recipe(graph, longer, cache=False).vectors.tobytes()
    assert epochs(tmp_path) == list(range(1, 14))
    assert load_model(tmp_path).recipe == longer


def test_metrics_contain_only_epochs_of_the_model(graph, small, tmp_path):
    def stop(log):
        if log.epoch == 8:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fit_recipe(graph, small, cache=False, folder=tmp_path, checkpoint_every=6, callbacks=[stop])
    fit_recipe(graph, small.merged({"epochs": 6}), cache=False, folder=tmp_path, resume=True)
    assert epochs(tmp_path) == list(range(1, 7))
    fit_recipe(graph, small.merged({"epochs": 0}), cache=False, folder=tmp_path, overwrite=True)
    assert epochs(tmp_path) == []


def test_partial_files_of_a_killed_process_are_removed(graph, small, tmp_path):
    fit_recipe(graph, small, cache=False, folder=tmp_path)
    before = contents(tmp_path).keys()
    for name in ("weights.safetensors", "metrics.jsonl", "about.json", "recipe.toml"):
        (tmp_path / f".{name}.abcd1234.part").write_text("half")
    (tmp_path / "checkpoints" / ".epoch-00000010.json.abcd1234.part").write_text("half")
    fit_recipe(graph, small, cache=False, folder=tmp_path, resume=True)
    assert contents(tmp_path).keys() == before


def test_diverged_training_does_not_change_the_older_model(graph, small, tmp_path):
    fit_recipe(graph, small, cache=False, folder=tmp_path)
    before = contents(tmp_path)
    diverging = small.merged({"optimizer": {"learning_rate": 1e30}})
    with pytest.raises(TrainingError, match="in epoch 2"):
        fit_recipe(graph, diverging, cache=False, folder=tmp_path, overwrite=True)
    after = contents(tmp_path)
    for name in ("weights.safetensors", "about.json", "recipe.toml"):
        assert after[name] == before[name]
    assert not [name for name in after if name.endswith(".part")]
    assert load_model(tmp_path).recipe == small


def test_weights_that_give_no_finite_embedding_are_not_saved(graph, small, tmp_path):
    with pytest.raises(TrainingError, match="an embedding must be finite"):
        fit_recipe(
            graph, small.merged({"optimizer": {"learning_rate": 1e30}, "epochs": 1}), cache=False, folder=tmp_path
        )
    assert not (tmp_path / "weights.safetensors").exists()


def test_folder_that_cannot_be_written_is_rejected_before_any_view_is_ranked(graph, small, tmp_path, monkeypatch):
    monkeypatch.setattr(fit, "rank_view", lambda *_, **__: pytest.fail("a view was ranked"))
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(WriteError, match="file must be a folder that can be written to"):
        fit_recipe(graph, small, folder=tmp_path / "file")


def test_full_disk_is_an_error_after_which_training_can_be_resumed(graph, small, tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, hard))  # two lines of metrics
    try:
        with pytest.raises(WriteError, match=os.strerror(errno.EFBIG)):
            fit_recipe(graph, small, cache=False, folder=tmp_path, checkpoint_every=1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    result = fit_recipe(graph, small, cache=False, folder=tmp_path, resume=True)
    assert result.vectors.tobytes() == fit_recipe(graph, small, cache=False).vectors.tobytes()
    assert epochs(tmp_path) == list(range(1, 11))


@pytest.mark.parametrize("encoder", ["gat", "gcn"])
def test_edge_weights_are_used_in_training(graph, small, encoder, tmp_path):
    weighted = Graph(graph.x, graph.edges_once(), edge_weight=np.linspace(0.1, 4, graph.num_edges))
    recipe = small.merged({"encoder": {"name": encoder}})
    result = fit_recipe(weighted, recipe, cache=False, folder=tmp_path)
    assert result.model.weighted
    assert load_model(tmp_path).embed(weighted).tobytes() == result.vectors.tobytes()
    assert not np.array_equal(result.vectors, fit_recipe(graph, recipe, cache=False).vectors)
