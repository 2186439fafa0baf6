"""Layouts of tables."""

from __future__ import annotations

import numpy as np
import pytest

from graphprox import ParameterError
from reproduction.report.cells import homophily_columns, percent_columns, training_curves
from reproduction.report.layouts import (
    MAX_COLUMNS,
    ablation_tables,
    cost_table,
    curve_tables,
    grid_tables,
    homophily_tables,
    result_tables,
)
from reproduction.report.tables import PAPER_ONLY


def cells_of(table):
    return {line.title: line.cells for line in table.lines}


def laid_out(findings, paper):
    return result_tables(findings, percent_columns(findings, paper))


def scores(trial):
    means = {"raw": 0.60, "f-gcl": 0.83, "ft-gcl": 0.8421}
    return {name: (means[trial.row_name] + 0.01 * np.arange(-2, 3)).tolist() for name in trial.experiment.metrics}


def test_cell_shows_mean_reported_figure_and_difference(records, make, paper):
    (table,) = laid_out(records.keep(make(), scores), paper)
    assert [heading.group for heading in table.headings] == ["Cora", "CiteSeer"]
    assert [line.title for line in table.lines] == ["Raw features", "FT-GCL", PAPER_ONLY, "DGI"]
    ours = cells_of(table)["FT-GCL"]
    assert (ours[0].text, ours[0].below, ours[0].rank) == ("84.21 ± 1.41", ("84.07, +0.14",), 1)
    assert ours[1].below == ("72.52, +11.69",)
    assert cells_of(table)["DGI"][0].text == "83.61 ± 0.70"
    assert cells_of(table)["DGI"][1].text == "70.24"
    assert (cells_of(table)["Raw features"][0].star, ours[0].star) == (True, False)
    assert table.notes == ("★ differs significantly from FT-GCL.",)
    assert table.caption == "Accuracy in percent, 5 splits × 2 runs"


def test_missing_runs_are_counted(records, make, paper):
    def some(trial):
        few = {"Cora": 3, "CiteSeer": 0}[trial.dataset]
        return scores(trial) if trial.row_name == "raw" or trial.seed < few else None

    (table,) = laid_out(records.keep(make(seeds=10), some), paper)
    first, second = cells_of(table)["FT-GCL"]
    assert first.below == ("84.07, +0.14", "3 of 10 runs")
    assert (second.text, second.below) == ("–", ("72.52", "0 of 10 runs"))
    assert all(not cell.below for cell in cells_of(table)["Raw features"])


@pytest.mark.parametrize(("why", "said"), [({"Cora": "too large"}, "not run: too large"), ({}, "not run")])
def test_data_set_without_records_has_a_note_in_its_heading(records, make, paper, why, said):
    experiment = make(not_run=why)
    findings = records.keep(experiment, lambda trial: None if trial.dataset == "Cora" else scores(trial))
    (table,) = laid_out(findings, paper)
    assert [heading.note for heading in table.headings] == [said, ""]
    first = cells_of(table)["FT-GCL"][0]
    assert (first.text, first.below) == ("–", ("84.07",))


def test_wide_table_is_split_by_metric(records, make, paper):
    (table,) = laid_out(records.keep(make(metrics=["accuracy", "macro_f1"]), scores), paper)
    assert [(each.group, each.name) for each in table.headings] == [
        ("Cora", "accuracy"),
        ("Cora", "macro-F1"),
        ("CiteSeer", "accuracy"),
        ("CiteSeer", "macro-F1"),
    ]
    assert table.caption == "Accuracy and macro-F1 in percent, 5 splits × 2 runs"
    many = make(name="wide", metrics=["accuracy", "macro_f1"], datasets=["Cora", "CiteSeer", "ACM", "DBLP"])
    tables = laid_out(records.keep(many, scores), paper)
    assert [table.caption for table in tables] == [
        "Accuracy in percent, 5 splits × 2 runs",
        "Macro-F1 in percent, 5 splits × 2 runs",
    ]
    assert all(len(table.headings) == 4 <= MAX_COLUMNS and not table.headings[0].name for table in tables)
    assert [line.title for line in tables[1].lines] == ["Raw features", "FT-GCL"]  # the paper has no macro-F1 of it


