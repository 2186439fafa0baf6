"""The topology descriptor in half precision: how many of the nearest nodes it finds, and the bytes that it saves.

Large graphs store it so. Real graphs are read from the directory in GRAPHPROX_DATA; without it, their rows are skipped.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np

from graphprox._utils.arrays import FloatArray

REAL = ("Cora", "PubMed", "CoauthorCS")
SYNTHETIC = "synthetic:nodes=50000"
NUM_NEAREST, NUM_SAMPLED, ROWS_PER_BLOCK = 10, 1000, 100


def run() -> Iterator[dict[str, object]]:
    from graphprox import load
    from graphprox.views import topology_descriptor

    for name in (*(REAL if os.environ.get("GRAPHPROX_DATA") else ()), SYNTHETIC):
        graph = load(name).graph.without_labels()
        single = topology_descriptor(graph, np.random.default_rng(0))
        half = single.astype(np.float16)
        yield {
            "what": f"topology descriptor in half precision, {name}, {half.shape[0]:,} x {half.shape[1]}",
            "seconds": "–",
            "reference": f"in single precision: {single.nbytes / 2**20:.1f} MB",
            "ratio": f"recall {measure_recall(single, half.astype(np.float32)):.4f} of the ten nearest",
            "peak memory": f"{half.nbytes / 2**20:.1f} MB",
        }


def measure_recall(rows: FloatArray, stored: FloatArray) -> float:
    """Return the share of the nearest rows that an exact search in stored rows finds, on a sample.

    Parameters
    ----------
    rows, stored : ndarray of shape (num_nodes, channels)
        A row that is found counts if it is as near as the last of the nearest ones, or ties with it.

    Returns
    -------
    float
    """
    from graphprox.views.search.exact import TIE_TOLERANCE

    rng = np.random.default_rng(0)
    order = rng.permutation(len(rows))  # rows that tie are found in any order
    true, found = _normalize(rows[order]), _normalize(stored[order])
    sample, num_nearest = np.arange(min(NUM_SAMPLED, len(rows))), min(NUM_NEAREST, len(rows) - 1)
    hits = 0
    for start in range(0, len(sample), ROWS_PER_BLOCK):
        block = sample[start : start + ROWS_PER_BLOCK]
        cosines, scores = true[block] @ true.T, found[block].astype(np.float32) @ found.astype(np.float32).T
        for each in (cosines, scores):
            each[np.arange(len(block)), block] = -2  # a row is not its own neighbor
        last = np.partition(cosines, -num_nearest, axis=1)[:, -num_nearest]
        nearest = np.argsort(-scores, axis=1, kind="stable")[:, :num_nearest]
        hits += int((np.take_along_axis(cosines, nearest, axis=1) >= last[:, None] - TIE_TOLERANCE).sum())
    return hits / (num_nearest * len(sample))


def _normalize(rows: FloatArray) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    length = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    return rows / np.where(length == 0, 1, length)
