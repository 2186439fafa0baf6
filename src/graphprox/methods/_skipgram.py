"""Skip-gram with negative sampling, compiled; shared by methods that learn from walks, edges and PageRank.

A step takes a node, its target and a few negative samples, and moves all their vectors up the gradient of

    log σ(x·y - bias)  for the target,   log σ(noise_bias - x·y)  for each negative sample.

All steps run in sequence on one thread, so the same seed gives the same bytes on any number of cores, unlike training
that shares its vectors among threads without locks. Other processors may compute the sum of an inner product in another
order.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from graphprox._utils.arrays import FloatArray, IntArray
from graphprox._utils.checks import sample_seed
from graphprox._utils.hashing import GOLDEN, stream, uniform
from graphprox._utils.numba_helpers import Float32Array, Int32Array, njit_fast
from graphprox._utils.progress import Progress
from graphprox.views.local_structure.adjacency import build_alias_table

NOISE_POWER = 0.75  # exponent of the frequency of a node, as in word2vec
MIN_LEARNING_RATE = 1e-4  # at the end of training, as in word2vec
BLOCK = 6  # rows that are updated in one pass: a target and word2vec's five negative samples
NUM_CHUNKS = 100  # of a training run; progress is reported after each


class AliasTable(NamedTuple):
    """A discrete distribution that is sampled in constant time."""

    keep: Float32Array  # (num_entries,) probability to keep an entry
    other: Int32Array  # (num_entries,) the entry to take otherwise

    @classmethod
    def of(cls, weight: np.ndarray) -> AliasTable:
        """Return the distribution in proportion to weights; uniform where all are 0."""
        _, keep, other = build_alias_table(np.array([0, len(weight)]), weight.astype(np.float32))
        return cls(keep, other)


def train_skip_gram(
    walks: Int32Array,
    generator: Generator,
    *,
    num_nodes: int,
    n_components: int = 128,
    window_size: int = 10,
    num_negatives: int = 5,
    epochs: int = 1,
    learning_rate: float = 0.025,
    progress: Progress | None = None,
) -> FloatArray:
    """Learn vectors of nodes from walks, as word2vec learns vectors of words from sentences.

    The window around each node of a walk has a random size up to ``window_size`` on either side. Negative samples are
    sampled once per window, not per node in it, and duplicates are left out: their vectors then stay in the processor's
    cache, which makes training on 20,000 nodes three times faster at the same accuracy.

    Parameters
    ----------
    walks : ndarray of int32 of shape (n_walks, walk_length)
    generator : numpy.random.Generator
    num_nodes : int
    n_components : int, default=128
    window_size : int, default=10
    num_negatives : int, default=5
    epochs : int, default=1
    learning_rate : float, default=0.025
    progress : callable, optional

    Returns
    -------
    ndarray of float32 of shape (num_nodes, n_components)

    Examples
    --------
    >>> walks = np.array([[0, 1, 0, 1], [2, 3, 2, 3]], np.int32)
    >>> train_skip_gram(walks, np.random.default_rng(0), num_nodes=4, n_components=8).shape
    (4, 8)
    """
    vectors, contexts = (
        init_vectors(generator, num_nodes, n_components),
        np.zeros((num_nodes, n_components), np.float32),
    )
    noise = AliasTable.of(np.bincount(walks.ravel(), minlength=num_nodes) ** NOISE_POWER)
    seed, total = sample_seed(generator), epochs * len(walks)
    order = np.concatenate([np.empty(0, np.int64), *(generator.permutation(len(walks)) for _ in range(epochs))])
    for first, end in iterate_chunks(total, progress):
        first_rate, last_rate = (decay_learning_rate(done, total, learning_rate) for done in (first, end))
        _train_walks(
            walks, order[first:end], vectors, contexts, noise.keep, noise.other, window_size, num_negatives,
            first_rate, last_rate, seed, first,
        )  # fmt: skip
    return vectors


def init_vectors(generator: Generator, num_nodes: int, n_components: int) -> FloatArray:
    """Return small random vectors, (num_nodes, n_components)."""
    return (generator.random((num_nodes, n_components), np.float32) - np.float32(0.5)) / np.float32(n_components)


def decay_learning_rate(done: int, total: int, learning_rate: float) -> float:
    """Return the learning rate after some steps of linear decay."""
    last = min(MIN_LEARNING_RATE, learning_rate)
    return learning_rate + (last - learning_rate) * done / total


def iterate_chunks(total: int, progress: Progress | None, stage: str = "training") -> Iterator[tuple[int, int]]:
    """Yield the first step and the end of each chunk of ``total`` steps, and report progress after each."""
    ends = [total * chunk // NUM_CHUNKS for chunk in range(NUM_CHUNKS + 1)]
    for first, end in pairwise(ends):
        if first < end:
            yield first, end
            if progress is not None:
                progress(stage, end, total)


@njit_fast
def _train_walks(
    walks: Int32Array,
    order: IntArray,
    vectors: Float32Array,
    contexts: Float32Array,
    keep: Float32Array,
    other: Int32Array,
    window_size: int,
    num_negatives: int,
    first_rate: float,
    last_rate: float,
    seed: np.uint64,
    number: int,
) -> None:
    walk_length, n_components = walks.shape[1], vectors.shape[1]
    targets = np.empty(1 + num_negatives, np.int64)
    num_rows = (num_negatives // BLOCK + 1) * BLOCK
    rows, score = np.zeros((num_rows, n_components), np.float32), np.empty(BLOCK, np.float32)
    for at in range(len(order)):
        walk = walks[order[at]]
        rate = np.float32(first_rate + (last_rate - first_rate) * at / len(order))
        state = stream(seed, number + at, 0)
        for center in range(walk_length):
            reach = 1 + int(uniform(state) * window_size)
            state += GOLDEN
            targets[0] = walk[center]
            count, state = sample_negative_targets(keep, other, targets, walk[center], state)
            count = _drop_duplicates(targets, count)
            for k in range(count):
                rows[k] = contexts[targets[k]]
            for place in range(max(0, center - reach), min(walk_length, center + reach + 1)):
                if place != center:
                    for first in range(0, count, BLOCK):
                        _update_in_window(vectors[walk[place]], rows, first, count, rate, score)
            for k in range(count):
                contexts[targets[k]] = rows[k]


# -- a window -------------------------------------------------------------------------------------------------------
# The context vectors of its targets are copied into adjacent rows and updated six at a time. Rows that are known to be
# distinct can be read and written in one pass, which takes two thirds of the time of a step between arbitrary rows.
# Each block of six is a separate step.


@njit_fast
def _drop_duplicates(targets: IntArray, count: int) -> int:
    """Move the distinct entries among the first ``count`` to the front, in order, and return their number."""
    kept = 0
    for k in range(count):
        is_new = True
        for before in range(kept):
            is_new = is_new and targets[before] != targets[k]
        if is_new:
            targets[kept] = targets[k]
            kept += 1
    return kept


@njit_fast
def _update_in_window(
    vector: Float32Array, rows: Float32Array, first: int, count: int, rate: np.float32, score: Float32Array
) -> None:
    """Take a gradient step with six rows from ``first`` on; row 0 is the target, the others are negative samples."""
    score[0], score[1], score[2], score[3], score[4], score[5] = _six_products(vector, rows, first)
    for k in range(BLOCK):
        if first + k == 0:
            score[k] = rate * sigmoid(-score[k])
        elif first + k < count:
            score[k] = -rate * sigmoid(score[k])
        else:
            score[k] = 0  # a row of an earlier window
    _update_six(vector, rows, first, score)


@njit_fast
def _six_products(x: Float32Array, rows: Float32Array, first: int) -> tuple[np.float32, ...]:
    a = b = c = d = e = f = np.float32(0)
    for i in range(len(x)):
        a += x[i] * rows[first, i]
        b += x[i] * rows[first + 1, i]
        c += x[i] * rows[first + 2, i]
        d += x[i] * rows[first + 3, i]
        e += x[i] * rows[first + 4, i]
        f += x[i] * rows[first + 5, i]
    return a, b, c, d, e, f


@njit_fast
def _update_six(x: Float32Array, rows: Float32Array, first: int, score: Float32Array) -> None:
    """Add the old rows to the vector, and the old vector to the rows, each times its score."""
    a, b, c, d, e, f = score[0], score[1], score[2], score[3], score[4], score[5]
    for i in range(len(x)):
        old, r0, r1, r2 = x[i], rows[first, i], rows[first + 1, i], rows[first + 2, i]
        r3, r4, r5 = rows[first + 3, i], rows[first + 4, i], rows[first + 5, i]
        x[i] = old + (a * r0 + b * r1 + c * r2 + d * r3 + e * r4 + f * r5)
        rows[first, i] = r0 + a * old
        rows[first + 1, i] = r1 + b * old
        rows[first + 2, i] = r2 + c * old
        rows[first + 3, i] = r3 + d * old
        rows[first + 4, i] = r4 + e * old
        rows[first + 5, i] = r5 + f * old


# -- a step between arbitrary rows ----------------------------------------------------------------------------------


@njit_fast
def sample_entry(keep: Float32Array, other: Int32Array, state: np.uint64) -> int:
    """Sample an entry of an alias table."""
    place = uniform(state) * len(keep)
    at = int(place)
    # The fraction of the place is independent of the entry, and so serves as the second random number.
    return at if place - at < keep[at] else int(other[at])


@njit_fast
def sample_negative_targets(
    keep: Float32Array, other: Int32Array, targets: IntArray, source: int, state: np.uint64
) -> tuple[int, np.uint64]:
    """Append negative samples to the true target, without it and the source; return their number and the state."""
    count = 1
    for _ in range(len(targets) - 1):
        sample = sample_entry(keep, other, state)
        state += GOLDEN
        if sample != targets[0] and sample != source:
            targets[count] = sample
            count += 1
    return count, state


@njit_fast
def allocate_buffers(num_negatives: int, n_components: int) -> tuple[Float32Array, Float32Array, Float32Array]:
    """Return the buffers of `update_vectors`: scores of targets, vector of the source, and its change."""
    score = np.empty(1 + num_negatives, np.float32)
    return score, np.empty(n_components, np.float32), np.empty(n_components, np.float32)


@njit_fast
def update_vectors(
    inputs: Float32Array,
    source: int,
    outputs: Float32Array,
    targets: IntArray,
    count: int,
    bias: float,
    noise_bias: float,
    rate: np.float32,
    score: Float32Array,
    x: Float32Array,
    change: Float32Array,
) -> None:
    """Take a gradient step; the first of ``count`` targets is positive, the others are negative samples.

    Inputs and outputs may be the same matrix, and a target may be the source or occur twice: all changes are added.
    """
    x[:] = inputs[source]
    change[:] = 0
    # Three targets at a time, so that each entry of x is read once for three.
    threes = count // 3 * 3
    for k in range(0, threes, 3):
        score[k], score[k + 1], score[k + 2] = _products(x, outputs, targets[k], targets[k + 1], targets[k + 2])
    for k in range(threes, count):
        score[k] = _product(x, outputs, targets[k])
    score[0] = rate * sigmoid(np.float32(bias) - score[0])
    for k in range(1, count):
        score[k] = -rate * sigmoid(score[k] - np.float32(noise_bias))
    for k in range(0, threes, 3):
        a, b, c = targets[k], targets[k + 1], targets[k + 2]
        _add_rows(change, outputs, a, b, c, score[k], score[k + 1], score[k + 2])
    for k in range(threes, count):
        _add_row(change, outputs, targets[k], score[k])
    # Outputs are updated only after all of them were read.
    for k in range(0, threes, 3):
        a, b, c = targets[k], targets[k + 1], targets[k + 2]
        _add_to_rows(outputs, a, b, c, x, score[k], score[k + 1], score[k + 2])
    for k in range(threes, count):
        _add_to_row(outputs, targets[k], x, score[k])
    _add_to_row(inputs, source, change, np.float32(1))


@njit_fast
def sigmoid(z: np.float32) -> np.float32:
    """Return 1 / (1 + exp(-z)) within 5e-5, by Lambert's continued fraction for tanh: three times as fast as exp."""
    h = min(max(np.float32(0.5) * z, np.float32(-4.97)), np.float32(4.97))
    s = h * h
    numerator = h * (np.float32(135135) + s * (np.float32(17325) + s * (np.float32(378) + s)))
    denominator = np.float32(135135) + s * (np.float32(62370) + s * (np.float32(3150) + s * np.float32(28)))
    return np.float32(0.5) + np.float32(0.5) * numerator / denominator


