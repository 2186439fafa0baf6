"""Outputs of a command: they are checked against its inputs before any work, and locked while it runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import Any

from graphprox._utils.figures import figure_files
from graphprox.cli.graph_source import GraphSource
from graphprox.cli.new_folders import watch_new_folders
from graphprox.cli.ranks import is_first
from graphprox.datasets import CATALOG
from graphprox.datasets.named import is_dataset_name
from graphprox.datasets.source import find_raw_folder
from graphprox.errors import GraphproxError, WriteError
from graphprox.io.sql.queries import check_query, is_query
from graphprox.io.sql.sql_tree import QueryTree
from graphprox.io.sql.sql_writer import DEFAULT_TABLE, is_database
from graphprox.io.sql.sqlite import is_sqlite
from graphprox.io.storage.files import make_writable_folder
from graphprox.io.storage.locks import hold_lock
from graphprox.io.storage.overlaps import check_outputs

_QUERIES = ("graph", "features", "labels")  # parameters that may be queries
FilesOf = Callable[[Path], Iterable[Path]]


def one_file(path: Path) -> list[Path]:
    """Return the files of an option that names one file."""
    return [path]


def figures(name: str) -> FilesOf:
    """Return a function for the files of an option that names the folder of a figure."""
    return lambda folder: figure_files(folder, name)


def writes(
    files: Mapping[str, FilesOf],
    *,
    folders: Iterable[str] = (),
    logs: Iterable[str] = (),
    creates_parents: bool = True,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Declare the outputs of a command; all other paths that it is given are its inputs.

    An output that is an input is an error before any work. While the command runs it holds locks of its output files,
    so that another process with the same ones stops at once.

    Parameters
    ----------
    files : mapping of str to callable
        Parameters that name outputs, and a function for each that lists the files to be written.
    folders : iterable of str
        Parameters that name folders in which no input may be; who writes to them holds their locks.
    logs : iterable of str
        Parameters that name folders to which files with new names are added.
    creates_parents : bool, default=True
        Whether folders of files are created.
    """
    folders, logs = list(folders), list(logs)

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def wrapper(**given: Any) -> None:
            outputs = [
                each for name, list_files in files.items() if given.get(name) for each in list_files(given[name])
            ]
            watch_new_folders(*(each.parent for each in outputs), *(given.get(name) for name in (*folders, *logs)))
            others = {name: value for name, value in given.items() if name not in (*files, *folders, *logs)}
            _check_no_sqlite(outputs)
            check_outputs(
                [*(each for each in outputs if not each.is_dir()), *(given[name] for name in logs if given.get(name))],
                _list_inputs(others),
                folders=[given[name] for name in folders if given.get(name)]
                + [each for each in outputs if each.is_dir()],
            )
            _check_table(given)
            with ExitStack() as locks:
                for path in outputs if is_first() else ():  # of several processes
                    if creates_parents:
                        make_writable_folder(path.parent)
                    locks.enter_context(hold_lock(path, beside=True))
                command(**given)

        return wrapper

    return decorate


def _check_no_sqlite(outputs: Iterable[Path]) -> None:
    """Check that no output is a database of SQLite."""
    for path in outputs:
        if path.is_file() and os.access(path, os.R_OK) and is_sqlite(path):
            raise WriteError(f"a database of SQLite is only read; {path} is one: write to a .duckdb or another file")


def _list_inputs(given: Mapping[str, Any]) -> Iterator[Path]:
    """List the files and folders that parameters name; a folder of data sets is read as far as a graph names it."""
    for name, value in given.items():
        if isinstance(value, GraphSource):
            yield from _list_inputs(
                {each.name: getattr(value, each.name) for each in fields(value)} | {"graph": value.name}
            )
        elif isinstance(value, str) and name in _QUERIES and is_query(value):
            yield from _parse(value).list_files()
        elif name == "graph" and value is not None:
            yield from _graph_paths(value, given.get("data"))
        elif isinstance(value, Path) and name != "data":
            yield value


def _graph_paths(name: str, data: Path | None) -> list[Path]:
    if not is_dataset_name(name):
        return [Path(name)]
    try:
        found = find_raw_folder(CATALOG[name], data) if name in CATALOG else None
    except GraphproxError:  # reported when it is loaded
        return []
    return [] if found is None else [found]


def _parse(query: str) -> QueryTree:
    try:
        return check_query(query)
    except GraphproxError:  # reported when it is run; SQLite has a dialect of its own, and reads no files
        return QueryTree(frozenset(), ())


def _check_table(given: Mapping[str, Any]) -> None:
    """Check that the table to be written is none that a query reads."""
    out, source = given.get("out"), given.get("source")
    if not isinstance(source, GraphSource) or source.database is None or not isinstance(out, Path):
        return
    if not is_database(out) or not out.exists() or not source.database.exists() or not out.samefile(source.database):
        return
    table = given.get("table") or DEFAULT_TABLE
    for query in (source.name, source.features, source.labels):
        if isinstance(query, str) and is_query(query) and table.lower() in _parse(query).tables:
            raise WriteError(f"an output must not be an input; a query names the table {table!r}: give another --table")
