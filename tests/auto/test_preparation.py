"""Prepared features against scikit-learn's document frequencies and an exact singular value decomposition."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

from graphprox.auto.preparation import (
    FEW_NODES,
    FEW_SHARPNESS,
    MAX_DENSITY,
    MAX_SCALE,
    PRIOR_COUNT,
    SHARPNESS,
    Preparation,
    choose_sharpness,
    column_weights,
    is_bag_of_words,
    limit_scales,
)


def make_counts(num_nodes=80, num_words=50, seed=0):
    """Return counts of words, some of which no node has and one of which all nodes have."""
    rng = np.random.default_rng(seed)
    x = rng.poisson(rng.uniform(0, 0.4, num_words), (num_nodes, num_words))
    x[:, :3] = 0
    x[:, 3] = 1 + x[:, 3]
    return x.astype(np.float32)


def make_dense(num_nodes=90, num_features=60, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(num_nodes, num_features)) * np.geomspace(5, 0.2, num_features)).astype(np.float32)


def cosines(rows):
    unit = normalize(np.asarray(rows, float))
    return unit @ unit.T


def prepare_exactly(rows, num_directions=None):
    """Reduce rows with a full singular value decomposition, in double precision."""
    rows = normalize(np.asarray(rows, float))
    _, values, right = np.linalg.svd(rows, full_matrices=False)
    return (rows @ right.T * (values / values[0]) ** (choose_sharpness(len(rows)) - 1))[:, :num_directions]


def center(x):
    """Return centered columns, none of which is more than three times as wide as the eleventh widest."""
    x = np.asarray(x, float)
    return (x - x.mean(0)) / np.maximum(x.std(0) / (MAX_SCALE * np.sort(x.std(0))[-11]), 1)


# -- weights of columns ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("num_nodes", [12, 80, 700])
def test_column_weights_follow_from_the_document_frequencies_of_scikit_learn(num_nodes):
    x = make_counts(num_nodes)
    idf = TfidfTransformer(smooth_idf=True).fit(x.astype(float)).idf_  # log((1 + n) / (1 + df)) + 1
    document_frequency = (1 + num_nodes) / np.exp(idf - 1) - 1
    rarity = np.log((num_nodes + PRIOR_COUNT) / (document_frequency + PRIOR_COUNT)).clip(0)
    expected = rarity ** (num_nodes / (num_nodes + FEW_NODES))
    np.testing.assert_allclose(column_weights(x), expected, rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(column_weights(sp.csr_array(x)), expected, rtol=1e-4, atol=1e-3)


def test_rarer_columns_weigh_more_and_a_column_of_all_nodes_nothing():
    x = np.tril(np.ones((40, 40), np.float32))  # column j is nonzero in 40 - j rows
    weights = column_weights(x)
    assert weights[0] == 0
    assert (np.diff(weights) > 0).all()
    assert np.isfinite(weights).all()


def test_weights_are_less_pronounced_in_a_small_graph():
    shares = np.array([0.05, 0.5])
    spread = []
    for num_nodes in (20, 200, 20_000):
        x = sp.csr_array((np.arange(num_nodes)[:, None] < shares * num_nodes).astype(np.float32))
        rare, common = column_weights(x)
        spread.append(rare / common)
    assert spread == sorted(spread)


def test_number_of_occurrences_within_a_node_does_not_change_weights():
    x = make_counts()
    assert np.array_equal(column_weights(7 * x), column_weights(x))


# -- bags of words --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (np.eye(8), True),
        (3 * np.eye(8), True),
        (-np.eye(8), False),
        (0.5 * np.eye(8), False),
        (np.eye(8) * [1, 1, 1, 1, 1, 1, 1, 1.5], False),
        (np.eye(8) * [1, 1, 1, 1, 1, 1, 1, -1], False),
        (np.random.default_rng(0).integers(18, 90, (30, 2)), False),  # ages: integers, but dense
        (np.ones((4, 4)), False),
        (np.zeros((5, 5)), False),
        (np.zeros((5, 0)), False),
        (np.zeros((0, 5)), False),
    ],
)
def test_bag_of_words_has_few_nonzero_entries_which_are_positive_integers(x, expected, form):
    assert is_bag_of_words(form(np.asarray(x, np.float32))) is expected


def test_largest_density_of_a_bag_of_words_is_included():
    x = np.zeros((10, 10), np.float32)
    x.flat[: int(100 * MAX_DENSITY)] = 1
    assert is_bag_of_words(x)
    x.flat[int(100 * MAX_DENSITY)] = 1
    assert not is_bag_of_words(x)


def test_zeros_that_a_sparse_matrix_stores_do_not_count():
    full = sp.csr_array(np.ones((10, 10), np.float32))
    full.data[10:] = 0
    assert is_bag_of_words(full)


# -- directions -----------------------------------------------------------------------------------------------------


def test_words_are_weighted_and_sharpened_as_an_exact_decomposition_does():
    x = make_counts()
    preparation = Preparation.fit(x, random_state=0)
    assert preparation.weights == pytest.approx(column_weights(x))
    expected = prepare_exactly(np.log1p(x) * column_weights(x))
    np.testing.assert_allclose(cosines(preparation.transform(x)), cosines(expected), atol=1e-4)


def test_other_sparse_features_are_sharpened_but_not_weighted():
    x = make_counts() * np.float32(0.3)
    preparation = Preparation.fit(x, random_state=0)
    assert preparation.weights is preparation.center is None
    np.testing.assert_allclose(cosines(preparation.transform(x)), cosines(prepare_exactly(x)), atol=1e-4)


def test_dense_features_are_centered_and_wide_columns_reduced():
    x = make_dense() + np.arange(60)
    x[:, 7] *= 1000
    preparation = Preparation.fit(x, random_state=0)
    np.testing.assert_allclose(cosines(preparation.transform(x)), cosines(prepare_exactly(center(x))), atol=1e-3)


def test_wide_columns_of_principal_components_stay_wide():
    deviations = 1 / np.arange(1, 201)
    x = np.random.default_rng(0).normal(size=(500, 200)) * deviations
    factors, _ = limit_scales(x)
    scaled = factors * x.std(0)
    assert scaled[:2] == pytest.approx(MAX_SCALE, rel=1e-5)
    np.testing.assert_allclose(scaled[5:] / scaled[20], x.std(0)[5:] / x.std(0)[20], rtol=1e-4)


def test_income_does_not_decide_the_size_of_a_row():
    rng = np.random.default_rng(0)
    income = rng.normal(50_000, 9_000, 200)
    x = np.column_stack([rng.normal(size=(200, 12)), income])
    sizes = Preparation.fit(x, random_state=0).relative_sizes(x)
    assert abs(np.corrcoef(sizes, income)[0, 1]) < 0.3


@pytest.mark.parametrize("size", [1e-30, 1e30, 3e38])
def test_dense_features_of_any_size_are_prepared(size):
    x = (np.sign(make_dense()) * size).astype(np.float32)
    preparation = Preparation.fit(x, random_state=0)
    expected = Preparation.fit(np.sign(make_dense()), random_state=0)
    np.testing.assert_allclose(preparation.transform(x), expected.transform(np.sign(make_dense())), atol=1e-3)
    assert np.isfinite(preparation.relative_sizes(x)).all()


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_constant_columns_are_no_error(form):
    x = np.ones((30, 4), np.float32)
    assert not Preparation.fit(form(x), random_state=0).transform(form(x)).any()
    x[:, 0] = np.arange(1, 31)
    assert np.isfinite(Preparation.fit(form(x), random_state=0).transform(form(x))).all()


def test_features_are_sharpened_more_in_a_small_graph():
    assert choose_sharpness(0) == FEW_SHARPNESS > choose_sharpness(100) > choose_sharpness(10**9) > SHARPNESS - 1e-9
    assert choose_sharpness(FEW_NODES) == (SHARPNESS + FEW_SHARPNESS) / 2


def test_leading_directions_are_those_of_an_exact_decomposition():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 6)) @ rng.normal(size=(6, 40)) + 0.02 * rng.normal(size=(300, 40))
    found = Preparation.fit(x.astype(np.float32), random_state=0, max_directions=6)
    assert found.directions.shape == (40, 6)
    expected = prepare_exactly(center(x), num_directions=6)
    np.testing.assert_allclose(cosines(found.transform(x.astype(np.float32))), cosines(expected), atol=1e-3)


def test_directions_are_orthogonal_and_the_first_is_the_longest():
    directions = Preparation.fit(make_dense(), random_state=0).directions
    gram = directions.T @ directions
    lengths = np.sqrt(np.diag(gram))
    np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-5)
    assert lengths[0] == pytest.approx(1, abs=1e-5)
    assert (np.diff(lengths) <= 1e-6).all()


@pytest.mark.parametrize("make", [make_counts, make_dense])
def test_sparse_features_are_prepared_as_dense_ones(make):
    x = make()
    dense, sparse = Preparation.fit(x, random_state=3), Preparation.fit(sp.csr_array(x), random_state=3)
    np.testing.assert_allclose(sparse.transform(sp.csr_array(x)), dense.transform(x), atol=1e-4)
    np.testing.assert_allclose(dense.transform(sp.csr_array(x)), dense.transform(x), atol=1e-6)


@pytest.mark.parametrize("make", [make_counts, make_dense])
def test_transform_treats_rows_independently_and_gives_unit_rows(make):
    x = make()
    x[5] = 0
    preparation = Preparation.fit(x, random_state=0)
    rows = preparation.transform(x)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), np.arange(len(x)) != 5, atol=1e-5)
    np.testing.assert_allclose(preparation.transform(x[10:20]), rows[10:20], atol=1e-5)
    assert preparation.transform(make(seed=1)).shape == rows.shape


def test_length_of_rows_does_not_matter():
    x = make_counts() * np.float32(0.3)
    scaled = x * np.geomspace(1e-3, 1e3, len(x)).astype(np.float32)[:, None]
    one, other = (Preparation.fit(each, random_state=0).transform(each) for each in (x, scaled))
    np.testing.assert_allclose(one, other, atol=1e-4)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_features_that_are_all_zero_stay_zero(form):
    x = form(np.zeros((6, 4), np.float32))
    assert not Preparation.fit(x, random_state=0).transform(x).any()


def test_preparation_depends_on_features_and_seed_alone():
    x = make_counts(400, 300)
    one, same = (Preparation.fit(x, random_state=2**40 + 1, max_directions=20) for _ in range(2))
    assert np.array_equal(one.directions, same.directions)


def test_input_is_not_modified():
    for x in (make_counts(), make_dense()):
        copy, sparse = x.copy(), sp.csr_array(x)
        Preparation.fit(x, random_state=0).transform(x)
        Preparation.fit(sparse, random_state=0).transform(sparse)
        assert np.array_equal(x, copy)
        assert np.array_equal(sparse.toarray(), copy)


# -- sizes of rows --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_words_of_a_sparse_matrix_are_counted_and_rows_of_another_are_measured(form):
    x = (np.arange(80) < np.array([0, 1, 7, 3, 7])[:, None]).astype(np.float32) * 5
    np.testing.assert_allclose(
        Preparation.fit(form(x), random_state=0).relative_sizes(form(x)), [0, 0.2, 1.4, 0.6, 1.4]
    )
    dense = make_dense()
    sizes = Preparation.fit(form(dense), random_state=0).relative_sizes(form(dense))
    lengths = np.linalg.norm(center(dense), axis=1)
    np.testing.assert_allclose(sizes, lengths / np.median(lengths), rtol=1e-5)


def test_fitted_matrix_decides_how_rows_are_measured():
    x = (np.random.default_rng(0).random((200, 40)) < np.linspace(0.05, 0.4, 200)[:, None]).astype(np.float32)
    preparation = Preparation.fit(x, random_state=0)
    densest = np.argsort(x.sum(1))[-20:]
    assert x[densest].mean() > MAX_DENSITY > x.mean()
    np.testing.assert_allclose(preparation.relative_sizes(x[densest]), preparation.relative_sizes(x)[densest])


def test_sizes_of_features_that_are_all_zero_are_zero():
    x = np.zeros((6, 4), np.float32)
    assert not Preparation.fit(x, random_state=0).relative_sizes(x).any()
