"""A training step of GAE against the same step with PyG's decoder, and against a lower bound, the reads of all rows.

Real graphs are read from the directory GRAPHPROX_DATA; without it nothing is measured.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from benchmarks.measure import measure
from benchmarks.steps import Reference, Row, compare_step, time_best

if TYPE_CHECKING:
    from torch import nn


def run() -> Iterator[Row]:
    if os.environ.get("GRAPHPROX_DATA"):
        for name in ("CoauthorCS", "BlogCatalog"):
            yield from compare_steps(name)


def compare_steps(name: str) -> Iterator[Row]:
    ours, theirs, floor = (measure(call, name, repeat=2) for call in (time_our_step, time_pyg_step, time_row_reads))
    yield from compare_step(
        f"GAE, one epoch, {name}",
        ours,
        Reference("the same layers, PyG's decoder", theirs),
        Reference("the rows of all pairs and the layers' sparse products", floor),
        digits=3,
    )


def time_our_step(name: str) -> float:
    """Return the best time of a step of GAE, in seconds."""
    from graphprox.methods._edge_reconstruction import PairDecoder

    return _time_step(name, PairDecoder())


def time_pyg_step(name: str) -> float:
    """Return the time of the same step with PyG's decoder, in seconds."""
    from torch_geometric.nn import InnerProductDecoder

    return _time_step(name, InnerProductDecoder())


def _time_step(name: str, decoder: nn.Module) -> float:
    import torch
    from torch_geometric import nn as pyg

    from graphprox import GAE, load
    from graphprox._utils.memory import keep_freed_memory
    from graphprox.methods._edge_reconstruction import NonEdges, to_positive_pairs
    from graphprox.methods._neural import GCNLayers, GraphTensors

    torch.set_num_threads(1)
    graph, settings, generator = load(name).graph, GAE(), torch.Generator().manual_seed(0)
    tensors, positives, non_edges = GraphTensors.of(graph), to_positive_pairs(graph), NonEdges.of(graph)
    channels = [graph.num_features, settings.hidden_channels, settings.n_components]
    model = pyg.GAE(GCNLayers(channels, generator=generator), decoder)
    optimizer = torch.optim.Adam(model.parameters(), lr=settings.learning_rate)

    def step() -> None:
        optimizer.zero_grad()
        z = model.encode(tensors.features, tensors.edges)
        model.recon_loss(z, positives, non_edges.sample(positives.shape[1], generator)).backward()
        optimizer.step()

    with keep_freed_memory():
        return time_best(step)


def time_row_reads(name: str) -> float:
    """Return the time of the operations that no step can avoid: reads of all rows of pairs, and sparse products."""
    import torch

    from graphprox import GAE, load
    from graphprox._utils.memory import keep_freed_memory
    from graphprox.methods._edge_reconstruction import NonEdges, to_positive_pairs
    from graphprox.methods._neural import GraphTensors

    torch.set_num_threads(1)
    graph, settings, generator = load(name).graph, GAE(), torch.Generator().manual_seed(0)
    tensors, positives = GraphTensors.of(graph), to_positive_pairs(graph)
    pairs = torch.cat([positives, NonEdges.of(graph).sample(positives.shape[1], generator)], 1)
    weight = torch.randn(graph.num_features, settings.hidden_channels, requires_grad=True)
    hidden, z = (torch.randn(graph.num_nodes, size) for size in (settings.hidden_channels, settings.n_components))
    pattern, values = tensors.edges.pattern, tensors.edges.values
    ends = pairs.reshape(-1)
    bags = torch.arange(0, len(ends), 64)

    def step() -> None:
        tensors.features.matmul(weight).backward(hidden)
        for h in (hidden, z):
            pattern.matmul(values, h), pattern.transposed_matmul(values, h)
        for _ in ("forward", "backward"):
            torch.nn.functional.embedding_bag(ends, z, bags, mode="sum")  # reads all rows, and writes almost nothing

    with keep_freed_memory():
        return time_best(step)
