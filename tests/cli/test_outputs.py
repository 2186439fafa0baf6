"""Outputs of every command: never an input, written by one process at a time, and nothing is lost unasked."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from graphprox.ftgcl.trainer import Trainer
from graphprox.io.storage.locks import hold_lock

GRAPH = "synthetic:nodes=140"
TRAINED = ["--method", "ft-gcl", "--dim", "8", "--set", "head_channels=8", "--device", "cpu", "--no-cache"]


@pytest.fixture
def place(tmp_path, no_data, monkeypatch):
    """A folder with a graph in several formats, an embedding and a model, which is the current one."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    pairs = {(i, int(j)) for i in range(40) for j in rng.choice(40, 3) if i < j}
    text = "".join(f"{i}\t{j}\n" for i, j in sorted(pairs))
    for name in ("edges.tsv", "edges.csv"):
        Path(name).write_text(text if name.endswith("tsv") else text.replace("\t", ","))
    np.savez("graph.npz", edge_index=np.array(sorted(pairs)).T, x=np.eye(40))
    np.savetxt(
        "vectors.csv", np.c_[np.arange(40), rng.normal(size=(40, 3))], delimiter=",", header="id,a,b,c", comments=""
    )
    Path("model").mkdir()
    return tmp_path


def snapshot(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


REJECTED = {
    "embed": ["embed", "edges.csv", "--out", "edges.csv"],
    "embed, by a link": ["embed", "edges.csv", "--out", "link.csv"],
    "embed, by a hard link": ["embed", "edges.csv", "--out", "hard.csv"],
    "embed, features": ["embed", "edges.csv", "--features", "vectors.csv", "--out", "vectors.csv"],
    "embed, a query": ["embed", "SELECT * FROM 'edges.csv'", "--out", "edges.csv"],
    "embed, a query of a pattern": ["embed", "FROM read_csv(['edges.[ct]sv'])", "--out", "link.csv"],
    "embed, features by a query": [
        "embed",
        "FROM 'edges.csv'",
        "--features",
        "FROM 'vectors.csv'",
        "--out",
        "vectors.csv",
    ],
    "plot, labels by a query": [
        "plot",
        "model/arrays.npy",
        "--labels",
        "FROM 'vectors.csv'",
        "--points",
        "vectors.csv",
    ],
    "embed, companion of the output": ["embed", "e.metadata.tsv", "--out", "e.tsv"],
    "embed, a folder": ["embed", "edges.csv", "--features", "views/feature.npz", "--out", "views/"],
    "embed, explanation": ["embed", "edges.csv", "--out", "v.csv", "--explain", "link.svg"],
    "embed, model": ["embed", "edges.csv", "--out", "v.csv", "--model", "."],
    "embed, tensorboard": ["embed", "edges.csv", "--out", "v.csv", "--tensorboard", "edges.csv"],
    "transform": ["transform", "edges.csv", "--model", "model", "--out", "edges.csv"],
    "transform, a file of the model": ["transform", "edges.csv", "--model", "model", "--out", "arrays.npy"],
    "holdout": ["holdout", "graph.npz", "--out", "graph.npz"],
    "views": ["views", "views/feature.npz", "--out", "views"],
    "info": ["info", "edges.csv", "--out", "edges.csv"],
    "neighbors": ["neighbors", "vectors.csv", "3", "--out", "vectors.csv"],
    "compare": ["compare", "compare/compare.png", "--out", "compare"],
}


@pytest.mark.parametrize("arguments", REJECTED.values(), ids=REJECTED)
def test_output_that_is_an_input_is_rejected_and_nothing_changes(run, place, arguments):
    Path("link.csv").symlink_to("edges.csv")
    Path("link.svg").symlink_to("edges.csv")
    Path("hard.csv").hardlink_to("edges.csv")
    Path("model", "arrays.safetensors").write_bytes(b"arrays")
    Path("arrays.npy").symlink_to("model/arrays.safetensors")
    Path("e.metadata.tsv").write_bytes(Path("edges.tsv").read_bytes())
    for name in ("views/feature.npz", "compare/compare.png"):
        Path(name).parent.mkdir()
        Path(name).write_bytes(Path("graph.npz").read_bytes())
    before = snapshot(place)
    code, out, err = run(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert "must not be an input;" in err or "must not have an input in it;" in err
    assert snapshot(place) == before


def test_database_of_sqlite_is_not_an_output(run, place):
    with closing(sqlite3.connect("c.db")) as database, database:
        database.execute("CREATE TABLE follows (source, target)")
    before = snapshot(place)
    code, _, err = run("embed", "SELECT * FROM follows", "--database", "c.db", "--out", "c.db")
    assert (code, err.count("\n")) == (2, 1)
    assert "a database of SQLite is only read; c.db is one: write to a .duckdb or another file" in err
    assert snapshot(place) == before


def test_raw_files_of_a_data_set_are_inputs(run, place):
    folder = place / "data" / "Planetoid" / "Cora" / "raw"
    folder.mkdir(parents=True)
    from graphprox.datasets import CATALOG

    raw = place / "data" / CATALOG["Cora"].folder
    raw.mkdir(parents=True, exist_ok=True)
    (raw / "ind.cora.npz").write_bytes(b"")
    code, _, err = run("holdout", "Cora", "--data", "data", "--out", raw / "ind.cora.npz")
    assert (code, "must not be an input" in err) == (2, True), err


# -- models and checkpoints -----------------------------------------------------------------------------------------


def test_older_model_is_replaced_only_with_force(run, place):
    command = ["embed", GRAPH, "--dim", "8", "--out", "v.npy", "--model", "saved"]
    assert run(*command)[0] == 0
    before = snapshot(place / "saved")
    code, out, err = run(*command, "--seed", "1")
    assert (code, out) == (2, "")
    assert err == (
        "error: a model must not be replaced unasked; saved has one: give --force to replace it, or name another "
        "folder\n"
    )
    assert snapshot(place / "saved") == before
    assert run(*command, "--seed", "1", "--force")[0] == 0
    assert snapshot(place / "saved") != before
    assert sorted(path.name for path in (place / "saved").iterdir()) == ["about.json", "arrays.safetensors"]


@pytest.mark.parametrize("method", [["--dim", "8"], ["--method", "raw"]], ids=["auto", "raw"])
def test_embedding_folder_is_replaced_only_with_force(run, place, method):
    command = ["embed", GRAPH, *method, "--out", "vectors/"]
    assert run(*command)[0] == 0
    before = snapshot(place)
    code, out, err = run(*command)
    assert (code, out) == (2, "")
    assert err == (
        "error: an embedding folder must not be replaced unasked; vectors has an embedding: give --force to replace "
        "it, or name another folder\n"
    )
    assert snapshot(place) == before
    assert run(*command, "--layout", "wide", "--force")[0] == 0
    assert snapshot(place).keys() == before.keys()
    assert snapshot(place) != before


def test_continued_run_replaces_the_folder_that_it_has_written(run, place):
    command = ["embed", GRAPH, *TRAINED, "--out", "vectors", "--model", "saved", "--resume"]
    assert run(*command, "--epochs", "2")[0] == 0
    before = snapshot(place / "vectors")
    assert run(*command, "--epochs", "3")[0] == 0
    assert snapshot(place / "vectors") != before


def test_slash_after_an_ending_is_rejected(run, place):
    before = snapshot(place)
    code, out, err = run("embed", GRAPH, "--out", "v.parquet/")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "must have a name without an ending; got 'v.parquet/': leave out '.parquet', or the slash" in err
    assert snapshot(place) == before


@pytest.mark.parametrize("options", [[], ["--force"], ["--resume"]])
@pytest.mark.parametrize("method", [["--dim", "8"], TRAINED], ids=["auto", "ft-gcl"])
def test_folder_of_another_program_is_rejected(run, place, method, options):
    Path("model", "notes.txt").write_text("mine")
    before = snapshot(place)
    code, _, err = run("embed", GRAPH, *method, "--out", "v.npy", "--model", "model", *options)
    assert code == 2
    assert "has notes.txt, which is not a file of it" in err or "--resume needs" in err
    assert snapshot(place) == before


@pytest.fixture
def interrupted(run, place, monkeypatch):
    """Run a command whose training fails after epoch 4, of which a checkpoint is kept."""

    def interrupted(*arguments):
        step = Trainer.step

        def fail(trainer):
            if len(trainer.losses) == 4:
                raise KeyboardInterrupt
            return step(trainer)

        with monkeypatch.context() as patched:
            patched.setattr(Trainer, "step", fail)
            assert run("embed", GRAPH, *TRAINED, "--epochs", "6", "--checkpoint-every", "2", *arguments)[0] == 130

    return interrupted


@pytest.mark.parametrize(
    ("options", "folder"), [(["--out", "v.npy", "--model", "saved"], "saved"), (["--out", "v.npy"], "v.npy.training")]
)
def test_unfinished_training_is_not_discarded_unasked(run, place, interrupted, options, folder):
    interrupted(*options)
    before = snapshot(place)
    assert any("epoch-00000004" in path.name for path in before)
    for changed in ([], ["--seed", "3"]):
        code, _, err = run("embed", GRAPH, *TRAINED, "--epochs", "6", *options, *changed)
        assert (code, err.count("\n")) == (2, 1)
        assert (
            f"{folder} has an unfinished training run, saved after epoch 4: give --resume to continue it, give" in err
        )
        assert "--force to replace it" in err
        assert snapshot(place) == before
    assert run("embed", GRAPH, *TRAINED, "--epochs", "6", *options, "--resume")[0] == 0
    resumed = Path("v.npy").read_bytes()
    assert run("embed", GRAPH, *TRAINED, "--epochs", "6", "--out", "whole.npy")[0] == 0
    assert resumed == Path("whole.npy").read_bytes()


def test_unfinished_training_is_discarded_with_force(run, place, interrupted):
    interrupted("--out", "v.npy")
    assert run("embed", GRAPH, *TRAINED, "--epochs", "2", "--out", "v.npy", "--force")[0] == 0
    assert not Path("v.npy.training").exists()


def test_resume_and_force_exclude_each_other(run, place):
    code, _, err = run("embed", GRAPH, *TRAINED, "--out", "v.npy", "--resume", "--force")
    assert (code, err) == (2, "error: --resume and --force must not be given both: leave one of them out\n")


# -- two processes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("locked", ["v.tsv", "v.metadata.tsv", "saved"])
def test_output_of_another_process_is_rejected(run, place, locked):
    command = ["embed", GRAPH, "--dim", "4", "--out", "v.tsv", "--model", "saved", "--force"]
    assert run(*command)[0] == 0
    before = snapshot(place)
    script = f"""
import sys
from pathlib import Path
from graphprox.io.storage.locks import hold_lock
with hold_lock(Path({locked!r})):
    print("held", flush=True)
    sys.stdin.read()
"""
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        holder.stdout.readline()
        code, out, err = run(*command)
        assert (code, out) == (2, "")
        assert err.startswith(
            f"error: {locked} must be written by one process at a time; process {holder.pid} is writing"
        )
        holder.kill()
        holder.wait(timeout=30)
    assert run(*command)[0] == 0  # a killed process keeps no lock
    assert snapshot(place).keys() == before.keys()


def test_of_two_commands_with_the_same_model_one_works(place):
    program = [
        sys.executable,
        "-m",
        "graphprox",
        "embed",
        "synthetic",
        *TRAINED,
        "--epochs",
        "9000",
        "--model",
        "saved",
    ]
    with subprocess.Popen([*program, "--out", "a.npy"], stderr=subprocess.PIPE, text=True) as first:
        while first.poll() is None and not Path("saved/metrics.jsonl").exists():
            time.sleep(0.01)
        second = subprocess.run([*program, "--out", "b.npy"], capture_output=True, text=True, timeout=60)
        assert second.returncode == 2
        assert f"saved must be written by one process at a time; process {first.pid} is writing it" in second.stderr
        first.kill()
    assert not Path("b.npy").exists()
    third = subprocess.run([*program, "--out", "b.npy"], capture_output=True, text=True, timeout=60)
    assert (third.returncode, "has an unfinished training run" in third.stderr) == (2, True)


def test_lock_of_an_output_is_released_after_an_error(run, place):
    assert run("embed", GRAPH, "--out", "v.npy", "--set", "keep=nothing")[0] == 2
    with hold_lock(Path("v.npy")):
        pass
    assert not list(place.glob(".*"))
