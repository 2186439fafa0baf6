"""graphprox embed, transform and curve, as users call them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from graphprox.io.embedding_files import read_embedding

SMALL = ["--set", "encoder.width=8", "--set", "head.width=8", "--set", "views.k_max=3"]
GRAPH = "synthetic:nodes=140"


@pytest.fixture
def embed(run, tmp_path, no_data):
    def embed(*arguments):
        return run("embed", GRAPH, *SMALL, "--device", "cpu", *arguments)

    return embed


def test_a_vector_per_node_is_written_and_nothing_else(embed, tmp_path):
    code, printed, complained = embed("--out", tmp_path / "emb.parquet", "--steps", 3)
    assert (code, complained) == (0, "")
    assert "140 nodes, 8 dimensions, by ft-gcl, 3 steps, loss" in printed
    assert read_embedding(tmp_path / "emb.parquet").vectors.shape == (140, 8)
    assert [path.name for path in tmp_path.glob("emb*")] == ["emb.parquet"]


def test_the_same_command_gives_the_same_bytes(embed, tmp_path):
    embed("--out", tmp_path / "a.npy", "--steps", 3)
    embed("--out", tmp_path / "b.npy", "--steps", 3)
    embed("--out", tmp_path / "c.npy", "--steps", 3, "--seed", 1)
    assert (tmp_path / "a.npy").read_bytes() == (tmp_path / "b.npy").read_bytes()
    assert (tmp_path / "a.npy").read_bytes() != (tmp_path / "c.npy").read_bytes()


@pytest.mark.parametrize(
    "method", ["f-gcl", "t-gcl", "FT-GCL", "ft-gcl-plus", "pe-gcl", "ft-gcl-nl", "ft-grace", "grace"]
)
def test_every_method_of_the_family_embeds(embed, tmp_path, method):
    code, printed, _ = embed("--out", tmp_path / "emb.npy", "--steps", 2, "--method", method, "--json")
    said = json.loads(printed)
    assert (code, said["method"], said["steps"]) == (0, method.lower(), 2)
    assert np.load(tmp_path / "emb.npy").shape == (140, 8)


def test_a_kept_model_tells_how_it_was_made_and_embeds_again(embed, run, tmp_path):
    embed("--out", tmp_path / "emb.npy", "--steps", 3, "--model", tmp_path / "model")
    kept = {path.name for path in (tmp_path / "model").iterdir()}
    assert kept == {"recipe.toml", "weights.safetensors", "metrics.jsonl", "about.json", "checkpoints"}
    code, _, _ = run("transform", GRAPH, "--model", tmp_path / "model", "--out", tmp_path / "again.npy")
    assert code == 0
    assert (tmp_path / "emb.npy").read_bytes() == (tmp_path / "again.npy").read_bytes()


def test_a_recipe_that_was_kept_trains_the_same_again(embed, tmp_path, run):
    embed("--out", tmp_path / "emb.npy", "--steps", 3, "--model", tmp_path / "model")
    recipe = tmp_path / "model" / "recipe.toml"
    code, _, _ = run("embed", GRAPH, "--recipe", recipe, "--out", tmp_path / "again.npy")
    assert code == 0
    assert (tmp_path / "emb.npy").read_bytes() == (tmp_path / "again.npy").read_bytes()


def test_a_grown_graph_is_embedded_without_training(embed, run, tmp_path):
    embed("--out", tmp_path / "emb.npy", "--steps", 3, "--model", tmp_path / "model")
    grown = ["synthetic:nodes=300,seed=4", "--model", tmp_path / "model", "--out", tmp_path / "more.npy"]
    code, printed, _ = run("transform", *grown, "--json")
    assert code == 0
    assert json.loads(printed)["nodes"] == 300


def test_more_steps_continue_what_was_done(embed, tmp_path):
    model = tmp_path / "model"
    embed("--out", tmp_path / "a.npy", "--steps", 3, "--model", model)
    embed("--out", tmp_path / "a.npy", "--steps", 6, "--model", model, "--resume")
    embed("--out", tmp_path / "b.npy", "--steps", 6)
    assert (tmp_path / "a.npy").read_bytes() == (tmp_path / "b.npy").read_bytes()
    lines = [json.loads(line) for line in (model / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == [1, 2, 3, 4, 5, 6]


def test_tensorboard_hears_of_each_step(embed, tmp_path):
    code, _, complained = embed("--out", tmp_path / "emb.npy", "--steps", 4, "--tensorboard", tmp_path / "log")
    assert (code, complained) == (0, "")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    log = EventAccumulator(str(tmp_path / "log")).Reload()
    assert [event.step for event in log.Scalars("loss/graph-feature")] == [1, 3]
    assert [event.step for event in log.Scalars("loss/graph-topology")] == [2, 4]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--out", "emb.doc"], "the ending of an embedding's file must be one of .parquet"),
        (["--out", "emb.npy", "--method", "ft-gcp"], "did you mean"),
        (["--out", "emb.npy", "--preset", "Coro"], "has no preset 'Coro'"),
        (["--out", "emb.npy", "--set", "encoder.widht=3"], "did you mean 'encoder.width'?"),
        (["--out", "emb.npy", "--set", "encoder.width"], "encoder.width=256"),
        (["--out", "emb.npy", "--steps", "-1"], "steps must be a whole number of 0 or more; got -1"),
        (["--out", "emb.npy", "--recipe", "none.toml"], "none.toml does not exist"),
        (["--out", "emb.npy", "--device", "abacus"], "device must be auto or one that is at hand"),
        (["--out", "emb.npy", "--steps", "5", "--set", "optimizer.learning_rate=1e30"], "lower optimizer.learning"),
    ],
)
def test_mistakes_get_one_sentence_and_leave_nothing(run, tmp_path, monkeypatch, no_data, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    code, printed, complained = run("embed", GRAPH, *SMALL, *arguments)
    assert (code, printed) == (2, "")
    assert sentence in complained
    assert complained.count("\n") == 1
    assert not list(tmp_path.glob("emb.npy"))


def test_a_model_of_other_features_is_refused(embed, run, tmp_path):
    embed("--out", tmp_path / "emb.npy", "--steps", 1, "--model", tmp_path / "model")
    other = ["transform", "synthetic:nodes=140,features=16", "--model", tmp_path / "model", "--out", tmp_path / "o.npy"]
    code, _, complained = run(*other)
    assert code == 2
    assert "must have the 32 features that the model was trained on; got 16" in complained


def test_a_folder_without_a_model_is_refused(run, tmp_path, no_data):
    code, _, complained = run("transform", GRAPH, "--model", tmp_path, "--out", tmp_path / "o.npy")
    assert code == 2
    assert "must be a folder that holds a model" in complained


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_command_goes_on_to_the_same_bytes(embed, tmp_path, no_data, number, code):
    whole = tmp_path / "whole.npy"
    embed("--out", whole, "--steps", 300)
    command = [Path(sys.executable).with_name("graphprox"), "embed", GRAPH, *SMALL, "--device", "cpu"]
    command += ["--out", tmp_path / "emb.npy", "--steps", "300", "--model", tmp_path / "model", "--resume"]
    with subprocess.Popen(list(map(str, command)), env=os.environ, stderr=subprocess.PIPE, text=True) as process:
        metrics = tmp_path / "model" / "metrics.jsonl"
        while process.poll() is None and (not metrics.exists() or len(metrics.read_text()) < 300):
            time.sleep(0.005)
        process.send_signal(number)
        _, complained = process.communicate(timeout=60)
    assert process.returncode == code
    assert "of 300: --resume goes on from there" in complained
    assert not (tmp_path / "emb.npy").exists()
    done = embed("--out", tmp_path / "emb.npy", "--steps", 300, "--model", tmp_path / "model", "--resume")
    assert done[0] == 0
    assert (tmp_path / "emb.npy").read_bytes() == whole.read_bytes()


def test_the_curve_looks_after_each_mark(run, no_data):
    code, printed, _ = run(
        "curve", "synthetic", "--preset", "default", *SMALL, "--steps", "0,2", "--splits", 2, "--json"
    )
    marks = [json.loads(line) for line in printed.splitlines()]
    assert (code, [mark["steps"] for mark in marks]) == (0, [0, 2])
    assert all(0 < mark["accuracy"] < 1 for mark in marks)


def test_the_curve_wants_whole_numbers(run, no_data):
    code, _, complained = run("curve", "synthetic", "--steps", "1,b")
    assert code == 2
    assert "--steps must be whole numbers with commas between them" in complained


def test_the_curve_of_what_has_no_steps_is_refused_with_what_to_take(run, no_data):
    code, printed, complained = run("curve", "synthetic", "--method", "dgi")
    assert (code, printed) == (2, "")
    assert "got 'dgi': take graphprox tune synthetic --method dgi --over epochs=50,100,200" in complained
