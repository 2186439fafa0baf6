"""One step of GAE against the same step with PyG's decoder, and against its floor, the rows that it must read.

Real graphs come from the directory that GRAPHPROX_DATA names; without it there is nothing to measure.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from benchmarks.measure import measure
from benchmarks.steps import Other, Row, best_of, compared

if TYPE_CHECKING:
    from torch import nn


def run() -> Iterator[Row]:
    if os.environ.get("GRAPHPROX_DATA"):
        for name in ("CoauthorCS", "BlogCatalog"):
            yield from of_graph(name)


def of_graph(name: str) -> Iterator[Row]:
    ours, theirs, floor = (measure(call, name, repeat=2) for call in (our_step, pyg_step, rows_read))
    yield from compared(
        f"GAE, one step, {name}",
        ours,
        Other("the same layers, PyG's decoder", theirs),
        Other("the rows of all pairs and the layers' sparse products", floor),
        digits=3,
    )


def our_step(name: str) -> float:
    """Seconds of a step of the baseline, the best of some."""
    from graphprox.baselines.gae import InnerProducts

    return _step(name, InnerProducts())


def pyg_step(name: str) -> float:
    """Seconds of the same step, with the decoder of PyG."""
    from torch_geometric.nn import InnerProductDecoder

    return _step(name, InnerProductDecoder())


def _step(name: str, decoder: nn.Module) -> float:
    import torch
    from torch_geometric.nn import GAE

    from graphprox import load
    from graphprox.baselines import gae
    from graphprox.baselines.neural import GCNLayers, Tensors
    from graphprox.memory import pages_kept

    torch.set_num_threads(1)
    graph, settings, rng = load(name).graph, gae.GAE(), torch.Generator().manual_seed(0)
    tensors, edges, others = Tensors.of(graph), gae.edges_and_loops(graph), gae.NonEdges.of(graph)
    model = GAE(GCNLayers([tensors.features.shape[1], settings.hidden, settings.width], rng=rng), decoder)
    optimizer = torch.optim.Adam(model.parameters(), lr=settings.learning_rate)

    def step() -> None:
        optimizer.zero_grad()
        z = model.encode(tensors.features, tensors.edges)
        model.recon_loss(z, edges, others.draw(edges.shape[1], rng)).backward()
        optimizer.step()

    with pages_kept():
        return best_of(step)


def rows_read(name: str) -> float:
    """Seconds of what a step cannot do without: both rows of each pair, there and back, and the sparse products."""
    import torch

    from graphprox import load
    from graphprox.baselines import gae
    from graphprox.baselines.neural import Tensors
    from graphprox.memory import pages_kept

    torch.set_num_threads(1)
    graph, settings, rng = load(name).graph, gae.GAE(), torch.Generator().manual_seed(0)
    tensors, edges = Tensors.of(graph), gae.edges_and_loops(graph)
    pairs = torch.cat([edges, gae.NonEdges.of(graph).draw(edges.shape[1], rng)], 1)
    weight = torch.randn(tensors.features.shape[1], settings.hidden, requires_grad=True)
    hidden, z = (torch.randn(graph.num_nodes, width) for width in (settings.hidden, settings.width))
    pattern, values = tensors.edges.pattern, tensors.edges.values
    ends = pairs.reshape(-1)
    bags = torch.arange(0, len(ends), 64)

    def step() -> None:
        tensors.features.times(weight).backward(hidden)
        for h in (hidden, z):
            pattern.times(values, h), pattern.transposed_times(values, h)
        for _ in ("there", "back"):
            torch.nn.functional.embedding_bag(ends, z, bags, mode="sum")  # reads all rows, and writes next to nothing

    with pages_kept():
        return best_of(step)
