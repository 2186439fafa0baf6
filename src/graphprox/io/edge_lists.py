"""Edge lists: a row per edge, two ids and perhaps a weight."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphprox.errors import IgnoredInputWarning, ReadError
from graphprox.io.tables import Table, read_table, refuse_words

_NAMES_OF_WEIGHTS = ("weight", "weights", "w", "edge_weight")


@dataclass(frozen=True)
class EdgeList:
    """The ends of each listed edge, as ids of one type, and the weights, where there are any."""

    source: pa.Array
    target: pa.Array
    weight: NDArray[np.float64] | None


def read_edge_list(path: Path, *, header: bool | None = None) -> EdgeList:
    """Read two columns of ids, and a weight: the column named so, or the third where there is no header."""
    table = read_table(path, ids=2, values=None, header=header)
    source, target = table.columns[:2]
    if len(source) == 0:
        raise ReadError(f"a graph must have at least one edge; {path} lists none")
    return EdgeList(source, target, _weights(table))


def _weights(table: Table) -> NDArray[np.float64] | None:
    position = _position_of_weights(table)
    unused = [i for i in range(2, len(table.columns)) if i != position]
    if unused:
        named = [f"{i + 1}" if table.names is None else repr(table.names[i]) for i in unused]
        warnings.warn(
            f"column{'s' * (len(named) > 1)} {', '.join(named)} of {table.path} "
            f"{'are' if len(named) > 1 else 'is'} not used; an edge list has two ids and a column named 'weight'",
            IgnoredInputWarning,
            stacklevel=2,
        )
    return None if position is None else _numbers(table, position)


def _numbers(table: Table, position: int) -> NDArray[np.float64] | None:
    column = table.columns[position]
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        if _holds_nothing_of_networkx(table, column):
            return None
        refuse_words(table, position, column, "weights")
    try:
        weight = column.cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise ReadError(f"weights must be numbers; column {position + 1} of {table.path} holds {column.type}") from None
    bad = pc.invert(pc.and_(pc.greater_equal(weight, 0.0), pc.is_finite(weight)))
    at = pc.index(pc.fill_null(bad, True), True).as_py()
    if at >= 0:
        came = weight[at].as_py()
        raise ReadError(
            f"edge weights must be finite and not negative; {table.row(at)} has {'none' if came is None else came}"
        )
    values: NDArray[np.float64] = weight.to_numpy(zero_copy_only=False)
    return values


def _holds_nothing_of_networkx(table: Table, column: pa.Array) -> bool:
    """Whether the cells are the empty braces that networkx writes behind an edge without attributes."""
    if not (column[0].as_py() or "").startswith("{"):
        return False
    if not pc.all(pc.equal(column, "{}")).as_py():
        raise ReadError(
            f"weights must be numbers; {table.path} has attributes in braces, as networkx writes them: "
            "write it with data=['weight']"
        )
    return True


def _position_of_weights(table: Table) -> int | None:
    if len(table.columns) < 3:
        return None
    if table.names is None:
        return 2
    return next((i for i, name in enumerate(table.names) if i > 1 and name.lower() in _NAMES_OF_WEIGHTS), None)
