"""Cells gather what records hold, and no more."""

from __future__ import annotations

import numpy as np
import pytest

from graphprox import ReadError
from graphprox.experiments.report.cells import columns_of, homophily_columns, per_split
from graphprox.experiments.report.paper import Reported

ROWS = ["raw", "f-gcl", "t-gcl", "ft-gcl"]


def constant(means, spread=0.001):
    """Figures of a trial whose mean over splits is that of its row, with a spread over splits and none over seeds."""
    steps = spread * np.arange(-2, 3)
    return lambda trial: {"accuracy": (means[trial.row_name] + steps).tolist()}


def test_mean_and_deviation_are_over_all_trainings_and_splits(results, make, paper):
    def figures(trial):
        return {"accuracy": [0.80, 0.82, 0.84, 0.86, 0.88 + 0.01 * trial.seed]}

    columns = columns_of(results.keep(make(), figures), paper)
    raw, ours, _ = columns["Cora", "accuracy"]
    values = 100 * np.array([[0.80, 0.82, 0.84, 0.86, 0.88], [0.80, 0.82, 0.84, 0.86, 0.89]])
    assert ours.values == pytest.approx(values)
    assert ours.mean == pytest.approx(round(values.mean(), 2))
    assert ours.deviation == pytest.approx(values.std())
    assert (ours.wanted, raw.wanted, len(raw.values)) == (2, 1, 1)
    assert per_split(ours) == pytest.approx([80, 82, 84, 86, 88.5])


def test_the_papers_figure_stands_beside_and_alone(results, make, paper):
    columns = columns_of(results.keep(make(), constant({"raw": 0.6, "ft-gcl": 0.8421})), paper)
    raw, ours, dgi = columns["Cora", "accuracy"]
    assert ours.reported == Reported(84.07, 0.58)
    assert ours.difference == pytest.approx(0.14)
    assert raw.reported is None
    assert raw.difference is None
    assert (dgi.title, dgi.row, dgi.measured, dgi.reported) == ("DGI", "", False, Reported(83.61, 0.7))
    assert columns["CiteSeer", "accuracy"][2].reported == Reported(70.24)


def test_a_data_set_may_have_another_name_in_the_paper_or_none(results, make, paper):
    experiment = make(reported_as={"Cora": "", "CiteSeer": "Cora"})
    columns = columns_of(results.keep(experiment), paper)
    assert [cell.reported for cell in columns["Cora", "accuracy"]] == [None, None, None]
    assert columns["CiteSeer", "accuracy"][1].reported == Reported(84.07, 0.58)


def test_champion_and_runner_up_are_the_best_that_were_measured(results, make, paper):
    means = {"raw": 0.60, "f-gcl": 0.80, "t-gcl": 0.81, "ft-gcl": 0.82}

    def figures(trial):
        return None if trial.row_name == "ft-gcl" and trial.dataset == "Cora" else constant(means)(trial)

    columns = columns_of(results.keep(make(rows=ROWS), figures), paper)
    assert [cell.place for cell in columns["Cora", "accuracy"]] == [0, 2, 1, 0, 0]  # DGI's 83.61 does not compete
    assert [cell.place for cell in columns["CiteSeer", "accuracy"]] == [0, 0, 2, 1, 0]


def test_rows_that_show_the_same_figure_share_a_place(results, make, paper):
    means = {"raw": 0.60, "f-gcl": 0.82001, "t-gcl": 0.81, "ft-gcl": 0.82}
    columns = columns_of(results.keep(make(rows=ROWS), constant(means)), paper)
    assert [cell.place for cell in columns["Cora", "accuracy"]][:4] == [0, 1, 2, 1]


def test_one_row_alone_is_no_champion(results, make, paper):
    columns = columns_of(results.keep(make(rows=["ft-gcl"])), paper)
    assert columns["Cora", "accuracy"][0].place == 0


def test_a_star_tells_of_a_difference_from_the_reference(results, make, paper):
    means = {"raw": 0.60, "f-gcl": 0.82, "t-gcl": 0.8201, "ft-gcl": 0.82}
    steps = {"raw": 0.001, "f-gcl": 0.001, "t-gcl": 0.004, "ft-gcl": 0.001}
    findings = results.keep(make(rows=ROWS), lambda trial: constant(means, steps[trial.row_name])(trial))
    assert [cell.star for cell in columns_of(findings, paper)["Cora", "accuracy"]][:4] == [True, False, False, False]


@pytest.mark.parametrize("changes", [{"splits": 4}, {"reference": "grace"}])
def test_without_splits_enough_or_without_the_reference_there_is_no_star(results, make, paper, changes):
    splits = changes.get("splits", 5)
    findings = results.keep(make(**changes), lambda trial: {"accuracy": [0.5 + 0.1 * len(trial.row_name)] * splits})
    assert not any(cell.star for cell in columns_of(findings, paper)["Cora", "accuracy"])


def test_a_row_may_leave_out_a_data_set(results, make, paper):
    variants = {"printed": {"method": "ft-gcl", "title": "as printed", "without": {"Cora": "too large"}}}
    columns = columns_of(results.keep(make(rows=["raw", "printed"], variants=variants)), paper)
    assert [(cell.measured, cell.wanted) for cell in columns["Cora", "accuracy"][:2]] == [(True, 1), (False, 0)]


def test_a_record_without_the_metric_is_told(results, make, paper):
    findings = results.keep(make(), lambda _: {"macro_f1": [0.5] * 5})
    with pytest.raises(ReadError, match=r"small/Cora/raw/0\.json must hold accuracy.*it holds macro_f1: delete it"):
        columns_of(findings, paper)


def test_homophily_is_a_share_beside_the_papers(results, of_each_kind, paper):
    experiment = next(each for each in of_each_kind if each.name == "homophily")
    columns = homophily_columns(results.keep(experiment), paper)
    (graph,) = columns["Texas", "graph"]
    assert (graph.mean, graph.deviation, graph.difference) == (0.108, None, 0.0)
    (feature,) = columns["Texas", "feature"]
    assert feature.difference == pytest.approx(feature.mean - 0.657)
    assert feature.deviation > 0
    assert columns["Actor", "feature"][0].reported is None
    assert columns["Texas", "near walks"][0].reported is None
