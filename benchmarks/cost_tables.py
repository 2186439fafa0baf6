"""The tables of the cost model in docs/scaling.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from benchmarks.cost_model import (
    CACHE,
    DIVIDED,
    THREADED,
    Cost,
    Fitted,
    Job,
    Machines,
    count_operations,
    count_sent,
    estimate,
    fit_all,
    smallest_count,
)
from benchmarks.page_sections import DOCS, Section, make_table
from benchmarks.stage_runs import FITTED, HALO_STEP, ROWS_STEP, RUNS, STAGES, read_records
from graphprox._utils.amounts import format_duration, format_memory
from graphprox.forecast.machine import EFFICIENCY

SECTION = Section("benchmarks.cost_model", DOCS / "scaling.md")
MIN_SECONDS = 0.05  # shorter stages of a run are mostly what does not depend on the graph
NETWORKS = (25.0, 100.0)  # Gb/s
LARGE = Job(10**9, 2 * 10**10, features=100, components=256, chunk_size=2**16)
NONE = "–"

Records = Mapping[str, Mapping[str, Any]]


def print_section(records: Records | None = None) -> str:
    """Return the section of the page that is computed."""
    records = read_records() if records is None else records
    fits = fit_all(records)
    parts = [
        "### Measured, and by the model\n",
        "In each column, what was measured, and in brackets the ratio of the model to it. The columns in italics were "
        "not fitted, but that of two processes decides what is divided. Ratios of less than "
        f"{MIN_SECONDS:g} s are left out.\n",
        "Seconds of CPU time, of the process that takes longer if there are two:\n",
        _table_of_runs(fits, records, "seconds", _model_seconds),
        "Peak memory of a stage, in MB, above what the process had before:\n",
        _table_of_runs(fits, records, "memory", _model_memory),
        "Bytes that each of two processes sends, counted where they are sent:\n",
        _table_of_traffic(records),
        "What was fitted. An operation is near if what it reads is in the cache, which is taken to be "
        f"{format_memory(CACHE)}; all are far on a large graph. The time of a stage is divided if each of two "
        f"processes takes less than {DIVIDED:.0%} of the time of one; what it takes beyond half of it is taken to be "
        "the same share for any number of processes. Memory is divided if it is nearer to what the model says of a "
        "divided stage.\n",
        _table_of_fits(fits),
        "### A billion nodes\n",
        _describe_job(fits, LARGE),
        _table_of_stages(fits, LARGE),
        _describe_bottleneck(fits, LARGE),
        "### What does not fit\n",
        _describe_memory(fits, LARGE),
    ]
    return "\n".join(parts)


# -- the fit --------------------------------------------------------------------------------------------------------


def _model_seconds(stage: str, fit: Fitted, name: str) -> float:
    run = RUNS[name]
    return fit.seconds(stage, Job.of(run), run.processes, 1)


def _model_memory(stage: str, fit: Fitted, name: str) -> float:
    return fit.memory(stage, Job.of(RUNS[name]), RUNS[name].processes)


def _table_of_runs(
    fits: Mapping[str, Fitted], records: Records, what: str, model: Callable[[str, Fitted, str], float]
) -> str:
    names = [name for name in RUNS if name in records]

    def cell(stage: str, name: str) -> str:
        value = records[name].get(stage, {}).get(what)
        if value is None:
            return NONE
        text = f"{value:.3g}" if what == "seconds" else f"{value / 1e6:,.0f}"
        is_short = what == "seconds" and value < MIN_SECONDS
        if stage not in fits or is_short or not value:
            return text
        return f"{text} ({model(stage, fits[stage], name) / value:.2f})"

    header = ["stage", *(name if name in FITTED else f"*{name}*" for name in names)]
    return make_table(header, ([stage, *(cell(stage, name) for name in names)] for stage in _measured(records)))


def _measured(records: Records) -> list[str]:
    return [stage for stage in STAGES if any(stage in each for each in records.values())]


def _table_of_traffic(records: Records) -> str:
    rows = []
    for name, run in RUNS.items():
        for stage, each in records.get(name, {}).items():
            expected = count_sent(stage, Job.of(run), run.processes)
            if run.processes > 1 and (each["sent"] or expected):
                ratio = f"{expected / each['sent']:.2f}" if each["sent"] else NONE
                rows.append([stage, f"{each['sent']:,.0f}", f"{expected:,.0f}", ratio])
    return make_table(["stage", "measured", "model", "ratio"], rows)


def _table_of_fits(fits: Mapping[str, Fitted]) -> str:
    header = ["stage", "nanoseconds of an operation, near", "far", "copies of arrays", "time", "memory"]
    words = {True: "divided", False: "not divided"}
    return make_table(
        header,
        (
            [
                stage,
                f"{fit.near * 1e9:.3g}",
                f"{fit.far * 1e9:.3g}" if fit.far else NONE,
                f"{fit.copies:.2f}",
                words[fit.divides_time],
                words[fit.divides_memory],
            ]
            for stage, fit in fits.items()
        ),
    )


# -- many machines --------------------------------------------------------------------------------------------------


def _repetitions(stage: str) -> int:
    from graphprox import FTGCL

    return FTGCL.from_preset("large").recipe().epochs if stage in (ROWS_STEP, HALO_STEP) else 1


def _describe_job(fits: Mapping[str, Fitted], job: Job) -> str:
    machines = Machines.with_network(NETWORKS[0])
    on_one_core = ", ".join(stage for stage in fits if stage not in THREADED)
    return (
        f"{job.nodes:,} nodes, {job.entries // 2:,} edges, {job.features} features and {job.components} components on "
        f"{machines.count} machines. Assumed of each: {machines.cores} cores as fast as that of the runs, "
        f"{format_memory(machines.memory)} of memory, a disk that carries {machines.disk / 1e9:g} GB/s, one process. "
        f"Each further core is taken to be worth {EFFICIENCY:g} of the first, as in forecasts, which is too much for "
        f"stages that are bound by memory; {on_one_core} use one core. Messages are as fast as the network. "
        f"There are {_repetitions(ROWS_STEP)} steps. The memory of a stage is beside that of the graph.\n"
    )


def _estimates(fits: Mapping[str, Fitted], job: Job, gigabits: float) -> dict[str, Cost]:
    return {stage: estimate(stage, fit, job, Machines.with_network(gigabits)) for stage, fit in fits.items()}


def _table_of_stages(fits: Mapping[str, Fitted], job: Job) -> str:
    costs = [_estimates(fits, job, gigabits) for gigabits in NETWORKS]
    memory = Machines.with_network(NETWORKS[0]).memory
    header = ["stage", "operations", *(f"at {each:g} Gb/s" for each in NETWORKS), "limited by"]
    rows = []
    for stage, fit in fits.items():
        slow, fast = (each[stage] for each in costs)
        limits = slow.limit if slow.limit == fast.limit else f"{slow.limit}, {fast.limit}"
        fits_in = "" if slow.memory <= memory else ": does not fit"
        rows.append(
            [
                stage + ("" if fit.divides_time else " (not divided)"),
                f"{count_operations(stage, job):.1e}",
                *(format_duration(each.total) for each in (slow, fast)),
                limits,
                format_memory(slow.memory) + fits_in,
                format_memory(slow.sent) if slow.sent else NONE,
            ]
        )
    total = ["**all, rows mode**", "", *(f"**{format_duration(_total(each))}**" for each in costs), "", "", ""]
    return make_table([*header, "memory of a machine", "sent by each"], [*rows, total])


def _total(costs: Mapping[str, Cost]) -> float:
    return sum(each.total * _repetitions(stage) for stage, each in costs.items() if stage != HALO_STEP)


def _describe_bottleneck(fits: Mapping[str, Fitted], job: Job) -> str:
    sentences = []
    for gigabits in NETWORKS:
        costs = _estimates(fits, job, gigabits)
        shares = {
            stage: each.total * _repetitions(stage) / _total(costs)
            for stage, each in costs.items()
            if stage != HALO_STEP
        }
        worst = max(shares, key=lambda stage: shares[stage])
        sentences.append(f"at {gigabits:g} Gb/s, {worst}, with {shares[worst]:.0%} of the time")
    divided = {
        stage: fit if fit.divides_time else replace(fit, divides_time=True, overhead=1.0) for stage, fit in fits.items()
    }
    shorter = [format_duration(_total(_estimates(divided, job, gigabits))) for gigabits in NETWORKS]
    return (
        f"The bottleneck is, if memory were enough: {'; '.join(sentences)}. If every stage was divided among all "
        f"machines, all together would take {shorter[0]} and {shorter[1]}.\n"
    )


def _describe_memory(fits: Mapping[str, Fitted], job: Job) -> str:
    machines = Machines.with_network(NETWORKS[0])
    rows = []
    for stage, fit in fits.items():
        cost = estimate(stage, fit, job, machines)
        if cost.memory <= machines.memory:
            continue
        divided = replace(fit, divides_memory=True)
        half = replace(job, components=job.components // 2)
        rows.append(
            [
                stage,
                format_memory(cost.memory),
                _count(smallest_count(stage, fit, job, machines)),
                format_memory(estimate(stage, fit, half, machines).memory),
                format_memory(estimate(stage, divided, job, machines).memory),
                _count(smallest_count(stage, divided, job, machines)),
            ]
        )
    if not rows:
        return "Everything fits.\n"
    header = [
        "stage",
        "memory of a machine",
        "machines that suffice",
        f"with {job.components // 2} components",
        "if it was divided",
        "machines that suffice then",
    ]
    return make_table(header, rows)


def _count(number: int | None) -> str:
    return "none" if number is None else f"{number:,}"
