"""An approximate search whose cost grows with the number of rows: a guess by random trees, then by word of mouth.

Each tree divides the rows by random planes until few are left together, and these are compared. Then, some times over,
each row is compared with the neighbours of its neighbours: NN-descent (Dong, Moses and Li, 2011). A row reads what
the round before wrote and writes its own list only, so the number of threads changes nothing.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphprox.arrays import IntArray
from graphprox.proximity.compiled import Float32Array, Int32Array, compiled, in_parallel
from graphprox.proximity.hashing import mix, stream
from graphprox.proximity.kernels import compiled_reordered

TREES = 16
LEAF = 64  # rows that are compared with each other at most
LOPSIDED = 8  # where a plane has less than one of so many rows on a side, one through the median is tried
ROUNDS = 6  # at most; it ends before, where hardly a list changes any more
SETTLED = 0.005  # the share of changed entries below which it ends
NOBODY = -1

BoolArray = NDArray[np.bool_]


def probable_neighbors(unit: Float32Array, width: int, seed: int) -> Int32Array:
    """The rows that are probably most similar to each row of unit length, (rows, width), the most similar first.

    A list ends in -1 where fewer were met.
    """
    size = len(unit)
    shape = (size, min(width, size - 1))
    seeds = np.random.SeedSequence(seed).generate_state(TREES + ROUNDS, np.uint64)
    # Rows are renumbered by the leaves of the first tree: those that are near then lie near in memory too.
    number, _ = _tree(unit, seeds[0])
    unit = unit[number]
    near = np.full(shape, NOBODY, np.int32)
    score = np.full(shape, -2, np.float32)  # below any cosine
    is_new = np.zeros(shape, np.bool_)
    for each in range(TREES):
        order, start = _tree(unit, seeds[each])
        in_parallel(partial(_compare_leaves, unit, order, start, near, score, is_new), len(start) - 1)
    for each in range(TREES, TREES + ROUNDS):
        listed, listed_new = near.copy(), is_new.copy()
        is_new[:] = False
        listing = _listing(listed, listed_new, seeds[each])
        taken = np.zeros(size, np.int64)
        ask = partial(_ask_neighbors, unit, listed, listed_new, *listing, near, score, is_new, taken)
        in_parallel(ask, size)
        if taken.sum() < SETTLED * near.size:
            break
    found = np.empty_like(near)
    found[number] = np.where(near == NOBODY, NOBODY, number[near])
    return found


# -- trees -----------------------------------------------------------------------------------------------------------


def _tree(unit: Float32Array, seed: np.uint64) -> tuple[IntArray, IntArray]:
    """The rows in the order of a random tree's leaves, and where each leaf starts and the last one ends."""
    order = np.arange(len(unit))
    start = np.array([0, len(unit)])
    level = 0
    while (large := np.flatnonzero(np.diff(start) > LEAF)).size:
        cuts = np.empty(len(large), np.int64)
        in_parallel(partial(_divide, unit, order, start[large], start[large + 1], seed, level, cuts), len(large))
        start = np.sort(np.concatenate([start, cuts]))
        level += 1
    return order, start


