"""Load a graph by name or from files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from graphprox.datasets.dataset import Dataset
from graphprox.datasets.named import is_dataset_name, load_dataset, suggest_dataset
from graphprox.errors import DatasetError, ParameterError
from graphprox.io.graph_reader import read_files
from graphprox.io.sql.queries import check_not_sql, is_query
from graphprox.io.sql.sql_reader import read_queries
from graphprox.io.storage.files import ending
from graphprox.io.tables.column_choice import ColumnNames
from graphprox.preprocessing.table_encoder import TableEncoder


def load(
    graph: str | Path,
    *,
    data: str | Path | None = None,
    features: str | Path | None = None,
    labels: str | Path | None = None,
    database: str | Path | None = None,
    directed: bool | None = None,
    header: bool | None = None,
    encoding: str | None = None,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | None = None,
    id: str | int | None = None,  # noqa: A002 - as the column is named
    label: str | int | None = None,
    kinds: Mapping[str | int, str] | None = None,
    ids: bool | None = None,
    trust_pickles: bool = False,
    encoder: TableEncoder | None = None,
) -> Dataset:
    """Load a named data set, or read a graph from files or by SQL queries.

    Parameters
    ----------
    graph : str or Path
        Name of a data set as for `load_dataset`, path of a file as for `read_graph`, or a query as for `read_sql`.
    data : str or Path, default=None
        Directory of data sets; ``GRAPHPROX_DATA`` if None.
    features, labels, directed, header, encoding, source, target, weight, id, label, kinds, ids
        Options of `read_graph`; only for a file. If the graph is a query, ``features`` and ``labels`` are, too.
    database : str or Path, default=None
        File of DuckDB or SQLite; only for queries.
    trust_pickles : bool, default=False
        Whether pickles are loaded that could run code; only for a data set of PyG, ``pyg:CLASS:NAME``.

    encoder : TableEncoder, default=None
        What the columns of a table of features contain, as for `read_graph`; a data set has its own features.

    Returns
    -------
    Dataset

    Raises
    ------
    DatasetError
        If the name is unknown, or the files of the data set are not available.
    ReadError
        If a file cannot be read.

    Examples
    --------
    >>> load("synthetic").graph.num_classes
    7
    """
    names = ColumnNames(source, target, weight, id, label, kinds=kinds or {})
    if isinstance(graph, str) and is_dataset_name(graph):
        options = {"features": features, "labels": labels, "directed": directed, "header": header}
        columns = {"source": source, "target": target, "weight": weight, "id": id, "label": label}
        file_options = {**options, "encoding": encoding, **columns, "kinds": kinds or None, "ids": ids}
        given = [name for name, value in file_options.items() if value is not None]
        if given:
            raise ParameterError(
                f"{', '.join(given)} can only be given with a file; {graph!r} is a data set, which has its own"
            )
        _check_no_query(database, features, labels)
        return load_dataset(graph, data=data, trust_pickles=trust_pickles)
    if is_query(graph):
        _check_no_pickles(graph, trust_pickles=trust_pickles)
        _check_unused({"header": header, "encoding": encoding, "ids": ids})
        read, taken = read_queries(
            str(graph), features, labels, names, database=database, directed=bool(directed), encoder=encoder
        )
        return Dataset("query", read, columns=taken)
    check_file_options(graph, database=database, features=features, labels=labels, trust_pickles=trust_pickles)
    path = Path(graph)
    if not os.path.exists(path) and not ending(path) and len(path.parts) == 1:  # noqa: PTH110 - never raises
        raise DatasetError(f"{str(graph)!r} is neither a data set nor a file; {suggest_dataset(str(graph))}")
    read, taken = read_files(
        path, features, labels, names, directed=directed, header=header, encoding=encoding, encoder=encoder, ids=ids
    )
    return Dataset(str(path), read, columns=taken)


def check_file_options(
    graph: str | Path,
    *,
    database: str | Path | None,
    features: str | Path | None,
    labels: str | Path | None,
    trust_pickles: bool,
) -> None:
    """Raise an error if an option is given that a graph in a file does not have.

    Parameters
    ----------
    graph : str or Path
        Path of the file.
    database, features, labels, trust_pickles
        As for `load`.

    Raises
    ------
    ParameterError
        If one of them is for queries or data sets.
    """
    _check_no_pickles(graph, trust_pickles=trust_pickles)
    check_not_sql(graph)
    name = str(graph)
    is_table = name.isidentifier() and not os.path.exists(name)  # noqa: PTH110 - never raises
    _check_no_query(database, features, labels, table=name if is_table else None)


def _check_no_pickles(graph: str | Path, *, trust_pickles: bool) -> None:
    if trust_pickles:
        raise ParameterError(
            f"trust_pickles can only be set for a data set of pyg:; {str(graph)!r} is a file, whose pickles are never "
            "loaded"
        )


def _check_unused(options: dict[str, object]) -> None:
    for name, value in options.items():
        if value is not None:
            raise ParameterError(f"{name} can only be given with a file; the graph is a query, whose result has names")


def _check_no_query(
    database: str | Path | None, features: str | Path | None, labels: str | Path | None, *, table: str | None = None
) -> None:
    """Raise an error about options of queries; ``table`` is what may be the name of a table in place of a query."""
    if database is not None:
        hint = "" if table is None else f": write the query, as in 'FROM {table}'"
        raise ParameterError(
            f"database must be left out, except for a graph that is an SQL query; got {str(database)!r}{hint}"
        )
    for name, given in (("features", features), ("labels", labels)):
        if given is not None and is_query(given):
            raise ParameterError(f"{name} can only be a query if the graph is one; got {str(given)[:80]!r}")
