"""Neighbor similarity: how much of what a node is about its neighbors share, and how noisy its own features are.

Suppose that the features of a node are what it is about, a share s of their variance, and noise. If edges join nodes of
a kind, the similarity of neighbors is near = λ s, where λ is the homophily, and that of two neighbors of a node, which
are two steps apart, is far = λ² s. So both unknowns follow: λ = far / near and s = near² / far. The mean of d neighbors
then says d λ² (1 - s) / (1 - λ² s) times as much about a node, signal to noise, as its own features do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from graphprox._utils.arrays import FloatArray, IntArray
from graphprox._utils.mapped import release_pages
from graphprox._utils.progress import Progress
from graphprox._utils.team import Team, current_team
from graphprox.auto.criteria.base import BALANCED, BOTH, GRAPH, RATIOS, Evidence, register_criterion
from graphprox.auto.outputs.base import PreparedGraph
from graphprox.auto.preparation import MAX_DIRECTIONS, Preparation
from graphprox.auto.row_store import RowStore, row_blocks
from graphprox.graph.graph import Graph

Doubles: TypeAlias = NDArray[np.float64]

MIN_CENTERS = 20  # nodes with two neighbors that are not connected; with fewer, nothing can be concluded
MAX_CENTERS, PAIRS = 10_000, 20  # nodes, and pairs of neighbors of each, that are compared at most
BLOCK = 20_000  # pairs that are compared at once
# Ratio by how much neighbors say, compared with own features; less if neighbors are less similar than what is two
# steps apart, by near / far.
GAINS, GAIN_RATIOS = (0.0, 1.0, 2.0), (RATIOS[BOTH], RATIOS[BALANCED], RATIOS[GRAPH])
QUOTIENTS, QUOTIENT_RATIOS = (0.4, 0.8), (RATIOS[BOTH], RATIOS[BALANCED])
MAX_SIGNAL = 0.999  # no features are without any noise
SIGNIFICANT = 2.0  # similarity of neighbors, in standard errors, of which half is believed
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
    store = RowStore.of(graph.num_nodes, 2 * MAX_DIRECTIONS, current_team())
    rows = Preparation.fit(graph.x, random_state=random_state, team=store.team).transform(graph.x, store)
    prepared = PreparedGraph(graph, rows, random_state, store=store)
    centers, one, other, weights = sample_open_pairs(prepared, random_state)
    progress("choosing", 1, 1)
    if len(np.unique(centers)) < MIN_CENTERS:
        return Evidence(None, meaning="too few nodes have two neighbors that are not connected")
    compared = _ComparedRows(rows, graph.num_nodes, store.team, (centers, one, other))
    scale = compared.center(np.concatenate([one, other]))
    if scale == 0:
        return Evidence(None, meaning="the features of all nodes are equal")
    near, far = np.empty(len(centers)), np.empty(len(centers))
    for start in range(0, len(centers), BLOCK):
        part = slice(start, start + BLOCK)
        left, right = compared.read(one[part]), compared.read(other[part])
        near[part] = np.einsum("ij,ij->i", compared.read(centers[part]), left + right) / (2 * scale)
        far[part] = np.einsum("ij,ij->i", left, right) / scale
    mean_near, error = _mean_and_error(near, weights, centers)
    mean_far, _ = _mean_and_error(far, weights, centers)
    return Evidence(
        judge_similarities(mean_near, mean_far, error, _effective_neighbors(prepared)),
        {"neighbors": mean_near, "two steps apart": mean_far},
        "as similar as a node to itself",
    )


class _ComparedRows:
    """Centered unit rows of nodes that are compared: all of them, or those that are needed if there are many others.

    Parameters
    ----------
    rows : ndarray of shape (own rows, channels)
    num_nodes : int
        Number of nodes of all processes.
    team : Team
        Processes that rows are divided among. Each keeps its own, and reads those of others.
    nodes : sequence of ndarray
        Nodes that are compared.
    """

    def __init__(self, rows: FloatArray, num_nodes: int, team: Team, nodes: Sequence[IntArray]) -> None:
        self._team, self._num_nodes = team, num_nodes
        if team.size == 1 and len(row_blocks(num_nodes)) == 1:
            self._chosen = np.arange(num_nodes)
            self._rows = normalize(rows - rows.mean(axis=0))
            return
        total = np.zeros(rows.shape[1])
        for block in row_blocks(len(rows)):
            total += rows[block].sum(axis=0, dtype=np.float64)
            release_pages(rows)
        team.add_up(total)
        own = team.rows(num_nodes)
        needed = np.unique(np.concatenate(nodes))
        self._chosen = needed[(needed >= own.start) & (needed < own.stop)]
        self._rows = rows[self._chosen - own.start] - (total / num_nodes).astype(np.float32)
        if len(self._chosen):  # a process may have none of them
            self._rows = normalize(self._rows)
        release_pages(rows)

    def center(self, nodes: IntArray) -> np.float64:
        """Subtract the mean row of some nodes, which may occur more than once; return their mean squared length."""
        counts = np.bincount(nodes, minlength=self._num_nodes)[self._chosen]
        total = self._add_up(counts @ self._rows)  # ends of edges are seldom typical nodes
        self._rows -= total / len(nodes)
        # Unlike a float, it makes what is divided by it double precision.
        return np.float64(self._add_up(counts @ (self._rows**2).sum(axis=1))) / len(nodes)

    def read(self, nodes: IntArray) -> FloatArray:
        """Return the rows of some nodes, in each process."""
        places = np.searchsorted(self._chosen, nodes)
        if self._team.size == 1:
            rows: FloatArray = self._rows[places]
            return rows
        own = self._team.rows(self._num_nodes)
        is_own = (nodes >= own.start) & (nodes < own.stop)
        read: FloatArray = np.zeros((len(nodes), self._rows.shape[1]), self._rows.dtype)
        read[is_own] = self._rows[places[is_own]]
        self._team.add_up(read)
        return read

    def _add_up(self, value: NDArray[Any]) -> NDArray[Any]:
        total = np.array(value)
        self._team.add_up(total)
        return total


def sample_open_pairs(prepared: PreparedGraph, random_state: int) -> tuple[IntArray, IntArray, IntArray, Doubles]:
    """Draw pairs of neighbors of a node that are not connected with each other.

    Parameters
    ----------
    prepared : PreparedGraph
    random_state : int

    Returns
    -------
    tuple of four ndarrays of shape (num_pairs,)
        The node, two of its neighbors, and the product of the weights of the two edges.

    Examples
    --------
    >>> from graphprox import Graph
    >>> path = PreparedGraph(Graph(np.eye(3), [[0, 1], [1, 2]]), np.eye(3), random_state=0)
    >>> [sorted(set(each.tolist())) for each in sample_open_pairs(path, 0)]
    [[1], [0, 2], [0, 2], [1.0]]
    """
    rng = np.random.default_rng([random_state, 2])
    neighbors, degree = prepared.neighbors, prepared.num_neighbors
    centers = np.flatnonzero(degree > 1)
    if len(centers) > MAX_CENTERS:
        centers = rng.choice(centers, MAX_CENTERS, replace=False)
    centers = np.repeat(centers, PAIRS)
    first = rng.integers(0, degree[centers])
    second = (first + rng.integers(1, degree[centers])) % degree[centers]
    places = [neighbors.indptr[centers] + place for place in (first, second)]
    one, other = (neighbors.indices[place].astype(np.int64) for place in places)
    weights = neighbors.data[places[0]].astype(np.float64) * neighbors.data[places[1]]
    is_open = np.asarray(neighbors[one, other]).ravel() == 0 if len(one) else np.zeros(0, bool)
    return centers[is_open], one[is_open], other[is_open], weights[is_open]


def judge_similarities(near: float, far: float, error: float, num_neighbors: float) -> float:
    """Return how informative edges are, compared with features.

    Parameters
    ----------
    near, far : float
        Similarity of neighbors, and of nodes two steps apart.
    error : float
        Standard error of the first.
    num_neighbors : float
        Number of neighbors of a typical node.

    Returns
    -------
    float
        That of *balanced* if neighbors are not similar: either edges or features may then be noise. The nearer to it
        the less certain the similarity of neighbors is, and to that of *both* the less precise.

    Examples
    --------
    >>> judge_similarities(0.2, 0.1, 0.0, 20.0), judge_similarities(-0.1, 0.1, 0.0, 20.0)
    (1.25, 1.0)
    """
    ratio = RATIOS[BALANCED]
    if near > 0:
        homophily = min(max(far, 0.0) / near, 1.0)
        signal = min(near / homophily, MAX_SIGNAL) if homophily > 0 else MAX_SIGNAL
        gain = num_neighbors * homophily**2 * (1 - signal) / (1 - homophily**2 * signal)
        found = float(np.interp(gain, GAINS, GAIN_RATIOS))
        if far > near:
            found = float(np.interp(near / far, (*QUOTIENTS, 1.0), (*QUOTIENT_RATIOS, max(found, RATIOS[BALANCED]))))
        ratio += (found - ratio) * near**2 / (near**2 + (SIGNIFICANT * error) ** 2)
    return RATIOS[BOTH] + (ratio - RATIOS[BOTH]) / (1 + (error / PRECISE) ** 2)


def _mean_and_error(values: Doubles, weights: Doubles, groups: IntArray) -> tuple[float, float]:
    """Return the mean of the weighted means of groups, and its standard error."""
    _, group = np.unique(groups, return_inverse=True)
    means = np.bincount(group, weights * values) / np.bincount(group, weights)
    return float(means.mean()), float(means.std() / np.sqrt(len(means)))


def _effective_neighbors(prepared: PreparedGraph) -> float:
    """Return how many neighbors of equal weight a node has on average, of the nodes that have any."""
    neighbors = prepared.neighbors
    if (neighbors.data == 1).all():
        return float(np.mean(prepared.num_neighbors[prepared.num_neighbors > 0].astype(np.float64)))
    weights = neighbors.astype(np.float64)
    total, squares = (np.asarray(each.sum(axis=1)).ravel() for each in (weights, weights.multiply(weights)))
    return float(np.mean(total[squares > 0] ** 2 / squares[squares > 0]))
