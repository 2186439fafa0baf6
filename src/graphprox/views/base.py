"""Views: the registry of proximities, their options, and `rank_view`.

A view links each node to the nodes that are most similar to it. It is defined by a descriptor, a function
``(graph, rng, **options)`` that returns a matrix with a row per node; similarity is the cosine between rows.
"""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, cast

import numpy as np
from pydantic import Field, model_validator

from graphprox._utils.arrays import Features
from graphprox._utils.options_model import NeighborCount, Options
from graphprox._utils.progress import Progress
from graphprox._utils.random import RandomState, check_seed
from graphprox._utils.registry import Registry
from graphprox._utils.suggestions import did_you_mean
from graphprox.errors import ParameterError
from graphprox.graph.graph import Graph
from graphprox.graph.validation import check_graph
from graphprox.views.cache import load_or_compute, ranking_key
from graphprox.views.ranking import Ranking
from graphprox.views.search import AUTO, rank

Matrix = Features  # (num_nodes, num_columns), dense or CSR
Descriptor = Callable[..., Matrix]  # of graph, rng and options

F = TypeVar("F", bound=Descriptor)

_K_RULE = "an integer between 1 and 1,000"


class ViewOptions(Options):
    """Options of a view; subclasses add those of its descriptor.

    Parameters
    ----------
    k_min, k_max : int, optional
        The view's own range of k, the number of neighbors per node. By default, that of the recipe.

    Examples
    --------
    >>> class ColorOptions(ViewOptions):
    ...     depth: int = 8
    >>> ColorOptions(k_max=5).descriptor_options()
    {'depth': 8}
    """

    prefix: ClassVar[str] = "views.*."

    k_min: NeighborCount | None = Field(default=None, description=_K_RULE)
    k_max: NeighborCount | None = Field(default=None, description=_K_RULE)

    @model_validator(mode="after")
    def _check_range(self) -> ViewOptions:
        if self.k_min is not None and self.k_max is not None and self.k_min > self.k_max:
            raise ParameterError(
                f"{self.prefix}k_min must be at most {self.prefix}k_max, which is {self.k_max}; got {self.k_min}"
            )
        return self

    def descriptor_options(self) -> dict[str, Any]:
        """Return the options of the descriptor: all but ``k_min`` and ``k_max``.

        Returns
        -------
        dict of str to object
        """
        return {name: getattr(self, name) for name in type(self).model_fields if name not in ("k_min", "k_max")}


@dataclass(frozen=True)
class View:
    """A registered view.

    Parameters
    ----------
    name : str
        Name in recipes and on the command line.
    descriptor : callable
        Function ``(graph, rng, **options)`` that returns a matrix with a row per node.
    options : type
        Subclass of `ViewOptions`.
    summary : str
        One line for listings.
    """

    name: str
    descriptor: Descriptor
    options: type[ViewOptions]
    summary: str


VIEWS: Registry[View] = Registry("view", package="graphprox.views", group="graphprox.views")


def register_view(name: str, *, options: type[ViewOptions] = ViewOptions) -> Callable[[F], F]:
    """Register the decorated descriptor as a view.

    Parameters
    ----------
    name : str
        Name of the view in recipes and on the command line.
    options : type, default=ViewOptions
        Subclass of `ViewOptions` whose fields, other than k_min and k_max, are keyword arguments of the descriptor.
        Unless its prefix is that of the view, a subclass with that prefix is used.

    Returns
    -------
    callable
        Decorator for a function ``(graph, rng, **options)``. The first line of its docstring is the view's summary.

    Examples
    --------
    >>> @register_view("two-hop")  # doctest: +SKIP
    ... def two_hop_descriptor(graph, rng):
    ...     '''Count the paths of length two between nodes.'''
    ...     return graph.to_scipy() @ graph.to_scipy()
    >>> VIEWS["two-hop"].summary  # doctest: +SKIP
    'Count the paths of length two between nodes.'
    """

    def register(descriptor: F) -> F:
        named = _derive_options(options, f"views.{name}.", descriptor)
        summary = (inspect.getdoc(descriptor) or "").partition("\n")[0]
        VIEWS.add(name, View(name, descriptor, named, summary), definition=descriptor)
        return descriptor

    return register


