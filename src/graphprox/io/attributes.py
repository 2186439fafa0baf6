"""What belongs to nodes: features and labels, joined to them by id.

A table begins with the node's id. A matrix (npz, npy, svmlight) names nodes by an array ``ids``, or else its row
number is the id.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from numpy.typing import NDArray

from graphprox.arrays import IntArray
from graphprox.errors import ReadError
from graphprox.graph import UNKNOWN_LABEL
from graphprox.io.arrays import NpzArrays, damage_named, opened_npz, read_npy, sparse_of
from graphprox.io.files import ending, readable
from graphprox.io.ids import first_repeated
from graphprox.io.layout import WHOLE_NUMBER
from graphprox.io.tables import PARQUET_ENDINGS, TEXT_ENDINGS, Table, read_table

SVMLIGHT_ENDINGS = (".svmlight", ".libsvm", ".svm")
_NAMES_OF_FEATURES = ("x", "features", "attr_matrix", "arr_0")
_NAMES_OF_LABELS = ("y", "labels", "label", "arr_0")

# A table that is mostly zeros is kept as what it is: a sparse matrix.
_SPARSE_BELOW = 0.1


@dataclass(frozen=True)
class NodeFeatures:
    """A row of features for each id."""

    ids: pa.Array
    x: Any


@dataclass(frozen=True)
class NodeLabels:
    """A class for each id; ``names`` where classes were given by name."""

    ids: pa.Array
    y: IntArray
    names: tuple[str, ...] | None


# -- features -------------------------------------------------------------------------------------------------------


def read_features(path: Path, *, header: bool | None = None) -> NodeFeatures:
    """Read features from CSV, TSV, Parquet, NPZ, NPY or svmlight, by the file's ending."""
    kind = ending(path)
    if kind in TEXT_ENDINGS + PARQUET_ENDINGS:
        features = _features_of_table(read_table(path, ids=1, values=pa.float32(), header=header))
    elif kind == ".npz":
        with opened_npz(path) as arrays:
            features = _features_of_arrays(path, arrays)
    elif kind == ".npy":
        array = read_npy(path)
        features = NodeFeatures(_row_numbers(path, array), array)
    elif kind in SVMLIGHT_ENDINGS:
        matrix, _ = _read_svmlight(path)
        features = NodeFeatures(_row_numbers(path, matrix), matrix)
    else:
        raise _unknown_ending(path, "features")
    repeated = first_repeated(features.ids)
    if repeated is not None:
        raise ReadError(f"a node must have one row of features; {path} has several for {repeated!r}")
    return features


def _features_of_table(table: Table) -> NodeFeatures:
    ids, *columns = table.columns
    if not columns:
        raise ReadError(f"each row of {table.path} must hold an id and features; it holds the id alone")
    x = np.empty((len(ids), len(columns)), np.float32)
    for i, column in enumerate(columns):
        x[:, i] = column.to_numpy(zero_copy_only=False)  # an empty cell becomes NaN, which Graph refuses by its id
    mostly_zeros = np.count_nonzero(x) < _SPARSE_BELOW * x.size
    return NodeFeatures(ids, sp.csr_array(x) if mostly_zeros else x)


def _features_of_arrays(path: Path, arrays: NpzArrays) -> NodeFeatures:
    x: Any = sparse_of(arrays)
    if x is None:
        x = sparse_of(arrays, "attr_")
    if x is None:
        x = _only_array(path, arrays, _NAMES_OF_FEATURES)
    return NodeFeatures(_ids_of_arrays(path, arrays, x), x)


# -- labels ---------------------------------------------------------------------------------------------------------


def read_labels(path: Path, *, header: bool | None = None) -> NodeLabels:
    """Read one class per node from CSV, TSV, Parquet, NPZ, NPY or svmlight, by the file's ending."""
    kind = ending(path)
    if kind in TEXT_ENDINGS + PARQUET_ENDINGS:
        table = read_table(path, ids=1, values=pa.string(), header=header)
        if len(table.columns) != 2:
            raise ReadError(f"each row of {path} must hold an id and a label; it holds {len(table.columns)} cells")
        ids, given = table.columns
    elif kind == ".npz":
        with opened_npz(path) as arrays:
            array = _only_array(path, arrays, _NAMES_OF_LABELS)
            ids, given = _ids_of_arrays(path, arrays, array), strings(path, array)
    elif kind == ".npy":
        array = read_npy(path)
        ids, given = _row_numbers(path, array), strings(path, array)
    elif kind in SVMLIGHT_ENDINGS:
        return _labels_of_svmlight(path)
    else:
        raise _unknown_ending(path, "labels")
    repeated = first_repeated(ids)
    if repeated is not None:
        raise ReadError(f"a node must have one label; {path} has several for {repeated!r}")
    return NodeLabels(ids, *class_numbers(given))


