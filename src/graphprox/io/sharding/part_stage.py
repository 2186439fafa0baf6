"""Parts: entries, labels and ids from sorted files to the files of each part."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from graphprox._utils.arrays import IntArray
from graphprox.graph.graph import UNKNOWN_LABEL
from graphprox.io.folder.graph_part import COLUMNS, ID_OFFSETS, ID_TEXT, IDS, INDPTR, LABELS, WEIGHTS
from graphprox.io.folder.part_files import id_buffers, open_array
from graphprox.io.sharding.entries import EntryFile, merge_entries
from graphprox.io.sharding.id_files import IdFile
from graphprox.io.sharding.row_pointers import RowPointers
from graphprox.io.sharding.workspace import Workspace


@dataclass(frozen=True)
class EntryCounts:
    """Number of entries of a part, and of those that are listed in this direction."""

    num_entries: int
    num_listed: int


def part_folder(work: Workspace, part: int) -> Path:
    """Create the folder in which a part is written, and remove what a killed process has left in it.

    Parameters
    ----------
    work : Workspace
    part : int

    Returns
    -------
    Path
    """
    folder = work.path("part", part)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def write_entries_of_part(
    work: Workspace,
    folder: Path,
    rows: range,
    forward: Sequence[EntryFile],
    backward: Sequence[EntryFile],
    *,
    num_nodes: int,
) -> EntryCounts:
    """Merge the entries of the rows of a part, and write them.

    Parameters
    ----------
    work : Workspace
    folder : Path
        Folder of the part.
    rows : range
    forward, backward : sequence of EntryFile
        Sorted entries as listed, and their reverse.
    num_nodes : int

    Returns
    -------
    EntryCounts
    """
    has_weights = forward[0].has_weights
    num_listed = 0
    with ExitStack() as files:
        indptr, columns = (files.enter_context(open_array(folder, name)) for name in (INDPTR, COLUMNS))
        weights = files.enter_context(open_array(folder, WEIGHTS)) if has_weights else None
        pointers = RowPointers(indptr, len(rows))
        low, high = rows.start * num_nodes, rows.stop * num_nodes
        for entries in merge_entries(forward, backward, low=low, high=high, memory=work.sizes.entries):
            source, target = np.divmod(entries.keys, num_nodes)
            pointers.append(source - rows.start)
            columns.append(target)
            if weights is not None:
                weights.append(entries.weights)
            num_listed += entries.num_listed
            work.report("writing edges", int(source[-1]), num_nodes)
        pointers.finish()
    return EntryCounts(pointers.num_entries, num_listed)


def write_labels_of_part(work: Workspace, folder: Path, rows: range, files: Sequence[EntryFile], y: IntArray) -> None:
    """Write the labels of the rows of a part.

    Parameters
    ----------
    work : Workspace
    folder : Path
    rows : range
    files : sequence of EntryFile
        Entries of nodes and the positions of their labels in ``y``.
    y : ndarray of shape (num_different_labels,)
        Class of each label.
    """
    size = len(y)
    with open_array(folder, LABELS) as writer:
        start = rows.start
        pairs = merge_entries(files, [], low=rows.start * size, high=rows.stop * size, memory=work.sizes.entries)
        for entries in pairs:
            node, label = np.divmod(entries.keys, size)
            for first, labels in _unknown(start, int(node[-1]) + 1, work.sizes.rows):
                inside = (node >= first) & (node < first + len(labels))
                labels[node[inside] - first] = y[label[inside]]
                writer.append(labels)
            start = int(node[-1]) + 1
        for _, labels in _unknown(start, rows.stop, work.sizes.rows):
            writer.append(labels)


def _unknown(start: int, stop: int, size: int) -> Iterator[tuple[int, IntArray]]:
    """Yield blocks of unknown labels, and where each begins."""
    for first in range(start, stop, size):
        yield first, np.full(min(size, stop - first), UNKNOWN_LABEL, np.int64)


def write_ids_of_part(folder: Path, rows: range, sources: Sequence[IdFile], *, size: int, is_text: bool) -> None:
    """Write the ids of the rows of a part.

    Parameters
    ----------
    folder : Path
    rows : range
    sources : sequence of IdFile
        Ids of all nodes, one file after the other.
    size : int
        Number of ids in memory.
    is_text : bool
        Whether they are written as strings; some sources may have integers nevertheless.
    """
    with ExitStack() as files:
        if not is_text:
            ids = files.enter_context(open_array(folder, IDS))
            for block in _slice(sources, rows, size):
                ids.append(block.to_numpy())
            return
        offsets, text = (files.enter_context(open_array(folder, name)) for name in (ID_OFFSETS, ID_TEXT))
        offsets.append([0])
        for block in _slice(sources, rows, size):
            ends, characters = id_buffers(block.cast(pa.large_string()))
            offsets.append(ends[1:] + text.num_rows)
            text.append(characters)


def _slice(sources: Sequence[IdFile], rows: range, size: int) -> Iterator[pa.Array]:
    """Yield the ids of some rows."""
    first = 0
    for source in sources:
        start, stop = max(rows.start - first, 0), min(rows.stop - first, source.size)
        for begin in range(start, stop, size):
            yield source.read(begin, min(begin + size, stop))
        first += source.size
