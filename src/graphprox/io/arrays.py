"""NumPy's files, opened without ever loading a pickle."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphprox.errors import GraphproxError, IgnoredInputWarning, ReadError
from graphprox.io.files import readable, reason

_NPZ_BEGINS, _NPY_BEGINS = b"PK", b"\x93NUMPY"
_COMPRESSED_KEYS, _LISTED_KEYS = ("data", "indices", "indptr", "shape"), ("data", "row", "col", "shape")
_COMPRESSED = {"csr": sp.csr_array, "csc": sp.csc_array, "bsr": sp.bsr_array}


class NpzArrays(Mapping[str, NDArray[Any]]):
    """The arrays of an npz file by name, each read when it is asked for."""

    def __init__(self, path: Path, loaded: np.lib.npyio.NpzFile, members: zipfile.ZipFile) -> None:
        self.path = path
        self._loaded = loaded
        self._names = [name.removesuffix(".npy") for name in members.namelist() if name.endswith(".npy")]

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._names:
            raise KeyError(name)
        with damage_named(self.path, "npz"):
            array: NDArray[Any] = self._loaded[f"{name}.npy"]
            return array

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@contextmanager
def opened_npz(path: Path) -> Iterator[NpzArrays]:
    """The arrays of an npz file; pickled objects are refused."""
    path = readable(path)
    begins = _beginning(path)
    if begins == _NPY_BEGINS:
        raise ReadError(f"{path} must be an npz file, as its name says; it is a single array: name it .npy")
    if not begins.startswith(_NPZ_BEGINS):
        raise ReadError(f"{path} must be an npz file, as its name says; it is not")
    with path.open("rb") as file:
        with damage_named(path, "npz"):
            loaded = np.load(file, allow_pickle=False)
        with loaded, zipfile.ZipFile(file) as members:
            arrays = NpzArrays(path, loaded, members)
            _warn_of_pickles(arrays, members)
            yield arrays


def _beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(_NPY_BEGINS))


def _warn_of_pickles(arrays: NpzArrays, members: zipfile.ZipFile) -> None:
    """Published files keep lists of names as pickles beside their arrays: those are left where they are."""
    with damage_named(arrays.path, "npz"):
        pickled = [name for name in arrays if _is_pickled(members, name)]
    if pickled:
        warnings.warn(
            f"{', '.join(pickled)} of {arrays.path} holds pickled objects, which could run code: never loaded",
            IgnoredInputWarning,
            stacklevel=5,
        )


def _is_pickled(members: zipfile.ZipFile, name: str) -> bool:
    with members.open(f"{name}.npy") as member:
        version = np.lib.format.read_magic(member)
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        return bool(read_header(member)[2].hasobject)


def read_npy(path: Path) -> NDArray[Any]:
    """The array of an npy file; pickled objects are refused."""
    path = readable(path)
    begins = _beginning(path)
    if begins.startswith(_NPZ_BEGINS):
        raise ReadError(f"{path} must be an npy file, as its name says; it holds several arrays: name it .npz")
    if begins != _NPY_BEGINS:
        raise ReadError(f"{path} must be an npy file, as its name says; it is not")
    with damage_named(path, "npy"):
        loaded: NDArray[Any] = np.load(path, allow_pickle=False)
        return loaded


@contextmanager
def damage_named(path: Path, kind: str) -> Iterator[None]:
    """Whatever a library meets in a damaged file, and that can be anything, is said in one sentence."""
    try:
        yield
    except (GraphproxError, Warning):
        raise
    except Exception as error:
        if "allow_pickle" in str(error):
            raise ReadError(
                f"{path} must hold plain arrays; it holds pickled objects, which could run code, and is refused: "
                "save it with allow_pickle=False"
            ) from None
        raise ReadError(f"{path} must be a whole and sound {kind} file, as its name says: {reason(error)}") from None


# -- sparse matrices ------------------------------------------------------------------------------------------------


def sparse_of(arrays: NpzArrays, prefix: str = "") -> sp.csr_array | None:
    """The CSR matrix that the arrays ``data``, ``indices``, ``indptr`` and ``shape`` make, if they are there.

    With a prefix it is the ``adj_*`` or ``attr_*`` of the CitationFull kind of file; without, what
    ``scipy.sparse.save_npz`` writes, in whatever format.
    """
    for keys, make in ((_COMPRESSED_KEYS, _compressed), (_LISTED_KEYS, _listed)):
        if all(prefix + key in arrays for key in keys):
            parts = [arrays[prefix + key] for key in keys]
            if parts[0].dtype.kind not in "biuf":
                raise ReadError(f"{prefix}data must hold numbers; {arrays.path} has {parts[0].dtype}")
            with damage_named(arrays.path, "npz"):
                return make("csr" if prefix else _format_of(arrays), *parts)
    return None


def _compressed(
    kind: str, data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: NDArray[Any]
) -> sp.csr_array:
    rows, columns = _pair(shape)
    matrix = _COMPRESSED[kind]((data, indices, indptr), shape=(rows, columns))
    outside = indices[(indices < 0) | (indices >= (rows if kind == "csc" else columns))]
    if len(outside):
        raise ValueError(f"it names the unknown node or column {outside[0]} of a {rows} x {columns} matrix")
    # Without this scipy would follow an index beyond the matrix into memory that is not its own.
    matrix.check_format(full_check=True)
    return sp.csr_array(matrix)


def _listed(_: str, data: NDArray[Any], row: NDArray[Any], col: NDArray[Any], shape: NDArray[Any]) -> sp.csr_array:
    return sp.csr_array((data, (row, col)), shape=_pair(shape))


def _pair(shape: NDArray[Any]) -> tuple[int, int]:
    rows, columns = shape
    return int(rows), int(columns)


def _format_of(arrays: NpzArrays) -> str:
    if "format" not in arrays:
        return "csr"
    name = arrays["format"].item()
    return name.decode() if isinstance(name, bytes) else str(name)
