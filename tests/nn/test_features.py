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
from graphprox.graph import Graph
from graphprox.nn.features import SPARSE_BELOW, FeatureMatrix


def bags_of_words(rows=40, columns=60, share=0.03, seed=0):
    """Counts of words, most of them 0; some rows have none."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 5, (rows, columns)) * (rng.random((rows, columns)) < share)
    counts[::9] = 0
    return counts.astype(np.float32)


def entries(features):
    """The matrix that the features are, dense."""
    return features.times(torch.eye(features.shape[1])).numpy()


def is_sparse(features):
    return features.dense is None


# -- dense or sparse ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("normalize", ["none", "rows"])
@pytest.mark.parametrize("share", [0, 0.03, 0.5])
def test_dense_and_sparse_features_are_the_same(normalize, share):
    x = bags_of_words(share=share)
    weight = torch.randn(x.shape[1], 7)
    one, other = (FeatureMatrix.of(each, normalize=normalize) for each in (x, sp.csr_array(x)))
    assert is_sparse(one) == is_sparse(other) == (share < SPARSE_BELOW)
    assert torch.equal(one.times(weight), other.times(weight))
    assert one.shape == other.shape == x.shape


@given(
    arrays(np.float32, (6, 5), elements=st.floats(-8, 8, width=32), fill=st.just(0)),
    st.sampled_from(["none", "rows"]),
    st.booleans(),
)
@settings(max_examples=50)
def test_a_product_and_its_gradient_are_those_of_the_dense_matrix(x, normalize, as_sparse):
    features = FeatureMatrix.of(sp.csr_array(x) if as_sparse else x, normalize=normalize)
    weight = torch.randn(5, 3, generator=torch.Generator().manual_seed(0)).requires_grad_()
    upstream = torch.randn(6, 3, generator=torch.Generator().manual_seed(1))
    made = features.times(weight)
    made.backward(upstream)
    sums = np.abs(x).sum(axis=1, keepdims=True, dtype=np.float64) if normalize == "rows" else np.ones((6, 1))
    full = x / np.where(sums, sums, 1)
    np.testing.assert_allclose(made.detach(), full @ weight.detach().numpy(), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(weight.grad, full.T @ upstream.numpy(), rtol=1e-5, atol=1e-5)


def test_features_are_sparse_where_few_are_filled_however_they_were_given():
    few, many = bags_of_words(share=0.03), bags_of_words(share=0.5)
    for taken in (few, sp.csr_array(few)):
        assert is_sparse(FeatureMatrix.of(taken))
    for taken in (many, sp.csr_array(many)):
        assert not is_sparse(FeatureMatrix.of(taken))


def test_features_of_zeros_alone_are_features():
    for x in (np.zeros((4, 3), np.float32), sp.csr_array((4, 3), dtype=np.float32)):
        for normalize in ("none", "rows"):
            made = FeatureMatrix.of(x, normalize=normalize).times(torch.ones(3, 2))
            assert made.shape == (4, 2)
            assert not made.any()


# -- normalisation --------------------------------------------------------------------------------------------------


def pygs(x):
    """PyG's own, which holds sums below 1 for 1, and subtracts the least value of all, which in bags of words is 0."""
    return NormalizeFeatures()(Data(x=torch.tensor(x))).x.numpy()


@pytest.mark.parametrize("share", [0.03, 0.5])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_rows_are_normalised_as_pyg_does_bags_of_words(form, share):
    x = bags_of_words(share=share)
    np.testing.assert_allclose(entries(FeatureMatrix.of(form(x), normalize="rows")), pygs(x), rtol=1e-6)


@pytest.mark.parametrize("name", ["Cora", "Texas", "Actor", "CiteSeer"])
def test_rows_are_normalised_as_pyg_does_real_ones(data, name):
    x = graphprox.load(name, data=data).graph.x[:500]
    sums = x.sum(axis=1)
    assert ((sums == 0) | (sums >= 1)).all()
    np.testing.assert_allclose(entries(FeatureMatrix.of(x, normalize="rows")), pygs(x.toarray()), rtol=1e-6)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_row_is_divided_by_the_sum_of_its_absolute_values(form):
    x = np.array([[1, -3, 0], [0, 0, 0], [0.125, 0, 0.125], [0, -2, 0]], np.float32)
    made = entries(FeatureMatrix.of(form(x), normalize="rows"))
    assert made.tolist() == [[0.25, -0.75, 0], [0, 0, 0], [0.5, 0, 0.5], [0, -1, 0]]


@pytest.mark.parametrize("size", [1e-42, 1e-30, 1e30])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_tiny_and_huge_rows_are_normalised_as_any(form, size):
    x = form(np.array([[size, 0, size, 0]], np.float32))
    assert entries(FeatureMatrix.of(x, normalize="rows")).tolist() == [[0.5, 0, 0.5, 0]]


def test_normalising_twice_is_normalising_once():
    x = FeatureMatrix.of(bags_of_words(share=0.5), normalize="rows").dense.numpy()
    np.testing.assert_allclose(entries(FeatureMatrix.of(x, normalize="rows")), x, rtol=1e-6)


@pytest.mark.parametrize("normalize", ["none", "rows"])
@pytest.mark.parametrize("share", [0.03, 0.5])
def test_what_was_given_is_neither_changed_nor_held(normalize, share):
    x = bags_of_words(share=share)
    held = sp.csr_array(x)
    before = held.copy()
    made = [FeatureMatrix.of(each, normalize=normalize) for each in (x, held)]
    assert np.array_equal(x, before.toarray())
    assert (held != before).nnz == 0
    expected = [entries(each) for each in made]
    x += 1
    held.data += 1
    for features, was in zip(made, expected, strict=True):
        assert np.array_equal(entries(features), was)


@pytest.mark.parametrize("normalize", ["none", "rows"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_graphs_features_are_taken_though_they_are_read_only(form, normalize):
    for share in (0.03, 0.5):
        graph = Graph(x=form(bags_of_words(share=share)), edge_index=[[0], [1]])
        features = FeatureMatrix.of(graph.x, normalize=normalize)
        assert features.times(torch.ones(graph.num_features, 1)).dtype == torch.float32


def test_an_unknown_normalisation_is_refused():
    with pytest.raises(ParameterError, match=r"normalize must be one of rows, none; got 'columns'"):
        FeatureMatrix.of(bags_of_words(), normalize="columns")
