"""Rankings kept on disk, found again by what they were made from: ``graphprox/rankings`` in the user's cache.

Two processes may make the same ranking at the same time: each writes a file of its own, the last one takes the place,
and whoever reads meets a whole file. A damaged one is made anew.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from graphprox.checksum import add_graph
from graphprox.errors import GraphproxWarning, ParameterError, ReadError, WriteError
from graphprox.graph import Graph
from graphprox.io.files import cache_folder, reason
from graphprox.proximity.ranking import Ranking

FORMAT = 1  # to be raised whenever the same options give another ranking


def ranking_directory() -> Path:
    """Where rankings are kept: ``graphprox/rankings`` below XDG_CACHE_HOME, or below ``~/.cache``."""
    return cache_folder("rankings")


def ranking_key(graph: Graph, **options: Any) -> str:
    """A name for the ranking that these options make of this graph: another one if a feature or an edge differs.

    ``options`` must say all that matters, the descriptor, its options, the seed and k_max among them, in values
    that JSON knows. Labels and node ids are no part of it, as they are none of a ranking.

    >>> graph = Graph(x=[[1], [2]], edge_index=[[0], [1]], y=[0, 1])
    >>> ranking_key(graph, k_max=5, seed=0) == ranking_key(graph.without_labels(), seed=0, k_max=5)
    True
    >>> ranking_key(graph, k_max=5) == ranking_key(graph, k_max=6)
    False
    """
    try:
        said = json.dumps({"format": FORMAT, "options": options}, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"options of a ranking must be plain values, as JSON knows them; got {error}") from None
    digest = hashlib.sha256(said.encode())
    add_graph(digest, graph)
    return digest.hexdigest()


def cached(key: str, make: Callable[[], Ranking], *, directory: str | Path | None = None) -> Ranking:
    """The ranking that is kept under a key; made, and kept, where there is none or it is damaged.

    Where nothing can be written, a warning says so and the ranking is made each time.
    """
    path = Path(directory or ranking_directory()) / f"{key}.npz"
    try:
        return Ranking.load(path)
    except ReadError:  # there is none, or it is damaged: one is as good as the other
        ranking = make()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        ranking.save(path)
    except (OSError, WriteError) as error:
        warnings.warn(f"the ranking is not kept for next time: {reason(error)}", GraphproxWarning, stacklevel=2)
    return ranking
