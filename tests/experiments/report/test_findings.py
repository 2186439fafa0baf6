"""What there is of an experiment."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphprox import ReadError
from graphprox.experiments.report.findings import gather, read_experiment, read_experiments

TOML = 'title = "One"\ndatasets = ["Cora"]\nrows = ["raw"]\norder = {order}\n'


def test_records_are_counted_by_data_set_and_row(results, make):
    findings = results.keep(make(), lambda trial: {"accuracy": [0.8] * 5} if trial.seed == 0 else None)
    assert {place: len(records) for place, records in findings.records.items()} == {
        ("Cora", "raw"): 1,
        ("Cora", "ft-gcl"): 1,
        ("CiteSeer", "raw"): 1,
        ("CiteSeer", "ft-gcl"): 1,
    }
    assert findings.wanted["Cora", "raw"] == 1
    assert findings.wanted["Cora", "ft-gcl"] == 2
    assert findings.commands["Cora", "ft-gcl"] == "graphprox run experiments/small.toml --only Cora --row ft-gcl"
    assert findings.unused == ()


def test_what_was_measured_with_other_settings_is_not_used_but_named(results, make):
    results.keep(make())
    findings = gather(results.folder, make(splits=6, rows=["raw"]))
    assert findings.records == {}
    assert len(findings.unused) == 6
    assert findings.unused[0] == Path("small/CiteSeer/ft-gcl/0.json")


def test_a_data_set_that_is_only_explained_is_shown_too(results, make):
    findings = results.keep(make(not_run={"Reddit": "too large"}))
    assert findings.datasets == ("Cora", "CiteSeer", "Reddit")
    assert [findings.is_run(dataset) for dataset in findings.datasets] == [True, True, False]
    assert findings.why_not_run("Reddit") == "not run: too large"
    assert findings.why_not_run("Cora") == "not run"


def test_a_damaged_record_is_told(results, make):
    results.keep(make())
    (results.folder / "small/Cora/raw/0.json").write_text("{")
    with pytest.raises(ReadError, match="must be a record"):
        gather(results.folder, make())


def test_experiments_come_in_their_order_and_the_paper_is_none(tmp_path):
    for name, order in {"b": 1, "a": 1, "c": 0}.items():
        (tmp_path / f"{name}.toml").write_text(TOML.format(order=order))
    (tmp_path / "paper.toml").write_text("x = 1")
    assert [each.name for each in read_experiments(tmp_path)] == ["c", "a", "b"]
    assert read_experiment(tmp_path, "a").order == 1
    with pytest.raises(ReadError, match="got 'paper': there are a, b, c"):
        read_experiment(tmp_path, "paper")


def test_a_folder_without_experiments_is_refused(tmp_path):
    with pytest.raises(ReadError, match="must be a folder of experiments"):
        read_experiments(tmp_path / "nowhere")
