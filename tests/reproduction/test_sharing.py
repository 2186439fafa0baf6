"""Training once for several trials."""

from __future__ import annotations

import numpy as np

from graphprox import FTGCL
from graphprox.datasets.loading import load
from reproduction.experiment import Experiment
from reproduction.measuring import measure
from reproduction.records import read_records
from reproduction.runner import run_trials
from reproduction.sharing import embed_once, group_trials

QUICK = {"quick": {"method": "ft-gcl", "set": {"epochs": 2, "encoder.n_components": 8}}}


def experiment(name, **fields):
    rows = {"rows": ["raw", "quick"], "variants": QUICK}
    given = {"title": name, "datasets": ["synthetic"], "seeds": 2, "splits": 2, **rows}
    return Experiment(name=name, **{**given, **fields})


ONE, OTHER = experiment("one"), experiment("other", first_split=5)
LINKS = experiment("links", task="links", metrics=["auc"])


def test_trials_of_the_same_embedding_are_grouped():
    groups = group_trials([*ONE.trials(), *OTHER.trials(), *LINKS.trials()])
    names = [[(trial.experiment.name, trial.row_name, trial.seed) for trial in group] for group in groups]
    assert names[:3] == [
        [("one", "raw", 0), ("other", "raw", 0)],
        [("one", "quick", 0), ("other", "quick", 0)],
        [("one", "quick", 1), ("other", "quick", 1)],
    ]
    assert [len(group) for group in groups[3:]] == [1, 1, 1]  # each split of the edges has a different graph


def test_other_settings_are_not_grouped():
    changed = experiment(
        "changed", variants={"quick": {"method": "ft-gcl", "set": {"epochs": 3, "encoder.n_components": 8}}}
    )
    assert len(group_trials([*ONE.trials(row="quick"), *changed.trials(row="quick")])) == 4


def test_one_training_run_serves_several_trials(monkeypatch, no_data):
    seeds = []
    fit_transform = FTGCL.fit_transform

    def count(method, graph):
        seeds.append(method.random_state)
        return fit_transform(method, graph)

    monkeypatch.setattr(FTGCL, "fit_transform", count)
    trials = [each.trials(row="quick")[seed] for seed in (0, 1) for each in (ONE, OTHER)]
    records = [measure(trial) for trial in trials]
    assert seeds == [0, 1]
    for part in ("embed", "processor"):
        assert records[0].seconds[part] == records[1].seconds[part] > 0
    assert records[0].figures != records[1].figures
    assert measure(trials[1]).figures == records[1].figures  # of a new training run


def test_another_graph_has_another_embedding(no_data):
    trial = ONE.trials(row="quick")[0]
    one, other = (embed_once(trial, load(name)).vectors for name in ("synthetic", "synthetic:seed=1"))
    assert not np.array_equal(one, other)


def test_experiments_that_run_together_have_separate_records(tmp_path, no_data, in_process):
    results = list(run_trials([*ONE.trials(), *OTHER.trials()], tmp_path, jobs=1))
    assert len(results) == 6
    assert len(read_records(tmp_path, "one")) == len(read_records(tmp_path, "other")) == 3
