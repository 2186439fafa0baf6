"""From a matrix to a Ranking: the most similar rows of each row."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from graphprox._utils.arrays import FloatArray, MatrixLike
from graphprox._utils.checks import check_integer
from graphprox._utils.progress import Progress
from graphprox._utils.random import RandomState, check_seed
from graphprox._utils.stacklevel import warn
from graphprox._utils.team import current_team
from graphprox.errors import LowRecallWarning
from graphprox.views.ranking import NO_NEIGHBOR, Ranking
from graphprox.views.search.directions import Directions, find_directions
from graphprox.views.search.engines import AUTO, ENGINES, select_engine
from graphprox.views.search.exact import TIE_TOLERANCE, Candidates, find_exact_candidates
from graphprox.views.search.recall import estimate_recall

LOW_RECALL = 0.95


def rank(
    matrix: MatrixLike,
    *,
    k_max: int = 10,
    random_state: RandomState = 0,
    engine: str = AUTO,
    progress: Progress | None = None,
) -> Ranking:
    """Rank the rows of highest cosine similarity for every row of a matrix.

    A row is never its own neighbor, nor is one of cosine 0 or less: rows of zeros have no neighbors. Similarities that
    differ by at most 1e-6 are ties. Ties are broken at random, independently for each row, so that no row becomes a
    hub by its position.

    Parameters
    ----------
    matrix : array-like or sparse matrix of shape (num_nodes, num_columns)
    k_max : int, default=10
        Number of neighbors per row.
    random_state : int, RandomState, Generator or None, default=0
        Seed of ties and of approximate engines.
    engine : {"auto", "exact", "descent", "hnsw", "ivf", "lsh"}, default="auto"
        "auto" is exact unless that would take long, and "descent" otherwise. Matrices with few distinct rows are always
        searched exactly.
    progress : callable, optional
        Called as ``progress(stage, done, total)``.

    Returns
    -------
    Ranking
        With the engine used, and its recall as estimated on a sample of rows.

    Warns
    -----
    LowRecallWarning
        If an approximate engine found less than 95 % of the nearest neighbors.

    Examples
    --------
    >>> rank([[1, 0], [1, 0.1], [0, 1], [0, 0]], k_max=2).neighbors.tolist()
    [[1, -1], [0, 2], [1, -1], [-1, -1]]
    """
    check_integer(k_max=k_max)
    seed = check_seed(random_state)
    directions = find_directions(matrix)
    name = select_engine(engine, directions)
    candidates = _find_candidates(name, directions, int(k_max), seed)
    neighbors, similarities = _place_neighbors(directions, candidates, k_max=int(k_max), seed=seed, progress=progress)
    _merge_neighbors(neighbors, similarities)
    neighbors.flags.writeable = similarities.flags.writeable = False  # a `Ranking` does not copy them then
    recall = estimate_recall(directions, similarities, seed=seed) if name != "exact" else 1.0
    if recall < LOW_RECALL:
        warn(
            f"the approximate search found {recall:.0%} of the nearest neighbors on a sample of rows; "
            'engine="exact" finds all of them but is slower',
            LowRecallWarning,
        )
    return Ranking(neighbors, similarities, engine=name, recall=recall)


def _find_candidates(engine: str, directions: Directions, k_max: int, seed: int) -> Iterable[Candidates]:
    """Return the candidates that this process finds: exactly those of its directions, or all if it is the first."""
    team = current_team()
    if team.size == 1:
        return ENGINES[engine](directions, k_max, seed)
    if engine == "exact":
        own = team.all_rows(len(directions))[team.rank]
        return find_exact_candidates(directions, np.arange(own.start, own.stop), k_max)
    return ENGINES[engine](directions, k_max, seed) if team.rank == 0 else ()


def _merge_neighbors(neighbors: NDArray[np.int32], similarities: FloatArray) -> None:
    """Add what other processes have found: for each node, only one of them has searched."""
    team = current_team()
    if team.size > 1:
        neighbors -= NO_NEIGHBOR
        team.add_up(neighbors)
        neighbors += NO_NEIGHBOR
        team.add_up(similarities)


def _place_neighbors(
    directions: Directions, candidates: Iterable[Candidates], *, k_max: int, seed: int, progress: Progress | None = None
) -> tuple[NDArray[np.int32], FloatArray]:
    """Return neighbors and similarities, (num_nodes, k_max) each, of all nodes whose direction has candidates."""
    from graphprox._utils.numba_helpers import run_in_parallel
    from graphprox.views.search import kernels

    neighbors = np.full((directions.num_nodes, k_max), NO_NEIGHBOR, np.int32)
    similarities = np.zeros((directions.num_nodes, k_max), np.float32)
    state = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]
    start = directions.start
    done = directions.num_nodes - len(directions.members)  # rows of zeros
    for block in candidates:
        listed = (block.rows, block.start, block.columns, block.similarity)
        groups = (start, directions.members)
        place = partial(kernels.place_neighbors, *listed, *groups, state, TIE_TOLERANCE, neighbors, similarities)
        run_in_parallel(place, len(block.rows))
        done = min(directions.num_nodes, done + int((start[block.rows + 1] - start[block.rows]).sum()))
        if progress is not None:
            progress("neighbors", done, directions.num_nodes)
    return neighbors, similarities
