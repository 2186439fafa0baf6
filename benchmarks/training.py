"""One step of training, against the plain way in PyG and against its floor, the dense products alone.

Real graphs come from the directory that GRAPHPROX_DATA names; without it there is nothing to measure.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from benchmarks.measure import measure
from benchmarks.steps import Other, Row, best_of, compared


def run() -> Iterator[Row]:
    if os.environ.get("GRAPHPROX_DATA"):
        for name in ("Cora", "CoauthorCS"):
            yield from of_preset(name)


def of_preset(name: str) -> Iterator[Row]:
    ours, plain, floor = measure(our_step, name), measure(plain_step, name, repeat=2), measure(dense_products, name)
    yield from compared(
        f"one step, the paper's settings for {name}",
        ours,
        Other("two passes of PyG's GATConv, dense X, same loss and optimizer", plain),
        Other("the dense products of the step alone", floor),
        digits=3,
    )


def our_step(name: str) -> float:
    """Seconds of a step, the best of some, both views among them."""
    import torch

    from graphprox import load
    from graphprox.memory import pages_kept
    from graphprox.methods.family import recipe_for
    from graphprox.training.fitting import ranked_views
    from graphprox.training.trainer import Trainer

    graph, recipe = load(name).graph.without_labels(), recipe_for("ft-gcl", preset=f"{name}-paper", overrides=K_FIXED)
    trainer = Trainer(graph, ranked_views(graph, recipe), recipe, device=torch.device("cpu"))
    with pages_kept():
        return best_of(trainer.step)


def plain_step(name: str) -> float:
    """Seconds of the same step as PyG's users would write it."""
    import torch
    from torch_geometric.nn import GATConv

    from graphprox import load
    from graphprox.methods.family import recipe_for
    from graphprox.training.fitting import ranked_views
    from graphprox.training.trainer import contrast

    graph, recipe = load(name).graph.without_labels(), recipe_for("ft-gcl", preset=f"{name}-paper", overrides=K_FIXED)
    rankings = ranked_views(graph, recipe)
    width, projected, k = recipe.encoder.width, recipe.head.width, recipe.views.k_max
    views = [torch.tensor(rankings[view].graph(k)) for view in ("feature", "topology")]
    edges, x = torch.tensor(graph.edge_index), torch.tensor(graph.x.toarray())
    x = x / x.sum(1, keepdim=True).clamp(min=1)
    first, second = GATConv(graph.num_features, width), GATConv(width, width)
    activations = {
        "elu": lambda: torch.nn.ELU(),
        "relu": lambda: torch.nn.ReLU(),
        "prelu": lambda: torch.nn.PReLU(width),
    }
    inner, outer = (activations[recipe.encoder.activation]() for _ in range(2))
    head = torch.nn.Sequential(torch.nn.Linear(width, projected), torch.nn.ELU(), torch.nn.Linear(projected, projected))
    parameters = [p for part in (first, second, inner, outer, head) for p in part.parameters()]
    optimizer = torch.optim.Adam(
        parameters, lr=recipe.optimizer.learning_rate, weight_decay=recipe.optimizer.weight_decay
    )
    turn = iter(range(10**6))

    def step() -> None:
        pair = edges, views[next(turn) % 2]
        outputs = [head(outer(second(inner(first(x, each)), each))) for each in pair]
        loss = contrast(*outputs, recipe.objective)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return best_of(step, times=4)


def dense_products(name: str) -> float:
    """Seconds of all the dense matrix products that a step cannot do without, and of nothing else."""
    import torch

    from graphprox import load
    from graphprox.memory import pages_kept
    from graphprox.methods.family import recipe_for

    recipe, nodes = recipe_for("ft-gcl", preset=f"{name}-paper"), load(name).graph.num_nodes
    width, projected = recipe.encoder.width, recipe.head.width
    shapes = [(width, width), (width, projected), (projected, projected)]  # second layer, and the head's two
    layers = [(torch.randn(nodes, a), torch.randn(a, b), torch.randn(nodes, b)) for a, b in shapes]
    channels, similar = torch.randn(nodes, projected), torch.randn(projected, projected)

    def products() -> None:
        for inputs, weight, gradient in layers * 2:  # the graph and the view
            inputs @ weight, gradient @ weight.T, inputs.T @ gradient
        channels.T @ channels, channels @ similar, channels @ similar.T  # the loss and its gradients

    with pages_kept():
        return best_of(products)


# The widest view every time, or the ratio would depend on which k chance draws.
K_FIXED = {"views.k_min": 8, "views.k_max": 8}
