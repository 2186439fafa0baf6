"""Readers of NumPy files that never load pickled objects."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphprox._utils.allocation import check_memory
from graphprox._utils.stacklevel import warn
from graphprox.errors import GraphproxError, IgnoredInputWarning, ReadError
from graphprox.io.limits import check_features, check_nodes, check_string_width, check_zip
from graphprox.io.storage.files import check_readable, reason

_NPZ_BEGINS, _NPY_BEGINS = b"PK", b"\x93NUMPY"
_COMPRESSED_KEYS, _COO_KEYS = ("data", "indices", "indptr", "shape"), ("data", "row", "col", "shape")
_COMPRESSED = {"csr": sp.csr_array, "csc": sp.csc_array, "bsr": sp.bsr_array}


class NpzArrays(Mapping[str, NDArray[Any]]):
    """The arrays of an npz file by name, read on access.

    Attributes
    ----------
    path : Path
        The file.
    """

    def __init__(self, path: Path, loaded: np.lib.npyio.NpzFile, members: zipfile.ZipFile) -> None:
        self.path = path
        self._loaded, self._members = loaded, members
        self._names = [name.removesuffix(".npy") for name in members.namelist() if name.endswith(".npy")]

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._names:
            raise KeyError(name)
        with wrap_read_errors(self.path, "npz"):
            with self._members.open(f"{name}.npy") as member:
                _check_size(self.path, member, self._members.getinfo(f"{name}.npy").file_size)
            array: NDArray[Any] = self._loaded[f"{name}.npy"]
            return array

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@contextmanager
def open_npz(path: Path) -> Iterator[NpzArrays]:
    """Open an npz file; pickled objects are rejected.

    Parameters
    ----------
    path : Path
        File to read.

    Yields
    ------
    NpzArrays

    Raises
    ------
    ReadError
        If the file is not a valid npz file.
    """
    path = check_readable(path)
    begins = _read_magic(path)
    if begins == _NPY_BEGINS:
        raise ReadError(f"{path} must be an npz file, as its name indicates; it is a single array: name it .npy")
    if not begins.startswith(_NPZ_BEGINS):
        raise ReadError(f"{path} must be an npz file, as its name indicates; it is not")
    with path.open("rb") as file:
        with wrap_read_errors(path, "npz"):
            loaded = np.load(file, allow_pickle=False)
        with loaded, zipfile.ZipFile(file) as members:
            check_zip(path, members)
            arrays = NpzArrays(path, loaded, members)
            _warn_about_pickles(arrays, members)
            yield arrays


def _read_magic(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(_NPY_BEGINS))


def _warn_about_pickles(arrays: NpzArrays, members: zipfile.ZipFile) -> None:
    """Warn of pickled arrays; published files have lists of names in this form."""
    with wrap_read_errors(arrays.path, "npz"):
        pickled = [name for name in arrays if _is_pickled(members, name)]
    if pickled:
        warn(
            f"{', '.join(pickled)} of {arrays.path} has pickled objects, which are never loaded: they could run code",
            IgnoredInputWarning,
        )


def _is_pickled(members: zipfile.ZipFile, name: str) -> bool:
    with members.open(f"{name}.npy") as member:
        return bool(_read_header(member)[1].hasobject)


def _read_header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return the shape and type of an array; the file is then at its first value."""
    version = np.lib.format.read_magic(file)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read_header(file)
    return shape, dtype


def _check_size(path: Path, file: IO[bytes], size: int) -> None:
    """Check that the values of an array are there, and fit into memory, before any is read.

    Parameters
    ----------
    path : Path
        The file, for messages.
    file : file object
        The array, from its beginning.
    size : int
        Its size in bytes.
    """
    shape, dtype = _read_header(file)
    if dtype.hasobject:
        return  # which is rejected by numpy
    values = math.prod(shape) * dtype.itemsize
    if values > size - file.tell():
        raise ReadError(
            f"{path} must contain the values of its arrays; an array of shape {shape} has {size - file.tell():,} of "
            f"{values:,} bytes: copy or download it again"
        )
    if dtype.kind in "US":
        check_string_width(path, dtype.itemsize)
    check_memory(values, f"an array of {path}", error=ReadError)


