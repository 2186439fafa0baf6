"""Who may be near whom: the exact search, and approximate ones for matrices over which it would take too long.

An approximate engine lists more rows than are asked for; their cosines are then computed as those of the exact one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphprox.arrays import FloatArray
from graphprox.errors import ParameterError
from graphprox.proximity.directions import Directions
from graphprox.proximity.exact import TIE, Candidates, exact_candidates, exact_work, similarities, starts

AUTO = "auto"
EXACT_WORK = 1.5e12  # multiplications that "auto" lets the exact search take: half a minute on two cores
FEW = 256  # different rows of which an approximate engine would make no sense: they are searched exactly
SLACK = 15  # rows that are listed beyond those asked for: ties are drawn from among them, and recall grows with it
LSH_BITS, LSH_LISTED = 512, 10  # a hash tells little: ten times as many are listed
CELLS_PROBED = 32
MOST_DENSE_COLUMNS = 1_024  # a sparse matrix of more columns is projected to SKETCH, where rows are to be dense
SKETCH = 512
ROWS_AT_ONCE = 65_536

Engine = Callable[[Directions, int, int], Iterator[Candidates]]  # of directions, k and seed
Listing = Callable[[slice], NDArray[Any]]  # rows -> (rows, any width): whom they list, -1 for nobody


def exact(found: Directions, k: int, _seed: int) -> Iterator[Candidates]:
    """Every row against every other."""
    return exact_candidates(found, np.arange(len(found)), k)


def descent(found: Directions, k: int, seed: int) -> Iterator[Candidates]:
    """Random trees, then neighbours of neighbours: our own, as it answers the same on any number of threads."""
    from graphprox.proximity.descent import probable_neighbors

    listed = probable_neighbors(_dense(found, seed), k + SLACK, seed)
    return _candidates(found, k, lambda rows: listed[rows])


def hnsw(found: Directions, k: int, _seed: int) -> Iterator[Candidates]:
    """Faiss's navigable small worlds: high recall, and long to build, as one thread has to do it."""
    import faiss

    unit = _dense(found, _seed)
    index = faiss.IndexHNSWFlat(unit.shape[1], 32, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction = 100
    index.hnsw.efSearch = 4 * (k + SLACK)
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)  # several threads would build another index each time
    try:
        index.add(unit)
    finally:
        faiss.omp_set_num_threads(threads)
    return _searched(found, index, unit, k, k + SLACK)


def ivf(found: Directions, k: int, seed: int) -> Iterator[Candidates]:
    """Faiss's inverted file: rows are compared with those of the cells near their own."""
    import faiss

    unit = _dense(found, seed)
    cells = max(1, int(2 * np.sqrt(len(unit))))
    index = faiss.IndexIVFFlat(faiss.IndexFlatIP(unit.shape[1]), unit.shape[1], cells, faiss.METRIC_INNER_PRODUCT)
    index.cp.seed = seed % 2**31
    index.cp.min_points_per_centroid = 1  # small matrices are no reason for a warning
    index.train(unit)
    index.add(unit)
    index.nprobe = CELLS_PROBED
    return _searched(found, index, unit, k, k + SLACK)


def lsh(found: Directions, k: int, seed: int) -> Iterator[Candidates]:
    """Locality-sensitive hashing, which the paper names: on which side of random planes a row lies."""
    import faiss

    unit = _dense(found, seed)
    rng = np.random.default_rng(seed)
    planes = rng.standard_normal((unit.shape[1], LSH_BITS), dtype=np.float32)
    bits = np.packbits(unit @ planes > 0, axis=1)
    index = faiss.IndexBinaryFlat(LSH_BITS)
    index.add(bits)
    return _searched(found, index, bits, k, LSH_LISTED * (k + SLACK))


ENGINES: dict[str, Engine] = {"exact": exact, "descent": descent, "hnsw": hnsw, "ivf": ivf, "lsh": lsh}


def chosen_engine(given: str, found: Directions) -> str:
    """The name of the engine; "auto" is the exact one wherever that takes no more than `EXACT_WORK`."""
    if given != AUTO and given not in ENGINES:
        raise ParameterError(f"engine must be one of {', '.join([AUTO, *ENGINES])}; got {given!r}")
    if len(found) <= FEW:
        return "exact"
    if given != AUTO:
        return given
    return "exact" if exact_work(found.unit) <= EXACT_WORK else "descent"


def _dense(found: Directions, seed: int) -> FloatArray:
    """The directions as dense rows; those of very many columns as projected at random, which keeps cosines roughly."""
    unit = found.unit
    if not isinstance(unit, sp.csr_array):
        return unit
    if unit.shape[1] <= MOST_DENSE_COLUMNS:
        return unit.toarray()
    projection = np.random.default_rng(seed).standard_normal((unit.shape[1], SKETCH), dtype=np.float32)
    sketch: FloatArray = unit @ projection
    sketch /= np.linalg.norm(sketch, axis=1, keepdims=True)
    return sketch


def _searched(found: Directions, index: Any, rows: NDArray[Any], k: int, width: int) -> Iterator[Candidates]:
    """The candidates that a faiss index lists for its own rows."""
    return _candidates(found, k, lambda block: index.search(rows[block], min(width, len(found)))[1])


def _candidates(found: Directions, k: int, listing: Listing) -> Iterator[Candidates]:
    """Whom an engine lists, with their cosines; rows for which all whom it lists tie are searched exactly instead."""
    all_tie = []
    for first in range(0, len(found), ROWS_AT_ONCE):
        block = slice(first, min(first + ROWS_AT_ONCE, len(found)))
        rows = np.arange(block.start, block.stop)
        listed = np.sort(listing(block).astype(np.int32), axis=1)
        real = (listed >= 0) & (listed != rows[:, None])
        real[:, 1:] &= listed[:, 1:] != listed[:, :-1]
        start, columns = starts(real.sum(axis=1)), listed[real]
        similarity = similarities(found, rows, start, columns)
        open_end = _ends_in_a_tie(similarity, real, k)
        if open_end.any():
            all_tie.append(rows[open_end])
        yield Candidates(rows, start, columns, similarity)
    again = np.concatenate([np.empty(0, np.int64), *all_tie])
    # They overwrite what was placed before. Where that would take too long, the choice is among those that were listed.
    if len(again) and exact_work(found.unit) * len(again) / len(found) <= EXACT_WORK:
        yield from exact_candidates(found, again, k)


def _ends_in_a_tie(similarity: NDArray[np.float64], real: NDArray[np.bool_], k: int) -> NDArray[np.bool_]:
    """Whether the last of those listed ties with the k-th, so that others may who are not listed; for each row."""
    if real.shape[1] <= k:
        return np.zeros(len(real), np.bool_)
    padded = np.full(real.shape, -np.inf)
    padded[real] = similarity
    kth = -np.partition(-padded, k - 1, axis=1)[:, k - 1]
    last = np.where(real, padded, np.inf).min(axis=1)
    open_end: NDArray[np.bool_] = (kth > 0) & (last >= kth - TIE) & (real.sum(axis=1) > k)
    return open_end
