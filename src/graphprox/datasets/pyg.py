"""Load any PyG data set by the name ``pyg:CLASS`` or ``pyg:CLASS:NAME``.

PyG's loaders write to the folder that they read, so they are given a temporary folder with links to the raw files.
"""

from __future__ import annotations

import inspect
import io
import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphprox.datasets.dataset import NO_SPLITS, Dataset, Splits
from graphprox.datasets.source import cache_directory, data_directory, download_to_cache, get_pyg_class
from graphprox.errors import DatasetError
from graphprox.graph.conversion import from_pyg
from graphprox.graph.splits import NodeSplit

if TYPE_CHECKING:
    from torch_geometric.data import Data

PREFIX = "pyg:"


def load_pyg(spec: str, data: str | Path | None) -> Dataset:
    """Load a data set of PyG.

    Parameters
    ----------
    spec : str
        ``pyg:CLASS`` or ``pyg:CLASS:NAME``.
    data : str or Path, or None
        Directory of data sets, in PyG's layout.

    Returns
    -------
    Dataset
    """
    class_name, _, name = spec.removeprefix(PREFIX).partition(":")
    loader = get_pyg_class(class_name)
    arguments = _arguments(loader, spec, name)
    directory = data_directory(data)
    try:
        found = None if directory is None else _read_available(loader, directory, arguments)
        if found is None:
            found = _read_or_download(loader, spec, arguments, directory)
    except AssertionError:
        raise DatasetError(f"{spec} must name a data set of PyG's {class_name}; it has no {name!r}") from None
    return Dataset(spec, from_pyg(_single_graph(spec, found)), _read_splits(found[0]))


def _arguments(loader: type, spec: str, name: str) -> tuple[str, ...]:
    """Return the arguments after the root in the loader's signature: the name, if it takes one."""
    parameters = list(inspect.signature(loader).parameters)
    takes_name = parameters[1:2] == ["name"]
    if takes_name and not name:
        raise DatasetError(f"{spec} must name a data set of its class; got none: write {spec}:NAME")
    if name and not takes_name:
        raise DatasetError(
            f"{spec} must not name a data set, as its class has only one; got {name!r}: write {spec.rpartition(':')[0]}"
        )
    return (name,) if name else ()


class _NotAvailableError(Exception):
    """Raised instead of downloading: the files are not in the data directory."""


def _read_available(loader: type, directory: Path, arguments: tuple[str, ...]) -> Any:
    def fail(_: Any) -> None:
        raise _NotAvailableError

    local = type(loader.__name__, (loader,), {"download": fail})
    with _mirror(directory) as mirrored, redirect_stderr(io.StringIO()):  # PyG prints every processing step
        # The root of a class with one data set is its own folder; that of others is the parent folder.
        root = mirrored if arguments else mirrored / loader.__name__
        try:
            return _construct(local, root, arguments)
        except _NotAvailableError:
            return None


@contextmanager
def _mirror(directory: Path) -> Iterator[Path]:
    """Create a temporary mirror of a directory, in which ``raw`` folders and files are links."""
    with tempfile.TemporaryDirectory(prefix="graphprox-") as mirror:
        for folder, folders, files in os.walk(directory):
            place = Path(mirror, os.path.relpath(folder, directory))
            place.mkdir(exist_ok=True)
            for name in files:
                (place / name).symlink_to(Path(folder, name).resolve())
            if "raw" in folders:
                (place / "raw").symlink_to(Path(folder, "raw").resolve())
            # Processed files are not linked: they may be of another version of PyG.
            folders[:] = [name for name in folders if name not in ("raw", "processed")]
        yield Path(mirror)


def _read_or_download(loader: type, spec: str, arguments: tuple[str, ...], directory: Path | None) -> Any:
    folder = spec.replace(":", "/")
    cached = cache_directory() / folder
    if cached.is_dir():
        return _construct(loader, cached, arguments)
    with download_to_cache(spec, folder, directory, contents="its raw files in PyG's layout") as staging:
        return _construct(loader, staging / folder, arguments)


def _construct(loader: type, root: Path, arguments: tuple[str, ...]) -> Any:
    # Some loaders warn about changes of their defaults.
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        return loader(str(root), *arguments)


def _single_graph(spec: str, found: Any) -> Data:
    if len(found) != 1:
        raise DatasetError(f"a data set must contain a single graph; {spec} contains {len(found)}")
    data: Data = found[0]
    return data


def _read_splits(data: Data) -> Splits:
    """Read the masks of a ``Data``, a column per split."""
    names = ("train_mask", "val_mask", "test_mask")
    if not all(name in data for name in names):
        return NO_SPLITS
    masks = [data[name].reshape(data.num_nodes, -1).numpy() for name in names]
    count = max(mask.shape[1] for mask in masks)
    return {
        "public": tuple(
            NodeSplit.from_masks(*(mask[:, min(i, mask.shape[1] - 1)] for mask in masks)) for i in range(count)
        )
    }
