from __future__ import annotations

import numpy as np
import torch

from graphprox.nn.convolution import in_neighbor_matrix
from graphprox.nn.encoders.gin import GINConv
from graphprox.nn.encoders.sage import SAGEConv


def test_sum_distinguishes_one_neighbor_from_two_equal_ones():
    neighbors = in_neighbor_matrix(np.array([[2, 3, 4], [0, 1, 1]]), None, 5)
    h = torch.ones(5, 3)

    def differs(convolution_type):
        convolution = convolution_type(3, 8, generator=torch.Generator().manual_seed(0))
        output = convolution.propagate(convolution.project(h.mm), convolution.prepare_edges(neighbors))
        return not torch.allclose(output[0], output[1])

    assert differs(GINConv)
    assert not differs(SAGEConv)  # a mean does not
