"""Vectors learned by telling true pairs of nodes from drawn ones, compiled: what walks, edges and PageRank share.

A step takes a node, its target and a few nodes of noise, and moves all their vectors up the gradient of

    log σ(x·y - bias)  for the target,   log σ(noise_bias - x·y)  for each node of noise.

All steps follow one another on one thread. So the same seed gives the same bytes on any number of cores, which no
training that shares its vectors among threads without locks can promise. Another kind of processor may add up the
coordinates of a product in another order.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from graphprox.arrays import FloatArray, IntArray
from graphprox.proximity.compiled import Float32Array, Int32Array, fast
from graphprox.proximity.descriptors import Progress
from graphprox.proximity.hashing import GOLDEN, stream, uniform
from graphprox.proximity.options import draw_seed
from graphprox.proximity.structure import _alias_table

NOISE_POWER = 0.75  # of how often a node is seen: word2vec's
LEAST_RATE = 1e-4  # where the learning rate ends, word2vec's too
TOGETHER = 6  # rows that a pass goes over: a target and word2vec's five nodes of noise
PARTS = 100  # of a training, after each of which the progress is told


class Chances(NamedTuple):
    """An alias table: of ``keep`` and ``other`` an entry each for everything that can be drawn."""

    keep: Float32Array
    other: Int32Array

    @classmethod
    def of(cls, weight: np.ndarray) -> Chances:
        """Draws by weight; all alike where none has any."""
        _, keep, other = _alias_table(np.array([0, len(weight)]), weight.astype(np.float32))
        return cls(keep, other)


def skip_gram(
    walks: Int32Array,
    rng: Generator,
    *,
    nodes: int,
    width: int = 128,
    window: int = 10,
    negatives: int = 5,
    epochs: int = 1,
    learning_rate: float = 0.025,
    progress: Progress | None = None,
) -> FloatArray:
    """Vectors of nodes from walks, (walks, length), as word2vec learns those of words from sentences: (nodes, width).

    Around each node of a walk stands a window, of a random size up to ``window`` to either side; each node in it is to
    tell the one in the middle from ``negatives`` others, or fewer where one is drawn twice. These are drawn once for a
    window, and not for each node in it: their vectors then stay in the processor's cache, which makes a training on
    20,000 nodes three times faster and no worse.

    >>> walks = np.array([[0, 1, 0, 1], [2, 3, 2, 3]], np.int32)
    >>> skip_gram(walks, np.random.default_rng(0), nodes=4, width=8).shape
    (4, 8)
    """
    vectors, contexts = begin(rng, nodes, width), np.zeros((nodes, width), np.float32)
    noise = Chances.of(np.bincount(walks.ravel(), minlength=nodes) ** NOISE_POWER)
    seed, total = draw_seed(rng), epochs * len(walks)
    order = np.concatenate([rng.permutation(len(walks)) for _ in range(epochs)])
    for first, end in parts(total, progress):
        rates = rate_at(first, total, learning_rate), rate_at(end, total, learning_rate)
        _read_walks(walks, order[first:end], vectors, contexts, *noise, window, negatives, *rates, seed, first)
    return vectors


def begin(rng: Generator, nodes: int, width: int) -> FloatArray:
    """Small random vectors, (nodes, width)."""
    return (rng.random((nodes, width), np.float32) - np.float32(0.5)) / np.float32(width)


def rate_at(done: int, total: int, learning_rate: float) -> float:
    """The learning rate falls in a line, to next to nothing."""
    least = min(LEAST_RATE, learning_rate)
    return learning_rate + (least - learning_rate) * done / total


def parts(total: int, progress: Progress | None, stage: str = "training") -> Iterator[tuple[int, int]]:
    """The ends of each part of ``0..total - 1``; the progress hears of a part when the next is asked for."""
    ends = [total * part // PARTS for part in range(PARTS + 1)]
    for first, end in pairwise(ends):
        if first < end:
            yield first, end
            if progress is not None:
                progress(stage, end, total)


@fast
def _read_walks(
    walks: Int32Array,
    order: IntArray,
    vectors: Float32Array,
    contexts: Float32Array,
    keep: Float32Array,
    other: Int32Array,
    window: int,
    negatives: int,
    first_rate: float,
    last_rate: float,
    seed: np.uint64,
    number: int,
) -> None:
    length, width = walks.shape[1], vectors.shape[1]
    targets = np.empty(1 + negatives, np.int64)
    rows = (negatives // TOGETHER + 1) * TOGETHER
    near, score = np.zeros((rows, width), np.float32), np.empty(TOGETHER, np.float32)
    for at in range(len(order)):
        walk = walks[order[at]]
        rate = np.float32(first_rate + (last_rate - first_rate) * at / len(order))
        state = stream(seed, number + at, 0)
        for middle in range(length):
            reach = 1 + int(uniform(state) * window)
            state += GOLDEN
            targets[0] = walk[middle]
            known, state = draw_noise(keep, other, targets, walk[middle], state)
            known = _each_once(targets, known)
            for k in range(known):
                near[k] = contexts[targets[k]]
            for place in range(max(0, middle - reach), min(length, middle + reach + 1)):
                if place != middle:
                    for first in range(0, known, TOGETHER):
                        _ascend_in_window(vectors[walk[place]], near, first, known, rate, score)
            for k in range(known):
                contexts[targets[k]] = near[k]


# -- a window ---------------------------------------------------------------------------------------------------------
# Its targets are copied side by side, to be gone over six at a time: rows that are known to differ can be read and
# written in one pass, which takes two thirds of the time of a step between any rows. Each six are a step of their own.


@fast
def _each_once(targets: IntArray, known: int) -> int:
    """Leave out what stands there already: how many are left."""
    kept = 0
    for k in range(known):
        new = True
        for before in range(kept):
            new = new and targets[before] != targets[k]
        if new:
            targets[kept] = targets[k]
            kept += 1
    return kept


@fast
def _ascend_in_window(
    vector: Float32Array, near: Float32Array, first: int, known: int, rate: np.float32, score: Float32Array
) -> None:
    """One step up the gradient, by which row 0, the target, is told from noise; of six rows from the ``first`` on."""
    score[0], score[1], score[2], score[3], score[4], score[5] = _six_products(vector, near, first)
    for k in range(TOGETHER):
        if first + k == 0:
            score[k] = rate * sigmoid(-score[k])
        elif first + k < known:
            score[k] = -rate * sigmoid(score[k])
        else:
            score[k] = 0  # a row of an earlier window
    _move_six(vector, near, first, score)


@fast
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


@fast
def _move_six(x: Float32Array, rows: Float32Array, first: int, score: Float32Array) -> None:
    """Add to the vector what the rows were, and to the rows what the vector was, each times its score."""
    a, b, c, d, e, f = score[0], score[1], score[2], score[3], score[4], score[5]
    for i in range(len(x)):
        was, r0, r1, r2 = x[i], rows[first, i], rows[first + 1, i], rows[first + 2, i]
        r3, r4, r5 = rows[first + 3, i], rows[first + 4, i], rows[first + 5, i]
        x[i] = was + (a * r0 + b * r1 + c * r2 + d * r3 + e * r4 + f * r5)
        rows[first, i] = r0 + a * was
        rows[first + 1, i] = r1 + b * was
        rows[first + 2, i] = r2 + c * was
        rows[first + 3, i] = r3 + d * was
        rows[first + 4, i] = r4 + e * was
        rows[first + 5, i] = r5 + f * was


# -- a step between any rows -------------------------------------------------------------------------------------------


@fast
def draw(keep: Float32Array, other: Int32Array, state: np.uint64) -> int:
    """An entry of an alias table."""
    place = uniform(state) * len(keep)
    at = int(place)
    # What is left of the place behind the point is as good as a second random number.
    return at if place - at < keep[at] else int(other[at])


@fast
def draw_noise(
    keep: Float32Array, other: Int32Array, targets: IntArray, source: int, state: np.uint64
) -> tuple[int, np.uint64]:
    """Nodes of noise behind the true target, less those that are it or the source: how many targets there are."""
    known = 1
    for _ in range(len(targets) - 1):
        drawn = draw(keep, other, state)
        state += GOLDEN
        if drawn != targets[0] and drawn != source:
            targets[known] = drawn
            known += 1
    return known, state


@fast
def scratch(negatives: int, width: int) -> tuple[Float32Array, Float32Array, Float32Array]:
    """What a step writes on: a score for each target, the source's vector, and how that is to change."""
    return np.empty(1 + negatives, np.float32), np.empty(width, np.float32), np.empty(width, np.float32)


