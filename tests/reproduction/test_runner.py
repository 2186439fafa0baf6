"""Running trials, and measuring them.

Covers reproduction.checking and reproduction.measuring.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from graphprox import random_split, synthetic
from graphprox.datasets.loading import load
from graphprox.evaluation.probe import LinearProbe
from reproduction.checking import check_figures
from reproduction.experiment import Experiment
from reproduction.measuring import dataset_checksum, measure
from reproduction.records import append_record, read_current, read_records
from reproduction.runner import find_pending, run_trials


def test_trial_is_an_embedding_probed_on_its_splits(small, no_data):
    trial = Experiment.read(small).trials(row="small")[1]
    record = measure(trial)
    graph = synthetic()
    embedding = trial.make_embedder().fit_transform(graph)
    splits = [random_split(graph, random_state=each, stream="legacy") for each in range(3)]
    scores = [LinearProbe().evaluate(embedding, graph.y, split) for split in splits]
    assert record.figures["accuracy"] == [score.accuracy for score in scores]
    assert record.figures["macro_f1"] == [score.macro_f1 for score in scores]
    assert set(record.figures) == {"accuracy", "macro_f1"}
    assert record.settings["recipe"]["epochs"] == 3
    assert record.seconds["embed"] > 0
    assert "torch" in record.versions
    assert record.peak_memory is None or record.peak_memory > 10**7


def test_records_are_saved_and_equal_those_of_this_process(small, tmp_path, no_data):
    folder = tmp_path / "records"
    trials = [trial for row in ("raw", "smoothed") for trial in Experiment.read(small).trials(row=row)]
    results = list(run_trials(trials, folder, jobs=2))
    assert {result.trial.key for result in results} == {trial.key for trial in trials}
    assert find_pending(trials, folder) == []
    kept = read_records(folder, "small")
    assert list(kept) == sorted(trial.key for trial in trials)
    assert {result.record.to_json() for result in results} == {record.to_json() for record in kept.values()}
    again = measure(trials[0])
    assert kept[trials[0].key].figures == again.figures
    assert all(each.agrees for each in check_figures([(trials[0], again)], folder))


def test_trial_with_changed_settings_is_pending(small, tmp_path, no_data):
    (trial,) = Experiment.read(small).trials(row="raw")
    append_record(tmp_path, "small", measure(trial))
    assert find_pending([trial], tmp_path) == []
    small.write_text(small.read_text().replace("splits = 3", "splits = 2"))
    (changed,) = Experiment.read(small).trials(row="raw")
    assert find_pending([changed], tmp_path) == [changed]


def test_figures_outside_the_deviation_disagree(small, tmp_path, no_data):
    (trial,) = Experiment.read(small).trials(row="raw")
    record = measure(trial)
    append_record(tmp_path, "small", record)
    worse = {name: [value - 0.3 for value in values] for name, values in record.figures.items()}
    object.__setattr__(record, "figures", worse)
    checks = list(check_figures([(trial, record)], tmp_path))
    assert [each.key[2] for each in checks] == ["accuracy", "macro_f1"]
    assert not any(each.agrees for each in checks)
    assert "OUTSIDE one standard deviation" in str(checks[0])
    assert read_current(tmp_path, [trial])[0][1].figures != worse


def test_unavailable_data_set_is_a_result(small, tmp_path, no_data, in_process):
    small.write_text(small.read_text().replace('["synthetic"]', '["pyg:Nothing:Here", "synthetic"]'))
    trials = Experiment.read(small).trials(seeds=1)
    results = list(run_trials(trials, tmp_path / "records", jobs=1))
    assert [result.trial.dataset for result in results if result.record is None] == ["pyg:Nothing:Here"]
    assert "Nothing" in str(results[0].error)
    assert results[0].not_run == sum(trial.dataset == "pyg:Nothing:Here" for trial in trials) == 3
    assert len([result for result in results if result.record is not None]) == 3


def test_checksum_depends_on_labels():
    dataset = load("synthetic")
    other = dataset.graph.with_labels(np.roll(dataset.graph.y, 1), class_names=dataset.graph.class_names)
    assert dataset_checksum(dataset) != dataset_checksum(type(dataset)(dataset.name, other))


def test_killed_run_is_resumed_and_leaves_no_process(small, tmp_path, no_data):
    small.write_text(small.read_text().replace("seeds = 2", "seeds = 40"))
    folder = tmp_path / "records"
    command = [sys.executable, "-m", "reproduction", "run", str(small), "--records", str(folder), "--jobs", "1"]
    options = {"env": os.environ | {"OMP_NUM_THREADS": "2"}, "cwd": Path(__file__).parents[2]}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True, **options) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "seed 1" in line:
                break
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    kept = read_records(folder, "small")
    assert 4 <= len(kept) < 42
    assert {record.threads for record in kept.values()} == {1}  # so that costs are comparable
    trials = Experiment.read(small).trials()
    assert len(find_pending(trials, folder)) == len(trials) - len(kept)
    assert _has_ended(process.pid)


def _has_ended(group: int) -> bool:
    """Wait until no process of a group is left."""
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        if not _is_alive(group):
            return True
        time.sleep(0.1)
    return False


def _is_alive(group: int) -> bool:
    states = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group:
            states.append(fields[0])
    return any(state != "Z" for state in states)
