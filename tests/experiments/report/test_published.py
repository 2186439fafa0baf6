"""docs/baselines.md: published figures beside ours."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from graphprox.experiments.report.findings import read_experiments
from graphprox.experiments.report.paper import Paper
from graphprox.experiments.report.published import baselines_page
from graphprox.experiments.report.sections import section_of
from graphprox.methods.registry import METHODS

EXPERIMENTS = Path(__file__).resolve().parents[3] / "experiments"
DECLARED = tomllib.loads((EXPERIMENTS / "published.toml").read_text())


@pytest.fixture
def lines(results, make, paper):
    """The lines of the table of figures, cell by cell."""

    def lines(published, **options):
        section = section_of(
            results.keep(make(rows=["dgi", "ft-gcl"], **options), lambda _: {"accuracy": [0.82] * 5}), paper
        )
        text = baselines_page([section], Paper(published)).partition("## Published figures")[2].partition("##")[0]
        return [
            [cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if "| Cora |" in line
        ], text

    return lines


def test_ours_stand_beside_what_was_published(lines):
    rows, text = lines({"small": {"dgi": {"Cora": {"accuracy": [82.3, 0.6]}}}})
    command = "graphprox run experiments/small.toml --only Cora --row dgi"
    assert rows == [["DGI", "Cora", "accuracy", "82.30 ± 0.60", "82.00", "−0.30", command]]
    assert "1 published figure, 1 of them measured here; 1 of these are within a point of it or above" in text


def test_what_was_not_measured_or_falls_short_is_counted(lines):
    rows, text = lines({"small": {"dgi": {"Cora": {"accuracy": 85.0}}, "grace": {"Cora": {"accuracy": 83.3}}}})
    assert [row[4:6] for row in rows] == [["82.00", "−3.00"], ["–", "–"]]
    assert "2 published figures, 1 of them measured here; 0 of these are within" in text


def test_sources_and_notes_are_told(results, make, paper):
    section = section_of(results.keep(make()), paper)
    page = baselines_page([section], Paper({"sources": {"dgi": "table 2"}, "notes": {"dgi": "stops early"}}))
    assert "## Where the figures stand\n\n- DGI: table 2" in page
    assert "## What misses, and what was tried\n\n- DGI: stops early" in page


def test_every_method_is_listed(results, make, paper):
    page = baselines_page([section_of(results.keep(make()), paper)], Paper({}))
    assert all(f"| `{name}` | {method.about.title} |" in page for name, method in METHODS.items())


def test_what_is_declared_can_be_measured():
    experiments = {each.name: each for each in read_experiments(EXPERIMENTS)}
    for name, rows in DECLARED.items():
        if name in ("sources", "notes"):
            assert set(rows) <= set(METHODS)
            continue
        for row, datasets in rows.items():
            assert row in experiments[name].all_rows
            assert set(datasets) <= set(experiments[name].datasets)
            assert row in DECLARED["sources"] or row == "vgae"
            assert all(set(metrics) <= set(experiments[name].metrics) for metrics in datasets.values())
