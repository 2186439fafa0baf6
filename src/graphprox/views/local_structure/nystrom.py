"""Nyström's method: vectors whose inner products approximate a kernel, from its rows with a few landmarks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from graphprox._utils.arrays import IntArray
from graphprox._utils.mapped import release_pages
from graphprox._utils.numba_helpers import Float64Array, UInt64Array
from graphprox._utils.progress import Progress
from graphprox._utils.team import current_team
from graphprox.errors import ParameterError
from graphprox.io.storage.memory_maps import make_temporary_map
from graphprox.views.local_structure.adjacency import Adjacency
from graphprox.views.local_structure.subgraphs import Sampler
from graphprox.views.local_structure.wl_kernel import Landmarks, build_landmarks, compute_kernel

MAX_LANDMARKS = 10_000  # the eigendecomposition of the kernel among them takes minutes
BLOCK_ENTRIES = 1 << 21  # of the kernel in memory at a time: 16 MiB
MAX_SINGLE_BYTES = 1 << 31  # of vectors in single precision, which are in memory; beyond, of half, and in a file
MAX_EXPONENT = 15  # of numbers in half precision, so that they are less than 2^15
ROWS_PER_COPY = 1 << 16


def sample_landmarks(num_nodes: int, num_landmarks: int, rng: Generator) -> IntArray:
    """Return the nodes that are landmarks, ascending; all nodes if there are at most as many as requested."""
    count = min(num_nodes, num_landmarks)
    if count > MAX_LANDMARKS:
        raise ParameterError(
            f"the number of landmarks must be at most {MAX_LANDMARKS:,}, as each is compared with every other; "
            f"got {count:,}: use exact=False, or a smaller num_landmarks"
        )
    if count == num_nodes:
        return np.arange(num_nodes)
    return np.sort(rng.choice(num_nodes, count, replace=False))


@dataclass(frozen=True)
class LandmarkKernel:
    """The Weisfeiler-Lehman kernel between the subgraphs of any nodes and those of the landmarks."""

    adjacency: Adjacency
    sampler: Sampler
    iterations: int
    landmarks: Landmarks
    scale: Float64Array | None  # (num_landmarks,) by which a normalized kernel is divided

    @classmethod
    def build(
        cls, nodes: IntArray, adjacency: Adjacency, sampler: Sampler, iterations: int, *, normalize: bool
    ) -> LandmarkKernel:
        """Return the kernel whose landmarks are the subgraphs of some nodes."""
        landmarks = build_landmarks(adjacency, sampler, iterations, nodes)
        own = compute_kernel(adjacency, sampler, iterations, landmarks, nodes).own if normalize else None
        return cls(adjacency, sampler, iterations, landmarks, None if own is None else np.sqrt(own))

    def compute_rows(self, nodes: IntArray) -> tuple[Float64Array, UInt64Array]:
        """Return the kernel of each node with each landmark, (num_nodes, num_landmarks), and a hash of each row."""
        rows = compute_kernel(self.adjacency, self.sampler, self.iterations, self.landmarks, nodes)
        if self.scale is not None:
            rows.kernel[:] /= np.sqrt(rows.own)[:, None] * self.scale
        return rows.kernel, rows.fingerprint


def compute_projection(kernel: Float64Array, *, tolerance: float) -> Float64Array:
    """Return the matrix U S^(-1/2) of the kernel among landmarks.

    The paper also multiplies by V', a rotation that preserves inner products; without it, discarded eigenvectors need
    no memory. They are discarded, as dividing by the root of an eigenvalue near zero would amplify rounding errors.

    Parameters
    ----------
    kernel : ndarray of shape (num_landmarks, num_landmarks)
    tolerance : float
        Eigenvectors are discarded if their eigenvalue is below ``tolerance`` times the largest.

    Returns
    -------
    ndarray of shape (num_landmarks, rank)

    Examples
    --------
    >>> compute_projection(np.array([[2.0, 2.0], [2.0, 2.0]]), tolerance=1e-10).shape
    (2, 1)
    """
    values, vectors = np.linalg.eigh(kernel)
    kept = values > tolerance * values[-1]
    projection: Float64Array = vectors[:, kept][:, ::-1] / np.sqrt(values[kept][::-1])
    return projection


def project_kernel(kernel: LandmarkKernel, projection: Float64Array, num_nodes: int, report: Progress) -> NDArray[Any]:
    """Return the projected kernel of all nodes, (num_nodes, rank), computed in blocks, which processes share.

    More than 2 GiB of vectors are rounded to half precision and kept in a temporary file, which is memory-mapped. That
    depends on their number alone, so that the same graph has the same vectors whatever memory is available.
    """
    shape = num_nodes, projection.shape[1]
    is_single = 4 * num_nodes * shape[1] <= MAX_SINGLE_BYTES
    vectors = np.empty(shape, np.float32) if is_single else make_temporary_map(shape, np.float16)
    fingerprint = np.empty(num_nodes, np.uint64)
    team, blocks = current_team(), list(_iterate_blocks(num_nodes, len(projection)))
    # Whole blocks are shared, as a product of other rows might round differently.
    shares = [blocks[each] for each in team.all_rows(len(blocks))]
    for block in shares[team.rank]:
        rows, fingerprint[block] = kernel.compute_rows(np.arange(block.start, block.stop))
        projected = rows @ projection
        vectors[block] = projected if is_single else _limit_rows(projected)
        release_pages(vectors)
        report("topology", block.stop, num_nodes)
    owned = [slice(share[0].start, share[-1].stop) if share else slice(0, 0) for share in shares]
    team.copy_rows(vectors, owned)
    team.copy_rows(fingerprint, owned)
    _unify_equal_rows(vectors, fingerprint)
    return vectors


def _iterate_blocks(num_nodes: int, num_landmarks: int) -> Iterator[slice]:
    size = max(1, BLOCK_ENTRIES // num_landmarks)
    for first in range(0, num_nodes, size):
        yield slice(first, min(first + size, num_nodes))


def _limit_rows(rows: Float64Array) -> Float64Array:
    """Divide rows that half precision does not hold by a power of two, which keeps their direction."""
    largest = np.abs(rows).max(axis=1, initial=0)
    limited: Float64Array = np.ldexp(rows, -np.maximum(np.frexp(largest)[1] - MAX_EXPONENT, 0)[:, None])
    return limited


def _unify_equal_rows(vectors: NDArray[Any], fingerprint: UInt64Array) -> None:
    """Give nodes with equal kernel rows the vector of the first of them.

    A matrix product may round equal rows differently, depending on their position.
    """
    _, first, inverse = np.unique(fingerprint, return_index=True, return_inverse=True)
    representative = first[inverse]
    repeated = np.flatnonzero(representative != np.arange(len(representative)))
    for start in range(0, len(repeated), ROWS_PER_COPY):
        block = repeated[start : start + ROWS_PER_COPY]
        vectors[block] = vectors[representative[block]]
        release_pages(vectors)
