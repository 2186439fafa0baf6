"""Reader of nodes with several labels each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from graphprox._utils.arrays import IntArray, NodeIds
from graphprox._utils.stacklevel import warn
from graphprox.errors import AssumedInputWarning, IgnoredInputWarning, ParameterError, ReadError
from graphprox.io.ids import positions
from graphprox.io.sql.queries import is_query, run_query
from graphprox.io.storage.files import ending
from graphprox.io.tables.column_choice import ColumnName, ColumnNames
from graphprox.io.tables.encodings import check_encoding
from graphprox.io.tables.node_columns import choose_label_columns
from graphprox.io.tables.table import PARQUET_ENDINGS, TEXT_ENDINGS, Table, read_table, table_from_arrow

_SEPARATORS = (";", "|", ",")


@dataclass(frozen=True)
class LabelSets:
    """The labels of nodes, of which a node may have several.

    Attributes
    ----------
    ids : pyarrow.Array of shape (n_pairs,)
        Node id of each pair of a node and a label.
    classes : ndarray of shape (n_pairs,)
        Class number of each pair.
    names : tuple of str
        Class names, sorted.
    path : str
        Where they were read from.
    """

    ids: pa.Array
    classes: IntArray
    names: tuple[str, ...]
    path: str

    def to_matrix(self, ids: NodeIds) -> sp.csr_array:
        """Return which node has which label.

        Parameters
        ----------
        ids : ndarray of shape (num_nodes,)
            Ids of the nodes of a graph, in their order.

        Returns
        -------
        csr_array of bool of shape (num_nodes, n_classes)
            A row without entries for a node that has no label.

        Raises
        ------
        ReadError
            If all labels belong to unknown nodes.

        Warns
        -----
        IgnoredInputWarning
            If some labels belong to unknown nodes.
        """
        node = positions(self.ids, pa.array(ids))
        is_known = node >= 0
        if not is_known.all():
            self._report_unknown(self.ids.filter(pa.array(~is_known)), ids)
        # A label that is listed twice counts once.
        pairs = np.unique(np.stack([node[is_known], self.classes[is_known]]), axis=1)
        shape = (len(ids), len(self.names))
        return sp.csr_array((np.ones(pairs.shape[1], bool), (pairs[0], pairs[1])), shape=shape)

    def _report_unknown(self, unknown: pa.Array, ids: NodeIds) -> None:
        name = unknown[0].as_py()
        if len(unknown) == len(self.ids):
            raise ReadError(
                f"labels must belong to nodes of the graph; {self.path} has labels of nodes such as {name!r}, and the "
                f"ids of the graph are such as {ids.tolist()[0]!r}: set id to take another column"
            )
        warn(
            f"{len(unknown):,} of {len(self.ids):,} labels of {self.path} belong to no node of the graph and are "
            f"ignored, such as that of {name!r}",
            IgnoredInputWarning,
        )


def read_label_sets(
    path: str | Path,
    *,
    separator: str | None = None,
    header: bool | None = None,
    encoding: str | None = None,
    id: ColumnName | None = None,  # noqa: A002 - the name of the column, as in read_graph
    label: ColumnName | None = None,
    database: str | Path | None = None,
) -> LabelSets:
    r"""Read nodes with several labels each, from CSV, TSV or Parquet, or by an SQL query.

    Each row has a node id and a label; a node with several labels has several rows, or several labels in one cell.

    Parameters
    ----------
    path : str or Path
        File to read, or a query as for `read_sql`.
    separator : str, optional
        What separates the labels in a cell, such as ``";"``; by default a cell is one label.
    header : bool, default=None
        Whether the first row of a text file is a header; detected if None.
    encoding : str, default=None
        Encoding of a text file, as for `read_graph`; detected if None.
    id, label : str or int, optional
        Columns of node ids and labels, by name or by number from 1; found by their names by default.
    database : str or Path, default=None
        File of DuckDB or SQLite, which a query reads.

    Returns
    -------
    LabelSets

    Raises
    ------
    ReadError
        If the file has another format or no labels.

    Warns
    -----
    AssumedInputWarning
        If no separator was given, and most cells seem to contain several labels, or one that no cell contains.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "groups.csv")
    ...     _ = path.write_text("id,group\nann,chess\nann,film\nbob,film\n")
    ...     groups = read_label_sets(path)
    >>> groups.names
    ('chess', 'film')
    >>> groups.to_matrix(np.array(["ann", "bob", "eve"])).toarray().astype(int).tolist()
    [[1, 1], [0, 1], [0, 0]]
    """
    if separator is not None and not separator.strip():
        raise ParameterError(
            f"the separator of labels must be one or more characters other than spaces; got {separator!r}"
        )
    names = ColumnNames(id=id, label=label)
    if is_query(path):
        name, table = "the query", _query_table(str(path), database, names)
    else:
        name, table = str(path), _read_file(Path(path), header, check_encoding(encoding), names)
    ids, labels = table.columns
    if separator is None and (found := find_separator(labels.to_pylist())) is not None:
        warn(
            f"most labels of {name} contain {found!r}, and each is read as one label: set separator={found!r} to read "
            "several of them",
            AssumedInputWarning,
        )
    if separator is not None and not pc.any(pc.match_substring(labels, separator)).as_py():
        _warn_of_unused(name, separator, find_separator(labels.to_pylist()))
    return _encode(name, *_split_cells(ids, labels, separator))


def _warn_of_unused(name: str, separator: str, other: str | None) -> None:
    remedy = "leave it out" if other is None else f"set separator={other!r} to read several of them"
    warn(
        f"no cell of {name} contains the separator {separator!r}, and each is read as one label: {remedy}",
        AssumedInputWarning,
    )


def find_separator(cells: Sequence[str | None]) -> str | None:
    """Find what separates the labels in cells, if most of them seem to contain several.

    Parameters
    ----------
    cells : sequence of str
        Cells of a column of labels; one that is empty or missing has none.

    Returns
    -------
    str or None
        A semicolon, bar or comma that more than half of the cells contain, and which splits them into no more
        labels than there are different cells. In ``"Paris, France"`` and ``"Lyon, France"`` it does not.

    Examples
    --------
    >>> find_separator(["film;tea", "film;chess", "chess;tea", "tea"])
    ';'
    >>> find_separator(["Paris, France", "Lyon, France"])
    """
    counts = Counter(cell for cell in cells if cell and cell.strip())
    for separator in _SEPARATORS:
        several = {cell: [each.strip() for each in cell.split(separator)] for cell in counts if separator in cell}
        if sum(counts[cell] for cell in several) * 2 <= counts.total() or len(several) < 2:
            continue
        labels = {label for each in several.values() for label in each if label}
        if len(labels) <= len(counts):
            return separator
    return None


def _query_table(query: str, database: str | Path | None, names: ColumnNames) -> Table:
    choose = partial(choose_label_columns, names=names)
    return table_from_arrow("the query", run_query(query, database), ids=1, values=pa.string(), choose=choose)


def _read_file(path: Path, header: bool | None, encoding: str | None, names: ColumnNames) -> Table:
    if ending(path) not in TEXT_ENDINGS + PARQUET_ENDINGS:
        known = ", ".join(TEXT_ENDINGS[:3] + PARQUET_ENDINGS[:1])
        raise ReadError(f"the ending of a file of several labels per node must be one of {known}; got {path.name!r}")
    return read_table(
        path,
        ids=1,
        values=pa.string(),
        header=header,
        choose=partial(choose_label_columns, names=names),
        named=names.given("id", "label"),
        encoding=encoding,
    )


def _split_cells(ids: pa.Array, labels: pa.Array, separator: str | None) -> tuple[pa.Array, pa.Array]:
    """Return pairs of a node and a label, without empty labels."""
    if separator is not None:
        lists = pc.split_pattern(labels, separator)
        ids, labels = ids.take(pc.list_parent_indices(lists)), pc.list_flatten(lists)
    labels = pc.utf8_trim_whitespace(labels)
    is_label = pc.fill_null(pc.not_equal(labels, ""), False)
    return ids.filter(is_label), labels.filter(is_label)


def _encode(path: str, ids: pa.Array, labels: pa.Array) -> LabelSets:
    if not len(labels):
        raise ReadError(f"{path} must contain labels; all are empty")
    names = pc.unique(labels)
    names = names.take(pc.sort_indices(names))
    classes = pc.index_in(labels, value_set=names).to_numpy(zero_copy_only=False).astype(np.int64)
    return LabelSets(ids, classes, tuple(names.to_pylist()), path)
