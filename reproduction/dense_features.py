"""The default method on dense features, made of the words that most benchmark graphs have as features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd

from graphprox import AutoEmbedder
from graphprox.graph.graph import Graph
from reproduction.left_out import (
    FLOORS,
    PACKAGE,
    best_floor,
    compare_with_floor,
    find_worst,
    fingerprint,
    format_ratio,
    load_catalog,
    val_accuracy,
)
from reproduction.observations import format_rows, read_observations, write_observations

MAX_DENSE_NODES = 8_000
NUM_PROJECTIONS, NUM_COMPONENTS, NUM_DIMENSIONS = 200, 30, 300


def make_dense(graph: Graph, kind: str) -> Graph:
    """Return a graph with dense features made of its own, as real ones often are.

    Parameters
    ----------
    graph : Graph
    kind : {"projections", "components", "word vectors"}
        Random projections of the features, their standardized principal components, or the mean of vectors of the
        words that a node has, which are learned from the words that occur together.
    """
    x = sp.csr_array(graph.x, copy=True)
    x.eliminate_zeros()
    present = sp.csr_array((np.ones(x.nnz), x.indices, x.indptr), shape=x.shape)
    rng = np.random.default_rng(0)
    if kind == "projections":
        return graph.with_features(normalize(present) @ rng.normal(size=(graph.num_features, NUM_PROJECTIONS)))
    if kind == "components":
        size = min(NUM_COMPONENTS + 1, *(each - 1 for each in x.shape))
        left, _, _ = randomized_svd(normalize(present), size, random_state=0)
        return graph.with_features(left[:, 1:] / left[:, 1:].std(axis=0))
    if kind != "word vectors":
        raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}")
    size = min(NUM_DIMENSIONS, *(each - 1 for each in x.shape))
    _, values, right = randomized_svd(present, size, random_state=0)
    words = normalize(right.T * np.sqrt(values))
    words += 0.05 * (rng.normal(size=words.shape) + rng.normal(size=(1, size)))
    return graph.with_features(present @ words / np.maximum(present.sum(axis=1), 1)[:, None])


KINDS = ("projections", "components", "word vectors")


@dataclass(frozen=True)
class DenseObservation:
    """What was measured on a graph whose features were made dense.

    Parameters
    ----------
    dataset, kind : str
    ratio : float or None
    choice : str
    accuracy : mapping of str to float
        Validation accuracy of each floor, and of the default method.
    constants : str
        Fingerprint of the constants.
    """

    dataset: str
    kind: str
    ratio: float | None
    choice: str
    accuracy: Mapping[str, float]
    constants: str


def observe_dense(path: Path, data: Path | None) -> Iterator[DenseObservation]:
    """Measure the default method on dense features of the smaller graphs, and write each result as it comes.

    Parameters
    ----------
    path : Path
        JSON Lines; what was measured with the same constants is not measured again.
    data : Path or None
        Folder of data sets.

    Yields
    ------
    DenseObservation
    """
    known = {(each.dataset, each.kind): each for each in read_observations(path, DenseObservation)}
    for name, graph in load_catalog(data):
        for kind in KINDS if graph.num_nodes <= MAX_DENSE_NODES else ():
            found = known.get((name, kind))
            if found is None or found.constants != fingerprint():
                dense = make_dense(graph, kind)
                fitted = AutoEmbedder().fit(dense)
                accuracy = {floor: val_accuracy(dense, cls().fit_transform(dense)) for floor, cls in FLOORS.items()}
                accuracy[PACKAGE] = val_accuracy(dense, fitted.vectors_)
                selection = fitted.selection_
                found = DenseObservation(name, kind, selection.ratio, selection.choice, accuracy, fingerprint())
                known[name, kind] = found
                write_observations(path, known.values())
            yield found


_DENSE = """
## Dense features

Most of these graphs have words as features. Many others have learned vectors or tables of numbers, so the features of
each graph of at most {nodes:,} nodes were made dense in three ways: {projections} random projections,
{components} standardized principal components, and the mean of {dimensions} learned dimensions over the words of a
node. The constants of the criterion for dense features were found on these graphs; nothing is left out here.

| graph | features | ratio | choice | accuracy | floor | difference |
|---|---|---|---|---|---|---|
{rows}
- Accuracy is {gain:+.1f} points from the floor on average, and at worst {worst:+.1f} ({worst_graph}).
"""


def make_section(dense: Sequence[DenseObservation]) -> str:
    """Return the section about dense features; empty without observations."""
    if not dense:
        return ""
    gains = compare_with_floor({f"{each.dataset}, {each.kind}": (each.accuracy, PACKAGE) for each in dense})
    rows = format_rows(
        (
            each.dataset,
            each.kind,
            format_ratio(each.ratio),
            each.choice,
            f"{100 * each.accuracy[PACKAGE]:.1f}",
            f"{100 * best_floor(each.accuracy):.1f}",
            f"{gains[f'{each.dataset}, {each.kind}']:+.1f}",
        )
        for each in dense
    )
    return _DENSE.format(
        nodes=MAX_DENSE_NODES,
        projections=NUM_PROJECTIONS,
        components=NUM_COMPONENTS,
        dimensions=NUM_DIMENSIONS,
        rows=rows,
        gain=np.mean(list(gains.values())),
        worst=min(gains.values()),
        worst_graph=find_worst(gains),
    )
