"""The description of a graph folder, graph.json: what is in it, in which parts, with a checksum of every file."""

from __future__ import annotations

import hashlib
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from graphprox.errors import ReadError
from graphprox.io.storage.files import reason
from graphprox.io.storage.verified import Record, checksum_of_file, dump_record, read_record
from graphprox.preprocessing.table_encoder import TableEncoder

FORMAT = 1
GRAPH = "graph.json"
MAX_NODES = 2**31 - 1  # columns are int32

Count: TypeAlias = Annotated[int, Field(ge=0)]
Digest: TypeAlias = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Ids: TypeAlias = Literal["rows", "integers", "strings"]

_SAMPLES, _SAMPLE_BYTES = 64, 4096


class FileRecord(Record):
    """A file of a part.

    Parameters
    ----------
    size : int
        Bytes.
    sha256 : str
        Checksum of its content.
    sample : str
        Checksum of at most 256 KiB of it, evenly spaced, which is verified when a folder is opened.
    """

    size: Count
    sha256: Digest
    sample: Digest


class PartRecord(Record):
    """A part: consecutive rows of the graph.

    Parameters
    ----------
    folder : str
        Its folder. The name has the beginning of the checksum of its files, so that parts of different graphs differ.
    start, stop : int
        Its nodes, from ``start`` to ``stop - 1``.
    num_entries : int
        Number of entries of the adjacency matrix in its rows.
    num_values : int
        Number of nonzero features in its rows; 0 if features are not sparse.
    files : dict of str to FileRecord
    """

    folder: Annotated[str, Field(pattern=r"^part-\d{5,}-[0-9a-f]{8}$")]
    start: Count
    stop: Count
    num_entries: Count
    num_values: Count = 0
    files: dict[str, FileRecord]


class FeatureRecord(Record):
    """Features of the nodes.

    Parameters
    ----------
    num_features : int
    is_sparse : bool
    names : tuple of str or None
    encoder : TableEncoder or None
        What the columns of the table contained, if they were not numbers alone.
    """

    num_features: Annotated[int, Field(ge=1)]
    is_sparse: bool
    names: tuple[str, ...] | None = None
    encoder: TableEncoder | None = None


class Description(Record):
    """What is in a graph folder.

    Parameters
    ----------
    num_nodes, num_entries, duplicates : int
        As of a `Graph`.
    directed, has_weights, has_labels : bool
    features : FeatureRecord or None
        None if the graph has none.
    class_names : tuple of str or None
    ids : {"rows", "integers", "strings"}
        Ids of the nodes; ``"rows"`` if they are their numbers.
    graph_checksum : str
        That of `graph_checksum`: of features, edges and weights, whatever the number of parts.
    parts : tuple of PartRecord
    run : str or None
        Checksum of the files and options that the folder was made of, by which a finished run is known.
    """

    num_nodes: Annotated[int, Field(ge=2, le=MAX_NODES)]
    num_entries: Annotated[int, Field(ge=1)]
    directed: bool
    duplicates: Count
    has_weights: bool
    features: FeatureRecord | None
    has_labels: bool
    class_names: tuple[str, ...] | None
    ids: Ids
    graph_checksum: Digest
    parts: tuple[PartRecord, ...]
    run: Digest | None = None

    @model_validator(mode="after")
    def _check_parts(self) -> Self:
        bounds = [0, *(part.stop for part in self.parts)]
        starts = [part.start for part in self.parts]
        if not self.parts or starts != bounds[:-1] or bounds[-1] != self.num_nodes:
            raise ValueError("its parts must have all rows once, in order")
        if any(stop <= start for start, stop in pairwise(bounds)):
            raise ValueError("every part must have a row")
        if sum(part.num_entries for part in self.parts) != self.num_entries:
            raise ValueError("its parts must have all entries")
        if len({part.folder for part in self.parts}) < len(self.parts):
            raise ValueError("every part must have a folder of its own")
        return self


def dump_description(found: Description) -> str:
    """Return the content of graph.json.

    Parameters
    ----------
    found : Description

    Returns
    -------
    str
    """
    return dump_record(found, FORMAT, "numpy", "pyarrow")


def read_description(folder: Path) -> Description:
    """Read graph.json.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    Description

    Raises
    ------
    ReadError
        If it is damaged or of another format.
    """
    return read_record(folder / GRAPH, FORMAT, Description, "a graph")


def is_graph_folder(path: str | Path) -> bool:
    """Return whether a path is that of a folder with a graph.json.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    bool
    """
    try:
        return (Path(path) / GRAPH).is_file()
    except (OSError, ValueError):  # a name that is too long, or has a null byte
        return False


def check_is_folder(path: Path) -> None:
    """Raise a `ReadError` unless a path is that of a folder with a graph.json.

    Parameters
    ----------
    path : Path
    """
    if not is_graph_folder(path):
        raise ReadError(f"{path} must be a graph folder, which graphprox shard writes; it has no {GRAPH}")


# -- checksums ------------------------------------------------------------------------------------------------------


def describe_file(path: Path) -> FileRecord:
    """Return size and checksums of a file.

    Parameters
    ----------
    path : Path

    Returns
    -------
    FileRecord
    """
    return FileRecord(size=path.stat().st_size, sha256=checksum_of_file(path), sample=sample_checksum(path))


def sample_checksum(path: Path) -> str:
    """Return the SHA-256 of 64 blocks of a file, evenly spaced from its beginning to its end.

    Parameters
    ----------
    path : Path

    Returns
    -------
    str
        That of the whole file if it has no more than 256 KiB.
    """
    size = path.stat().st_size
    if size <= _SAMPLES * _SAMPLE_BYTES:
        return checksum_of_file(path)
    digest = hashlib.sha256(f"{size};".encode())
    with path.open("rb") as file:
        for i in range(_SAMPLES):
            file.seek(i * (size - _SAMPLE_BYTES) // (_SAMPLES - 1))
            digest.update(file.read(_SAMPLE_BYTES))
    return digest.hexdigest()


def checksum_of_files(files: dict[str, FileRecord]) -> str:
    """Return a checksum of all files of a part, for its name.

    Parameters
    ----------
    files : dict of str to FileRecord

    Returns
    -------
    str
    """
    listed = "".join(f"{name} {record.sha256}\n" for name, record in sorted(files.items()))
    return hashlib.sha256(listed.encode()).hexdigest()


def verify_file(path: Path, record: FileRecord, *, full: bool) -> None:
    """Check a file by its size and a sample, or by all of its content.

    Parameters
    ----------
    path : Path
    record : FileRecord
    full : bool

    Raises
    ------
    ReadError
        If the file is missing or differs.
    """
    try:
        size = path.stat().st_size
        if size != record.size:
            raise ReadError(f"{path} is damaged: it has {size:,} of {record.size:,} bytes")
        found = checksum_of_file(path) if full else sample_checksum(path)
    except OSError as error:
        raise ReadError(f"{path} cannot be read: {reason(error)}") from None
    if found != (record.sha256 if full else record.sample):
        raise ReadError(f"{path} is damaged: its content does not match the recorded checksum")
