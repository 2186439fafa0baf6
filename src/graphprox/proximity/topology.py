"""The topology descriptor: nodes are alike whose surroundings have the same shape, wherever they are.

The Weisfeiler-Lehman kernel compares the subgraph of every node with those of a few, the landmarks, and Nyström's
method makes vectors of it whose inner products come near to the kernel of all with all: Algorithm 1 of the paper.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from threadpoolctl import threadpool_limits

from graphprox.arrays import FloatArray, IntArray
from graphprox.errors import ParameterError
from graphprox.graph import Graph
from graphprox.proximity.compiled import Float64Array, UInt64Array
from graphprox.proximity.descriptors import Progress
from graphprox.proximity.options import check_tolerance, check_whole
from graphprox.proximity.structure import Structure, structure_of
from graphprox.proximity.subgraphs import Sampler, checked_sampler
from graphprox.proximity.wl import Landmarks, kernel_rows, landmarks_of

MOST_LANDMARKS = 10_000  # the kernel among them is decomposed, which takes minutes for as many
BLOCK_ENTRIES = 1 << 21  # of the kernel that are in memory at once: 16 MiB


def topology(
    graph: Graph,
    rng: Generator,
    *,
    subgraphs: str = "walks",
    walks: int = 30,
    length: int = 10,
    p: float = 1.0,
    q: float = 1.0,
    hops: int = 2,
    iterations: int = 3,
    landmarks: int = 200,
    exact: bool = False,
    normalize: bool = False,
    tolerance: float = 1e-10,
    progress: Progress | None = None,
) -> FloatArray:
    """The shape of each node's surroundings as a vector, (nodes, rank), rank <= landmarks.

    The surroundings of a node are the subgraph of the nodes that its random walks visit (``"walks"``: ``walks`` of
    ``length`` steps each, with node2vec's ``p`` and ``q``), or of those within some ``hops`` (``"egonet"``, which can
    be half of the graph where there are hubs). Two subgraphs are compared by the Weisfeiler-Lehman kernel, where
    degrees inside the subgraph are the first labels; 0 ``iterations`` compare histograms of degrees. With
    ``normalize`` each subgraph has kernel 1 with itself, whatever its size. The inner products of the vectors are the
    kernel as Nyström's method knows it from ``landmarks`` nodes drawn at random; with ``exact``, or in a graph of no
    more nodes than that, every node is a landmark, and they are the kernel itself. Directions of the kernel whose
    eigenvalue is below ``tolerance`` times the largest are cut.

    Only structure is looked at: edges without direction, no self-loops, no features. Weights steer the walks and
    nothing else (:mod:`graphprox.proximity.structure`). A node without neighbours is a subgraph of one. Nodes
    whose subgraphs look the same to the kernel have the same vector, to the last bit. An equally seeded rng gives the
    same bytes on any number of threads. ``progress`` is called with a stage, how many nodes are done, and of how many.

    >>> star = Graph(x=[[1]] * 5, edge_index=[[0, 0, 0, 0], [1, 2, 3, 4]])
    >>> vectors = topology(star, np.random.default_rng(0), subgraphs="egonet", hops=1)
    >>> vectors.shape
    (5, 2)
    >>> (vectors[1] == vectors[4]).all(), (vectors[0] == vectors[1]).all()
    (np.True_, np.False_)
    """
    check_whole(least=0, most=1000, iterations=iterations)
    check_whole(landmarks=landmarks)
    check_tolerance(tolerance=tolerance)
    sampler = checked_sampler(rng, subgraphs=subgraphs, walks=walks, length=length, p=p, q=q, hops=hops)
    chosen = _chosen(graph.num_nodes, graph.num_nodes if exact else int(landmarks), rng)
    kernel = _Kernel.with_landmarks(chosen, structure_of(graph), sampler, int(iterations), bool(normalize))
    tell = progress or _say_nothing
    tell("landmarks", 0, len(chosen))
    # One thread for the products, which are small: more would wait for each other longer than they work, and round
    # differently by how many they are.
    with threadpool_limits(1, user_api="blas"):
        among, _ = kernel.rows(chosen)
        projection = nystrom_projection(among, tolerance=tolerance)
        tell("landmarks", len(chosen), len(chosen))
        return _vectors(kernel, projection, graph.num_nodes, tell)


@dataclass(frozen=True)
class _Kernel:
    """The kernel between the subgraphs of any nodes and those of the landmarks."""

    structure: Structure
    sampler: Sampler
    iterations: int
    landmarks: Landmarks
    scale: Float64Array | None  # (landmarks,) by which the kernel is divided, if it is normalized

    @classmethod
    def with_landmarks(
        cls, nodes: IntArray, structure: Structure, sampler: Sampler, iterations: int, normalize: bool
    ) -> _Kernel:
        landmarks = landmarks_of(structure, sampler, iterations, nodes)
        own = kernel_rows(structure, sampler, iterations, landmarks, nodes).own if normalize else None
        return cls(structure, sampler, iterations, landmarks, None if own is None else np.sqrt(own))

    def rows(self, nodes: IntArray) -> tuple[Float64Array, UInt64Array]:
        """The kernel of each node with each landmark, (nodes, landmarks), and what tells different rows apart."""
        rows = kernel_rows(self.structure, self.sampler, self.iterations, self.landmarks, nodes)
        if self.scale is not None:
            rows.kernel[:] /= np.sqrt(rows.own)[:, None] * self.scale
        return rows.kernel, rows.fingerprint


def _vectors(kernel: _Kernel, projection: Float64Array, num_nodes: int, tell: Progress) -> FloatArray:
    """The projected kernel of all nodes, a block of them at a time."""
    vectors = np.empty((num_nodes, projection.shape[1]), np.float32)
    fingerprint = np.empty(num_nodes, np.uint64)
    for block in _blocks(num_nodes, len(projection)):
        rows, fingerprint[block] = kernel.rows(np.arange(block.start, block.stop))
        vectors[block] = rows @ projection
        tell("topology", block.stop, num_nodes)
    _make_equal(vectors, fingerprint)
    return vectors


def nystrom_projection(kernel: Float64Array, *, tolerance: float) -> Float64Array:
    """The matrix U S^(-1/2), (landmarks, rank), of the kernel among landmarks, (landmarks, landmarks).

    The paper multiplies by V' too. That turns all vectors alike, so no inner product and no cosine changes by it;
    without it, directions that are cut take no room. They are cut, not floored: to divide by the root of an
    eigenvalue that should be zero would magnify its rounding error.

    >>> projection = nystrom_projection(np.array([[2.0, 2.0], [2.0, 2.0]]), tolerance=1e-10)
    >>> projection.shape
    (2, 1)
    """
    values, directions = np.linalg.eigh(kernel)
    kept = values > tolerance * values[-1]
    result: Float64Array = directions[:, kept][:, ::-1] / np.sqrt(values[kept][::-1])
    return result


def _chosen(num_nodes: int, landmarks: int, rng: Generator) -> IntArray:
    """The nodes that are landmarks, rising; all of them where that is no more than asked for."""
    most = min(num_nodes, landmarks)
    if most > MOST_LANDMARKS:
        raise ParameterError(
            f"at most {MOST_LANDMARKS:,} nodes can be landmarks, as every one is compared with every other; "
            f"got {most:,}: leave out exact, or lower landmarks"
        )
    if most == num_nodes:
        return np.arange(num_nodes)
    return np.sort(rng.choice(num_nodes, most, replace=False))


def _blocks(num_nodes: int, landmarks: int) -> Iterator[slice]:
    size = max(1, BLOCK_ENTRIES // landmarks)
    for first in range(0, num_nodes, size):
        yield slice(first, min(first + size, num_nodes))


def _make_equal(vectors: FloatArray, fingerprint: UInt64Array) -> None:
    """Give nodes of equal kernel rows the vector of the first of them.

    A product of matrices may round equal rows differently, by where they stand.
    """
    _, first, which = np.unique(fingerprint, return_index=True, return_inverse=True)
    model = first[which]
    again = np.flatnonzero(model != np.arange(len(model)))
    vectors[again] = vectors[model[again]]


def _say_nothing(_stage: str, _done: int, _total: int) -> None:
    """Progress that nobody asked for."""
