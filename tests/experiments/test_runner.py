"""Trials, measured and kept."""

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

from graphprox import ReadError, random_split, synthetic
from graphprox.evaluation.probe import probe
from graphprox.experiments.checking import compared
from graphprox.experiments.measuring import dataset_checksum, measure
from graphprox.experiments.records import read_record, read_records
from graphprox.experiments.runner import pending, run
from graphprox.experiments.spec import Experiment
from graphprox.loading import load


def test_a_trial_is_its_embedding_probed_on_its_splits(small, no_data):
    trial = Experiment.read(small).trials(row="small")[1]
    record = measure(trial)
    graph = synthetic()
    embedding = trial.maker.embed(graph, seed=1)
    scores = [probe(embedding, graph.y, random_split(graph, seed=each)) for each in range(3)]
    assert record.figures["accuracy"] == [score.accuracy for score in scores]
    assert record.figures["macro_f1"] == [score.macro_f1 for score in scores]
    assert set(record.figures) == {"accuracy", "macro_f1"}
    assert record.settings["recipe"]["steps"] == 3
    assert record.seconds["embed"] > 0
    assert "torch" in record.versions
    assert record.peak_memory is None or record.peak_memory > 10**7


def test_records_are_kept_found_again_and_measured_once(small, tmp_path, no_data):
    experiment, results = Experiment.read(small), tmp_path / "results"
    trials = experiment.trials()
    outcomes = list(run(trials, results, jobs=2))
    assert {outcome.trial.path for outcome in outcomes} == {trial.path for trial in trials}
    assert pending(trials, results) == []
    kept = [record for _, record in read_records(results, experiment.trials())]
    assert [record.row for record in kept] == ["raw", "smoothed", "small", "small"]
    found = {outcome.trial.path: outcome.record.figures for outcome in outcomes if outcome.record is not None}
    assert [found[trial.path] for trial in trials] == [record.figures for record in kept]
    # The process that measures is another one, and has one thread: what it finds is what this one would find.
    again = measure(trials[0])
    assert kept[0].figures == again.figures
    assert all(comparison.agrees for comparison in compared([(trials[0], again)], results))
    assert not [path for path in results.rglob("*") if path.name.endswith(".part")]


def test_a_setting_that_changed_makes_a_record_stale(small, tmp_path, no_data):
    results = tmp_path / "results"
    trial = Experiment.read(small).trials(row="raw")[0]
    measure(trial).write(results, trial)
    assert read_record(results, trial) is not None
    small.write_text(small.read_text().replace("splits = 3", "splits = 2"))
    (changed,) = Experiment.read(small).trials(row="raw")
    assert read_record(results, changed) is None
    assert pending([changed], results) == [changed]


def test_a_damaged_record_is_named(small, tmp_path):
    trial = Experiment.read(small).trials(row="raw")[0]
    path = tmp_path / trial.path
    path.parent.mkdir(parents=True)
    path.write_text('{"experiment": "small"')
    with pytest.raises(ReadError, match=r"0\.json must be a record"):
        read_record(tmp_path, trial)


def test_figures_outside_the_spread_are_told(small, tmp_path, no_data):
    trial = Experiment.read(small).trials(row="raw")[0]
    record = measure(trial)
    worse = {name: [value - 0.3 for value in values] for name, values in record.figures.items()}
    record.write(tmp_path, trial)
    object.__setattr__(record, "figures", worse)
    comparisons = list(compared([(trial, record)], tmp_path))
    assert [comparison.key[2] for comparison in comparisons] == ["accuracy", "macro_f1"]
    assert not any(comparison.agrees for comparison in comparisons)
    assert "OUTSIDE its spread" in str(comparisons[0])
    assert read_records(tmp_path, [trial])[0][1].figures != worse


def test_a_data_set_that_is_not_at_hand_is_an_outcome(small, tmp_path, no_data):
    small.write_text(small.read_text().replace('["synthetic"]', '["pyg:Nothing:Here", "synthetic"]'))
    trials = Experiment.read(small).trials(seeds=1)
    outcomes = list(run(trials, tmp_path / "results", jobs=1))
    assert [outcome.trial.dataset for outcome in outcomes if outcome.record is None] == ["pyg:Nothing:Here"]
    assert "Nothing" in str(outcomes[0].missing)
    assert len([outcome for outcome in outcomes if outcome.record is not None]) == 3


def test_labels_and_splits_are_part_of_what_figures_depend_on():
    dataset = load("synthetic")
    other = dataset.graph.with_labels(np.roll(dataset.graph.y, 1), class_names=dataset.graph.class_names)
    changed = type(dataset)(dataset.name, other)
    assert dataset_checksum(dataset) != dataset_checksum(changed)


def test_a_run_that_is_killed_goes_on_where_it_was(small, tmp_path, no_data):
    """Killed after its first record, it leaves whole records, no workers, and the rest to be measured."""
    small.write_text(small.read_text().replace("seeds = 2", "seeds = 40"))
    results = tmp_path / "results"
    command = [sys.executable, "-m", "graphprox", "run", str(small), "--results", str(results), "--jobs", "1"]
    two = os.environ | {"OMP_NUM_THREADS": "2"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True, env=two) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "seed 1" in line:
                break
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    records = list(results.rglob("*.json"))
    assert 4 <= len(records) < 42
    kept = [json.loads(path.read_text()) for path in records]
    assert all(record["figures"] for record in kept)
    assert {record["threads"] for record in kept} == {1}  # one at a time or many, so that costs compare
    trials = Experiment.read(small).trials()
    assert len(pending(trials, results)) == len(trials) - len(records)
    assert _ended(process.pid)


def _ended(group: int) -> bool:
    """Whether no process of a group is left; workers notice within moments that nobody waits for them."""
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        if not _alive(group):
            return True
        time.sleep(0.1)
    return False


def _alive(group: int) -> bool:
    states = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group:
            states.append(fields[0])
    return any(state != "Z" for state in states)
