"""Any data set of PyG, by the name ``pyg:CLASS`` or ``pyg:CLASS:NAME``.

PyG's loader writes beside what it reads, so it is shown a temporary folder in which the raw files appear by links.
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
from graphprox.datasets.source import cache_directory, data_directory, downloading, pyg_class
from graphprox.errors import DatasetError
from graphprox.interop import from_pyg
from graphprox.splits import NodeSplit

if TYPE_CHECKING:
    from torch_geometric.data import Data

PREFIX = "pyg:"


def load_pyg(spec: str, data: str | Path | None) -> Dataset:
    """Load ``pyg:CLASS`` or ``pyg:CLASS:NAME``, its files laid out as PyG lays them out."""
    class_name, _, name = spec.removeprefix(PREFIX).partition(":")
    loader = pyg_class(class_name)
    arguments = _arguments(loader, spec, name)
    directory = data_directory(data)
    try:
        found = None if directory is None else _read_at_hand(loader, directory, arguments)
        if found is None:
            found = _read_or_download(loader, spec, arguments, directory)
    except AssertionError:
        raise DatasetError(f"{spec} must name a data set that PyG's {class_name} knows; it knows no {name!r}") from None
    return Dataset(spec, from_pyg(_single_graph(spec, found)), _splits_of(found[0]))


def _arguments(loader: type, spec: str, name: str) -> tuple[str, ...]:
    """What stands behind the root in the loader's signature: a name, if it takes one."""
    parameters = list(inspect.signature(loader).parameters)
    takes_name = parameters[1:2] == ["name"]
    if takes_name and not name:
        raise DatasetError(f"{spec} must name one of the data sets of its class: write {spec}:NAME")
    if name and not takes_name:
        raise DatasetError(f"{spec} must not name a data set, as its class is one: write {spec.rpartition(':')[0]}")
    return (name,) if name else ()


class _NotAtHandError(Exception):
    """Raised in place of a download: the files are not in the data directory."""


def _read_at_hand(loader: type, directory: Path, arguments: tuple[str, ...]) -> Any:
    def refuse(_: Any) -> None:
        raise _NotAtHandError

    local = type(loader.__name__, (loader,), {"download": refuse})
    with _linked(directory) as mirror, redirect_stderr(io.StringIO()):  # PyG announces each step of processing
        # A class of one data set takes the set's own folder; a class of many, the folder that holds theirs.
        root = mirror if arguments else mirror / loader.__name__
        try:
            return _construct(local, root, arguments)
        except _NotAtHandError:
            return None


@contextmanager
def _linked(directory: Path) -> Iterator[Path]:
    """A temporary folder that mirrors the directory: folders are new, ``raw`` folders and files are links."""
    with tempfile.TemporaryDirectory(prefix="graphprox-") as mirror:
        for folder, folders, files in os.walk(directory):
            place = Path(mirror, os.path.relpath(folder, directory))
            place.mkdir(exist_ok=True)
            for name in files:
                (place / name).symlink_to(Path(folder, name).resolve())
            if "raw" in folders:
                (place / "raw").symlink_to(Path(folder, "raw").resolve())
            # What a loader made of the raw files is not taken over: it may be of another version.
            folders[:] = [name for name in folders if name not in ("raw", "processed")]
        yield Path(mirror)


def _read_or_download(loader: type, spec: str, arguments: tuple[str, ...], directory: Path | None) -> Any:
    folder = spec.replace(":", "/")
    kept = cache_directory() / folder
    if kept.is_dir():
        return _construct(loader, kept, arguments)
    with downloading(spec, folder, directory, holding="its raw files as PyG lays them out") as staging:
        return _construct(loader, staging / folder, arguments)


def _construct(loader: type, root: Path, arguments: tuple[str, ...]) -> Any:
    # Some loaders warn of what they did otherwise years ago.
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        return loader(str(root), *arguments)


def _single_graph(spec: str, found: Any) -> Data:
    if len(found) != 1:
        raise DatasetError(f"a data set must hold one graph, whose nodes are embedded; {spec} holds {len(found)}")
    data: Data = found[0]
    return data


def _splits_of(data: Data) -> Splits:
    """The masks of a ``Data``, of one split or of several, one in each column."""
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
