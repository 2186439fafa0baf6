"""Colors of a map: a category or a number for each node, in colors that color-blind people can separate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from graphprox._utils.arrays import IntArray, NodeIds, to_array
from graphprox.errors import ParameterError
from graphprox.preprocessing.column_values import read_values
from graphprox.preprocessing.columns.date import STORED, to_days

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
    are_dates : bool
        Whether they are days since 1970.
    """

    values: NDArray[np.float64]
    are_dates: bool = False


def to_coloring(color: ArrayLike | Mapping[Any, Any], ids: NodeIds, name: str = "color") -> Categories | Numbers:
    """Convert values of nodes to categories or numbers, by the rules for columns of features.

    Numbers are categories if they are integers of at most twelve different values. Of more than twelve categories, the
    eleven most frequent are kept, and the rest are "other"; with more than 5,000 nodes, it is ten and nine.

    Parameters
    ----------
    color : array-like of shape (num_nodes,) or mapping
        A value for each node in order, or for each id; a mapping may lack nodes. None, NaN, empty strings and words
        such as N/A are unknown.
    ids : ndarray of shape (num_nodes,)
        Node ids.
    name : str, default="color"
        What the values are called in messages.

    Returns
    -------
    Categories or Numbers

    Raises
    ------
    GraphError
        If a value is no number or date while the others are.

    Examples
    --------
    >>> to_coloring({"ann": "cat", "cy": "dog"}, np.array(["ann", "bob", "cy"], dtype=object)).codes
    array([ 0, -1,  1])
    >>> to_coloring(["0.5", "N/A"], np.arange(2)).values
    array([0.5, nan])
    """
    values = read_values(name, _align(color, ids))
    if pa.types.is_timestamp(values.type):
        return Numbers(to_days(name, values, STORED), are_dates=True)
    limit = MAX_CATEGORIES if len(ids) <= MAX_SHAPES_NODES else NUM_COLORS + 1
    if pa.types.is_dictionary(values.type):
        return _to_categories(values.to_pylist(), numeric=False, limit=limit)
    numbers = values.to_numpy(zero_copy_only=False)
    numbers = np.where(np.isfinite(numbers), numbers, np.nan)
    if not _are_codes(numbers):
        return Numbers(numbers)
    names = [None if np.isnan(each) else str(int(each)) for each in numbers.tolist()]
    return _to_categories(names, numeric=True, limit=limit)


def _align(color: ArrayLike | Mapping[Any, Any], ids: NodeIds) -> pa.Array:
    if not isinstance(color, Mapping):
        return to_column(color, len(ids))
    aligned = [color.get(node) for node in ids.tolist()]
    if color and all(value is None for value in aligned):
        example = next(iter(color))
        raise ParameterError(f"color must have values for ids of the map, such as {ids.tolist()[0]!r}; got {example!r}")
    return to_column(aligned, len(ids))


def to_column(color: Any, num_nodes: int) -> pa.Array:
    """Return the value of each node as a column; an array of NumPy would turn numbers among strings into strings.

    Parameters
    ----------
    color : array-like of shape (num_nodes,)
    num_nodes : int

    Returns
    -------
    pyarrow.Array

    Raises
    ------
    ParameterError
        If there is not one value for each node.
    """
    if not (isinstance(color, pa.Array) or getattr(color, "dtype", None) == "category"):  # of pandas
        color = np.array(color, dtype=object) if isinstance(color, list | tuple) else to_array(color, "color")
    if np.shape(color) != (num_nodes,):
        raise ParameterError(f"color must have a value for each of the {num_nodes} nodes; got shape {np.shape(color)}")
    try:
        return pa.array(color, from_pandas=True)
    except (pa.ArrowException, TypeError, OverflowError):  # values of several types, or of one that arrow has not
        return pa.array([None if each is None else str(each) for each in color.tolist()])


def _are_codes(numbers: NDArray[np.float64]) -> bool:
    """Return whether numbers are integers of few different values, as classes are."""
    known = np.unique(numbers[~np.isnan(numbers)])
    return len(known) <= MAX_CATEGORIES and bool((known == np.round(known)).all())


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
