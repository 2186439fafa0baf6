"""Search engines: the exact search, and approximate ones for matrices on which it would take too long.

An approximate engine proposes more rows than requested; their cosines are then computed as the exact engine does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphprox._utils.arrays import FloatArray, IntArray
from graphprox.errors import ParameterError
from graphprox.views.search.directions import Directions
from graphprox.views.search.exact import (
    TIE_TOLERANCE,
    Candidates,
    compute_similarities,
    cumulate_counts,
    estimate_exact_cost,
    find_exact_candidates,
)
from graphprox.views.search.unit_rows import DenseRows, ReadRows

AUTO = "auto"
MAX_EXACT_COST = 1.5e12  # multiplications up to which "auto" searches exactly: half a minute on two cores
MAX_TRIVIAL_SIZE = 256  # distinct rows up to which every engine searches exactly
NUM_EXTRA = 15  # rows proposed beyond those requested: ties are sampled from them, and recall grows with them
LSH_BITS, LSH_FACTOR = 512, 10  # hashes are imprecise: ten times as many rows are proposed
IVF_PROBES = 32
MAX_DENSE_COLUMNS = 1_024  # sparse matrices with more columns are projected to SKETCH_COLUMNS dense ones
SKETCH_COLUMNS = 512
BLOCK_ROWS = 16_384  # whose proposals are compared at a time

Engine = Callable[[Directions, int, int], Iterator[Candidates]]  # of directions, k and seed
Proposal = Callable[[slice], NDArray[Any]]  # rows -> (n_rows, num_proposed) proposed rows, -1 for none


def search_exact(directions: Directions, k: int, _seed: int) -> Iterator[Candidates]:
    """Compare every row with every other."""
    return find_exact_candidates(directions, np.arange(len(directions)), k)


def search_nn_descent(directions: Directions, k: int, seed: int) -> Iterator[Candidates]:
    """Search by random partitions and NN-descent, with results that do not depend on the number of threads.

    Rows are read in blocks, and the memory is that of rows of integers and of the lists of neighbors.
    """
    from graphprox._utils.numba_helpers import run_in_parallel
    from graphprox.views.search.neighbor_lists import write_rows
    from graphprox.views.search.nn_descent import approximate_neighbors
    from graphprox.views.search.products import compact_rows

    number, lists = approximate_neighbors(
        compact_rows(_dense_reader(directions, seed), len(directions)), k + NUM_EXTRA, seed
    )

    def propose(block: slice) -> NDArray[np.int32]:
        found = np.empty((block.stop - block.start, lists.shape[1]), np.int32)
        run_in_parallel(partial(write_rows, lists[block], number, found), len(found))
        return found

    # In the order of the search, neighbors are close together in memory.
    return _score_proposals(directions, k, propose, order=number)


def search_hnsw(directions: Directions, k: int, seed: int) -> Iterator[Candidates]:
    """Search by faiss's HNSW graphs: high recall, and slow to build, as only one thread can be used."""
    import faiss

    unit = _to_dense(directions, seed)
    index = faiss.IndexHNSWFlat(unit.shape[1], 32, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction = 100
    index.hnsw.efSearch = 4 * (k + NUM_EXTRA)
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)  # an index built by several threads is not deterministic
    try:
        index.add(unit)
    finally:
        faiss.omp_set_num_threads(threads)
    return _query_index(directions, index, unit, k, k + NUM_EXTRA)


def search_ivf(directions: Directions, k: int, seed: int) -> Iterator[Candidates]:
    """Search by faiss's inverted file: rows are compared with those of the nearest cells."""
    import faiss

    unit = _to_dense(directions, seed)
    cells = max(1, int(2 * np.sqrt(len(unit))))
    index = faiss.IndexIVFFlat(faiss.IndexFlatIP(unit.shape[1]), unit.shape[1], cells, faiss.METRIC_INNER_PRODUCT)
    index.cp.seed = seed % 2**31
    index.cp.min_points_per_centroid = 1  # no warning for small matrices
    index.train(unit)
    index.add(unit)
    index.nprobe = IVF_PROBES
    return _query_index(directions, index, unit, k, k + NUM_EXTRA)


def search_lsh(directions: Directions, k: int, seed: int) -> Iterator[Candidates]:
    """Search by locality-sensitive hashing, as in the paper: the signs of random projections."""
    import faiss

    unit = _to_dense(directions, seed)
    rng = np.random.default_rng(seed)
    planes = rng.standard_normal((unit.shape[1], LSH_BITS), dtype=np.float32)
    bits = np.packbits(unit @ planes > 0, axis=1)
    index = faiss.IndexBinaryFlat(LSH_BITS)
    index.add(bits)
    return _query_index(directions, index, bits, k, LSH_FACTOR * (k + NUM_EXTRA))


