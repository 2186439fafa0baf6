"""Ids and vectors as columns of Parquet, which are written a block of rows at a time."""

from __future__ import annotations

from typing import IO, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from graphprox._utils.arrays import NodeIds
from graphprox._utils.mapped import release_pages
from graphprox.errors import ParameterError
from graphprox.io.storage.files import reason
from graphprox.io.tables.list_columns import VECTOR, list_array

ID = "id"
ROWS_PER_GROUP = 1 << 17  # are encoded at a time

Layout = Literal["list", "wide"]


def id_column(ids: NodeIds) -> pa.Array:
    """Return ids as a column of integers or strings.

    Parameters
    ----------
    ids : ndarray of shape (num_nodes,)

    Returns
    -------
    pyarrow.Array

    Raises
    ------
    ParameterError
        If an id is not valid text.
    """
    try:
        return pa.array(ids if ids.dtype.kind in "iu" else [str(each) for each in ids.tolist()])
    except UnicodeError as error:
        raise ParameterError(f"ids must be valid UTF-8: {reason(error)}") from None


def component_columns(vectors: NDArray[Any]) -> dict[str, pa.Array]:
    """Return a column for each component, by its number.

    Parameters
    ----------
    vectors : ndarray of shape (num_nodes, n_components)

    Returns
    -------
    dict of str to pyarrow.Array
    """
    return {str(i): pa.array(np.ascontiguousarray(vectors[:, i])) for i in range(vectors.shape[1])}


def make_table(vectors: NDArray[Any], ids: NodeIds, layout: Layout = "list") -> pa.Table:
    """Return ids and vectors as the columns of a Parquet file.

    Parameters
    ----------
    vectors : ndarray of shape (num_nodes, n_components)
    ids : ndarray of shape (num_nodes,)
    layout : {"list", "wide"}, default="list"
        One column of lists, or one for each component.

    Returns
    -------
    pyarrow.Table

    Examples
    --------
    >>> make_table(np.ones((3, 2), np.float32), np.arange(3)).column_names
    ['id', 'vector']
    """
    columns = component_columns(vectors) if layout == "wide" else {VECTOR: list_array(vectors)}
    return pa.table({ID: id_column(ids), **columns})


def write_row_groups(file: IO[bytes], vectors: NDArray[Any], ids: NodeIds, layout: Layout = "list") -> None:
    """Write a Parquet file, of which a row group is in memory at a time.

    Parameters
    ----------
    file : binary file
    vectors : ndarray of shape (num_nodes, n_components)
        What is read of a memory map does not stay in memory.
    ids : ndarray of shape (num_nodes,)
    layout : {"list", "wide"}, default="list"
    """
    schema = make_table(vectors[:1], ids[:1], layout).schema
    # Components hardly repeat: a dictionary of them only takes time.
    with pa.parquet.ParquetWriter(file, schema, use_dictionary=False) as writer:
        for start in range(0, len(vectors), ROWS_PER_GROUP):
            rows = slice(start, start + ROWS_PER_GROUP)
            writer.write_table(make_table(vectors[rows], ids[rows], layout))
            release_pages(vectors)
