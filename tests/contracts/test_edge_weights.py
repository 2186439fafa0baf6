"""The unit of edge weights does not matter to any method.

Covers graphprox.graph.weights.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from contracts.small import CLASSIFIERS, EMBEDDERS, small
from graphprox import Graph, GraphError, random_split, synthetic
from graphprox.graph.weights import scale_weights
from graphprox.methods import METHODS, InductiveEmbedder

PLAIN = synthetic(nodes=140)
EDGES = PLAIN.edges_once()
WEIGHTS = np.random.default_rng(0).choice([0.5, 1.0, 2.0, 8.0], EDGES.shape[1])


def weighted(scale):
    return Graph(PLAIN.x, EDGES, y=PLAIN.y, edge_weight=WEIGHTS * scale)


def dense(vectors):
    return vectors.toarray() if sp.issparse(vectors) else vectors


@pytest.mark.parametrize(
    ("name", "scale"),
    [
        *((name, scale) for name in EMBEDDERS for scale in (1e30, 1e-30)),
        *((name, scale) for name in ("auto", "dgi", "deepwalk", "line", "verse") for scale in (3e37, 1e-36)),
    ],
)
@pytest.mark.filterwarnings("ignore::graphprox.IgnoredInputWarning")
def test_scaled_weights_give_the_same_embedding(name, scale):
    reference = small(name).fit(weighted(1.0))
    found = small(name).fit(weighted(scale))
    assert np.isfinite(dense(found.vectors_)).all()
    np.testing.assert_allclose(dense(found.vectors_), dense(reference.vectors_), rtol=1e-4, atol=1e-5)
    if issubclass(METHODS[name], InductiveEmbedder):
        moved = dense(reference.transform(weighted(scale)))
        np.testing.assert_allclose(moved, dense(reference.transform(weighted(1.0))), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.filterwarnings("ignore::graphprox.IgnoredInputWarning")
def test_scaled_weights_give_the_same_classes(name):
    split = random_split(PLAIN, random_state=0)
    one, other = (small(name).fit(weighted(scale), split).predict_proba(weighted(scale)) for scale in (1.0, 1e30))
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_weights_are_divided_by_their_mean():
    scaled = scale_weights(weighted(3e37))
    assert scaled.edge_weight.mean(dtype=float) == pytest.approx(1)
    assert scaled.edge_weight.dtype == np.float32
    assert not scaled.edge_weight.flags.writeable
    assert scale_weights(PLAIN) is PLAIN
    zeros = Graph(np.eye(3), [[0, 1], [1, 2]], edge_weight=[0, 0])
    assert scale_weights(zeros) is zeros


def test_a_sum_of_repeated_edges_beyond_float32_is_rejected():
    with pytest.raises(GraphError, match=r"must add up to a float32 number; got 4e\+38: divide all weights"):
        Graph(np.eye(3), [[0, 0], [1, 1]], edge_weight=[2e38, 2e38])


def test_a_weight_that_is_zero_in_float32_is_rejected():
    with pytest.raises(GraphError, match="got 1e-50, which is too small: multiply all"):
        Graph(np.eye(3), [[0, 1], [1, 2]], edge_weight=[1.0, 1e-50])
