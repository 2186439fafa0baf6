"""An embedding as a folder of Parquet files, of which each process writes one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow.parquet
from numpy.typing import NDArray

from graphprox._utils.arrays import NodeIds
from graphprox._utils.team import current_team
from graphprox.errors import WriteError
from graphprox.io.storage.files import atomic_write, make_writable_folder, reason

_PART = re.compile(r"part-\d{5}\.parquet")


def is_folder_of_parts(path: Path) -> bool:
    """Return whether a path names a folder of parts: it has no ending, and is not something else.

    Examples
    --------
    >>> is_folder_of_parts(Path("vectors")), is_folder_of_parts(Path("vectors.parquet"))
    (True, False)
    """
    return path.suffix == "" and (path.is_dir() or not path.exists())


def check_folder_of_parts(folder: Path) -> None:
    """Raise a `WriteError` if a folder has anything but parts of an older embedding, which are replaced."""
    if not folder.exists():
        return
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError as error:
        raise WriteError(f"{folder} must be a folder that can be written to: {reason(error)}") from None
    foreign = next((name for name in names if not name.startswith(".") and not _PART.fullmatch(name)), None)
    if foreign is not None:
        raise WriteError(
            f"the folder of an embedding must be new, empty, or that of an older one; {folder} has {foreign}: name "
            "another folder, or a file with an ending such as .parquet"
        )


def part_files(folder: Path) -> list[Path]:
    """Return the files that are written to a folder, in the order of the nodes: one for each process."""
    return [folder / f"part-{number:05d}.parquet" for number in range(current_team().size)]


def write_parts(folder: Path, vectors: NDArray[Any], ids: NodeIds) -> list[Path]:
    """Write the rows of each process to a file of its own; all files appear together, or none.

    Parameters
    ----------
    folder : Path
    vectors : ndarray of shape (num_nodes, n_components)
        All rows, in each process.
    ids : ndarray of shape (num_nodes,)

    Returns
    -------
    list of Path
        The files of all processes, in the order of the nodes.
    """
    from graphprox.io.embedding_writer import make_table

    check_folder_of_parts(folder)
    make_writable_folder(folder)
    team = current_team()
    files, rows = part_files(folder), team.all_rows(len(vectors))[team.rank]
    with atomic_write(files[team.rank]) as (staged,):
        with staged.open("wb") as file:
            pyarrow.parquet.write_table(make_table(vectors[rows], ids[rows]), file, use_dictionary=False)
        team.any(False)  # until all have written theirs
    if team.rank == 0:
        for path in folder.iterdir():
            if _PART.fullmatch(path.name) and path not in files:  # of an older embedding by more processes
                path.unlink()
    return files
