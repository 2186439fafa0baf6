"""Labels: from a table to sorted files of nodes and their labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from graphprox._utils.arrays import IntArray
from graphprox.errors import ReadError
from graphprox.io.attributes import NodeLabels, encode_labels
from graphprox.io.ids import number_ids
from graphprox.io.sharding.entries import EntryFile, write_entries
from graphprox.io.sharding.id_files import IdFile, IdWriter, read_raw, write_raw
from graphprox.io.sharding.id_merge import merge_ids
from graphprox.io.sharding.numbering import LABEL_NUMBERS, describe_repeated_labels
from graphprox.io.sharding.table_stream import TableStream
from graphprox.io.sharding.workspace import Workspace
from graphprox.io.tables.layout import INTEGER

LABELS, PAIRS = "labels", "label pairs"  # steps of the journal
IDS, ROWS, CODES, NAMES = "label-ids", "label-rows", "label-codes", "label-names"
PAIR_FILES = "label-pairs"
MAX_CLASSES = 1_000_000

Block = tuple[pa.Array, pa.Array]  # ids and labels


class LabelSource(Protocol):
    """A table of labels."""

    @property
    def name(self) -> str:
        """The file."""

    @property
    def files(self) -> list[Path]:
        """The files that are read."""

    def blocks(self, num_rows: int, *, skip: int) -> Iterator[Block]:
        """Yield ids and labels, as strings."""


@dataclass(frozen=True)
class LabelTable:
    """Labels in a table that is read in blocks.

    Parameters
    ----------
    stream : TableStream
        An id, unless rows have none, and a label.
    has_ids : bool
    """

    stream: TableStream
    has_ids: bool

    @property
    def name(self) -> str:
        """The file."""
        return str(self.stream.path)

    @property
    def files(self) -> list[Path]:
        """The files that are read."""
        return self.stream.files

    def blocks(self, num_rows: int, *, skip: int) -> Iterator[Block]:
        """Yield ids and labels, as strings."""
        for table in self.stream.blocks(num_rows, values=pa.string(), skip=skip):
            *ids, labels = table.columns
            yield ids[0] if self.has_ids else row_numbers(table.first_row, len(labels)), labels


@dataclass(frozen=True)
class LabelArray:
    """Labels in memory, as those of NumPy's files.

    Parameters
    ----------
    labels : NodeLabels
    path : Path
    """

    labels: NodeLabels
    path: Path

    @property
    def name(self) -> str:
        """The file."""
        return str(self.path)

    @property
    def files(self) -> list[Path]:
        """The file."""
        return [self.path]

    def blocks(self, num_rows: int, *, skip: int) -> Iterator[Block]:
        """Yield ids and labels, as strings."""
        given = self.labels
        for start in range(skip, len(given.ids), num_rows):
            y = pa.array(given.y[start : start + num_rows])
            if given.names is None:
                text = y.cast(pa.string())
            else:
                text = pa.array(given.names).take(pc.if_else(pc.less(y, 0), None, y))
            yield given.ids[start : start + num_rows], text


def row_numbers(start: int, count: int) -> pa.Array:
    """Return the ids of rows that have none."""
    return pa.array(np.arange(start, start + count))


def read_labels_in_blocks(work: Workspace, source: LabelSource, *, is_text: bool) -> list[IdFile]:
    """Read labels, a block at a time.

    Parameters
    ----------
    work : Workspace
    source : LabelSource
    is_text : bool
        Whether ids of nodes are strings.

    Returns
    -------
    list of IdFile
        Sorted ids of each block.
    """
    journal = work.journal
    if journal.find(f"{LABELS} read") is None:
        done = journal.count(LABELS)
        start = sum((journal.find(LABELS, number) or {})["rows"] for number in range(done))
        for number, (ids, labels) in enumerate(source.blocks(work.sizes.rows, skip=start), start=done):
            work.report("reading labels", start, note=f", {start:,} rows")
            journal.record(LABELS, number, **_write_block(work, number, source.name, ids, labels, is_text=is_text))
            start += len(ids)
        journal.record(f"{LABELS} read")
    return work.id_files(LABELS, IDS, is_text=is_text)


def _write_block(
    work: Workspace, number: int, name: str, ids: pa.Array, labels: pa.Array, *, is_text: bool
) -> dict[str, Any]:
    """Write sorted ids, the row of each, and the label of each row."""
    size, given = len(ids), ids
    rows = np.arange(size)
    if is_text:
        ids = ids.cast(pa.large_string())
    elif not pa.types.is_integer(ids.type):
        rows, ids = _take_integers(ids)
    codes, unique = number_ids([ids])
    order = np.argsort(codes)
    if len(unique) < len(ids):
        repeated = codes[order][1:][np.diff(codes[order]) == 0][0]
        raise ReadError(describe_repeated_labels(name, unique[int(repeated)].as_py()))
    with IdWriter(work.path(IDS, number), is_text=is_text) as writer:
        writer.append(unique)
    write_raw(work.path(ROWS, number), rows[order])
    blank = pc.equal(pc.utf8_trim_whitespace(labels), "")
    label_codes, names = number_ids([pc.if_else(blank, None, labels).fill_null("").cast(pa.large_string())])
    write_raw(work.path(CODES, number), label_codes)
    with IdWriter(work.path(NAMES, number), is_text=True) as writer:
        writer.append(names)
    facts: dict[str, Any] = {"rows": size, "ids": len(unique), "names": len(names), "dropped": size - len(unique)}
    facts["has_integers"] = bool(pa.types.is_integer(given.type))
    if size == len(unique):
        return facts
    return {**facts, "example": given[int(np.flatnonzero(~np.isin(np.arange(size), rows))[0])].as_py()}


def _take_integers(ids: pa.Array) -> tuple[IntArray, pa.Array]:
    """Return the positions and values of strings that are integers: others belong to no node with an integer id."""
    matches = pc.match_substring_regex(ids, f"^({INTEGER})$").to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(matches)
    try:
        return rows, ids.take(pa.array(rows)).cast(pa.int64())
    except pa.ArrowInvalid:  # some are too large
        small = [row for row in rows.tolist() if -(2**63) <= int(ids[row].as_py()) < 2**63]
        return np.array(small, np.int64), ids.take(pa.array(small, pa.int64())).cast(pa.int64())


@dataclass(frozen=True, eq=False)
class Pairs:
    """Nodes and their labels.

    Attributes
    ----------
    files : list of EntryFile
        Pairs of a node and a position in ``y``.
    y : ndarray of shape (num_different_labels,)
        Class of each label.
    class_names : tuple of str or None
        As of `encode_labels`.
    """

    files: list[EntryFile]
    y: IntArray
    class_names: tuple[str, ...] | None


def write_pairs(work: Workspace) -> Pairs:
    """Sort the pairs of nodes and labels of every block.

    Parameters
    ----------
    work : Workspace
        In which the numbers of all ids of labels have been written.

    Returns
    -------
    Pairs
    """
    journal = work.journal
    blocks = journal.count(LABELS)
    sizes = [(journal.find(LABELS, number) or {})["names"] for number in range(blocks)]
    files = [IdFile(work.path(NAMES, number), True, size) for number, size in enumerate(sizes)]
    positions, names = _join_names(files, sizes, memory=work.sizes.ids)
    y, class_names = encode_labels(names.cast(pa.string()))
    pairs = []
    for number in range(blocks):
        facts = journal.find(PAIRS, number)
        if facts is None:
            facts = journal.record(PAIRS, number, size=_sort_block(work, number, positions[number], len(y)))
        pairs.append(EntryFile(work.path(PAIR_FILES, number), facts["size"], False))
    return Pairs(pairs, y, class_names)


def _sort_block(work: Workspace, number: int, positions: IntArray, num_labels: int) -> int:
    nodes = read_raw(work.path(LABEL_NUMBERS, number), np.int32).astype(np.int64)
    rows = read_raw(work.path(ROWS, number), np.int64)
    labels = positions[read_raw(work.path(CODES, number), np.int32)][rows]
    known = nodes >= 0
    path = work.path(PAIR_FILES, number)
    return write_entries(path, nodes[known], labels[known], None, num_nodes=num_labels).size


def _join_names(files: list[IdFile], sizes: list[int], *, memory: int) -> tuple[list[IntArray], pa.Array]:
    """Return the different labels of all blocks, and where those of each block are among them."""
    positions = [np.empty(size, np.int64) for size in sizes]
    found: list[pa.Array] = []
    count = 0
    for step in merge_ids(files, memory=memory):
        for piece in step.pieces:
            positions[piece.file][piece.start : piece.start + len(piece.codes)] = piece.codes + count
        found.append(step.ids)
        count += len(step.ids)
        if count > MAX_CLASSES:
            raise ReadError(
                f"labels must have at most {MAX_CLASSES:,} classes; there are more, such as "
                f"{step.ids[0].as_py()[:40]!r}: leave the labels out, or set label to the column of classes"
            )
    return positions, pa.concat_arrays(found) if found else pa.array([], pa.large_string())
