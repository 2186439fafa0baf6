"""Colors of a map: a category or a number for each node, in colors that color-blind people can separate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphprox._utils.arrays import IntArray, NodeIds, to_array
from graphprox.errors import ParameterError

MAX_CATEGORIES = 12  # entries of a legend
MAX_SHAPES_NODES = 5_000  # of more nodes, points are too small to have a shape besides a color
NUM_COLORS = 9
OTHER, UNKNOWN = "other", "unknown"
NO_CATEGORY = -1


@dataclass(frozen=True, eq=False)
class Categories:
    """A category for each node.

    Attributes
    ----------
    names : tuple of str
        Entries of the legend.
    codes : ndarray of shape (num_nodes,)
        Position in ``names``; -1 for an unknown category.
    has_other : bool
        Whether the last name stands for all rarer categories.
    """

    names: tuple[str, ...]
    codes: IntArray
    has_other: bool


@dataclass(frozen=True, eq=False)
class Numbers:
    """A number for each node.

    Attributes
    ----------
    values : ndarray of shape (num_nodes,)
        NaN where unknown.
    """

    values: NDArray[np.float64]


def to_coloring(color: ArrayLike | Mapping[Any, Any], ids: NodeIds) -> Categories | Numbers:
    """Convert values of nodes to categories or numbers.

    Numbers are categories if they are integers of at most twelve different values. Of more than twelve categories, the
    eleven most frequent are kept, and the rest are "other"; with more than 5,000 nodes, it is ten and nine.

    Parameters
    ----------
    color : array-like of shape (num_nodes,) or mapping
        A value for each node in order, or for each id; a mapping may lack nodes. None, NaN and the empty string are
        unknown.
    ids : ndarray of shape (num_nodes,)
        Node ids.

    Returns
    -------
    Categories or Numbers

    Examples
    --------
    >>> to_coloring({"ann": "cat", "cy": "dog"}, np.array(["ann", "bob", "cy"], dtype=object)).codes
    array([ 0, -1,  1])
    >>> to_coloring([0.5, 1.5], np.arange(2)).values
    array([0.5, 1.5])
    """
    values = _align(color, ids)
    numbers = _to_numbers(values)
    if numbers is not None and not _are_codes(numbers):
        return Numbers(numbers)
    names = [None if _is_unknown(each) else _to_name(each) for each in values]
    limit = MAX_CATEGORIES if len(ids) <= MAX_SHAPES_NODES else NUM_COLORS + 1
    return _to_categories(names, numeric=numbers is not None, limit=limit)


def _align(color: ArrayLike | Mapping[Any, Any], ids: NodeIds) -> list[Any]:
    if isinstance(color, Mapping):
        aligned = [color.get(node) for node in ids.tolist()]
        if color and all(value is None for value in aligned):
            example = next(iter(color))
            raise ParameterError(
                f"color must have values for ids of the map, such as {ids.tolist()[0]!r}; got {example!r}"
            )
        return aligned
    return to_values(color, len(ids))


def to_values(color: ArrayLike, num_nodes: int) -> list[Any]:
    """Return the value of each node; an array of NumPy would turn numbers among strings into strings.

    Parameters
    ----------
    color : array-like of shape (num_nodes,)
    num_nodes : int

    Returns
    -------
    list

    Raises
    ------
    ParameterError
        If there is not one value for each node.
    """
    values = np.array(color, dtype=object) if isinstance(color, list | tuple) else to_array(color, "color")
    if values.shape != (num_nodes,):
        raise ParameterError(f"color must have a value for each of the {num_nodes} nodes; got shape {values.shape}")
    listed: list[Any] = values.tolist()
    return listed


def _is_unknown(value: Any) -> bool:
    return value is None or value == "" or value != value


def _to_numbers(values: list[Any]) -> NDArray[np.float64] | None:
    """Return values as numbers, None if some are not."""
    if any(isinstance(value, bool | np.bool_) for value in values):
        return None
    try:
        numbers = np.array([np.nan if _is_unknown(value) else float(value) for value in values])
    except (TypeError, ValueError):
        return None
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _are_codes(numbers: NDArray[np.float64]) -> bool:
    """Return whether numbers are integers of few different values, as classes are."""
    known = np.unique(numbers[~np.isnan(numbers)])
    return len(known) <= MAX_CATEGORIES and bool((known == np.round(known)).all())


def _to_name(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _to_categories(names: list[str | None], *, numeric: bool, limit: int) -> Categories:
    counts = Counter(name for name in names if name is not None)
    has_other = len(counts) > (limit if limit == MAX_CATEGORIES else NUM_COLORS)
    if has_other:
        ranked = sorted(counts, key=lambda name: (-counts[name], name))
        shown = [*ranked[: limit - 1], OTHER]
    else:
        shown = sorted(counts, key=float if numeric else None)
    position = {name: i for i, name in enumerate(shown[: len(shown) - has_other])}
    rest = len(shown) - 1 if has_other else NO_CATEGORY
    codes = [NO_CATEGORY if name is None else position.get(name, rest) for name in names]
    return Categories(tuple(shown), np.array(codes, np.int64), has_other)
