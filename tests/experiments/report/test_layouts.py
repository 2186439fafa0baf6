"""Which cells stand where."""

from __future__ import annotations

import numpy as np
import pytest

from graphprox.experiments.report.cells import columns_of, homophily_columns
from graphprox.experiments.report.layouts import MOST_COLUMNS, PAPER_ONLY, ablation, homophily
from graphprox.experiments.report.layouts import results as results_of


def entries(table):
    return {line.title: line.entries for line in table.lines}


def laid_out(findings, paper):
    return results_of(findings, columns_of(findings, paper))


def figures(trial):
    means = {"raw": 0.60, "f-gcl": 0.83, "ft-gcl": 0.8421}
    return {name: (means[trial.row_name] + 0.01 * np.arange(-2, 3)).tolist() for name in trial.experiment.metrics}


def test_ours_the_papers_and_the_difference(results, make, paper):
    (table,) = laid_out(results.keep(make(), figures), paper)
    assert [heading.group for heading in table.headings] == ["Cora", "CiteSeer"]
    assert [line.title for line in table.lines] == ["Raw features", "FT-GCL", PAPER_ONLY, "DGI"]
    ours = entries(table)["FT-GCL"]
    assert (ours[0].text, ours[0].below, ours[0].place) == ("84.21 ± 1.41", ("84.07, +0.14",), 1)
    assert ours[1].below == ("72.52, +11.69",)
    assert entries(table)["DGI"][0].text == "83.61 ± 0.70"
    assert entries(table)["DGI"][1].text == "70.24"
    assert (entries(table)["Raw features"][0].star, ours[0].star) == (True, False)
    assert table.notes == ("★ differs from FT-GCL.",)
    assert table.caption == "Accuracy in percent, 5 splits × 2 trainings"


def test_a_row_says_how_many_trainings_it_has_of_how_many(results, make, paper):
    def some(trial):
        few = {"Cora": 3, "CiteSeer": 0}[trial.dataset]
        return figures(trial) if trial.row_name == "raw" or trial.seed < few else None

    (table,) = laid_out(results.keep(make(seeds=10), some), paper)
    first, second = entries(table)["FT-GCL"]
    assert first.below == ("84.07, +0.14", "3 of 10 trainings")
    assert (second.text, second.below) == ("–", ("72.52", "0 of 10 trainings"))
    assert all(not entry.below for entry in entries(table)["Raw features"])


@pytest.mark.parametrize(("why", "said"), [({"Cora": "too large"}, "not run: too large"), ({}, "not run")])
def test_a_data_set_without_records_says_so_above_its_column(results, make, paper, why, said):
    experiment = make(not_run=why)
    findings = results.keep(experiment, lambda trial: None if trial.dataset == "Cora" else figures(trial))
    (table,) = laid_out(findings, paper)
    assert [heading.note for heading in table.headings] == [said, ""]
    first = entries(table)["FT-GCL"][0]
    assert (first.text, first.below) == ("–", ("84.07",))


def test_metrics_share_a_table_until_it_is_too_wide(results, make, paper):
    (table,) = laid_out(results.keep(make(metrics=["accuracy", "macro_f1"]), figures), paper)
    assert [(each.group, each.name) for each in table.headings] == [
        ("Cora", "accuracy"),
        ("Cora", "macro-F1"),
        ("CiteSeer", "accuracy"),
        ("CiteSeer", "macro-F1"),
    ]
    assert table.caption == "Accuracy and macro-F1 in percent, 5 splits × 2 trainings"
    many = make(name="wide", metrics=["accuracy", "macro_f1"], datasets=["Cora", "CiteSeer", "ACM", "DBLP"])
    tables = laid_out(results.keep(many, figures), paper)
    assert [table.caption for table in tables] == [
        "Accuracy in percent, 5 splits × 2 trainings",
        "Macro-F1 in percent, 5 splits × 2 trainings",
    ]
    assert all(len(table.headings) == 4 <= MOST_COLUMNS and not table.headings[0].name for table in tables)
    assert [line.title for line in tables[1].lines] == ["Raw features", "FT-GCL"]  # the paper has no macro-F1 of it


