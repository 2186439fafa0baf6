from __future__ import annotations

import copy

import numpy as np
import torch
from torch import nn
from torch_geometric.nn import DeepGraphInfomax, GCNConv
from torch_geometric.nn.inits import uniform

from graphprox import Graph
from graphprox.baselines.dgi import DGI, _Encoder

NODES, FEATURES, WIDTH, SEED = 30, 6, 4, 5


def test_takes_the_steps_of_a_literal_loop() -> None:
    """Six epochs written out with PyG's own layers, which see the shuffled features themselves."""
    graph = _graph()
    x = torch.tensor(np.asarray(graph.x))
    x = x / x.sum(1, keepdim=True)
    edges = torch.tensor(np.array(graph.edge_index))
    drawn = _Encoder(FEATURES, WIDTH, torch.Generator().manual_seed(SEED))
    model = DeepGraphInfomax(WIDTH, _Literal(), lambda z, *_: z.mean(0).sigmoid(), _shuffled)
    with torch.no_grad():
        model.encoder.convolution.lin.weight.copy_(drawn.convolution.weight.T)
    torch.manual_seed(SEED)
    uniform(WIDTH, model.weight)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    seen = []
    for _ in range(6):
        optimizer.zero_grad()
        loss = model.loss(*model(x, edges))
        seen.append((loss.item(), copy.deepcopy(model.encoder)))
        loss.backward()
        optimizer.step()
    best = min(seen, key=lambda each: each[0])[1]
    embedding = DGI(width=WIDTH, epochs=6, learning_rate=0.05).embed(graph, SEED)
    assert np.allclose(embedding, best(x, edges).detach().numpy(), atol=1e-5)
    assert not np.allclose(embedding, seen[0][1](x, edges).detach().numpy(), atol=1e-2)  # they are steps


class _Literal(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convolution, self.activation = GCNConv(FEATURES, WIDTH), nn.PReLU(WIDTH)

    def forward(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        return self.activation(self.convolution(x, edges))


def _shuffled(x: torch.Tensor, edges: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x[torch.randperm(len(x))], edges


def _graph() -> Graph:
    rng = np.random.default_rng(0)
    return Graph(rng.random((NODES, FEATURES), np.float32), rng.integers(0, NODES, (2, 60)))
