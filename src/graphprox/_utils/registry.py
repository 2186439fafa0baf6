"""Registries: the extension points of graphprox, and how other packages add to them."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Generic, TypeVar

from graphprox._utils.stacklevel import warn
from graphprox._utils.suggestions import did_you_mean
from graphprox.errors import GraphproxWarning, ParameterError

T = TypeVar("T")


class Registry(Mapping[str, T], Generic[T]):
    """Implementations of one extension point, by name.

    An implementation is registered where it is defined. Built-in ones are found by importing the modules of a
    package, those of other packages through an entry point group; both happen on first use.

    Parameters
    ----------
    kind : str
        What is registered, for error messages, such as ``"view"``.
    package : str or tuple of str
        Package whose modules define the built-in implementations. Modules whose name begins with an underscore are
        skipped.
    group : str
        Entry point group through which other packages register, such as ``"graphprox.views"``.

    Examples
    --------
    >>> from graphprox.views import VIEWS
    >>> "feature" in VIEWS
    True
    """

    def __init__(self, kind: str, *, package: str | tuple[str, ...], group: str) -> None:
        self.kind = kind
        self.group = group
        self._packages = (package,) if isinstance(package, str) else package
        self._entries: dict[str, T] = {}
        self._origins: dict[str, str] = {}
        self._is_loaded = False

    def add(self, name: str, entry: T, *, definition: object = None) -> None:
        """Register an implementation.

        Parameters
        ----------
        name : str
            A name that is not taken.
        entry : object
        definition : object, optional
            Class or function that defines the entry, if it is not the entry itself.
        """
        origin = _qualified_name(entry if definition is None else definition)
        if not origin.startswith(self._packages):
            self._load()  # so that a built-in name is taken first
        taken = self._origins.setdefault(name, origin)
        # A module that is imported twice, as by a reload, defines the same thing again.
        if taken != origin:
            raise ParameterError(
                f"names of registered {self.kind}s must be unique; {name!r} is taken by {taken}: choose another name"
            )
        self._entries[name] = entry

    def peek(self) -> list[str]:
        """Return the names without importing what is registered, which may import torch; for shell completion.

        Names of built-in implementations are read from the decorators in the source files, those of other packages
        are the names of their entry points.

        Returns
        -------
        list of str
        """
        if self._is_loaded:
            return list(self)
        names = {entry_point.name for entry_point in entry_points(group=self.group)}
        for package in self._packages:
            spec = find_spec(package)  # which does not import the package itself
            for folder in (spec and spec.submodule_search_locations) or ():
                for path in Path(folder).glob("*.py"):
                    text = path.read_text(encoding="utf-8")
                    names.update(re.findall(rf'^@register_{self.kind}\("([^"]+)"', text, re.MULTILINE))
        return sorted(names)

    def lookup(self, name: str) -> T:
        """Return the implementation of a name.

        Parameters
        ----------
        name : str
            Case, hyphens and underscores do not matter.

        Returns
        -------
        object

        Raises
        ------
        ParameterError
            If there is none; the message suggests a similar name.
        """
        self._load()
        plain = str(name).lower().replace("_", "-")
        for spelling in (str(name), plain, plain.replace("-", "_")):
            if spelling in self._entries:
                return self._entries[spelling]
        raise ParameterError(
            f"{self.kind} must be a known name; got {name!r}: {did_you_mean(plain, sorted(self._entries))}"
        )

    def __getitem__(self, name: str) -> T:
        self._load()
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        self._load()
        return iter(sorted(self._entries))  # independent of the order of imports

    def __len__(self) -> int:
        self._load()
        return len(self._entries)

    def __repr__(self) -> str:
        return f"Registry({self.kind!r}, {sorted(self)})"

    def _load(self) -> None:
        if self._is_loaded:
            return
        self._is_loaded = True  # the modules below may look up what is registered so far
        try:
            for package in self._packages:
                for module in pkgutil.iter_modules(import_module(package).__path__):
                    if not module.name.startswith("_"):
                        import_module(f"{package}.{module.name}")
        except BaseException:
            self._is_loaded = False
            raise
        for entry_point in entry_points(group=self.group):
            try:
                entry_point.load()
            except Exception as error:
                warn(
                    f"the {self.kind} {entry_point.name!r} of another package could not be loaded: "
                    f"{type(error).__name__}: {error}",
                    GraphproxWarning,
                )


def _qualified_name(entry: object) -> str:
    owner = entry if hasattr(entry, "__qualname__") else type(entry)
    return f"{owner.__module__}.{owner.__qualname__}"