@fast
def ascend(
    inputs: Float32Array,
    source: int,
    outputs: Float32Array,
    targets: IntArray,
    known: int,
    bias: float,
    noise_bias: float,
    rate: np.float32,
    score: Float32Array,
    x: Float32Array,
    change: Float32Array,
) -> None:
    """One step up the gradient, by which the first of the ``known`` targets is told from the others.

    Inputs and outputs may be one matrix, and a target may be the source or be there twice: all changes are added.
    """
    x[:] = inputs[source]
    change[:] = 0
    # Three targets at a time, as each number of x is then read once for three.
    threes = known // 3 * 3
    for k in range(0, threes, 3):
        score[k], score[k + 1], score[k + 2] = _products(x, outputs, targets[k], targets[k + 1], targets[k + 2])
    for k in range(threes, known):
        score[k] = _product(x, outputs, targets[k])
    score[0] = rate * sigmoid(np.float32(bias) - score[0])
    for k in range(1, known):
        score[k] = -rate * sigmoid(score[k] - np.float32(noise_bias))
    for k in range(0, threes, 3):
        a, b, c = targets[k], targets[k + 1], targets[k + 2]
        _add_rows(change, outputs, a, b, c, score[k], score[k + 1], score[k + 2])
    for k in range(threes, known):
        _add_row(change, outputs, targets[k], score[k])
    # No output changes before the last was read.
    for k in range(0, threes, 3):
        a, b, c = targets[k], targets[k + 1], targets[k + 2]
        _add_to_rows(outputs, a, b, c, x, score[k], score[k + 1], score[k + 2])
    for k in range(threes, known):
        _add_to_row(outputs, targets[k], x, score[k])
    _add_to_row(inputs, source, change, np.float32(1))


