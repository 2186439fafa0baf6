from __future__ import annotations

import numpy as np
import torch
from sklearn.preprocessing import normalize
from torch_geometric.nn import APPNP

from graphprox import Graph, synthetic
from graphprox.auto.outputs import OUTPUTS, PreparedGraph


def prepare(graph):
    return PreparedGraph(graph, normalize(np.asarray(graph.x)), random_state=0)


def test_diffusion_near_and_far_equals_appnp_of_pyg():
    graph = synthetic(nodes=140)
    prepared = prepare(graph)
    for name, alpha, hops, rows in (
        ("graph", 0.15, 10, prepared.rows),
        ("distant", 0.05, 20, prepared.rows),
        ("view-graph", 0.15, 10, prepared.view_rows),
    ):
        expected = APPNP(K=hops, alpha=alpha)(torch.tensor(rows), torch.tensor(graph.edge_index)).numpy()
        np.testing.assert_allclose(OUTPUTS[name](prepared), expected, atol=1e-6)


def test_own_share_is_smaller_in_distant_diffusion():
    path = Graph(np.eye(30), [range(29), range(1, 30)])
    near, far = (np.diag(OUTPUTS[name](prepare(path))) for name in ("graph", "distant"))
    assert (far < near).all()


def test_isolated_nodes_keep_their_own_features():
    graph = Graph(np.random.default_rng(0).random((6, 3)), [[0, 1], [1, 2]])
    prepared = prepare(graph)
    for name in ("graph", "distant"):
        np.testing.assert_allclose(OUTPUTS[name](prepared)[3:], prepared.rows[3:], rtol=1e-5)


def test_features_do_not_leave_their_component():
    graph = Graph(np.eye(4), [[0, 2], [1, 3]])
    found = OUTPUTS["graph"](prepare(graph))
    assert not found[:2, 2:].any()
    assert not found[2:, :2].any()
    assert (found[:2, :2] > 0).all()
