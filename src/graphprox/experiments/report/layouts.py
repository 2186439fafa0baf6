"""Layouts: which cells stand where in a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from graphprox.experiments.report.cells import Cell, Column
from graphprox.experiments.report.findings import Findings
from graphprox.experiments.report.numbers import NONE, counted, metric_name, signed, with_deviation
from graphprox.experiments.report.table import STAR, Entry, Heading, Line, Table

MOST_COLUMNS = 6  # beside the titles: more do not fit a page, and each metric gets a table of its own
PAPER_ONLY = "paper only, not run here"

Columns = Mapping[Column, Sequence[Cell]]


# -- results beside the paper's -------------------------------------------------------------------------------------


def results(findings: Findings, columns: Columns) -> list[Table]:
    """Rows against data sets and metrics, the paper's figures small below ours; wide ones are a table per metric."""
    metrics = findings.experiment.metrics
    together = len(columns) <= MOST_COLUMNS
    groups = [metrics] if together else [(metric,) for metric in metrics]
    return [_results(findings, {at: cells for at, cells in columns.items() if at[1] in group}) for group in groups]


def _results(findings: Findings, columns: Columns) -> Table:
    ours = [line for line in _by_row(columns) if line[0].row]
    paper = [line for line in _by_row(columns) if not line[0].row and any(cell.reported for cell in line)]
    lines = [_line(findings, line[0], (entry_of(findings, cell) for cell in line)) for line in ours]
    lines += _rank(findings, columns)
    if paper:
        lines.append(Line(PAPER_ONLY))
        lines += [Line(line[0].title, tuple(map(_paper_entry, line))) for line in paper]
    return Table(
        _caption(findings, columns), _headings(findings, columns), tuple(lines), notes=_star_note(findings, lines)
    )


def _rank(findings: Findings, columns: Columns) -> list[Line]:
    """Where the reference stands in each column, among what was measured here; other rows of its method stand aside."""
    rows, reference = findings.experiment.all_rows, findings.experiment.reference
    if reference not in rows:
        return []
    aside = {name for name, row in rows.items() if row.method == rows[reference].method} - {reference}
    competing = [[cell for cell in cells if cell.measured and cell.row not in aside] for cells in columns.values()]
    if not any(len(cells) > 2 for cells in competing):
        return []
    return [Line(f"{rows[reference].title}'s rank", tuple(_rank_of(reference, cells) for cells in competing))]


def _rank_of(reference: str, cells: Sequence[Cell]) -> Entry:
    mean = next((cell.mean for cell in cells if cell.row == reference), None)
    if mean is None:
        return Entry(NONE)
    return Entry(f"{1 + sum(cell.mean > mean for cell in cells)} of {len(cells)}")


def ablation(findings: Findings, columns: Columns) -> list[Table]:
    """Variants against data sets, each with its difference from the first of them."""
    base = {at: cells[0] for at, cells in columns.items()}
    # A star tells of a difference from the reference; beside differences from another row it would mislead.
    starred = findings.experiment.reference == next(iter(findings.experiment.all_rows))

    def entry(at: Column, cell: Cell) -> Entry:
        text = _spread(cell) if cell.measured else NONE
        below = tuple(filter(None, (_from_base(cell, base[at]), _how_many(findings, cell))))
        return Entry(text, cell.place, cell.star and starred, below)

    lines = [
        _line(findings, line[0], (entry(at, cell) for at, cell in zip(columns, line, strict=True)))
        for line in _by_row(columns)
        if line[0].row
    ]
    return [
        Table(
            _caption(findings, columns), _headings(findings, columns), tuple(lines), notes=_star_note(findings, lines)
        )
    ]


def homophily(findings: Findings, columns: Columns) -> list[Table]:
    """Data sets against the graph and its views."""
    metrics = findings.experiment.metrics
    lines = [
        Line(dataset, tuple(_share_entry(findings, *columns[dataset, metric]) for metric in metrics))
        for dataset in findings.datasets
    ]
    return [Table("Share of edges within a class", tuple(map(Heading, metrics)), tuple(lines))]


