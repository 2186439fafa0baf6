"""Runs of graphprox whose stages are measured one by one: CPU time, peak memory, and bytes sent to other processes.

Processes have one thread and their CPU time is measured, so that other programs on the machine do not count.
``python -m benchmarks.cost_model measure`` starts each run in processes of its own, with ``python -m
benchmarks.stage_runs NAME FILE``, and keeps what they print in stage_runs.json. A run that is there already is not
repeated.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.ranks import release_freed_memory, run_rank, start_ranks

if TYPE_CHECKING:
    from graphprox import Graph
    from graphprox.distributed.processes import Processes
    from graphprox.ftgcl.recipe import Recipe

RECORDS = Path(__file__).with_name("stage_runs.json")
EDGES_PER_NODE = 10
ENGINE = "descent"  # a search whose time is nearly linear in the number of nodes, at all sizes
CHUNK_SIZE = 2**12  # so that the smallest graphs are trained in chunks, too
WARM_UP = 2_000  # nodes of a run before, in which functions are compiled
EPOCHS, FIRST_EPOCHS = 4, 2  # in the first ones, features are propagated: along the graph and one view, then the other

SHARDING, GRAPH, DIRECTIONS, DESCRIPTOR = "sharding", "graph in memory", "features' directions", "walks and kernel"
SEARCH = {"feature": "search, features", "topology": "search, topology"}
PROPAGATION, ROWS_STEP, HALO_STEP, OUTPUT = "diffusion", "training step, rows", "training step, halo", "output"
STAGES = (
    SHARDING,
    GRAPH,
    DIRECTIONS,
    DESCRIPTOR,
    *SEARCH.values(),
    PROPAGATION,
    ROWS_STEP,
    HALO_STEP,
    OUTPUT,
)


@dataclass(frozen=True)
class Run:
    """A run on one machine.

    Parameters
    ----------
    nodes, features, components : int
        Number of nodes and of features of the graph, and of components of the embedding.
    processes : int
        Number of processes.
    """

    nodes: int
    features: int = 100
    components: int = 256
    processes: int = 1


ALONE, TWO_PROCESSES = "30k", "30k, two processes"
FITTED = {
    "10k": Run(10_000),
    ALONE: Run(30_000),
    "100k": Run(100_000),
}
COMPARED = {TWO_PROCESSES: Run(30_000, processes=2)}
HELD_OUT = {
    "30k, 50 features, 128 components": Run(30_000, features=50, components=128),
    "300k": Run(300_000),
}
RUNS = {**FITTED, **COMPARED, **HELD_OUT}


def make_recipe(run: Run, *, halo: bool = False) -> Recipe:
    """Return the recipe of a run: the preset large, or a convolution that needs all nodes in every layer."""
    from graphprox import FTGCL

    changed: dict[str, Any] = {"epochs": EPOCHS, "n_components": run.components, "views.engine": ENGINE}
    if halo:
        return FTGCL.from_preset(**changed, **{"views.k_min": 10}).recipe()
    return FTGCL.from_preset("large", **changed, chunk_size=CHUNK_SIZE).recipe()


# -- measuring ------------------------------------------------------------------------------------------------------


def read_records() -> dict[str, dict[str, Any]]:
    """Return the stages of the runs that were measured, by the name of the run."""
    return json.loads(RECORDS.read_text(encoding="utf-8")) if RECORDS.exists() else {}


def measure_missing() -> None:
    """Measure the runs that are not in the records, in processes of their own, and add each when it ends."""
    for name, run in RUNS.items():
        if name in read_records():
            continue
        start = time.monotonic()
        found = _start(name, run)
        records = {**read_records(), name: found}
        text = json.dumps({each: records[each] for each in RUNS if each in records}, indent=1) + "\n"
        RECORDS.write_text(text, encoding="utf-8")
        print(f"{name}: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)


def _start(name: str, run: Run) -> dict[str, Any]:
    measured = start_ranks("benchmarks.stage_runs", name, run.processes)
    # Stages end when the last process does, and a machine needs the memory of its process.
    return {
        stage: {what: max(each[stage][what] for each in measured) for what in first}
        for stage, first in measured[0].items()
    }


class Meter:
    """CPU time, peak memory and bytes sent, of each stage of a process.

    Parameters
    ----------
    processes : Processes or None
    """

    def __init__(self, processes: Processes | None) -> None:
        self.processes = processes
        self.stages: dict[str, dict[str, float]] = {}

    def start(self) -> None:
        """Start a stage, together with the other processes."""
        from graphprox._utils.memory import current_memory, reset_peak_memory

        release_freed_memory()
        if self.processes is not None:
            self.processes.wait()
        reset_peak_memory()
        self._base, self._sent, self._start = current_memory(), self._bytes_sent(), time.process_time()

    def stop(self, stage: str) -> None:
        """Stop a stage, and keep what it has taken."""
        from graphprox._utils.memory import peak_memory

        seconds = time.process_time() - self._start
        peak = max((peak_memory() or 0) - self._base, 0)
        self.stages[stage] = {"seconds": seconds, "memory": peak, "sent": self._bytes_sent() - self._sent}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure what the ``with`` block does."""
        self.start()
        yield
        self.stop(name)

    def _bytes_sent(self) -> int:
        return 0 if self.processes is None else self.processes.bytes_sent


