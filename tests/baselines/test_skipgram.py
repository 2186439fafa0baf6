from __future__ import annotations

import numba
import numpy as np
import pytest
from scipy.stats import chisquare

from graphprox.baselines.skipgram import (
    LEAST_RATE,
    TOGETHER,
    Chances,
    ascend,
    begin,
    draw,
    draw_noise,
    parts,
    scratch,
    sigmoid,
    skip_gram,
)
from graphprox.proximity.hashing import GOLDEN, stream, uniform
from graphprox.proximity.options import draw_seed


def logistic(z):
    return 1 / (1 + np.exp(-np.asarray(z, np.float64)))


def test_the_sigmoid_is_near_the_true_one():
    z = np.linspace(-30, 30, 5001).astype(np.float32)
    near = np.array([sigmoid(each) for each in z])
    assert np.abs(near - logistic(z)).max() < 6e-5
    middle = np.abs(z) < 4
    assert np.abs(near - logistic(z))[middle].max() < 1e-6
    assert (near >= 0).all()
    assert (near <= 1).all()


# -- a step -----------------------------------------------------------------------------------------------------------


def stepped(inputs, source, outputs, targets, *, bias=0.0, noise_bias=0.0, rate=0.1):
    """Copies of both matrices after a step; one and the same where the given ones are."""
    inputs, outputs = inputs.copy(), None if outputs is inputs else outputs.copy()
    targets = np.array(targets)
    rooms = scratch(len(targets) - 1, inputs.shape[1])
    ascend(
        inputs, source, inputs if outputs is None else outputs, targets, len(targets), bias, noise_bias,
        np.float32(rate), *rooms,
    )  # fmt: skip
    return inputs, outputs


def likelihood(inputs, source, outputs, targets, bias, noise_bias):
    products = outputs[targets] @ inputs[source]
    return np.log(logistic(products[0] - bias)) + np.log(logistic(noise_bias - products[1:])).sum()


def slope(of, matrix):
    """The gradient of a function of a matrix by differences."""
    found, tiny = np.empty_like(matrix), 1e-5
    for at in np.ndindex(*matrix.shape):
        there, back = matrix.copy(), matrix.copy()
        there[at] += tiny
        back[at] -= tiny
        found[at] = (of(there) - of(back)) / (2 * tiny)
    return found


@pytest.mark.parametrize("targets", [[1], [3, 0], [2, 4, 1], [5, 5, 5, 1], [1, 0, 3, 4, 4, 2], [*range(6), 5, 1]])
@pytest.mark.parametrize(("bias", "noise_bias"), [(0.0, 0.0), (1.7, 0.6)])
@pytest.mark.parametrize("width", [1, 7, 40])
def test_a_step_follows_the_gradient(targets, bias, noise_bias, width):
    rng = np.random.default_rng(width)
    inputs, outputs = (rng.normal(size=(6, width), scale=0.5).astype(np.float32) for _ in range(2))
    exact = inputs.astype(np.float64), outputs.astype(np.float64)
    source = 2
    new_inputs, new_outputs = stepped(inputs, source, outputs, targets, bias=bias, noise_bias=noise_bias)
    for_inputs = slope(lambda each: likelihood(each, source, exact[1], targets, bias, noise_bias), exact[0])
    for_outputs = slope(lambda each: likelihood(exact[0], source, each, targets, bias, noise_bias), exact[1])
    np.testing.assert_allclose(new_inputs - inputs, 0.1 * for_inputs, atol=2e-5)
    np.testing.assert_allclose(new_outputs - outputs, 0.1 * for_outputs, atol=2e-5)


@pytest.mark.parametrize("targets", [[2, 2], [2, 0, 4, 4, 1], [3, 2, 2], [1, 0, 5, 3]])
def test_a_step_follows_the_gradient_where_both_matrices_are_one(targets):
    vectors = np.random.default_rng(3).normal(size=(6, 21), scale=0.4).astype(np.float32)
    exact = vectors.astype(np.float64)
    new, _ = stepped(vectors, 2, vectors, targets, bias=0.5)
    expected = slope(lambda each: likelihood(each, 2, each, targets, 0.5, 0.0), exact)
    np.testing.assert_allclose(new - vectors, 0.1 * expected, atol=2e-5)


# -- chance -----------------------------------------------------------------------------------------------------------


@numba.njit  # without a cache, which would not see that what is called has changed
def drawn_often(keep, other, times):
    counts, state = np.zeros(len(keep), np.int64), stream(np.uint64(5), 0, 0)
    for _ in range(times):
        counts[draw(keep, other, state)] += 1
        state += GOLDEN
    return counts


