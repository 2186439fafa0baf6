"""Statistics of records."""

from __future__ import annotations

import numpy as np
import pytest

from graphprox import ReadError
from graphprox.model_selection.significance import paired_p_value
from reproduction.report.cells import (
    cost_of,
    gather,
    homophily_columns,
    percent_columns,
    significantly_different,
)
from reproduction.report.paper import ReportedFigure


def test_records_are_grouped_by_data_set_and_row(records, make):
    findings = records.keep(make(), lambda trial: {"accuracy": [0.8] * 5} if trial.seed == 0 else None)
    assert {place: len(records) for place, records in findings.records.items()} == {
        ("Cora", "raw"): 1,
        ("Cora", "ft-gcl"): 1,
        ("CiteSeer", "raw"): 1,
        ("CiteSeer", "ft-gcl"): 1,
    }
    assert findings.expected["Cora", "raw"] == 1
    assert findings.expected["Cora", "ft-gcl"] == 2
    assert findings.commands["Cora", "ft-gcl"] == "python -m reproduction run small --only Cora --row ft-gcl"
    assert findings.unused == ()


def test_records_of_other_settings_are_unused(records, make):
    records.keep(make())
    findings = gather(records.folder, make(splits=6, rows=["raw"]))
    assert findings.records == {}
    assert len(findings.unused) == 6
    assert findings.unused[0] == ("CiteSeer", "ft-gcl", 0)


def test_data_set_that_was_not_run_is_shown_with_its_reason(records, make):
    findings = records.keep(make(not_run={"Reddit": "too large"}))
    assert findings.datasets == ("Cora", "CiteSeer", "Reddit")
    assert [findings.is_run(dataset) for dataset in findings.datasets] == [True, True, False]
    assert findings.why_not_run("Reddit") == "not run: too large"
    assert findings.why_not_run("Cora") == "not run"


def test_damaged_record_is_an_error(records, make):
    records.keep(make())
    (records.folder / "small.jsonl").write_text("{\n")
    with pytest.raises(ReadError, match="must be a record"):
        gather(records.folder, make())


SPLITS = np.array([80.1, 81.4, 79.8, 80.9, 81.0, 80.2, 79.5, 80.7, 81.2, 80.4])
NOISE = np.array([0.3, -0.4, 0.1, 0.5, -0.2, -0.3, 0.4, -0.1, 0.2, -0.5])


def test_large_differences_are_significant_and_small_ones_are_not():
    rows = {"better": SPLITS + 1 + NOISE, "worse": SPLITS - 1 + NOISE, "alike": SPLITS + 0.02 + NOISE}
    assert significantly_different(SPLITS, rows) == {"better", "worse"}


def test_correction_makes_a_close_difference_insignificant():
    close = SPLITS + 0.28 + NOISE
    assert 0.01 < paired_p_value(SPLITS, close) < 0.05
    assert significantly_different(SPLITS, {"close": close}) == {"close"}
    alike = {f"alike {number}": SPLITS + np.roll(NOISE, number) for number in range(8)}
    assert significantly_different(SPLITS, {"close": close, **alike}) == set()


def test_few_or_other_splits_are_not_tested():
    better = SPLITS + 5 + NOISE
    assert significantly_different(SPLITS[:4], {"better": better[:4]}) == set()
    assert significantly_different(SPLITS[:5], {"better": better[:5]}) == {"better"}
    assert significantly_different(SPLITS, {"other splits": SPLITS[:9] + 5}) == set()


def test_false_positive_rate_is_controlled():
    rng = np.random.default_rng(0)
    alarms = 0
    for _ in range(200):
        reference = rng.normal(80, 1, 10)
        alarms += bool(significantly_different(reference, {str(each): rng.normal(80, 1, 10) for each in range(4)}))
    assert alarms / 200 < 0.08


ROWS = ["raw", "f-gcl", "t-gcl", "ft-gcl"]


def constant(means, spread=0.001):
    """Figures of a trial whose mean over splits is that of its row, with a spread over splits and none over seeds."""
    steps = spread * np.arange(-2, 3)
    return lambda trial: {"accuracy": (means[trial.row_name] + steps).tolist()}


def test_mean_and_deviation_are_over_all_runs_and_splits(records, make, paper):
    def figures(trial):
        return {"accuracy": [0.80, 0.82, 0.84, 0.86, 0.88 + 0.01 * trial.seed]}

    columns = percent_columns(records.keep(make(), figures), paper)
    raw, ours, _ = columns["Cora", "accuracy"]
    values = 100 * np.array([[0.80, 0.82, 0.84, 0.86, 0.88], [0.80, 0.82, 0.84, 0.86, 0.89]])
    assert ours.values == pytest.approx(values)
    assert ours.mean == pytest.approx(round(values.mean(), 2))
    assert ours.deviation == pytest.approx(values.std())
    assert (ours.expected, raw.expected, len(raw.values)) == (2, 1, 1)
    assert ours.split_means == pytest.approx([80, 82, 84, 86, 88.5])


def test_reported_figures_are_added_to_rows_and_as_rows(records, make, paper):
    columns = percent_columns(records.keep(make(), constant({"raw": 0.6, "ft-gcl": 0.8421})), paper)
    raw, ours, dgi = columns["Cora", "accuracy"]
    assert ours.reported == ReportedFigure(84.07, 0.58)
    assert ours.difference == pytest.approx(0.14)
    assert raw.reported is None
    assert raw.difference is None
    assert (dgi.title, dgi.row, dgi.measured, dgi.reported) == ("DGI", "", False, ReportedFigure(83.61, 0.7))
    assert columns["CiteSeer", "accuracy"][2].reported == ReportedFigure(70.24)


