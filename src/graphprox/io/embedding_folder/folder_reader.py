"""Reader of embedding folders: a block of rows after the other, into one matrix."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from graphprox._utils.mapped import release_pages
from graphprox.errors import ReadError
from graphprox.io.embedding_folder.embedding_description import EmbeddingDescription, read_description, verify_parts
from graphprox.io.embedding_folder.part_tables import ID
from graphprox.io.storage.files import reason
from graphprox.io.tables.list_columns import VECTOR, stack_lists
from graphprox.io.tables.parquet import decode
from graphprox.io.tables.parquet_sizes import check_parquet_sizes

_ROWS_PER_BATCH = 1 << 15


def read_embedding_folder(folder: Path) -> tuple[NDArray[Any], pa.Array]:
    """Read the vectors and ids of all parts.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    vectors : ndarray of shape (num_nodes, n_components)
        A memory map of a file without a name, if memory does not hold them.
    ids : pyarrow.Array

    Raises
    ------
    ReadError
        If a part is missing, damaged or not of this embedding.
    """
    from graphprox.auto.row_store import RowStore, read_only

    about = read_description(folder)
    verify_parts(folder, about)
    shape, names, start = (about.num_nodes, about.n_components), [], 0
    vectors: NDArray[Any] = np.empty(shape) if about.dtype == "float64" else RowStore.of(*shape).empty(*shape)
    for part in about.parts:
        path, num_rows = folder / part.name, 0
        for batch in _read_batches(path):
            rows = _stack(path, batch, about)
            num_rows += len(rows)
            if num_rows > part.rows:
                break
            vectors[start + num_rows - len(rows) : start + num_rows] = rows
            names.append(decode(path, batch.column(ID)))
            release_pages(vectors)
        if num_rows != part.rows:
            raise ReadError(f"{path} is damaged: it must have {part.rows:,} rows")
        start += num_rows
    return read_only(vectors), pa.concat_arrays(names)


def _read_batches(path: Path) -> Iterator[pa.Table]:
    try:
        check_parquet_sizes(path, in_memory=False)
        with pa.parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(_ROWS_PER_BATCH):
                yield pa.Table.from_batches([batch])
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise ReadError(f"{path} is damaged: {reason(error)}") from None


def _stack(path: Path, batch: pa.Table, about: EmbeddingDescription) -> NDArray[Any]:
    components = [str(i) for i in range(about.n_components)]
    expected = [ID, VECTOR] if about.layout == "list" else [ID, *components]
    if batch.column_names != expected:
        raise ReadError(f"{path} is damaged: it must have the columns {', '.join(expected[:2])}")
    if about.layout == "list":
        rows = stack_lists(path, VECTOR, decode(path, batch.column(VECTOR)))
    else:
        rows = np.stack([batch.column(name).to_numpy() for name in components], axis=1)
    if rows.shape[1] != about.n_components or rows.dtype != about.dtype:
        raise ReadError(f"{path} is damaged: it must have vectors of {about.n_components:,} {about.dtype} numbers")
    return rows
