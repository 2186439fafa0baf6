"""DGI against PyG.

Covers graphprox.methods._neural.
"""

from __future__ import annotations

import copy

import numpy as np
import torch
from torch import nn
from torch_geometric.nn import DeepGraphInfomax, GCNConv
from torch_geometric.nn.inits import uniform

from graphprox import Graph
from graphprox.methods.dgi import DGI, DGIEncoder

NODES, FEATURES, CHANNELS, SEED = 30, 6, 4, 5


def test_dgi_equals_an_explicit_training_loop() -> None:
    """Six epochs with PyG's layers, which take the shuffled features themselves."""
    graph = _make_graph()
    x = torch.tensor(np.asarray(graph.x))
    x = x / x.sum(1, keepdim=True)
    edges = torch.tensor(np.array(graph.edge_index))
    initial = DGIEncoder(FEATURES, CHANNELS, torch.Generator().manual_seed(SEED))
    model = DeepGraphInfomax(CHANNELS, _PyGEncoder(), lambda z, *_: z.mean(0).sigmoid(), _shuffle)
    with torch.no_grad():
        model.encoder.convolution.lin.weight.copy_(initial.convolution.weight.T)
    torch.manual_seed(SEED)
    uniform(CHANNELS, model.weight)  # replaced, but it advances the random generator
    form = torch.empty(1, CHANNELS, CHANNELS)  # the weight of torch's Bilinear, which the authors use
    with torch.no_grad():
        model.weight.copy_(nn.init.xavier_uniform_(form)[0])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    epochs = []
    for _ in range(6):
        optimizer.zero_grad()
        loss = model.loss(*model(x, edges))
        epochs.append((loss.item(), copy.deepcopy(model.encoder)))
        loss.backward()
        optimizer.step()
    best = min(epochs, key=lambda each: each[0])[1]
    vectors = DGI(n_components=CHANNELS, epochs=6, learning_rate=0.05, random_state=SEED).fit_transform(graph)
    assert np.allclose(vectors, best(x, edges).detach().numpy(), atol=1e-5)
    assert not np.allclose(vectors, epochs[0][1](x, edges).detach().numpy(), atol=1e-2)


class _PyGEncoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convolution, self.activation = GCNConv(FEATURES, CHANNELS), nn.PReLU(CHANNELS)

    def forward(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        return self.activation(self.convolution(x, edges))


def _shuffle(x: torch.Tensor, edges: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x[torch.randperm(len(x))], edges


def _make_graph() -> Graph:
    rng = np.random.default_rng(0)
    return Graph(rng.random((NODES, FEATURES), np.float32), rng.integers(0, NODES, (2, 60)))