@compiled
def _divide(
    unit: Float32Array,
    order: IntArray,
    first: IntArray,
    last: IntArray,
    seed: np.uint64,
    level: int,
    cuts: IntArray,
    begin: int,
    end: int,
) -> None:
    """Divide runs of rows, ``order[first:last]``, each by a plane between two of its rows; the cuts.

    The rows of a run are reordered in place.
    """
    for run in range(begin, end):
        rows = order[first[run] : last[run]]
        size = len(rows)
        state = stream(seed, first[run], level)
        one = rows[np.int64(mix(state) % np.uint64(size))]
        other = rows[np.int64(mix(~state) % np.uint64(size))]
        plane = unit[one] - unit[other]
        side = np.empty(size, np.float32)
        for each in range(size):
            side[each] = _product(plane, unit[rows[each]])
        chosen = side > 0
        if _lopsided(chosen):
            chosen = side > np.median(side)
        front, back = rows[chosen], rows[~chosen]
        rows[: len(front)] = front
        rows[len(front) :] = back
        # Where nearly all lie in the plane, as rows too close to be told apart do, any half is as good.
        cuts[run] = first[run] + (size // 2 if _lopsided(chosen) else len(front))


@compiled
def _lopsided(chosen: BoolArray) -> bool:
    above = chosen.sum()
    return bool(min(above, len(chosen) - above) * LOPSIDED < len(chosen))


@compiled
def _compare_leaves(
    unit: Float32Array,
    order: IntArray,
    start: IntArray,
    near: Int32Array,
    score: Float32Array,
    is_new: BoolArray,
    begin: int,
    end: int,
) -> None:
    """Offer all rows of a leaf to each other; a row is in one leaf, and so in the hands of one thread."""
    for leaf in range(begin, end):
        rows = order[start[leaf] : start[leaf + 1]]
        here = unit[rows]
        for each in range(len(rows)):
            for other in range(each):
                product = _product(here[each], here[other])
                _offer(near[rows[each]], score[rows[each]], is_new[rows[each]], rows[other], product)
                _offer(near[rows[other]], score[rows[other]], is_new[rows[other]], rows[each], product)


# -- word of mouth ---------------------------------------------------------------------------------------------------


@compiled
def _listing(near: Int32Array, is_new: BoolArray, seed: np.uint64) -> tuple[Int32Array, BoolArray]:
    """Who lists each row, at most as many as it lists itself, drawn at random, and whether they do so newly."""
    width = near.shape[1]
    listing = np.full(near.shape, NOBODY, np.int32)
    listing_new = np.zeros(near.shape, np.bool_)
    counts = np.zeros(len(near), np.int64)
    for row in range(len(near)):
        for each in range(width):
            other = near[row, each]
            if other == NOBODY:
                break
            place = counts[other]
            counts[other] += 1
            if place >= width:  # one of all so far is replaced, or the new one passed over, each as likely
                place = np.int64(stream(seed, row, each) % np.uint64(counts[other]))
            if place < width:
                listing[other, place] = row
                listing_new[other, place] = is_new[row, each]
    return listing, listing_new


@compiled
def _ask_neighbors(
    unit: Float32Array,
    listed: Int32Array,
    listed_new: BoolArray,
    listing: Int32Array,
    listing_new: BoolArray,
    near: Int32Array,
    score: Float32Array,
    is_new: BoolArray,
    taken: IntArray,
    begin: int,
    end: int,
) -> None:
    """Offer each row those who list it, and whom its neighbours in both directions list; write how many it took.

    Two rows that both were known the round before, to one that both knew, have met then and are not offered again.
    """
    width = listed.shape[1]
    met = np.full(len(listed), NOBODY, np.int32)  # the last row that met this one
    for row in range(begin, end):
        mine, scores, new, here = near[row], score[row], is_new[row], unit[row]
        met[row] = row
        for each in range(width):
            if listed[row, each] != NOBODY:
                met[listed[row, each]] = row
        for each in range(2 * width):
            if each < width:
                friend, friend_new = listed[row, each], listed_new[row, each]
            else:
                friend, friend_new = listing[row, each - width], listing_new[row, each - width]
            if friend == NOBODY:
                continue
            if met[friend] != row:
                met[friend] = row
                taken[row] += _offer(mine, scores, new, friend, _product(here, unit[friend]))
            for place in range(width):
                other = listed[friend, place]
                if other == NOBODY:
                    break
                if met[other] != row and (friend_new or listed_new[friend, place]):
                    met[other] = row
                    taken[row] += _offer(mine, scores, new, other, _product(here, unit[other]))


@compiled
def _offer(near: Int32Array, score: Float32Array, is_new: BoolArray, row: int, product: Any) -> int:
    """Take a row into a list at its place, and the last one out, if it is similar enough and not there; 1 if taken."""
    place = len(near) - 1
    if product <= score[place]:
        return 0
    for each in near:
        if each == row:
            return 0
    while place > 0 and score[place - 1] < product:
        near[place], score[place], is_new[place] = near[place - 1], score[place - 1], is_new[place - 1]
        place -= 1
    near[place], score[place], is_new[place] = row, product, True
    return 1


@compiled_reordered
def _product(left: Float32Array, right: Float32Array) -> Any:
    total = np.float32(0)
    for each in range(len(left)):
        total += left[each] * right[each]
    return total
