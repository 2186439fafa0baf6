"""The graph of the nodes of an embedding, for commands that read an embedding: their options, and the classes."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from graphprox.cli.options import EMBEDDING_FILES, complete_dataset
from graphprox.datasets import load
from graphprox.errors import StructuralFeaturesWarning
from graphprox.graph.graph import UNKNOWN_LABEL, Graph

EmbeddingArgument = Annotated[
    Path,
    typer.Argument(metavar="EMB", help=f"An embedding: {EMBEDDING_FILES}.", show_default=False),
]
NodeGraphOption = Annotated[
    str | None,
    typer.Option(
        "--graph",
        metavar="GRAPH",
        help="The graph of the nodes, for their classes, and for their ids if EMB has none.",
        autocompletion=complete_dataset,
        show_default=False,
    ),
]


def load_node_graph(name: str, **options: Any) -> Graph:
    """Load a graph whose features are not used.

    Parameters
    ----------
    name : str
        What ``--graph`` gives.
    **options : object
        Options of :func:`graphprox.load`.

    Returns
    -------
    Graph
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StructuralFeaturesWarning)
        return load(name, **options).graph


def name_classes(ids: Iterable[Any], y: Iterable[int], names: Sequence[str] | None) -> dict[str, str]:
    """Return the class of each node whose class is known, by its id.

    Parameters
    ----------
    ids : iterable of int or str
    y : iterable of int
        Number of the class of each node, -1 where it is unknown.
    names : sequence of str or None
        Names of the classes, if they have names.

    Returns
    -------
    dict of str to str

    Examples
    --------
    >>> name_classes(["ann", "bob", "cy"], [1, -1, 0], ["blue", "red"]), name_classes([7], [1], None)
    ({'ann': 'red', 'cy': 'blue'}, {'7': '1'})
    """
    return {
        str(node): str(label) if names is None else names[label]
        for node, label in zip(ids, y, strict=True)
        if label != UNKNOWN_LABEL
    }
