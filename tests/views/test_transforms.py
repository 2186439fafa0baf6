"""Views as transforms of PyTorch Geometric."""

from __future__ import annotations

import numpy as np
import pytest
import torch_geometric.transforms as transforms
from torch_geometric.data import Batch

from graphprox import synthetic
from graphprox.views import FeatureProximity, TopologyProximity, rank_view


@pytest.fixture(autouse=True)
def own_cache(no_data):
    return no_data


def test_transforms_can_be_composed():
    graph = synthetic(nodes=200)
    composed = transforms.Compose(
        [transforms.NormalizeFeatures(), FeatureProximity(k=3), TopologyProximity(k=4, random_state=1)]
    )
    data = composed(graph.to_pyg())
    assert data.feature_edge_index.shape == (2, 600)
    assert data.topology_edge_index.shape == (2, 800)
    expected = rank_view(graph, "topology", k_max=4, random_state=1).edge_index(4)
    assert np.array_equal(data.topology_edge_index.numpy(), expected)
    assert data.edge_index.shape[1] == graph.num_entries
    assert data.validate()


def test_view_can_replace_the_edges_of_the_graph():
    data = FeatureProximity(k=2, attribute="edge_index")(synthetic(nodes=140).to_pyg())
    assert data.edge_index.shape == (2, 280)


def test_options_are_passed_on_and_batches_shift_the_edges():
    transform = TopologyProximity(k=2, subgraphs="egonet", hops=1)
    one = transform(synthetic(nodes=140).to_pyg())
    batch = Batch.from_data_list([one, one])
    assert int(batch.topology_edge_index.max()) >= 140  # PyG shifts attributes whose name contains index
    assert repr(transform) == "TopologyProximity(k=2, random_state=0)"
