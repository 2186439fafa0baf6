"""Guard of PyG's loaders, which unpickle and evaluate files, and write to the folder that they read.

Every unpickler of Python looks up the functions and classes of a pickle by name, and raises the auditing event
``pickle.find_class`` for each: that of ``pickle`` itself, and those that ``torch.load``, ``numpy.load``, pandas, joblib
and dill derive from it. A pickle that looks up nothing but arrays and containers cannot run code. ``eval`` and ``exec``
raise ``exec``, and so do imports, which are allowed. The hook is called for the threads of the loader, not for those
that ran before it.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from graphprox.errors import DatasetError

_reconstruct = np.empty(0).__reduce__()[0]  # which numpy calls to unpickle an array
# The published files were written by Python 2; the second names are those of a current copy.
ALLOWED_GLOBALS: Mapping[tuple[str, str], Any] = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("numpy.core.multiarray", "_reconstruct"): _reconstruct,
    ("numpy._core.multiarray", "_reconstruct"): _reconstruct,
    ("collections", "defaultdict"): defaultdict,
    ("__builtin__", "list"): list,
    ("builtins", "list"): list,
}
TRUST = "set trust_pickles=True if you trust who made them"
_COMMANDS = {"os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.startfile", "pty.spawn", "subprocess.Popen"}
# pandas calls a function for each cell, as in ``cells.apply(eval)``. Others evaluate what they have written themselves.
_EVALUATING = {"torch_geometric", "pandas"}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


@dataclass
class _Guard:
    """What a loader must not do, and the first sentence about what it tried."""

    name: str
    read_only: str | None
    allowed: Collection[tuple[str, str]] | None
    bystanders: frozenset[int | None]
    modules: tuple[str, ...]
    refused: str | None = field(default=None)

    def check(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "pickle.find_class" and self.allowed is not None:
            module, name = arguments
            if (module, name) not in self.allowed:
                self._refuse(
                    f"files of {self.name} must contain plain arrays; one contains the pickled object {module}.{name}, "
                    f"which could run code, and is rejected: {TRUST}"
                )
        elif event in _COMMANDS and self.allowed is not None and not _is_importing():
            self._refuse(f"the loader of {self.name} must run no other program; it tried to, and is rejected: {TRUST}")
        elif event == "exec" and self.allowed is not None:
            self._check_code(os.fspath(arguments[0].co_filename))
        elif event == "import" and self.allowed is not None and arguments[1] is not None:
            self._check_code(os.fspath(arguments[1]))
        elif event == "open" and self.read_only is not None and _is_inside(arguments, self.read_only):
            self._refuse(f"{self.read_only} is only read; the loader of {self.name} tried to write {arguments[0]}")

    def _check_code(self, path: str) -> None:
        """Refuse code that is the text of a file, and modules of the data directory."""
        if _top_package(sys._getframe(3)) in _EVALUATING and not _is_importing():
            self._refuse(
                f"files of {self.name} must contain plain data; PyG evaluates one as Python code, which could do "
                f"anything, and is rejected: {TRUST}"
            )
        if self.read_only is not None and Path(path).is_absolute():
            real = Path(os.path.realpath(path))
            if real.is_relative_to(self.read_only) and not any(real.is_relative_to(each) for each in self.modules):
                self._refuse(
                    f"{self.read_only} must contain data; the loader of {self.name} imports {path}, which is code, and "
                    f"is rejected: {TRUST}"
                )

    def _refuse(self, sentence: str) -> None:
        self.refused = self.refused or sentence
        raise DatasetError(sentence)


_PACKAGE = str(Path(__file__).parents[1])
_guards: list[_Guard] = []


@contextmanager
def guard_loader(
    name: str, *, allowed: Collection[tuple[str, str]] | None, read_only: Path | None = None
) -> Iterator[None]:
    """Refuse files that could run code, and writing to the data directory, while a loader of PyG runs.

    Parameters
    ----------
    name : str
        Name of the data set, for error messages.
    allowed : collection of (str, str) or None
        Modules and names of what a pickle may contain. If None, files may contain any pickle and be evaluated.
    read_only : Path, default=None
        Directory in which no file may be opened for writing.

    Raises
    ------
    DatasetError
        If the loader has unpickled, evaluated, run or written what it must not, even if it has suppressed the error.
    """
    _install_hook()
    bystanders = frozenset(each.ident for each in threading.enumerate()) - {threading.get_ident()}
    real = None if read_only is None else os.path.realpath(read_only)
    # An environment may be inside of the data directory, as in --data ~.
    modules = tuple(os.path.realpath(each) for each in (*sys.path, sys.prefix, sys.base_prefix, _PACKAGE) if each)
    guard = _Guard(name, real, allowed, bystanders, modules)
    _guards.append(guard)
    try:
        yield
    except Exception:
        if guard.refused is None:
            raise
    finally:
        _guards.remove(guard)
    if guard.refused is not None:
        raise DatasetError(guard.refused)


@cache
def _install_hook() -> None:
    """Install the hook once; Python has no way to remove it, so it does nothing if there is no guard."""
    sys.addaudithook(_audit)


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    for guard in _guards:
        if threading.get_ident() not in guard.bystanders:
            guard.check(event, arguments)


def _is_inside(arguments: tuple[Any, ...], directory: str) -> bool:
    """Check whether a file of the directory is opened for writing, possibly through a link."""
    path, _, flags = arguments
    if isinstance(path, int) or not flags & _WRITING:
        return False
    return Path(os.path.realpath(os.fsdecode(path))).is_relative_to(directory)


def _top_package(frame: FrameType | None) -> str:
    """Return the package of the function that a frame runs."""
    return "" if frame is None else str(frame.f_globals.get("__name__", "")).partition(".")[0]


def _is_importing() -> bool:
    """Check whether a module is being imported, whose code may do what a loader may not."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") == "importlib._bootstrap":
            return True
        frame = frame.f_back
    return False
