"""Views: for each node, the nodes that are most like it by features, by local structure, by their neighbours' features.

A proximity is a descriptor, a callable (graph, rng) -> matrix with a row per node: what has a small angle is near.
"""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from graphprox.errors import ParameterError
from graphprox.graph import Graph
from graphprox.proximity.cache import cached, ranking_key
from graphprox.proximity.descriptors import Descriptor, Matrix, Progress, features, neighbourhood
from graphprox.proximity.ranking import Ranking
from graphprox.proximity.search import rank
from graphprox.proximity.topology import topology

VIEWS: dict[str, Descriptor] = {"feature": features, "topology": topology, "neighbourhood": neighbourhood}


def rank_view(
    graph: Graph,
    view: str | Descriptor,
    *,
    k_max: int = 10,
    seed: int = 0,
    engine: str = "auto",
    options: Mapping[str, Any] | None = None,
    cache: bool = True,
    progress: Progress | None = None,
) -> Ranking:
    """Rank the ``k_max`` nearest nodes of every node by a proximity: one of `VIEWS`, or any descriptor.

    ``options`` go to the descriptor. Labels play no part. Rankings of named views are kept on disk by the content of
    the graph and the options, and found there the next time; ``cache=False`` does without.

    >>> from graphprox import synthetic
    >>> rank_view(synthetic(nodes=200), "feature", k_max=5).neighbors.shape
    (200, 5)
    """
    graph = graph.without_labels()
    given = dict(options or {})
    name = view if isinstance(view, str) else getattr(view, "__name__", type(view).__name__)
    descriptor: Callable[..., Matrix] = _named(view) if isinstance(view, str) else view

    def make() -> Ranking:
        rng = np.random.default_rng([seed, zlib.crc32(name.encode())])  # a stream of its own for each view
        shown = {"progress": progress} if "progress" in inspect.signature(descriptor).parameters else {}
        matrix = descriptor(graph, rng, **given, **shown)
        return rank(matrix, k_max=k_max, seed=seed, engine=engine, progress=progress)

    if not cache or not isinstance(view, str):
        return make()
    return cached(ranking_key(graph, view=view, k_max=k_max, seed=seed, engine=engine, options=given), make)


def _named(view: str) -> Descriptor:
    if view not in VIEWS:
        raise ParameterError(f"a view must be one of {', '.join(VIEWS)}, or a descriptor; got {view!r}")
    return VIEWS[view]
