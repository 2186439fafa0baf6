"""Readers of node features and labels.

A table has a column of node ids, or its rows belong to nodes by their number. The rows of a matrix (npz, npy, svmlight)
belong to the ids in an array ``ids`` if there is one, and otherwise to the row numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from numpy.typing import NDArray

from graphprox._utils.arrays import IntArray
from graphprox._utils.column_names import find_ends, is_entity
from graphprox.errors import ParameterError, ReadError
from graphprox.graph.graph import UNKNOWN_LABEL
from graphprox.io.feature_tables import read_encoded
from graphprox.io.ids import find_duplicate
from graphprox.io.limits import check_features
from graphprox.io.npy import NpzArrays, open_npz, read_npy, read_sparse, wrap_read_errors
from graphprox.io.storage.files import check_readable, ending
from graphprox.io.tables.column_choice import NO_NAMES, ColumnNames, TableColumn
from graphprox.io.tables.encodings import open_text
from graphprox.io.tables.layout import INTEGER
from graphprox.io.tables.node_columns import choose_feature_columns, choose_label_columns
from graphprox.io.tables.table import PARQUET_ENDINGS, TEXT_ENDINGS, Table, read_table
from graphprox.preprocessing.table_encoder import TableEncoder

SVMLIGHT_ENDINGS = (".svmlight", ".libsvm", ".svm")
_FEATURE_NAMES = ("x", "features", "attr_matrix", "vectors", "arr_0")
KEEP_ONE = ": keep one row for each id"
SEVERAL_GROUPS = ": for nodes of several groups, see graphprox evaluate --task multilabel"
_LABEL_NAMES = ("y", "labels", "label", "arr_0")


@dataclass(frozen=True)
class NodeFeatures:
    """A row of features for each id.

    Attributes
    ----------
    ids : pyarrow.Array of shape (n_rows,)
        Node ids.
    x : EncodedTable, or ndarray or csr_array of shape (n_rows, num_features)
        Features; those of a table are encoded.
    columns : tuple of TableColumn
        What the columns of a table were taken for.
    """

    ids: pa.Array
    x: Any
    columns: tuple[TableColumn, ...] = ()


@dataclass(frozen=True)
class NodeLabels:
    """A class for each id.

    Attributes
    ----------
    ids : pyarrow.Array of shape (n_rows,)
        Node ids.
    y : ndarray of shape (n_rows,)
        Classes, -1 where unknown.
    names : tuple of str or None
        Class names, if the file contains names.
    column : str or None
        Name of the column of a table that contains the classes.
    columns : tuple of TableColumn
        What the columns of a table were taken for.
    """

    ids: pa.Array
    y: IntArray
    names: tuple[str, ...] | None
    column: str | None = None
    columns: tuple[TableColumn, ...] = ()


# -- features -------------------------------------------------------------------------------------------------------


def read_features(
    path: Path,
    *,
    header: bool | None = None,
    encoding: str | None = None,
    encoder: TableEncoder | None = None,
    names: ColumnNames = NO_NAMES,
    ids: bool = True,
    labels: bool = False,
    label: str | None = None,
) -> NodeFeatures:
    """Read features from CSV, TSV, Parquet, NPZ, NPY or svmlight, selected by the file's ending.

    Parameters
    ----------
    path : Path
        File to read.
    header : bool, default=None
        Whether the first row of a text file is a header; detected if None.
    encoding : str, default=None
        Encoding of a text file; detected if None.
    encoder : TableEncoder, optional
        What the columns of a table contain; found out by default.
    names : ColumnNames, default=NO_NAMES
        Columns of a table that the user named.
    ids : bool, default=True
        Whether a table has a column of ids. If not, row i belongs to node i, and any ending but those of matrices and
        Parquet is that of a text file.
    labels : bool, default=False
        Whether the labels are a column of the same table, which is no feature then.
    label : str, default=None
        Column of another table that contains the labels. One of the same name is no feature either.

    Returns
    -------
    NodeFeatures
    """
    kind, table = ending(path), None
    if names.kinds and not _is_table(kind, ids=ids):
        raise ParameterError(f"kinds can only be given with a table of features; {path} is a matrix")
    choose = partial(
        choose_feature_columns,
        names=names,
        ids=ids,
        labels=labels,
        label=label,
        ignored=() if encoder is None else encoder.ignored,
    )
    if _is_table(kind, ids=ids):
        table, x = read_encoded(
            lambda values: read_table(
                path,
                ids=int(ids),
                values=values,
                header=header,
                choose=choose,
                named=names.given("id", "kinds"),
                features=True,
                encoding=encoding,
            ),
            typed=kind in PARQUET_ENDINGS,
            ids=int(ids),
            encoder=encoder,
        )
        features = NodeFeatures(table.columns[0] if ids else _row_numbers(path, x.x), x, table.taken)
    elif kind == ".npz":
        with open_npz(path) as arrays:
            features = _features_from_arrays(path, arrays)
    elif kind == ".npy":
        array = read_npy(path)
        features = NodeFeatures(_row_numbers(path, array), array)
    elif kind in SVMLIGHT_ENDINGS:
        matrix, _ = _read_svmlight(path)
        features = NodeFeatures(_row_numbers(path, matrix), matrix)
    else:
        raise _unknown_ending(path, "features")
    check_unique(features.ids, f"a node must have one row of features; {path} has", table=table if ids else None)
    return features


def _features_from_arrays(path: Path, arrays: NpzArrays) -> NodeFeatures:
    x: Any = read_sparse(arrays)
    if x is None:
        x = read_sparse(arrays, "attr_")
    if x is None:
        x = _read_named_array(path, arrays, _FEATURE_NAMES)
    return NodeFeatures(_read_ids(path, arrays, x), x)


# -- labels ---------------------------------------------------------------------------------------------------------


def read_labels(
    path: Path,
    *,
    header: bool | None = None,
    encoding: str | None = None,
    names: ColumnNames = NO_NAMES,
    ids: bool = True,
) -> NodeLabels:
    """Read labels from CSV, TSV, Parquet, NPZ, NPY or svmlight, selected by the file's ending.

    Parameters
    ----------
    path : Path
        File to read.
    header : bool, default=None
        Whether the first row of a text file is a header; detected if None.
    encoding : str, default=None
        Encoding of a text file; detected if None.
    names : ColumnNames, default=NO_NAMES
        Columns of a table that the user named.
    ids : bool, default=True
        Whether a table has a column of ids. If not, row i belongs to node i, and any ending but those of matrices and
        Parquet is that of a text file.

    Returns
    -------
    NodeLabels
    """
    kind, column, table = ending(path), None, None
    taken: tuple[TableColumn, ...] = ()
    if _is_table(kind, ids=ids):
        table = read_table(
            path,
            ids=int(ids),
            values=pa.string(),
            header=header,
            choose=partial(choose_label_columns, names=names, ids=ids),
            named=names.given("id", "label"),
            encoding=encoding,
        )
        *first, labels = table.columns
        nodes = first[0] if ids else _row_numbers(path, labels)
        column = None if table.names is None else table.names[-1]
        taken = table.taken
    elif kind == ".npz":
        with open_npz(path) as arrays:
            array = _read_named_array(path, arrays, _LABEL_NAMES)
            nodes, labels = _read_ids(path, arrays, array), to_strings(path, array)
    elif kind == ".npy":
        array = read_npy(path)
        nodes, labels = _row_numbers(path, array), to_strings(path, array)
    elif kind in SVMLIGHT_ENDINGS:
        return _read_svmlight_labels(path)
    else:
        raise _unknown_ending(path, "labels")
    check_unique(nodes, f"a node must have one label; {path} has", hint=SEVERAL_GROUPS, table=table if ids else None)
    return NodeLabels(nodes, *encode_labels(labels), column, taken)


def _read_svmlight_labels(path: Path) -> NodeLabels:
    _, targets = _read_svmlight(path)
    ids = _row_numbers(path, targets)
    if set(targets) == {-1.0, 1.0}:  # svmlight's two classes; -1 does not mean unknown
        return NodeLabels(ids, (targets > 0).astype(np.int64), ("-1", "1"))
    return NodeLabels(ids, *encode_labels(to_strings(path, targets)))


def encode_labels(labels: pa.Array) -> tuple[IntArray, tuple[str, ...] | None]:
    """Encode labels as class numbers; integers >= -1 are kept.

    Parameters
    ----------
    labels : pyarrow.Array of str
        Labels; an empty string is unknown.

    Returns
    -------
    y : ndarray of shape (n_labels,)
        Class numbers, -1 where unknown.
    names : tuple of str or None
        Sorted class names; None if all labels are integers.

    Examples
    --------
    >>> encode_labels(pa.array(["b", "a", "", "b"]))
    (array([ 1,  0, -1,  1]), ('a', 'b'))
    """
    labels = pc.if_else(pc.equal(pc.utf8_trim_whitespace(labels), ""), None, labels)
    if pc.all(pc.match_substring_regex(labels, f"^({INTEGER})$")).as_py() is not False:
        try:
            numbers = pc.fill_null(labels.cast(pa.int64()), UNKNOWN_LABEL).to_numpy(zero_copy_only=False)
            if not len(numbers) or numbers.min() >= UNKNOWN_LABEL:
                return numbers, None
        except pa.ArrowInvalid:
            pass  # too large for int64: use them as names
    names = pc.unique(labels).drop_null()
    names = names.take(pc.sort_indices(names))
    codes = pc.fill_null(pc.index_in(labels, value_set=names, skip_nulls=True), UNKNOWN_LABEL)
    return codes.to_numpy(zero_copy_only=False).astype(np.int64), tuple(names.to_pylist())


# -- shared helpers -------------------------------------------------------------------------------------------------


def check_unique(ids: pa.Array, rule: str, *, hint: str = KEEP_ONE, table: Table | None = None) -> None:
    """Raise an error that names an id that occurs more than once, and where it does.

    Parameters
    ----------
    ids : pyarrow.Array
        The ids.
    rule : str
        Beginning of the message.
    hint : str, default=": keep one row for each id"
        End of the message.
    table : Table, optional
        The table that contains the ids, if it is one.

    Raises
    ------
    ReadError
        If an id occurs more than once.
    """
    duplicate = find_duplicate(ids)
    if duplicate is None:
        return
    place = ""
    if table is not None:
        first, second = np.flatnonzero(pc.equal(ids, pa.scalar(duplicate, ids.type)))[:2].tolist()
        place = f" in {table.row_number(first)} and {table.row_number(second)}"
        if hint == KEEP_ONE and _lists_edges([each.name for each in table.taken]):
            hint = ": it seems to list edges, which are given as the graph"
    raise ReadError(f"{rule} several for {duplicate!r}{place}{hint}")


def _lists_edges(names: Sequence[str]) -> bool:
    """Return whether the columns of a table are named as those of edges."""
    return find_ends(names) is not None or (len(names) == 2 and all(map(is_entity, names)))


def _is_table(kind: str, *, ids: bool) -> bool:
    return kind in TEXT_ENDINGS + PARQUET_ENDINGS or not (ids or kind in (".npz", ".npy", *SVMLIGHT_ENDINGS))


def _unknown_ending(path: Path, what: str) -> ReadError:
    known = TEXT_ENDINGS[:3] + PARQUET_ENDINGS[:1] + (".npz", ".npy") + SVMLIGHT_ENDINGS[:1]
    return ReadError(f"the ending of a {what} file must be one of {', '.join(known)}; got {path.name!r}")


def _row_numbers(path: Path | str, array: Any) -> pa.Array:
    if np.ndim(array) == 0:
        raise ReadError(f"{path} must contain a row per node; it contains a single value")
    return pa.array(np.arange(np.shape(array)[0]))


def _read_named_array(path: Path, arrays: NpzArrays, names: tuple[str, ...]) -> NDArray[Any]:
    """Read the array with a common name, or the only one besides ``ids``."""
    others = [name for name in arrays if name != "ids"]
    name = next((name for name in names if name in arrays), others[0] if len(others) == 1 else None)
    if name is None:
        raise ReadError(
            f"{path} must contain an array named {names[0]!r} or {names[1]!r}; it contains {', '.join(others)}"
        )
    return arrays[name]


def _read_ids(path: Path, arrays: NpzArrays, rows: Any) -> pa.Array:
    if "ids" not in arrays:
        return _row_numbers(path, rows)
    ids = arrays["ids"]
    if ids.shape != (len(_row_numbers(path, rows)),):
        raise ReadError(
            f"{path} must name each of its {len(_row_numbers(path, rows))} rows once; it has ids of shape {ids.shape}"
        )
    if ids.dtype.kind == "u" and len(ids) and ids.max() >= 2**63:
        raise ReadError(f"integer ids must be less than 2^63; {path} has {ids.max()}: use strings")
    if ids.dtype.kind not in "iuUS":
        raise ReadError(f"ids must be integers or strings; {path} has {ids.dtype}")
    return pa.array(ids.astype(np.int64)) if ids.dtype.kind in "iu" else _to_text(path, ids)


def to_strings(path: Path, labels: NDArray[Any]) -> pa.Array:
    """Convert an array of labels to strings; integers may be stored as floats.

    Parameters
    ----------
    path : Path
        File for the message.
    labels : ndarray of shape (n_labels,)
        The labels.

    Returns
    -------
    pyarrow.Array of str
    """
    if labels.ndim != 1:
        raise ReadError(f"labels must be one-dimensional, one class per node; {path} has shape {labels.shape}")
    if labels.dtype.kind == "f":
        if not (np.isfinite(labels).all() and (labels == np.floor(labels)).all()):
            raise ReadError(f"labels must be integers or names; {path} contains fractions or NaN")
        if (np.abs(labels) >= 2**63).any():
            raise ReadError(f"labels must be integers less than 2^63; {path} has {labels[np.abs(labels).argmax()]:g}")
        labels = labels.astype(np.int64)
    return _to_text(path, labels)


def _to_text(path: Path, array: NDArray[Any]) -> pa.Array:
    with wrap_read_errors(path, "NumPy"):
        text = np.char.decode(array, "utf-8") if array.dtype.kind == "S" else array.astype(str)
        return pa.array(text.tolist(), pa.string())


def _read_svmlight(path: Path) -> tuple[sp.csr_array, NDArray[Any]]:
    from sklearn.datasets import load_svmlight_file

    path = check_readable(path)
    with open_text(path, whole=True) as file, wrap_read_errors(path, "svmlight"):
        matrix, targets = load_svmlight_file(file, dtype=np.float32)
    check_features(path, matrix.shape[1])
    return sp.csr_array(matrix), targets