ENGINES: dict[str, Engine] = {
    "exact": search_exact,
    "descent": search_nn_descent,
    "hnsw": search_hnsw,
    "ivf": search_ivf,
    "lsh": search_lsh,
}


def select_engine(engine: str, directions: Directions) -> str:
    """Return the name of the engine to use; "auto" is the exact one unless that would cost too much."""
    if engine != AUTO and engine not in ENGINES:
        raise ParameterError(f"engine must be one of {', '.join([AUTO, *ENGINES])}; got {engine!r}")
    if len(directions) <= MAX_TRIVIAL_SIZE:
        return "exact"
    if engine != AUTO:
        return engine
    return "exact" if estimate_exact_cost(directions.rows) <= MAX_EXACT_COST else "descent"


def _dense_reader(directions: Directions, seed: int) -> ReadRows:
    """Return a function that reads directions as dense rows; if there are very many columns, a random projection."""
    rows = directions.rows
    if isinstance(rows, DenseRows) or rows.shape[1] <= MAX_DENSE_COLUMNS:
        return rows.read
    unit = rows.unit
    projection = np.random.default_rng(seed).standard_normal((unit.shape[1], SKETCH_COLUMNS), dtype=np.float32)

    def read_sketch(chosen: IntArray) -> FloatArray:
        sketch: FloatArray = unit[chosen] @ projection
        sketch /= np.linalg.norm(sketch, axis=1, keepdims=True)
        return sketch

    return read_sketch


def _to_dense(directions: Directions, seed: int) -> FloatArray:
    """Return all directions as dense rows."""
    if isinstance(directions.rows, DenseRows):
        return directions.rows.unit
    return _dense_reader(directions, seed)(np.arange(len(directions)))


def _query_index(
    directions: Directions, index: Any, rows: NDArray[Any], k: int, num_proposed: int
) -> Iterator[Candidates]:
    """Return the candidates that a faiss index proposes for its own rows."""
    return _score_proposals(
        directions, k, lambda block: index.search(rows[block], min(num_proposed, len(directions)))[1]
    )


def _score_proposals(
    directions: Directions, k: int, propose: Proposal, *, order: IntArray | NDArray[np.int32] | None = None
) -> Iterator[Candidates]:
    """Yield proposed rows with their cosines; rows whose proposals all tie are searched exactly instead.

    The proposals are those for consecutive rows, or for those in ``order``.
    """
    undecided = []
    for first in range(0, len(directions), BLOCK_ROWS):
        block = slice(first, min(first + BLOCK_ROWS, len(directions)))
        rows = np.arange(block.start, block.stop) if order is None else order[block].astype(np.int64)
        proposed = np.sort(propose(block).astype(np.int32, copy=False), axis=1)
        valid = (proposed >= 0) & (proposed != rows[:, None])
        valid[:, 1:] &= proposed[:, 1:] != proposed[:, :-1]
        start, columns = cumulate_counts(valid.sum(axis=1)), proposed[valid]
        similarity = compute_similarities(directions, rows, start, columns)
        ends_in_tie = _ends_in_tie(similarity, valid, k)
        if ends_in_tie.any():
            undecided.append(rows[ends_in_tie])
        yield Candidates(rows, start, columns, similarity)
    again = np.concatenate([np.empty(0, np.int64), *undecided])
    # These overwrite earlier results. If they would cost too much, ties are sampled from the proposed rows only.
    if not len(again) or not directions.rows.is_stored:
        return
    if estimate_exact_cost(directions.rows) * len(again) / len(directions) <= MAX_EXACT_COST:
        yield from find_exact_candidates(directions, again, k)


def _ends_in_tie(similarity: NDArray[np.float64], valid: NDArray[np.bool_], k: int) -> NDArray[np.bool_]:
    """Return for each row whether its last proposal ties with the k-th, so that rows not proposed may tie too."""
    if valid.shape[1] <= k:
        return np.zeros(len(valid), np.bool_)
    padded = np.full(valid.shape, -np.inf)
    padded[valid] = similarity
    kth = -np.partition(-padded, k - 1, axis=1)[:, k - 1]
    last = np.where(valid, padded, np.inf).min(axis=1)
    ends_in_tie: NDArray[np.bool_] = (kth > 0) & (last >= kth - TIE_TOLERANCE) & (valid.sum(axis=1) > k)
    return ends_in_tie