@pytest.mark.parametrize("weight", [[1, 1, 1], [0, 3, 0, 1], [5, 0.1, 2, 0.7, 0.7], 2.0 ** np.arange(9)])
def test_draws_follow_the_weights(weight):
    weight = np.asarray(weight, np.float64)
    seen = drawn_often(*Chances.of(weight), 100_000)
    assert not seen[weight == 0].any()
    law = weight[weight > 0] / weight.sum()
    assert chisquare(seen[weight > 0], law * 100_000).pvalue > 1e-4


def test_where_nothing_has_weight_all_are_drawn_alike():
    assert chisquare(drawn_often(*Chances.of(np.zeros(4)), 40_000)).pvalue > 1e-4


def test_noise_is_neither_the_target_nor_the_source():
    chances, targets = Chances.of(np.ones(4)), np.full(1 + 50, 3)
    known, _ = draw_noise(*chances, targets, 0, np.uint64(9))
    assert 1 < known < 51
    assert targets[0] == 3
    assert set(targets[1:known]) == {1, 2}


# -- skip-gram --------------------------------------------------------------------------------------------------------


def literally(walks, rng, *, nodes, width, window, negatives, epochs, learning_rate):
    """Skip-gram written down in plain Python, with the same random numbers."""
    vectors, contexts = begin(rng, nodes, width).astype(np.float64), np.zeros((nodes, width))
    noise = Chances.of(np.bincount(walks.ravel(), minlength=nodes) ** 0.75)
    seed = draw_seed(rng)
    order = np.concatenate([rng.permutation(len(walks)) for _ in range(epochs)])
    for number, chosen in enumerate(order):
        rate = learning_rate + (LEAST_RATE - learning_rate) * number / len(order)
        walk, state = walks[chosen], np.uint64(stream(seed, number, 0))
        for middle, target in enumerate(walk):
            reach = 1 + int(uniform(state) * window)
            others = []
            for _ in range(negatives):
                state += GOLDEN
                others.append(draw(*noise, state))
            state += GOLDEN
            for place, node in enumerate(walk):
                if place == middle or abs(place - middle) > reach:
                    continue
                told = [(target, 1)] + [(other, 0) for other in dict.fromkeys(others) if other != target]
                for first in range(0, len(told), TOGETHER):
                    x = vectors[node].copy()
                    pulls = [
                        (each, rate * (label - logistic(contexts[each] @ x))) for each, label in told[first:][:TOGETHER]
                    ]
                    vectors[node] += sum(pull * contexts[each] for each, pull in pulls)
                    for each, pull in pulls:
                        contexts[each] += pull * x
    return vectors


@pytest.mark.parametrize(
    "options", [{}, {"window": 1}, {"negatives": 1, "epochs": 2}, {"negatives": 2, "width": 33}, {"negatives": 9}]
)
def test_skip_gram_is_what_it_says(options):
    # More walks than a training has parts, so that the rate falls within a part too.
    walks = np.random.default_rng(1).integers(0, 7, (230, 5)).astype(np.int32)
    settings = {"nodes": 8, "width": 12, "window": 3, "negatives": 5, "epochs": 1, "learning_rate": 0.2, **options}
    ours = skip_gram(walks, np.random.default_rng(0), **settings)
    with np.errstate(over="ignore"):
        plain = literally(walks, np.random.default_rng(0), **settings)
    assert ours.dtype == np.float32
    assert np.abs(plain).max() > 0.2
    np.testing.assert_allclose(ours, plain, atol=2e-3)


def test_a_node_that_no_walk_meets_keeps_its_first_vector():
    walks = np.array([[0, 1, 0], [1, 0, 1]], np.int32)
    vectors = skip_gram(walks, np.random.default_rng(0), nodes=3, width=4)
    assert np.array_equal(vectors[2], begin(np.random.default_rng(0), 3, 4)[2])
    assert not np.array_equal(vectors[:2], begin(np.random.default_rng(0), 3, 4)[:2])


@pytest.mark.parametrize("total", [1, 7, 100, 12_345])
def test_parts_cover_the_whole_and_are_told(total):
    told = []
    listed = list(parts(total, lambda *each: told.append(each)))
    assert [number for first, end in listed for number in range(first, end)] == list(range(total))
    assert told == [("training", end, total) for _, end in listed]
    assert told[-1][1] == total