def test_data_set_may_have_another_name_in_the_paper_or_none(records, make, paper):
    experiment = make(reported_as={"Cora": "", "CiteSeer": "Cora"})
    columns = percent_columns(records.keep(experiment), paper)
    assert [cell.reported for cell in columns["Cora", "accuracy"]] == [None, None, None]
    assert columns["CiteSeer", "accuracy"][1].reported == ReportedFigure(84.07, 0.58)


def test_only_measured_rows_are_ranked(records, make, paper):
    means = {"raw": 0.60, "f-gcl": 0.80, "t-gcl": 0.81, "ft-gcl": 0.82}

    def figures(trial):
        return None if trial.row_name == "ft-gcl" and trial.dataset == "Cora" else constant(means)(trial)

    columns = percent_columns(records.keep(make(rows=ROWS), figures), paper)
    assert [cell.rank for cell in columns["Cora", "accuracy"]] == [
        0,
        2,
        1,
        0,
        0,
    ]  # the paper's 83.61 of DGI is not ranked
    assert [cell.rank for cell in columns["CiteSeer", "accuracy"]] == [0, 0, 2, 1, 0]


def test_equal_rounded_means_share_a_rank(records, make, paper):
    means = {"raw": 0.60, "f-gcl": 0.82001, "t-gcl": 0.81, "ft-gcl": 0.82}
    columns = percent_columns(records.keep(make(rows=ROWS), constant(means)), paper)
    assert [cell.rank for cell in columns["Cora", "accuracy"]][:4] == [0, 1, 2, 1]


def test_single_row_has_no_rank(records, make, paper):
    columns = percent_columns(records.keep(make(rows=["ft-gcl"])), paper)
    assert columns["Cora", "accuracy"][0].rank == 0


def test_star_marks_a_significant_difference_from_the_reference(records, make, paper):
    means = {"raw": 0.60, "f-gcl": 0.82, "t-gcl": 0.8201, "ft-gcl": 0.82}
    steps = {"raw": 0.002, "f-gcl": 0.001, "t-gcl": 0.004, "ft-gcl": 0.001}
    findings = records.keep(make(rows=ROWS), lambda trial: constant(means, steps[trial.row_name])(trial))
    assert [cell.star for cell in percent_columns(findings, paper)["Cora", "accuracy"]][:4] == [
        True,
        False,
        False,
        False,
    ]


@pytest.mark.parametrize("changes", [{"splits": 4}, {"reference": "grace"}])
def test_no_star_with_few_splits_or_without_the_reference(records, make, paper, changes):
    splits = changes.get("splits", 5)
    findings = records.keep(make(**changes), lambda trial: {"accuracy": [0.5 + 0.1 * len(trial.row_name)] * splits})
    assert not any(cell.star for cell in percent_columns(findings, paper)["Cora", "accuracy"])


def test_row_may_leave_out_a_data_set(records, make, paper):
    variants = {"printed": {"method": "ft-gcl", "title": "as printed", "without": {"Cora": "too large"}}}
    columns = percent_columns(records.keep(make(rows=["raw", "printed"], variants=variants)), paper)
    assert [(cell.measured, cell.expected) for cell in columns["Cora", "accuracy"][:2]] == [(True, 1), (False, 0)]


def test_record_without_the_metric_is_an_error(records, make, paper):
    findings = records.keep(make(), lambda _: {"macro_f1": [0.5] * 5})
    with pytest.raises(
        ReadError, match=r"record of small for Cora, raw, 0 must have accuracy; it has macro_f1: delete it"
    ):
        percent_columns(findings, paper)


def test_homophily_is_a_fraction_compared_with_the_reported_one(records, of_each_kind, paper):
    experiment = next(each for each in of_each_kind if each.name == "homophily")
    columns = homophily_columns(records.keep(experiment), paper)
    (graph,) = columns["Texas", "graph"]
    assert (graph.mean, graph.deviation, graph.difference) == (0.108, None, 0.0)
    (feature,) = columns["Texas", "feature"]
    assert feature.difference == pytest.approx(feature.mean - 0.657)
    assert feature.deviation > 0
    assert columns["Actor", "feature"][0].reported is None
    assert columns["Texas", "near walks"][0].reported is None


def test_cost_is_median_time_and_peak_memory(records, make):
    findings = records.keep(make(seeds=4))
    cost = cost_of(findings, "Cora", "ft-gcl")
    assert cost.seconds == pytest.approx((3 + 4) / 2)  # of 2, 3, 4 and 5
    assert cost.megabytes == pytest.approx(812.000003)
    assert cost.threads == (1,)


def test_link_prediction_costs_an_embedding_per_split(records, make):
    findings = records.keep(make(task="links", metrics=["auc"], seeds=1))
    assert cost_of(findings, "Cora", "ft-gcl").seconds == pytest.approx(2 / 5)


def test_processor_time_is_preferred_to_wall_clock_time(records, make):
    findings = records.keep(make(seeds=1), seconds={"embed": 90.0, "processor": 12.0})
    assert cost_of(findings, "Cora", "ft-gcl").seconds == pytest.approx(12)


def test_classifier_costs_a_training_run_per_split(records, make):
    findings = records.keep(make(rows=["gcn", "ft-gcl"], seeds=1))
    assert cost_of(findings, "Cora", "gcn").seconds == pytest.approx(2 / 5)
