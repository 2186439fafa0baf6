"""A cache of rankings on disk, keyed by what they were computed from: ``graphprox/rankings`` in the user's cache.

Files are written atomically, so processes that compute the same ranking at the same time do not disturb each other. A
damaged file is replaced.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from graphprox._utils.stacklevel import warn
from graphprox._utils.team import current_team
from graphprox.errors import GraphproxWarning, ParameterError, ReadError, WriteError
from graphprox.graph.checksum import add_graph
from graphprox.graph.graph import Graph
from graphprox.io.storage.files import cache_folder, reason
from graphprox.views.ranking import Ranking

FORMAT = 1  # increase it whenever the same options give a different ranking


def ranking_directory() -> Path:
    """Return the folder of cached rankings, below ``$XDG_CACHE_HOME`` or ``~/.cache``."""
    return cache_folder("rankings")


def ranking_key(graph: Graph, **options: Any) -> str:
    """Return a hash of a graph, without labels and node ids, and of the options of a ranking.

    Parameters
    ----------
    graph : Graph
    **options : object
        Everything else that determines the ranking, as values that can be written as JSON.

    Returns
    -------
    str

    Examples
    --------
    >>> graph = Graph(x=[[1], [2]], edge_index=[[0], [1]], y=[0, 1])
    >>> ranking_key(graph, k_max=5, engine="exact") == ranking_key(graph.without_labels(), engine="exact", k_max=5)
    True
    >>> ranking_key(graph, k_max=5) == ranking_key(graph, k_max=6)
    False
    """
    try:
        text = json.dumps({"format": FORMAT, "options": options}, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"options of a ranking must be JSON values; got {error}") from None
    digest = hashlib.sha256(text.encode())
    add_graph(digest, graph)
    return digest.hexdigest()


def load_or_compute(key: str, compute: Callable[[], Ranking], *, directory: str | Path | None = None) -> Ranking:
    """Return the cached ranking of a key, or compute and cache it.

    Parameters
    ----------
    key : str
        As `ranking_key` returns it.
    compute : callable
        Called without arguments if there is no cached ranking, or if its file is damaged.
    directory : path, optional
        Folder of the cache; by default `ranking_directory`.

    Returns
    -------
    Ranking

    Warns
    -----
    GraphproxWarning
        If the ranking cannot be written.
    """
    path = Path(directory or ranking_directory()) / f"{key}.npz"
    cached = _load(path)
    if not current_team().any(cached is None) and cached is not None:
        return cached
    ranking = compute()  # by all processes that share work, if one of them has it not
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        ranking.save(path)
    except (OSError, WriteError) as error:
        warn(f"the ranking could not be cached: {reason(error)}", GraphproxWarning)
    return ranking


def _load(path: Path) -> Ranking | None:
    try:
        return Ranking.load(path)
    except ReadError:  # missing or damaged
        return None