def _by_row(columns: Columns) -> list[tuple[Cell, ...]]:
    return list(zip(*columns.values(), strict=True))


def _headings(findings: Findings, columns: Columns) -> tuple[Heading, ...]:
    several = len({metric for _, metric in columns}) > 1
    return tuple(
        Heading(
            dataset,
            metric_name(metric) if several else "",
            "" if findings.is_run(dataset) else findings.why_not_run(dataset),
        )
        for dataset, metric in columns
    )


def _star_note(findings: Findings, lines: Sequence[Line]) -> tuple[str, ...]:
    """What a star says, where there is any."""
    if not any(entry.star for line in lines for entry in line.entries):
        return ()
    experiment = findings.experiment
    return (f"{STAR} differs from {experiment.all_rows[experiment.reference].title}.",)


def _line(findings: Findings, first: Cell, entries: Iterable[Entry]) -> Line:
    """A row of the experiment, which says so if its trainings are more or fewer than those of the others."""
    seeds = findings.experiment.all_rows[first.row].seeds
    return Line(first.title, tuple(entries), f"{counted(seeds, 'training')} each" if isinstance(seeds, int) else "")


def _caption(findings: Findings, columns: Columns) -> str:
    names = list(dict.fromkeys(metric_name(metric) for _, metric in columns))
    joined = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    return f"{joined[0].upper()}{joined[1:]} in percent{how_often(findings, columns)}"


def how_often(findings: Findings, columns: Columns) -> str:
    """Over how many splits and trainings it was measured, to be put behind a caption."""
    splits = {cell.values.shape[1] for cells in columns.values() for cell in cells if cell.measured}
    each = " or ".join(map(str, sorted(splits)))
    return f", {each} split{'' if splits == {1} else 's'} × {counted(findings.experiment.seeds, 'training')}"


def entry_of(findings: Findings, cell: Cell) -> Entry:
    """What a cell shows: the mean, below it the paper's figure, and how many trainings there are where some miss."""
    text = _spread(cell) if cell.measured else NONE
    below = tuple(filter(None, (_beside_paper(cell), _how_many(findings, cell))))
    return Entry(text, cell.place, cell.star, below)


def _paper_entry(cell: Cell) -> Entry:
    if cell.reported is None:
        return Entry(NONE)
    return Entry(with_deviation(cell.reported.mean, cell.reported.deviation, cell.digits))


def _share_entry(findings: Findings, cell: Cell) -> Entry:
    if findings.is_run(cell.dataset):
        return entry_of(findings, cell)
    return Entry(findings.why_not_run(cell.dataset), below=tuple(filter(None, (_beside_paper(cell),))))


def _beside_paper(cell: Cell) -> str:
    if cell.reported is None:
        return ""
    reported = f"{cell.reported.mean:.{cell.digits}f}"
    return reported if cell.difference is None else f"{reported}, {signed(cell.difference, cell.digits)}"


def _from_base(cell: Cell, base: Cell) -> str:
    if not cell.measured or not base.measured:
        return ""
    return "base" if cell.row == base.row else signed(round(cell.mean - base.mean, cell.digits) + 0.0)


def _how_many(findings: Findings, cell: Cell) -> str:
    """How many trainings there are, where it is not all of them or not as many as elsewhere; or why there are none.

    A data set that was not run says so elsewhere.
    """
    row = findings.experiment.all_rows[cell.row]
    if not findings.is_run(cell.dataset):
        return ""
    if len(cell.values) < cell.wanted:
        return f"{len(cell.values)} of {cell.wanted} trainings"
    if isinstance(row.seeds, Mapping) and cell.dataset in row.seeds:
        return counted(cell.wanted, "training")
    return row.without.get(cell.dataset, "")


def _spread(cell: Cell) -> str:
    return with_deviation(cell.mean, cell.deviation, cell.digits)