def run_stages(run: Run, folder: Path, processes: Processes | None) -> dict[str, dict[str, float]]:
    """Run all stages, and return what each has taken."""
    from graphprox import synthetic

    meter = Meter(processes)
    meter.start()
    graph = synthetic(nodes=run.nodes, edges_per_node=EDGES_PER_NODE, features=run.features).without_labels()
    meter.stop(GRAPH)
    # What is generated is in memory without being read; what is held is known.
    meter.stages[GRAPH] |= {"seconds": 0.0, "memory": float(graph.edge_index.nbytes + graph.x.nbytes)}
    if processes is None:
        _measure_sharding(meter, graph, folder)
    _measure_views(meter, graph, make_recipe(run))
    _measure_training(meter, graph, make_recipe(run), folder / "rows")
    _measure_training(meter, graph, make_recipe(run, halo=True), folder / "halo")
    return {stage: meter.stages[stage] for stage in STAGES if stage in meter.stages}


def _measure_sharding(meter: Meter, graph: Graph, folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from graphprox.io.sharding.shard_tables import shard_graph

    source, target = graph.edge_index
    once = source < target
    pq.write_table(pa.table({"source": source[once], "target": target[once]}), folder / "edges.parquet")
    columns = {"id": np.arange(graph.num_nodes), **{f"x{i}": column for i, column in enumerate(graph.x.T)}}
    pq.write_table(pa.table(columns), folder / "features.parquet")
    with meter.stage(SHARDING):
        shard_graph(folder / "edges.parquet", folder / "graph", features=folder / "features.parquet", parts=2)


def _measure_views(meter: Meter, graph: Graph, recipe: Recipe) -> None:
    from graphprox.views.base import VIEWS, rank_view
    from graphprox.views.search.directions import find_directions

    with meter.stage(DIRECTIONS):
        find_directions(graph.x)
    with meter.stage(DESCRIPTOR):
        VIEWS.lookup("topology").descriptor(graph, np.random.default_rng(0))
    for view, stage in SEARCH.items():
        with meter.stage(stage):  # rankings are cached, and training finds them there
            rank_view(
                graph,
                view,
                k_max=recipe.views.k_range(view)[1],
                random_state=recipe.random_state,
                engine=ENGINE,
                options=recipe.views.options_of(view).descriptor_options(),
            )
    _subtract(meter.stages, SEARCH["feature"], DIRECTIONS)
    _subtract(meter.stages, SEARCH["topology"], DESCRIPTOR)


def _subtract(stages: dict[str, dict[str, float]], stage: str, part: str) -> None:
    for what in ("seconds", "sent"):
        stages[stage][what] = max(stages[stage][what] - stages[part][what], 0.0)


def _measure_training(meter: Meter, graph: Graph, recipe: Recipe, folder: Path) -> None:
    """Measure diffusion, the mean of the later steps, and the output."""
    from graphprox import Embedding
    from graphprox.errors import ParameterError
    from graphprox.ftgcl.fit import fit_recipe
    from graphprox.ftgcl.trainer import EpochLog

    is_rows = recipe.chunk_size is not None
    step, before, after = (ROWS_STEP, PROPAGATION, OUTPUT) if is_rows else (HALO_STEP, "", "")

    def count(log: EpochLog) -> None:
        if log.epoch == FIRST_EPOCHS:
            meter.stop(before)
            meter.start()
        elif log.epoch == EPOCHS:
            meter.stop(step)
            meter.start()

    meter.start()
    try:
        result = fit_recipe(graph, recipe, folder=folder, overwrite=True, callbacks=[count])
    except ParameterError as error:  # several processes cannot train so: the stages are left out
        print(f"{step}: {error}", file=sys.stderr)
        return
    vectors = result.vectors
    if meter.processes is None or meter.processes.is_first:
        Embedding(vectors).save(folder.with_suffix(".parquet"))
    meter.stop(after)
    own, first = meter.stages[step], meter.stages[before]
    for what in ("seconds", "sent"):
        own[what] /= EPOCHS - FIRST_EPOCHS
        first[what] = max(first[what] - FIRST_EPOCHS * own[what], 0.0)


def _measure(name: str, folder: Path, processes: Processes | None) -> dict[str, dict[str, float]]:
    warm_up, work = folder / "warm-up", folder / "work"
    _make(warm_up, processes)
    run_stages(Run(WARM_UP), warm_up, processes)
    _make(work, processes)
    return run_stages(RUNS[name], work, processes)


def _make(folder: Path, processes: Processes | None) -> None:
    if processes is None or processes.is_first:
        folder.mkdir()
    if processes is not None:
        processes.wait()


def main(name: str, folder: str) -> None:
    run_rank(Path(folder), lambda processes: _measure(name, Path(folder), processes))


if __name__ == "__main__":
    main(*sys.argv[1:])