def test_variants_are_compared_with_the_first(records, make, paper):
    experiment = make(metrics=["val_accuracy"], rows=["ft-gcl", "f-gcl", "raw"], paper=None)
    findings = records.keep(experiment, scores)
    (table,) = ablation_tables(findings, percent_columns(findings, paper))
    first = {title: of_row[0] for title, of_row in cells_of(table).items()}
    assert [first[title].below for title in ("FT-GCL", "F-GCL", "Raw features")] == [
        ("base",),
        ("−1.21",),
        ("−24.21",),
    ]
    assert [first[title].star for title in ("FT-GCL", "F-GCL", "Raw features")] == [False, True, True]
    assert table.caption == "Validation accuracy in percent, 5 splits × 2 runs"


def test_variants_have_stars_only_if_the_first_is_the_reference(records, make, paper):
    experiment = make(metrics=["val_accuracy"], rows=["f-gcl", "ft-gcl"], paper=None)
    findings = records.keep(experiment, scores)
    (table,) = ablation_tables(findings, percent_columns(findings, paper))
    assert not any(cell.star for of_row in cells_of(table).values() for cell in of_row)
    assert table.notes == ()


def test_homophily_table_has_a_row_for_each_data_set(records, of_each_kind, paper):
    experiment = next(each for each in of_each_kind if each.name == "homophily")
    findings = records.keep(
        experiment, lambda trial: dict.fromkeys(experiment.metrics, 0.25) if trial.dataset == "Texas" else None
    )
    (table,) = homophily_tables(findings, homophily_columns(findings, paper))
    assert [heading.group for heading in table.headings] == ["graph", "feature", "topology", "near walks"]
    assert [cell.text for cell in cells_of(table)["Texas"]] == ["0.250"] * 4
    assert [cell.below for cell in cells_of(table)["Texas"]] == [
        ("0.108, +0.142",),
        ("0.657, −0.407",),
        ("0.530, −0.280",),
        (),
    ]
    assert [cell.text for cell in cells_of(table)["Actor"]] == ["not run"] * 4


def test_row_with_its_own_number_of_runs_has_a_note(records, make, paper):
    variants = {"printed": {"method": "ft-gcl", "title": "As printed", "seeds": 3}}
    experiment = make(rows=["raw", "printed"], variants=variants, splits=1, reference="raw")
    (table,) = laid_out(records.keep(experiment), paper)
    assert [(line.title, line.note) for line in table.lines[:2]] == [
        ("Raw features", ""),
        ("As printed", "3 runs each"),
    ]
    assert table.caption == "Accuracy in percent, 1 split × 2 runs"


def test_number_of_runs_may_depend_on_the_data_set(records, make, paper):
    variants = {"dgi": {"method": "dgi", "seeds": {"Cora": 1}, "without": {"CiteSeer": "takes a day"}}}
    (table,) = laid_out(records.keep(make(rows=["dgi", "ft-gcl"], variants=variants)), paper)
    first, second = cells_of(table)["DGI"]
    assert first.below[-1] == "1 run"
    assert (second.text, second.below[-1]) == ("–", "takes a day")
    assert all("run" not in " ".join(cell.below) for cell in cells_of(table)["FT-GCL"])


def test_reference_is_ranked_among_other_methods(records, make, paper):
    variants = {"printed": {"method": "ft-gcl", "title": "As printed"}}
    means = {"raw": 0.6, "f-gcl": 0.9, "dgi": 0.8, "ft-gcl": 0.7, "printed": 0.95}

    def some(trial):
        return (
            None
            if (trial.dataset, trial.row_name) == ("CiteSeer", "f-gcl")
            else {"accuracy": [means[trial.row_name]] * 5}
        )

    (table,) = laid_out(records.keep(make(rows=[*means], variants=variants), some), paper)
    assert [cell.text for cell in cells_of(table)["FT-GCL's rank"]] == ["3 of 4", "2 of 3"]


