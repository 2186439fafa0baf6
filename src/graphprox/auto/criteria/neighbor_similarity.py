"""Neighbor similarity: whether a node is more like its neighbors than these are like each other.

Where edges join nodes of a kind, similarity fades with distance: neighbors are more similar than nodes two steps apart.
Where edges join unlike nodes, it is the other way round: what two students have in common is their teacher. Both
similarities suffer alike from noise in the features, which cancels in their quotient.
"""

from __future__ import annotations

import numpy as np
from sklearn.preprocessing import normalize

from graphprox._utils.arrays import FloatArray, IntArray
from graphprox._utils.progress import Progress
from graphprox.auto.criteria.base import Evidence, register_criterion
from graphprox.auto.outputs.base import PreparedGraph
from graphprox.auto.preparation import Preparation
from graphprox.graph.graph import Graph

MIN_CENTERS = 20  # nodes with two neighbors that are not connected; with fewer, nothing can be concluded
MAX_CENTERS, PAIRS = 10_000, 20  # nodes, and pairs of neighbors of each, that are compared at most
NOTHING, UNKNOWN = 0.88, 0.95  # ratios if neighbors are not similar at all, and if nothing is known
QUOTIENTS, RATIOS = (0.6, 0.8, 1.0, 1.3), (0.88, 0.95, 1.0, 1.25)  # in between, the ratio is interpolated
SIGNIFICANT = 2.0  # standard errors
PRECISE = 0.01  # standard error of which half of the evidence is believed


@register_criterion("neighbor-similarity")
def neighbor_similarity(graph: Graph, random_state: int, progress: Progress) -> Evidence:
    """Compare the similarity of neighbors with that of nodes two steps apart.

    Parameters
    ----------
    graph : Graph
    random_state : int
        Random seed of the pairs of neighbors.
    progress : callable

    Returns
    -------
    Evidence
        Its scores are mean products of centered features, relative to those of a node with itself.
    """
    progress("choosing", 0, 1)
    rows = Preparation.fit(graph.x, random_state=random_state).transform(graph.x)
    centers, one, other = sample_open_pairs(PreparedGraph(graph, rows, random_state), random_state)
    progress("choosing", 1, 1)
    found = np.unique(centers)
    if len(found) < MIN_CENTERS:
        return Evidence(None)
    ends = np.concatenate([one, other])
    centered = normalize(rows - rows.mean(axis=0))
    centered -= centered[ends].mean(axis=0)  # ends of edges are seldom typical nodes
    scale = float((centered[ends] ** 2).sum(axis=1).mean())
    if scale == 0:
        return Evidence(None)
    near = (centered[centers] * (centered[one] + centered[other])).sum(axis=1) / (2 * scale)
    far = (centered[one] * centered[other]).sum(axis=1) / scale
    mean_near, mean_far = float(near.mean()), float(far.mean())
    ratio = _judge(mean_near, mean_far, _standard_error(near, centers))
    return Evidence(ratio, {"neighbors": mean_near, "two steps apart": mean_far}, "as similar as a node to itself")


def sample_open_pairs(prepared: PreparedGraph, random_state: int) -> tuple[IntArray, IntArray, IntArray]:
    """Draw pairs of neighbors of a node that are not connected with each other.

    Parameters
    ----------
    prepared : PreparedGraph
    random_state : int

    Returns
    -------
    tuple of three ndarrays of shape (num_pairs,)
        The node, and two of its neighbors.

    Examples
    --------
    >>> from graphprox import Graph
    >>> path = PreparedGraph(Graph(np.eye(3), [[0, 1], [1, 2]]), np.eye(3), random_state=0)
    >>> [sorted(set(each.tolist())) for each in sample_open_pairs(path, 0)]
    [[1], [0, 2], [0, 2]]
    """
    rng = np.random.default_rng([random_state, 2])
    neighbors, degree = prepared.neighbors, prepared.num_neighbors
    centers = np.flatnonzero(degree > 1)
    if len(centers) > MAX_CENTERS:
        centers = rng.choice(centers, MAX_CENTERS, replace=False)
    centers = np.repeat(centers, PAIRS)
    first = rng.integers(0, degree[centers])
    second = (first + rng.integers(1, degree[centers])) % degree[centers]
    one, other = (neighbors.indices[neighbors.indptr[centers] + place].astype(np.int64) for place in (first, second))
    is_open = np.asarray(neighbors[one, other]).ravel() == 0 if len(one) else np.zeros(0, bool)
    return centers[is_open], one[is_open], other[is_open]


def _judge(near: float, far: float, error: float) -> float:
    """Return the ratio, the nearer to what it is without evidence the less precise the similarities are."""
    if near <= SIGNIFICANT * error:
        ratio = NOTHING
    else:
        ratio = float(np.interp(near / max(far, np.finfo(float).tiny), QUOTIENTS, RATIOS))
    return UNKNOWN + (ratio - UNKNOWN) / (1 + (error / PRECISE) ** 2)


def _standard_error(values: FloatArray, groups: IntArray) -> float:
    """Return the standard error of a mean of values, those of a group being dependent."""
    _, group = np.unique(groups, return_inverse=True)
    means = np.bincount(group, values) / np.bincount(group)
    return float(means.std() / np.sqrt(len(means)))