def _derive_options(options: type[ViewOptions], prefix: str, descriptor: Descriptor) -> type[ViewOptions]:
    """Return options whose messages have the prefix; a subclass is an attribute of the descriptor, for pickle."""
    if options.prefix == prefix:
        return options
    place = {"__module__": descriptor.__module__, "__qualname__": f"{descriptor.__qualname__}.Options"}
    derived = type(options.__name__, (options,), {**place, "__doc__": options.__doc__, "prefix": prefix})
    cast("Any", descriptor).Options = derived
    return derived


def rank_view(
    graph: Graph,
    view: str | Descriptor,
    *,
    k_max: int = 10,
    random_state: RandomState = 0,
    engine: str = AUTO,
    options: Mapping[str, Any] | None = None,
    cache: bool = True,
    progress: Progress | None = None,
) -> Ranking:
    """Rank the most similar nodes of every node by a view. Labels are ignored.

    Parameters
    ----------
    graph : Graph or Dataset
        The graph, or whatever else :func:`graphprox.check_graph` accepts.
    view : str or callable
        Name of a registered view, or a descriptor: a function ``(graph, rng, **options)`` that returns a matrix with a
        row per node.
    k_max : int, default=10
        Number of neighbors per node.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the descriptor, of ties and of approximate engines.
    engine : {"auto", "exact", "descent", "hnsw", "ivf", "lsh"}, default="auto"
        Neighbor search, as in `rank`.
    options : mapping, optional
        Keyword arguments of the descriptor.
    cache : bool, default=True
        Whether to cache rankings of built-in views on disk, for the same graph and options.
    progress : callable, optional
        Called as ``progress(stage, done, total)``.

    Returns
    -------
    Ranking

    Examples
    --------
    >>> from graphprox import synthetic
    >>> rank_view(synthetic(nodes=200), "feature", k_max=5).neighbors.shape
    (200, 5)
    """
    graph = check_graph(graph).without_labels()
    seed = check_seed(random_state)
    if isinstance(view, str):
        registered = VIEWS.lookup(view)
        name, descriptor = registered.name, registered.descriptor
        given = _complete_options(registered, options or {})
    else:
        name, descriptor = getattr(view, "__name__", type(view).__name__), view
        given = dict(options or {})

    def compute() -> Ranking:
        rng = np.random.default_rng([seed, zlib.crc32(name.encode())])  # views have independent random streams
        reported = {"progress": progress} if "progress" in inspect.signature(descriptor).parameters else {}
        matrix = descriptor(graph, rng, **given, **reported)
        return rank(matrix, k_max=k_max, random_state=seed, engine=engine, progress=progress)

    # The key of a ranking does not contain the code of its descriptor, which may change in another package.
    if not cache or not isinstance(view, str) or not str(descriptor.__module__).startswith("graphprox."):
        return compute()
    key = ranking_key(graph, view=name, k_max=k_max, random_state=seed, engine=engine, options=given)
    return load_or_compute(key, compute)


def _complete_options(view: View, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return valid options of a view's descriptor, with defaults; the descriptor may have parameters beyond them."""
    defaults = view.options().descriptor_options()
    parameters = [*inspect.signature(view.descriptor).parameters.values()][2:]
    known = {*defaults, *(each.name for each in parameters if each.kind is not each.VAR_KEYWORD)} - {"progress"}
    for name in options:
        if name not in known:
            raise ParameterError(
                f"an option of the view {view.name!r} must be known; got {name!r}: {did_you_mean(name, known)}"
                if known
                else f"the view {view.name!r} has no options; got {name!r}"
            )
    validated = view.options(**{name: value for name, value in options.items() if name in defaults})
    return {**options, **validated.descriptor_options()}