def test_variants_are_held_against_the_first(results, make, paper):
    experiment = make(metrics=["validation_accuracy"], rows=["ft-gcl", "f-gcl", "raw"], paper=None)
    findings = results.keep(experiment, figures)
    (table,) = ablation(findings, columns_of(findings, paper))
    first = {title: of_row[0] for title, of_row in entries(table).items()}
    assert [first[title].below for title in ("FT-GCL", "F-GCL", "Raw features")] == [
        ("base",),
        ("−1.21",),
        ("−24.21",),
    ]
    assert [first[title].star for title in ("FT-GCL", "F-GCL", "Raw features")] == [False, True, True]
    assert table.caption == "Validation accuracy in percent, 5 splits × 2 trainings"


def test_variants_have_stars_only_against_the_first(results, make, paper):
    experiment = make(metrics=["validation_accuracy"], rows=["f-gcl", "ft-gcl"], paper=None)
    findings = results.keep(experiment, figures)
    (table,) = ablation(findings, columns_of(findings, paper))
    assert not any(entry.star for of_row in entries(table).values() for entry in of_row)
    assert table.notes == ()


def test_homophily_has_a_row_for_each_data_set(results, of_each_kind, paper):
    experiment = next(each for each in of_each_kind if each.name == "homophily")
    findings = results.keep(
        experiment, lambda trial: dict.fromkeys(experiment.metrics, 0.25) if trial.dataset == "Texas" else None
    )
    (table,) = homophily(findings, homophily_columns(findings, paper))
    assert [heading.group for heading in table.headings] == ["graph", "feature", "topology", "near walks"]
    assert [entry.text for entry in entries(table)["Texas"]] == ["0.250"] * 4
    assert [entry.below for entry in entries(table)["Texas"]] == [
        ("0.108, +0.142",),
        ("0.657, −0.407",),
        ("0.530, −0.280",),
        (),
    ]
    assert [entry.text for entry in entries(table)["Actor"]] == ["not run"] * 4


def test_a_row_of_other_trainings_than_the_rest_says_so(results, make, paper):
    variants = {"printed": {"method": "ft-gcl", "title": "As printed", "seeds": 3}}
    experiment = make(rows=["raw", "printed"], variants=variants, splits=1, reference="raw")
    (table,) = laid_out(results.keep(experiment), paper)
    assert [(line.title, line.note) for line in table.lines[:2]] == [
        ("Raw features", ""),
        ("As printed", "3 trainings each"),
    ]
    assert table.caption == "Accuracy in percent, 1 split × 2 trainings"


def test_a_row_may_have_other_trainings_on_one_data_set_and_none_on_another(results, make, paper):
    variants = {"dgi": {"method": "dgi", "seeds": {"Cora": 1}, "without": {"CiteSeer": "takes a day"}}}
    (table,) = laid_out(results.keep(make(rows=["dgi", "ft-gcl"], variants=variants)), paper)
    first, second = entries(table)["DGI"]
    assert first.below[-1] == "1 training"
    assert (second.text, second.below[-1]) == ("–", "takes a day")
    assert all("training" not in " ".join(entry.below) for entry in entries(table)["FT-GCL"])


def test_the_last_line_tells_the_rank_of_the_reference_among_other_methods(results, make, paper):
    variants = {"printed": {"method": "ft-gcl", "title": "As printed"}}
    means = {"raw": 0.6, "f-gcl": 0.9, "dgi": 0.8, "ft-gcl": 0.7, "printed": 0.95}

    def some(trial):
        return (
            None
            if (trial.dataset, trial.row_name) == ("CiteSeer", "f-gcl")
            else {"accuracy": [means[trial.row_name]] * 5}
        )

    (table,) = laid_out(results.keep(make(rows=[*means], variants=variants), some), paper)
    assert [entry.text for entry in entries(table)["FT-GCL's rank"]] == ["3 of 4", "2 of 3"]
