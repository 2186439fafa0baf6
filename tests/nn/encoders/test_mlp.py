from __future__ import annotations

import numpy as np
import torch

from graphprox.nn.convolution import in_neighbor_matrix
from graphprox.nn.encoders.mlp import LinearConv


def test_edges_are_ignored():
    convolution = LinearConv(5, 3, generator=torch.Generator().manual_seed(0))
    projected = torch.randn(4, 3)
    outputs = [
        convolution.propagate(projected, LinearConv.prepare_edges(in_neighbor_matrix(np.array(edges), None, 4)))
        for edges in ([[0], [1]], [[2, 3], [1, 3]])
    ]
    assert torch.equal(*outputs)
    assert torch.equal(outputs[0], projected)