def read_npy(path: Path) -> NDArray[Any]:
    """Read an npy file; pickled objects are rejected.

    Parameters
    ----------
    path : Path
        File to read.

    Returns
    -------
    ndarray

    Raises
    ------
    ReadError
        If the file is not a valid npy file.
    """
    path = check_readable(path)
    begins = _read_magic(path)
    if begins.startswith(_NPZ_BEGINS):
        raise ReadError(f"{path} must be an npy file, as its name indicates; it contains several arrays: name it .npz")
    if begins != _NPY_BEGINS:
        raise ReadError(f"{path} must be an npy file, as its name indicates; it is not")
    with wrap_read_errors(path, "npy"):
        with path.open("rb") as file:
            _check_size(path, file, path.stat().st_size)
        loaded: NDArray[Any] = np.load(path, allow_pickle=False)
        return loaded


@contextmanager
def wrap_read_errors(path: Path, kind: str) -> Iterator[None]:
    """Convert any exception of a library that reads a damaged file to a `ReadError`.

    Parameters
    ----------
    path : Path
        File that is read.
    kind : str
        Name of the format for the message.

    Raises
    ------
    ReadError
        If the ``with`` block raises an exception.
    """
    try:
        yield
    except (GraphproxError, Warning):
        raise
    except Exception as error:
        if "allow_pickle" in str(error):
            raise ReadError(
                f"{path} must contain plain arrays; it contains pickled objects, which could run code, "
                "and is rejected: save it with allow_pickle=False"
            ) from None
        raise ReadError(f"{path} must be a valid {kind} file, as its name indicates: {reason(error)}") from None


# -- sparse matrices ------------------------------------------------------------------------------------------------


def read_sparse(arrays: NpzArrays, prefix: str = "") -> sp.csr_array | None:
    """Read a sparse matrix stored as several arrays, such as ``data``, ``indices``, ``indptr`` and ``shape``.

    Parameters
    ----------
    arrays : NpzArrays
        An npz file, as written by ``scipy.sparse.save_npz`` or published for CitationFull.
    prefix : str, default=""
        Prefix of the names: "adj_" or "attr_" in a CitationFull file.

    Returns
    -------
    csr_array or None
        None if the file does not contain these arrays.
    """
    for keys, make in ((_COMPRESSED_KEYS, _make_compressed), (_COO_KEYS, _make_coo)):
        if all(prefix + key in arrays for key in keys):
            parts = [arrays[prefix + key] for key in keys]
            if parts[0].dtype.kind not in "biuf":
                raise ReadError(f"{prefix}data must contain numbers; {arrays.path} has {parts[0].dtype}")
            with wrap_read_errors(arrays.path, "npz"):
                _check_shape(arrays.path, _pair(parts[-1]), parts)
                return make("csr" if prefix else _read_format(arrays), *parts)
    return None


def _check_shape(path: Path, shape: tuple[int, int], parts: Sequence[NDArray[Any]]) -> None:
    """Check that a shape is not much larger than what the arrays describe, as each row takes memory."""
    check_nodes(path, shape[0], sum(part.size for part in parts))
    check_features(path, shape[1])


def _make_compressed(
    kind: str, data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: NDArray[Any]
) -> sp.csr_array:
    rows, columns = _pair(shape)
    matrix = _COMPRESSED[kind]((data, indices, indptr), shape=(rows, columns))
    outside = indices[(indices < 0) | (indices >= (rows if kind == "csc" else columns))]
    if len(outside):
        raise ValueError(f"it contains the unknown node or column {outside[0]} of a {rows} x {columns} matrix")
    # Without this check scipy would access memory outside of the matrix.
    matrix.check_format(full_check=True)
    return sp.csr_array(matrix)


def _make_coo(_: str, data: NDArray[Any], row: NDArray[Any], col: NDArray[Any], shape: NDArray[Any]) -> sp.csr_array:
    return sp.csr_array((data, (row, col)), shape=_pair(shape))


def _pair(shape: NDArray[Any]) -> tuple[int, int]:
    rows, columns = shape
    return int(rows), int(columns)


def _read_format(arrays: NpzArrays) -> str:
    if "format" not in arrays:
        return "csr"
    name = arrays["format"].item()
    return name.decode() if isinstance(name, bytes) else str(name)
