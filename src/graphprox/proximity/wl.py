"""The Weisfeiler-Lehman subtree kernel between subgraphs and a few of them, the landmarks.

A node's label is at first its degree inside the subgraph; each iteration makes a new label of a node's own and of the
multiset of its neighbours' labels. The kernel of two subgraphs sums, over all labels of all iterations, how often
the label occurs in the one times how often in the other:

    K[i, j] = sum over iterations and labels of count_i(label) * count_j(label)

Labels are 64-bit hashes. Neighbours' labels are added up, which needs no order; labels of different iterations never
meet, as the iteration is hashed too. Two labels that ought to differ are equal with a probability of 2^-64. The
kernel is a whole number, held exactly in float64.

Only labels that occur in a landmark matter: a hash table knows those, each with the landmarks that have it.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from graphprox.arrays import IntArray
from graphprox.proximity.compiled import Float64Array, Int32Array, UInt64Array, compiled, in_parallel
from graphprox.proximity.hashing import GOLDEN, mix
from graphprox.proximity.structure import Structure
from graphprox.proximity.subgraphs import Sampler, draw_subgraph, empty_map

_ODD = np.uint64(0xD1342543DE82EF95)
_ONE = np.uint64(1)
ABSENT = -1
COMMON = 0.2  # the share of landmarks in which a label occurs that is added to all of them at once


class Landmarks(NamedTuple):
    """The labels of the landmarks, and how often each occurs in which.

    ``key`` and ``label`` are a hash table with open addressing: the number of the label that stands in each slot, or
    ABSENT. Common labels have the first numbers: label ``i`` occurs ``common[i, j]`` times in landmark ``j``. A rare
    one occurs ``times[e]`` times in landmark ``landmark[e]``, for e in ``start[i]..start[i + 1] - 1``, and in no other.
    """

    common: Float64Array  # (common labels, landmarks)
    key: UInt64Array  # (slots,)
    label: Int32Array  # (slots,)
    start: IntArray  # (labels + 1,)
    landmark: Int32Array  # (occurrences,)
    times: Float64Array  # (occurrences,)


class KernelRows(NamedTuple):
    """The kernel of some nodes' subgraphs and the landmarks."""

    kernel: Float64Array  # (nodes, landmarks) whole numbers
    own: Float64Array  # (nodes,) the kernel of each subgraph and itself
    fingerprint: UInt64Array  # (nodes,) equal for equal rows of the two


# -- what the rest calls --------------------------------------------------------------------------------------------


def landmarks_of(structure: Structure, sampler: Sampler, iterations: int, nodes: IntArray) -> Landmarks:
    """The subgraphs of these nodes as landmarks, in their order."""
    label, landmark, times = _occurrences(structure, sampler, iterations, nodes)
    labels, which, spread = np.unique(label, return_inverse=True, return_counts=True)
    by_spread = np.argsort(-spread, kind="stable")  # labels that occur in many landmarks first
    labels, spread = labels[by_spread], spread[by_spread]
    number = np.argsort(by_spread)[which]  # of the label of each occurrence
    order = np.argsort(number, kind="stable")
    start = np.concatenate([[0], np.cumsum(spread)])
    num_common = np.count_nonzero(spread >= COMMON * len(nodes))
    is_common = number < num_common
    common = np.zeros((num_common, len(nodes)))
    common[number[is_common], landmark[is_common]] = times[is_common]
    return Landmarks(common, *_hash_table(labels), start, landmark[order], times[order])


def kernel_rows(
    structure: Structure, sampler: Sampler, iterations: int, landmarks: Landmarks, nodes: IntArray
) -> KernelRows:
    """The rows of the kernel that belong to these nodes."""
    kernel = np.zeros((len(nodes), landmarks.common.shape[1]))
    rows = KernelRows(kernel, np.zeros(len(nodes)), np.zeros(len(nodes), np.uint64))
    in_parallel(partial(_fill_rows, structure, sampler, iterations, landmarks, nodes, rows), len(nodes))
    return rows


# -- labels of one subgraph -----------------------------------------------------------------------------------------


