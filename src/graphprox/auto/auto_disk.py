"""The disk space of the default method, as a function of the size of a graph.

What the criterion will choose is not known before: of what it may choose, that with the largest files counts.
"""

from __future__ import annotations

from collections.abc import Mapping

from graphprox.auto.auto_costs import count_channels
from graphprox.auto.criteria.base import RATIOS
from graphprox.auto.criteria.held_out_features import MAX_DIRECTIONS as HALF_DIRECTIONS
from graphprox.auto.outputs import OUTPUTS
from graphprox.auto.preparation import MAX_DIRECTIONS
from graphprox.auto.row_store import count_kept_columns, fits_memory, row_blocks, takes_half
from graphprox.auto.selection import EDGES, Selection
from graphprox.auto.spreading import NUM_SIMILAR
from graphprox.forecast.disk import DiskUses
from graphprox.forecast.work import FLOAT, Size
from graphprox.graph.graph import Graph
from graphprox.graph.structural import has_informative_features

ROWS, STAGES, MODEL = "rows that memory does not hold", "finished stages", "the model"
HALF_ROWS = 4  # matrices that a criterion keeps of half of the features, at the same time
NUMBER = 8  # bytes of an id, a signature, a number of neighbors


def auto_disk_use(graph: Graph, *, keep: str, n_components: int, is_saved: bool) -> DiskUses:
    """Return how many bytes files take at the same time, at most.

    Parameters
    ----------
    graph : Graph
    keep : str
        What is kept, or ``"auto"``.
    n_components : int
    is_saved : bool
        Whether the model is saved, and with it the finished stages of a long run.

    Returns
    -------
    mapping of str to mapping
        Bytes of rows, of stages and of the model.
    """
    size = Size.of(graph)
    choices = (EDGES,) if not has_informative_features(graph) else RATIOS if keep not in RATIOS else (keep,)
    candidates = [
        _disk_use(size, Selection(choice, {}).weights, choice, n_components, is_saved=is_saved) for choice in choices
    ]
    return max(candidates, key=lambda uses: sum(sum(each.values()) for each in uses.values()))


def _disk_use(size: Size, weights: Mapping[str, float], choice: str, n_components: int, *, is_saved: bool) -> DiskUses:
    channels = count_channels(size, weights)
    width = 0 if choice == EDGES else min(MAX_DIRECTIONS, size.columns, size.nodes)
    positions = channels.get("positions", 0)
    all_columns = count_kept_columns(count_channels(size, OUTPUTS), n_components)
    in_files = not fits_memory(size.nodes, all_columns)
    in_stages = is_saved and len(row_blocks(size.nodes)) > 1
    # What is spread: an output as columns and as rows.
    spread = 2 * max(width, positions, max(channels.values()))
    # Beside the outputs: those that they are computed from.
    view = width if {"view", "view-graph"} & set(weights) else 0
    prepared = 2 * positions + width * ("own" not in weights) + view * ("view" not in weights)
    kept = _count_output_columns(channels, size, n_components) + prepared
    directions = min(n_components, sum(channels.values()))
    rows = max(kept + spread, positions + 2 * directions + n_components)
    temporary = max(spread, HALF_ROWS * min(HALF_DIRECTIONS, width)) if in_stages else rows
    preparation = FLOAT * size.columns * width
    fitted = preparation + size.nodes * (FLOAT * (positions + 1) + NUMBER)
    stages = fitted + size.nodes * (FLOAT * (kept - positions + NUM_SIMILAR + n_components) + NUMBER)
    projection = FLOAT * sum(channels.values()) * directions
    return {
        "work": {ROWS: FLOAT * size.nodes * temporary * in_files},
        "model": {
            STAGES: stages * in_stages,
            MODEL: (fitted + size.nodes * NUMBER + projection) * is_saved,
        },
    }


def _count_output_columns(channels: Mapping[str, int], size: Size, n_components: int) -> int:
    """Return how many columns of single precision take as much space as the outputs."""
    columns = sum(channels.values())
    if not takes_half(size.nodes, count_kept_columns(channels, n_components)):
        return columns
    prepared = channels.get("own", 0) + channels.get("view", 0)  # which are kept as they are
    return prepared + (columns - prepared) // 2
