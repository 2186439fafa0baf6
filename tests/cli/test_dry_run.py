"""A dry run prints a forecast and writes nothing; what needs more memory than there is stops before any work."""

from __future__ import annotations

import json
import re
import shutil
from types import SimpleNamespace

import pytest

import graphprox
from graphprox.cli import dry_run
from graphprox.forecast import Forecast
from graphprox.ftgcl import presets
from graphprox.methods import memory_check
from graphprox.methods.embedder import GraphEmbedder

GRAPH = "synthetic:nodes=420"


@pytest.fixture
def embed(run, tmp_path):
    """Embed a graph; returns exit code, stdout and stderr."""
    return lambda *options: run("embed", GRAPH, "--out", tmp_path / "new" / "emb.npy", *options)


@pytest.mark.parametrize("method", ["auto", "ft-gcl"])
def test_dry_run_prints_a_forecast_and_writes_nothing(embed, tmp_path, method):
    code, out, err = embed("--method", method, "--model", tmp_path / "model", "--dry-run")
    assert (code, err) == (0, "")
    assert out.startswith(f"{GRAPH}, 420 nodes, by {method}: about ")
    assert " of memory, on this machine if it is idle; " in out
    assert out.splitlines()[0].endswith(" are available")
    assert not list(tmp_path.iterdir())


def test_dry_run_prints_json(embed):
    _, out, _ = embed("--dry-run", "--json")
    printed = json.loads(out)
    assert (printed["graph"], printed["method"], printed["nodes"]) == (GRAPH, "auto", 420)
    assert printed["seconds"] > 0
    assert 50 < printed["peak_memory_mb"] < printed["available_memory_mb"]


def test_megabytes_are_millions_of_bytes_in_json_as_in_text(embed, monkeypatch):
    monkeypatch.setattr(dry_run, "available_memory", lambda: 5_000_000_000)
    assert json.loads(embed("--dry-run", "--json")[1])["available_memory_mb"] == 5000
    assert "5.0 GB are available" in embed("--dry-run")[1]


def test_too_little_memory_is_an_error_of_the_package():
    assert issubclass(graphprox.InsufficientMemoryError, graphprox.GraphproxError)


def test_method_without_a_model_of_its_time_says_so(embed):
    code, out, _ = embed("--method", "dgi", "--dry-run")
    assert code == 0
    assert re.match(
        rf"{GRAPH}, 420 nodes, by dgi: at least [\d.]+ [MG]B of memory; the time is not forecast; .* are available$",
        out.splitlines()[0],
    )
    printed = json.loads(embed("--method", "dgi", "--dry-run", "--json")[1])
    assert printed["seconds"] is None
    assert printed["peak_memory_mb"] > 50


def never_fit(self, *_):
    raise AssertionError


def limit_memory(monkeypatch, available, needed):
    """Let some memory be available, and a fit need as much as a function of its memory by name returns."""
    monkeypatch.setattr(memory_check, "available_memory", lambda: available)
    monkeypatch.setattr(memory_check, "make_forecast", lambda costs, **_: Forecast(1.0, int(needed(costs.memory))))


@pytest.mark.parametrize("options", [(), ("--dry-run",)])
def test_too_little_memory_is_refused_with_what_would_fit(embed, monkeypatch, tmp_path, options):
    monkeypatch.setattr(GraphEmbedder, "fit", never_fit)
    limit_memory(monkeypatch, 5_000_000_000, lambda memory: memory["rows"] * 3000)
    code, out, err = embed("--method", "ft-gcl", "--preset", "default", *options)
    assert (code, out) == (2, "")
    assert err.startswith("error: ft-gcl must not need more memory than is available; it needs about ")
    assert " on this graph of 420 nodes, and 5.0 GB are available: use --dim 256, which needs about " in err
    assert err.endswith(", or start all the same with --ignore-memory\n")
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_preset_for_large_graphs_is_proposed_if_no_size_fits(embed, monkeypatch):
    settings = {**presets.load_presets("large")["large"], "chunk_size": 100}
    monkeypatch.setattr(graphprox.FTGCL, "presets", {"large": settings})
    limit_memory(monkeypatch, 5_000_000_000, lambda memory: 3e9 if "propagation" in memory else 9e9)
    code, _, err = embed("--method", "ft-gcl", "--preset", "default", "--dry-run")
    assert code == 2
    assert "are available: use --preset large, which needs about 3.0 GB, or start all the same" in err


