"""Making methods by their name, and embedding a graph by one."""

from __future__ import annotations

from typing import Any

from graphprox._utils.defaults import AUTO, DEFAULT_METHOD
from graphprox.embedding import Embedding
from graphprox.errors import ParameterError
from graphprox.graph.validation import GraphLike
from graphprox.methods.base import GraphMethod
from graphprox.methods.embedder import GraphEmbedder
from graphprox.methods.registration import METHODS

GROUPS = (
    "floor",
    "walks and edges",
    "autoencoders",
    "contrast",
    "semi-supervised",
    "FT-GCL",
    "auto",
)  # as tables order them


def method(name: str, *, preset: str = AUTO, dataset: str | None = None, **parameters: Any) -> GraphMethod:
    """Make a method by its name on the command line.

    Parameters
    ----------
    name : str
        Name of a registered method, such as ``"ft-gcl"``, in any case; underscores count as hyphens.
    preset : str, default="auto"
        Settings for a data set. ``"auto"`` takes those of ``dataset``, if there are some; without ``dataset`` it is
        left to ``fit``, which takes those of the `Dataset` it is given.
    dataset : str, optional
        Name of the data set.
    **parameters
        Parameters of the method; they take precedence over the preset. Names with dots are fields of the recipe of
        the FT-GCL family.

    Returns
    -------
    GraphMethod

    Examples
    --------
    >>> method("dgi", n_components=64)
    DGI(n_components=64)
    >>> method("ft-gcl", dataset="Cora").epochs
    40
    """
    cls = METHODS.lookup(name)
    resolved = cls.from_preset(cls.select_preset(preset, dataset), **parameters)  # also checks the parameters
    return cls(**cls._to_parameters(parameters)) if preset == AUTO and dataset is None else resolved


def methods_by_group() -> list[type[GraphMethod]]:
    """Return all methods in the order of tables: floors first, other groups of their own last.

    Examples
    --------
    >>> [each.name for each in methods_by_group()][:4]
    ['diffused', 'raw', 'smoothed', 'untrained']
    """
    groups = list(dict.fromkeys([*GROUPS, *sorted(each.info.group for each in METHODS.values())]))
    return sorted(METHODS.values(), key=lambda each: (groups.index(each.info.group), each.name))


def embed(graph: GraphLike, method: str | GraphEmbedder = DEFAULT_METHOD, **parameters: Any) -> Embedding:
    """Embed a graph: a vector for every node, without labels.

    Parameters
    ----------
    graph : Graph, Dataset, Data, networkx.Graph, tuple, sparse or dense matrix
        Whatever :func:`graphprox.check_graph` accepts.
    method : str or GraphEmbedder, default="auto"
        Name of a method, or an estimator.
    **parameters
        Parameters of the method, if it is given by name; they take precedence over the preset of a `Dataset`.

    Returns
    -------
    Embedding
        Vectors and ids of the nodes.

    Examples
    --------
    >>> from graphprox import embed, synthetic
    >>> embed(synthetic(nodes=140), n_components=8).shape
    (140, 8)
    >>> embed(synthetic(nodes=140), "ft-gcl", epochs=2, n_components=16).shape
    (140, 16)
    """
    if isinstance(method, GraphEmbedder):
        if parameters:
            raise ParameterError(
                f"parameters must be given to the estimator; got {', '.join(parameters)} together with {method!r}"
            )
        return method.fit(graph).embedding_
    return make_embedder(method, **parameters).fit(graph).embedding_


def make_embedder(name: str, **options: Any) -> GraphEmbedder:
    """Make a method by its name, which must be one that embeds.

    Parameters
    ----------
    name : str
    **options
        Those of :func:`method`.

    Returns
    -------
    GraphEmbedder

    Examples
    --------
    >>> make_embedder("deepwalk", n_components=64)
    DeepWalk(n_components=64)
    """
    made = method(name, **options)
    if not isinstance(made, GraphEmbedder):
        raise ParameterError(
            f"method must be one that makes embeddings; {made.info.title} classifies nodes by labels: fit it with a "
            "split"
        )
    return made
