"""Training by several processes of one machine beside that of one: gradient, time, memory and traffic of a step.

python -m benchmarks.processes measure    # measure the runs that process_runs.jsonl lacks
python -m benchmarks.processes            # print the section of docs/scaling.md
python -m benchmarks.processes update     # write it there
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.page_sections import DOCS, Section, make_table, run_command
from benchmarks.process_runs import (
    ALL_ENCODERS,
    COMPONENTS,
    EDGES_PER_NODE,
    ENCODERS,
    FEATURES,
    FLOAT,
    GRADIENT,
    ROWS,
    RUNS,
    TINY,
    TRAINING,
    measure_missing,
    read_records,
)

SECTION = Section("benchmarks.processes", DOCS / "scaling.md")
MAX_ERROR = {"float32": 1e-5, "float64": 1e-12}
MAX_SHARE = 1.15  # of memory that is not replicated, beside the same share of one process for each
MIN_SPEEDUP = 1.7  # of two processes
MEGABYTE = 1e6
PAIRS = 2  # that steps alternate between
NONE = "–"

Record = Mapping[str, Any]
Row = dict[str, object]


def select(records: Mapping[str, Record], measured: str) -> dict[tuple[str, int], Record]:
    """Return the records of one kind by encoder and number of processes, in the order of the runs."""
    found = (records[run.name] for run in RUNS if run.measured == measured and run.name in records)
    return {(each["encoder"], each["processes"]): each for each in found}


def step_seconds(record: Record, what: str = "seconds") -> float:
    """Return the seconds of a step, the mean over the pairs of views: the best ones, of the slowest process."""
    return max(
        min(sum(step[what] for step in steps[i : i + PAIRS]) / PAIRS for i in range(0, len(steps), PAIRS))
        for steps in (rank["steps"] for rank in record["ranks"])
    )


def divided_memory(record: Record) -> float:
    """Return the peak memory of training without what is replicated, of the process that needs most."""
    return float(max(rank["memory"]["training"] - rank["memory"]["replicated"] for rank in record["ranks"]))


def memory_ratio(record: Record, alone: Record) -> float:
    """Return the memory of a process that is not replicated, as a multiple of its share of that of one process."""
    return divided_memory(record) * record["processes"] / divided_memory(alone)


def traffic_limit(record: Record) -> int:
    """Return the bytes of a step that suffice for sums over nodes and gradients: those of two of each message."""
    return 2 * FLOAT * (COMPONENTS**2 + 2 * COMPONENTS + int(record["ranks"][0]["parameters"]))


def sent_bytes(record: Record) -> int:
    """Return the most bytes that a process sends in a step."""
    return int(max(step["sent"] for rank in record["ranks"] for step in rank["steps"]))


# -- the section ----------------------------------------------------------------------------------------------------


def print_section(records: Mapping[str, Record] | None = None) -> str:
    """Return the section of the page that is computed."""
    records = read_records() if records is None else records
    gradients, trainings = select(records, GRADIENT), select(records, TRAINING)
    parts = []
    if gradients:
        parts += [
            "Largest error of the gradient of a step in any process, as a share of its largest entry, beside the "
            f"gradient of one process in double precision; {_describe_graph(gradients)}:\n",
            _table_of_gradients(gradients),
        ]
    if trainings:
        parts += [
            f"Seconds of a step, of the slowest process; {_describe_graph(trainings)}. CPU time does not contain "
            "waiting: if the ratio of CPU times is much higher than that of seconds, processes wait for each other or "
            "for cores.\n",
            _table_of_seconds(trainings),
            "Peak memory of a process until the last step, in MB. Replicated is the peak of the same training on a "
            f"graph of {TINY} nodes: interpreter, libraries, weights and optimizer. The ratio is that of the rest to "
            "its share of the rest of one process. The graph is read from a graph folder with a part for each process. "
            "Several processes have its edges and the rankings in files, of which each reads what its nodes need. "
            "The last columns are the peaks of making the views and of the whole fit.\n",
            _table_of_memory(trainings),
            "Bytes that a process sends in a step. In the rows mode these are sums over nodes and gradients, whatever "
            "the number of nodes, and the limit is twice their size.\n",
            _table_of_traffic(trainings),
        ]
    return "\n".join(parts) or "No run was measured.\n"


def _describe_graph(records: Mapping[tuple[str, int], Record]) -> str:
    sizes: dict[int, list[str]] = {}
    for (encoder, _), record in records.items():
        names = sizes.setdefault(record["nodes"], [])
        if encoder not in names:
            names.append(encoder)
    nodes = " and ".join(f"{size:,} nodes ({', '.join(names)})" for size, names in sizes.items())
    return f"{nodes}, {EDGES_PER_NODE} edges a node, {FEATURES} features, {COMPONENTS} components"


def _judge(text: str, *, is_met: bool) -> str:
    return text if is_met else f"{text}: missed"


def _counts(records: Mapping[tuple[str, int], Record]) -> list[int]:
    return sorted({processes for _, processes in records})


def _table_of_gradients(records: Mapping[tuple[str, int], Record]) -> str:
    def cell(encoder: str, processes: int, precision: str) -> str:
        if (record := records.get((encoder, processes))) is None:
            return NONE
        error = max(rank[precision] for rank in record["ranks"])
        return _judge(f"{error:.1e}", is_met=error <= MAX_ERROR[precision])

    counts = _counts(records)
    rows = [
        [encoder, precision, *(cell(encoder, each, precision) for each in counts), f"{limit:g}"]
        for encoder in ALL_ENCODERS
        for precision, limit in MAX_ERROR.items()
    ]
    return make_table(["encoder", "precision", *map(_name_processes, counts), "target"], rows)


def _name_processes(count: int) -> str:
    return "1 process" if count == 1 else f"{count} processes"


def _table_of_seconds(records: Mapping[tuple[str, int], Record]) -> str:
    rows = []
    for (encoder, processes), record in records.items():
        seconds, cpu = step_seconds(record), step_seconds(record, "cpu")
        faster = by_cpu = NONE
        alone = records.get((encoder, 1))
        if alone is not None and processes > 1:
            speedup = step_seconds(alone) / seconds
            faster = _judge(f"{speedup:.2f} x faster", is_met=processes != PAIRS or speedup >= MIN_SPEEDUP)
            by_cpu = f"{step_seconds(alone, 'cpu') / cpu:.2f} x"
        rows.append([encoder, str(processes), f"{seconds:.2f}", f"{cpu:.2f}", faster, by_cpu])
    cores = " and ".join(sorted({str(record["cores"]) for record in records.values()}))
    titles = ["encoder", "processes", f"seconds, {cores} cores", "CPU time"]
    return make_table([*titles, f"beside one (target of two: {MIN_SPEEDUP:g})", "in CPU time"], rows)


def _table_of_memory(records: Mapping[tuple[str, int], Record]) -> str:
    rows = []
    for (encoder, processes), record in records.items():
        peaks = {name: max(each["memory"][name] for each in record["ranks"]) for name in record["ranks"][0]["memory"]}
        data = record["ranks"][0]["graph"] + record["ranks"][0]["rankings"]
        ratio, alone = NONE, records.get((encoder, 1))
        if alone is not None and processes > 1:
            value = memory_ratio(record, alone)
            ratio = _judge(f"{value:.2f}", is_met=value <= MAX_SHARE)
        sizes = (peaks["training"], peaks["replicated"], data, peaks["views"], peaks["output"])
        peak, replicated, held, *others = (f"{each / MEGABYTE:,.0f}" for each in sizes)
        rows.append([encoder, str(processes), peak, replicated, ratio, held, *others])
    header = ["encoder", "processes", "peak", "replicated", f"ratio of the rest (target: {MAX_SHARE:g})"]
    return make_table([*header, "graph and rankings", "views", "whole fit"], rows)


def _table_of_traffic(records: Mapping[tuple[str, int], Record]) -> str:
    rows = []
    for (encoder, processes), record in records.items():
        if processes == 1:
            continue
        sent, limit = sent_bytes(record), traffic_limit(record)
        is_rows = encoder == ROWS
        text = _judge(f"{sent:,}", is_met=not is_rows or sent <= limit)
        rows.append([encoder, str(processes), text, f"{limit:,}" if is_rows else NONE])
    return make_table(["encoder", "processes", "sent", "target"], rows)


# -- commands -------------------------------------------------------------------------------------------------------


def run() -> Iterator[Row]:
    """Measure what was not measured, and yield a row for each number of processes beside one."""
    measure_missing()
    records = select(read_records(), TRAINING)
    for encoder in ENCODERS:
        alone = records[encoder, 1]
        for (name, processes), record in records.items():
            if name != encoder or processes == 1:
                continue
            yield {
                "what": f"training step of {processes} processes, {encoder}, {record['nodes']:,} nodes",
                "seconds": f"{step_seconds(record):.2f}",
                "reference": f"one process: {step_seconds(alone):.2f} s",
                "ratio": f"{step_seconds(alone) / step_seconds(record):.2f} x faster",
                "peak memory": f"{divided_memory(record) / MEGABYTE:,.0f} MB beside what is replicated, "
                f"{memory_ratio(record, alone):.2f} x its share",
            }


def main(arguments: list[str]) -> None:
    run_command(arguments, SECTION, measure=measure_missing, describe=print_section)


if __name__ == "__main__":
    main(sys.argv[1:])