@pytest.mark.parametrize(
    ("options", "proposed"),
    [
        (["--method", "dgi", "--dim", 10**9], "--dim 4096"),
        (["--method", "gae", "--set", f"hidden_channels={10**10}"], "--set hidden_channels=4096"),
    ],
)
def test_a_hopeless_request_is_refused_for_a_method_without_a_model_of_its_time(embed, tmp_path, options, proposed):
    code, _, err = embed(*options)
    assert code == 2
    assert re.match(rf"error: {options[1]} must not need more memory than is available; it needs at least ", err)
    assert f"are available: use {proposed}, which needs at least " in err
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_too_little_memory_for_any_size_names_another_way(embed, monkeypatch):
    monkeypatch.setattr(memory_check, "available_memory", lambda: 1_000_000)
    code, _, err = embed("--dry-run")
    assert code == 2
    assert "use a machine with more memory, or a part of the graph" in err


def test_memory_can_be_ignored(embed, monkeypatch):
    monkeypatch.setattr(memory_check, "available_memory", lambda: 1_000_000)
    assert embed("--ignore-memory")[0] == 0
    assert embed("--ignore-memory", "--dry-run")[0] == 0


def test_nothing_is_refused_where_memory_is_not_known(embed, monkeypatch):
    for module in (dry_run, memory_check):
        monkeypatch.setattr(module, "available_memory", lambda: None)
    assert embed()[0] == 0
    assert "available" not in embed("--dry-run")[1]


def test_long_runs_are_announced_unless_quiet(embed, run, tmp_path, monkeypatch):
    monkeypatch.setattr("graphprox.forecast.make_forecast", lambda *_, **__: Forecast(125.0, 2_000_000_000))
    _, _, err = embed()
    assert err == f"{GRAPH}: auto will take about 2 min 5 s and 2.0 GB of memory, on this machine if it is idle\n"
    assert run("--quiet", "embed", GRAPH, "--out", tmp_path / "emb.npy")[2] == ""


def test_large_files_are_announced_with_long_runs(embed, monkeypatch):
    monkeypatch.setattr("graphprox.forecast.make_forecast", lambda *_, **__: Forecast(125.0, 2_000_000_000))
    monkeypatch.setattr(dry_run, "LARGE_FILES", 0)
    assert " for the embedding); " in embed()[2].splitlines()[1]


def test_short_runs_measure_no_speeds(embed, monkeypatch):
    monkeypatch.setattr("graphprox.forecast.machine.measure_speeds", never_fit)
    assert embed()[0] == 0


# -- disk space -------------------------------------------------------------------------------------------------------


def test_dry_run_shows_disk_space(embed, tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=5_000_000_000))
    code, out, _ = embed("--model", tmp_path / "other", "--dry-run")
    assert code == 0
    line = out.splitlines()[1]
    assert f" on the disk of {tmp_path / 'new'} and {tmp_path / 'other'} (" in line
    assert " for the embedding, " in line
    assert line.endswith(" for the model); 5.0 GB are free")


def test_dry_run_shows_disk_space_in_json(embed, tmp_path):
    printed = json.loads(embed("--method", "ft-gcl", "--model", tmp_path / "model", "--dry-run", "--json")[1])
    files = {each["files"]: each["folder"] for each in printed["disk"]}
    assert files["the embedding"] == str(tmp_path / "new")
    assert files["the model and its checkpoints"] == str(tmp_path / "model")
    assert files["rankings of views"].endswith("rankings")
    assert all(0 <= each["mb"] < each["free_mb"] for each in printed["disk"])


@pytest.mark.parametrize("options", [(), ("--dry-run",), ("--method", "raw")])
def test_too_little_disk_space_is_refused_before_any_work(embed, tmp_path, monkeypatch, options):
    monkeypatch.setattr(GraphEmbedder, "fit", never_fit)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=10_000))
    code, out, err = embed(*options)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert " must not need more space than is free on a disk; it needs about " in err
    assert err.endswith("and 0 MB are free: name a folder on another disk by --out, or free space\n")
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())
