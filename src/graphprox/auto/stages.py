"""Finished stages of a long run of the default method, in a folder, from which a run that was killed is resumed.

    stages/run.json        what the run is: checksum of the graph, settings, random state, versions
    stages/DIGEST-N.npy    arrays of a stage
    stages/DIGEST.json     their checksums; written last, and atomically: without it, a stage is not finished

The digest is that of the run and of the name of the stage, so that nothing of another run is ever read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphprox._utils.mapped import release_pages
from graphprox._utils.stacklevel import warn
from graphprox._utils.team import current_team
from graphprox.auto.row_store import RowStore, row_blocks
from graphprox.errors import DamagedCheckpointWarning, ParameterError, ReadError, WriteError
from graphprox.graph.checksum import graph_checksum
from graphprox.graph.graph import Graph
from graphprox.io.storage.files import atomic_write, make_writable_folder, reason
from graphprox.io.storage.model_files import RUN, STAGES, remove_files, stage_files
from graphprox.io.storage.verified import (
    checksum,
    checksum_of_file,
    dump_with_checksum,
    library_versions,
    read_with_checksum,
)

FORMAT = 1
MIN_MAPPED = 2**10  # bytes of a file; an empty array has no memory map
_VERSIONS = ("numpy", "scipy", "scikit-learn", "numba", "torch")
_START_AGAIN = "set overwrite=True in place of resume=True to start again"

Arrays = Mapping[str, NDArray[Any]]
Facts = Mapping[str, Any]
T = TypeVar("T")


@dataclass(frozen=True)
class Packing:
    """How a value is stored: as arrays by name, and as facts that JSON can contain.

    Parameters
    ----------
    pack : callable
        Returns arrays and facts of a value.
    unpack : callable
        Returns the value of arrays and facts.
    """

    pack: Callable[[Any], tuple[Arrays, Facts]]
    unpack: Callable[[Arrays, Facts], Any]


ROWS = Packing(lambda rows: ({"rows": rows}, {}), lambda arrays, _facts: arrays["rows"])


@dataclass(frozen=True)
class Stages:
    """The stages of one run.

    Parameters
    ----------
    folder : Path, optional
        Without a folder, nothing is stored.
    run : str, default=""
        Digest of what the run is.

    Examples
    --------
    >>> Stages().keep("rows", lambda: np.zeros((2, 3), np.float32)).shape
    (2, 3)
    """

    folder: Path | None = None
    run: str = ""

    def keep(
        self,
        name: str,
        compute: Callable[[], T],
        packing: Packing = ROWS,
        *,
        store: RowStore | None = None,
        is_stored: Callable[[T], bool] = lambda _: False,
    ) -> T:
        """Return the result of a stage: the stored one of an earlier process if it is intact, or a new one.

        Parameters
        ----------
        name : str
            Name of the stage.
        compute : callable
        packing : Packing, default=ROWS
            How the result is stored.
        store : RowStore, optional
            Where rows are kept: those in files become memory maps of the stage's own. In memory by default.
        is_stored : callable, optional
            Whether a result is that of another stage, and need not be stored again.

        Returns
        -------
        object
            What ``compute`` returns, with the same bytes.
        """
        if self.folder is None:
            return compute()
        in_files = store is not None and store.in_files
        found = self._find(name, in_files=in_files)
        if found is None:
            made = compute()
            if is_stored(made):
                return made
            arrays, facts = packing.pack(made)
            self._write(name, arrays, facts)
            if not in_files:
                return made
            # From now on there is one file of these rows: that without a name is gone with what it was made as.
            found = {each: self._load(self._path(name, i), in_files=True) for i, each in enumerate(arrays)}, facts
        unpacked: T = packing.unpack(*found)
        return unpacked

    def discard(self, *names: str) -> None:
        """Remove the files of stages that a later one, which is finished, makes unnecessary.

        Parameters
        ----------
        *names : str
            Names of stages; one that is not stored is left out.
        """
        if self.folder is not None:
            digests = {self._digest(name) for name in names}
            remove_files(path for path in stage_files(self.folder) if path.name[:16] in digests)

    # -- files --------------------------------------------------------------------------------------------------------

    def _digest(self, name: str) -> str:
        return checksum(f"{self.run} {name}".encode())[:16]

    def _path(self, name: str, number: int | None = None) -> Path:
        digest = self._digest(name)
        return Path(self.folder or "", f"{digest}.json" if number is None else f"{digest}-{number}.npy")

    def _find(self, name: str, *, in_files: bool) -> tuple[Arrays, Facts] | None:
        if not self._path(name).exists():
            return None
        try:
            about = read_with_checksum(self._path(name), FORMAT)
            arrays = {}
            for i, (each, expected) in enumerate(about["arrays"].items()):
                path = self._path(name, i)
                _verify(path, expected)
                arrays[each] = self._load(path, in_files=in_files)
        except ReadError as error:
            warn(f"{error}: the stage {name!r} is computed again", DamagedCheckpointWarning)
            return None
        return arrays, about["facts"]

    def _load(self, path: Path, *, in_files: bool) -> NDArray[Any]:
        is_mapped = in_files and path.stat().st_size > MIN_MAPPED
        loaded: NDArray[Any] = np.load(path, mmap_mode="r" if is_mapped else None, allow_pickle=False)
        return loaded

    def _write(self, name: str, arrays: Arrays, facts: Facts) -> None:
        checksums = {each: _write_array(self._path(name, i), array) for i, (each, array) in enumerate(arrays.items())}
        with atomic_write(self._path(name)) as (staged,):
            staged.write_text(
                dump_with_checksum({"format": FORMAT, "stage": name, "arrays": checksums, "facts": dict(facts)})
            )


def _write_array(path: Path, array: NDArray[Any]) -> str:
    """Write an npy file a block at a time, and return its checksum.

    It is written in place and not flushed to disk: a partial file has no description, and the checksum shows what a
    power failure has left out.
    """
    digest = hashlib.sha256()
    is_fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    rows = array.T if is_fortran else array
    try:
        with path.open("wb") as file:
            np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(array))
            file.flush()
            digest.update(path.read_bytes())
            for each in row_blocks(len(rows)):
                block = np.ascontiguousarray(rows[each])
                if block.size:
                    file.write(block.data)
                    digest.update(block.data)
                release_pages(array)
    except OSError as error:
        raise WriteError(f"{path} cannot be written: {reason(error)}") from None
    return digest.hexdigest()


def _verify(path: Path, expected: str) -> None:
    try:
        found = checksum_of_file(path)
    except OSError as error:
        raise ReadError(f"{path} is damaged: {reason(error)}") from None
    if found != expected:
        raise ReadError(f"{path} is damaged: its content does not match the recorded checksum")


# -- the run --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Request:
    folder: Path
    resume: bool


_REQUEST: ContextVar[_Request | None] = ContextVar("stages", default=None)


@contextmanager
def keep_stages(model: Path | None, *, resume: bool = False) -> Iterator[None]:
    """Keep finished stages of long runs in the folder of a model, inside a ``with`` block; remove them at its end.

    If the block raises, they are left there for a run that is resumed.

    Parameters
    ----------
    model : Path or None
        Without a folder, nothing is stored.
    resume : bool, default=False
        Whether what an earlier process has left there is used.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from graphprox import AutoEmbedder, synthetic
    >>> with TemporaryDirectory() as folder, keep_stages(Path(folder), resume=True):
    ...     AutoEmbedder(n_components=8).fit_transform(synthetic(nodes=140)).shape
    (140, 8)
    """
    token = _REQUEST.set(None if model is None else _Request(model / STAGES, resume))
    try:
        yield
    finally:
        _REQUEST.reset(token)
    if model is not None:
        remove_files(stage_files(model / STAGES))


def open_stages(graph: Graph, settings: Mapping[str, Any], random_state: int) -> Stages:
    """Return the stages of a run in the folder that `keep_stages` names.

    Parameters
    ----------
    graph : Graph
    settings : mapping of str to object
        What the result depends on besides, which JSON can contain.
    random_state : int

    Returns
    -------
    Stages
        Without a folder if none is named, if several processes divide the rows, or if the graph is one block of rows,
        which is soon computed again.

    Raises
    ------
    ParameterError
        If a run is resumed with another graph, other settings or other versions.
    """
    request = _REQUEST.get()
    if request is None or current_team().size > 1 or len(row_blocks(graph.num_nodes)) == 1:
        return Stages()
    about = {
        "format": FORMAT,
        "graph": graph_checksum(graph),
        "settings": dict(settings),
        "random_state": random_state,
        "versions": library_versions(*_VERSIONS),
    }
    stages = Stages(request.folder, checksum(json.dumps(about, sort_keys=True).encode()))
    path = request.folder / RUN
    if not (request.resume and path.exists() and _is_same_run(path, about)):
        remove_files(stage_files(request.folder))
        make_writable_folder(request.folder)
        with atomic_write(path) as (staged,):
            staged.write_text(dump_with_checksum(about))
    return stages


def _is_same_run(path: Path, about: Mapping[str, Any]) -> bool:
    """Return whether the stages in a folder are those of a run; raise if they are those of another one."""
    try:
        found = read_with_checksum(path, FORMAT)
    except ReadError as error:
        warn(f"{error}: starting again", DamagedCheckpointWarning)
        return False
    differing = [name for name in ("graph", "settings", "random_state", "versions") if found[name] != about[name]]
    if differing:
        raise ParameterError(
            f"a run must be resumed with the same graph, settings, random state and versions; that in {path.parent} "
            f"differs in {', '.join(differing).replace('_', ' ')}: use what it was started with, or {_START_AGAIN}"
        )
    return True
