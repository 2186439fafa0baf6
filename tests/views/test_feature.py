"""The feature view."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from graphprox import Graph
from graphprox.views import feature_descriptor

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_descriptor_is_the_features_or_their_nonzero_pattern(form):
    x = np.random.default_rng(3).integers(0, 3, (30, 6)).astype(np.float32)
    graph = Graph(form(x), [[0], [1]])
    assert feature_descriptor(graph, RNG) is graph.x
    binary = feature_descriptor(graph, RNG, binary=True)
    assert sp.issparse(binary) == sp.issparse(graph.x)
    assert binary.dtype == np.float32
    np.testing.assert_array_equal(binary.toarray() if sp.issparse(binary) else binary, x != 0)
