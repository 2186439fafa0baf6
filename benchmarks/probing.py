"""Probes of one embedding, against the plain way with scikit-learn, and against that with torch.

The embedding is that of a GCN without training: of Cora, where GRAPHPROX_DATA names a directory of data sets, and else
of a synthetic graph of as many nodes.
"""

from __future__ import annotations

import copy
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Measured, measure

Row = dict[str, object]
NODES, WIDTH = 2_708, 512
SPLITS, DESCENTS = 100, 3  # on how many splits either kind of probe is measured


def run() -> Iterator[Row]:
    """A row for each reference; all probe the same embedding on the same splits."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "embedding.npy"))
        np.save(path, embedding_of(_graph()))
        ours = measure(probed, path, repeat=2)
        for what, plain in PLAIN.items():
            reference = f"scikit-learn's LogisticRegression for every C, {what}"
            yield _compared(f"{SPLITS} probes", ours, reference, measure(plain, path, repeat=2))
        yield _compared(
            f"{DESCENTS} probes by steps of Adam",
            measure(descended, path, repeat=2),
            "torch's own layer and optimizer for every decay",
            measure(descended_by_torch, path, repeat=2),
        )


def _compared(what: str, ours: Measured, reference: str, plain: Measured) -> Row:
    mine, other = ours.result, plain.result
    return {
        "what": f"{what}, {NODES:,} x {WIDTH} of {_name()}, accuracy {100 * mine['accuracy']:.2f} %",
        "seconds": f"{mine['seconds']:.1f}",
        "reference": f"{reference}: {other['seconds']:.1f} s, accuracy {100 * other['accuracy']:.2f} %",
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


def descended(path: str) -> dict[str, float]:
    from graphprox.evaluation.descent import descent_probe

    return _over_splits(path, lambda rows, y, split: descent_probe(rows, y, split).accuracy, count=DESCENTS)


def descended_by_torch(path: str) -> dict[str, float]:
    import torch
    from torch.nn.functional import cross_entropy

    from graphprox.evaluation.descent import LEARNING_RATE, STEPS, WEIGHT_DECAYS

    def accuracy(embedding: Any, y: Any, split: Any) -> float:
        x, labels = torch.tensor(embedding).double(), torch.tensor(y)
        train, validation, test = map(torch.tensor, (split.train, split.validation, split.test))
        rows, truth, others, asked = x[train], labels[train], x[validation], labels[validation]
        best, highest = torch.nn.Module(), (-1.0, 0.0)
        for decay in WEIGHT_DECAYS:
            layer = torch.nn.Linear(WIDTH, int(labels.max()) + 1).double()
            for parameter in layer.parameters():
                torch.nn.init.zeros_(parameter)
            optimizer = torch.optim.Adam(layer.parameters(), lr=LEARNING_RATE, weight_decay=decay)
            for _ in range(STEPS):
                optimizer.zero_grad()
                cross_entropy(layer(rows), truth).backward()  # type: ignore[no-untyped-call]
                optimizer.step()
                with torch.no_grad():
                    scores = layer(others)
                    found = (float((scores.argmax(1) == asked).double().mean()), -float(cross_entropy(scores, asked)))
                if found > highest:
                    best, highest = copy.deepcopy(layer), found
        return float((best(x[test]).argmax(1) == labels[test]).double().mean())

    torch.set_num_threads(1)  # as ours
    return _over_splits(path, accuracy, count=DESCENTS)


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


def _over_splits(path: str, accuracy: Callable[[Any, Any, Any], float], *, count: int = SPLITS) -> dict[str, float]:
    """Seconds of all probes, without those of reading, and their mean accuracy."""
    from graphprox import random_split

    rows, graph = np.load(path), _graph()
    splits = [random_split(graph, seed=each) for each in range(count)]
    began = time.perf_counter()
    found = [accuracy(rows, graph.y, split) for split in splits]
    return {"seconds": time.perf_counter() - began, "accuracy": float(np.mean(found))}


def _warm_up() -> None:
    """What scikit-learn loads on first use does not count."""
    from graphprox import random_split, synthetic
    from graphprox.evaluation.probe import probe

    graph = synthetic(nodes=140)
    probe(graph.x, graph.y, random_split(graph, seed=0))


for each in (probed, *PLAIN.values(), descended, descended_by_torch):
    each.warm_up = _warm_up
