"""From a graph folder to a graph in memory, and to the checksum that the graph would have."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphprox._utils.arrays import Features, IntArray
from graphprox._utils.mapped import release_pages
from graphprox._utils.team import current_team
from graphprox.graph.checksum import add_blocks, add_nothing
from graphprox.graph.graph import Graph
from graphprox.graph.structural import structural_features
from graphprox.io.folder.description import Description
from graphprox.io.folder.graph_part import GraphPart
from graphprox.io.storage.memory_maps import make_temporary_map
from graphprox.preprocessing.encoded_table import EncodedTable

if TYPE_CHECKING:
    from graphprox.io.folder.graph_folder import GraphFolder

_BLOCK = 2**20  # entries or values


def to_graph(folder: GraphFolder) -> Graph:
    """Return the graph in a graph folder; see `GraphFolder.to_graph`.

    Parameters
    ----------
    folder : GraphFolder

    Returns
    -------
    Graph
    """
    about, parts = folder.about, folder.parts
    index = _join_entries(about, parts)
    if about.features is None:
        x: Features = structural_features(index, num_nodes=about.num_nodes, directed=about.directed)
        names = table = None
    else:
        x, names = _join_features(parts), about.features.names
        encoder = about.features.encoder
        table = None if encoder is None else EncodedTable(x, names, encoder)
    return Graph._from_valid(
        x=x,
        edge_index=index,
        edge_weight=_join(parts, lambda part: part.weights) if about.has_weights else None,
        y=_join(parts, lambda part: part.labels) if about.has_labels else None,
        node_ids=None if about.ids == "rows" else _join(parts, lambda part: part.ids),
        class_names=about.class_names,
        directed=about.directed,
        duplicates=about.duplicates,
        feature_names=names,
        table=table,
    )


def _join_entries(about: Description, parts: tuple[GraphPart, ...]) -> IntArray:
    index = _allocate((2, about.num_entries), np.dtype(np.int64))
    start = 0
    for part in parts:
        stop = start + part.num_entries
        for first, sources in _sources(part):
            index[0, start + first : start + first + len(sources)] = sources
            release_pages(index, part.indptr)
        for first in range(0, part.num_entries, _BLOCK):
            block = part.columns[first : first + _BLOCK]
            index[1, start + first : start + first + len(block)] = block
            release_pages(index, part.columns)
        start = stop
    index.flags.writeable = False
    return index


def _sources(part: GraphPart) -> Iterator[tuple[int, IntArray]]:
    """Yield the row of each entry of a part, in blocks, and where each block begins."""
    for start in range(0, part.num_rows, _BLOCK):
        indptr = part.indptr[start : start + _BLOCK + 1]
        rows = np.arange(part.rows.start + start, part.rows.start + start + len(indptr) - 1)
        yield int(indptr[0]), np.repeat(rows, np.diff(indptr))


def _join(parts: tuple[GraphPart, ...], get: Callable[[GraphPart], Any]) -> NDArray[Any]:
    """Return an array of all parts, which is not copied if there is one part."""
    arrays = [get(part) for part in parts]
    joined: NDArray[Any] = arrays[0] if len(arrays) == 1 else _concatenate(arrays)
    joined.flags.writeable = False
    return joined


def _concatenate(arrays: list[NDArray[Any]]) -> NDArray[Any]:
    if arrays[0].dtype == object:
        return np.concatenate(arrays)
    joined = _allocate((sum(map(len, arrays)), *arrays[0].shape[1:]), arrays[0].dtype)
    start = 0
    for array in arrays:
        for block in _cut(array):
            joined[start : start + len(block)] = block
            start += len(block)
            release_pages(joined, array)
    return joined


def _allocate(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an array to be filled: in memory, or in a file, so that each of several processes need not hold it."""
    is_shared = current_team().size > 1 and 0 not in shape
    return make_temporary_map(shape, dtype) if is_shared else np.empty(shape, dtype)


def _join_features(parts: tuple[GraphPart, ...]) -> Features:
    x = parts[0].features
    if not isinstance(x, sp.csr_array):
        return _join(parts, lambda part: part.features)
    if len(parts) == 1:
        return x
    rows: list[Any] = [part.features for part in parts]
    joined = sp.csr_array(sp.vstack(rows, format="csr"))
    for array in (joined.data, joined.indices, joined.indptr):
        array.flags.writeable = False
    return joined


def folder_checksum(about: Description, parts: tuple[GraphPart, ...]) -> str:
    """Compute what `graph_checksum` returns of the graph, reading a block at a time.

    Parameters
    ----------
    about : Description
        Of which everything but the checksum is used.
    parts : tuple of GraphPart

    Returns
    -------
    str
        Of a graph without features, they are left out: those that are computed from edges count as none.
    """
    digest = hashlib.sha256()
    num_features = 0 if about.features is None else about.features.num_features
    shape = np.array([about.num_nodes, num_features, about.directed])
    add_blocks(digest, shape.shape, [shape], dtype=shape.dtype)
    _add_features(digest, about, parts)
    sources = (each for part in parts for _, each in _sources(part))
    ends = chain(sources, (each for part in parts for each in _cut(part.columns)))
    add_blocks(digest, (2, about.num_entries), ends, dtype=np.dtype(np.int64))
    if about.has_weights:
        weights = (each for part in parts for each in _cut(part.weights))
        add_blocks(digest, (about.num_entries,), weights, dtype=np.dtype(np.float32))
    else:
        add_nothing(digest)
    return digest.hexdigest()


def _add_features(digest: Any, about: Description, parts: tuple[GraphPart, ...]) -> None:
    if about.features is None:
        add_nothing(digest)
    elif not about.features.is_sparse:
        rows = (each for part in parts for each in _cut(part.features))
        add_blocks(digest, (about.num_nodes, about.features.num_features), rows, dtype=np.dtype(np.float32))
    else:
        x: list[Any] = [part.features for part in parts]
        num_values = sum(part.record.num_values for part in parts)
        begins = np.cumsum([0, *(part.record.num_values for part in parts)])
        indptr = [np.zeros(1, np.int64), *(each.indptr[1:] + begin for each, begin in zip(x, begins, strict=False))]
        for size, arrays, dtype in (
            (num_values, [each.data for each in x], np.float32),
            (num_values, [each.indices for each in x], np.int64),
            (about.num_nodes + 1, indptr, np.int64),
        ):
            blocks = (block for each in arrays for block in _cut(each))
            add_blocks(digest, (size,), blocks, dtype=np.dtype(dtype))


def _cut(array: Any) -> Iterator[NDArray[Any]]:
    """Yield blocks of rows of an array."""
    size = max(1, _BLOCK // max(1, int(np.prod(array.shape[1:]))))
    return (array[start : start + size] for start in range(0, len(array), size))
