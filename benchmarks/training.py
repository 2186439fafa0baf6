"""A training step of FT-GCL against a plain implementation in PyG, and against a lower bound, the dense products alone.

Real graphs are read from the directory GRAPHPROX_DATA; without it nothing is measured.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING

from benchmarks.measure import measure
from benchmarks.steps import Reference, Row, compare_step, time_best

if TYPE_CHECKING:
    from graphprox.ftgcl.recipe import Recipe


def run() -> Iterator[Row]:
    if os.environ.get("GRAPHPROX_DATA"):
        for name in ("Cora", "CoauthorCS"):
            yield from compare_on(name)


def compare_on(name: str) -> Iterator[Row]:
    ours, plain = measure(time_our_step, name), measure(time_plain_step, name, repeat=2)
    floor = measure(time_dense_products, name)
    yield from compare_step(
        f"one epoch, the paper's settings for {name}",
        ours,
        Reference("two passes of PyG's GATConv, dense X, same loss and optimizer", plain),
        Reference("the dense products of the epoch alone", floor),
        digits=3,
    )


def time_our_step(name: str) -> float:
    """Return the best time of a step, with both views, in seconds."""
    import torch

    from graphprox import load
    from graphprox._utils.memory import keep_freed_memory
    from graphprox.ftgcl.fit import rank_views
    from graphprox.ftgcl.trainer import Trainer

    graph, recipe = load(name).graph.without_labels(), make_recipe(name)
    trainer = Trainer(graph, rank_views(graph, recipe), recipe, device=torch.device("cpu"))
    with keep_freed_memory():
        return time_best(trainer.step)


def time_plain_step(name: str) -> float:
    """Return the time of the same step written with PyG, in seconds."""
    import torch
    from torch_geometric.nn import GATConv

    from graphprox import load
    from graphprox.ftgcl.fit import rank_views
    from graphprox.nn.objectives import OBJECTIVES

    graph, recipe = load(name).graph.without_labels(), make_recipe(name)
    rankings, objective = rank_views(graph, recipe), OBJECTIVES[recipe.objective.name]
    channels, projected = recipe.encoder.n_components, recipe.head.out_channels
    views = [torch.tensor(rankings[view].edge_index(K)) for view in ("feature", "topology")]
    edges, x = torch.tensor(graph.edge_index), torch.tensor(graph.x.toarray())
    x = x / x.sum(1, keepdim=True).clamp(min=1)
    first, second = GATConv(graph.num_features, channels), GATConv(channels, channels)
    activations = {
        "elu": lambda: torch.nn.ELU(),
        "relu": lambda: torch.nn.ReLU(),
        "prelu": lambda: torch.nn.PReLU(channels),
    }
    inner, outer = (activations[recipe.encoder.activation]() for _ in range(2))
    head = torch.nn.Sequential(
        torch.nn.Linear(channels, projected), torch.nn.ELU(), torch.nn.Linear(projected, projected)
    )
    parameters = [p for part in (first, second, inner, outer, head) for p in part.parameters()]
    optimizer = torch.optim.Adam(
        parameters, lr=recipe.optimizer.learning_rate, weight_decay=recipe.optimizer.weight_decay
    )
    epochs = count()

    def step() -> None:
        pair = edges, views[next(epochs) % 2]
        outputs = [head(outer(second(inner(first(x, each)), each))) for each in pair]
        loss = objective(*outputs, recipe.objective)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return time_best(step, repetitions=4)


def time_dense_products(name: str) -> float:
    """Return the time of the dense matrix products of a step, in seconds."""
    import torch

    from graphprox import load
    from graphprox._utils.memory import keep_freed_memory

    recipe, num_nodes = make_recipe(name), load(name).graph.num_nodes
    channels, projected = recipe.encoder.n_components, recipe.head.out_channels
    shapes = [(channels, channels), (channels, projected), (projected, projected)]  # second layer, and both of the head
    layers = [(torch.randn(num_nodes, a), torch.randn(a, b), torch.randn(num_nodes, b)) for a, b in shapes]
    output, similarities = torch.randn(num_nodes, projected), torch.randn(projected, projected)

    def products() -> None:
        for inputs, weight, gradient in layers * 2:  # the graph and the view
            inputs @ weight, gradient @ weight.T, inputs.T @ gradient
        output.T @ output, output @ similarities, output @ similarities.T  # the loss and its gradients

    with keep_freed_memory():
        return time_best(products)


def make_recipe(name: str) -> Recipe:
    """Return the paper's settings for a data set, with a fixed k."""
    from graphprox.ftgcl.estimators import FTGCL

    return FTGCL.from_preset(f"{name}-paper").recipe().with_overrides({"views.k_min": K, "views.k_max": K})


K = 8  # the same in every step: otherwise the ratio would depend on the sampled k
