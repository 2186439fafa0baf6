"""The search for each row's most similar rows: from a matrix to a Ranking."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from graphprox.arrays import FloatArray, MatrixLike
from graphprox.errors import LowRecallWarning
from graphprox.proximity.descriptors import Progress
from graphprox.proximity.directions import Directions, directions
from graphprox.proximity.engines import AUTO, ENGINES, chosen_engine
from graphprox.proximity.exact import TIE, Candidates, exact_candidates
from graphprox.proximity.options import check_whole
from graphprox.proximity.ranking import NOBODY, Ranking

MOST_SEED = 2**63 - 1
LOW_RECALL = 0.95
RECALL_SAMPLE = 1_000  # nodes whose exact neighbours tell the recall of an approximate engine


def rank(
    matrix: MatrixLike, *, k_max: int = 10, seed: int = 0, engine: str = AUTO, progress: Progress | None = None
) -> Ranking:
    """The ``k_max`` rows of highest cosine for every row of a matrix, (nodes, columns), dense or sparse.

    A row is never its own neighbour, and neither is one of cosine 0 or less: rows of zeros have no neighbours.
    Similarities that agree to 1e-6 are ties. Which of the tied rows are taken, and in which order, is drawn for each
    row by itself from the seed, so that no row becomes everybody's favourite.

    ``engine`` is one of `ENGINES`; "auto" takes the exact one unless that would take long, then an approximate one,
    whose recall on a sample the ranking tells. Few rows are searched exactly, whatever is asked for.
    ``progress`` is called with a stage, how many nodes are done, and of how many.

    >>> rank([[1, 0], [1, 0.1], [0, 1], [0, 0]], k_max=2).neighbors.tolist()
    [[1, -1], [0, 2], [1, -1], [-1, -1]]
    """
    check_whole(k_max=k_max)
    check_whole(least=0, most=MOST_SEED, seed=seed)
    found = directions(matrix)
    name = chosen_engine(engine, found)
    candidates = ENGINES[name](found, int(k_max), int(seed))
    neighbors, similarities = _placed(found, candidates, k_max=int(k_max), seed=int(seed), progress=progress)
    recall = _recall(found, similarities, seed=int(seed)) if name != "exact" else 1.0
    if recall < LOW_RECALL:
        warnings.warn(
            f"the search found {recall:.0%} of the nearest neighbours, on a sample: the rows have little structure, or "
            'too many columns, for it; engine="exact" finds all, and takes longer',
            LowRecallWarning,
            stacklevel=2,
        )
    return Ranking(neighbors, similarities, engine=name, recall=recall)


def _placed(
    found: Directions, candidates: Iterable[Candidates], *, k_max: int, seed: int, progress: Progress | None = None
) -> tuple[NDArray[np.int32], FloatArray]:
    """The neighbours of all nodes whose directions have candidates, and their similarities, (nodes, k_max) each."""
    from graphprox.proximity import kernels
    from graphprox.proximity.compiled import in_parallel

    neighbors = np.full((found.num_nodes, k_max), NOBODY, np.int32)
    similarities = np.zeros((found.num_nodes, k_max), np.float32)
    state = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]
    done = found.num_nodes - len(found.members)  # rows of zeros
    for block in candidates:
        listed = (block.rows, block.start, block.columns, block.similarity)
        groups = (found.start, found.members)
        place = partial(kernels.place_neighbors, *listed, *groups, state, TIE, neighbors, similarities)
        in_parallel(place, len(block.rows))
        done = min(found.num_nodes, done + int((found.start[block.rows + 1] - found.start[block.rows]).sum()))
        if progress is not None:
            progress("neighbours", done, found.num_nodes)
    return neighbors, similarities


def _recall(found: Directions, similarities: FloatArray, *, seed: int) -> float:
    """The share of true neighbours that were found, on a sample of nodes.

    A neighbour counts where it is as similar as the last true one, so that one of equals is as good as another.
    """
    if not len(found.members):
        return 1.0
    rng = np.random.default_rng([seed, RECALL_SAMPLE])
    nodes = np.sort(rng.choice(found.members, min(RECALL_SAMPLE, len(found.members)), replace=False))
    k_max = similarities.shape[1]
    rows = np.unique(found.of_node[nodes])
    _, exact = _placed(found, exact_candidates(found, rows, k_max), k_max=k_max, seed=seed)
    exact, similarities = exact[nodes], similarities[nodes]
    last = np.where(exact > 0, exact, np.inf).min(axis=1)
    hits = ((similarities > 0) & (similarities >= last[:, None] - TIE)).sum()
    return float(hits / max(1, (exact > 0).sum()))
