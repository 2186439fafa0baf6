"""The recall of an approximate search: the similarities it found against the highest ones, on a sample of nodes."""

from __future__ import annotations

from functools import partial

import numpy as np

from graphprox._utils.arrays import FloatArray, IntArray
from graphprox.views.search.directions import Directions
from graphprox.views.search.exact import (
    TIE_TOLERANCE,
    Candidates,
    compute_similarities,
    cumulate_counts,
    find_exact_candidates,
)
from graphprox.views.search.unit_rows import DenseRows, iterate_blocks

SAMPLE = 1_000  # nodes that are searched exactly
NUM_EXTRA = 8  # directions beyond those needed, as cosines in float32 may be in another order


def estimate_recall(directions: Directions, similarities: FloatArray, *, seed: int) -> float:
    """Return the share of the nearest neighbors that were found, on a sample of nodes.

    A neighbor is correct if it is as similar as the last of the exact ones: ties are interchangeable.

    Parameters
    ----------
    directions : Directions
    similarities : ndarray of shape (num_nodes, k_max)
        Those that were found, 0 for none.
    seed : int
        Random seed of the sample.

    Returns
    -------
    float
    """
    if not len(directions.members):
        return 1.0
    rng = np.random.default_rng([seed, SAMPLE])
    nodes = np.sort(rng.choice(directions.members, min(SAMPLE, len(directions.members)), replace=False))
    rows, places = np.unique(directions.of_node[nodes], return_inverse=True)
    exact = find_highest(directions, rows, similarities.shape[1])[places]
    found = similarities[nodes]
    last = np.where(exact > 0, exact, np.inf).min(axis=1)
    hits = ((found > 0) & (found >= last[:, None] - TIE_TOLERANCE)).sum()
    return float(hits / max(1, (exact > 0).sum()))


def find_highest(directions: Directions, rows: IntArray, k_max: int) -> FloatArray:
    """Return the similarities of the nearest nodes of some directions, exactly.

    Parameters
    ----------
    directions : Directions
    rows : ndarray of shape (n_rows,)
        Directions, ascending.
    k_max : int

    Returns
    -------
    ndarray of shape (n_rows, k_max)
        Not increasing along a row, 0 where there are fewer nodes.
    """
    if isinstance(directions.rows, DenseRows):
        blocks = iter([_find_nearest(directions, rows, k_max)])
    else:
        blocks = find_exact_candidates(directions, rows, k_max)
    highest = np.zeros((len(rows), k_max), np.float32)
    sizes = np.diff(directions.start)
    for block in blocks:
        for at, row in enumerate(block.rows):
            listed = slice(block.start[at], block.start[at + 1])
            columns = np.append(row, block.columns[listed])
            similar = np.append(1.0, np.minimum(block.similarity[listed], 1.0))
            counts = np.where(columns == row, sizes[columns] - 1, sizes[columns])  # a node is not its own neighbor
            order = np.argsort(-similar, kind="stable")
            chosen = np.repeat(similar[order], np.minimum(counts[order], k_max))[:k_max]
            highest[np.searchsorted(rows, row), : len(chosen)] = np.maximum(chosen, 0)
    return highest


def _find_nearest(directions: Directions, rows: IntArray, k: int) -> Candidates:
    """Return the nearest directions of some by comparing them with all, which are read in blocks."""
    from graphprox._utils.numba_helpers import run_in_parallel
    from graphprox.views.search.neighbor_lists import compare_sample, write_rows
    from graphprox.views.search.products import pad_matrix

    lists = np.zeros((len(rows), k + NUM_EXTRA), np.int64)
    sample = pad_matrix(directions.rows.read(rows))
    for block in iterate_blocks(len(directions)):
        compare = partial(compare_sample, sample, rows, pad_matrix(directions.rows.read(block)), block, lists)
        run_in_parallel(compare, len(rows))
    columns = np.empty(lists.shape, np.int32)
    write_rows(lists, np.arange(len(directions), dtype=np.int32), columns, 0, len(lists))
    valid = columns >= 0
    start = cumulate_counts(valid.sum(axis=1))
    return Candidates(rows, start, columns[valid], compute_similarities(directions, rows, start, columns[valid]))
