"""Scales of columns: which matrices are tables, and what becomes of their columns."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.preprocessing import StandardScaler

from graphprox.auto.preparation import Preparation
from graphprox.preprocessing import Scaling
from graphprox.preprocessing.scaling import column_moments, is_table


def make_table(seed=0):
    """Return ages, incomes, visits, shares, heights and memberships."""
    return np.random.default_rng(seed).normal(size=(300, 6)) * [12, 2e4, 3, 0.2, 0.1, 0.5] + [40, 5e4, 5, 0.5, 1.7, 0.4]


def make_wide_table(num_columns=90, seed=0):
    rng = np.random.default_rng(seed)
    units = 10 ** rng.uniform(-2, 5, num_columns)
    return rng.normal(size=(300, num_columns)) * units + units * rng.uniform(0.3, 6, num_columns)


def make_counts(seed=0):
    return np.random.default_rng(seed).poisson(np.geomspace(0.01, 2, 40), (300, 40)).astype(np.float32)


def test_table_is_recognized_by_units_and_means():
    table = make_table()
    assert is_table(table)
    assert is_table(sp.csr_array(table))
    assert not is_table(table - table.mean(0))  # principal components have no means
    assert not is_table((table - table.mean(0)) / table.std(0) + 1)  # standardized
    assert not is_table(make_counts()[:, 4:24] * np.geomspace(1, 100, 20))  # words
    assert not is_table(np.ones((5, 3)))
    assert not is_table(np.ones((5, 0)))


def test_columns_of_the_same_width_far_from_zero_are_a_table():
    rng = np.random.default_rng(0)
    assert is_table(rng.normal([170, 70, 40], [8, 12, 12], (100, 3)))  # height, weight, age
    assert not is_table(rng.normal([8, 12, 12], [8, 12, 12], (100, 3)))
    assert not is_table(np.array([[1, 2], [3, 4], [5, 6]]))  # too few rows to know


def test_a_table_of_many_columns_is_recognized():
    assert is_table(make_wide_table())
    assert not is_table(make_wide_table() - make_wide_table().mean(0))
    assert not is_table(sp.csr_array(make_wide_table()))  # a matrix of many columns that is stored sparse has counts


@pytest.mark.parametrize("num_columns", [20, 200])
def test_learned_vectors_are_no_table(num_columns):
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(500, num_columns)) * rng.lognormal(0, 1, num_columns) + 0.2 * rng.normal(
        size=num_columns
    )
    for each in (vectors, np.maximum(vectors, 0), np.tanh(vectors), PCA(15).fit_transform(vectors)):
        assert not is_table(each)
        assert Scaling.fit(each) is None


@pytest.mark.parametrize("how", ["auto", "standard"])
def test_columns_of_a_table_equal_those_of_scikit_learn(how):
    x = make_table().astype(np.float32)
    known = StandardScaler().fit_transform(x.astype(np.float64))
    assert np.allclose(Scaling.fit(x, how=how).transform(x), known, atol=1e-4)
    assert np.allclose(Scaling.fit(sp.csr_array(x), how=how).transform(sp.csr_array(x)), known, atol=1e-4)


def test_scale_can_be_chosen():
    assert Scaling.fit(make_table(), how="none") is None
    counts = make_counts()
    assert Scaling.fit(counts) is None
    scaled = Scaling.fit(counts, how="standard", keeps_zero_rows=False).transform(counts)
    assert np.allclose(scaled, StandardScaler().fit_transform(counts), atol=1e-4)


def test_a_row_of_zeros_stays_one_unless_its_columns_have_names():
    x = np.vstack([make_table(), np.zeros(6)])
    assert not Scaling.fit(x).transform(x)[-1].any()
    assert Scaling.fit(x, keeps_zero_rows=False).transform(x)[-1].all()


def test_only_quantities_of_an_encoded_table_are_scaled():
    x = np.column_stack([make_table()[:, :2], np.eye(3)[np.arange(300) % 3]]).astype(np.float32)
    is_quantity = np.array([True, True, False, False, False])
    scaled = Scaling.fit(x, is_quantity=is_quantity).transform(x)
    assert np.array_equal(scaled[:, 2:], x[:, 2:])
    assert np.allclose(scaled[:, :2], StandardScaler().fit_transform(x[:, :2]), atol=1e-4)
    assert Scaling.fit(x, is_quantity=np.zeros(5, bool)) is None


def test_a_sparse_table_stays_sparse():
    rng = np.random.default_rng(0)
    x = np.column_stack([make_table()[:, :2], np.eye(80)[rng.integers(80, size=300)]]).astype(np.float32)
    is_quantity = np.arange(82) < 2
    scaling = Scaling.fit(sp.csr_array(x), is_quantity=is_quantity, keeps_zero_rows=False)
    found = scaling.transform(sp.csr_array(x))
    assert isinstance(found, sp.csr_array)
    assert found.dtype == np.float32
    assert np.allclose(found.toarray(), Scaling.fit(x, is_quantity=is_quantity).transform(x), atol=1e-4)


def test_many_numbers_beside_other_kinds_are_judged_as_a_matrix():
    rng = np.random.default_rng(0)
    vectors, words = rng.normal(size=(300, 64)), rng.poisson(0.1, (300, 64))
    for numbers, is_scaled in ((vectors, False), (words, False), (make_wide_table(), True)):
        x = np.column_stack([numbers, np.eye(2)[np.arange(300) % 2]]).astype(np.float32)
        scaling = Scaling.fit(x, is_quantity=np.arange(x.shape[1]) < numbers.shape[1])
        assert (scaling is not None) == is_scaled


def test_column_of_another_scale_does_not_decide_alone():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(4), 50)
    x = 2 * np.eye(4)[groups] + rng.normal(size=(200, 4))
    income = np.column_stack([x, rng.normal(50_000, 9_000, 200)])
    same = np.equal.outer(groups, groups)
    scaled = Scaling.fit(income).transform(income)
    gaps = []
    for each in (x.astype(np.float32), scaled):
        found = cosine_similarity(Preparation.fit(each, random_state=0).transform(each))
        gaps.append(found[same].mean() - found[~same].mean())
    assert gaps[1] > 0.3 * gaps[0] > 0.1


def test_moments_are_those_of_numpy():
    x = sp.random_array((200, 30), density=0.3, rng=np.random.default_rng(0)).toarray()
    for each in (x, sp.csr_array(x)):
        mean, deviation = column_moments(each)
        assert np.allclose(mean, x.mean(0))
        assert np.allclose(deviation, x.std(0))


def test_a_scaling_is_the_same_after_json():
    scaling = Scaling.fit(make_table())
    again = Scaling.from_dict(json.loads(json.dumps(scaling.to_dict())))
    assert np.array_equal(again.transform(make_table(1)), scaling.transform(make_table(1)))


@pytest.mark.parametrize(
    "change",
    [
        {"center": "all"},
        {"center": [1.0]},
        {"factors": [1.0, None]},
        {"factors": [1.0, float("inf")]},
        {"keeps_zero_rows": 1},
        {"more": 1},
    ],
)
def test_a_damaged_description_is_rejected(change):
    stored = {"center": [0.0, 1.0], "factors": [1.0, 1.0], "keeps_zero_rows": True}
    with pytest.raises(ValueError, match="must"):
        Scaling.from_dict({**stored, **change})


def test_a_sparse_matrix_is_scaled_without_centering_as_scikit_learn_does():
    x = sp.random_array((200, 80), density=0.05, format="csr", rng=np.random.default_rng(0), dtype=np.float32)
    found = Scaling.fit(x, how="standard").transform(x)
    assert isinstance(found, sp.csr_array)
    assert found.nnz == x.nnz
    assert np.allclose(found.toarray(), StandardScaler(with_mean=False).fit_transform(x).toarray(), rtol=1e-4)


def test_dates_of_a_sparse_table_are_centered():
    x = np.zeros((40, 30), np.float32)
    x[:, 0] = 19_000 + np.arange(40)
    x[np.arange(40), 1 + np.arange(40) % 29] = 1
    found = Scaling.fit(sp.csr_array(x), how="standard", is_quantity=np.arange(30) == 0).transform(sp.csr_array(x))
    assert isinstance(found, sp.csr_array)
    assert found.toarray()[:, 0].mean() == pytest.approx(0, abs=1e-5)
    assert found.toarray()[:, 0].std() == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("constant", [0.1, 7, 1e6])
def test_a_column_that_was_constant_does_not_explode(constant):
    x = np.column_stack([np.full(30, constant), np.random.default_rng(0).normal(40, 9, 30)]).astype(np.float32)
    fitted = Scaling.fit(x, how="standard")
    other = x.copy()
    other[0, 0] = 1e9
    assert fitted.transform(other)[:, 0].tolist() == [0] * 30
