"""Where FT-GCL falls short of the paper, and what was tried for it."""

from __future__ import annotations

from collections.abc import Sequence

from graphprox.experiments.report.cells import Cell
from graphprox.experiments.report.numbers import anchor, counted, metric_name, signed, with_deviation
from graphprox.experiments.report.sections import VALIDATION, Section
from graphprox.experiments.report.table import Entry, Heading, Line, Table, as_markdown
from graphprox.methods.family import FAMILY

FT_GCL = FAMILY["ft-gcl"].title


def below_the_paper(sections: Sequence[Section]) -> str:
    """The cells in which FT-GCL falls short of the paper, of all in which they can be compared."""
    compared = [
        (section.findings.experiment.name, cell)
        for section in sections
        for cell in section.cells
        if cell.title == FT_GCL
    ]
    if not compared:
        return "No figure of the paper's has been measured yet."
    short = [(name, cell) for name, cell in compared if (cell.difference or 0) < 0]
    said = f"{FT_GCL} is held against the paper in {counted(len(compared), 'cell')}, and falls short of it in "
    if not short:
        return f"{said}none."
    headings = tuple(map(Heading, ("data set", "row", "metric", "ours", "paper", "difference")))
    lines = tuple(Line(name, tuple(map(Entry, _compared(cell)))) for name, cell in short)
    return as_markdown(Table(f"{said}{len(short)}", headings, lines, corner="experiment"))


def _compared(cell: Cell) -> list[str]:
    reported = cell.reported
    if reported is None:
        return []
    return [
        cell.dataset,
        cell.title,
        metric_name(cell.metric),
        with_deviation(cell.mean, cell.deviation, cell.digits),
        with_deviation(reported.mean, reported.deviation, cell.digits),
        signed(cell.difference or 0.0, cell.digits),
    ]


def what_was_tried(sections: Sequence[Section]) -> list[str]:
    """For each data set on whose validation nodes variants were compared, how many do better, and the best of them."""
    return [
        text for section in sections if section.findings.experiment.metrics == VALIDATION for text in _tried(section)
    ]


def _tried(section: Section) -> list[str]:
    columns = section.columns or {}
    lines = [f"- {dataset}: {_of_variants(cells)}" for (dataset, _), cells in columns.items() if cells[0].measured]
    title = section.findings.experiment.title
    said = f"What was tried, one thing at a time on validation nodes ([{title}](#{anchor(title)})):"
    return [said, "\n".join(lines)] if lines else []


def _of_variants(cells: Sequence[Cell]) -> str:
    """How the first cell's variants, the others, do beside it."""
    base, variants = cells[0], [cell for cell in cells[1:] if cell.measured]
    better = sorted((cell for cell in variants if cell.mean > base.mean), key=lambda cell: -cell.mean)
    tried = counted(len(variants), "variant")
    if not better:
        return f"{tried}, none better than {base.title}."
    sure = sum(cell.star for cell in better)
    by = round(better[0].mean - base.mean, base.digits)
    return (
        f"{tried}, {len(better)} better than {base.title}, {sure or 'none'} of them by the paired test; "
        f"the best: {better[0].title}, {signed(by, base.digits)}."
    )
