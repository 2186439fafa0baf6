"""Edges: from a table to sorted files of entries.

First, every block of the table becomes a file of its ids, sorted, and the positions of the ends of its edges among
them. When the ids of all files have been numbered, positions become node numbers, and the entries of each block are
sorted.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from graphprox._utils.arrays import IntArray
from graphprox._utils.column_names import are_different_kinds
from graphprox.errors import ReadError
from graphprox.graph.arguments import check_edge_weight
from graphprox.io.edge_lists import parse_weights
from graphprox.io.ids import number_ids
from graphprox.io.sharding.entries import EntryFile, write_entries
from graphprox.io.sharding.id_files import IdWriter, read_raw, write_raw
from graphprox.io.sharding.table_stream import TableStream
from graphprox.io.sharding.workspace import Workspace
from graphprox.io.tables.table import Table

EDGES = "edges"  # steps of the journal
ENTRIES = "entries"
IDS, CODES, WEIGHTS, ROLES, NUMBERS = "edge-ids", "edge-codes", "edge-weights", "edge-roles", "edge-numbers"
FORWARD, BACKWARD = "forward", "backward"
SOURCE, TARGET = 1, 2  # roles of an id


def read_edges(work: Workspace, stream: TableStream, *, as_text: bool) -> bool:
    """Read the edges, a block at a time.

    Parameters
    ----------
    work : Workspace
    stream : TableStream
        Source, target and optionally weight.
    as_text : bool
        Whether ids are compared as strings, even if they are integers.

    Returns
    -------
    bool
        Whether ids are strings.
    """
    journal, rows = work.journal, work.sizes.rows
    finished = journal.find(f"{EDGES} read")
    if finished is not None:
        return bool(finished["is_text"])
    done = journal.count(EDGES)
    start = sum((journal.find(EDGES, number) or {})["rows"] for number in range(done))
    for number, table in enumerate(stream.blocks(rows, values=None, skip=start), start=done):
        work.report("reading edges", start, stream.num_rows or 0, "" if stream.num_rows else f", {start:,} rows")
        journal.record(EDGES, number, **_write_block(work, number, table, as_text=as_text))
        start += len(table.columns[0])
    if start == 0:
        raise ReadError(f"a graph must have at least one edge; {stream.path} lists none")
    return bool(journal.record(f"{EDGES} read", is_text=as_text or not stream.is_integer, edges=start)["is_text"])


def _write_block(work: Workspace, number: int, table: Table, *, as_text: bool) -> dict[str, Any]:
    ends = [column.cast(pa.large_string()) if as_text else column for column in table.columns[:2]]
    codes, ids = number_ids(ends)
    with IdWriter(work.path(IDS, number), is_text=not pa.types.is_integer(ids.type)) as writer:
        writer.append(ids)
    write_raw(work.path(CODES, number), codes)
    has_weights = _write_weights(work.path(WEIGHTS, number), table, codes.reshape(2, -1), ids)
    if _has_kinds(table):
        roles = np.zeros(len(ids), np.uint8)
        for role, own in zip((SOURCE, TARGET), codes.reshape(2, -1), strict=True):
            roles[own] |= role
        write_raw(work.path(ROLES, number), roles)
    earlier = work.journal.find(EDGES, 0)
    if earlier is not None and earlier["has_weights"] != has_weights:
        raise ReadError(f"weights must be numbers; {table.path} has attributes in braces, as written by networkx")
    return {"rows": codes.size // 2, "ids": len(ids), "has_weights": has_weights, "has_kinds": _has_kinds(table)}


def _write_weights(path: Path, table: Table, index: Any, ids: pa.Array) -> bool:
    weight = parse_weights(table, 2) if len(table.columns) > 2 else None
    if weight is None:
        return False
    write_raw(path, check_edge_weight(weight, index, ids).astype(np.float32))
    return True


def _has_kinds(table: Table) -> bool:
    return table.names is not None and are_different_kinds(*table.names[:2])


def write_all_entries(work: Workspace, *, num_nodes: int, directed: bool) -> tuple[list[EntryFile], list[EntryFile]]:
    """Sort the entries of every block.

    Parameters
    ----------
    work : Workspace
        In which the numbers of all ids have been written.
    num_nodes : int
    directed : bool

    Returns
    -------
    forward, backward : list of EntryFile
        Entries as listed, and the reverse of each if the graph is undirected.
    """
    blocks = work.journal.count(EDGES)
    names = [FORWARD] if directed else [FORWARD, BACKWARD]
    files: dict[str, list[EntryFile]] = {FORWARD: [], BACKWARD: []}
    for number in range(blocks):
        facts = work.journal.find(ENTRIES, number)
        if facts is None:
            work.report("sorting edges", number, blocks)
            sizes = _sort_block(work, number, names, num_nodes)
            facts = work.journal.record(ENTRIES, number, **sizes)
        for kind in (CODES, NUMBERS, WEIGHTS):  # also those that a killed process has left
            work.path(kind, number).unlink(missing_ok=True)
        has_weights = (work.journal.find(EDGES, number) or {})["has_weights"]
        for name in names:
            files[name].append(EntryFile(work.path(name, number), facts[name], has_weights))
    return files[FORWARD], files[BACKWARD]


def _sort_block(work: Workspace, number: int, names: list[str], num_nodes: int) -> dict[str, int]:
    codes = read_raw(work.path(CODES, number), np.int32)
    numbers = read_raw(work.path(NUMBERS, number), np.int32)
    source, target = (numbers[each].astype(np.int64) for each in codes.reshape(2, -1))
    has_weights = (work.journal.find(EDGES, number) or {})["has_weights"]
    weights = read_raw(work.path(WEIGHTS, number), np.float32) if has_weights else None
    ends: dict[str, tuple[IntArray, IntArray]] = {FORWARD: (source, target), BACKWARD: (target, source)}
    return {
        name: write_entries(work.path(name, number), *ends[name], weights, num_nodes=num_nodes).size for name in names
    }
