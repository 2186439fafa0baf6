"""Costs: what an embedding took, in seconds and in memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphprox.experiments.report.findings import Findings
from graphprox.experiments.report.numbers import NONE, counted
from graphprox.experiments.report.table import Entry, Heading, Line, Table
from graphprox.methods.registry import METHODS

MEGABYTE = 10**6


@dataclass(frozen=True)
class Cost:
    """What one embedding took: the median of processor seconds, the peak of memory in megabytes, on how many threads.

    Records that know none of processors count by the clock.
    """

    seconds: float
    megabytes: float | None
    threads: tuple[int, ...]


def cost_of(findings: Findings, dataset: str, row: str) -> Cost | None:
    """What an embedding of a row on a data set took; None where nothing was embedded."""
    records = [record for record in findings.of(dataset, row) if "embed" in record.seconds]
    if not records:
        return None
    # To predict links, each split takes an embedding of its own, and so does a method that learns from labels.
    each_split = (
        findings.experiment.task == "links" or "Y" in METHODS[findings.experiment.all_rows[row].method].about.uses
    )
    times = len(next(iter(records[0].figures.values()))) if each_split else 1
    memory = [record.peak_memory / MEGABYTE for record in records if record.peak_memory is not None]
    return Cost(
        seconds=float(
            np.median([record.seconds.get("processor", record.seconds["embed"]) / times for record in records])
        ),
        megabytes=max(memory, default=None),
        threads=tuple(sorted({record.threads for record in records})),
    )


def cost_table(findings: Findings) -> Table | None:
    """Trained rows against data sets: seconds and memory; None where nothing was trained."""
    datasets = [dataset for dataset in findings.datasets if findings.is_run(dataset)]
    trained = {name: row for name, row in findings.experiment.all_rows.items() if not _is_floor(row.method)}
    rows = {name: row.title for name, row in trained.items()}
    costs = {row: [cost_of(findings, dataset, row) for dataset in datasets] for row in rows}
    threads = sorted({each for of_row in costs.values() for cost in of_row if cost for each in cost.threads})
    if not threads:
        return None
    lines = [Line(rows[row], tuple(map(_entry, of_row))) for row, of_row in costs.items() if any(of_row)]
    on = " or ".join(counted(each, "thread") for each in threads)
    caption = f"Median processor seconds of one training, and peak memory of the process, on {on}"
    return Table(caption, tuple(map(Heading, datasets)), tuple(lines))


def _is_floor(method: str) -> bool:
    return METHODS[method].about.group == "floor"


def _entry(cost: Cost | None) -> Entry:
    if cost is None:
        return Entry(NONE)
    digits = 0 if cost.seconds >= 100 else 1 if cost.seconds >= 1 else 2
    seconds = f"{cost.seconds:,.{digits}f} s"
    return Entry(seconds if cost.megabytes is None else f"{seconds}, {cost.megabytes:,.0f} MB")
