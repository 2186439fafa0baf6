"""Writer of the files of a part, and of a graph that fits into memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

from graphprox._utils.arrays import IntArray, NodeIds
from graphprox.errors import ParameterError
from graphprox.graph.graph import Graph
from graphprox.io.folder.description import Ids, PartRecord, checksum_of_files, describe_file
from graphprox.io.folder.graph_part import (
    COLUMNS,
    DTYPES,
    FEATURE_COLUMNS,
    FEATURE_INDPTR,
    FEATURE_VALUES,
    FEATURES,
    ID_OFFSETS,
    ID_TEXT,
    IDS,
    INDPTR,
    LABELS,
    WEIGHTS,
)
from graphprox.io.storage.files import reason
from graphprox.io.storage.memory_maps import ArrayWriter


def split_rows(num_nodes: int, num_parts: int) -> list[range]:
    """Return the rows of each part: consecutive, and as many as possible of the same number.

    Parameters
    ----------
    num_nodes, num_parts : int

    Returns
    -------
    list of range

    Examples
    --------
    >>> split_rows(7, 3)
    [range(0, 2), range(2, 4), range(4, 7)]
    """
    bounds = [part * num_nodes // num_parts for part in range(num_parts + 1)]
    return [range(bounds[part], bounds[part + 1]) for part in range(num_parts)]


@contextmanager
def open_array(folder: Path, name: str, *row_shape: int) -> Iterator[ArrayWriter]:
    """Open a file of a part for writing.

    Parameters
    ----------
    folder : Path
        Folder of the part.
    name : str
        Name of the file, which has a type.
    *row_shape : int
        Shape of a row.

    Yields
    ------
    ArrayWriter
    """
    with ArrayWriter(folder / name, DTYPES[name], row_shape) as writer:
        yield writer


def describe_part(folder: Path, index: int, rows: range, *, num_entries: int, num_values: int = 0) -> PartRecord:
    """Return the record of a part whose files are complete.

    Parameters
    ----------
    folder : Path
        Folder of the part, with its files and nothing else.
    index : int
        Number of the part.
    rows : range
    num_entries, num_values : int

    Returns
    -------
    PartRecord
        Its folder is the name that the part must get.
    """
    files = {path.name: describe_file(path) for path in sorted(folder.iterdir())}
    return PartRecord(
        folder=f"part-{index:05d}-{checksum_of_files(files)[:8]}",
        start=rows.start,
        stop=rows.stop,
        num_entries=num_entries,
        num_values=num_values,
        files=files,
    )


def kind_of_ids(ids: NodeIds | None) -> Ids:
    """Return how ids are stored.

    Parameters
    ----------
    ids : ndarray of shape (num_nodes,) or None

    Returns
    -------
    {"rows", "integers", "strings"}
    """
    if ids is None:
        return "rows"
    return "strings" if ids.dtype == object else "integers"


def write_graph_rows(folder: Path, graph: Graph, rows: range) -> tuple[int, int]:
    """Write rows of a graph as the files of a part.

    Parameters
    ----------
    folder : Path
        An empty folder.
    graph : Graph
    rows : range

    Returns
    -------
    num_entries, num_values : int
        Number of entries, and of nonzero features if these are sparse.
    """
    source, target = graph.edge_index
    bounds = np.searchsorted(source, np.arange(rows.start, rows.stop + 1))
    entries = slice(bounds[0], bounds[-1])
    _save(folder, INDPTR, bounds - bounds[0])
    _save(folder, COLUMNS, target[entries])
    if graph.edge_weight is not None:
        _save(folder, WEIGHTS, graph.edge_weight[entries])
    x = graph.x[rows.start : rows.stop]
    num_values = 0
    if isinstance(x, sp.csr_array):
        num_values = int(x.nnz)
        for name, part in ((FEATURE_VALUES, x.data), (FEATURE_COLUMNS, x.indices), (FEATURE_INDPTR, x.indptr)):
            _save(folder, name, part)
    else:
        _save(folder, FEATURES, x)
    if graph.y is not None:
        _save(folder, LABELS, graph.y[rows.start : rows.stop])
    if graph.node_ids is not None:
        write_ids(folder, graph.node_ids[rows.start : rows.stop])
    return int(bounds[-1] - bounds[0]), num_values


def write_ids(folder: Path, ids: NodeIds) -> None:
    """Write the ids of a part.

    Parameters
    ----------
    folder : Path
    ids : ndarray of shape (num_rows,)
        int64 or str.
    """
    if ids.dtype != object:
        _save(folder, IDS, ids)
        return
    try:
        strings = pa.array(ids, pa.large_string())
    except UnicodeError as error:
        raise ParameterError(f"ids must be valid UTF-8: {reason(error)}") from None
    offsets, text = id_buffers(strings)
    _save(folder, ID_OFFSETS, offsets)
    _save(folder, ID_TEXT, text)


def id_buffers(strings: pa.Array) -> tuple[IntArray, NDArray[np.uint8]]:
    """Return where each string begins and ends, from 0, and the text of all.

    Parameters
    ----------
    strings : pyarrow.Array of large_string
        Without missing ones.

    Returns
    -------
    offsets : ndarray of shape (n_strings + 1,)
    text : ndarray of uint8
    """
    _, offset_buffer, text_buffer = strings.buffers()
    first = strings.offset
    offsets = np.frombuffer(offset_buffer, np.int64)[first : first + len(strings) + 1]
    text = np.frombuffer(text_buffer or b"", np.uint8)[offsets[0] : offsets[-1]]
    return offsets - offsets[0], text


def _save(folder: Path, name: str, array: NDArray[Any]) -> None:
    with open_array(folder, name, *array.shape[1:]) as writer:
        writer.append(array)
