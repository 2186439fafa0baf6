"""The work and the memory of the default method, as a function of the size of a graph.

What the criterion will choose is not known before: the forecast is that of *balanced*, which computes all outputs but
one, unless ``keep`` is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from graphprox.auto.criteria.base import BALANCED
from graphprox.auto.criteria.held_out_features import CANDIDATES, MAX_SPLITS, SMALL
from graphprox.auto.criteria.held_out_features import MAX_DIRECTIONS as HALF_DIRECTIONS
from graphprox.auto.outputs.graph_diffusion import DISTANT_HOPS, HOPS
from graphprox.auto.preparation import MAX_DIRECTIONS, is_dense
from graphprox.auto.row_store import BLOCK_ROWS, ONE_BLOCK, column_panels, count_kept_columns, fits_memory
from graphprox.auto.selection import EDGES, Selection
from graphprox.auto.spreading import NUM_SIMILAR
from graphprox.forecast.work import FLOAT, Costs, Size, Work, add_work, search_memory, search_work
from graphprox.graph.graph import Graph
from graphprox.graph.structural import has_informative_features

OVERSAMPLING, ITERATIONS = 10, 10  # of the singular vectors: columns, and products with the matrix
VIEW_HOPS = 5
ROLES_CHANNELS, AMOUNT_CHANNELS = 192, 65
SIMILAR_ENTRIES = 1.6 * NUM_SIMILAR + 1  # of each node: links are made in both directions
RIDGE_WORK = 2_000 * 400**2 * 10.0 + 20_000 * 400 * 128 * 8.0  # of scoring one half of the features


def auto_costs(graph: Graph, *, keep: str, n_components: int) -> Costs:
    """Return the costs of embedding a graph by the default method.

    Parameters
    ----------
    graph : Graph
    keep : str
        What is kept, or ``"auto"``.
    n_components : int

    Returns
    -------
    Costs
    """
    size, has_features = Size.of(graph), has_informative_features(graph)
    weights = _weights_of_outputs(keep, has_features=has_features)
    channels = count_channels(size, weights)
    width = min(MAX_DIRECTIONS, size.nodes, size.columns)
    parts = [_combination_work(size, channels, n_components)]
    if has_features:
        parts += [_svd_work(size, size.columns, size.nonzero, width), search_work("search", size.nodes, width)]
        parts.append(_diffusion_work(size.nodes * SIMILAR_ENTRIES, width, VIEW_HOPS))
    if "positions" in weights:
        parts.append(_svd_work(size, size.nodes, size.entries, min(MAX_DIRECTIONS, size.nodes)))
    hops = {"graph": HOPS, "view-graph": HOPS, "positions": HOPS, "distant": DISTANT_HOPS}
    parts += [_diffusion_work(size.entries, width, hops[name]) for name in weights if name in hops]
    if has_features and keep == "auto" and size.entries:
        parts.append(_criterion_work(graph, size))
    return Costs("auto", add_work(*parts), _memory(size, channels, n_components))


def auto_memory(graph: Graph, *, keep: str, n_components: int) -> dict[str, float]:
    """Return the memory of embedding a graph by the default method, by the names of coefficients.

    Parameters
    ----------
    graph : Graph
    keep : str
        What is kept, or ``"auto"``.
    n_components : int

    Returns
    -------
    dict of str to float
        Bytes.
    """
    size = Size.of(graph)
    channels = count_channels(size, _weights_of_outputs(keep, has_features=has_informative_features(graph)))
    return _memory(size, channels, n_components)


def _weights_of_outputs(keep: str, *, has_features: bool) -> Mapping[str, float]:
    return Selection(EDGES if not has_features else BALANCED if keep == "auto" else keep, {}).weights


def count_channels(size: Size, names: Iterable[str]) -> dict[str, int]:
    """Return the number of columns of each output.

    Parameters
    ----------
    size : Size
    names : iterable of str
        Names of outputs.

    Returns
    -------
    dict of str to int
    """
    fixed = {"roles": ROLES_CHANNELS, "amount": AMOUNT_CHANNELS, "positions": min(MAX_DIRECTIONS, size.nodes)}
    return {name: fixed.get(name, min(MAX_DIRECTIONS, size.columns, size.nodes)) for name in names}


def _svd_work(size: Size, columns: int, nonzero: int, directions: int) -> dict[str, Work]:
    """Return the work of singular vectors: products with a sparse or dense matrix, and orthogonal columns."""
    width = directions + OVERSAMPLING
    if size.nodes > ONE_BLOCK and columns <= width:  # by the products of columns
        return {"svd_dense": Work("products", 4.0 * nonzero * columns)}
    orthogonal = Work("factorizations", 2.0 * ITERATIONS * (size.nodes + columns) * width**2)
    if nonzero >= size.nodes * columns:
        return {"svd": orthogonal, "svd_dense": Work("products", 2.0 * ITERATIONS * nonzero * width)}
    return {"svd": orthogonal, "svd_sparse": Work("passes", FLOAT * ITERATIONS * nonzero * width)}


def _diffusion_work(entries: float, width: int, hops: int) -> dict[str, Work]:
    return {"hops": Work("reads", FLOAT * hops * entries * width)}


def _criterion_work(graph: Graph, size: Size) -> dict[str, Work]:
    width = min(MAX_DIRECTIONS, size.nodes, size.columns)
    if is_dense(graph.x):
        return _svd_work(size, size.columns, size.nodes * size.columns, width)
    halves = 2 * min(max(SMALL // size.nodes, 1), MAX_SPLITS)
    width = min(HALF_DIRECTIONS, size.nodes, max(size.columns // 2, 1))
    half = add_work(
        *[_svd_work(size, size.columns // 2, size.nonzero // 2, width)] * 2,
        search_work("search", size.nodes, width),
        _diffusion_work(size.nodes * SIMILAR_ENTRIES, width, VIEW_HOPS),
        _diffusion_work(size.entries, width, HOPS),
        {"ridge": Work("factorizations", RIDGE_WORK * len(CANDIDATES) * min(1.0, size.nodes / 20_000))},
        {"rows": Work("passes", FLOAT * size.nodes * width * 10.0)},
    )
    return add_work(*[half] * halves)


def _combination_work(size: Size, channels: dict[str, int], n_components: int) -> dict[str, Work]:
    total = sum(channels.values())
    directions = min(n_components, total)  # further columns are zeros, which are only written
    return add_work(
        {"combination": Work("products", 2.0 * size.nodes * total * (total + directions))},
        {"eigenvectors": Work("factorizations", 10.0 * total**3)},
        {"rows": Work("passes", FLOAT * size.nodes * (total + n_components - directions))},
        search_work("search", size.nodes, directions),
        _diffusion_work(size.nodes * SIMILAR_ENTRIES, directions, 5),
    )


def _memory(size: Size, channels: dict[str, int], n_components: int) -> dict[str, float]:
    num_channels = sum(channels.values())
    directions = min(n_components, num_channels)
    total = num_channels + directions
    # The outputs, and their directions; or else, after the outputs, these and the vectors, which zeros fill, and the
    # projection to them.
    after = size.nodes * (directions + n_components) + num_channels * directions
    rows = max(size.nodes * total, after)
    if not fits_memory(size.nodes, count_kept_columns(channels, n_components)):
        # A block of all outputs and of the vectors, and a panel of columns that is spread over edges.
        panel = column_panels(size.nodes, MAX_DIRECTIONS)[0].stop
        rows = min(rows, BLOCK_ROWS * (num_channels + n_components) + 3 * size.nodes * panel)
    return {
        "rows": float(FLOAT * rows),
        "entries": float(FLOAT * size.entries),
        "features": float(FLOAT * (_count_in_block(size) + size.columns * MAX_DIRECTIONS)),
        "similar": float(FLOAT * size.nodes * NUM_SIMILAR),
        "scores": search_memory(size.nodes),
    }


def _count_in_block(size: Size) -> float:
    """Return how many features are prepared at the same time."""
    return size.nonzero if size.nodes <= ONE_BLOCK else size.nonzero * BLOCK_ROWS / size.nodes
