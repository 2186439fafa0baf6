"""From a graph and a recipe to an embedding, and a folder that tells all of it."""

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
from graphprox.training import fitting
from graphprox.training.fitting import fit, ranked_views
from graphprox.training.interruption import Interrupted
from graphprox.training.store import load_model


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def steps_in(folder):
    return [json.loads(line)["step"] for line in (folder / "metrics.jsonl").read_text().splitlines()]


# -- the same each time ---------------------------------------------------------------------------------------------

PROGRAM = """
import hashlib, sys
from pathlib import Path
import graphprox
from graphprox.training.fitting import fit
from graphprox.training.recipe import Recipe
folder = Path(sys.argv[1])
for name in sys.argv[2:]:
    fitted = fit(graphprox.synthetic(nodes=140), Recipe.read(name), folder=folder / name, device="cpu")
    print(hashlib.sha256(fitted.embedding.tobytes()).hexdigest())
    print(hashlib.sha256((folder / name / "weights.safetensors").read_bytes()).hexdigest())
"""


def test_another_process_trains_the_same_bytes(graph, small, corrupted, tmp_path):
    """The first ranks the views, the second finds them in the cache: that must make no difference, either."""
    recipes = {"one.toml": small, "two.toml": corrupted}
    for name, recipe in recipes.items():
        recipe.write(tmp_path / name)
    said = []
    for number in "12":
        environment = os.environ | {
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
            "PYTHONHASHSEED": number,
            "OMP_NUM_THREADS": "1",
        }
        program = [sys.executable, "-c", PROGRAM, f"life-{number}", *recipes]
        child = subprocess.run(program, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=100)
        assert child.returncode == 0, child.stderr
        said.append(child.stdout.split())
    assert said[0] == said[1]
    here = [fit(graph, recipe, cache=False, device="cpu") for recipe in recipes.values()]
    assert said[0][::2] == [hashlib.sha256(each.embedding.tobytes()).hexdigest() for each in here]


def test_ranking_views_leaves_the_number_of_threads_alone():
    """Or a training would round in one way after its views were ranked, and in another when they are in the cache."""
    program = (
        "import torch, graphprox\n"
        "from graphprox.training.fitting import ranked_views\n"
        "from graphprox.training.recipe import Recipe\n"
        "ranked_views(graphprox.synthetic(nodes=140), Recipe(), cache=False)\n"
        "print(torch.get_num_threads())\n"
    )
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    child = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=100
    )
    assert child.stdout == "1\n", child.stderr


def test_labels_play_no_part(graph, recipe):
    relabelled = graph.with_labels(graph.y[::-1])
    embeddings = [fit(each, recipe, cache=False).embedding.tobytes() for each in (graph, relabelled)]
    assert embeddings[0] == embeddings[1]


# -- what is fitted -------------------------------------------------------------------------------------------------


def test_all_that_was_learned_is_handed_out(graph, small):
    fitted = fit(graph, small, cache=False)
    assert fitted.embedding.shape == (140, 8)
    assert np.array_equal(fitted.model.embed(graph), fitted.embedding)
    assert list(fitted.rankings) == ["feature", "topology"]
    assert len(fitted.losses) == small.steps


def test_no_steps_are_an_untrained_encoder(graph, small):
    fitted = fit(graph, small.merged({"steps": 0}), cache=False)
    assert fitted.embedding.shape == (140, 8)
    assert len(fitted.losses) == 0


def test_views_are_ranked_as_the_recipe_says(graph, small, monkeypatch):
    asked = []

    def rank_view(graph, view, **options):
        asked.append((view, options["k_max"], options["seed"], options["engine"], options["options"]))

    monkeypatch.setattr(fitting, "rank_view", rank_view)
    recipe = small.merged(
        {
            "turns": [["graph", "topology"], ["feature", "neighbourhood"]],
            "seed": 5,
            "views": {"binary": True, "k_topology": [1, 7], "engine": "exact"},
        }
    )
    assert list(ranked_views(graph, recipe)) == ["topology", "feature", "neighbourhood"]
    assert asked == [
        ("topology", 7, 5, "exact", recipe.topology.model_dump()),
        ("feature", 4, 5, "exact", {"binary": True}),
        ("neighbourhood", 4, 5, "exact", {}),
    ]


def test_all_listeners_hear_of_each_step_in_order(graph, small):
    heard = []
    fit(
        graph,
        small.merged({"steps": 2}),
        cache=False,
        on_step=(lambda step: heard.append(("a", step.step)), lambda step: heard.append(("b", step.step))),
    )
    assert heard == [("a", 1), ("b", 1), ("a", 2), ("b", 2)]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_a_device_that_is_not_there_is_refused_before_any_work(graph, small, tmp_path):
    with pytest.raises(ParameterError, match=r"device must be auto or one that is at hand \(.*\); got 'cuda'"):
        fit(graph, small, device="cuda", folder=tmp_path / "model")
    assert not (tmp_path / "model").exists()


# -- the folder -----------------------------------------------------------------------------------------------------


def test_a_folder_holds_the_model_and_what_it_takes_to_go_on(graph, small, tmp_path):
    fitted = fit(graph, small, cache=False, folder=tmp_path, checkpoint_every=4)
    assert contents(tmp_path).keys() == {
        "recipe.toml",
        "weights.safetensors",
        "metrics.jsonl",
        "about.json",
        *(f"checkpoints/step-000000{step}.{ending}" for step in ("08", "10") for ending in ("json", "safetensors")),
    }
    assert load_model(tmp_path).embed(graph).tobytes() == fitted.embedding.tobytes()
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [line["loss"] for line in lines] == fitted.losses.tolist()
    assert [line["step"] for line in lines] == list(range(1, 11))


