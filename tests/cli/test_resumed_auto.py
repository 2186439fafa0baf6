"""graphprox embed --resume with the default method: what is continued, what is refused, what is replaced."""

from __future__ import annotations

import numpy as np
import pytest

from auto.small_blocks import make_small_blocks
from graphprox import WriteError
from graphprox.auto.combination import Combination
from graphprox.auto.stages import Stages

GRAPH = "synthetic:nodes=210"


@pytest.fixture
def embed(run, tmp_path, monkeypatch):
    """Embed a graph in small blocks; returns exit code, stdout and stderr."""
    make_small_blocks(monkeypatch)
    out, model = tmp_path / "v.npy", tmp_path / "model"
    return lambda *options, graph=GRAPH: run("embed", graph, "--dim", 24, "--out", out, "--model", model, *options)


@pytest.fixture
def stop(embed, monkeypatch):
    """Interrupt the command once the outputs are combined; returns stderr."""

    def stop():
        with monkeypatch.context() as interrupted:
            interrupted.setattr(Combination, "finish", interrupt)
            code, _, err = embed()
        assert code == 130
        return err

    return stop


def interrupt(*_):
    raise KeyboardInterrupt


def fail(*_, **__):
    raise WriteError("the disk is full")


def vectors(tmp_path):
    return np.load(tmp_path / "v.npy")


def test_interrupted_command_says_how_to_continue_and_continues(embed, stop, tmp_path, monkeypatch):
    assert stop() == "error: interrupted; auto was not finished: the same command continues with --resume\n"
    assert (tmp_path / "model" / "stages" / "run.json").exists()
    monkeypatch.setattr(Combination, "fit", None)
    assert embed("--resume")[0] == 0
    monkeypatch.undo()
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == ["about.json", "arrays.safetensors"]
    assert vectors(tmp_path).shape == (210, 24)


def test_unfinished_run_is_not_discarded_unasked(embed, stop, tmp_path):
    stop()
    code, _, err = embed()
    assert code == 2
    assert err == (
        f"error: an unfinished run must not be discarded unasked; {tmp_path / 'model'} has finished stages of one of "
        "auto: give --resume to continue it, give --force to replace it, or name another folder\n"
    )
    assert embed("--method", "ft-gcl", "--epochs", 1)[0] == 2
    assert embed("--force")[0] == 0
    assert not (tmp_path / "model" / "stages").exists()


def test_stages_of_another_graph_are_refused_in_words_of_the_command_line(embed, stop, tmp_path):
    stop()
    code, _, err = embed("--resume", graph=f"{GRAPH},seed=1")
    assert code == 2
    assert err == (
        "error: a run must be resumed with the same graph, settings, random state and versions; that in "
        f"{tmp_path / 'model' / 'stages'} differs in graph: use what it was started with, or give --force in place of "
        "--resume to start again\n"
    )


def test_another_method_replaces_an_unfinished_run_if_it_is_asked_to(embed, stop, tmp_path):
    stop()
    assert embed("--force", "--method", "ft-gcl", "--epochs", 1, "--preset", "default")[0] == 0
    assert not (tmp_path / "model" / "stages").exists()


def test_finished_model_is_not_replaced_by_resume(embed, tmp_path):
    assert embed("--resume")[0] == 0
    code, _, err = embed("--resume")
    assert code == 2
    assert err.startswith(f"error: a model must not be replaced unasked; {tmp_path / 'model'} has one: ")


def test_run_that_fails_while_its_output_is_written_is_resumed_from_its_vectors(embed, tmp_path, monkeypatch):
    with monkeypatch.context() as full:
        full.setattr("graphprox.cli.embed.write_together", fail)
        assert embed()[0] == 2
    monkeypatch.setattr(Stages, "_write", None)  # nothing is computed again
    assert embed("--resume")[0] == 0
    assert vectors(tmp_path).shape == (210, 24)


def test_resume_needs_a_folder(run, tmp_path):
    code, _, err = run("embed", GRAPH, "--out", tmp_path / "v.npy", "--resume")
    assert (code, err) == (
        2,
        "error: --resume of auto continues from the folder that --model names; got no --model: name it\n",
    )
    assert not list(tmp_path.iterdir())


def test_resume_and_force_exclude_each_other(embed):
    code, _, err = embed("--resume", "--force")
    assert (code, err.count("\n")) == (2, 1)
    assert "--resume and --force must not be given both" in err
