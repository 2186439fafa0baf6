"""Location of raw files: a data directory, which is only read, or the cache, to which PyG downloads."""

from __future__ import annotations

import ast
import errno
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn
from urllib.error import HTTPError

from graphprox._utils.suggestions import did_you_mean, shorten_repr
from graphprox.datasets.catalog import CatalogEntry
from graphprox.errors import DatasetError, GraphproxError
from graphprox.io.storage.files import cache_folder, reason

DATA_VARIABLE = "GRAPHPROX_DATA"
_DISK_ERRORS = (errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EROFS, errno.EDQUOT, errno.ENOTDIR)


def data_directory(given: str | Path | None) -> Path | None:
    """Return the given directory of data sets, or that of the environment variable ``GRAPHPROX_DATA``.

    Parameters
    ----------
    given : str or Path, or None
        Directory given by the user.

    Returns
    -------
    Path or None

    Raises
    ------
    DatasetError
        If it is not a directory.
    """
    named = given or os.environ.get(DATA_VARIABLE)
    if not named:
        return None
    directory = Path(named)
    if not directory.is_dir():
        origin = "data" if given else DATA_VARIABLE
        raise DatasetError(f"{origin} must be a directory of data sets; {directory} is not a directory")
    return directory


def cache_directory() -> Path:
    """Return the directory of downloads, in ``XDG_CACHE_HOME`` or ``~/.cache``.

    Returns
    -------
    Path
    """
    return cache_folder("datasets")


def find_raw_folder(entry: CatalogEntry, data: str | Path | None) -> Path | None:
    """Find the folder of a data set's raw files in the data directory or the cache.

    Parameters
    ----------
    entry : CatalogEntry
        The data set.
    data : str or Path, or None
        Directory of data sets.

    Returns
    -------
    Path or None
    """
    directory = data_directory(data)
    places = [cache_directory()] if directory is None else [directory, cache_directory()]
    return next((place / entry.folder for place in places if (place / entry.folder).is_dir()), None)


def get_raw_folder(entry: CatalogEntry, data: str | Path | None) -> Path:
    """Return the folder of a data set's raw files, and download them if necessary.

    Parameters
    ----------
    entry : CatalogEntry
        The data set.
    data : str or Path, or None
        Directory of data sets.

    Returns
    -------
    Path

    Raises
    ------
    DatasetError
        If the files are neither available nor downloadable.
    """
    found = find_raw_folder(entry, data)
    if found is not None:
        return found
    if not entry.loader:
        raise DatasetError(
            f"{entry.name} is not available and cannot be downloaded: copy the files of {entry.source} to "
            f"{entry.folder} in a data directory, and set data or {DATA_VARIABLE} to it"
        )
    with download_to_cache(entry.name, entry.folder, data_directory(data), contents=entry.folder) as root:
        _download(
            get_pyg_class(entry.loader[0]), root if len(entry.loader) > 1 else root / entry.name, *entry.loader[1:]
        )
    return cache_directory() / entry.folder


@contextmanager
def download_to_cache(name: str, folder: str, directory: Path | None, *, contents: str) -> Iterator[Path]:
    """Download files to the cache, atomically.

    Parameters
    ----------
    name : str
        Name of the data set, for error messages.
    folder : str
        Folder that is moved to the cache if the ``with`` block ends without an error.
    directory : Path or None
        The data directory, for error messages.
    contents : str
        What a data directory must contain, for error messages.

    Yields
    ------
    Path
        A temporary directory, in which ``folder`` is to be created.

    Raises
    ------
    DatasetError
        If the download fails.
    """
    cache = cache_directory()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, prefix=".download-") as staging:
            yield Path(staging)
            target = cache / folder
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists() and Path(staging, folder).exists():  # some classes generate a graph
                shutil.move(Path(staging, folder), target)
    except (GraphproxError, MemoryError):
        raise
    except Exception as error:  # PyG, fsspec and the network may raise anything
        raise DatasetError(_describe_failure(name, error, directory, contents)) from error


def _describe_failure(name: str, error: Exception, directory: Path | None, contents: str) -> str:
    """Return the sentence about a failed download, by its cause: the disk, the server or the network."""
    choice = f"set data or {DATA_VARIABLE} to a directory that contains {contents}"
    shown = (str(error).splitlines() or [type(error).__name__])[0][:120]
    if isinstance(error, OSError) and error.errno in _DISK_ERRORS:
        return f"{name} cannot be saved in {cache_directory()}: {reason(error)}: free space, or set XDG_CACHE_HOME"
    if isinstance(error, HTTPError):
        return f"{name} is not on its server, which answers {shown}: check the name, or {choice}"
    where = f"in {directory}" if directory else "available"
    return (
        f"{name} is not {where} and cannot be downloaded ({type(error).__name__}: {shown}): connect to the network, "
        f"or {choice}"
    )


class _DownloadedError(Exception):
    """Stops PyG's loader after the download, before processing."""


def _download(loader: type, root: Path, *name: str) -> None:
    def stop(_: Any) -> None:
        raise _DownloadedError

    with suppress(_DownloadedError), warnings.catch_warnings(action="ignore", category=UserWarning):
        type(loader.__name__, (loader,), {"process": stop})(str(root), *name)


def get_pyg_class(name: str) -> type:
    """Return a data set class of PyG by its name.

    Parameters
    ----------
    name : str
        Name of a class in ``torch_geometric.datasets``.

    Returns
    -------
    type

    Raises
    ------
    DatasetError
        If there is no such class.
    """
    names = [] if "torch_geometric.datasets" in sys.modules else _list_exported_names()
    if names and name not in names:
        _reject_class(name, names)  # without the seconds that importing it takes
    import torch_geometric.datasets

    known = {
        each: found
        for each, found in vars(torch_geometric.datasets).items()
        if isinstance(found, type) and issubclass(found, torch_geometric.data.Dataset)
    }
    if name not in known:
        _reject_class(name, known)
    return known[name]


def _list_exported_names() -> list[str]:
    """Return what torch_geometric.datasets exports, without importing it."""
    spec = find_spec("torch_geometric")  # a package without a parent, which is therefore not imported
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    files = [Path(folder, "datasets", "__init__.py") for folder in folders]
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in files if file.is_file()]
    imports = [each for tree in trees for each in tree.body if isinstance(each, ast.ImportFrom)]
    return [alias.asname or alias.name for each in imports for alias in each.names]


def _reject_class(name: str, known: Iterable[str]) -> NoReturn:
    hint = did_you_mean(name[:100], known, otherwise="its documentation lists them")
    raise DatasetError(
        f"pyg: must name a data set class of torch_geometric.datasets; it has no {shorten_repr(name)}: {hint}"
    )
