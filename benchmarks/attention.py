"""One step of GAT, trained on labelled nodes, against PyG's layers, and against its floor, the products alone.

Real graphs come from the directory that GRAPHPROX_DATA names; without it there is nothing to measure.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from benchmarks.measure import measure
from benchmarks.steps import Other, Row, best_of, compared

if TYPE_CHECKING:
    from torch import Tensor, nn

CLASSES = 7


def run() -> Iterator[Row]:
    if os.environ.get("GRAPHPROX_DATA"):
        for name in ("Cora", "PubMed"):
            yield from of_graph(name)


def of_graph(name: str) -> Iterator[Row]:
    ours, theirs, floor = (measure(call, name, repeat=2) for call in (our_step, pyg_step, products))
    yield from compared(
        f"GAT, one step, {name}",
        ours,
        Other("PyG's GATConv, dense X, same optimizer", theirs),
        Other("the products of features and along edges alone", floor),
        digits=4,
    )


def our_step(name: str) -> float:
    """Seconds of a step of the baseline, the best of some."""
    import torch

    from graphprox import load
    from graphprox.baselines import gat
    from graphprox.baselines.supervised import features_of
    from graphprox.memory import pages_kept

    torch.set_num_threads(1)
    graph, settings = load(name).graph, gat.GAT()
    features, pattern = features_of(graph), gat._pattern(graph)
    network = gat._Network(settings, features.shape[1], CLASSES, torch.Generator().manual_seed(0))
    with pages_kept():
        return best_of(_step(network, lambda: network(features, pattern)))


def pyg_step(name: str) -> float:
    """Seconds of the same step as PyG's users would write it."""
    import scipy.sparse as sp
    import torch
    from torch.nn import functional
    from torch_geometric.nn import GATConv

    from graphprox import load
    from graphprox.baselines.gat import GAT

    torch.set_num_threads(1)
    graph, settings = load(name).graph, GAT()
    edges = torch.tensor(graph.edge_index)
    x = torch.tensor(graph.x.toarray() if sp.issparse(graph.x) else graph.x)
    first = GATConv(x.shape[1], settings.width, settings.heads, dropout=settings.dropout)
    second = GATConv(
        settings.heads * settings.width, CLASSES, settings.last_heads, concat=False, dropout=settings.dropout
    )

    def scores() -> torch.Tensor:
        hidden = functional.elu(first(functional.dropout(x, settings.dropout), edges))
        return second(functional.dropout(hidden, settings.dropout), edges)

    return best_of(_step(torch.nn.ModuleList([first, second]), scores))


def products(name: str) -> float:
    """Seconds of the products that a step cannot do without, there and back, and of nothing else."""
    import torch

    from graphprox import load
    from graphprox.baselines import gat
    from graphprox.baselines.supervised import features_of
    from graphprox.memory import pages_kept

    torch.set_num_threads(1)
    graph, settings = load(name).graph, gat.GAT()
    features, pattern = features_of(graph), gat._pattern(graph)
    hidden = settings.heads * settings.width
    weight, last = torch.randn(features.shape[1], hidden, requires_grad=True), torch.randn(hidden, CLASSES)
    values, outputs = torch.rand(pattern.num_entries), torch.randn(graph.num_nodes, hidden)
    heads = [part.contiguous() for part in outputs.chunk(settings.heads, dim=1)]
    scores = torch.randn(graph.num_nodes, CLASSES)

    def step() -> None:
        features.times(weight).backward(outputs)
        for part in heads:
            pattern.times(values, part), pattern.transposed_times(values, part), pattern.inner_products(part, part)
        outputs @ last, scores @ last.T, outputs.T @ scores
        pattern.times(values, scores), pattern.transposed_times(values, scores), pattern.inner_products(scores, scores)

    with pages_kept():
        return best_of(step)


def _step(network: nn.Module, scores: Callable[[], Tensor]) -> Callable[[], None]:
    """A step of training on the first nodes, whatever their classes."""
    import torch

    optimizer = torch.optim.Adam(network.parameters(), lr=5e-3, weight_decay=5e-4)
    nodes, targets = torch.arange(140), torch.arange(140) % CLASSES

    def step() -> None:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(scores()[nodes], targets).backward()
        optimizer.step()

    return step
