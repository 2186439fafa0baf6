"""Columns of lists, in which vector stores and language models keep a vector per row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphprox.errors import ReadError

VECTOR = "vector"  # name of the column that graphprox writes
_VECTOR_NAMES = (VECTOR, "vectors", "embedding", "embeddings")


def is_list(kind: pa.DataType) -> bool:
    """Check whether a type is that of lists: of variable, large or fixed size.

    Parameters
    ----------
    kind : pyarrow.DataType

    Returns
    -------
    bool

    Examples
    --------
    >>> is_list(pa.list_(pa.float32(), 2)), is_list(pa.string())
    (True, False)
    """
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def find_vector_column(path: Path, schema: pa.Schema) -> str | None:
    """Find the column of lists that contains the vectors.

    Parameters
    ----------
    path : Path
        The file, for the message.
    schema : pyarrow.Schema
        Its columns.

    Returns
    -------
    str or None
        The only column of lists, or the one named ``vector`` or ``embedding``; None if there are no lists.

    Raises
    ------
    ReadError
        If several columns have lists, and the name of none or of several is a common one.

    Examples
    --------
    >>> lists = pa.list_(pa.float32())
    >>> find_vector_column(Path("v.parquet"), pa.schema([("tags", lists), ("vector", lists)]))
    'vector'
    """
    lists = [field.name for field in schema if is_list(field.type)]
    named = [name for name in lists if name.lower() in _VECTOR_NAMES]
    chosen = lists if len(lists) < 2 else named
    if len(chosen) > 1 or (lists and not chosen):
        raise ReadError(f"one column of lists must be named {VECTOR!r}; {path} has the lists {', '.join(lists)}")
    return chosen[0] if chosen else None


def stack_lists(path: Path | str, name: str, column: pa.Array, *, first_row: int = 0) -> NDArray[Any]:
    """Stack lists of equal length to a matrix, without a copy where possible.

    Parameters
    ----------
    path : Path
        The file, for messages.
    name : str
        Name of the column.
    column : pyarrow.Array
        Lists of numbers.
    first_row : int, default=0
        Row of the file, from 0, that is the first of the column, for messages.

    Returns
    -------
    ndarray of shape (n_rows, length)
        float64 if the lists are, float32 otherwise.

    Raises
    ------
    ReadError
        If a list is missing or has a missing value, lists differ in length, or the values are not numbers.

    Examples
    --------
    >>> stack_lists(Path("v.parquet"), "vector", pa.array([[1, 2], [3, 4]]))
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    if column.null_count:
        row = first_row + pc.index(pc.is_null(column), True).as_py()
        raise ReadError(
            f"every row must have a vector; {name!r} is null in row {row} (from 0) of {path}: remove the row"
        )
    lengths = pc.list_value_length(column)
    if len(lengths) and pc.min(lengths).as_py() != (longest := pc.max(lengths).as_py()):
        row = pc.index(pc.not_equal(lengths, lengths[0]), True).as_py()
        raise ReadError(
            f"all vectors must have the same length; {name!r} has {lengths[0]} numbers in row {first_row} of {path}, "
            f"and {lengths[row]} in row {first_row + row} (from 0)"
        )
    size = longest if len(lengths) else 0
    if not size:
        raise ReadError(f"a vector must have at least one number; the lists in {name!r} of {path} are empty")
    values = column.flatten()
    if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
        raise ReadError(f"vectors must be numbers; {name!r} of {path} contains lists of {values.type}")
    if values.null_count:
        row = first_row + pc.index(pc.is_null(values), True).as_py() // size
        raise ReadError(f"vectors must have no missing numbers; {name!r} has one in row {row} (from 0) of {path}")
    wanted = pa.float64() if pa.types.is_float64(values.type) else pa.float32()
    matrix: NDArray[Any] = np.asarray(values.cast(wanted, safe=False)).reshape(-1, size)
    return matrix


def list_array(vectors: NDArray[Any]) -> pa.Array:
    """Return the rows of a matrix as an array of fixed-size lists.

    Parameters
    ----------
    vectors : ndarray of shape (num_nodes, n_components)

    Returns
    -------
    pyarrow.FixedSizeListArray

    Examples
    --------
    >>> list_array(np.ones((3, 2), np.float32)).type
    FixedSizeListType(fixed_size_list<item: float>[2])
    """
    return pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(vectors).ravel()), vectors.shape[1])
