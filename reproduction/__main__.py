"""The command line of the reproduction: run, check and report."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from graphprox.cli.app import run_program
from graphprox.cli.progress_display import progress_bars
from graphprox.errors import DatasetError

if TYPE_CHECKING:
    from reproduction.experiment import Trial
    from reproduction.records import Record
    from reproduction.report.page import Section
    from reproduction.report.tables import Heading, ResultTable, TableCell
    from reproduction.runner import RunResult

HERE = Path(__file__).parent
DISAGREES = 1  # exit code of `check` if a figure is not confirmed
MAX_WIDTH = 1000  # characters: more than any table needs

app = typer.Typer(
    name="reproduction",
    help="Reproduce the tables and figures of the paper.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

ExperimentsArgument = Annotated[
    list[str],
    typer.Argument(metavar="EXPERIMENT...", help="Names of experiments, or paths of TOML files.", show_default=False),
]
OnlyOption = Annotated[str | None, typer.Option("--only", metavar="DATASET", help="Only this data set.")]
RowOption = Annotated[str | None, typer.Option("--row", metavar="ROW", help="Only this row.")]
SeedsOption = Annotated[int | None, typer.Option("--seeds", min=1, help="Maximum number of training runs of each row.")]
JobsOption = Annotated[int | None, typer.Option("--jobs", min=1, help="Number of processes; one per core by default.")]
DataOption = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="DIR",
        envvar="GRAPHPROX_DATA",
        help="Folder of data sets. Without it they are downloaded.",
        show_default=False,
    ),
]
ExperimentsOption = Annotated[
    Path,
    typer.Option(
        "--experiments", metavar="DIR", help="Folder of experiments.", show_default="reproduction/experiments"
    ),
]
RecordsOption = Annotated[
    Path, typer.Option("--records", metavar="DIR", help="Folder of records.", show_default="reproduction/records")
]
DocsOption = Annotated[
    Path,
    typer.Option(
        "--docs", metavar="DIR", help="Folder to write tables, figures and pages to.", show_default="docs/reproduction"
    ),
]


@app.callback()
def _program(
    verbose: Annotated[  # read by run_program
        bool, typer.Option("--verbose", help="Show the traceback of an error.")
    ] = False,
) -> None:
    pass


@app.command()
def run(
    experiments: ExperimentsArgument,
    only: OnlyOption = None,
    row: RowOption = None,
    seeds: SeedsOption = None,
    jobs: JobsOption = None,
    folder: ExperimentsOption = HERE / "experiments",
    records: RecordsOption = HERE / "records",
    data: DataOption = None,
) -> None:
    """Run the trials of experiments that have no record yet.

    Each record is saved as soon as it is measured, so that an interrupted run can be resumed. An embedding that
    several of the experiments need is trained once.

    For example:

    - `python -m reproduction run random`
    - `python -m reproduction run random --only Cora --seeds 3`
    - `python -m reproduction run random public --only Cora --row ft-gcl`
    """
    from reproduction.experiment import list_trials, read_experiment
    from reproduction.runner import find_pending

    trials = list_trials([read_experiment(name, folder) for name in experiments], only=only, row=row, seeds=seeds)
    _measure(trials, find_pending(trials, records), records, data, jobs)


@app.command("left-out")
def left_out(
    records: RecordsOption = HERE / "records",
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Page to write.")] = HERE.parent
    / "docs"
    / "left_out.md",
    figure: Annotated[Path, typer.Option("--figure", metavar="FILE", help="Figure to write.")] = HERE.parent
    / "docs"
    / "figures"
    / "auto_weights.svg",
    data: DataOption = None,
) -> None:
    """Choose the constants of the default method without each graph in turn, and apply them to it.

    Graphs that have been measured are read from the records. Writes `docs/left_out.md`
    and `docs/figures/auto_weights.svg`.

    For example:

    - `python -m reproduction left-out`
    """
    from reproduction import dense_features, featureless
    from reproduction.left_out import observe_catalog, plot_weights, write_page

    observations = []
    for observed in observe_catalog(records / "left-out.jsonl", data):
        observations.append(observed)
        print(observed.dataset, observed.choice, flush=True)
    dense = []
    for each in dense_features.observe_dense(records / "left-out-dense.jsonl", data):
        dense.append(each)
        print(each.dataset, each.kind, each.choice, flush=True)
    without = []
    for one in featureless.observe_featureless(records / "left-out-featureless.jsonl", data):
        without.append(one)
        print(one.dataset, one.measure, flush=True)
    sections = dense_features.make_section(dense) + featureless.make_section(without)
    print(write_page(out, observations, sections))
    print(plot_weights(figure, observations))


@app.command()
def check(
    experiments: ExperimentsArgument,
    only: OnlyOption = None,
    row: RowOption = None,
    seeds: SeedsOption = None,
    jobs: JobsOption = None,
    folder: ExperimentsOption = HERE / "experiments",
    records: RecordsOption = HERE / "records",
    data: DataOption = None,
) -> None:
    """Run trials that have a record again, and compare; the records are not changed.

    Exits with 1 if the mean of a figure is not within one standard deviation of the recorded mean.

    For example:

    - `python -m reproduction check random --only Cora --row ft-gcl`
    """
    from reproduction.checking import check_figures
    from reproduction.experiment import list_trials, read_experiment
    from reproduction.records import read_current

    trials = list_trials([read_experiment(name, folder) for name in experiments], only=only, row=row, seeds=seeds)
    recorded = [trial for trial, _ in read_current(records, trials)]
    checks = list(check_figures(_measure(trials, recorded, None, data, jobs), records))
    print(*checks, sep="\n")
    if not all(each.agrees for each in checks):
        raise typer.Exit(DISAGREES)


@app.command()
def report(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Only this experiment, without the pages.", show_default=False),
    ] = None,
    folder: ExperimentsOption = HERE / "experiments",
    records: RecordsOption = HERE / "records",
    docs: DocsOption = HERE.parent / "docs" / "reproduction",
) -> None:
    """Write tables, figures and pages from the records; no model is trained and no data set is loaded.

    For example:

    - `python -m reproduction report`
    - `python -m reproduction report random`
    """
    from reproduction.report.writing import report_all, report_experiment

    if name is None:
        sections, paths = report_all(folder, records, docs)
        for section in sections:
            print(_count_records(section))
    else:
        section, paths = report_experiment(name, folder, records, docs)
        for table in section.tables:
            _print_table(table)
    print(*(os.path.relpath(path) for path in paths), sep="\n")


def _measure(
    trials: list[Trial], todo: list[Trial], folder: Path | None, data: Path | None, jobs: int | None
) -> list[tuple[Trial, Record]]:
    """Run trials and print each result; records are saved if a folder is given."""
    from reproduction.runner import default_jobs, run_trials

    title = ", ".join(dict.fromkeys(trial.experiment.name for trial in trials))
    processes = jobs or default_jobs(len(todo))
    print(f"{title}: {len(trials)} trials, {len(todo)} to run, {processes} at a time", flush=True)
    measured, error, done = [], None, 0
    with progress_bars(title) as show:
        for result in run_trials(todo, folder, data=data, jobs=processes) if todo else ():
            done += result.not_run or 1
            print(_summarize(result), flush=True)
            if result.record is not None:
                measured.append((result.trial, result.record))
            error = result.error or error
            show("trials", done, len(todo))
    if todo and not measured:
        raise DatasetError(error or "no trial could be run")
    return measured


def _summarize(result: RunResult) -> str:
    trial, record = result.trial, result.record
    if record is None:
        trials = f"{result.not_run} trial{'s' * (result.not_run != 1)}"
        return f"{trial.dataset}  {trials} not run: {result.error}"
    name = f"{trial.dataset}  {trial.row_name}  seed {trial.seed}"
    means = {
        metric: 100 * float(np.mean(record.figures[metric]))
        for metric in trial.experiment.metrics
        if trial.experiment.task in ("classification", "links", "groups", "homophily") and metric in record.figures
    }
    figures = "".join(f"  {metric} {mean:.2f}" for metric, mean in means.items())
    return f"{name}{figures}  {sum(record.seconds.get(part, 0.0) for part in ('embed', 'evaluate')):.1f} s"


def _count_records(section: Section) -> str:
    findings = section.findings
    line = f"{findings.experiment.name}: {len(findings.all_records)} of {sum(findings.expected.values())} records"
    return f"{line}, {len(findings.unused)} not used" if findings.unused else line


def _print_table(table: ResultTable) -> None:
    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column(table.corner, no_wrap=True)
    for heading in table.headings:
        grid.add_column(_heading_text(heading), no_wrap=True)
    for line in table.lines:
        title = Text(line.title, "" if line.cells else "dim")
        grid.add_row(title.append(f"\n{line.note}", style="dim") if line.note else title, *map(_cell_text, line.cells))
    # As wide as the table, so that lines are not broken in a file; a terminal wraps them.
    width = Console(width=MAX_WIDTH).measure(grid).maximum
    console = Console(highlight=False, emoji=False, width=max(width, Console().width))
    console.print(table.caption, grid, *table.notes, "", sep="\n", markup=False)


def _heading_text(heading: Heading) -> str:
    return "\n".join(filter(None, (heading.group, heading.name, heading.note)))


def _cell_text(cell: TableCell) -> Text:
    from reproduction.report.tables import STAR

    text = Text(cell.text, {1: "bold", 2: "italic"}.get(cell.rank, ""))
    text.append(f" {STAR}" if cell.star else "")
    for line in cell.below:
        text.append(f"\n{line}", style="dim")
    return text


if __name__ == "__main__":
    run_program(app, name="python -m reproduction")
