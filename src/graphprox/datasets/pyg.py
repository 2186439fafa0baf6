"""Load any PyG data set by the name ``pyg:CLASS`` or ``pyg:CLASS:NAME``.

PyG's loaders write to the folder that they read and unpickle files. Each is given a folder of its own, with links to
the raw files of a data directory, and runs under a guard.
"""

from __future__ import annotations

import inspect
import io
import os
import re
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphprox._utils.suggestions import shorten_repr
from graphprox.datasets.dataset import NO_SPLITS, Dataset, Splits
from graphprox.datasets.loader_guard import ALLOWED_GLOBALS, TRUST, guard_loader
from graphprox.datasets.planetoid import load_planetoid, read_planetoid
from graphprox.datasets.source import cache_directory, data_directory, download_to_cache, get_pyg_class
from graphprox.errors import DatasetError, GraphproxError
from graphprox.graph.conversion import from_pyg, to_pyg
from graphprox.graph.splits import NodeSplit
from graphprox.io.storage.files import reason

if TYPE_CHECKING:
    from torch_geometric.data import Data

PREFIX = "pyg:"
_MASKS = ("train_mask", "val_mask", "test_mask")

# A name becomes a part of paths and addresses, so it must not lead to another folder.
_NAME = re.compile(r"[A-Za-z0-9_()+-][A-Za-z0-9_()+. -]{0,99}")


def load_pyg(spec: str, data: str | Path | None, *, trust_pickles: bool = False) -> Dataset:
    """Load a data set of PyG.

    Parameters
    ----------
    spec : str
        ``pyg:CLASS`` or ``pyg:CLASS:NAME``.
    data : str or Path, or None
        Directory of data sets, in PyG's layout. It is only read.
    trust_pickles : bool, default=False
        Whether pickles are loaded that contain more than arrays, and could run code.

    Returns
    -------
    Dataset
    """
    class_name, colon, name = spec.removeprefix(PREFIX).partition(":")
    if colon and not _NAME.fullmatch(name):
        raise DatasetError(
            "the name of a data set of PyG must be at most 100 letters, digits, spaces and ._-+(), and not begin with "
            f"a dot or a space; got {shorten_repr(name)}"
        )
    loader = get_pyg_class(class_name)
    loading = _Loading(spec, loader, _arguments(loader, spec, name), trust_pickles)
    directory = data_directory(data)
    if directory is not None:
        with _temporary_folder() as folder:
            found = loading.read_available(folder, directory)
        if found is not None:
            return found
    place = spec.replace(":", "/")
    cached = cache_directory() / place
    if cached.is_dir():
        return loading.read(cached, stage=_READ)
    with download_to_cache(spec, place, directory, contents="its raw files in PyG's layout") as staging:
        return loading.read(staging / place)


def _arguments(loader: type, spec: str, name: str) -> tuple[str, ...]:
    """Return the arguments after the root in the loader's signature: the name, if it takes one."""
    parameters = list(inspect.signature(loader).parameters)
    takes_name = parameters[1:2] == ["name"]
    if takes_name and not name:
        raise DatasetError(f"{spec} must name a data set of its class; got none: write {spec.rstrip(':')}:NAME")
    if name and not takes_name:
        raise DatasetError(
            f"{spec} must not name a data set, as its class has only one; got {name!r}: write {spec.rpartition(':')[0]}"
        )
    return (name,) if name else ()


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    """Create a folder in the cache, or in the system's folder of temporary files if the cache cannot be written."""
    cache = cache_directory()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        made = tempfile.TemporaryDirectory(dir=cache, prefix=".loading-")
    except OSError:
        made = tempfile.TemporaryDirectory(prefix="graphprox-")
    with made as folder:
        yield Path(folder)


# -- running a loader -----------------------------------------------------------------------------------------------

# Stages of a loader, to name the cause of an error.
_CHECK, _LINK, _DOWNLOAD, _PROCESS, _READ = "check", "link", "download", "process", "read"


class _NotAvailableError(Exception):
    """Raised instead of downloading: the folder of the files is not in the data directory."""