def test_a_folder_changes_no_training(graph, recipe, tmp_path):
    kept, not_kept = fit(graph, recipe, cache=False, folder=tmp_path), fit(graph, recipe, cache=False)
    assert kept.embedding.tobytes() == not_kept.embedding.tobytes()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_fit_goes_on_and_ends_in_the_same_files(graph, recipe, tmp_path, number):
    def stop(step):
        if step.step == 5:
            os.kill(os.getpid(), number)

    with pytest.raises(Interrupted):
        fit(graph, recipe, cache=False, folder=tmp_path / "stopped", checkpoint_every=3, on_step=[stop])
    assert not (tmp_path / "stopped" / "weights.safetensors").exists()
    fit(graph, recipe, cache=False, folder=tmp_path / "stopped", checkpoint_every=3, resume=True)
    fit(graph, recipe, cache=False, folder=tmp_path / "whole", checkpoint_every=3)
    stopped, whole = contents(tmp_path / "stopped"), contents(tmp_path / "whole")
    assert steps_in(tmp_path / "stopped") == list(range(1, 11))
    for each in (stopped, whole):
        del each["metrics.jsonl"]  # it tells seconds
    assert stopped == whole


def test_more_steps_continue_a_fit_that_is_done(graph, small, tmp_path):
    longer = small.merged({"steps": 13})
    fit(graph, small, cache=False, folder=tmp_path)
    fitted = fit(graph, longer, cache=False, folder=tmp_path, resume=True)
    assert fitted.embedding.tobytes() == fit(graph, longer, cache=False).embedding.tobytes()
    assert steps_in(tmp_path) == list(range(1, 14))
    assert load_model(tmp_path).recipe == longer


def test_metrics_tell_no_more_steps_than_were_taken(graph, small, tmp_path):
    def stop(step):
        if step.step == 8:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fit(graph, small, cache=False, folder=tmp_path, checkpoint_every=6, on_step=[stop])
    fit(graph, small.merged({"steps": 6}), cache=False, folder=tmp_path, resume=True)
    assert steps_in(tmp_path) == list(range(1, 7))
    fit(graph, small.merged({"steps": 0}), cache=False, folder=tmp_path)
    assert steps_in(tmp_path) == []


def test_what_a_killed_process_left_in_the_folder_is_swept(graph, small, tmp_path):
    fit(graph, small, cache=False, folder=tmp_path)
    before = contents(tmp_path).keys()
    for name in ("weights.safetensors", "metrics.jsonl", "about.json", "recipe.toml"):
        (tmp_path / f".{name}.abcd.part").write_text("half")
    (tmp_path / "checkpoints" / ".step-00000010.json.abcd.part").write_text("half")
    fit(graph, small, cache=False, folder=tmp_path, resume=True)
    assert contents(tmp_path).keys() == before


def test_a_training_that_goes_astray_leaves_the_older_model_as_it_was(graph, small, tmp_path):
    fit(graph, small, cache=False, folder=tmp_path)
    before = contents(tmp_path)
    with pytest.raises(TrainingError, match="at step 2"):
        fit(graph, small.merged({"optimizer": {"learning_rate": 1e30}}), cache=False, folder=tmp_path)
    after = contents(tmp_path)
    for name in ("weights.safetensors", "about.json", "recipe.toml"):
        assert after[name] == before[name]
    assert not [name for name in after if name.endswith(".part")]
    assert load_model(tmp_path).recipe == small


def test_weights_that_make_no_embedding_are_not_kept(graph, small, tmp_path):
    with pytest.raises(TrainingError, match="an embedding must be finite"):
        fit(graph, small.merged({"optimizer": {"learning_rate": 1e30}, "steps": 1}), cache=False, folder=tmp_path)
    assert not (tmp_path / "weights.safetensors").exists()


def test_a_folder_that_cannot_be_written_is_known_before_any_view_is_ranked(graph, small, tmp_path, monkeypatch):
    monkeypatch.setattr(fitting, "rank_view", lambda *_, **__: pytest.fail("a view was ranked"))
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(WriteError, match="file must be a folder that can be written to"):
        fit(graph, small, folder=tmp_path / "file")


def test_a_full_disk_is_told_in_a_sentence(graph, small, tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, hard))  # two lines of metrics
    try:
        with pytest.raises(WriteError, match=os.strerror(errno.EFBIG)):
            fit(graph, small, cache=False, folder=tmp_path, checkpoint_every=1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    fitted = fit(graph, small, cache=False, folder=tmp_path, resume=True)
    assert fitted.embedding.tobytes() == fit(graph, small, cache=False).embedding.tobytes()
    assert steps_in(tmp_path) == list(range(1, 11))


@pytest.mark.parametrize("kind", ["gat", "gcn"])
def test_a_weighted_graph_is_trained_with_its_weights(graph, small, kind, tmp_path):
    weighted = Graph(graph.x, graph.edges_once(), edge_weight=np.linspace(0.1, 4, graph.num_edges))
    recipe = small.merged({"encoder": {"kind": kind}})
    fitted = fit(weighted, recipe, cache=False, folder=tmp_path)
    assert fitted.model.weighted
    assert load_model(tmp_path).embed(weighted).tobytes() == fitted.embedding.tobytes()
    assert not np.array_equal(fitted.embedding, fit(graph, recipe, cache=False).embedding)
