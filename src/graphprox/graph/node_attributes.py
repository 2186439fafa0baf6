"""Attributes of networkx graphs: those of nodes become a table of features, the others are named in warnings."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from graphprox._utils.stacklevel import warn
from graphprox._utils.suggestions import did_you_mean
from graphprox.errors import GraphError, IgnoredInputWarning, ParameterError
from graphprox.preprocessing.encoded_table import EncodedTable, encode_columns

if TYPE_CHECKING:
    import networkx as nx
    import pyarrow as pa

_NUM_NAMES = 5  # names in a warning


def read_node_attributes(
    graph: nx.Graph[Any], *, features: Iterable[str] | None, label: str, kinds: Mapping[str, str]
) -> EncodedTable | None:
    """Convert the attributes of the nodes of a networkx graph to features.

    Parameters
    ----------
    graph : networkx.Graph
        The graph.
    features : iterable of str or None
        Attributes to use; if None all, in the order of their names, but ``label``. What cannot be used is ignored, with
        a warning.
    label : str
        Attribute that contains the class.
    kinds : mapping of str to str
        Kinds of attributes, where they are given; ``"ignored"`` for those that are no features.

    Returns
    -------
    EncodedTable or None
        None if there are no attributes. Strings are categories, and a node without an attribute has a missing value.

    Raises
    ------
    GraphError
        If an attribute of ``features`` does not exist or cannot be used, or vectors have different lengths.
    """
    from graphprox.preprocessing.columns import IGNORED, NUMBER, check_kinds

    held = [attributes for _, attributes in graph.nodes.data()]
    known = dict.fromkeys(name for attributes in held for name in attributes)
    names = sorted(set(known) - {label}, key=str) if features is None else list(features)
    check_kinds(kinds, map(str, names), of="attributes of nodes")
    columns: dict[str, Any] = {}
    ignored = []
    for name in names:
        if kinds.get(str(name)) == IGNORED:
            continue
        if name not in known:
            hint = (
                did_you_mean(str(name), map(str, known), otherwise="no node has attributes")
                if known
                else "there are none"
            )
            raise GraphError(f"features must name attributes of nodes; got {name!r}: {hint}")
        found = _to_columns(str(name), [_clean(attributes.get(name)) for attributes in held])
        if found is None and features is not None:
            raise GraphError(
                f"a feature must be numbers, categories, dates or vectors of one length; attribute {name!r} has "
                f"other values, such as {next(each[name] for each in held if name in each)!r}"
            )
        if found is None:
            ignored.append(str(name))
        columns.update(found or {})
    if ignored:
        warn(
            f"{_list('node attribute', ignored)} ignored, as they are not numbers, categories, dates or vectors",
            IgnoredInputWarning,
        )
    if not columns:
        return None
    import pyarrow as pa

    spread = [name for name, kind in kinds.items() if kind not in (NUMBER, IGNORED) and name not in columns]
    if spread:
        raise ParameterError(f"kinds must be {NUMBER!r} or {IGNORED!r} for vectors; got another one for {spread[0]!r}")
    return encode_columns(
        pa.table(columns), None, {name: kind for name, kind in kinds.items() if name in columns or kind == IGNORED}
    )


def _clean(value: Any) -> Any:
    """Return a number or string of Python in place of numpy's, and None in place of NaN."""
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and math.isnan(value) else value


def _to_columns(name: str, values: Sequence[Any]) -> dict[str, pa.Array] | None:
    """Return the columns of an attribute by their names; None if it cannot be used."""
    import pyarrow as pa

    kinds = {_find_kind(value) for value in values if value is not None}
    if not kinds:
        return {}
    if kinds == {"boolean"}:
        return {name: pa.array(values, pa.bool_())}
    if kinds <= {"number", "boolean"}:
        return {name: pa.array([None if each is None else float(each) for each in values], pa.float64())}
    if kinds <= {"text", "number", "boolean"}:
        return {name: pa.array([None if each is None else str(each) for each in values], pa.string())}
    if kinds == {"date"}:
        return {name: pa.array([None if each is None else _to_time(each) for each in values], pa.timestamp("us"))}
    return _spread_vectors(name, values) if kinds == {"vector"} else None


def _find_kind(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "text"
    if isinstance(value, datetime.date):
        return "date"
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):  # rows of different lengths
        return "other"
    if array.dtype.kind not in "biuf" or array.ndim > 1:
        return "other"
    return "vector" if array.ndim else "number"


def _to_time(value: datetime.date) -> datetime.datetime:
    if isinstance(value, datetime.datetime):
        return value if value.tzinfo is None else value.astimezone(datetime.UTC).replace(tzinfo=None)
    return datetime.datetime(value.year, value.month, value.day)


def _spread_vectors(name: str, values: Sequence[Any]) -> dict[str, pa.Array]:
    """Return a column per position; the mean, and a mark in a last column, where a node has no vector."""
    import pyarrow as pa

    vectors = [np.asarray(each, np.float64) for each in values if each is not None]
    if len({len(each) for each in vectors}) > 1:
        raise GraphError("every node must have the same number of features; got vectors of different lengths")
    missing = np.array([each is None for each in values])
    rows = np.empty((len(values), len(vectors[0])))
    rows[~missing] = vectors
    rows[missing] = np.mean(vectors, axis=0)
    columns = {f"{name}[{i}]": pa.array(column) for i, column in enumerate(rows.T)}
    # The mark is a number: its column is one of a matrix.
    return {**columns, f"{name} is missing": pa.array(missing.astype(np.float64))} if missing.any() else columns


def report_edges(graph: nx.Graph[Any], weight: str) -> None:
    """Warn about attributes of edges that are not used, and about parallel edges.

    Parameters
    ----------
    graph : networkx.Graph
        The graph.
    weight : str
        Attribute that contains the weight.
    """
    counts = Counter(name for _, _, attributes in graph.edges.data() for name in attributes)
    unused = sorted(str(name) for name in counts if name != weight)
    if unused:
        warn(f"{_list('edge attribute', unused)} ignored, as an edge has one weight, {weight!r}", IgnoredInputWarning)
    if graph.is_multigraph():
        pairs = ((a, b) if graph.is_directed() else frozenset((a, b)) for a, b in graph.edges())
        parallel = graph.number_of_edges() - len(set(pairs))
        if parallel:
            warn(
                f"{parallel} parallel edges are merged with others between the same nodes; their weights are added",
                IgnoredInputWarning,
            )


def _list(what: str, names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:_NUM_NAMES])
    more = f" and {len(names) - _NUM_NAMES} more" if len(names) > _NUM_NAMES else ""
    return f"{what}{'s' * (len(names) > 1)} {shown}{more} {'are' if len(names) > 1 else 'is'}"
