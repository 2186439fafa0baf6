"""graphprox run: measure what a table or a figure needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from graphprox.cli.options import DataOption, VerboseOption
from graphprox.cli.progress import shown_progress
from graphprox.errors import DatasetError

if TYPE_CHECKING:
    from graphprox.experiments.records import Record
    from graphprox.experiments.runner import Outcome
    from graphprox.experiments.spec import Trial

OUTSIDE = 1  # the exit code where a figure that is measured again does not agree with its record

ResultsOption = Annotated[Path, typer.Option("--results", metavar="DIR", help="Where the records are kept.")]


def run(
    experiments: Annotated[
        list[Path],
        typer.Argument(metavar="EXPERIMENT...", help="Experiments: experiments/NAME.toml.", show_default=False),
    ],
    only: Annotated[
        str | None, typer.Option("--only", metavar="DATASET", help="This data set alone.", show_default=False)
    ] = None,
    row: Annotated[str | None, typer.Option("--row", help="This row alone.", show_default=False)] = None,
    seeds: Annotated[
        int | None, typer.Option("--seeds", min=1, help="Fewer trainings of each than declared.", show_default=False)
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, help="How many at a time: one per core.", show_default=False)
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Measure again what has records, and compare; the records stay.")
    ] = False,
    results: ResultsOption = Path("results"),
    data: DataOption = None,
    verbose: VerboseOption = False,  # noqa: ARG001 - main looks at it
) -> None:
    """Measure what experiments declare and has no record yet; a record is kept as soon as it is there.

    Whatever stops it, the next run goes on where it was. Experiments that are run together train once what several of
    them want. `graphprox report` makes tables and figures of the records.

    Examples:

    - `graphprox run experiments/random.toml --data DIR`
    - `graphprox run experiments/random.toml --only Cora --seeds 3`
    - `graphprox run experiments/random.toml experiments/public.toml --only PubMed`
    - `graphprox run experiments/random.toml --only Cora --row ft-gcl --check`
    """
    from graphprox.experiments.checking import compared
    from graphprox.experiments.records import read_records
    from graphprox.experiments.runner import best_jobs, pending
    from graphprox.experiments.runner import run as outcomes_of
    from graphprox.experiments.spec import Experiment, trials_of

    trials = trials_of([Experiment.read(path) for path in experiments], only=only, row=row, seeds=seeds)
    title = ", ".join(path.stem for path in experiments)
    todo = [trial for trial, _ in read_records(results, trials)] if check else pending(trials, results)
    at_a_time = jobs or best_jobs(len(todo))
    print(f"{title}: {len(trials)} trials, {len(todo)} to measure, {at_a_time} at a time", flush=True)
    if not todo:
        return
    measured: list[tuple[Trial, Record]] = []
    with shown_progress(title) as show:
        for done, outcome in enumerate(outcomes_of(todo, None if check else results, data=data, jobs=at_a_time), 1):
            print(_line(outcome), flush=True)
            if outcome.record is not None:
                measured.append((outcome.trial, outcome.record))
            show("trials", done, len(todo))
    if not measured:
        raise DatasetError(outcome.missing or "nothing could be measured")
    if check:
        comparisons = list(compared(measured, results))
        print(*comparisons, sep="\n")
        if not all(comparison.agrees for comparison in comparisons):
            raise typer.Exit(OUTSIDE)


def _line(outcome: Outcome) -> str:
    trial = outcome.trial
    name = f"{trial.dataset}  {trial.row_name}  seed {trial.seed}"
    if outcome.record is None:
        return f"{name}  not run: {outcome.missing}"
    return f"{name}  {_summary(outcome.record)}  {_by_the_clock(outcome.record):.1f} s"


def _by_the_clock(record: Record) -> float:
    return sum(record.seconds.get(part, 0.0) for part in ("embed", "evaluate"))


def _summary(record: Record) -> str:
    """The mean over splits of each metric that has them."""
    means = {
        name: 100 * float(np.mean(values))
        for name, values in record.figures.items()
        if isinstance(values, list) and name not in ("marks", "loss", "classes", "plane")
    }
    return "  ".join(f"{name} {mean:.2f}" for name, mean in means.items())
