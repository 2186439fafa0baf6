"""The numbers behind figures."""

from __future__ import annotations

import pytest

from graphprox import ParameterError
from graphprox.experiments.report.cells import columns_of
from graphprox.experiments.report.curves import curves_of
from graphprox.experiments.report.figure_tables import curves, grid

GRID = {"show": "heatmap", "rows": [], "grid_row": {"method": "ft-gcl"}, "paper": None, "datasets": ["Cora"]}


def test_a_grid_has_one_setting_down_and_one_across(results, make, paper):
    experiment = make(grid={"encoder.width": [8, 16], "head.width": [4, 8, 16]}, **GRID)

    def figures(trial):
        changes = trial.row.set
        return {"accuracy": [changes["encoder.width"] / 100 + changes["head.width"] / 1000] * 5}

    findings = results.keep(experiment, figures)
    (table,) = grid(findings, columns_of(findings, paper))
    assert table.corner == "encoder.width ↓ head.width →"
    assert table.caption == "Cora: accuracy in percent, 5 splits × 2 trainings"
    assert [heading.group for heading in table.headings] == ["4", "8", "16"]
    assert {line.title: [entry.text for entry in line.entries] for line in table.lines} == {
        "8": ["8.40", "8.80", "9.60"],
        "16": ["16.40", "16.80", "17.60"],
    }
    assert table.lines[1].entries[2].place == 1


def test_a_grid_of_one_setting_cannot_be_laid_out(results, make, paper):
    findings = results.keep(make(grid={"encoder.width": [8, 16]}, **GRID))
    with pytest.raises(ParameterError, match="a grid of two settings; small has 1"):
        grid(findings, columns_of(findings, paper))


def test_curves_are_read_off_at_their_marks(results, make):
    experiment = make(task="curve", show="curves", marks=[4, 0, 2], datasets=["Cora"], rows=["ft-gcl"], splits=2)

    def figures(trial):
        accuracy = [[0.5, 0.5], [0.7, 0.8], [0.6, 0.7]]
        return {"marks": [0, 2, 4], "loss": [4.0 + trial.seed, 3.0, 2.0, 1.0 + trial.seed], "accuracy": accuracy}

    shown = curves_of(results.keep(experiment, figures))
    curve = shown["Cora", "ft-gcl"]
    assert curve.accuracy.shape == (2, 3, 2)
    assert curve.accuracy_at(2) == pytest.approx((75, 5))
    assert [curve.loss_at(mark) for mark in curve.marks] == [None, 3.0, 1.5]
    (table,) = curves(shown)
    assert table.caption == "Cora: loss, and accuracy in percent, 2 splits × 2 trainings"
    assert [(line.title, *(entry.text for entry in line.entries)) for line in table.lines] == [
        ("0", "50.00 ± 0.00", "–"),
        ("2", "75.00 ± 5.00", "3.000"),
        ("4", "65.00 ± 5.00", "1.500"),
    ]
    assert [line.entries[0].place for line in table.lines] == [0, 1, 0]
