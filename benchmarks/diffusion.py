"""Diffusion, forward and backward, against PyG's APPNP and a lower bound; of features once, against every epoch.

The lower bound is the bytes that all hops read. Real graphs are read from the directory GRAPHPROX_DATA; without it only
the generated one is measured.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from benchmarks.measure import measure
from benchmarks.steps import Reference, Row, compare_step, time_best

if TYPE_CHECKING:
    from torch import Tensor

    from graphprox import Graph
    from graphprox.nn.convolution import Edges
    from graphprox.nn.encoders.base import Encoder
    from graphprox.nn.features import FeatureMatrix

ALPHA, HOPS, CHANNELS = 0.15, 10, 512
REPETITIONS = 4  # a pass takes seconds
FEW_FEATURES = "20,000 generated nodes"


def run() -> Iterator[Row]:
    yield compare_orders(FEW_FEATURES)
    if os.environ.get("GRAPHPROX_DATA"):
        for name in ("PubMed", "CoauthorCS"):
            yield from compare_on(name)
            yield compare_orders(name)


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


# -- features propagated once ---------------------------------------------------------------------------------------


def compare_orders(name: str) -> Row:
    """Compare an epoch on features that were propagated once with one that propagates their projection."""
    propagated, projected = (measure(call, name, repeat=2) for call in (time_propagated, time_projected))
    ours, theirs = propagated.result, projected.result
    return {
        "what": f"linear diffusion encoder, {HOPS} hops, {CHANNELS} channels, features propagated once, {name}",
        "seconds": f"{ours['seconds']:.3f}, and {ours['once']:.3f} once",
        "reference": f"projection of the features propagated in every epoch: {theirs['seconds']:.3f} s",
        "ratio": f"{theirs['seconds'] / ours['seconds']:.2f} x faster (estimate: {ours['estimate']:.2f})",
        "peak memory": f"{propagated.peak_mb:,.0f} MB (reference: {projected.peak_mb:,.0f} MB)",
    }


def time_propagated(name: str) -> dict[str, float]:
    """Return the best time of a forward and a backward pass, and of what is computed once, in seconds."""
    from graphprox.nn.propagated_features import estimate_costs, propagate_features
    from graphprox.nn.propagation import pagerank_coefficients

    encoder, features, edges = _make_encoder(name)
    costs = estimate_costs(features, edges, hops=HOPS, channels=CHANNELS, uses=float("inf"))
    coefficients = pagerank_coefficients(ALPHA, HOPS)
    once = time_best(lambda: propagate_features(features, edges, coefficients), repetitions=2)
    propagated = propagate_features(features, edges, coefficients)
    seconds = _time_steps(encoder, lambda: encoder.encode_propagated(propagated))
    return {"seconds": seconds, "once": once, "estimate": costs.projected / costs.propagated}


def time_projected(name: str) -> dict[str, float]:
    """Return the best time of a forward and a backward pass without propagated features, in seconds."""
    encoder, features, edges = _make_encoder(name)
    return {"seconds": _time_steps(encoder, lambda: encoder(encoder.project(features), edges))}


def _make_encoder(name: str) -> tuple[Encoder, FeatureMatrix, Edges]:
    import torch

    from graphprox.nn.encoders import ENCODERS
    from graphprox.nn.features import FeatureMatrix

    graph, cls = _load_graph(name), ENCODERS["diffusion"]
    options = cls.Options(n_components=CHANNELS, num_layers=1, activation="none", alpha=ALPHA, hops=HOPS)
    encoder = cls(graph.num_features, options, generator=torch.Generator().manual_seed(0))
    edges = encoder.prepare_edges(graph.edge_index, None, num_nodes=graph.num_nodes)
    return encoder, FeatureMatrix.of(graph.x, normalize="rows"), edges


def _load_graph(name: str) -> Graph:
    from graphprox import load_dataset, synthetic

    return synthetic(nodes=20_000) if name == FEW_FEATURES else load_dataset(name).graph


def _time_steps(encoder: Encoder, encode: Callable[[], Tensor]) -> float:
    import torch

    from graphprox._utils.memory import keep_freed_memory

    upstream = torch.ones_like(encode(), requires_grad=False)  # also compiles

    def step() -> None:
        encoder.zero_grad()
        encode().backward(upstream)

    with keep_freed_memory():
        return time_best(step, repetitions=REPETITIONS)