GRID = {"show": "heatmap", "rows": [], "grid_row": {"method": "ft-gcl"}, "paper": None, "datasets": ["Cora"]}


def test_grid_has_one_setting_down_and_one_across(records, make, paper):
    experiment = make(grid={"encoder.n_components": [8, 16], "head.out_channels": [4, 8, 16]}, **GRID)

    def figures(trial):
        changes = trial.row.set
        return {"accuracy": [changes["encoder.n_components"] / 100 + changes["head.out_channels"] / 1000] * 5}

    findings = records.keep(experiment, figures)
    (table,) = grid_tables(findings, percent_columns(findings, paper))
    assert table.corner == "encoder.n_components ↓ head.out_channels →"
    assert table.caption == "Cora: accuracy in percent, 5 splits × 2 runs"
    assert [heading.group for heading in table.headings] == ["4", "8", "16"]
    assert {line.title: [cell.text for cell in line.cells] for line in table.lines} == {
        "8": ["8.40", "8.80", "9.60"],
        "16": ["16.40", "16.80", "17.60"],
    }
    assert table.lines[1].cells[2].rank == 1


def test_grid_of_one_setting_is_an_error(records, make, paper):
    findings = records.keep(make(grid={"encoder.n_components": [8, 16]}, **GRID))
    with pytest.raises(ParameterError, match="a grid of two settings; small has 1"):
        grid_tables(findings, percent_columns(findings, paper))


def test_curve_table_has_a_line_for_each_mark(records, make):
    experiment = make(task="curve", show="curves", marks=[4, 0, 2], datasets=["Cora"], rows=["ft-gcl"], splits=2)

    def figures(trial):
        accuracy = [[0.5, 0.5], [0.7, 0.8], [0.6, 0.7]]
        return {"marks": [0, 2, 4], "loss": [4.0 + trial.seed, 3.0, 2.0, 1.0 + trial.seed], "accuracy": accuracy}

    shown = training_curves(records.keep(experiment, figures))
    curve = shown["Cora", "ft-gcl"]
    assert curve.accuracy.shape == (2, 3, 2)
    assert curve.accuracy_at(2) == pytest.approx((75, 5))
    assert [curve.loss_at(mark) for mark in curve.marks] == [None, 3.0, 1.5]
    (table,) = curve_tables(shown)
    assert table.caption == "Cora: loss, and accuracy in percent, 2 splits × 2 runs"
    assert [(line.title, *(cell.text for cell in line.cells)) for line in table.lines] == [
        ("0", "50.00 ± 0.00", "–"),
        ("2", "75.00 ± 5.00", "3.000"),
        ("4", "65.00 ± 5.00", "1.500"),
    ]
    assert [line.cells[0].rank for line in table.lines] == [0, 1, 0]


def test_cost_table_lists_trained_rows(records, make):
    table = cost_table(records.keep(make(rows=["raw", "untrained", "f-gcl", "ft-gcl"])))
    assert [line.title for line in table.lines] == ["F-GCL", "FT-GCL"]
    assert table.lines[0].cells[0].text == "2.5 s, 812 MB"
    assert table.caption.endswith("on 1 thread")


@pytest.mark.parametrize(("seconds", "text"), [(1234.5, "1,234 s"), (12.34, "12.3 s"), (0.123, "0.12 s")])
def test_short_times_have_more_digits(records, make, seconds, text):
    table = cost_table(records.keep(make(seeds=1), seconds={"embed": seconds}))
    assert table.lines[0].cells[0].text == f"{text}, 812 MB"


def test_unknown_memory_is_omitted(records, make):
    findings = records.keep(make(seeds=1), peak_memory=None, threads=4, seconds={"embed": 1234.5})
    table = cost_table(findings)
    assert table.lines[0].cells[0].text == "1,234 s"
    assert table.caption.endswith("on 4 threads")


def test_no_cost_table_without_training(records, make):
    assert cost_table(records.keep(make(rows=["raw"]))) is None
    assert cost_table(records.keep(make(name="other"), seconds={"evaluate": 1.0})) is None
