"""Features: from their source to sorted files of ids, and to the files of each part."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from graphprox._utils.arrays import Features
from graphprox.errors import GraphError, ReadError
from graphprox.graph.arguments import check_features
from graphprox.io.folder.graph_part import FEATURE_COLUMNS, FEATURE_INDPTR, FEATURE_VALUES, FEATURES
from graphprox.io.folder.part_files import open_array
from graphprox.io.ids import number_ids
from graphprox.io.sharding.feature_source import Facts, FeatureLayout, FeatureSource
from graphprox.io.sharding.id_files import IdFile, IdWriter, flush, write_raw
from graphprox.io.sharding.numbering import POSITIONS, describe_repeated_features
from graphprox.io.sharding.workspace import Workspace

STEP = "features"  # of the journal
SORTED_AS_TEXT = "features as text"
IDS, ROW_IDS, FACTS = "feature-ids", "feature-row-ids", "feature-facts"


def scan_features(work: Workspace, source: FeatureSource) -> int:
    """Read the ids of features, a block at a time, and what must be known of their columns.

    Parameters
    ----------
    work : Workspace
    source : FeatureSource

    Returns
    -------
    int
        Number of rows.
    """
    journal, sizes = work.journal, work.sizes
    if journal.find(f"{STEP} read") is None:
        done = journal.count(STEP)
        start = sum((journal.find(STEP, number) or {})["ids"] for number in range(done))
        for number, (ids, facts) in enumerate(source.scan(sizes.rows, sizes.values, skip=start), start=done):
            work.report("reading features", start, source.num_rows or 0, "" if source.num_rows else f", {start:,} rows")
            with IdWriter(work.path(ROW_IDS, number), is_text=not source.is_integer) as writer:
                writer.append(ids)
            _write_sorted(work, number, source.name, ids, start)
            with work.path(FACTS, number).open("w") as file:
                json.dump({"rows": len(ids), **facts}, file)
                flush(file)
            journal.record(STEP, number, ids=len(ids))
            start += len(ids)
        if start == 0:
            raise ReadError(f"features must have rows; {source.name} has none")
        journal.record(f"{STEP} read")
    return sum((journal.find(STEP, number) or {})["ids"] for number in range(journal.count(STEP)))


def read_facts(work: Workspace) -> Iterator[Facts]:
    """Yield what is known of the columns of each block.

    Parameters
    ----------
    work : Workspace

    Yields
    ------
    dict
        With the number of ``rows``.
    """
    for number in range(work.journal.count(STEP)):
        yield json.loads(work.path(FACTS, number).read_text())


def _write_sorted(work: Workspace, number: int, name: str, ids: pa.Array, start: int) -> None:
    """Write ids in their order, and the row of each."""
    codes, unique = number_ids([ids])
    order = np.argsort(codes)
    if len(unique) < len(ids):
        repeated = codes[order][1:][np.diff(codes[order]) == 0][0]
        raise ReadError(describe_repeated_features(name, unique[int(repeated)].as_py()))
    with IdWriter(work.path(IDS, number), is_text=not pa.types.is_integer(ids.type)) as writer:
        writer.append(unique)
    write_raw(work.path(POSITIONS, number), start + order)


def sort_as_text(work: Workspace, source: FeatureSource) -> None:
    """Sort ids of features again, as strings, since those of the edges are strings.

    Parameters
    ----------
    work : Workspace
    source : FeatureSource
        Of integer ids.
    """
    start = 0
    for number, file in enumerate(row_ids(work, source)):
        if work.journal.find(SORTED_AS_TEXT, number) is None:
            _write_sorted(work, number, source.name, file.read().cast(pa.large_string()), start)
            work.journal.record(SORTED_AS_TEXT, number)
        start += file.size


def row_ids(work: Workspace, source: FeatureSource) -> list[IdFile]:
    """Return the ids of features in the order of their rows, a file for each block.

    Parameters
    ----------
    work : Workspace
    source : FeatureSource
    """
    return work.id_files(STEP, ROW_IDS, is_text=not source.is_integer)


# -- parts ----------------------------------------------------------------------------------------------------------


class FeatureWriter:
    """Write the features of one part after the other.

    Parameters
    ----------
    work : Workspace
    source : FeatureSource
    layout : FeatureLayout
    num_known, num_nodes : int
        Number of rows of features, and of nodes.
    first : int
        Node at which the first part begins.
    """

    def __init__(
        self, work: Workspace, source: FeatureSource, layout: FeatureLayout, num_known: int, num_nodes: int, first: int
    ) -> None:
        self._work, self._source, self._layout = work, source, layout
        self._num_known, self._num_nodes = num_known, num_nodes
        self._next = first
        self._blocks = self._iterate(first)
        self._rest: Features | None = None

    def write(self, folder: Path, rows: range) -> int:
        """Write the features of a part.

        Parameters
        ----------
        folder : Path
        rows : range
            Those that follow the rows of the last part.

        Returns
        -------
        int
            Number of nonzero features, if they are sparse.
        """
        num_values = 0
        with ExitStack() as files:
            if not self._layout.is_sparse:
                dense = files.enter_context(open_array(folder, FEATURES, self._layout.num_features))
                for block in self._take(len(rows)):
                    dense.append(block)
                return 0
            values, columns, indptr = (
                files.enter_context(open_array(folder, name))
                for name in (FEATURE_VALUES, FEATURE_COLUMNS, FEATURE_INDPTR)
            )
            indptr.append([0])
            for block in self._take(len(rows)):
                matrix = sp.csr_array(block)
                values.append(matrix.data)
                columns.append(matrix.indices)
                indptr.append(matrix.indptr[1:].astype(np.int64) + num_values)
                num_values += int(matrix.nnz)
        return num_values

    def _take(self, count: int) -> Iterator[Any]:
        """Yield the next rows, checked."""
        while count:
            block: Any = self._rest if self._rest is not None else next(self._blocks)
            taken, rest = block[:count], block[count:]
            self._rest = rest if rest.shape[0] else None
            yield self._check(taken)
            self._next += taken.shape[0]
            count -= taken.shape[0]
            self._work.report("writing features", self._next, self._num_nodes)

    def _check(self, block: Any) -> Features:
        try:
            return check_features(block, None)
        except GraphError:  # again, with the ids of the nodes
            return check_features(block, self._read_ids(block.shape[0]))

    def _read_ids(self, count: int) -> Any:
        first, found = 0, []
        for file in row_ids(self._work, self._source):
            start, stop = max(self._next - first, 0), min(self._next + count - first, file.size)
            if start < stop:
                found.append(file.read(start, stop))
            first += file.size
        return pc.cast(pa.concat_arrays(found), found[0].type) if found else pa.array([], pa.int64())

    def _iterate(self, first: int) -> Iterator[Any]:
        """Yield rows from some node on: those that are known, and those of nodes without any."""
        num_values = self._work.sizes.values
        read = first
        if first < self._num_known:
            for block in self._source.rows(num_values, skip=first):
                read += block.shape[0]
                yield block
        if read < self._num_known:
            raise ReadError(f"{self._source.name} must not change while it is read; it has {read:,} rows now")
        missing = self._num_nodes - max(first, self._num_known)
        size = max(1, num_values // self._layout.num_features)
        for start in range(0, missing, size):
            yield self._source.missing(min(size, missing - start))
