"""The Weisfeiler-Lehman subtree kernel between subgraphs and a few of them, the landmarks.

The initial label of a node is its degree inside the subgraph; each iteration hashes a node's label together with the
multiset of its neighbors' labels. The kernel of two subgraphs sums, over all labels of all iterations, the product of
their counts:

    K[i, j] = sum over iterations and labels of count_i(label) * count_j(label)

Labels are 64-bit hashes. The labels of neighbors are summed, which needs no sorting. The iteration is hashed too, so
labels of different iterations differ. Two different labels collide with a probability of 2^-64. The kernel is an
integer, represented exactly in float64.

Only labels that occur in a landmark contribute: a hash table maps them to the landmarks that have them.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from graphprox._utils.arrays import IntArray
from graphprox._utils.hashing import GOLDEN, mix
from graphprox._utils.numba_helpers import Float64Array, Int32Array, UInt64Array, njit, run_in_parallel
from graphprox.views.local_structure.adjacency import Adjacency
from graphprox.views.local_structure.subgraphs import Sampler, allocate_members, build_subgraph

_ODD = np.uint64(0xD1342543DE82EF95)
_ONE = np.uint64(1)
ABSENT = -1
COMMON = 0.2  # share of landmarks from which on the counts of a label are stored densely


class Landmarks(NamedTuple):
    """The labels of the landmarks, and their counts in each landmark.

    ``key`` and ``label`` are a hash table with open addressing: ``label`` is the number of the label in each slot, or
    ABSENT. Common labels have the first numbers: label ``i`` occurs ``common[i, j]`` times in landmark ``j``. A rare
    one occurs ``times[e]`` times in landmark ``landmark[e]`` for e from ``start[i]`` to ``start[i + 1] - 1``.
    """

    common: Float64Array  # (n_common, num_landmarks)
    key: UInt64Array  # (n_slots,)
    label: Int32Array  # (n_slots,)
    start: IntArray  # (n_labels + 1,)
    landmark: Int32Array  # (n_occurrences,)
    times: Float64Array  # (n_occurrences,)


class KernelRows(NamedTuple):
    """The kernel between the subgraphs of some nodes and the landmarks."""

    kernel: Float64Array  # (num_nodes, num_landmarks) integers
    own: Float64Array  # (num_nodes,) the kernel of each subgraph with itself
    fingerprint: UInt64Array  # (num_nodes,) a hash of both


# -- landmarks and kernel -------------------------------------------------------------------------------------------


def build_landmarks(adjacency: Adjacency, sampler: Sampler, iterations: int, nodes: IntArray) -> Landmarks:
    """Return the subgraphs of some nodes as landmarks, in their order."""
    label, landmark, times = _count_occurrences(adjacency, sampler, iterations, nodes)
    labels, which, spread = np.unique(label, return_inverse=True, return_counts=True)
    by_spread = np.argsort(-spread, kind="stable")  # labels that occur in most landmarks first
    labels, spread = labels[by_spread], spread[by_spread]
    number = np.argsort(by_spread)[which]  # of the label of each occurrence
    order = np.argsort(number, kind="stable")
    start = np.concatenate([[0], np.cumsum(spread)])
    num_common = np.count_nonzero(spread >= COMMON * len(nodes))
    is_common = number < num_common
    common = np.zeros((num_common, len(nodes)))
    common[number[is_common], landmark[is_common]] = times[is_common]
    return Landmarks(common, *_build_hash_table(labels), start, landmark[order], times[order])


def compute_kernel(
    adjacency: Adjacency, sampler: Sampler, iterations: int, landmarks: Landmarks, nodes: IntArray
) -> KernelRows:
    """Return the kernel between the subgraphs of some nodes and the landmarks."""
    kernel = np.zeros((len(nodes), landmarks.common.shape[1]))
    rows = KernelRows(kernel, np.zeros(len(nodes)), np.zeros(len(nodes), np.uint64))
    run_in_parallel(partial(_fill_rows, adjacency, sampler, iterations, landmarks, nodes, rows), len(nodes))
    return rows


# -- labels of one subgraph -----------------------------------------------------------------------------------------


@njit
def count_subgraph_labels(
    adjacency: Adjacency, sampler: Sampler, iterations: int, node: int, local: Int32Array, members: Int32Array
) -> tuple[UInt64Array, Int32Array]:
    """Return the distinct labels of all iterations in the subgraph of a node, and their counts."""
    size, first, second = build_subgraph(adjacency, sampler, node, local, members)
    found = np.empty(size * (iterations + 1), np.uint64)
    times = np.empty(size * (iterations + 1), np.int32)
    label = initial_labels(size, first, second)
    filled = count_labels(label, found, times)
    for iteration in range(iterations):
        label = refine_labels(label, first, second, iteration)
        filled += count_labels(label, found[filled:], times[filled:])
    return found[:filled], times[:filled]


@njit
def initial_labels(size: int, first: Int32Array, second: Int32Array) -> UInt64Array:
    """Return the hashed degree of each member, (n_members,)."""
    label = np.zeros(size, np.uint64)
    for edge in range(len(first)):
        label[first[edge]] += _ONE
        label[second[edge]] += _ONE
    for member in range(size):
        label[member] = mix(label[member] + GOLDEN)
    return label


@njit
def refine_labels(label: UInt64Array, first: Int32Array, second: Int32Array, iteration: int) -> UInt64Array:
    """Return the hash of the labels of each member and of its neighbors, (n_members,)."""
    # Labels are pseudorandom, so different multisets have different sums.
    total = label * _ODD
    for edge in range(len(first)):
        total[first[edge]] += label[second[edge]]
        total[second[edge]] += label[first[edge]]
    salt = GOLDEN * np.uint64(iteration + 2)
    for member in range(len(total)):
        total[member] = mix(total[member] + salt)
    return total


@njit
def count_labels(label: UInt64Array, found: UInt64Array, times: Int32Array) -> int:
    """Write the distinct labels to ``found`` and their counts to ``times``; return their number."""
    slots = _num_slots(len(label))
    place = np.full(slots, ABSENT, np.int32)  # position in ``found`` of the label in each slot
    filled = 0
    for each in label:
        slot = np.int64(each & np.uint64(slots - 1))
        while place[slot] != ABSENT and found[place[slot]] != each:
            slot = (slot + 1) & (slots - 1)
        if place[slot] == ABSENT:
            place[slot] = filled
            found[filled] = each
            times[filled] = 0
            filled += 1
        times[place[slot]] += 1
    return filled


@njit
def _num_slots(entries: int) -> int:
    """Return the size of a hash table: a power of two of which at most half is occupied."""
    slots = 2
    while slots < 2 * entries:
        slots *= 2
    return slots


# -- hash table of the landmarks ------------------------------------------------------------------------------------


@njit
def _count_occurrences(
    adjacency: Adjacency, sampler: Sampler, iterations: int, nodes: IntArray
) -> tuple[UInt64Array, Int32Array, Float64Array]:
    """Return every label of every landmark, the landmark and the count, (n_occurrences,) each."""
    label, landmark, times = np.empty(1024, np.uint64), np.empty(1024, np.int32), np.empty(1024, np.float64)
    local, members = allocate_members(len(adjacency.start) - 1)
    filled = 0
    for number in range(len(nodes)):
        found, counts = count_subgraph_labels(adjacency, sampler, iterations, nodes[number], local, members)
        end = filled + len(found)
        if end > len(label):
            label = np.append(label, np.empty(end, np.uint64))
            landmark = np.append(landmark, np.empty(end, np.int32))
            times = np.append(times, np.empty(end, np.float64))
        label[filled:end] = found
        landmark[filled:end] = number
        times[filled:end] = counts
        filled = end
    return label[:filled], landmark[:filled], times[:filled]


@njit
def _build_hash_table(labels: UInt64Array) -> tuple[UInt64Array, Int32Array]:
    """Return the keys and numbers, (n_slots,) each, of a hash table of distinct labels."""
    slots = _num_slots(len(labels))
    key = np.zeros(slots, np.uint64)
    number = np.full(slots, ABSENT, np.int32)
    for each in range(len(labels)):
        slot = np.int64(labels[each] & np.uint64(slots - 1))
        while number[slot] != ABSENT:
            slot = (slot + 1) & (slots - 1)
        key[slot] = labels[each]
        number[slot] = each
    return key, number


@njit
def _find(landmarks: Landmarks, label: np.uint64) -> int:
    """Return the number of a label, or ABSENT."""
    last = len(landmarks.key) - 1
    slot = np.int64(label & np.uint64(last))
    while landmarks.label[slot] != ABSENT and landmarks.key[slot] != label:
        slot = (slot + 1) & last
    return int(landmarks.label[slot])


# -- rows of the kernel ---------------------------------------------------------------------------------------------


@njit
def _fill_rows(
    adjacency: Adjacency,
    sampler: Sampler,
    iterations: int,
    landmarks: Landmarks,
    nodes: IntArray,
    rows: KernelRows,
    begin: int,
    end: int,
) -> None:
    local, members = allocate_members(len(adjacency.start) - 1)
    for row in range(begin, end):
        label, times = count_subgraph_labels(adjacency, sampler, iterations, nodes[row], local, members)
        rows.own[row] = _accumulate(landmarks, label, times, rows.kernel[row])
        rows.fingerprint[row] = _fingerprint(rows.kernel[row], rows.own[row])


@njit
def _accumulate(landmarks: Landmarks, label: UInt64Array, times: Int32Array, kernel: Float64Array) -> float:
    """Add the contribution of each label to the kernel, (num_landmarks,); return the kernel with itself."""
    own = 0.0
    for each in range(len(label)):
        count = np.float64(times[each])
        own += count * count
        number = _find(landmarks, label[each])
        if number == ABSENT:
            continue
        if number < len(landmarks.common):
            common = landmarks.common[number]
            for at in range(len(kernel)):
                kernel[at] += count * common[at]
        else:
            for at in range(landmarks.start[number], landmarks.start[number + 1]):
                kernel[landmarks.landmark[at]] += count * landmarks.times[at]
    return own


@njit
def _fingerprint(kernel: Float64Array, own: float) -> np.uint64:
    """Return a hash of a row of the kernel."""
    total = mix(np.uint64(own))
    for at in range(len(kernel)):
        total += mix(np.uint64(kernel[at]) * _ODD + np.uint64(at))
    return total
