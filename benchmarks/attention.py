"""A training step of the GAT classifier against PyG's layers, and against a lower bound, the products alone.

Real graphs are read from the directory GRAPHPROX_DATA; without it nothing is measured.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from benchmarks.measure import measure
from benchmarks.steps import Reference, Row, compare_step, time_best

if TYPE_CHECKING:
    from torch import Tensor, nn

CLASSES = 7


def run() -> Iterator[Row]:
    if os.environ.get("GRAPHPROX_DATA"):
        for name in ("Cora", "PubMed"):
            yield from compare_on(name)


def compare_on(name: str) -> Iterator[Row]:
    ours, theirs, floor = (measure(call, name, repeat=2) for call in (time_our_step, time_pyg_step, time_products))
    yield from compare_step(
        f"GAT, one epoch, {name}",
        ours,
        Reference("PyG's GATConv, dense X, same optimizer", theirs),
        Reference("the products of features and along edges alone", floor),
        digits=4,
    )


def time_our_step(name: str) -> float:
    """Return the best time of a step of the baseline, in seconds."""
    import torch

    from graphprox import load
    from graphprox._utils.memory import keep_freed_memory
    from graphprox.methods import gat
    from graphprox.methods._supervised import to_feature_matrix

    torch.set_num_threads(1)
    graph, settings = load(name).graph, gat.GAT()
    features, pattern = to_feature_matrix(graph), gat._to_pattern(graph)
    network = gat.GATNetwork(
        features.shape[1],
        settings.hidden_channels,
        CLASSES,
        heads=settings.heads,
        output_heads=settings.output_heads,
        dropout=settings.dropout,
        generator=torch.Generator().manual_seed(0),
    )
    with keep_freed_memory():
        return time_best(_make_step(network, lambda: network(features, pattern)))


def time_pyg_step(name: str) -> float:
    """Return the time of the same step written with PyG, in seconds."""
    import scipy.sparse as sp
    import torch
    from torch.nn import functional
    from torch_geometric.nn import GATConv

    from graphprox import load
    from graphprox.methods.gat import GAT

    torch.set_num_threads(1)
    graph, settings = load(name).graph, GAT()
    edges = torch.tensor(graph.edge_index)
    x = torch.tensor(graph.x.toarray() if sp.issparse(graph.x) else graph.x)
    first = GATConv(x.shape[1], settings.hidden_channels, settings.heads, dropout=settings.dropout)
    second = GATConv(
        settings.heads * settings.hidden_channels,
        CLASSES,
        settings.output_heads,
        concat=False,
        dropout=settings.dropout,
    )

    def scores() -> torch.Tensor:
        hidden = functional.elu(first(functional.dropout(x, settings.dropout), edges))
        return second(functional.dropout(hidden, settings.dropout), edges)

    return time_best(_make_step(torch.nn.ModuleList([first, second]), scores))


def time_products(name: str) -> float:
    """Return the time of the matrix products of a step, forward and backward, in seconds."""
    import torch

    from graphprox import load
    from graphprox._utils.memory import keep_freed_memory
    from graphprox.methods import gat
    from graphprox.methods._supervised import to_feature_matrix

    torch.set_num_threads(1)
    graph, settings = load(name).graph, gat.GAT()
    features, pattern = to_feature_matrix(graph), gat._to_pattern(graph)
    hidden = settings.heads * settings.hidden_channels
    weight, last = torch.randn(features.shape[1], hidden, requires_grad=True), torch.randn(hidden, CLASSES)
    values, outputs = torch.rand(pattern.num_entries), torch.randn(graph.num_nodes, hidden)
    heads = [part.contiguous() for part in outputs.chunk(settings.heads, dim=1)]
    scores = torch.randn(graph.num_nodes, CLASSES)

    def step() -> None:
        features.matmul(weight).backward(outputs)
        for part in heads:
            pattern.matmul(values, part), pattern.transposed_matmul(values, part), pattern.inner_products(part, part)
        outputs @ last, scores @ last.T, outputs.T @ scores
        pattern.matmul(values, scores), pattern.transposed_matmul(values, scores)
        pattern.inner_products(scores, scores)

    with keep_freed_memory():
        return time_best(step)


def _make_step(network: nn.Module, scores: Callable[[], Tensor]) -> Callable[[], None]:
    """Return a function that trains for one step on the first nodes, with arbitrary classes."""
    import torch

    optimizer = torch.optim.Adam(network.parameters(), lr=5e-3, weight_decay=5e-4)
    nodes, targets = torch.arange(140), torch.arange(140) % CLASSES

    def step() -> None:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(scores()[nodes], targets).backward()
        optimizer.step()

    return step
