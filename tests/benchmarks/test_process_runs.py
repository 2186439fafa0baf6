from __future__ import annotations

import json

import pytest

from benchmarks import process_runs
from benchmarks.process_runs import (
    EPOCHS,
    FIRST_EPOCHS,
    RUNS,
    TRAINING,
    Run,
    make_recipe,
    measure,
    measure_missing,
    read_records,
)
from graphprox.ftgcl.chunk_rules import obstacle_to_chunks

SMALL = Run(TRAINING, "gcn", 1, 600)


@pytest.fixture
def records(tmp_path, monkeypatch):
    monkeypatch.setattr(process_runs, "RECORDS", tmp_path / "records.jsonl")
    return tmp_path / "records.jsonl"


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_run_is_found_by_its_name(run):
    assert Run.parse(run.name) == run


def test_rows_mode_is_that_of_the_diffusion_alone():
    modes = {encoder: obstacle_to_chunks(make_recipe(encoder)) is None for encoder in process_runs.ENCODERS}
    assert modes == {"diffusion": True, "gcn": False, "sage": False, "gat": False}


def test_runs_with_a_record_are_not_repeated_and_each_is_kept_as_it_ends(records, monkeypatch):
    runs = RUNS[:3]
    started = []

    def start(run):
        started.append(run)
        if len(started) == 3:
            raise KeyboardInterrupt
        return [{}]

    monkeypatch.setattr(process_runs, "_start", start)
    with pytest.raises(KeyboardInterrupt):
        measure_missing(runs)
    assert [json.loads(line)["run"] for line in records.read_text().splitlines()] == [each.name for each in runs[:2]]
    monkeypatch.setattr(process_runs, "_start", lambda run: started.append(run) or [{}])
    measure_missing(runs)
    assert started == [*runs, runs[2]]
    assert list(read_records()) == [each.name for each in runs]


def test_record_that_was_written_in_part_is_measured_again(records, monkeypatch):
    monkeypatch.setattr(process_runs, "_start", lambda _: [{}])
    records.write_text('{"run": "trai')
    measure_missing(RUNS[:1])
    assert list(read_records()) == [RUNS[0].name]


def test_training_is_measured_step_by_step(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(process_runs, "COMPONENTS", 8)
    found = measure(SMALL, tmp_path, None)
    assert len(found["steps"]) == EPOCHS - FIRST_EPOCHS
    assert all(step["seconds"] > 0 and step["sent"] == 0 for step in found["steps"])
    assert found["memory"]["output"] >= found["memory"]["training"] > 0
    assert found["graph"] > 0
    assert found["rankings"] == 2 * 600 * 10 * 8
