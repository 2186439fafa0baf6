"""Where raw files lie: in a data directory, which is only read, or in the cache, into which PyG downloads."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from graphprox.datasets.catalogue import Entry
from graphprox.errors import DatasetError
from graphprox.io.files import cache_folder

DATA_VARIABLE = "GRAPHPROX_DATA"


def data_directory(given: str | Path | None) -> Path | None:
    """The directory of data sets that was given, or that the environment names, or None."""
    named = given or os.environ.get(DATA_VARIABLE)
    if not named:
        return None
    directory = Path(named)
    if not directory.is_dir():
        origin = "--data" if given else DATA_VARIABLE
        raise DatasetError(f"{origin} must name a directory of data sets; {directory} is none")
    return directory


def cache_directory() -> Path:
    """Where downloads are kept: ``graphprox`` below XDG_CACHE_HOME, or below ``~/.cache``."""
    return cache_folder("datasets")


def folder_at_hand(entry: Entry, data: str | Path | None) -> Path | None:
    """The folder of the entry's raw files, in the data directory or the cache, or None."""
    directory = data_directory(data)
    places = [cache_directory()] if directory is None else [directory, cache_directory()]
    return next((place / entry.folder for place in places if (place / entry.folder).is_dir()), None)


def raw_folder(entry: Entry, data: str | Path | None) -> Path:
    """The folder of the entry's raw files, downloaded if they are not at hand."""
    found = folder_at_hand(entry, data)
    if found is not None:
        return found
    if not entry.loader:
        raise DatasetError(
            f"{entry.name} is not at hand, and no loader downloads it: put the files of {entry.source} into "
            f"{entry.folder} below a directory, and name that by --data or {DATA_VARIABLE}"
        )
    with downloading(entry.name, entry.folder, data_directory(data), holding=entry.folder) as root:
        _download(pyg_class(entry.loader[0]), root if len(entry.loader) > 1 else root / entry.name, *entry.loader[1:])
    return cache_directory() / entry.folder


@contextmanager
def downloading(name: str, folder: str, directory: Path | None, *, holding: str) -> Iterator[Path]:
    """A new place in the cache; its ``folder`` moves into the cache when the block ends well, whole or not at all.

    What goes wrong becomes one sentence: a data directory ``holding`` the files would do as well.
    """
    cache = cache_directory()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, prefix=".download-") as staging:
            yield Path(staging)
            target = cache / folder
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists():
                shutil.move(Path(staging, folder), target)
    except (DatasetError, AssertionError):
        raise
    except Exception as error:  # whatever a download can raise: it is PyG's, fsspec's and the network's choice
        looked = f"in {directory}" if directory else "at hand"
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DatasetError(
            f"{name} is not {looked} and cannot be downloaded ({type(error).__name__}: {reason[:120]}): connect to "
            f"the network, or name a directory that holds {holding} by --data or {DATA_VARIABLE}"
        ) from error


class _DownloadedError(Exception):
    """Stops PyG's loader after the download, before it makes features dense."""


def _download(loader: type, root: Path, *name: str) -> None:
    def stop(_: Any) -> None:
        raise _DownloadedError

    with suppress(_DownloadedError), warnings.catch_warnings(action="ignore", category=UserWarning):
        type(loader.__name__, (loader,), {"process": stop})(str(root), *name)


def pyg_class(name: str) -> type:
    """A data set class of PyG by its name."""
    import torch_geometric.datasets

    found = getattr(torch_geometric.datasets, name, None)
    if not isinstance(found, type):
        raise DatasetError(f"pyg: must name a data set class of torch_geometric.datasets; it has no {name!r}")
    return found
