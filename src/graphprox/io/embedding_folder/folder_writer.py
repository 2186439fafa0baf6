"""Writer of embedding folders, by one process or by several that write the vectors of their own nodes."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphprox._utils.arrays import NodeIds
from graphprox._utils.outcome import count_rows
from graphprox._utils.team import current_team, row_keepers
from graphprox.errors import WriteError
from graphprox.io.embedding_folder.embedding_claims import replace_embedding, staging_folder, wrap_write_errors
from graphprox.io.embedding_folder.embedding_description import (
    EmbeddingDescription,
    PartRecord,
    part_name,
    write_description,
)
from graphprox.io.embedding_folder.part_tables import Layout, write_row_groups
from graphprox.io.folder.description import FileRecord, describe_file
from graphprox.io.folder.part_files import split_rows
from graphprox.io.storage.files import flush_file

ROWS_PER_PART = 1 << 20

_RECORD = np.dtype([("size", np.int64), ("sha256", np.uint8, 32), ("sample", np.uint8, 32)])


def write_embedding_folder(
    folder: Path, vectors: NDArray[Any], ids: NodeIds, *, layout: Layout = "list", overwrite: bool = False
) -> list[Path]:
    """Write an embedding as Parquet files of a bounded number of rows; all of them appear together, or none.

    Parameters
    ----------
    folder : Path
    vectors : ndarray of shape (num_nodes, n_components)
        A block of rows is encoded at a time, so that a memory map need not fit into memory. Each process has all rows,
        or its own inside of ``keep_own_rows``.
    ids : ndarray of shape (num_nodes,)
        Of the same rows.
    layout : {"list", "wide"}, default="list"
    overwrite : bool, default=False
        Whether an embedding in the folder is replaced.

    Returns
    -------
    list of Path
        The parts, in the order of the nodes.
    """
    team, staged = current_team(), staging_folder(folder)
    num_nodes = count_rows(vectors)
    first = row_keepers().rows(num_nodes).start  # of the rows that were given
    parts = _plan_parts(num_nodes)
    with ExitStack() as claim:
        if team.rank == 0:
            claim.enter_context(replace_embedding(folder, overwrite=overwrite))
        _check_seen(folder, staged)
        records = np.zeros(sum(map(len, parts)), _RECORD)
        bounds = np.cumsum([0, *map(len, parts)]).tolist()
        for number, rows in enumerate(parts[team.rank], start=bounds[team.rank]):
            path, block = staged / part_name(number), slice(rows.start - first, rows.stop - first)
            with wrap_write_errors(folder):
                with path.open("wb") as file:  # Arrow opens no names that are not valid UTF-8
                    write_row_groups(file, vectors[block], ids[block], layout)
                flush_file(path)
                records[number] = _to_row(describe_file(path))
        owned = [slice(bounds[rank], bounds[rank + 1]) for rank in range(team.size)]
        team.copy_rows(records.view(np.uint8).reshape(len(records), -1), owned)
        if team.rank == 0:
            about = EmbeddingDescription(
                num_nodes=num_nodes,
                n_components=vectors.shape[1],
                dtype="float64" if vectors.dtype == np.float64 else "float32",
                layout=layout,
                parts=tuple(
                    PartRecord(name=part_name(number), rows=len(rows), file=_to_record(records[number]))
                    for number, rows in enumerate(rows for own in parts for rows in own)
                ),
            )
            write_description(staged, about)
    team.any(False)  # until all parts are in their place
    return [folder / part_name(number) for number in range(len(records))]


def check_is_shared_folder(folder: Path) -> None:
    """Check that all processes see the same folder, before any work; each of them calls it.

    Parameters
    ----------
    folder : Path
        The embedding folder.

    Raises
    ------
    WriteError
        In all processes.
    """
    team, probe = current_team(), staging_folder(folder)
    if team.size == 1:
        return
    with wrap_write_errors(folder):
        if team.rank == 0:
            probe.mkdir()
        try:
            _check_seen(folder, probe)
        finally:
            if team.rank == 0:
                probe.rmdir()


def _check_seen(folder: Path, staged: Path) -> None:
    """Raise an error in all processes, unless all of them see what the first has created."""
    team = current_team()
    team.any(False)  # until it is there
    if team.any(not staged.is_dir()):
        raise WriteError(
            f"a folder to which several processes write must be on a file system that all of them share; {folder} is "
            "not: name such a folder, or a file with an ending such as .parquet, which the first process writes"
        )


def _plan_parts(num_nodes: int) -> list[list[range]]:
    """Return the rows of the parts that each process writes."""
    planned = []
    for own in current_team().all_rows(num_nodes):
        num_rows = own.stop - own.start
        split = split_rows(num_rows, -(-num_rows // ROWS_PER_PART)) if num_rows else []
        planned.append([range(own.start + each.start, own.start + each.stop) for each in split])
    return planned


def _to_row(record: FileRecord) -> NDArray[Any]:
    """Return size and checksums as an array, which processes exchange."""
    digests = [np.frombuffer(bytes.fromhex(each), np.uint8) for each in (record.sha256, record.sample)]
    return np.array((record.size, *digests), _RECORD)


def _to_record(row: Any) -> FileRecord:
    return FileRecord(size=int(row["size"]), sha256=row["sha256"].tobytes().hex(), sample=row["sample"].tobytes().hex())
