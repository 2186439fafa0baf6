"""From the ids that users write to the numbers that arrays use, and to their order."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphprox.arrays import IntArray, NodeIds


def numbered(source: pa.Array, target: pa.Array) -> tuple[NDArray[np.int32], NodeIds | None]:
    """Edges between ids as edges between numbers, (2, listed), and the ids in the order of their numbers.

    Nodes are numbered in the order of their ids. Ids that are 0..N-1 already stay, and None stands for them.
    """
    if pa.types.is_integer(source.type):
        return _numbered_integers(source.to_numpy(zero_copy_only=False), target.to_numpy(zero_copy_only=False))
    return _numbered_strings(source, target)


def _numbered_integers(source: IntArray, target: IntArray) -> tuple[NDArray[np.int32], NodeIds | None]:
    if len(source) == 0:
        return np.empty((2, 0), np.int32), None
    low, high = min(source.min(), target.min()), max(source.max(), target.max())
    index = np.empty((2, len(source)), np.int32)  # numbers of nodes are small, whatever their ids are
    if low >= 0 and high <= 8 * len(source):
        # A table of the ids that occur is small here, and much faster than sorting.
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


def _numbered_strings(source: pa.Array, target: pa.Array) -> tuple[NDArray[np.int32], NodeIds]:
    encoded = pa.chunked_array([source, target]).dictionary_encode().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):  # pyarrow keeps chunks apart where their dictionaries differ
        encoded = encoded.unify_dictionaries().combine_chunks()
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    codes = rank[encoded.indices.to_numpy(zero_copy_only=False)]
    ids = encoded.dictionary.take(pa.array(order)).to_numpy(zero_copy_only=False)
    return codes.reshape(2, -1), ids.astype(object)


def positions(wanted: pa.Array, known: pa.Array) -> IntArray:
    """Where each wanted id stands among the known ones, -1 where it does not."""
    if wanted.type != known.type:
        wanted, known = wanted.cast(pa.string()), known.cast(pa.string())
    found = pc.index_in(wanted, value_set=known)
    numbers: IntArray = pc.fill_null(found, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers


def first_repeated(ids: pa.Array) -> object | None:
    """An id that occurs more than once, or None."""
    counts = pc.value_counts(ids)
    at = pc.index(pc.greater(counts.field("counts"), 1), True).as_py()
    return None if at < 0 else counts.field("values")[at].as_py()


def as_node_ids(ids: pa.Array) -> NodeIds | None:
    """Ids for a `Graph`: int64 or strings, or None where they are 0..N-1 in order."""
    if pa.types.is_integer(ids.type):
        numbers = ids.to_numpy(zero_copy_only=False).astype(np.int64)
        return None if np.array_equal(numbers, np.arange(len(numbers))) else numbers
    strings: NodeIds = np.array(ids.to_pylist(), dtype=object)
    return strings
