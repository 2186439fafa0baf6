"""A graph of a million nodes from the command line, beside smoothed features and Cleora on the same graph.

Every row is a fresh process, whose peak memory the operating system reports when it ends. Accuracy is that of a linear
probe on vectors of a sample of the nodes. ``python -m benchmarks large_scale`` does the same with ten million nodes.
"""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Row = dict[str, object]
NODES, SMALL_NODES = 10**6, 10**5
EDGES_PER_NODE, FEATURES = 10, 100
SAMPLE = 22_000  # nodes that are probed: a tenth of them for training, a tenth for validation
CLEORA, CLEORA_DIMENSIONS, CLEORA_ITERATIONS = "pycleora", 256, 4


@dataclass(frozen=True)
class Finished:
    """A process that has ended: seconds, the peak of its resident memory, and the accuracy of its vectors."""

    seconds: float
    peak_gb: float
    accuracy: float


def run(nodes: int = NODES, small_nodes: int = SMALL_NODES) -> Iterator[Row]:
    """Yield a row for the default method, and one for each reference."""
    small = run_command(small_nodes, "auto")
    ours = run_command(nodes, "auto")
    yield describe(
        f"embed synthetic, {nodes:,} nodes, {nodes * EDGES_PER_NODE:,} edges, {FEATURES} features",
        ours,
        f"the same with {small_nodes:,} nodes, in memory",
        small,
    )
    yield describe("embed synthetic", ours, "smoothed features, the input of SGC", run_command(nodes, "smoothed"))
    what = f"Cleora, {CLEORA_DIMENSIONS} dimensions, {CLEORA_ITERATIONS} iterations"
    if importlib.util.find_spec(CLEORA) is None:
        yield {
            "what": "embed synthetic",
            "seconds": f"{ours.seconds:.0f}",
            "reference": f"{what}: {CLEORA} is not installed",
            "ratio": "–",
            "peak memory": f"{ours.peak_gb:.1f} GB",
        }
        return
    yield describe("embed synthetic", ours, what, run_cleora(nodes))


def describe(what: str, ours: Finished, reference: str, theirs: Finished) -> Row:
    return {
        "what": f"{what}: accuracy {100 * ours.accuracy:.1f} %",
        "seconds": f"{ours.seconds:.0f}",
        "reference": f"{reference}: {theirs.seconds:.0f} s, accuracy {100 * theirs.accuracy:.1f} %",
        "ratio": f"{ours.seconds / theirs.seconds:.1f} x the time",
        "peak memory": f"{ours.peak_gb:.1f} GB, {ours.peak_gb / theirs.peak_gb:.1f} x the memory",
    }


def run_command(nodes: int, method: str) -> Finished:
    """Run ``graphprox embed`` on a synthetic graph."""
    graph = f"synthetic:nodes={nodes},edges_per_node={EDGES_PER_NODE},features={FEATURES}"
    return _run(nodes, lambda path: ["-m", "graphprox", "embed", graph, "--method", method, "--out", str(path)])


def run_cleora(nodes: int) -> Finished:
    """Run Cleora on the edges of the synthetic graph, which it does not make itself."""
    with tempfile.TemporaryDirectory() as folder:
        edges = Path(folder, "edges.npy")
        _in_a_process(save_edges, nodes, str(edges))
        code = f"from benchmarks.scale import embed_by_cleora; import sys; embed_by_cleora({str(edges)!r}, sys.argv[1])"
        return _run(nodes, lambda path: ["-c", code, str(path)])


def _run(nodes: int, arguments: Callable[[Path], list[str]]) -> Finished:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "vectors.npy")
        command = [sys.executable, *arguments(path)]
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        if status:
            sys.exit(f"{' '.join(command)} has failed; its messages are above")
        scale = 1 if sys.platform == "darwin" else 1024
        return Finished(seconds, usage.ru_maxrss * scale / 1e9, _in_a_process(measure_accuracy, nodes, str(path)))


def _in_a_process(call: Callable[..., float], *arguments: object) -> float:
    """Call a function in a process of its own: what this one needs would count as memory of those it starts."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(call, *arguments).result()


# -- in processes of their own --------------------------------------------------------------------------------------


def _make_graph(nodes: int) -> Any:
    from graphprox import synthetic

    return synthetic(nodes=nodes, edges_per_node=EDGES_PER_NODE, features=FEATURES)


def measure_accuracy(nodes: int, path: str) -> float:
    """Return the accuracy of a linear probe on a sample of nodes."""
    from graphprox.evaluation.probe import LinearProbe
    from graphprox.graph.splits import NodeSplit

    y = _make_graph(nodes).y
    chosen = np.sort(np.random.default_rng(0).choice(nodes, min(SAMPLE, nodes), replace=False))
    rows = np.asarray(np.load(path, mmap_mode="r")[chosen])
    train, val, test = np.split(
        np.random.default_rng(1).permutation(len(chosen)), [len(chosen) // 10, len(chosen) // 5]
    )
    return LinearProbe().evaluate(rows, y[chosen], NodeSplit(train, val, test)).accuracy


def save_edges(nodes: int, path: str) -> float:
    """Write every edge once."""
    np.save(path, _make_graph(nodes).edges_once())
    return 0.0


def embed_by_cleora(edges: str, path: str) -> None:
    """Embed a graph by Cleora, as its documentation does, and write the vectors in the order of the nodes."""
    from pycleora import SparseMatrix  # type: ignore[import-not-found]

    source, target = np.load(edges, mmap_mode="r")
    lines = (f"{one} {other}" for one, other in zip(source, target, strict=True))
    matrix = SparseMatrix.from_iterator(lines, columns="complex::reflexive::node")
    vectors = matrix.initialize_deterministically(CLEORA_DIMENSIONS)
    for _ in range(CLEORA_ITERATIONS):
        vectors = matrix.left_markov_propagate(vectors)
        vectors /= np.linalg.norm(vectors, ord=2, axis=-1, keepdims=True)
    ordered = np.zeros((max(map(int, matrix.entity_ids)) + 1, CLEORA_DIMENSIONS), np.float32)
    ordered[np.array(matrix.entity_ids, np.int64)] = vectors
    np.save(path, ordered)
