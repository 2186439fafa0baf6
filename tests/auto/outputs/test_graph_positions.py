"""Positions as an output: diffusion of the rows of neighbors."""

from __future__ import annotations

import numpy as np

from auto.topic_graphs import block_model
from graphprox import Graph
from graphprox.auto.outputs import OUTPUTS, PreparedGraph
from graphprox.auto.positions import Positions


def test_positions_are_diffused_as_features_are():
    edges, _ = block_model(blocks=3, size=20)
    graph = Graph(np.eye(60, dtype=np.float32), edges)
    rows = np.random.default_rng(0).random((60, 5), np.float32)
    nothing = np.empty((60, 0), np.float32)
    found = OUTPUTS["positions"](PreparedGraph(graph, nothing, 0, position_rows=rows))
    assert np.array_equal(found, OUTPUTS["graph"](PreparedGraph(graph, rows, 0)))


def test_nodes_of_a_group_are_nearer_to_each_other_than_to_others():
    edges, groups = block_model(blocks=3, size=20)
    graph = Graph(np.ones((60, 2), np.float32), edges)
    rows = Positions.fit(graph, has_features=True, random_state=0).transform(graph)
    found = OUTPUTS["positions"](PreparedGraph(graph, rows, 0, position_rows=rows))
    found = found - found.mean(0)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    cosines, same = found @ found.T, groups[:, None] == groups
    assert cosines[same].mean() > cosines[~same].mean() + 0.5
