"""Disk space that a work takes: how many bytes of which files in which folder, and whether so many are free."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from graphprox._utils.amounts import format_memory
from graphprox.errors import WriteError
from graphprox.io.storage.disk_space import find_disk, free_disk_space

# Where a method writes: the folder of temporary files, that of the model, or the cache.
Place: TypeAlias = Literal["work", "model", "cache"]
DiskUses: TypeAlias = Mapping[Place, Mapping[str, int]]  # bytes, by what the files are


@dataclass(frozen=True)
class DiskUse:
    """Files of one kind in a folder.

    Parameters
    ----------
    what : str
        What the files are.
    folder : Path
        Where they are; it need not exist yet.
    size : int
        Bytes of all that exist at the same time.
    option : str
        What names another folder for them.

    Examples
    --------
    >>> print(DiskUse("the embedding", Path("vectors"), 2_000_000_000, "--out"))
    2.0 GB for the embedding
    """

    what: str
    folder: Path
    size: int
    option: str

    def __str__(self) -> str:
        return f"{_format(self.size)} for {self.what}"


def describe_disk_uses(uses: Iterable[DiskUse]) -> list[str]:
    """Return a line for each disk: how much files take there, which, and how much is free.

    Parameters
    ----------
    uses : iterable of DiskUse

    Returns
    -------
    list of str
    """
    lines = []
    for found in group_by_disk(uses):
        free = free_disk_space(found[0].folder)
        total = _format(sum(each.size for each in found))
        has = "" if free is None else f"; {format_memory(free)} are free"
        lines.append(f"{total} on the disk of {_list_folders(found)} ({', '.join(map(str, found))}){has}")
    return lines


def check_disk_uses(uses: Iterable[DiskUse], subject: str) -> None:
    """Raise an error if files need more space than is free on a disk.

    Parameters
    ----------
    uses : iterable of DiskUse
    subject : str
        What writes them, for the message.

    Raises
    ------
    WriteError
    """
    for found in group_by_disk(uses):
        free, needed = free_disk_space(found[0].folder), sum(each.size for each in found)
        if free is not None and needed > free:
            options = dict.fromkeys(each.option for each in sorted(found, key=lambda use: -use.size))
            raise WriteError(
                f"{subject} must not need more space than is free on a disk; it needs about {_format(needed)} on "
                f"that of {_list_folders(found)} ({', '.join(map(str, found))}), and {format_memory(free)} are free: "
                f"name a folder on another disk by {' or '.join(options)}, or free space"
            )


def group_by_disk(uses: Iterable[DiskUse]) -> list[list[DiskUse]]:
    """Return the uses of each disk, in the order of the first of them.

    Parameters
    ----------
    uses : iterable of DiskUse

    Returns
    -------
    list of list of DiskUse
        Without those of no bytes.
    """
    groups: dict[object, list[DiskUse]] = {}
    for each in uses:
        if each.size:
            groups.setdefault(find_disk(each.folder), []).append(each)
    return list(groups.values())


def _format(size: int) -> str:
    return format_memory(max(size, 10**6))  # less is hardly anything, but not nothing


def _list_folders(uses: Sequence[DiskUse]) -> str:
    return " and ".join(map(str, dict.fromkeys(each.folder for each in uses)))
