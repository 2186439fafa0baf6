"""graphprox report."""

from __future__ import annotations

import pytest

EXPERIMENT = """
title = "Raw and smoothed"
datasets = ["synthetic"]
rows = ["raw", "smoothed"]
reference = "raw"
splits = 5
"""


@pytest.fixture
def folders(tmp_path, no_data):
    """Options that name the folders of an experiment, its results and the docs."""
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "floor.toml").write_text(EXPERIMENT)
    names = ("experiments", "results", "docs")
    return {name: tmp_path / name for name in names}


def measured(folders, **choice):
    """Records of the experiment, measured in this process."""
    from graphprox.experiments.measuring import measure
    from graphprox.experiments.spec import Experiment

    for trial in Experiment.read(folders["experiments"] / "floor.toml").trials(**choice):
        measure(trial).write(folders["results"], trial)


def options(folders):
    return [word for name, folder in folders.items() for word in (f"--{name}", folder)]


def test_what_was_run_is_shown_and_written(run, folders):
    measured(folders)
    code, printed, _ = run("report", "floor", *options(folders))
    lines = printed.splitlines()
    assert code == 0
    assert lines[0].rstrip() == "Accuracy and macro-F1 in percent, 5 splits × 10 trainings"
    assert lines[1].split() == ["synthetic", "synthetic"]
    assert lines[3].startswith("Raw features")
    assert lines[4].count("★") == 2
    assert lines[-3:] == [str(folders["docs"] / "tables" / f"floor.{ending}") for ending in ("md", "csv", "tex")]
    assert not (folders["docs"] / "reproduction.md").exists()


def test_without_a_name_there_is_a_page_of_all(run, folders):
    measured(folders, row="raw")
    code, printed, _ = run("report", *options(folders))
    assert code == 0
    assert printed.splitlines()[0] == "floor: 1 of 2 records"
    page = (folders["docs"] / "reproduction.md").read_text()
    assert "graphprox run experiments/floor.toml --only synthetic --row smoothed" in page
    assert "0 of 1 trainings" in page


@pytest.mark.parametrize(
    ("name", "said"),
    [("floor", "needs records of it"), ("flor", "did you mean 'floor'?"), ("paper", "there are floor")],
)
def test_what_cannot_be_shown_is_refused_in_a_sentence(run, folders, name, said):
    code, printed, told = run("report", name, *options(folders))
    assert (code, printed) == (2, "")
    assert said in told
    assert not folders["docs"].exists()


def test_a_folder_without_experiments_is_refused(run, tmp_path):
    code, _, told = run("report", "--experiments", tmp_path)
    assert code == 2
    assert "must be a folder of experiments" in told


def test_a_page_is_made_even_of_no_records(run, folders):
    code, printed, _ = run("report", *options(folders))
    assert code == 0
    assert printed.splitlines() == ["floor: 0 of 2 records", str(folders["docs"] / "reproduction.md")]
