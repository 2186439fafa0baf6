from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from graphprox.errors import ParameterError
from graphprox.nn import feature_directions
from graphprox.nn.feature_directions import leading_directions
from graphprox.nn.features import FeatureMatrix


@pytest.mark.parametrize("normalize", ["rows", "none"])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_directions_are_the_leading_right_singular_vectors(kind, normalize, monkeypatch):
    monkeypatch.setattr(feature_directions, "ROWS_PER_BLOCK", 17)
    rng = np.random.default_rng(0)
    x = (rng.standard_normal((60, 12)) * (rng.random((60, 12)) < 0.4)).astype(np.float32)
    x[3] = 0
    found = leading_directions(sp.csr_array(x) if kind == "sparse" else x, 5, normalize=normalize)
    expected = np.linalg.svd(FeatureMatrix.of(x, normalize=normalize).to_dense().numpy())[2][:5].T
    assert found.dtype == np.float32
    np.testing.assert_allclose(np.abs((found * expected).sum(axis=0)), 1, atol=1e-5)  # but for the sign
    assert (found[np.abs(found).argmax(axis=0), range(5)] > 0).all()


def test_directions_do_not_depend_on_the_order_of_nodes():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((40, 6)).astype(np.float32)
    np.testing.assert_allclose(
        leading_directions(x, 3), leading_directions(x[rng.permutation(40)], 3), rtol=0, atol=1e-6
    )


def test_features_of_lower_rank_have_orthonormal_directions():
    x = np.outer(np.arange(20), np.arange(8)).astype(np.float32)
    found = leading_directions(x, 8)
    np.testing.assert_allclose(found.T @ found, np.eye(8), atol=1e-6)


def test_products_that_do_not_fit_into_memory_are_an_error():
    with pytest.raises(ParameterError, match="the products of 10,000,000 columns of features must fit into memory"):
        leading_directions(sp.csr_array((2, 10**7), dtype=np.float32), 2)