@fast
def sigmoid(z: np.float32) -> np.float32:
    """1 / (1 + exp(-z)) by Lambert's continued fraction for tanh, to 5e-5: a third of the time that exp takes."""
    h = min(max(np.float32(0.5) * z, np.float32(-4.97)), np.float32(4.97))
    s = h * h
    above = h * (np.float32(135135) + s * (np.float32(17325) + s * (np.float32(378) + s)))
    below = np.float32(135135) + s * (np.float32(62370) + s * (np.float32(3150) + s * np.float32(28)))
    return np.float32(0.5) + np.float32(0.5) * above / below


@fast
def _product(x: Float32Array, rows: Float32Array, a: int) -> np.float32:
    total = np.float32(0)
    for d in range(len(x)):
        total += x[d] * rows[a, d]
    return total


@fast
def _products(x: Float32Array, rows: Float32Array, a: int, b: int, c: int) -> tuple[np.float32, np.float32, np.float32]:
    first = second = third = np.float32(0)
    for d in range(len(x)):
        first += x[d] * rows[a, d]
        second += x[d] * rows[b, d]
        third += x[d] * rows[c, d]
    return first, second, third


@fast
def _add_row(total: Float32Array, rows: Float32Array, a: int, times: np.float32) -> None:
    for d in range(len(total)):
        total[d] += times * rows[a, d]


@fast
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


@fast
def _add_to_row(rows: Float32Array, a: int, x: Float32Array, times: np.float32) -> None:
    for d in range(len(x)):
        rows[a, d] += times * x[d]


@fast
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
    # Where two of the rows are one, the compiler's own check leads to a loop without vectors, and both are added.
    for d in range(len(x)):
        rows[a, d] += first * x[d]
        rows[b, d] += second * x[d]
        rows[c, d] += third * x[d]
