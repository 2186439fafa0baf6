"""The page docs/baselines.md: what each method's own authors report, beside what is measured here by their protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from graphprox.experiments.report.cells import Cell
from graphprox.experiments.report.numbers import NONE, counted, metric_name, signed, with_deviation
from graphprox.experiments.report.paper import Paper
from graphprox.experiments.report.sections import Section
from graphprox.experiments.report.table import Entry, Heading, Line, Table, as_markdown
from graphprox.experiments.report.words import MADE_BY
from graphprox.methods.registry import METHODS

SOURCES, NOTES = (
    "sources",
    "notes",
)  # what it holds beside figures: where they stand, and what is to be said of a method
NEAR = 1.0  # points: how far ours may be from the published figure
TITLE = "The other systems, and what their authors report"
INTRODUCTION = f"""\
Every method of the comparisons, and its own published figures, held against ours by the protocol it was published with.
Made by `{MADE_BY}`: ours come from the records in [results/](../results), theirs from
[published.toml](../experiments/published.toml). No setting was chosen on test nodes, even where the original code does.
How the methods do side by side is in [reproduction.md](reproduction.md); how to add one, in
[extending.md](extending.md)."""
HEADINGS = ("data set", "metric", "published", "ours", "difference", "command")


def baselines_page(sections: Sequence[Section], published: Paper) -> str:
    """The whole page."""
    made = f"<!-- Made by `{MADE_BY}` from experiments/ and results/: change those, not this page. -->"
    parts = [made, f"# {TITLE}", INTRODUCTION, "## The methods", _methods()]
    lines = list(_lines({each.findings.experiment.name: each for each in sections}, published))
    parts += [
        "## Published figures",
        as_markdown(Table(_caption(lines), tuple(map(Heading, HEADINGS)), tuple(lines), corner="method")),
    ]
    parts += ["## Where the figures stand", *_listed(published.tables.get(SOURCES, {}))]
    notes = _listed(published.tables.get(NOTES, {}))
    parts += ["## What misses, and what was tried", *notes] if notes else []
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _methods() -> str:
    rows = ["| name | method | kind | looks at | what it does | published |", "|---|---|---|---|---|---|"]
    for name, method in METHODS.items():
        about = method.about
        rows.append(
            f"| `{name}` | {about.title} | {about.group} | {about.uses} | {about.summary} | {about.paper or NONE} |"
        )
    return "\n".join([*rows, "", "A stands for edges, X for features, Y for labels."])


def _lines(sections: Mapping[str, Section], published: Paper) -> Iterator[Line]:
    """A line for each published figure, experiment by experiment in their order."""
    for experiment, section in sections.items():
        for row, datasets in published.tables.get(experiment, {}).items():
            for dataset, metrics in datasets.items():
                for metric in metrics:
                    yield _line(section, published, row, dataset, metric)


def _line(section: Section, published: Paper, row: str, dataset: str, metric: str) -> Line:
    experiment = section.findings.experiment
    figure = published.figure(experiment.name, row, dataset, metric)
    title = METHODS[row].about.title if row in METHODS else row
    theirs = NONE if figure is None else with_deviation(figure.mean, figure.deviation, 2)
    cells = [] if section.columns is None else section.columns.get((dataset, metric), [])
    cell = next((each for each in cells if each.row == row and each.measured), None)
    ours, difference = (NONE, NONE) if cell is None else _ours(replace(cell, reported=figure))
    command = section.findings.commands.get((dataset, row))
    shown = (dataset, metric_name(metric), theirs, ours, difference, command or NONE)
    return Line(title, tuple(map(Entry, shown)))


def _ours(cell: Cell) -> tuple[str, str]:
    shown = with_deviation(cell.mean, cell.deviation, cell.digits)
    trainings = (
        "" if len(cell.values) >= cell.wanted else f" ({len(cell.values)} of {counted(cell.wanted, 'training')})"
    )
    return shown + trainings, signed(cell.difference or 0.0)


def _caption(lines: Sequence[Line]) -> str:
    differences = [line.entries[HEADINGS.index("difference")].text for line in lines]
    measured = [text for text in differences if text != NONE]
    near = [text for text in measured if float(text.replace("−", "-")) >= -NEAR]
    return (
        f"{counted(len(lines), 'published figure')}, {len(measured)} of them measured here; "
        f"{len(near)} of these are within a point of it or above"
    )


def _listed(texts: Mapping[str, str]) -> list[str]:
    if not texts:
        return []
    return [
        "\n".join(f"- {METHODS[name].about.title if name in METHODS else name}: {text}" for name, text in texts.items())
    ]