def _labels_of_svmlight(path: Path) -> NodeLabels:
    _, targets = _read_svmlight(path)
    ids = _row_numbers(path, targets)
    if set(targets) == {-1.0, 1.0}:  # the two classes of a binary task, as is the custom there: -1 is not unknown
        return NodeLabels(ids, (targets > 0).astype(np.int64), ("-1", "1"))
    return NodeLabels(ids, *class_numbers(strings(path, targets)))


def class_numbers(given: pa.Array) -> tuple[IntArray, tuple[str, ...] | None]:
    """Labels as class numbers; they stay as they are if all are whole numbers from -1, or else get names.

    >>> class_numbers(pa.array(["b", "a", "", "b"]))
    (array([ 1,  0, -1,  1]), ('a', 'b'))
    """
    given = pc.if_else(pc.equal(pc.utf8_trim_whitespace(given), ""), None, given)
    if pc.all(pc.match_substring_regex(given, f"^({WHOLE_NUMBER})$")).as_py() is not False:
        try:
            numbers = pc.fill_null(given.cast(pa.int64()), UNKNOWN_LABEL).to_numpy(zero_copy_only=False)
            if not len(numbers) or numbers.min() >= UNKNOWN_LABEL:
                return numbers, None
        except pa.ArrowInvalid:
            pass  # beyond 2^63 a number is a name
    names = pc.unique(given).drop_null()
    names = names.take(pc.sort_indices(names))
    codes = pc.fill_null(pc.index_in(given, value_set=names, skip_nulls=True), UNKNOWN_LABEL)
    return codes.to_numpy(zero_copy_only=False).astype(np.int64), tuple(names.to_pylist())


# -- what features and labels share ---------------------------------------------------------------------------------


def _unknown_ending(path: Path, what: str) -> ReadError:
    known = TEXT_ENDINGS[:3] + PARQUET_ENDINGS[:1] + (".npz", ".npy") + SVMLIGHT_ENDINGS[:1]
    return ReadError(f"the ending of a file of {what} must be one of {', '.join(known)}; got {path.name!r}")


def _row_numbers(path: Path, array: Any) -> pa.Array:
    if np.ndim(array) == 0:
        raise ReadError(f"{path} must hold a row per node; it holds a single value")
    return pa.array(np.arange(np.shape(array)[0]))


def _only_array(path: Path, arrays: NpzArrays, names: tuple[str, ...]) -> NDArray[Any]:
    """The array of a usual name, or the only one beside ``ids``."""
    others = [name for name in arrays if name != "ids"]
    name = next((name for name in names if name in arrays), others[0] if len(others) == 1 else None)
    if name is None:
        raise ReadError(f"{path} must hold an array named {names[0]!r} or {names[1]!r}; it holds {', '.join(others)}")
    return arrays[name]


def _ids_of_arrays(path: Path, arrays: NpzArrays, rows: Any) -> pa.Array:
    if "ids" not in arrays:
        return _row_numbers(path, rows)
    ids = arrays["ids"]
    if ids.shape != (len(_row_numbers(path, rows)),):
        raise ReadError(
            f"{path} must name each of its {len(_row_numbers(path, rows))} rows once; it has ids of shape {ids.shape}"
        )
    if ids.dtype.kind == "u" and len(ids) and ids.max() >= 2**63:
        raise ReadError(f"ids that are whole numbers must lie below 2^63; {path} has {ids.max()}: use strings")
    if ids.dtype.kind not in "iuUS":
        raise ReadError(f"ids must be whole numbers or strings; {path} has {ids.dtype}")
    return pa.array(ids.astype(np.int64)) if ids.dtype.kind in "iu" else _text(path, ids)


def strings(path: Path, labels: NDArray[Any]) -> pa.Array:
    """An array of labels as strings; whole numbers may come as floating ones."""
    if labels.ndim != 1:
        raise ReadError(f"labels must be a list, one class per node; {path} has shape {labels.shape}")
    if labels.dtype.kind == "f":
        if not (np.isfinite(labels).all() and (labels == np.floor(labels)).all()):
            raise ReadError(f"labels must be classes, whole numbers or names; {path} holds fractions or NaN")
        labels = labels.astype(np.int64)
    return _text(path, labels)


def _text(path: Path, array: NDArray[Any]) -> pa.Array:
    with damage_named(path, "NumPy"):
        text = np.char.decode(array, "utf-8") if array.dtype.kind == "S" else array.astype(str)
        return pa.array(text.tolist(), pa.string())


def _read_svmlight(path: Path) -> tuple[sp.csr_array, NDArray[Any]]:
    from sklearn.datasets import load_svmlight_file

    path = readable(path)
    with damage_named(path, "svmlight"):
        matrix, targets = load_svmlight_file(str(path), dtype=np.float32)
    return sp.csr_array(matrix), targets
