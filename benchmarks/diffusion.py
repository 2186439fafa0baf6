"""Diffusion, forward and backward, against PyG's APPNP and against a lower bound, the bytes that all hops read.

Real graphs are read from the directory GRAPHPROX_DATA; without it nothing is measured.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from benchmarks.measure import measure
from benchmarks.steps import Reference, Row, compare_step, time_best

if TYPE_CHECKING:
    from torch import Tensor

ALPHA, HOPS, CHANNELS = 0.15, 10, 512
REPETITIONS = 4  # a pass takes seconds


def run() -> Iterator[Row]:
    if os.environ.get("GRAPHPROX_DATA"):
        for name in ("PubMed", "CoauthorCS"):
            yield from compare_on(name)


def compare_on(name: str) -> Iterator[Row]:
    ours, theirs, floor = (measure(call, name, repeat=2) for call in (time_ours, time_pyg, time_reads))
    yield from compare_step(
        f"diffusion, {HOPS} hops of {CHANNELS} channels and their gradient, {name}",
        ours,
        Reference("PyG's APPNP, normalization cached", theirs),
        Reference("a copy of as many rows in order as the hops gather", floor),
        digits=3,
    )


def time_ours(name: str) -> float:
    """Return the best time of a forward and a backward pass, in seconds."""
    from graphprox import load_dataset
    from graphprox.nn.convolution import in_neighbor_matrix
    from graphprox.nn.encoders.gcn import GCNConv
    from graphprox.nn.propagation import diffuse, pagerank_coefficients

    graph = load_dataset(name).graph
    edges = GCNConv.prepare_edges(in_neighbor_matrix(graph.edge_index, None, graph.num_nodes))
    coefficients = pagerank_coefficients(ALPHA, HOPS)
    return _time_passes(graph.num_nodes, lambda h: diffuse(edges, h, coefficients))


def time_pyg(name: str) -> float:
    """Return the time of the same passes by PyG, in seconds."""
    import torch
    from torch_geometric.nn import APPNP

    from graphprox import load_dataset

    graph = load_dataset(name).graph
    layer, edge_index = APPNP(K=HOPS, alpha=ALPHA, cached=True), torch.tensor(graph.edge_index)
    return _time_passes(graph.num_nodes, lambda h: layer(h, edge_index))


def _time_passes(num_nodes: int, diffused: Callable[[Tensor], Tensor]) -> float:
    import torch

    h = torch.randn(num_nodes, CHANNELS, generator=torch.Generator().manual_seed(0), requires_grad=True)
    upstream = torch.ones(num_nodes, CHANNELS)

    def step() -> None:
        h.grad = None
        diffused(h).backward(upstream)

    step()  # compiles, and caches the normalization
    return time_best(step, repetitions=REPETITIONS)


def time_reads(name: str) -> float:
    """Return the time to copy the rows that all hops of both passes gather, read in order, in seconds."""
    import torch

    from graphprox import load_dataset

    graph = load_dataset(name).graph
    rows = torch.randn(graph.num_nodes, CHANNELS)
    copies = 2 * HOPS * (graph.num_entries + graph.num_nodes) / graph.num_nodes
    target = torch.empty_like(rows)
    return time_best(lambda: target.copy_(rows), repetitions=REPETITIONS) * copies
