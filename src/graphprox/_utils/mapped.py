"""Arrays in files, read through memory maps without counting towards the memory of the process."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray


def release_pages(*arrays: Any) -> None:
    """Let go of the parts of memory-mapped files that were read or written; other arrays are left as they are.

    What was read of a file stays mapped, and counts as memory of the process, for as long as the array exists. After
    this it does not: the operating system keeps it cached, writes what was changed, and maps it again when it is read.

    Parameters
    ----------
    *arrays : ndarray or csr_array
        Views of memory maps are found, too.

    Examples
    --------
    >>> release_pages(np.zeros(3))
    """
    for each in arrays:
        found = find_map(each)
        if found is not None and hasattr(found, "madvise") and hasattr(mmap, "MADV_DONTNEED"):
            found.madvise(mmap.MADV_DONTNEED)


def find_map(array: Any) -> mmap.mmap | None:
    """Return the shared memory map that an array is a part of.

    Parameters
    ----------
    array : ndarray or object
        Of another object, such as a sparse matrix, the answer is None.

    Returns
    -------
    mmap or None
        None for an array in memory, and for a private map, whose changes would be lost with its pages.

    Examples
    --------
    >>> find_map(np.zeros(3)) is None
    True
    """
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap) and array.mode == "c":
            return None
        array = array.base
    return array if isinstance(array, mmap.mmap) else None


def is_mapped(array: NDArray[Any]) -> bool:
    """Return whether an array is a part of a file.

    Parameters
    ----------
    array : ndarray

    Returns
    -------
    bool
    """
    return find_map(array) is not None
