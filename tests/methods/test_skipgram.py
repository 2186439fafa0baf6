"""Skip-gram with negative sampling, against plain Python and gradients by finite differences."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from scipy.stats import chisquare

from graphprox._utils.checks import sample_seed
from graphprox._utils.hashing import GOLDEN, stream, uniform
from graphprox.methods._skipgram import (
    BLOCK,
    MIN_LEARNING_RATE,
    AliasTable,
    allocate_buffers,
    init_vectors,
    iterate_chunks,
    sample_entry,
    sample_negative_targets,
    sigmoid,
    train_skip_gram,
    update_vectors,
)


def logistic(z):
    return 1 / (1 + np.exp(-np.asarray(z, np.float64)))


def test_sigmoid_is_accurate_to_6e_5():
    z = np.linspace(-30, 30, 5001).astype(np.float32)
    found = np.array([sigmoid(each) for each in z])
    assert np.abs(found - logistic(z)).max() < 6e-5
    middle = np.abs(z) < 4
    assert np.abs(found - logistic(z))[middle].max() < 1e-6
    assert (found >= 0).all()
    assert (found <= 1).all()


# -- a step -----------------------------------------------------------------------------------------------------------


def take_step(inputs, source, outputs, targets, *, bias=0.0, noise_bias=0.0, rate=0.1):
    """Return copies of both matrices after a step; outputs are None if they are the inputs."""
    inputs, outputs = inputs.copy(), None if outputs is inputs else outputs.copy()
    targets = np.array(targets)
    buffers = allocate_buffers(len(targets) - 1, inputs.shape[1])
    update_vectors(
        inputs, source, inputs if outputs is None else outputs, targets, len(targets), bias, noise_bias,
        np.float32(rate), *buffers,
    )  # fmt: skip
    return inputs, outputs


def likelihood(inputs, source, outputs, targets, bias, noise_bias):
    products = outputs[targets] @ inputs[source]
    return np.log(logistic(products[0] - bias)) + np.log(logistic(noise_bias - products[1:])).sum()


def gradient(function, matrix):
    """Return the gradient of a function of a matrix by finite differences."""
    found, tiny = np.empty_like(matrix), 1e-5
    for at in np.ndindex(*matrix.shape):
        there, back = matrix.copy(), matrix.copy()
        there[at] += tiny
        back[at] -= tiny
        found[at] = (function(there) - function(back)) / (2 * tiny)
    return found


@pytest.mark.parametrize("targets", [[1], [3, 0], [2, 4, 1], [5, 5, 5, 1], [1, 0, 3, 4, 4, 2], [*range(6), 5, 1]])
@pytest.mark.parametrize(("bias", "noise_bias"), [(0.0, 0.0), (1.7, 0.6)])
@pytest.mark.parametrize("n_components", [1, 7, 40])
def test_step_follows_the_gradient(targets, bias, noise_bias, n_components):
    rng = np.random.default_rng(n_components)
    inputs, outputs = (rng.normal(size=(6, n_components), scale=0.5).astype(np.float32) for _ in range(2))
    exact = inputs.astype(np.float64), outputs.astype(np.float64)
    source = 2
    new_inputs, new_outputs = take_step(inputs, source, outputs, targets, bias=bias, noise_bias=noise_bias)
    for_inputs = gradient(lambda each: likelihood(each, source, exact[1], targets, bias, noise_bias), exact[0])
    for_outputs = gradient(lambda each: likelihood(exact[0], source, each, targets, bias, noise_bias), exact[1])
    np.testing.assert_allclose(new_inputs - inputs, 0.1 * for_inputs, atol=2e-5)
    np.testing.assert_allclose(new_outputs - outputs, 0.1 * for_outputs, atol=2e-5)


@pytest.mark.parametrize("targets", [[2, 2], [2, 0, 4, 4, 1], [3, 2, 2], [1, 0, 5, 3]])
def test_step_follows_the_gradient_of_a_shared_matrix(targets):
    vectors = np.random.default_rng(3).normal(size=(6, 21), scale=0.4).astype(np.float32)
    exact = vectors.astype(np.float64)
    new, _ = take_step(vectors, 2, vectors, targets, bias=0.5)
    expected = gradient(lambda each: likelihood(each, 2, each, targets, 0.5, 0.0), exact)
    np.testing.assert_allclose(new - vectors, 0.1 * expected, atol=2e-5)


# -- sampling ---------------------------------------------------------------------------------------------------------


@numba.njit  # without a cache, which would miss changes of the functions that it calls
def count_samples(keep, other, times):
    counts, state = np.zeros(len(keep), np.int64), stream(np.uint64(5), 0, 0)
    for _ in range(times):
        counts[sample_entry(keep, other, state)] += 1
        state += GOLDEN
    return counts


@pytest.mark.parametrize("weight", [[1, 1, 1], [0, 3, 0, 1], [5, 0.1, 2, 0.7, 0.7], 2.0 ** np.arange(9)])
def test_alias_table_samples_in_proportion_to_weights(weight):
    weight = np.asarray(weight, np.float64)
    counts = count_samples(*AliasTable.of(weight), 100_000)
    assert not counts[weight == 0].any()
    expected = weight[weight > 0] / weight.sum()
    assert chisquare(counts[weight > 0], expected * 100_000).pvalue > 1e-4


def test_alias_table_without_weight_is_uniform():
    assert chisquare(count_samples(*AliasTable.of(np.zeros(4)), 40_000)).pvalue > 1e-4


def test_negatives_exclude_the_target_and_the_source():
    table, targets = AliasTable.of(np.ones(4)), np.full(1 + 50, 3)
    count, _ = sample_negative_targets(*table, targets, 0, np.uint64(9))
    assert 1 < count < 51
    assert targets[0] == 3
    assert set(targets[1:count]) == {1, 2}


# -- skip-gram --------------------------------------------------------------------------------------------------------


def train_in_python(walks, rng, *, num_nodes, n_components, window_size, num_negatives, epochs, learning_rate):
    """Skip-gram in plain Python, with the same random numbers."""
    vectors, contexts = (
        init_vectors(rng, num_nodes, n_components).astype(np.float64),
        np.zeros((num_nodes, n_components)),
    )
    noise = AliasTable.of(np.bincount(walks.ravel(), minlength=num_nodes) ** 0.75)
    seed = sample_seed(rng)
    order = np.concatenate([rng.permutation(len(walks)) for _ in range(epochs)])
    for number, chosen in enumerate(order):
        rate = learning_rate + (MIN_LEARNING_RATE - learning_rate) * number / len(order)
        walk, state = walks[chosen], np.uint64(stream(seed, number, 0))
        for center, target in enumerate(walk):
            reach = 1 + int(uniform(state) * window_size)
            others = []
            for _ in range(num_negatives):
                state += GOLDEN
                others.append(sample_entry(*noise, state))
            state += GOLDEN
            for place, node in enumerate(walk):
                if place == center or abs(place - center) > reach:
                    continue
                pairs = [(target, 1)] + [(other, 0) for other in dict.fromkeys(others) if other != target]
                for first in range(0, len(pairs), BLOCK):
                    x = vectors[node].copy()
                    pulls = [
                        (each, rate * (label - logistic(contexts[each] @ x))) for each, label in pairs[first:][:BLOCK]
                    ]
                    vectors[node] += sum(pull * contexts[each] for each, pull in pulls)
                    for each, pull in pulls:
                        contexts[each] += pull * x
    return vectors


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"window_size": 1},
        {"num_negatives": 1, "epochs": 2},
        {"num_negatives": 2, "n_components": 33},
        {"num_negatives": 9},
    ],
)
def test_skip_gram_equals_plain_python(options):
    # More walks than chunks, so that the learning rate decays within a chunk too.
    walks = np.random.default_rng(1).integers(0, 7, (230, 5)).astype(np.int32)
    settings = {"num_nodes": 8, "n_components": 12, "window_size": 3, "num_negatives": 5, "epochs": 1}
    settings |= {"learning_rate": 0.2, **options}
    ours = train_skip_gram(walks, np.random.default_rng(0), **settings)
    with np.errstate(over="ignore"):
        plain = train_in_python(walks, np.random.default_rng(0), **settings)
    assert ours.dtype == np.float32
    assert np.abs(plain).max() > 0.2
    np.testing.assert_allclose(ours, plain, atol=2e-3)


def test_node_that_is_on_no_walk_keeps_its_initial_vector():
    walks = np.array([[0, 1, 0], [1, 0, 1]], np.int32)
    vectors = train_skip_gram(walks, np.random.default_rng(0), num_nodes=3, n_components=4)
    initial = init_vectors(np.random.default_rng(0), 3, 4)
    assert np.array_equal(vectors[2], initial[2])
    assert not np.array_equal(vectors[:2], initial[:2])


@pytest.mark.parametrize("total", [1, 7, 100, 12_345])
def test_chunks_cover_all_steps_and_are_reported(total):
    reported = []
    chunks = list(iterate_chunks(total, lambda *each: reported.append(each)))
    assert [step for first, end in chunks for step in range(first, end)] == list(range(total))
    assert reported == [("training", end, total) for _, end in chunks]
    assert reported[-1][1] == total
