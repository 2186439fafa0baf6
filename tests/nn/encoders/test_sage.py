from __future__ import annotations

import numpy as np
import torch

from graphprox.nn.convolution import in_neighbor_matrix
from graphprox.nn.encoders.sage import SAGEConv


def test_output_of_a_node_without_in_neighbors_is_its_own_half():
    convolution = SAGEConv(24, 16, generator=torch.Generator().manual_seed(0))
    projected = torch.randn(3, 32)
    edges = convolution.prepare_edges(in_neighbor_matrix(np.array([[0], [1]]), None, 3))
    output = convolution.propagate(projected, edges)
    assert torch.equal(output[[0, 2]], projected[[0, 2], 16:])
    assert not torch.equal(output[1], projected[1, 16:])
