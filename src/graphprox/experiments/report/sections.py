"""Sections: all that is shown of one experiment, by the manner in which it asks to be shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphprox.experiments.report import drawings, figure_tables, layouts
from graphprox.experiments.report.cells import Cell, Column, columns_of, homophily_columns
from graphprox.experiments.report.curves import curves_of
from graphprox.experiments.report.findings import Findings
from graphprox.experiments.report.listing import cells_as_csv, curves_as_csv
from graphprox.experiments.report.paper import Paper
from graphprox.experiments.report.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VALIDATION = ("validation_accuracy",)


@dataclass(frozen=True, eq=False)
class Section:
    """The tables, the listing and the figure of an experiment, as far as it has them; and its cells."""

    findings: Findings
    tables: Sequence[Table] = ()
    listing: str = ""
    figure: Figure | None = None
    columns: Mapping[Column, Sequence[Cell]] | None = None

    @property
    def cells(self) -> list[Cell]:
        """Every cell that was measured and is held against the paper's."""
        columns = self.columns or {}
        return [cell for cells in columns.values() for cell in cells if cell.difference is not None]


def section_of(findings: Findings, paper: Paper) -> Section:
    """What is shown of an experiment; nothing where it has no records."""
    if not findings.records:
        return Section(findings)
    return SHOWN[findings.experiment.show](findings, paper)


def _table(findings: Findings, paper: Paper) -> Section:
    columns = columns_of(findings, paper)
    lay_out = layouts.ablation if findings.experiment.metrics == VALIDATION else layouts.results
    return Section(findings, lay_out(findings, columns), cells_as_csv(findings, columns), columns=columns)


def _bars(findings: Findings, paper: Paper) -> Section:
    columns = columns_of(findings, paper)
    listing, drawn = cells_as_csv(findings, columns), drawings.bars(findings, columns)
    return Section(findings, layouts.results(findings, columns), listing, drawn, columns)


def _heatmap(findings: Findings, paper: Paper) -> Section:
    columns = columns_of(findings, paper)
    tables = figure_tables.grid(findings, columns)  # first, as it refuses a grid that cannot be drawn
    return Section(findings, tables, cells_as_csv(findings, columns), drawings.heatmap(findings, columns))


def _curves(findings: Findings, paper: Paper) -> Section:  # noqa: ARG001 - the paper prints no numbers of it
    shown = curves_of(findings)
    return Section(findings, figure_tables.curves(shown), curves_as_csv(findings, shown), drawings.curves(shown))


def _homophily(findings: Findings, paper: Paper) -> Section:
    columns = homophily_columns(findings, paper)
    return Section(findings, layouts.homophily(findings, columns), cells_as_csv(findings, columns))


def _map(findings: Findings, paper: Paper) -> Section:  # noqa: ARG001 - a picture has no numbers
    return Section(findings, figure=drawings.embedding_map(findings))


def _barbell(findings: Findings, paper: Paper) -> Section:  # noqa: ARG001 - a picture has no numbers
    return Section(findings, figure=drawings.barbell_of(findings))


SHOWN: dict[str, Callable[[Findings, Paper], Section]] = {
    "table": _table,
    "bars": _bars,
    "heatmap": _heatmap,
    "curves": _curves,
    "homophily": _homophily,
    "map": _map,
    "barbell": _barbell,
}