@compiled
def label_counts(
    structure: Structure, sampler: Sampler, iterations: int, node: int, local: Int32Array, members: Int32Array
) -> tuple[UInt64Array, Int32Array]:
    """The different labels of all iterations in the subgraph of a node, and how often each occurs."""
    size, first, second = draw_subgraph(structure, sampler, node, local, members)
    found = np.empty(size * (iterations + 1), np.uint64)
    times = np.empty(size * (iterations + 1), np.int32)
    label = first_labels(size, first, second)
    filled = count_labels(label, found, times)
    for iteration in range(iterations):
        label = next_labels(label, first, second, iteration)
        filled += count_labels(label, found[filled:], times[filled:])
    return found[:filled], times[:filled]


@compiled
def first_labels(size: int, first: Int32Array, second: Int32Array) -> UInt64Array:
    """The label of each member, (members,), that stands for its degree."""
    label = np.zeros(size, np.uint64)
    for edge in range(len(first)):
        label[first[edge]] += _ONE
        label[second[edge]] += _ONE
    for member in range(size):
        label[member] = mix(label[member] + GOLDEN)
    return label


@compiled
def next_labels(label: UInt64Array, first: Int32Array, second: Int32Array, iteration: int) -> UInt64Array:
    """The label of each member, (members,), that stands for its own and its neighbours' ones."""
    # Labels are as good as random numbers, so their sum tells multisets apart.
    total = label * _ODD
    for edge in range(len(first)):
        total[first[edge]] += label[second[edge]]
        total[second[edge]] += label[first[edge]]
    salt = GOLDEN * np.uint64(iteration + 2)
    for member in range(len(total)):
        total[member] = mix(total[member] + salt)
    return total


@compiled
def count_labels(label: UInt64Array, found: UInt64Array, times: Int32Array) -> int:
    """How many different labels there are; each is put into ``found``, and how often it occurs into ``times``."""
    slots = _num_slots(len(label))
    place = np.full(slots, ABSENT, np.int32)  # in ``found``, of the label that stands in a slot
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


@compiled
def _num_slots(entries: int) -> int:
    """A power of two that leaves at least half of the slots of a hash table free."""
    slots = 2
    while slots < 2 * entries:
        slots *= 2
    return slots


# -- landmarks ------------------------------------------------------------------------------------------------------


@compiled
def _occurrences(
    structure: Structure, sampler: Sampler, iterations: int, nodes: IntArray
) -> tuple[UInt64Array, Int32Array, Float64Array]:
    """Every label of every landmark, the landmark, and how often it occurs there, (occurrences,) each."""
    label, landmark, times = np.empty(1024, np.uint64), np.empty(1024, np.int32), np.empty(1024, np.float64)
    local, members = empty_map(len(structure.start) - 1)
    filled = 0
    for number in range(len(nodes)):
        found, counts = label_counts(structure, sampler, iterations, nodes[number], local, members)
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


@compiled
def _hash_table(labels: UInt64Array) -> tuple[UInt64Array, Int32Array]:
    """Keys and numbers, (slots,) each, of a hash table of different labels."""
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


@compiled
def _find(landmarks: Landmarks, label: np.uint64) -> int:
    """The number of a label, or ABSENT."""
    last = len(landmarks.key) - 1
    slot = np.int64(label & np.uint64(last))
    while landmarks.label[slot] != ABSENT and landmarks.key[slot] != label:
        slot = (slot + 1) & last
    return int(landmarks.label[slot])


# -- rows of the kernel ---------------------------------------------------------------------------------------------


@compiled
def _fill_rows(
    structure: Structure,
    sampler: Sampler,
    iterations: int,
    landmarks: Landmarks,
    nodes: IntArray,
    rows: KernelRows,
    first: int,
    end: int,
) -> None:
    local, members = empty_map(len(structure.start) - 1)
    for row in range(first, end):
        label, times = label_counts(structure, sampler, iterations, nodes[row], local, members)
        rows.own[row] = _add_up(landmarks, label, times, rows.kernel[row])
        rows.fingerprint[row] = _fingerprint(rows.kernel[row], rows.own[row])


@compiled
def _add_up(landmarks: Landmarks, label: UInt64Array, times: Int32Array, kernel: Float64Array) -> float:
    """Add what each label brings to the kernel with each landmark, (landmarks,); the kernel with itself."""
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


@compiled
def _fingerprint(kernel: Float64Array, own: float) -> np.uint64:
    total = mix(np.uint64(own))
    for at in range(len(kernel)):
        total += mix(np.uint64(kernel[at]) * _ODD + np.uint64(at))
    return total
