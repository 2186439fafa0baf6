from __future__ import annotations

import numpy as np

from graphprox import synthetic
from graphprox.auto.outputs import OUTPUTS, PreparedGraph


def test_own_features_are_the_prepared_rows_whatever_the_edges():
    graph = synthetic(nodes=140)
    rows = np.random.default_rng(0).random((140, 3), np.float32)
    assert np.array_equal(OUTPUTS["own"](PreparedGraph(graph, rows, random_state=0)), rows)
