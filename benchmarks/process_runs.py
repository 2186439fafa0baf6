"""Runs of training by several processes: the gradient, time and memory of a step, and what is sent.

Each run is in processes of its own, with one thread each: ``python -m benchmarks.process_runs NAME FOLDER``, several
of them by torchrun. Its record is a line of process_runs.jsonl, which is added when the run ends; a run that has one is
not repeated.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.ranks import release_freed_memory, run_rank, start_ranks

if TYPE_CHECKING:
    from graphprox import Graph
    from graphprox.distributed.processes import Processes
    from graphprox.ftgcl.recipe import Recipe

RECORDS = Path(__file__).with_name("process_runs.jsonl")
TRAINING, GRADIENT = "training", "gradient"
ROWS = "diffusion"  # the encoder of the rows mode; all others fetch the rows of other processes
ENCODERS = (ROWS, "gcn", "sage", "gat")
ALL_ENCODERS = (*ENCODERS, "gin", "mlp")
PROCESSES = (1, 2, 4)
EDGES_PER_NODE, FEATURES, COMPONENTS, NEIGHBORS = 10, 100, 256, 10
EPOCHS, FIRST_EPOCHS = 10, 2  # in the first ones, edges are prepared and features propagated
# Nodes, and edges of each, of a graph so small that what a process holds does not depend on it, but on which the
# approximate search is compiled, too.
TINY, TINY_EDGES = 420, 4
FLOAT = 4


@dataclass(frozen=True)
class Run:
    """A run of one or several processes on one machine.

    Parameters
    ----------
    measured : {"training", "gradient"}
    encoder : str
    processes : int
    nodes : int
    """

    measured: str
    encoder: str
    processes: int
    nodes: int

    @property
    def name(self) -> str:
        """Name in the records."""
        return f"{self.measured}, {self.encoder}, {self.nodes} nodes, {self.processes} processes"

    @classmethod
    def parse(cls, name: str) -> Run:
        """Return the run of a name."""
        measured, encoder, nodes, processes = name.split(", ")
        return cls(measured, encoder, int(processes.split()[0]), int(nodes.split()[0]))


# A step takes about a second on one core.
NODES = {ROWS: 100_000, "gcn": 50_000, "sage": 50_000, "gat": 50_000}
GRADIENT_NODES = 5_000
RUNS = (
    *(Run(GRADIENT, encoder, processes, GRADIENT_NODES) for encoder in ALL_ENCODERS for processes in PROCESSES),
    *(Run(TRAINING, encoder, processes, NODES[encoder]) for encoder in ENCODERS for processes in PROCESSES),
)


# -- records --------------------------------------------------------------------------------------------------------


def read_records() -> dict[str, dict[str, Any]]:
    """Return the records of the runs that were measured, by name."""
    text = RECORDS.read_text(encoding="utf-8") if RECORDS.exists() else ""
    whole = text[: text.rfind("\n") + 1]  # without a line of which a part was written when the computer stopped
    return {record["run"]: record for record in map(json.loads, whole.splitlines())}


def measure_missing(runs: tuple[Run, ...] = RUNS) -> None:
    """Measure the runs that are not in the records, and add each when it ends."""
    from graphprox.io.storage.files import atomic_write

    for run in runs:
        if run.name in read_records():
            continue
        start, load = time.monotonic(), os.getloadavg()[0]
        ranks = _start(run)
        machine = {"cores": os.cpu_count(), "load": load}
        records = {**read_records(), run.name: {"run": run.name, **asdict(run), **machine, "ranks": ranks}}
        with atomic_write(RECORDS) as (staged,):
            staged.write_text("".join(json.dumps(each) + "\n" for each in records.values()), encoding="utf-8")
        print(f"{run.name}: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)


def _start(run: Run) -> list[Any]:
    return start_ranks("benchmarks.process_runs", run.name, run.processes)


# -- in each process ------------------------------------------------------------------------------------------------


def make_recipe(encoder: str) -> Recipe:
    """Return the recipe of an encoder: the preset large with all nodes in one chunk, or two layers of a convolution."""
    from graphprox import FTGCL

    if encoder == ROWS:
        recipe = FTGCL.from_preset("large").recipe().merged({"chunk_size": None})
    else:
        recipe = FTGCL.from_preset(**{"views.k_min": NEIGHBORS, "views.k_max": NEIGHBORS}).recipe()
    chosen = {"name": encoder, "n_components": COMPONENTS}
    return recipe.merged({"epochs": EPOCHS, "encoder": chosen, "views": {"engine": "descent"}})


def _make_graph(nodes: int, edges_per_node: float = EDGES_PER_NODE) -> Graph:
    from graphprox import synthetic

    return synthetic(nodes=nodes, edges_per_node=edges_per_node, features=FEATURES).without_labels()


def _open_graph(nodes: int, folder: Path, processes: Processes | None) -> Graph:
    """Return the graph of a graph folder with a part for each process, as shard writes it."""
    from graphprox.io.folder.graph_folder import GraphFolder

    path = folder / "graph"
    if processes is None or processes.is_first:
        GraphFolder.create(path, _make_graph(nodes), num_parts=1 if processes is None else processes.size)
    if processes is not None:
        processes.wait()
    return GraphFolder.open(path).to_graph()


def measure(run: Run, folder: Path, processes: Processes | None) -> dict[str, Any]:
    """Measure what a run is to measure, and return that of this process."""
    measured = measure_gradient if run.measured == GRADIENT else measure_training
    return measured(run, folder, processes)


def measure_gradient(run: Run, folder: Path, processes: Processes | None) -> dict[str, Any]:
    """Return the errors of the gradient in each precision, beside that of one process in double precision."""
    import torch

    from benchmarks.gradients import compute_gradient, relative_error
    from graphprox.ftgcl.fit import rank_views

    graph, recipe = _make_graph(run.nodes), make_recipe(run.encoder).merged({"schedule": "sum"})
    rankings = rank_views(graph, recipe, cache=False)
    own = folder / f"tables {0 if processes is None else processes.rank}"
    exact = compute_gradient(graph, rankings, recipe, torch.float64, own)
    return {
        str(dtype).removeprefix("torch."): relative_error(
            compute_gradient(graph, rankings, recipe, dtype, own, processes), exact
        )
        for dtype in (torch.float32, torch.float64)
    }


def measure_training(run: Run, folder: Path, processes: Processes | None) -> dict[str, Any]:
    """Return the time of each step, what it sends, and the peak memory of each stage of a fit."""
    from graphprox._utils.memory import peak_memory
    from graphprox._utils.team import keep_own_rows
    from graphprox.ftgcl.fit import fit_recipe, rank_views

    recipe, tiny = make_recipe(run.encoder), _make_graph(TINY, TINY_EDGES)
    measure_peak = partial(_measure_peak, processes)
    fit_recipe(tiny, recipe, device="cpu")  # compiles
    replicated = measure_peak(lambda: fit_recipe(tiny, recipe, device="cpu"))
    graph = _open_graph(run.nodes, folder, processes)
    views = measure_peak(lambda: rank_views(graph, recipe))  # which are cached, and which training finds there
    steps = _Steps(processes, peak_memory)
    held: dict[str, int] = {}

    def fit() -> None:
        with keep_own_rows():
            result = fit_recipe(graph, recipe, device="cpu", callbacks=[steps])
        held["parameters"] = sum(each.numel() for each in result.model.parameters())
        held["tensors"] = len(list(result.model.parameters()))
        held["graph"] = graph.edge_index.nbytes + graph.x.nbytes
        held["rankings"] = sum(each.neighbors.nbytes + each.similarities.nbytes for each in result.rankings.values())

    whole = max(measure_peak(fit), steps.peak)  # the system counts pages in batches, so that a later peak may be lower
    memory = {"replicated": replicated, "views": views, "training": steps.peak, "output": whole}
    return {"steps": steps.measured, "memory": memory, **held}


def _measure_peak(processes: Processes | None, call: Callable[[], object]) -> int:
    """Call a function in all processes at once, and return the peak memory of this one."""
    from graphprox._utils.memory import peak_memory, reset_peak_memory

    release_freed_memory()
    if processes is not None:
        processes.wait()
    reset_peak_memory()
    call()
    return peak_memory() or 0


class _Steps:
    """Seconds and bytes of each step after the first ones, and the peak memory until the last."""

    def __init__(self, processes: Processes | None, peak_memory: Callable[[], int | None]) -> None:
        self._processes, self._peak_memory = processes, peak_memory
        self.measured: list[dict[str, float]] = []
        self.peak = 0

    def __call__(self, log: Any) -> None:
        now = time.perf_counter(), time.process_time(), 0 if self._processes is None else self._processes.bytes_sent
        if log.epoch > FIRST_EPOCHS:
            names = ("seconds", "cpu", "sent")
            self.measured.append({name: b - a for name, a, b in zip(names, self._before, now, strict=True)})
        self.peak = self._peak_memory() or 0
        self._before = now


def main(name: str, folder: str) -> None:
    run_rank(Path(folder), lambda processes: measure(Run.parse(name), Path(folder), processes))


if __name__ == "__main__":
    main(*sys.argv[1:])
