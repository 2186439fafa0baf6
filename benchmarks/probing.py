"""A hundred probes of one embedding, against the plain way with scikit-learn.

The embedding is that of a GCN without training: of Cora, where GRAPHPROX_DATA names a directory of data sets, and else
of a synthetic graph of as many nodes.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Measured, measure

Row = dict[str, object]
NODES, WIDTH, SPLITS = 2_708, 512, 100


def run() -> Iterator[Row]:
    """A row for each reference; all probe the same embedding on the same splits."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "embedding.npy"))
        np.save(path, embedding_of(_graph()))
        ours = measure(probed, path, repeat=2)
        for what, plain in PLAIN.items():
            yield _compared(what, ours, measure(plain, path, repeat=2))


def _compared(what: str, ours: Measured, plain: Measured) -> Row:
    mine, other = ours.result, plain.result
    return {
        "what": f"{SPLITS} probes, {NODES:,} x {WIDTH} of {_name()}, accuracy {100 * mine['accuracy']:.2f} %",
        "seconds": f"{mine['seconds']:.1f}",
        "reference": f"scikit-learn's LogisticRegression for every C, {what}: {other['seconds']:.1f} s, "
        f"accuracy {100 * other['accuracy']:.2f} %",
        "ratio": f"{mine['seconds'] / other['seconds']:.2f} x the time",
        "peak memory": f"{ours.peak_mb:,.0f} MB (reference: {plain.peak_mb:,.0f} MB)",
    }


# -- the embedding ----------------------------------------------------------------------------------------------------


def _name() -> str:
    return "Cora" if os.environ.get("GRAPHPROX_DATA") else f"synthetic:nodes={NODES}"


def _graph() -> Any:
    from graphprox import load

    return load(_name()).graph


def embedding_of(graph: Any) -> Any:
    """Two layers of a GCN with random weights, (nodes, WIDTH)."""
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    adjacency = graph.to_scipy() + sp.eye_array(graph.num_nodes)
    scale = sp.diags_array(adjacency.sum(axis=1) ** -0.5)
    rows = graph.x
    for width in (rows.shape[1], WIDTH):
        weight = rng.normal(scale=(2 / (width + WIDTH)) ** 0.5, size=(width, WIDTH))
        rows = np.maximum(scale @ (adjacency @ (scale @ (rows @ weight))), 0)
    return rows.astype(np.float32)


# -- what is measured -------------------------------------------------------------------------------------------------


def probed(path: str) -> dict[str, float]:
    from graphprox.evaluation.probe import probe

    return _over_splits(path, lambda rows, y, split: probe(rows, y, split).accuracy)


def probed_to_the_same_tolerance(path: str) -> dict[str, float]:
    from graphprox.evaluation.probe import TOLERANCE

    return _plainly(path, np.float64, max_iter=10_000, tol=TOLERANCE)


def probed_by_default(path: str) -> dict[str, float]:
    return _plainly(path, np.float32, max_iter=1000)


PLAIN = {
    "in all dimensions, to the same tolerance": probed_to_the_same_tolerance,
    "with its default tolerance, in single precision": probed_by_default,
}


def _plainly(path: str, dtype: Any, **options: Any) -> dict[str, float]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import normalize

    from graphprox.evaluation.inputs import one_thread
    from graphprox.evaluation.probe import STRENGTHS

    def accuracy(embedding: Any, y: Any, split: Any) -> float:
        rows = normalize(embedding.astype(dtype))
        fitted = [LogisticRegression(C=c, **options).fit(rows[split.train], y[split.train]) for c in STRENGTHS]
        right = [each.score(rows[split.validation], y[split.validation]) for each in fitted]
        return float(fitted[int(np.argmax(right))].score(rows[split.test], y[split.test]))

    # As ours does: two threads would wait for each other, and the reference would look worse than it is.
    with one_thread():
        return _over_splits(path, accuracy)


def _over_splits(path: str, accuracy: Callable[[Any, Any, Any], float]) -> dict[str, float]:
    """Seconds of all probes, without those of reading, and their mean accuracy."""
    from graphprox import random_split

    rows, graph = np.load(path), _graph()
    splits = [random_split(graph, seed=each) for each in range(SPLITS)]
    began = time.perf_counter()
    found = [accuracy(rows, graph.y, split) for split in splits]
    return {"seconds": time.perf_counter() - began, "accuracy": float(np.mean(found))}


def _warm_up() -> None:
    """What scikit-learn loads on first use does not count."""
    from graphprox import random_split, synthetic
    from graphprox.evaluation.probe import probe

    graph = synthetic(nodes=140)
    probe(graph.x, graph.y, random_split(graph, seed=0))


for each in (probed, *PLAIN.values()):
    each.warm_up = _warm_up
