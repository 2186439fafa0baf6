"""Listings for programs."""

from __future__ import annotations

import csv
import io

from graphprox.experiments.report.cells import columns_of
from graphprox.experiments.report.curves import curves_of
from graphprox.experiments.report.listing import cells_as_csv, curves_as_csv


def read(text):
    return list(csv.DictReader(io.StringIO(text)))


def figures(trial):
    mean = {"raw": 0.6, "ft-gcl": 0.8421}[trial.row_name]
    return {"accuracy": [mean - 0.01, mean, mean, mean, mean + 0.01]}


def test_a_cell_is_a_line(results, make, paper):
    findings = results.keep(make(), figures)
    lines = read(cells_as_csv(findings, columns_of(findings, paper)))
    assert [(line["dataset"], line["row"]) for line in lines] == [
        *[("Cora", title) for title in ("Raw features", "FT-GCL", "DGI")],
        *[("CiteSeer", title) for title in ("Raw features", "FT-GCL", "DGI")],
    ]
    assert lines[1] == {
        "dataset": "Cora",
        "row": "FT-GCL",
        "metric": "accuracy",
        "mean": "84.21",
        "deviation": "0.63",
        "values": "10",
        "trainings": "2",
        "splits": "5",
        "paper": "84.07",
        "paper_deviation": "0.58",
        "difference": "0.14",
        "champion": "champion",
        "star": "",
        "seconds": "2.5",
        "peak_memory_mb": "812",
        "command": "graphprox run experiments/small.toml --only Cora --row ft-gcl",
    }
    assert (lines[0]["champion"], lines[0]["star"]) == ("runner-up", "yes")
    assert (lines[2]["mean"], lines[2]["values"], lines[2]["paper"], lines[2]["command"]) == ("", "0", "83.61", "")


def test_a_method_that_nobody_measured_is_no_line(results, make, paper):
    findings = results.keep(make(reported_as={"Cora": "", "CiteSeer": ""}), figures)
    assert [line["row"] for line in read(cells_as_csv(findings, columns_of(findings, paper)))] == [
        *("Raw features", "FT-GCL"),
        *("Raw features", "FT-GCL"),
    ]


def test_a_mark_is_a_line(results, make):
    experiment = make(task="curve", show="curves", marks=[0, 5], datasets=["Cora"], rows=["ft-gcl"])
    findings = results.keep(
        experiment, lambda _: {"marks": [0, 5], "loss": [5, 4, 3, 2, 1.5], "accuracy": [[0.5] * 5, [0.75] * 5]}
    )
    lines = read(curves_as_csv(findings, curves_of(findings)))
    assert [(line["step"], line["accuracy"], line["deviation"], line["loss"]) for line in lines] == [
        ("0", "50.00", "0.00", ""),
        ("5", "75.00", "0.00", "1.5000"),
    ]
    assert (lines[0]["trainings"], lines[0]["splits"]) == ("2", "5")