@njit_fast
def _product(x: Float32Array, rows: Float32Array, a: int) -> np.float32:
    total = np.float32(0)
    for d in range(len(x)):
        total += x[d] * rows[a, d]
    return total


@njit_fast
def _products(x: Float32Array, rows: Float32Array, a: int, b: int, c: int) -> tuple[np.float32, np.float32, np.float32]:
    first = second = third = np.float32(0)
    for d in range(len(x)):
        first += x[d] * rows[a, d]
        second += x[d] * rows[b, d]
        third += x[d] * rows[c, d]
    return first, second, third


@njit_fast
def _add_row(total: Float32Array, rows: Float32Array, a: int, factor: np.float32) -> None:
    for d in range(len(total)):
        total[d] += factor * rows[a, d]


@njit_fast
def _add_rows(
    total: Float32Array,
    rows: Float32Array,
    a: int,
    b: int,
    c: int,
    first: np.float32,
    second: np.float32,
    third: np.float32,
) -> None:
    for d in range(len(total)):
        total[d] += first * rows[a, d] + second * rows[b, d] + third * rows[c, d]


@njit_fast
def _add_to_row(rows: Float32Array, a: int, x: Float32Array, factor: np.float32) -> None:
    for d in range(len(x)):
        rows[a, d] += factor * x[d]


@njit_fast
def _add_to_rows(
    rows: Float32Array,
    a: int,
    b: int,
    c: int,
    x: Float32Array,
    first: np.float32,
    second: np.float32,
    third: np.float32,
) -> None:
    # Where two of the rows are the same, the compiler's check selects a scalar loop, and both changes are added.
    for d in range(len(x)):
        rows[a, d] += first * x[d]
        rows[b, d] += second * x[d]
        rows[c, d] += third * x[d]
