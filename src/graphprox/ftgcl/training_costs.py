"""The work and the memory of a training run by a recipe: views, epochs, embedding."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from graphprox.forecast.work import FLOAT, Costs, Size, Work, add_work, search_memory, search_work
from graphprox.ftgcl.recipe import Recipe
from graphprox.ftgcl.source_names import GRAPH, split_source
from graphprox.graph.graph import Graph
from graphprox.views.search.exact import DENSE_COLUMN

TOPOLOGY, FEATURE = "topology", "feature"
PASSES = 3  # over a product: forward, and backward for its input and its weight


def training_costs(graph: Graph, recipe: Recipe) -> Costs:
    """Return the costs of ranking the views of a graph, training by a recipe, and embedding.

    Parameters
    ----------
    graph : Graph
    recipe : Recipe

    Returns
    -------
    Costs
    """
    size = Size.of(graph)
    views = [_view_work(graph, size, recipe, view) for view in recipe.required_views] if recipe.epochs else []
    epoch = _epoch_work(size, recipe)
    repeated = {name: Work(each.kind, each.amount * recipe.epochs) for name, each in epoch.items()}
    return Costs("ft-gcl", add_work(*views, repeated), _memory(size, recipe))


def _view_work(graph: Graph, size: Size, recipe: Recipe, view: str) -> dict[str, Work]:
    if view != TOPOLOGY:
        dense, lists = _count_columns(graph)
        return search_work("search", size.nodes, dense, lists=lists)
    options = recipe.views.options_of(view).descriptor_options()
    steps = options.get("num_walks", 30) * options.get("walk_length", 10)
    landmarks = min(options.get("num_landmarks", 200), size.nodes)
    return add_work(
        {"walks": Work("loops", FLOAT * size.nodes * float(steps))},
        {"kernel": Work("loops", FLOAT * size.nodes * landmarks * float(options.get("iterations", 3) + 1))},
        search_work("search", size.nodes, landmarks),
    )


def _count_columns(graph: Graph) -> tuple[float, float]:
    """Return the number of columns that are multiplied as a matrix, and the multiplications by lists of the others."""
    x = graph.x
    if isinstance(x, sp.csr_array):
        counts = np.bincount(x.indices, minlength=x.shape[1])
    else:
        counts = np.count_nonzero(x, axis=0)
    is_dense = counts >= DENSE_COLUMN * x.shape[0]
    return float(is_dense.sum()), float((counts[~is_dense].astype(float) ** 2).sum())


def _epoch_work(size: Size, recipe: Recipe) -> dict[str, Work]:
    """Return the work of an epoch, the mean over the pairs of a schedule."""
    out, hidden, layers = _channels(recipe)
    pairs = recipe.pairs
    share = 1.0 if recipe.schedule == "sum" else 1.0 / len(pairs)
    sources = [split_source(source)[0] for pair in pairs for source in pair]
    num_sources = share * len(sources)
    entries = share * sum(_entries(size, recipe, base) for base in sources)
    hops = int(getattr(recipe.encoder, "hops", 0))
    propagated = float(hops * out) if hops else float(hidden * (layers - 1) + out)
    first = hidden if layers > 1 else out
    head, contrasted = recipe.head.num_layers, recipe.head.out_channels if recipe.head.num_layers else out
    products = num_sources * size.nodes * (2.0 * hidden * out * (layers > 1) + 2.0 * head * out * contrasted)
    return add_work(
        _projection_work(size, first),
        {"epoch_hops": Work("reads", 2.0 * FLOAT * entries * propagated)},
        {"epoch_products": Work("products", PASSES * products)},
        {"epoch_rows": Work("passes", FLOAT * num_sources * size.nodes * (hidden * (layers - 1) + 4.0 * out))},
        {"epoch_weights": Work("passes", FLOAT * float(size.columns * first + 3 * out * out))},
        _contrast_work(size, recipe, share * len(pairs), contrasted),
    )


def _contrast_work(size: Size, recipe: Recipe, pairs: float, channels: int) -> dict[str, Work]:
    """Return the work of the loss of an epoch, which a contrast of nodes computes for all pairs of them."""
    if recipe.objective.name == "node":
        return {"epoch_node_contrast": Work("products", 8.0 * pairs * float(size.nodes) ** 2 * channels)}
    return {"epoch_contrast": Work("products", PASSES * 2.0 * pairs * size.nodes * float(channels) ** 2)}


def _projection_work(size: Size, channels: int) -> dict[str, Work]:
    if size.is_sparse:
        return {"epoch_sparse": Work("reads", 2.0 * FLOAT * size.nonzero * channels)}
    return {"epoch_products": Work("products", 4.0 * size.nonzero * channels)}


def _channels(recipe: Recipe) -> tuple[int, int, int]:
    encoder = recipe.encoder
    return encoder.n_components, encoder.hidden_channels or encoder.n_components, encoder.num_layers


def _entries(size: Size, recipe: Recipe, base: str) -> float:
    if base == GRAPH:
        return float(size.entries + size.nodes)
    low, high = recipe.views.k_range(base)
    return size.nodes * (1 + (low + high) / 2 * (1.6 if recipe.views.undirected else 1.0))


def _prepared_entries(size: Size, recipe: Recipe, view: str) -> float:
    """Return how many edges of a view are kept: those of each k that some epoch has drawn."""
    low, high = recipe.views.k_range(view)
    choices = high - low + 1
    share = sum(view in (split_source(a)[0], split_source(b)[0]) for a, b in recipe.pairs) / len(recipe.pairs)
    draws = recipe.epochs * (1.0 if recipe.schedule == "sum" else share)
    return float(_entries(size, recipe, view) * choices * (1 - (1 - 1 / choices) ** draws))


def _memory(size: Size, recipe: Recipe) -> dict[str, float]:
    out, hidden, layers = _channels(recipe)
    return {
        "rows": float(FLOAT * size.nodes * (hidden * (layers - 1) + 2 * out)),
        "entries": float(FLOAT * size.entries),
        "features": float(FLOAT * size.nonzero),
        "weights": float(FLOAT * (size.columns * (hidden if layers > 1 else out) + 3 * out * out)),
        "rankings": float(FLOAT * size.nodes * 200 * (TOPOLOGY in recipe.required_views)),
        "views": FLOAT * sum(_prepared_entries(size, recipe, view) for view in recipe.required_views),
        "scores": search_memory(size.nodes),
    }