@dataclass
class _Loading:
    """A loader with its arguments, and the stage that it has reached."""

    spec: str
    loader: type
    arguments: tuple[str, ...]
    trust_pickles: bool
    stage: str = field(default=_CHECK)

    def read_available(self, folder: Path, directory: Path) -> Dataset | None:
        """Read the files of a data directory, through links in a folder; None if it has no folder of them."""
        # The root of a class with one data set is its own folder; that of others is the parent folder.
        root = folder if self.arguments else folder / self.loader.__name__
        try:
            with redirect_stderr(io.StringIO()):  # PyG prints every processing step
                return self.read(root, source=_Source(folder, directory))
        except _NotAvailableError:
            return None

    def read(self, root: Path, *, source: _Source | None = None, stage: str = _CHECK) -> Dataset:
        """Run the loader in a folder, and convert the graph that it finds."""
        self.stage = stage
        allowed = None if self.trust_pickles else ALLOWED_GLOBALS
        try:
            with guard_loader(self.spec, allowed=allowed, read_only=None if source is None else source.directory):
                found = self._construct(root, source)
                return Dataset(self.spec, from_pyg(_single_graph(self.spec, found)), _read_splits(found[0]))
        except (GraphproxError, _NotAvailableError, MemoryError):
            raise
        except Exception as error:  # PyG may raise anything
            if self.stage == _DOWNLOAD:
                raise
            raise self._describe(error, root if source is None else source.directory) from error

    @property
    def _is_planetoid(self) -> bool:
        return self.loader.__name__ == "Planetoid"

    def _construct(self, root: Path, source: _Source | None) -> Any:
        from torch_geometric.data import Dataset as PygDataset

        loader, loading = self.loader, self

        def download(dataset: Any) -> None:
            loading.stage = _DOWNLOAD if source is None else _LINK
            if source is None:
                loader.download(dataset)  # type: ignore[attr-defined]
            else:
                source.link(dataset)

        def process(dataset: Any) -> None:
            loading.stage = _PROCESS
            if loading._is_planetoid and not loading.trust_pickles:
                _process_planetoid(dataset)
            else:
                loader.process(dataset)  # type: ignore[attr-defined]
            loading.stage = _READ

        replaced = {"download": download, "process": process}
        # PyG calls either method only if a class overrides it.
        own = {
            name: method
            for name, method in replaced.items()
            if getattr(loader, name, None) is not getattr(PygDataset, name)
        }
        takes_root = next(iter(inspect.signature(loader).parameters), None) == "root"
        # Some loaders warn about changes of their defaults.
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            return type(loader.__name__, (loader,), own)(*((str(root), *self.arguments) if takes_root else ()))

    def _describe(self, error: Exception, place: Path) -> DatasetError:
        """Return the sentence about an error, by the stage in which it was raised."""
        if isinstance(error, ImportError):
            return DatasetError(f"{self.spec} needs a package that is not installed: {reason(error)}")
        if self.stage == _CHECK and self.arguments:
            return DatasetError(
                f"{self.spec} must name a data set of PyG's {self.loader.__name__}; it has no {self.arguments[0]!r}"
            )
        if self.stage == _CHECK:
            return DatasetError(f"{self.spec} must be a data set that needs no further arguments: {reason(error)}")
        return DatasetError(f"the files of {self.spec} in {place} are incomplete or damaged: {reason(error)}")


@dataclass(frozen=True)
class _Source:
    """The folder of a loader, and the data directory whose raw files are linked in it."""

    folder: Path
    directory: Path

    def link(self, dataset: Any) -> None:
        """Link the raw files of a data set, each by itself, as a loader may create others next to them."""
        raw = Path(dataset.raw_dir)
        place = self.directory / raw.relative_to(self.folder)
        if not place.is_dir():
            raise _NotAvailableError
        for folder, _, files in os.walk(place):
            target = raw / os.path.relpath(folder, place)
            target.mkdir(parents=True, exist_ok=True)
            for name in files:
                (target / name).symlink_to(Path(folder, name).resolve())
        missing = [os.path.relpath(path, raw) for path in dataset.raw_paths if not Path(path).exists()]
        if missing:
            raise DatasetError(
                f"{place} must contain the files of the data set; it lacks {', '.join(missing[:3])}"
                f"{', ...' * (len(missing) > 3)}: copy them there, or remove the folder to download them"
            )


def _process_planetoid(dataset: Any) -> None:
    """Process Planetoid's files by the reader of graphprox, as PyG would unpickle the matrices of scipy."""
    import torch

    raw = Path(dataset.raw_dir)
    for path in sorted(raw.glob("ind.*")):
        if not path.name.endswith(".index"):
            load_planetoid(path, advice=TRUST)
    graph, splits = read_planetoid(raw)
    data = to_pyg(graph)
    if data.x is not None and data.x.layout != torch.strided:
        data.x = data.x.to_dense()  # as PyG stores them
    split = splits["public"][0]
    for name, nodes in zip(_MASKS, (split.train, split.val, split.test), strict=True):
        data[name] = torch.zeros(graph.num_nodes, dtype=torch.bool).index_fill_(0, torch.tensor(nodes), True)
    dataset.save([data], dataset.processed_paths[0])


# -- conversion -----------------------------------------------------------------------------------------------------


def _single_graph(spec: str, found: Any) -> Data:
    if len(found) != 1:
        raise DatasetError(f"a data set must contain a single graph; {spec} contains {len(found)}")
    data: Data = found[0]
    return data


def _read_splits(data: Data) -> Splits:
    """Read the masks of a ``Data``, a column per split."""
    if not all(name in data for name in _MASKS):
        return NO_SPLITS
    masks = [data[name].reshape(data.num_nodes, -1).numpy() for name in _MASKS]
    count = max(mask.shape[1] for mask in masks)
    return {
        "public": tuple(
            NodeSplit.from_masks(*(mask[:, min(i, mask.shape[1] - 1)] for mask in masks)) for i in range(count)
        )
    }
