"""Figures reported by the paper, and their file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from graphprox import ParameterError, ReadError
from reproduction.report.paper import Paper, ReportedFigure

FILE = Path(__file__).resolve().parents[3] / "reproduction" / "experiments" / "paper.toml"


def test_file_has_all_tables_of_the_paper():
    paper = Paper.read(FILE)
    sizes = {
        name: sum(map(len, paper.table(name).values())) for name in paper.tables if name not in ("homophily", "hyper")
    }
    assert sizes == {
        "node_classification_random": 19 * 3,
        "node_classification_more": 19 * 4,
        "node_classification_disassortative": 14 * 4,
        "node_classification_public": 13 * 3,
        "link_prediction": 8 * 2,
    }


@pytest.mark.parametrize(
    ("names", "figure"),
    [
        (("node_classification_random", "FT-GCL", "Cora", "macro_f1"), ReportedFigure(82.95, 0.79)),
        (("node_classification_random", "Raw features", "PubMed", "accuracy"), ReportedFigure(84.75, 0.27)),
        (("node_classification_more", "GRACE", "DBLP", "accuracy"), ReportedFigure(84.45, 0.19)),
        (("node_classification_disassortative", "Geom-GCN-P", "Texas", "accuracy"), ReportedFigure(67.57)),
        (("node_classification_public", "T-GCL", "CiteSeer", "accuracy"), ReportedFigure(73.3, 0.2)),
        (("link_prediction", "FT-GCL", "CiteSeer", "ap"), ReportedFigure(94.95, 0.59)),
        (("homophily", "Wisconsin", "topology"), ReportedFigure(0.337)),
        (("link_prediction", "FT-GCL", "PubMed", "ap"), None),
        (("link_prediction", "FT-GCL", "Cora", "accuracy"), None),
    ],
)
def test_figures_equal_those_of_the_paper(names, figure):
    assert Paper.read(FILE).figure(*names) == figure


def test_every_figure_of_the_file_can_be_read():
    paper = Paper.read(FILE)
    tables = [name for name in paper.tables if name not in ("homophily", "hyper")]
    read = [
        paper.figure(table, method, dataset, metric)
        for table in tables
        for method, datasets in paper.table(table).items()
        for dataset, metrics in datasets.items()
        for metric in metrics
    ]
    assert all(figure is not None and 20 < figure.mean < 100 for figure in read)


def test_unknown_table_is_an_error(tmp_path):
    with pytest.raises(ParameterError, match=r"paper must name a table.*did you mean 'link_prediction'"):
        Paper.read(FILE).figure("links_prediction", "FT-GCL")
    with pytest.raises(ParameterError, match=re.escape("there is no paper.toml")):
        Paper.read(tmp_path / "paper.toml").table("random")


def test_invalid_file_is_an_error(tmp_path):
    with pytest.raises(ReadError, match=r"links\.FT-GCL must be a mean, or a mean and a deviation; got 'high'"):
        Paper({"links": {"FT-GCL": "high"}}).figure("links", "FT-GCL")
    (tmp_path / "paper.toml").write_text("links = {")
    with pytest.raises(ReadError, match="must be TOML"):
        Paper.read(tmp_path / "paper.toml")
