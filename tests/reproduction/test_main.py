"""The commands run, check and report.

Covers reproduction.__main__.
"""

from __future__ import annotations

import json
import re

import pytest

from reproduction.experiment import Experiment
from reproduction.measuring import measure
from reproduction.records import append_record, read_records

EXPERIMENT = """
title = "Raw and smoothed"
datasets = ["synthetic"]
rows = ["raw", "smoothed"]
reference = "raw"
splits = 5
"""


@pytest.fixture
def folders(tmp_path, no_data, in_process):
    """The folders of an experiment, its records and the docs."""
    for name in ("experiments", "records"):
        (tmp_path / name).mkdir()
    (tmp_path / "experiments" / "floor.toml").write_text(EXPERIMENT)
    return {name: tmp_path / name for name in ("experiments", "records", "docs")}


def options(folders, *names):
    return [word for name in names for word in (f"--{name}", folders[name])]


def read_lines(folders):
    path = folders["records"] / "floor.jsonl"
    return path.read_bytes().splitlines() if path.exists() else []


def keep(folders, **choice):
    """Measure trials of the experiment in this process."""
    for trial in Experiment.read(folders["experiments"] / "floor.toml").trials(**choice):
        append_record(folders["records"], "floor", measure(trial))


# -- run and check ----------------------------------------------------------------------------------------------------


def test_run_measures_only_trials_without_a_record(run, folders):
    keep(folders, row="raw")
    where = options(folders, "experiments", "records")
    code, printed, _ = run("run", "floor", *where, "--jobs", 1)
    assert code == 0
    assert "floor: 2 trials, 1 to run, 1 at a time" in printed
    assert "synthetic  smoothed  seed 0  accuracy" in printed
    assert len(read_lines(folders)) == 2
    code, printed, _ = run("run", folders["experiments"] / "floor.toml", *options(folders, "records"))
    assert (code, printed.strip()) == (0, "floor: 2 trials, 0 to run, 1 at a time")


def test_check_confirms_figures_and_does_not_change_the_records(run, folders):
    keep(folders, row="raw")
    before = read_lines(folders)
    where = options(folders, "experiments", "records")
    code, printed, _ = run("check", "floor", *where, "--jobs", 1)
    assert code == 0
    assert printed.count("within one standard deviation") == 2
    assert read_lines(folders) == before


def test_check_fails_if_a_figure_disagrees(run, folders):
    keep(folders, row="raw")
    (record,) = (json.loads(line) for line in read_lines(folders))
    record["figures"] = {name: [value + 0.2 for value in values] for name, values in record["figures"].items()}
    (folders["records"] / "floor.jsonl").write_text(json.dumps(record) + "\n")
    code, printed, _ = run("check", "floor", *options(folders, "experiments", "records"), "--jobs", 1)
    assert code == 1
    assert "OUTSIDE one standard deviation" in printed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["floor", "--only", "Cora"], "only must be one of floor; got 'Cora'"),
        (["floor", "--row", "smooth"], "did you mean 'smoothed'"),
        (["flor"], "did you mean 'floor'"),
        (["missing.toml"], "does not exist"),
    ],
)
def test_unknown_experiments_data_sets_and_rows_are_rejected(run, folders, arguments, message):
    code, printed, error = run("run", *arguments, *options(folders, "experiments", "records"))
    assert (code, printed) == (2, "")
    assert message in error
    assert not read_lines(folders)


def test_unavailable_data_is_an_error(run, folders):
    path = folders["experiments"] / "floor.toml"
    path.write_text(EXPERIMENT.replace('"synthetic"', '"pyg:Nothing:Here"'))
    code, printed, error = run("run", path, *options(folders, "records"), "--jobs", 1)
    assert code == 2
    assert "not run:" in printed
    assert re.search(r"^\S+  \d+ trials? not run: ", printed, re.MULTILINE)
    assert "Nothing" in error


# -- report -----------------------------------------------------------------------------------------------------------


def test_report_of_an_experiment_prints_and_writes_its_table(run, folders):
    keep(folders)
    code, printed, _ = run("report", "floor", *options(folders, *folders))
    lines = printed.splitlines()
    assert code == 0
    assert lines[0].rstrip() == "Accuracy and macro-F1 in percent, 5 splits × 10 runs"
    assert lines[1].split() == ["synthetic", "synthetic"]
    assert lines[3].startswith("Raw features")
    assert lines[4].count("★") == 2
    assert [line.rpartition("docs/")[2] for line in lines[-3:]] == [f"tables/floor.{e}" for e in ("md", "csv", "tex")]
    assert not (folders["docs"] / "index.md").exists()


def test_report_without_a_name_writes_the_page(run, folders):
    keep(folders, row="raw")
    code, printed, _ = run("report", *options(folders, *folders))
    assert code == 0
    assert printed.splitlines()[0] == "floor: 1 of 2 records"
    page = (folders["docs"] / "index.md").read_text()
    assert "python -m reproduction run floor --only synthetic --row smoothed" in page
    assert "0 of 1 run" in page


def test_report_sorts_the_records(run, folders):
    keep(folders)
    path = folders["records"] / "floor.jsonl"
    before = read_records(folders["records"], "floor")
    path.write_bytes(b"\n".join(reversed(path.read_bytes().splitlines())) + b'\n{"dataset": "syn')
    assert run("report", *options(folders, *folders))[0] == 0
    lines = [json.loads(line) for line in read_lines(folders)]
    assert [line["row"] for line in lines] == ["raw", "smoothed"]
    assert read_records(folders["records"], "floor") == before


@pytest.mark.parametrize(
    ("name", "message"),
    [("floor", "needs its records"), ("flor", "did you mean 'floor'?"), ("paper", "valid names are floor")],
)
def test_report_needs_an_experiment_with_records(run, folders, name, message):
    code, printed, error = run("report", name, *options(folders, *folders))
    assert (code, printed) == (2, "")
    assert message in error
    assert not folders["docs"].exists()


def test_folder_without_experiments_is_an_error(run, tmp_path):
    code, _, error = run("report", "--experiments", tmp_path)
    assert code == 2
    assert "must contain experiments" in error


def test_page_without_records_is_written(run, folders):
    code, printed, _ = run("report", *options(folders, *folders))
    assert code == 0
    first, second = printed.splitlines()
    assert (first, second.rpartition("/")[2]) == ("floor: 0 of 2 records", "index.md")


@pytest.mark.parametrize(
    "table",
    [
        'rows = ["mine"]\n[variants.mine]\nmethod = "smothed"',
        'rows = ["smothed"]',
        'grid = {hops = [1, 2]}\ngrid_row = {method = "smothed"}',
    ],
)
def test_a_misspelt_method_in_an_experiment_is_one_sentence_with_a_suggestion(run, folders, tmp_path, table):
    path = tmp_path / "mine.toml"
    path.write_text(f'title = "Mine"\ndatasets = ["synthetic"]\n{table}\n')
    code, printed, error = run("run", str(path), *options(folders, "experiments", "records"))
    assert (code, printed) == (2, "")
    assert "got 'smothed': did you mean 'smoothed'" in error
    assert len(error.splitlines()) == 1
