"""Probes of one embedding, against the same fits by scikit-learn and by torch.

The embedding is that of an untrained GCN on Cora, if GRAPHPROX_DATA is a directory of data sets, or on a synthetic
graph of the same size.
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
NODES, CHANNELS = 2_708, 512
LINEAR_SPLITS, DGI_SPLITS = 100, 3  # number of splits that a probe is measured on


def run() -> Iterator[Row]:
    """Yield a row for each reference; all probe the same embedding on the same splits."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "embedding.npy"))
        np.save(path, embed_untrained(_load_graph()))
        ours = measure(fit_linear_probes, path, repeat=2)
        for how, fit in REFERENCES.items():
            reference = f"scikit-learn's LogisticRegression for every C, {how}"
            yield _compare(f"{LINEAR_SPLITS} linear probes", ours, reference, measure(fit, path, repeat=2))
        yield _compare(
            f"{DGI_SPLITS} probes of the protocol dgi",
            measure(fit_dgi_probes, path, repeat=2),
            "torch's layer and optimizer for every weight decay",
            measure(fit_torch_layers, path, repeat=2),
        )


def _compare(what: str, ours: Measured, reference: str, theirs: Measured) -> Row:
    mine, other = ours.result, theirs.result
    return {
        "what": f"{what}, {NODES:,} x {CHANNELS} of {_graph_name()}, accuracy {100 * mine['accuracy']:.2f} %",
        "seconds": f"{mine['seconds']:.1f}",
        "reference": f"{reference}: {other['seconds']:.1f} s, accuracy {100 * other['accuracy']:.2f} %",
        "ratio": f"{mine['seconds'] / other['seconds']:.2f} x the time",
        "peak memory": f"{ours.peak_mb:,.0f} MB (reference: {theirs.peak_mb:,.0f} MB)",
    }


# -- the embedding --------------------------------------------------------------------------------------------------


def _graph_name() -> str:
    return "Cora" if os.environ.get("GRAPHPROX_DATA") else f"synthetic:nodes={NODES}"


def _load_graph() -> Any:
    from graphprox import load

    return load(_graph_name()).graph


def embed_untrained(graph: Any) -> Any:
    """Return the output of two GCN layers with random weights, (num_nodes, CHANNELS)."""
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    adjacency = graph.to_scipy() + sp.eye_array(graph.num_nodes)
    scale = sp.diags_array(adjacency.sum(axis=1) ** -0.5)
    rows = graph.x
    for channels in (rows.shape[1], CHANNELS):
        weight = rng.normal(scale=(2 / (channels + CHANNELS)) ** 0.5, size=(channels, CHANNELS))
        rows = np.maximum(scale @ (adjacency @ (scale @ (rows @ weight))), 0)
    return rows.astype(np.float32)


# -- measured functions ---------------------------------------------------------------------------------------------


def fit_linear_probes(path: str) -> dict[str, float]:
    from graphprox.evaluation.probe import LinearProbe

    return _over_splits(path, lambda rows, y, split: LinearProbe().evaluate(rows, y, split).accuracy)


def fit_dgi_probes(path: str) -> dict[str, float]:
    from graphprox.evaluation.dgi_probe import DGIProbe

    return _over_splits(path, lambda rows, y, split: DGIProbe().evaluate(rows, y, split).accuracy, count=DGI_SPLITS)


def fit_torch_layers(path: str) -> dict[str, float]:
    import torch
    from torch.nn.functional import cross_entropy

    from graphprox.evaluation.dgi_probe import DGIProbe

    probe = DGIProbe()

    def accuracy(embedding: Any, y: Any, split: Any) -> float:
        x, labels = torch.tensor(embedding).double(), torch.tensor(y)
        train, val, test = map(torch.tensor, (split.train, split.val, split.test))
        rows, targets, val_rows, val_targets = x[train], labels[train], x[val], labels[val]
        best_layer, best = torch.nn.Module(), (-1.0, 0.0)
        for weight_decay in probe.weight_decays:
            layer = torch.nn.Linear(CHANNELS, int(labels.max()) + 1).double()
            for parameter in layer.parameters():
                torch.nn.init.zeros_(parameter)
            optimizer = torch.optim.Adam(layer.parameters(), lr=probe.learning_rate, weight_decay=weight_decay)
            for _ in range(probe.epochs):
                optimizer.zero_grad()
                cross_entropy(layer(rows), targets).backward()  # type: ignore[no-untyped-call]
                optimizer.step()
                with torch.no_grad():
                    scores = layer(val_rows)
                    val_accuracy = float((scores.argmax(1) == val_targets).double().mean())
                    quality = (val_accuracy, -float(cross_entropy(scores, val_targets)))
                if quality > best:
                    best_layer, best = copy.deepcopy(layer), quality
        return float((best_layer(x[test]).argmax(1) == labels[test]).double().mean())

    torch.set_num_threads(1)  # as our probe
    return _over_splits(path, accuracy, count=DGI_SPLITS)


def fit_regressions_to_the_same_tolerance(path: str) -> dict[str, float]:
    from graphprox.evaluation.probe import LinearProbe

    return _fit_regressions(path, np.float64, max_iter=10_000, tol=LinearProbe().tol)


def fit_regressions_by_default(path: str) -> dict[str, float]:
    return _fit_regressions(path, np.float32, max_iter=1000)


REFERENCES = {
    "in all dimensions, to the same tolerance": fit_regressions_to_the_same_tolerance,
    "with its default tolerance, in single precision": fit_regressions_by_default,
}


def _fit_regressions(path: str, dtype: Any, **options: Any) -> dict[str, float]:
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import normalize

    from graphprox.evaluation.inputs import limit_to_one_thread
    from graphprox.evaluation.probe import LinearProbe

    def accuracy(embedding: Any, y: Any, split: Any) -> float:
        rows = normalize(embedding.astype(dtype))
        fitted = [LogisticRegression(C=c, **options).fit(rows[split.train], y[split.train]) for c in LinearProbe().cs]
        accuracies = [each.score(rows[split.val], y[split.val]) for each in fitted]
        return float(fitted[int(np.argmax(accuracies))].score(rows[split.test], y[split.test]))

    # As our probe: with more threads the reference would be slower.
    with limit_to_one_thread():
        return _over_splits(path, accuracy)


def _over_splits(
    path: str, accuracy: Callable[[Any, Any, Any], float], *, count: int = LINEAR_SPLITS
) -> dict[str, float]:
    """Return the seconds of all probes, without loading, and their mean accuracy."""
    from graphprox import random_split

    rows, graph = np.load(path), _load_graph()
    splits = [random_split(graph, random_state=each, stream="legacy") for each in range(count)]
    start = time.perf_counter()
    accuracies = [accuracy(rows, graph.y, split) for split in splits]
    return {"seconds": time.perf_counter() - start, "accuracy": float(np.mean(accuracies))}


def _warm_up() -> None:
    """Import what scikit-learn loads on first use."""
    from graphprox import random_split, synthetic
    from graphprox.evaluation.probe import LinearProbe

    graph = synthetic(nodes=140)
    LinearProbe().evaluate(graph.x, graph.y, random_split(graph, random_state=0))


for each in (fit_linear_probes, *REFERENCES.values(), fit_dgi_probes, fit_torch_layers):
    each.warm_up = _warm_up
