"""A cost model of training by several machines: operations, bytes held and bytes sent of each stage, and their time.

    python -m benchmarks.cost_model measure    # measure the runs that stage_runs.json lacks
    python -m benchmarks.cost_model            # print the section of docs/scaling.md
    python -m benchmarks.cost_model update     # write it there

What a stage does is counted; how long an operation takes, and how many copies of its arrays a stage holds, is fitted to
runs on one machine. Whether a stage is divided among processes is taken from a run of two.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import nnls

from benchmarks.stage_runs import (
    ALONE,
    CHUNK_SIZE,
    DESCRIPTOR,
    DIRECTIONS,
    EDGES_PER_NODE,
    FITTED,
    GRAPH,
    HALO_STEP,
    OUTPUT,
    PROPAGATION,
    ROWS_STEP,
    SEARCH,
    SHARDING,
    STAGES,
    TWO_PROCESSES,
    Run,
    make_recipe,
    measure_missing,
    read_records,
)
from graphprox.forecast.machine import EFFICIENCY
from graphprox.forecast.work import FLOAT, Size, Work, descent_work
from graphprox.ftgcl.recipe import Recipe
from graphprox.ftgcl.training_costs import EPOCH, TOPOLOGY, work_of_stages
from graphprox.ftgcl.training_costs import PROPAGATION as DIFFUSION
from graphprox.io.sharding.workspace import BlockSizes

INDEX = 8  # bytes of a node number in an edge index, or of a hash
CACHE = 2**24  # bytes that a core is taken to have of all caches
DIVIDED = 0.9  # share of the time of one process below which two of them share the work
PROPOSED = 25  # rows that the approximate search keeps for each
THREADED = (DESCRIPTOR, *SEARCH.values(), PROPAGATION, ROWS_STEP, HALO_STEP)  # stages that use all cores


@dataclass(frozen=True)
class Job:
    """A graph, and what it is embedded by.

    Parameters
    ----------
    nodes, entries, features, components : int
        Number of nodes, of entries of the edge index (two for each edge), of features, and of components.
    chunk_size : int
        Number of nodes that are encoded at a time.
    """

    nodes: int
    entries: int
    features: int
    components: int
    chunk_size: int = CHUNK_SIZE

    @classmethod
    def of(cls, run: Run) -> Job:
        """Return the job of a run."""
        return cls(run.nodes, 2 * EDGES_PER_NODE * run.nodes, run.features, run.components)

    @cached_property
    def rows_recipe(self) -> Recipe:
        """The recipe in which features are diffused before training."""
        return make_recipe(Run(self.nodes, self.features, self.components))

    @cached_property
    def halo_recipe(self) -> Recipe:
        """The recipe whose encoder needs neighbors in every layer."""
        return make_recipe(Run(self.nodes, self.features, self.components), halo=True)

    @cached_property
    def landmarks(self) -> int:
        """Number of columns of the topology descriptor."""
        return int(self.rows_recipe.views.options_of(TOPOLOGY).descriptor_options()["num_landmarks"])

    @property
    def neighbors(self) -> int:
        """Number of neighbors of a node in a view."""
        return self.rows_recipe.views.k_range(TOPOLOGY)[1]

    @property
    def degree(self) -> float:
        """Number of entries of a node in the graph."""
        return self.entries / self.nodes


def count_halo(job: Job, degree: float, machines: int) -> float:
    """Return the number of other machines' nodes that edges to the nodes of one machine come from.

    Nodes are divided by their numbers, and edges are taken to be random, which is the worst case: of the other nodes, a
    share of exp(-degree / machines) has no edge to this machine.
    """
    return job.nodes * (1 - 1 / machines) * (1 - math.exp(-degree / machines))


# -- operations -----------------------------------------------------------------------------------------------------


def count_operations(stage: str, job: Job) -> float:
    """Return multiplications and additions, and numbers that are read, of a stage on all machines together."""
    size = Size(job.nodes, job.entries, job.features, job.nodes * job.features, is_sparse=False)
    columns = (float(job.features), 0.0)
    if stage == HALO_STEP:
        return _sum(work_of_stages(size, job.halo_recipe, columns=columns, in_chunks=False)[EPOCH])
    if stage in (PROPAGATION, ROWS_STEP, DESCRIPTOR):
        works = work_of_stages(size, job.rows_recipe, columns=columns, in_chunks=True)
        if stage == DESCRIPTOR:
            return _sum({name: works[TOPOLOGY][name] for name in ("walks", "kernel")})
        return _sum(works[DIFFUSION if stage == PROPAGATION else EPOCH])
    features = float(job.nodes) * job.features
    return {
        SHARDING: job.entries * math.log2(job.entries) + features,
        GRAPH: job.entries + features,
        DIRECTIONS: features,
        SEARCH["feature"]: _sum({"": descent_work(job.nodes, job.features)}),
        SEARCH["topology"]: _sum({"": descent_work(job.nodes, job.landmarks)}),
        OUTPUT: float(job.nodes) * job.components,
    }[stage]


def split_operations(stage: str, job: Job) -> tuple[float, float]:
    """Return the operations on numbers that are in the cache of one process, and the others.

    Numbers are taken to be read at random, so that a share of ``CACHE`` in all arrays of the stage is near.
    """
    operations, near = count_operations(stage, job), min(1.0, CACHE / count_held(stage, job, 1))
    return operations * near, operations * (1 - near)


def _sum(works: Mapping[str, Work]) -> float:
    return float(sum(each.amount / (2 if each.kind == "products" else FLOAT) for each in works.values()))


# -- memory ---------------------------------------------------------------------------------------------------------


def count_held(stage: str, job: Job, machines: int) -> float:
    """Return the bytes of the arrays of a stage on each of some machines among which it is divided."""
    nodes, entries = job.nodes / machines, job.entries / machines
    halo = max(count_halo(job, degree, machines) for degree in (job.degree, job.neighbors))
    lists = nodes * PROPOSED * (2 * FLOAT + 1)
    return {
        SHARDING: _count_blocks(nodes, entries, job.features),
        GRAPH: 2 * INDEX * entries + FLOAT * nodes * job.features,
        DIRECTIONS: FLOAT * nodes * job.features,
        DESCRIPTOR: FLOAT * (nodes * job.landmarks + entries),
        SEARCH["feature"]: FLOAT * nodes * job.features + 2 * lists,
        SEARCH["topology"]: FLOAT * nodes * job.landmarks + 2 * lists,
        PROPAGATION: 2 * FLOAT * entries + FLOAT * (job.features + 1) * (3 * nodes + halo),
        ROWS_STEP: FLOAT * min(job.chunk_size, nodes) * (2.0 * job.features + 4.0 * job.components),
        HALO_STEP: 2 * FLOAT * (entries + nodes * job.neighbors) + FLOAT * job.components * 4 * (2 * nodes + halo),
        OUTPUT: FLOAT * nodes * job.components,
    }[stage]


def _count_blocks(nodes: float, entries: float, features: int) -> float:
    """Return the bytes of the blocks in which sharding reads, merges and sorts, which do not grow with the graph."""
    sizes = BlockSizes()
    edges = 2 * min(entries / 2, sizes.rows) + min(entries, sizes.entries)
    return INDEX * (edges + min(nodes, sizes.ids)) + FLOAT * min(nodes * features, sizes.values)


def count_least_held(stage: str, job: Job, machines: int) -> float:
    """Return the bytes that a stage needs at least: diffusion takes as few columns at a time as memory requires."""
    one_column = replace(job, features=0) if stage == PROPAGATION else job
    return count_held(stage, one_column, machines)


# -- traffic and disk -----------------------------------------------------------------------------------------------


def count_sent(stage: str, job: Job, machines: int) -> float:
    """Return the bytes that each of some machines receives, which are as many as it sends."""
    others = 1 - 1 / machines
    d = job.components
    halos = [count_halo(job, degree, machines) for degree in (job.degree, job.neighbors, job.neighbors)]
    sums = 2 * others * FLOAT * (d**2 + 2 * d)
    rows_weights, halo_weights = job.features * d + d, job.features * d + d**2 + 2 * d
    hops = len(job.rows_recipe.encoder.coefficients()) - 1  # type: ignore[attr-defined]
    ranking = 2 * others * job.nodes * job.neighbors * 2 * FLOAT
    return {
        DESCRIPTOR: others * job.nodes * (FLOAT * job.landmarks + INDEX),
        SEARCH["feature"]: ranking,
        SEARCH["topology"]: ranking,
        PROPAGATION: FLOAT * (job.features + 1) * hops * sum(halos),
        ROWS_STEP: sums + 2 * others * FLOAT * rows_weights,
        # Two layers, forward and backward, of the graph and one of two views in turn.
        HALO_STEP: sums + 2 * others * FLOAT * halo_weights + 4 * FLOAT * d * (halos[0] + halos[1]),
        OUTPUT: others * FLOAT * job.nodes * d,
    }.get(stage, 0.0)


def count_disk(stage: str, job: Job, machines: int) -> float:
    """Return the bytes that each of some machines among which a stage is divided reads from disks, or writes."""
    nodes, entries = job.nodes / machines, job.entries / machines
    features, edges = FLOAT * nodes * job.features, FLOAT * entries
    propagated = FLOAT * nodes * (job.features + 1)
    return {
        SHARDING: 2 * INDEX * entries + 2 * edges + 2 * features,  # the lists, what is sorted, and the parts
        GRAPH: edges + features,
        PROPAGATION: 3 * propagated,
        ROWS_STEP: 2 * 2 * propagated,  # two passes over two sources
        OUTPUT: FLOAT * nodes * job.components,
    }.get(stage, 0.0)


# -- the fit --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fitted:
    """What the runs say about a stage.

    Parameters
    ----------
    near, far : float
        Seconds of an operation on one core, on numbers in the cache and on others.
    start_memory, copies : float
        Bytes that do not depend on the graph, and how many times the counted arrays are held.
    overhead : float
        How many times more a divided stage takes than its share: several processes may use other code than one.
    divides_time, divides_memory : bool
        Whether two processes share the work, and the arrays.
    """

    near: float
    far: float
    start_memory: float
    copies: float
    overhead: float
    divides_time: bool
    divides_memory: bool

    def seconds(self, stage: str, job: Job, machines: int, cores: int) -> float:
        """Return the seconds of computing on each of some machines."""
        share = self.overhead / machines if self.divides_time and machines > 1 else 1.0
        speedup = 1 + EFFICIENCY * (cores - 1) if stage in THREADED else 1.0
        near, far = split_operations(stage, job)
        return (self.near * near + self.far * far) * share / speedup

    def memory(self, stage: str, job: Job, machines: int, held: Callable[[str, Job, int], float] = count_held) -> float:
        """Return the bytes that each of some machines needs."""
        return self.start_memory + self.copies * held(stage, job, machines if self.divides_memory else 1)


def fit_stage(stage: str, records: Mapping[str, Mapping[str, Any]]) -> Fitted | None:
    """Fit a stage to the runs of ``FITTED``; None if there are not enough of them."""
    points = [(Job.of(run), records[name][stage]) for name, run in FITTED.items() if stage in records.get(name, {})]
    if len(points) < 2:
        return None
    near, far = _fit_terms([split_operations(stage, job) for job, _ in points], [each["seconds"] for _, each in points])
    held, peaks = [count_held(stage, job, 1) for job, _ in points], [each["memory"] for _, each in points]
    varies = float(max(held) > min(held))  # or else it cannot be seen what does not depend on the graph
    start_memory, copies = _fit_terms([(varies * held[0], each) for each in held], peaks)
    one, two = (records.get(name, {}).get(stage, {}) for name in (ALONE, TWO_PROCESSES))
    ratio = two["seconds"] / one["seconds"] if one.get("seconds") and two else 1.0
    expected = count_held(stage, Job.of(FITTED[ALONE]), 2) / count_held(stage, Job.of(FITTED[ALONE]), 1)
    return Fitted(
        near,
        far,
        start_memory * held[0],
        copies,
        max(1.0, 2 * ratio),
        ratio < DIVIDED,
        bool(one and two) and _is_closer(two["memory"], one["memory"], expected),
    )


def _is_closer(value: float, alone: float, expected: float) -> bool:
    """Return whether a value is nearer to the expected share of another than to all of it."""
    return abs(value - expected * alone) < abs(value - alone)


def _fit_terms(amounts: list[tuple[float, float]], totals: list[float]) -> tuple[float, float]:
    """Return the factors of two amounts, neither negative, whose sums have small relative errors."""
    if not all(totals):
        return 0.0, 0.0
    matrix = np.array(amounts) / np.array(totals)[:, None]
    scale = np.where(matrix.any(axis=0), np.linalg.norm(matrix, axis=0), 1.0)
    first, second = nnls(matrix / scale, np.ones(len(totals)))[0] / scale
    return float(first), float(second)


def fit_all(records: Mapping[str, Mapping[str, Any]] | None = None) -> dict[str, Fitted]:
    """Return the fit of every stage that was measured."""
    records = read_records() if records is None else records
    fits = {stage: fit_stage(stage, records) for stage in STAGES}
    return {stage: fit for stage, fit in fits.items() if fit is not None}


# -- many machines --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Machines:
    """Machines that are assumed.

    Parameters
    ----------
    count, cores : int
        Number of machines, and of cores of each.
    memory, disk, network : float
        Bytes of memory, and bytes that a disk and the network carry per second.
    """

    count: int
    cores: int
    memory: float
    disk: float
    network: float

    @classmethod
    def with_network(cls, gigabits: float, *, count: int = 64) -> Machines:
        """Return the machines of the page, with a network of some Gb/s."""
        return cls(count, cores=32, memory=256e9, disk=2e9, network=gigabits * 1e9 / 8)


@dataclass(frozen=True)
class Cost:
    """What a stage takes on each machine: seconds by what limits them, and bytes."""

    seconds: dict[str, float]
    memory: float
    sent: float

    @property
    def total(self) -> float:
        """Seconds: the disk works while the cores do, the network does not."""
        return max(self.seconds["cores"], self.seconds["disk"]) + self.seconds["network"]

    @property
    def limit(self) -> str:
        """What takes longest."""
        return max(self.seconds, key=lambda name: self.seconds[name])


def estimate(stage: str, fit: Fitted, job: Job, machines: Machines) -> Cost:
    """Return what a stage takes on each of some machines."""
    sent = count_sent(stage, job, machines.count) if machines.count > 1 else 0.0
    disk = count_disk(stage, job, machines.count if fit.divides_time else 1)
    if stage == ROWS_STEP and disk < machines.memory:  # two passes over what is read: it stays in the page cache
        disk = 0.0
    seconds = {
        "cores": fit.seconds(stage, job, machines.count, machines.cores),
        "network": sent / machines.network,
        "disk": disk / machines.disk,
    }
    needed, least = (fit.memory(stage, job, machines.count, held) for held in (count_held, count_least_held))
    # Diffusion limits its columns to the memory that there is.
    return Cost(seconds, max(least, min(needed, machines.memory)), sent)


def smallest_count(stage: str, fit: Fitted, job: Job, machines: Machines, *, limit: int = 2**14) -> int | None:
    """Return the smallest power of two of machines whose memory suffices for a stage; None if there is none."""
    counts = (2**power for power in range(limit.bit_length()))
    return next((n for n in counts if fit.memory(stage, job, n, count_least_held) <= machines.memory), None)


def main(arguments: list[str]) -> None:
    from benchmarks.cost_tables import SECTION, print_section
    from benchmarks.page_sections import run_command

    run_command(arguments, SECTION, measure=measure_missing, describe=print_section)


if __name__ == "__main__":
    main(sys.argv[1:])
