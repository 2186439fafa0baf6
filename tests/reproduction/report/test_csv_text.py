"""Results as CSV."""

from __future__ import annotations

import csv
import io

from reproduction.report.cells import percent_columns, training_curves
from reproduction.report.csv_text import cells_to_csv, curves_to_csv


def read(text):
    return list(csv.DictReader(io.StringIO(text)))


def two_rows(trial):
    mean = {"raw": 0.6, "ft-gcl": 0.8421}[trial.row_name]
    return {"accuracy": [mean - 0.01, mean, mean, mean, mean + 0.01]}


def test_csv_has_a_line_for_each_cell(records, make, paper):
    findings = records.keep(make(), two_rows)
    lines = read(cells_to_csv(findings, percent_columns(findings, paper)))
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
        "runs": "2",
        "splits": "5",
        "paper": "84.07",
        "paper_deviation": "0.58",
        "difference": "0.14",
        "rank": "1",
        "star": "",
        "seconds": "2.5",
        "peak_memory_mb": "812",
        "command": "python -m reproduction run small --only Cora --row ft-gcl",
    }
    assert (lines[0]["rank"], lines[0]["star"]) == ("2", "yes")
    assert (lines[2]["mean"], lines[2]["values"], lines[2]["paper"], lines[2]["command"]) == ("", "0", "83.61", "")


def test_csv_has_no_line_without_a_figure(records, make, paper):
    findings = records.keep(make(reported_as={"Cora": "", "CiteSeer": ""}), two_rows)
    assert [line["row"] for line in read(cells_to_csv(findings, percent_columns(findings, paper)))] == [
        *("Raw features", "FT-GCL"),
        *("Raw features", "FT-GCL"),
    ]


def test_csv_has_a_line_for_each_mark(records, make):
    experiment = make(task="curve", show="curves", marks=[0, 5], datasets=["Cora"], rows=["ft-gcl"])
    findings = records.keep(
        experiment, lambda _: {"marks": [0, 5], "loss": [5, 4, 3, 2, 1.5], "accuracy": [[0.5] * 5, [0.75] * 5]}
    )
    lines = read(curves_to_csv(findings, training_curves(findings)))
    assert [(line["epoch"], line["accuracy"], line["deviation"], line["loss"]) for line in lines] == [
        ("0", "50.00", "0.00", ""),
        ("5", "75.00", "0.00", "1.5000"),
    ]
    assert (lines[0]["runs"], lines[0]["splits"]) == ("2", "5")
