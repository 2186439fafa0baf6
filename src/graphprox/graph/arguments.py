"""Validation of the arguments of a `Graph`: each check returns the array that the graph stores."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from graphprox._utils.arrays import Features, IntArray, MatrixLike, NodeIds, freeze, freeze_csr, to_array
from graphprox._utils.checks import is_integer
from graphprox._utils.suggestions import shorten_repr
from graphprox.errors import GraphError
from graphprox.preprocessing.encoded_table import EncodedTable

UNKNOWN_LABEL = -1


def check_ids(given: ArrayLike) -> NodeIds:
    """Return node ids as int64 or as strings; raise unless they are unique."""
    ids = to_array(given, "node_ids", error=GraphError)
    if ids.ndim != 1:
        raise GraphError(f"node_ids must be a list, one id per node; got an array of shape {ids.shape}")
    if ids.dtype.kind in "iu":
        if ids.dtype.kind == "u" and len(ids) and ids.max() > np.iinfo(np.int64).max:
            raise GraphError(f"integer node ids must be less than 2^63; got {ids.max()}: use strings")
        ids = ids.astype(np.int64, copy=False)
    else:
        ids = ids.astype(object)
        odd = next((each for each in ids if not isinstance(each, str)), None)
        if odd is not None:
            raise GraphError(f"node ids must be all integers below 2^63 or all strings; got {odd!r}")
    values, counts = np.unique(ids, return_counts=True)
    if len(values) < len(ids):
        raise GraphError(f"node ids must be unique; got {values[counts > 1].tolist()[0]!r} more than once")
    return freeze(ids, given=given)


def check_num_nodes(given: int | None, features: Features | None, ids: NodeIds | None) -> int:
    """Return the number of nodes, on which all arguments must agree."""
    sizes = {
        "num_nodes": given,
        "features": None if features is None else features.shape[0],
        "node_ids": None if ids is None else len(ids),
    }
    if given is not None and not is_integer(given):
        raise GraphError(f"num_nodes must be an integer; got {shorten_repr(given)}")
    known = {name: int(size) for name, size in sizes.items() if size is not None}
    if not known:
        raise GraphError("the number of nodes must be known; got neither features nor num_nodes nor node_ids")
    if len(set(known.values())) > 1:
        listed = " and ".join(f"{size} by {name}" for name, size in known.items())
        raise GraphError(f"features, node_ids and num_nodes must agree on the number of nodes; got {listed}")
    size = next(iter(known.values()))
    if size < 2:
        raise GraphError(f"a graph must have at least two nodes; got {size}")
    return size


def check_features(given: MatrixLike, ids: NodeIds | None) -> Features:
    """Return features as float32, dense or CSR; raise unless they are a matrix of finite numbers."""
    x: Features
    try:
        if np.iscomplexobj(given):
            raise GraphError(
                "features must be real numbers; got complex ones: pass their real and imaginary parts as columns"
            )
        with np.errstate(over="ignore"):  # values too large for float32 become inf, which is rejected below
            converted: Any = freeze_csr(given) if sp.issparse(given) else np.asarray(given, dtype=np.float32)
    except GraphError:
        raise
    except (TypeError, ValueError, RuntimeError) as error:
        raise GraphError(f"features must be a valid matrix of numbers; got {error}") from None
    if isinstance(converted, sp.csr_array):
        x = converted
        values = x.data
    else:
        dense = converted
        if dense.ndim != 2:
            raise GraphError(f"features must be a matrix, one row per node; got shape {dense.shape}")
        x = values = freeze(np.ascontiguousarray(dense), given=given)
    if x.shape[1] == 0:
        raise GraphError("features must have at least one column; got none: pass None to use structural features")
    # The minimum and maximum reveal NaN and infinity without allocating a boolean matrix.
    if values.size and not (np.isfinite(values.min()) and np.isfinite(values.max())):
        row, value = _find_non_finite(x)
        name = row if ids is None or row >= len(ids) else ids.tolist()[row]
        shown = "NaN" if np.isnan(value) else value
        raise GraphError(
            f"features must be finite float32 numbers; got {shown} in the row of node {name!r}: replace or remove it"
        )
    return x


def check_columns(
    given: MatrixLike | EncodedTable | None, ids: NodeIds | None, names: Iterable[str] | None
) -> dict[str, Any]:
    """Return the fields of a graph that describe its features; raise unless they are valid."""
    table = given if isinstance(given, EncodedTable) else None
    x = None if given is None else check_features(given if table is None else table.x, ids)
    if names is None and table is not None:
        names = table.feature_names
    elif names is None:
        names = find_names(given)
    checked = None if names is None else check_feature_names(names, x)
    # Of a table of numbers of which none is ignored, the matrix and the names are all that is known.
    kept = None if table is None or table.encoder is None or x is None else replace(table, x=x)
    return {"x": x, "feature_names": checked, "table": kept}


def check_feature_names(given: Iterable[str], x: Features | None) -> tuple[str, ...]:
    """Return a name for each column of features; raise unless all of them differ."""
    names = tuple(given)
    if not all(isinstance(name, str) for name in names):
        raise GraphError(f"feature_names must be strings; got {next(n for n in names if not isinstance(n, str))!r}")
    num_features = 0 if x is None else int(x.shape[1])
    if len(names) != num_features:
        raise GraphError(
            f"feature_names must contain one name per column of x; got {len(names)} for {num_features} columns"
        )
    if len(set(names)) < len(names):
        repeated = next(name for i, name in enumerate(names) if name in names[:i])
        raise GraphError(f"feature_names must differ; got {repeated!r} more than once")
    return names


def find_names(given: Any) -> list[str] | None:
    """Return the names of the columns of a DataFrame or table if they are different strings."""
    columns = getattr(given, "columns", None) if hasattr(given, "dtypes") else getattr(given, "column_names", None)
    names = [] if columns is None else list(columns)
    is_named = bool(names) and all(isinstance(name, str) for name in names) and len(set(names)) == len(names)
    return names if is_named else None


def _find_non_finite(x: Features) -> tuple[int, float]:
    values = x.data if isinstance(x, sp.csr_array) else x.ravel()
    at = int(np.flatnonzero(~np.isfinite(values))[0])
    if isinstance(x, sp.csr_array):
        return int(np.searchsorted(x.indptr, at, side="right")) - 1, float(values[at])
    return at // x.shape[1], float(values[at])


def check_edge_index(given: ArrayLike, num_nodes: int) -> NDArray[Any]:
    """Return the listed edges, (2, num_listed_edges); raise unless they join known nodes."""
    listed = to_array(given, "edge_index", error=GraphError)
    if listed.size == 0:
        return np.empty((2, 0), np.int64)
    if listed.ndim != 2 or listed.shape[0] != 2:
        raise GraphError(f"edge_index must have two rows, sources and targets; got shape {listed.shape}")
    if listed.dtype.kind not in "iu":
        raise GraphError(f"edge_index must contain integer node numbers; got {listed.dtype}")
    if listed.min() < 0 or listed.max() >= num_nodes:
        column = int(np.flatnonzero(((listed < 0) | (listed >= num_nodes)).any(axis=0))[0])
        source, target = (int(end) for end in listed[:, column])
        raise GraphError(
            f"an edge must join nodes 0..{num_nodes - 1}; edge {column} joins {source} and {target}, "
            f"and node {source if not 0 <= source < num_nodes else target} is unknown"
        )
    return listed


def check_edge_weight(given: ArrayLike, index: NDArray[Any], ids: NodeIds | None) -> NDArray[Any]:
    """Return a weight for each listed edge; raise unless they are finite and non-negative."""
    weight = to_array(given, "edge_weight", error=GraphError)
    if weight.ndim == 2 and weight.shape[1] == 1:
        weight = weight[:, 0]
    if weight.shape != (index.shape[1],):
        raise GraphError(
            f"edge_weight must contain one number per edge; got shape {weight.shape} for {index.shape[1]} edges"
        )
    if weight.dtype.kind not in "iufb":
        raise GraphError(f"edge_weight must contain numbers; got {weight.dtype}")
    with np.errstate(over="ignore"):
        bad = np.flatnonzero(~((weight >= 0) & np.isfinite(weight.astype(np.float32))))
    if len(bad):
        source, target = index[:, bad[0]]
        if ids is not None:
            source, target = ids[source], ids[target]
        given = f"{weight[bad[0]]} between {source} and {target}"
        if weight[bad[0]] >= 0 and np.isfinite(weight[bad[0]]):
            raise GraphError(
                f"edge weights must be at most {np.finfo(np.float32).max:.2g}, the largest float32 number; got {given}:"
                " divide all by a constant"
            )
        raise GraphError(f"edge weights must be finite and non-negative; got {given}")
    if np.any((weight != 0) & (weight.astype(np.float32) == 0)):
        tiny = weight[(weight != 0) & (weight.astype(np.float32) == 0)][0]
        raise GraphError(
            f"edge weights must be float32 numbers; got {tiny}, which is too small: multiply all by a constant"
        )
    return weight


def check_labels(given: ArrayLike, num_nodes: int, class_names: tuple[str, ...] | None) -> IntArray:
    """Return a class for each node as int64, -1 where it is unknown."""
    labels = to_array(given, "y", error=GraphError)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.shape != (num_nodes,):
        raise GraphError(
            f"y must contain one class per node; got shape {labels.shape} for {num_nodes} nodes: "
            "multi-label graphs are not supported, omit y"
        )
    if labels.dtype.kind not in "iub":
        raise GraphError(f"y must contain integer class numbers; got {labels.dtype}")
    y = labels.astype(np.int64, copy=False)
    if y.min() < UNKNOWN_LABEL:
        raise GraphError(f"y must contain class numbers >= 0, or -1 for unknown; got {y.min()}")
    if class_names is not None and y.max() >= len(class_names):
        raise GraphError(f"class_names must name every class; got {len(class_names)} names for class {y.max()}")
    return freeze(y, given=given)
