"""graphprox report: tables, figures and a page from the records."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from graphprox.cli.options import VerboseOption

if TYPE_CHECKING:
    from graphprox.experiments.report.sections import Section
    from graphprox.experiments.report.table import Entry, Heading
    from graphprox.experiments.report.table import Table as Laid

WIDEST = 1000  # characters: more than any table has


def report(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="An experiment; without it all, and the page.", show_default=False),
    ] = None,
    experiments: Annotated[
        Path, typer.Option("--experiments", metavar="DIR", help="Where experiments are declared.")
    ] = Path("experiments"),
    results: Annotated[Path, typer.Option("--results", metavar="DIR", help="Where the records are kept.")] = Path(
        "results"
    ),
    docs: Annotated[Path, typer.Option("--docs", metavar="DIR", help="Where tables, figures and the page go.")] = Path(
        "docs"
    ),
    verbose: VerboseOption = False,  # noqa: ARG001 - main looks at it
) -> None:
    """Make tables and figures of the records, and without NAME the page docs/reproduction.md of all of them.

    Nothing is trained and no data set is read. `graphprox run` makes the records.

    Examples:

    - `graphprox report`
    - `graphprox report random`
    """
    from graphprox.experiments.report.writing import report_on, report_on_all

    if name is None:
        sections, paths = report_on_all(experiments, results, docs)
        for section in sections:
            print(_counted(section))
    else:
        section, paths = report_on(name, experiments, results, docs)
        for table in section.tables:
            _show(table)
    print(*paths, sep="\n")


def _counted(section: Section) -> str:
    findings = section.findings
    line = f"{findings.experiment.name}: {len(findings.all_records)} of {sum(findings.wanted.values())} records"
    return f"{line}, {len(findings.unused)} not used" if findings.unused else line


def _show(laid: Laid) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(laid.corner, no_wrap=True)
    for heading in laid.headings:
        table.add_column(_above(heading), no_wrap=True)
    for line in laid.lines:
        title = Text(line.title, "" if line.entries else "dim")
        table.add_row(title.append(f"\n{line.note}", style="dim") if line.note else title, *map(_within, line.entries))
    # As wide as the table is: where it does not fit, a terminal breaks lines, and a file has room for them.
    width = Console(width=WIDEST).measure(table).maximum
    console = Console(highlight=False, emoji=False, width=max(width, Console().width))
    console.print(laid.caption, table, *laid.notes, "", sep="\n", markup=False)


def _above(heading: Heading) -> str:
    return "\n".join(filter(None, (heading.group, heading.name, heading.note)))


def _within(entry: Entry) -> Text:
    from graphprox.experiments.report.table import STAR

    text = Text(entry.text, {1: "bold", 2: "italic"}.get(entry.place, ""))
    text.append(f" {STAR}" if entry.star else "")
    for line in entry.below:
        text.append(f"\n{line}", style="dim")
    return text
