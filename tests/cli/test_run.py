"""graphprox run."""

from __future__ import annotations

import json

import pytest

EXPERIMENT = """
title = "Raw and smoothed"
datasets = ["synthetic"]
rows = ["raw", "smoothed"]
splits = 2
"""


@pytest.fixture
def experiment(tmp_path, no_data):
    path = tmp_path / "floor.toml"
    path.write_text(EXPERIMENT)
    return path


def test_what_has_a_record_is_not_measured_again_unless_to_check_it(run, experiment, tmp_path):
    results = tmp_path / "results"
    code, printed, _ = run("run", experiment, "--results", results, "--jobs", 1)
    assert code == 0
    assert "floor: 2 trials, 2 to measure, 1 at a time" in printed
    assert "synthetic  raw  seed 0  accuracy" in printed
    kept = {path: path.read_bytes() for path in results.rglob("*.json")}
    assert len(kept) == 2
    code, printed, _ = run("run", experiment, "--results", results)
    assert (code, printed.strip()) == (0, "floor: 2 trials, 0 to measure, 1 at a time")
    code, printed, _ = run("run", experiment, "--results", results, "--row", "raw", "--check", "--jobs", 1)
    assert code == 0
    assert printed.count("within its spread") == 2
    assert {path: path.read_bytes() for path in results.rglob("*.json")} == kept


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--only", "Cora"], "only must be of floor; got 'Cora'"),
        (["--row", "smooth"], "did you mean 'smoothed'"),
    ],
)
def test_what_is_not_declared_is_refused(run, experiment, tmp_path, options, said):
    code, _, told = run("run", experiment, "--results", tmp_path / "results", *options)
    assert code == 2
    assert said in told
    assert not (tmp_path / "results").exists()


def test_a_file_that_is_no_experiment_is_refused(run, tmp_path):
    code, _, told = run("run", tmp_path / "missing.toml")
    assert (code, "does not exist" in told) == (2, True)


def test_data_that_are_not_at_hand_are_told(run, experiment, tmp_path):
    experiment.write_text(EXPERIMENT.replace('"synthetic"', '"pyg:Nothing:Here"'))
    code, printed, told = run("run", experiment, "--results", tmp_path / "results", "--jobs", 1)
    assert code == 2
    assert "not run:" in printed
    assert "Nothing" in told


def test_a_figure_outside_its_spread_is_a_failure(run, experiment, tmp_path):
    results = tmp_path / "results"
    run("run", experiment, "--results", results, "--jobs", 1, "--row", "raw")
    (record,) = results.rglob("*.json")
    fields = json.loads(record.read_text())
    fields["figures"] = {name: [value + 0.2 for value in values] for name, values in fields["figures"].items()}
    record.write_text(json.dumps(fields))
    code, printed, _ = run("run", experiment, "--results", results, "--row", "raw", "--check", "--jobs", 1)
    assert code == 1
    assert "OUTSIDE its spread" in printed
