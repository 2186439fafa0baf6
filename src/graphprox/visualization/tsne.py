"""t-SNE by openTSNE, from the package's own neighbor search.

Neighbors are those by cosine, as in `Embedding.nearest`. What is not computed row by row runs on a single thread: the
last digits of a sum depend on the number of threads, and t-SNE amplifies them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphprox._utils.arrays import FloatArray, IntArray
from graphprox._utils.progress import current_progress
from graphprox.errors import ParameterError

MIN_NODES = 10  # fewer are placed by their principal components
EXACT_NODES = 2_000  # up to so many, nodes of negative cosine are neighbors too
_EARLY, _LATE = 250, 500  # iterations with and without exaggeration, the defaults of openTSNE
_CALLBACK_EVERY = 25


def check_extra() -> None:
    """Check that openTSNE is installed.

    Raises
    ------
    ParameterError
        If it is not.
    """
    try:
        import openTSNE  # noqa: F401
    except ImportError:
        raise ParameterError("a map needs openTSNE, which is not installed: pip install 'graphprox[plots]'") from None


def to_directions(vectors: NDArray[Any]) -> FloatArray:
    """Return the vectors with length 1; equal ones for all vectors of zeros, which have no direction.

    Parameters
    ----------
    vectors : ndarray of shape (num_nodes, n_components)

    Returns
    -------
    ndarray of shape (num_nodes, n_components or n_components + 1)

    Examples
    --------
    >>> to_directions(np.array([[2.0, 0.0], [0.0, 0.0], [0.0, 0.0]])).tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]
    """
    largest = np.abs(vectors).max(axis=1, keepdims=True).astype(np.float64)
    is_zero = largest[:, 0] == 0
    scaled = vectors / np.where(largest == 0, 1, largest)  # their squares neither overflow nor underflow
    unit = scaled / np.where(is_zero, 1, np.sqrt(np.square(scaled).sum(axis=1)))[:, None]
    if is_zero.any():
        unit = np.column_stack([unit, is_zero])
    return np.ascontiguousarray(unit, dtype=np.float32)


def lay_out(unit: FloatArray, *, perplexity: float, seed: int) -> FloatArray:
    """Place nodes in the plane by t-SNE, initialized by principal components.

    Parameters
    ----------
    unit : ndarray of shape (num_nodes, n_components)
        Directions of the vectors, of length 1.
    perplexity : float
        Number of neighbors that count; less if there are fewer than three times as many nodes.
    seed : int
        Random seed.

    Returns
    -------
    ndarray of shape (num_nodes, 2)
        float32, the same bytes for any number of threads.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        start = _principal_components(unit, seed)
    if len(unit) < MIN_NODES:
        return start.astype(np.float32)
    num_neighbors = min(int(3 * perplexity), len(unit) - 1)
    neighbors, distances = _find_neighbors(unit, num_neighbors, seed)
    with threadpool_limits(1), warnings.catch_warnings():
        # openTSNE calls functions of NumPy and scikit-learn that newer versions deprecate.
        warnings.simplefilter("ignore", (DeprecationWarning, FutureWarning))
        return _optimize(neighbors, distances, start, perplexity=min(perplexity, num_neighbors / 3), seed=seed)


def _principal_components(unit: FloatArray, seed: int) -> NDArray[np.float64]:
    """Return the first two principal components, (num_nodes, 2); zeros if there are fewer."""
    from sklearn.decomposition import PCA

    start = np.zeros((len(unit), 2))
    size = min(2, *unit.shape)
    if (unit != unit[0]).any():
        solver = "full" if min(unit.shape) < MIN_NODES else "randomized"
        start[:, :size] = PCA(size, svd_solver=solver, random_state=seed).fit_transform(unit)
    return start


def _find_neighbors(unit: FloatArray, k: int, seed: int) -> tuple[IntArray, NDArray[np.float64]]:
    """Return the k nearest nodes of each node and their distances, (num_nodes, k) each."""
    from graphprox.similarity_search import nearest
    from graphprox.views.search import rank

    ranking = rank(unit, k_max=k, random_state=seed, progress=current_progress())
    neighbors, cosines = ranking.neighbors.astype(np.int64), ranking.similarities.astype(np.float64)
    incomplete = np.flatnonzero(neighbors[:, -1] < 0)
    if len(unit) <= EXACT_NODES and len(incomplete):
        exact = nearest(unit, incomplete, k=k)
        neighbors[incomplete], cosines[incomplete] = exact.nodes, exact.scores
    elif len(incomplete):
        # All other nodes are at least as far as at a right angle: any of them may fill the row.
        rng = np.random.default_rng([seed, k])
        row, place = np.nonzero(neighbors < 0)
        neighbors[row, place] = (row + rng.integers(1, len(unit), len(row))) % len(unit)
    return neighbors, np.sqrt(np.maximum(2 - 2 * cosines, 0))


def _optimize(
    neighbors: IntArray, distances: NDArray[np.float64], start: NDArray[np.float64], *, perplexity: float, seed: int
) -> FloatArray:
    from openTSNE import TSNEEmbedding, affinity, initialization, nearest_neighbors

    affinities = affinity.PerplexityBasedNN(
        perplexity=perplexity, knn_index=nearest_neighbors.PrecomputedNeighbors(neighbors, distances), n_jobs=1
    )
    if start.any():
        initialization.rescale(start, inplace=True)
    # Equal points would stay equal: nothing would push them apart.
    initialization.jitter(start, inplace=True, random_state=seed)
    points = TSNEEmbedding(
        start,
        affinities,
        n_jobs=1,
        random_state=seed,
        callbacks=[_report_from(0)],
        callbacks_every_iters=_CALLBACK_EVERY,
    )
    points = points.optimize(n_iter=_EARLY, exaggeration=12, momentum=0.5)
    points = points.optimize(n_iter=_LATE, momentum=0.8, callbacks=[_report_from(_EARLY)])
    return np.array(points, dtype=np.float32)


def _report_from(done: int) -> Callable[[int, float, Any], None]:
    progress = current_progress()

    def report(iteration: int, error: float, embedding: Any) -> None:  # noqa: ARG001 - as openTSNE calls it
        if progress is not None:
            progress("map", done + iteration, _EARLY + _LATE)

    return report
