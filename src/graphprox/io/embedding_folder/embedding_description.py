"""The description of an embedding folder, _embedding.json: how many vectors of which size are in which parts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from graphprox.errors import ReadError
from graphprox.io.embedding_folder.part_tables import Layout
from graphprox.io.folder.description import FileRecord, verify_file
from graphprox.io.storage.verified import Record, dump_record, read_record

FORMAT = 1
DESCRIPTION = "_embedding.json"  # programs that read folders of Parquet files skip names with an underscore in front
PART = re.compile(r"part-\d{5,}\.parquet")

Positive: TypeAlias = Annotated[int, Field(ge=1)]


class PartRecord(Record):
    """A part: the vectors of consecutive nodes.

    Parameters
    ----------
    name : str
        Name of its file.
    rows : int
    file : FileRecord
        Size and checksums.
    """

    name: Annotated[str, Field(pattern=f"^{PART.pattern}$")]
    rows: Positive
    file: FileRecord


class EmbeddingDescription(Record):
    """What is in an embedding folder.

    Parameters
    ----------
    num_nodes, n_components : int
    dtype : {"float32", "float64"}
    layout : {"list", "wide"}
        Columns of the parts: of lists, or one for each component.
    parts : tuple of PartRecord
        In the order of the nodes.
    """

    num_nodes: Positive
    n_components: Positive
    dtype: Literal["float32", "float64"]
    layout: Layout
    parts: tuple[PartRecord, ...]

    @model_validator(mode="after")
    def _check_parts(self) -> Self:
        if sum(part.rows for part in self.parts) != self.num_nodes:
            raise ValueError("its parts must have all nodes")
        if len({part.name for part in self.parts}) < len(self.parts):
            raise ValueError("every part must have a file of its own")
        return self


def part_name(number: int) -> str:
    """Return the name of a part.

    Parameters
    ----------
    number : int

    Examples
    --------
    >>> part_name(3)
    'part-00003.parquet'
    """
    return f"part-{number:05d}.parquet"


def write_description(folder: Path, about: EmbeddingDescription) -> None:
    """Write the description of a folder.

    Parameters
    ----------
    folder : Path
        It is not yet in its place: the file is not written atomically.
    about : EmbeddingDescription
    """
    (folder / DESCRIPTION).write_text(dump_record(about, FORMAT, "numpy", "pyarrow"))


def read_description(folder: Path) -> EmbeddingDescription:
    """Read the description of a folder.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    EmbeddingDescription

    Raises
    ------
    ReadError
        If it is missing or damaged.
    """
    if not (folder / DESCRIPTION).is_file():
        raise ReadError(
            f"the folder of an embedding must have a file {DESCRIPTION}, as graphprox embed writes it; {folder} has "
            "none: name such a folder, or a file inside it"
        )
    return read_record(folder / DESCRIPTION, FORMAT, EmbeddingDescription, "an embedding")


def verify_parts(folder: Path, about: EmbeddingDescription) -> None:
    """Check that a folder has the parts that its description lists, and no others.

    Parameters
    ----------
    folder : Path
    about : EmbeddingDescription

    Raises
    ------
    ReadError
        If a part is missing, differs by its size or by a sample of its content, or is not listed.
    """
    listed = {part.name for part in about.parts}
    found = {path.name for path in folder.iterdir() if path.suffix.lower() == ".parquet"}
    if missing := sorted(listed - found):
        raise ReadError(
            f"{folder} must have all {len(listed):,} parts of its embedding; it has no {missing[0]}: copy the whole "
            "folder, or write it again"
        )
    if foreign := sorted(found - listed):
        raise ReadError(
            f"{folder} must have no Parquet files but the {len(listed):,} parts of its embedding; it has {foreign[0]}: "
            "move it to another folder"
        )
    for part in about.parts:
        verify_file(folder / part.name, part.file, full=False)
