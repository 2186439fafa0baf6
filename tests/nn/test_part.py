"""Part: the whole graph is complete, and convolutions find the rows of a part among the completed ones."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from graphprox.nn.convolution import Convolution, in_neighbor_matrix
from graphprox.nn.encoders.gat import GATConv
from graphprox.nn.encoders.gcn import GCNConv
from graphprox.nn.encoders.gin import GINConv
from graphprox.nn.encoders.mlp import LinearConv
from graphprox.nn.encoders.sage import SAGEConv
from graphprox.nn.part import WHOLE, Part

EDGES = np.array([[0, 1, 2, 3, 3, 0, 4], [1, 2, 1, 2, 3, 4, 0]])
WEIGHTS = np.arange(1, 8, dtype=np.float32)


class Middle(Part):
    """Nodes 1 to 3 of five, of which all rows are known beforehand, by their number of channels."""

    first, is_whole = 1, False

    def __init__(self):
        self.others = {}

    def complete(self, rows):
        others = self.others[rows.shape[1]]
        return torch.cat([others[:1], rows, others[1:]])


def test_rows_of_the_whole_graph_are_complete():
    rows = torch.ones(3, 2)
    assert WHOLE.complete(rows) is rows
    assert (WHOLE.is_whole, WHOLE.first, WHOLE.total(2.5)) == (True, 0, 2.5)


@pytest.mark.parametrize("convolution", [GATConv, GCNConv, GINConv, LinearConv, SAGEConv])
def test_convolution_of_a_part_is_that_of_its_rows(convolution):
    matrix = in_neighbor_matrix(EDGES, WEIGHTS, 5)
    layer: Convolution = convolution(4, 6, generator=torch.Generator().manual_seed(0))
    h = torch.randn(5, 4, generator=torch.Generator().manual_seed(1))
    projected = layer.project(h.mm)
    expected = layer.propagate(projected, layer.prepare_edges(matrix))

    part = Middle()
    degrees = np.sqrt(np.asarray((matrix + sp.diags_array((matrix.diagonal() == 0).astype(float))).sum(axis=1)))
    part.others[1] = torch.from_numpy((1 / degrees[[0, 4], None]).astype(np.float32))
    edges = layer.prepare_edges(matrix[1:4], part=part)
    half = projected.chunk(2, 1)[0] if convolution is SAGEConv else projected  # the half that is for the neighbors
    part.others[6] = half[[0, 4]]
    if convolution is GATConv:  # which completes the scores of nodes as sources of edges, too
        part.others[1] = half[[0, 4]] @ layer.source.T
    torch.testing.assert_close(layer.propagate(projected[1:4], edges), expected[1:4])


class InPairs(Part):
    """A part whose columns are completed two at a time."""

    max_columns = 2


@pytest.mark.parametrize("channels", [0, 1, 2, 3, 6, 7])
def test_columns_are_mapped_some_at_a_time(channels):
    widths = []

    def double(rows):
        widths.append(rows.shape[1])
        return 2 * rows[:2]

    rows = torch.arange(3.0 * channels).reshape(3, channels)
    assert torch.equal(InPairs().map_columns(double, rows), 2 * rows[:2])
    assert max(widths) <= 2
    assert sum(widths) == channels
