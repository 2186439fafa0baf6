"""The work and the memory of a training run by a recipe: views, epochs, embedding."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from graphprox._utils.memory import available_memory, current_memory
from graphprox.forecast import NOMINAL, make_forecast
from graphprox.forecast.forecasts import load_coefficients
from graphprox.forecast.largest_arrays import ADAM_COPIES
from graphprox.forecast.work import FLOAT, Costs, Size, Work, add_work, search_memory, search_work
from graphprox.ftgcl.chunk_rules import obstacle_to_chunks
from graphprox.ftgcl.recipe import Recipe
from graphprox.ftgcl.row_sources import ARRAYS
from graphprox.ftgcl.source_names import GRAPH, split_source
from graphprox.graph.graph import Graph
from graphprox.nn.encoders.base import ENCODERS
from graphprox.views.search.exact import DENSE_COLUMN

TOPOLOGY, FEATURE = "topology", "feature"
PASSES = 3  # over a product: forward, and backward for its input and its weight
SECOND_PASS = (PASSES + 1) / PASSES  # of an epoch in chunks, which are encoded twice
PROPAGATION, EPOCH = "propagation", "epoch"  # stages, beside the views
CONTRAST_MATRICES = 8  # of the size of the products of channels of two views: forward, and backward
MODEL = "ft-gcl"
MIN_CHUNK, MAX_CHUNK = 2**10, 2**16  # nodes; larger chunks are not faster


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
    size, chunk_size = Size.of(graph), choose_chunk_size(graph, recipe)
    stages = work_of_stages(size, recipe, columns=_count_columns(graph), in_chunks=chunk_size is not None)
    epoch = stages.pop(EPOCH)
    work = add_work(*stages.values(), _times(epoch, recipe.epochs))
    return Costs(MODEL, work, _memory_in_chunks(size, recipe, chunk_size))


def training_memory(graph: Graph, recipe: Recipe) -> dict[str, float]:
    """Return the memory of the same, by the names of coefficients.

    Parameters
    ----------
    graph : Graph
    recipe : Recipe

    Returns
    -------
    dict of str to float
        Bytes.
    """
    return _memory_in_chunks(Size.of(graph), recipe, choose_chunk_size(graph, recipe))


def choose_chunk_size(graph: Graph, recipe: Recipe) -> int | None:
    """Return how many nodes are encoded at a time: as the recipe says, or fewer than all if memory requires it.

    Parameters
    ----------
    graph : Graph
    recipe : Recipe

    Returns
    -------
    int or None
        None if all nodes are encoded together: if there are no more than in a chunk, if there is enough memory, or if
        the recipe cannot be trained in chunks.
    """
    if recipe.chunk_size is not None:
        return recipe.chunk_size if recipe.chunk_size < graph.num_nodes else None
    available = available_memory()
    if available is None or obstacle_to_chunks(recipe) is not None:
        return None
    if make_forecast(Costs(MODEL, {}, _memory(Size.of(graph), recipe)), speeds=NOMINAL).peak_memory <= available:
        return None
    free = max(available - current_memory(), 0) / 2
    rows = int(free / (load_coefficients()[MODEL]["memory"]["rows"] * _row_bytes(recipe)))
    # A power of two, so that it is the same on most machines: the sums are rounded differently for another.
    return int(min(MAX_CHUNK, max(MIN_CHUNK, 2 ** (rows.bit_length() - 1))))


def work_of_stages(
    size: Size, recipe: Recipe, *, columns: tuple[float, float], in_chunks: bool
) -> dict[str, dict[str, Work]]:
    """Return the work of each stage: the ranking of each view by its name, propagation in chunks, and one epoch.

    Parameters
    ----------
    size : Size
    recipe : Recipe
    columns : tuple of float
        Number of features that are multiplied as a matrix, and multiplications by lists of the others.
    in_chunks : bool
        Whether a chunk of nodes is encoded at a time.

    Returns
    -------
    dict of str to dict of str to Work
        The work of a stage by the names of coefficients.
    """
    views = recipe.required_views if recipe.epochs else ()
    stages = {view: _view_work(size, recipe, view, columns) for view in views}
    epoch = _epoch_work(size, recipe)
    if not in_chunks:
        return {**stages, EPOCH: epoch}
    # Edges are used before training only, and all else is done forward once more.
    per_chunk = _times({name: each for name, each in epoch.items() if name != "epoch_hops"}, SECOND_PASS)
    return {**stages, PROPAGATION: _propagation_work(size, recipe), EPOCH: per_chunk}


def _times(work: dict[str, Work], factor: float) -> dict[str, Work]:
    return {name: Work(each.kind, each.amount * factor) for name, each in work.items()}


def _propagation_work(size: Size, recipe: Recipe) -> dict[str, Work]:
    """Return the work of propagating the features along the edges of the graph, and of each view with each k."""
    hops = len(ENCODERS.lookup(recipe.encoder.name).feature_diffusion(recipe.encoder) or ()) - 1
    ranges = {view: recipe.views.k_range(view) for view in recipe.required_views if recipe.epochs}
    entries = _entries(size, recipe, GRAPH) + sum(
        _entries(size, recipe, view) * (high - low + 1) for view, (low, high) in ranges.items()
    )
    return {"propagation": Work("loops", FLOAT * entries * hops * (size.columns + 1.0))}


def _view_work(size: Size, recipe: Recipe, view: str, columns: tuple[float, float]) -> dict[str, Work]:
    if view != TOPOLOGY:
        dense, lists = columns
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


def _row_bytes(recipe: Recipe) -> float:
    out, hidden, layers = _channels(recipe)
    return float(FLOAT * (hidden * (layers - 1) + 2 * out))


def _memory_in_chunks(size: Size, recipe: Recipe, chunk_size: int | None) -> dict[str, float]:
    """Return the memory of training in chunks: propagation and vectors use at most their shares of the free memory."""
    if chunk_size is None:
        return _memory(size, recipe)
    available = available_memory()
    share = float("inf") if available is None else max(available - current_memory(), 0) / 4
    columns = ARRAYS * FLOAT * size.nodes * min(size.columns + 1.0, max(1.0, share / (ARRAYS * FLOAT * size.nodes)))
    return {
        **_memory(size, recipe),
        "rows": chunk_size * _row_bytes(recipe),
        "propagation": columns,
        "vectors": min(float(FLOAT * size.nodes * _channels(recipe)[0]), share),
    }


def _count_parameters(size: Size, recipe: Recipe) -> float:
    """Return the number of weights of the encoder and the head."""
    out, hidden, layers = _channels(recipe)
    encoder = float(size.columns) * (hidden if layers > 1 else out) + float(hidden) * hidden * max(layers - 2, 0)
    head = recipe.head.out_channels * (out + recipe.head.out_channels * (recipe.head.num_layers - 1))
    return encoder + float(hidden) * out * (layers > 1) + float(head) * (recipe.head.num_layers > 0)


def _memory(size: Size, recipe: Recipe) -> dict[str, float]:
    contrasted = recipe.head.out_channels if recipe.head.num_layers else recipe.encoder.n_components
    return {
        "rows": size.nodes * _row_bytes(recipe),
        "entries": float(FLOAT * size.entries),
        "features": float(FLOAT * size.nonzero),
        "parameters": float(FLOAT * ADAM_COPIES * _count_parameters(size, recipe)),
        "contrast": float(FLOAT * CONTRAST_MATRICES * contrasted**2 * (recipe.objective.name != "node")),
        "rankings": float(FLOAT * size.nodes * 200 * (TOPOLOGY in recipe.required_views)),
        "views": FLOAT * sum(_prepared_entries(size, recipe, view) for view in recipe.required_views),
        "scores": search_memory(size.nodes),
    }
