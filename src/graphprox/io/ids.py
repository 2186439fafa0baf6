"""Conversion of node ids to node numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphprox._utils.arrays import IntArray, NodeIds

_MIN, _MAX = np.iinfo(np.int64).min, np.iinfo(np.int64).max


def number_nodes(source: pa.Array, target: pa.Array) -> tuple[NDArray[np.int32], NodeIds | None]:
    """Assign numbers to the nodes of an edge list, in the order of their ids.

    Parameters
    ----------
    source, target : pyarrow.Array of shape (num_edges,)
        Ids of the ends of each edge, all integers or all strings.

    Returns
    -------
    edge_index : ndarray of shape (2, num_edges)
        Node numbers.
    ids : ndarray of shape (num_nodes,) or None
        Sorted ids; None if they are 0 to ``num_nodes - 1``.
    """
    numbers, ids = number_ids([source, target])
    if pa.types.is_integer(source.type):
        known: NodeIds = ids.to_numpy(zero_copy_only=False)
        is_range = len(known) == 0 or (known[0] == 0 and known[-1] == len(known) - 1)
        return numbers.reshape(2, -1), None if is_range else known
    return numbers.reshape(2, -1), ids.to_numpy(zero_copy_only=False).astype(object)


def number_ids(columns: Sequence[pa.Array]) -> tuple[NDArray[np.int32], pa.Array]:
    """Number ids in their order.

    Parameters
    ----------
    columns : sequence of pyarrow.Array
        Ids, all integers or all strings of one type.

    Returns
    -------
    numbers : ndarray
        Number of each id, the columns one after the other.
    ids : pyarrow.Array
        Every id once, sorted: integers by their value, strings by their bytes in UTF-8.
    """
    if pa.types.is_integer(columns[0].type):
        numbers, ids = _number_integers([column.to_numpy(zero_copy_only=False) for column in columns])
        return numbers, pa.array(ids)
    return _number_strings(columns)


def _number_integers(columns: Sequence[IntArray]) -> tuple[NDArray[np.int32], IntArray]:
    size = sum(map(len, columns))
    numbers = np.empty(size, np.int32)  # node numbers are small even if ids are large
    if size == 0:
        return numbers, np.empty(0, np.int64)
    low, high = min(each.min(initial=_MAX) for each in columns), max(each.max(initial=_MIN) for each in columns)
    parts = np.split(numbers, np.cumsum([len(each) for each in columns])[:-1])
    if low >= 0 and high <= 4 * size:
        # A boolean table of the ids is small here, and much faster than sorting.
        occurs = np.zeros(high + 1, bool)
        for each in columns:
            occurs[each] = True
        ids = np.flatnonzero(occurs)
        if len(ids) == high + 1:
            for part, each in zip(parts, columns, strict=True):
                part[:] = each
            return numbers, ids
        number = np.cumsum(occurs, dtype=np.int32) - 1
        for part, each in zip(parts, columns, strict=True):
            part[:] = number[each]
    else:
        ids = np.unique(np.concatenate([np.unique(each) for each in columns]))
        for part, each in zip(parts, columns, strict=True):
            part[:] = np.searchsorted(ids, each)
    return numbers, ids


def _number_strings(columns: Sequence[pa.Array]) -> tuple[NDArray[np.int32], pa.Array]:
    encoded = pa.chunked_array(columns).dictionary_encode().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):  # pyarrow keeps chunks with different dictionaries
        encoded = encoded.unify_dictionaries().combine_chunks()
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return rank[encoded.indices.to_numpy(zero_copy_only=False)], encoded.dictionary.take(pa.array(order))


def positions(wanted: pa.Array, known: pa.Array) -> IntArray:
    """Find ids in an array of ids.

    Parameters
    ----------
    wanted : pyarrow.Array of shape (n_wanted,)
        Ids to find.
    known : pyarrow.Array of shape (n_known,)
        Ids to search.

    Returns
    -------
    ndarray of shape (n_wanted,)
        Position of each id in ``known``, -1 if it is missing.
    """
    if wanted.type != known.type:
        wanted, known = wanted.cast(pa.string()), known.cast(pa.string())
    found = pc.index_in(wanted, value_set=known)
    numbers: IntArray = pc.fill_null(found, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers


def find_duplicate(ids: pa.Array) -> object | None:
    """Find an id that occurs more than once.

    Parameters
    ----------
    ids : pyarrow.Array
        The ids.

    Returns
    -------
    int, str or None
    """
    counts = pc.value_counts(ids)
    at = pc.index(pc.greater(counts.field("counts"), 1), True).as_py()
    return None if at < 0 else counts.field("values")[at].as_py()


def to_node_ids(ids: pa.Array) -> NodeIds | None:
    """Convert ids to those of a `Graph`.

    Parameters
    ----------
    ids : pyarrow.Array of shape (num_nodes,)
        The ids.

    Returns
    -------
    ndarray of shape (num_nodes,) or None
        int64 or str; None if they are 0 to ``num_nodes - 1`` in order.
    """
    if pa.types.is_integer(ids.type):
        numbers = ids.to_numpy(zero_copy_only=False).astype(np.int64)
        return None if np.array_equal(numbers, np.arange(len(numbers))) else numbers
    strings: NodeIds = np.array(ids.to_pylist(), dtype=object)
    return strings
