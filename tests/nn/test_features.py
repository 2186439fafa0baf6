from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch_geometric.data import Data
from torch_geometric.transforms import NormalizeFeatures

import graphprox
from graphprox.errors import ParameterError
from graphprox.graph.graph import Graph
from graphprox.nn.features import MAX_SPARSE_DENSITY, FeatureMatrix


def make_bags_of_words(rows=40, columns=60, density=0.03, seed=0):
    """Return word counts, most of them 0; some rows are empty."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 5, (rows, columns)) * (rng.random((rows, columns)) < density)
    counts[::9] = 0
    return counts.astype(np.float32)


def to_dense(features):
    """Return the features as a dense array."""
    return features.matmul(torch.eye(features.shape[1])).numpy()


def is_sparse(features):
    return features.dense is None


@pytest.mark.parametrize("density", [0, 0.03, 0.5])
def test_dense_form_is_the_array(density):
    x = make_bags_of_words(density=density)
    assert np.array_equal(FeatureMatrix.of(sp.csr_array(x)).to_dense().numpy(), x)


# -- dense or sparse ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("normalize", ["none", "rows"])
@pytest.mark.parametrize("density", [0, 0.03, 0.5])
def test_dense_and_sparse_input_give_equal_products(normalize, density):
    x = make_bags_of_words(density=density)
    weight = torch.randn(x.shape[1], 7)
    one, other = (FeatureMatrix.of(each, normalize=normalize) for each in (x, sp.csr_array(x)))
    assert is_sparse(one) == is_sparse(other) == (density < MAX_SPARSE_DENSITY)
    assert torch.equal(one.matmul(weight), other.matmul(weight))
    assert one.shape == other.shape == x.shape


@given(
    arrays(np.float32, (6, 5), elements=st.floats(-8, 8, width=32), fill=st.just(0)),
    st.sampled_from(["none", "rows"]),
    st.booleans(),
)
@settings(max_examples=50)
def test_product_and_gradient_equal_those_of_the_dense_matrix(x, normalize, as_sparse):
    features = FeatureMatrix.of(sp.csr_array(x) if as_sparse else x, normalize=normalize)
    weight = torch.randn(5, 3, generator=torch.Generator().manual_seed(0)).requires_grad_()
    upstream = torch.randn(6, 3, generator=torch.Generator().manual_seed(1))
    actual = features.matmul(weight)
    actual.backward(upstream)
    sums = np.abs(x).sum(axis=1, keepdims=True, dtype=np.float64) if normalize == "rows" else np.ones((6, 1))
    full = x / np.where(sums, sums, 1)
    np.testing.assert_allclose(actual.detach(), full @ weight.detach().numpy(), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(weight.grad, full.T @ upstream.numpy(), rtol=1e-5, atol=1e-5)


def test_storage_depends_on_density_and_not_on_the_input_format():
    few, many = make_bags_of_words(density=0.03), make_bags_of_words(density=0.5)
    for x in (few, sp.csr_array(few)):
        assert is_sparse(FeatureMatrix.of(x))
    for x in (many, sp.csr_array(many)):
        assert not is_sparse(FeatureMatrix.of(x))


def test_features_may_all_be_zero():
    for x in (np.zeros((4, 3), np.float32), sp.csr_array((4, 3), dtype=np.float32)):
        for normalize in ("none", "rows"):
            actual = FeatureMatrix.of(x, normalize=normalize).matmul(torch.ones(3, 2))
            assert actual.shape == (4, 2)
            assert not actual.any()


# -- normalization --------------------------------------------------------------------------------------------------


def normalize_with_pyg(x):
    """Normalize rows with PyG, which clips sums at 1 and subtracts the minimum, 0 in bags of words."""
    return NormalizeFeatures()(Data(x=torch.tensor(x))).x.numpy()


@pytest.mark.parametrize("density", [0.03, 0.5])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_normalization_equals_pyg_on_bags_of_words(form, density):
    x = make_bags_of_words(density=density)
    np.testing.assert_allclose(to_dense(FeatureMatrix.of(form(x), normalize="rows")), normalize_with_pyg(x), rtol=1e-6)


@pytest.mark.parametrize("name", ["Cora", "Texas", "Actor", "CiteSeer"])
def test_normalization_equals_pyg_on_real_features(data, name):
    x = graphprox.load(name, data=data).graph.x[:500]
    sums = x.sum(axis=1)
    assert ((sums == 0) | (sums >= 1)).all()
    np.testing.assert_allclose(
        to_dense(FeatureMatrix.of(x, normalize="rows")), normalize_with_pyg(x.toarray()), rtol=1e-6
    )


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_rows_are_divided_by_the_sum_of_absolute_values(form):
    x = np.array([[1, -3, 0], [0, 0, 0], [0.125, 0, 0.125], [0, -2, 0]], np.float32)
    actual = to_dense(FeatureMatrix.of(form(x), normalize="rows"))
    assert actual.tolist() == [[0.25, -0.75, 0], [0, 0, 0], [0.5, 0, 0.5], [0, -1, 0]]


@pytest.mark.parametrize("size", [1e-42, 1e-30, 1e30])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_normalization_neither_underflows_nor_overflows(form, size):
    x = form(np.array([[size, 0, size, 0]], np.float32))
    assert to_dense(FeatureMatrix.of(x, normalize="rows")).tolist() == [[0.5, 0, 0.5, 0]]


def test_normalization_is_idempotent():
    x = FeatureMatrix.of(make_bags_of_words(density=0.5), normalize="rows").dense.numpy()
    np.testing.assert_allclose(to_dense(FeatureMatrix.of(x, normalize="rows")), x, rtol=1e-6)


@pytest.mark.parametrize("normalize", ["none", "rows"])
@pytest.mark.parametrize("density", [0.03, 0.5])
def test_input_is_copied_and_not_modified(normalize, density):
    x = make_bags_of_words(density=density)
    sparse_x = sp.csr_array(x)
    before = sparse_x.copy()
    actual = [FeatureMatrix.of(each, normalize=normalize) for each in (x, sparse_x)]
    assert np.array_equal(x, before.toarray())
    assert (sparse_x != before).nnz == 0
    expected = [to_dense(each) for each in actual]
    x += 1
    sparse_x.data += 1
    for features, was in zip(actual, expected, strict=True):
        assert np.array_equal(to_dense(features), was)


@pytest.mark.parametrize("normalize", ["none", "rows"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_read_only_features_of_a_graph_are_accepted(form, normalize):
    for density in (0.03, 0.5):
        graph = Graph(x=form(make_bags_of_words(density=density)), edge_index=[[0], [1]])
        features = FeatureMatrix.of(graph.x, normalize=normalize)
        assert features.matmul(torch.ones(graph.num_features, 1)).dtype == torch.float32


def test_unknown_normalization_is_rejected():
    with pytest.raises(ParameterError, match=r"normalize must be one of rows, none; got 'columns'"):
        FeatureMatrix.of(make_bags_of_words(), normalize="columns")
