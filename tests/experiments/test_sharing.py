"""One training for all trials that want the same embedding."""

from __future__ import annotations

import numpy as np
import pytest

from graphprox import ParameterError
from graphprox.experiments.measuring import measure
from graphprox.experiments.runner import run
from graphprox.experiments.sharing import embedded, grouped
from graphprox.experiments.spec import Experiment, trials_of
from graphprox.loading import load
from graphprox.methods.embedders import Trained

QUICK = {"quick": {"method": "ft-gcl", "set": {"steps": 2, "encoder.width": 8}}}


def experiment(name, **fields):
    given = {
        "title": name,
        "datasets": ["synthetic"],
        "rows": ["raw", "quick"],
        "variants": QUICK,
        "seeds": 2,
        "splits": 2,
    }
    return Experiment(name=name, **{**given, **fields})


ONE, OTHER = experiment("one"), experiment("other", first_split=5)
LINKS = experiment("links", task="links", metrics=["auc"])


def test_trials_of_one_embedding_are_measured_together():
    groups = grouped([*ONE.trials(), *OTHER.trials(), *LINKS.trials()])
    names = [[(trial.experiment.name, trial.row_name, trial.seed) for trial in group] for group in groups]
    assert names[:3] == [
        [("one", "raw", 0), ("other", "raw", 0)],
        [("one", "quick", 0), ("other", "quick", 0)],
        [("one", "quick", 1), ("other", "quick", 1)],
    ]
    assert [len(group) for group in groups[3:]] == [1, 1, 1]  # each split of the edges leaves another graph


def test_another_setting_is_another_embedding():
    changed = experiment("changed", variants={"quick": {"method": "ft-gcl", "set": {"steps": 3, "encoder.width": 8}}})
    assert len(grouped([*ONE.trials(row="quick"), *changed.trials(row="quick")])) == 4


def test_one_training_serves_several_trials_and_costs_the_same_in_each(monkeypatch, no_data):
    trained = []
    embed = Trained.embed

    def counted(self, graph, seed, **options):
        trained.append(seed)
        return embed(self, graph, seed, **options)

    monkeypatch.setattr(Trained, "embed", counted)
    trials = [each.trials(row="quick")[seed] for seed in (0, 1) for each in (ONE, OTHER)]
    records = [measure(trial) for trial in trials]
    assert trained == [0, 1]
    for part in ("embed", "processor"):
        assert records[0].seconds[part] == records[1].seconds[part] > 0
    assert records[0].figures != records[1].figures
    assert measure(trials[1]).figures == records[1].figures  # made anew, and the same


def test_another_graph_is_never_taken_for_this_one(no_data):
    trial = ONE.trials(row="quick")[0]
    one, other = (embedded(trial, trial.maker, load(name)).rows for name in ("synthetic", "synthetic:seed=1"))
    assert not np.array_equal(one, other)


def test_several_experiments_run_as_one_and_keep_records_of_each(tmp_path, no_data):
    outcomes = list(run([*ONE.trials(), *OTHER.trials()], tmp_path, jobs=1))
    assert len(outcomes) == 6
    assert len(list((tmp_path / "one").rglob("*.json"))) == len(list((tmp_path / "other").rglob("*.json"))) == 3


def test_an_experiment_without_the_data_set_is_left_out_if_another_has_it():
    elsewhere = experiment("elsewhere", datasets=["Cora"])
    assert {trial.experiment.name for trial in trials_of([ONE, elsewhere], only="synthetic")} == {"one"}
    with pytest.raises(ParameterError, match="only must be of one; got 'Coraa'"):
        trials_of([ONE, elsewhere], only="Coraa")
