"""Conversion of node ids to node numbers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphprox._utils.arrays import IntArray, NodeIds


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
    if pa.types.is_integer(source.type):
        return _number_integers(source.to_numpy(zero_copy_only=False), target.to_numpy(zero_copy_only=False))
    return _number_strings(source, target)


def _number_integers(source: IntArray, target: IntArray) -> tuple[NDArray[np.int32], NodeIds | None]:
    if len(source) == 0:
        return np.empty((2, 0), np.int32), None
    low, high = min(source.min(), target.min()), max(source.max(), target.max())
    index = np.empty((2, len(source)), np.int32)  # node numbers are small even if ids are large
    if low >= 0 and high <= 8 * len(source):
        # A boolean table of the ids is small here, and much faster than sorting.
        occurs = np.zeros(high + 1, bool)
        occurs[source] = occurs[target] = True
        ids = np.flatnonzero(occurs)
        if len(ids) == high + 1:
            index[0], index[1] = source, target
            return index, None
        number = np.cumsum(occurs, dtype=np.int32) - 1
        index[0], index[1] = number[source], number[target]
    else:
        ids = np.unique(np.concatenate([np.unique(source), np.unique(target)]))
        index[0], index[1] = np.searchsorted(ids, source), np.searchsorted(ids, target)
    return index, ids


def _number_strings(source: pa.Array, target: pa.Array) -> tuple[NDArray[np.int32], NodeIds]:
    encoded = pa.chunked_array([source, target]).dictionary_encode().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):  # pyarrow keeps chunks with different dictionaries
        encoded = encoded.unify_dictionaries().combine_chunks()
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    codes = rank[encoded.indices.to_numpy(zero_copy_only=False)]
    ids = encoded.dictionary.take(pa.array(order)).to_numpy(zero_copy_only=False)
    return codes.reshape(2, -1), ids.astype(object)


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
