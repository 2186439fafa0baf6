"""The work of a method: operations and bytes, as its own file of costs counts them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import scipy.sparse as sp

from graphprox.graph.graph import Graph
from graphprox.views.search.engines import MAX_EXACT_COST
from graphprox.views.search.exact import BLOCK_BYTES, SCORE_COST

# What limits a kind of work: operations of a matrix product; those of a factorization (LU, QR, eigenvectors), which
# gains nothing from more threads; bytes read at random by torch and compiled loops; bytes that one thread of numpy or
# scipy reads, or that compiled loops on all threads do.
Kind = Literal["products", "factorizations", "reads", "passes", "loops"]

FLOAT = 4  # bytes


@dataclass(frozen=True)
class Work:
    """An amount of work of one kind.

    Parameters
    ----------
    kind : {"products", "factorizations", "reads", "passes", "loops"}
        What its speed depends on, see `Speeds`.
    amount : float
        Floating-point operations of products and factorizations, bytes of any other kind.
    """

    kind: Kind
    amount: float


@dataclass(frozen=True)
class Costs:
    """What a method does on a graph, before the coefficients that were measured.

    Parameters
    ----------
    model : str or None
        Table of coefficients, such as ``"auto"``; None for a method that has none: it counts its largest arrays, and
        its time is not forecast.
    work : mapping of str to Work
        Amount of work by the name of its coefficient.
    memory : mapping of str to float
        Bytes by the name of their coefficient.
    """

    model: str | None
    work: Mapping[str, Work]
    memory: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Size:
    """Size of a graph, as costs depend on it.

    Parameters
    ----------
    nodes, entries, columns, nonzero : int
        Number of nodes, of entries of the edge index, of features, and of nonzero entries of the feature matrix.
    is_sparse : bool
        Whether the feature matrix is stored as a sparse one.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> Size.of(synthetic(nodes=140)).columns
    32
    """

    nodes: int
    entries: int
    columns: int
    nonzero: int
    is_sparse: bool

    @classmethod
    def of(cls, graph: Graph) -> Size:
        """Return the size of a graph."""
        x = graph.x
        nonzero = x.nnz if isinstance(x, sp.csr_array) else x.size
        return cls(graph.num_nodes, graph.num_entries, graph.num_features, int(nonzero), isinstance(x, sp.csr_array))


def search_work(name: str, rows: int, columns: float, *, lists: float = 0.0) -> dict[str, Work]:
    """Return the work of ranking the nearest rows of dense rows.

    Parameters
    ----------
    name : str
        Beginning of the names of coefficients.
    rows, columns : int
        Size of the matrix.
    lists : float, default=0
        Multiplications by inverted lists, if columns are sparse.
    """
    if float(rows) ** 2 * (columns + SCORE_COST) + lists > MAX_EXACT_COST:
        return {f"{name}_descent": descent_work(rows, columns)}
    return {
        f"{name}_products": Work("products", 2.0 * rows**2 * columns),
        f"{name}_scores": Work("loops", FLOAT * float(rows) ** 2),
        **({f"{name}_lists": Work("loops", FLOAT * lists)} if lists else {}),
    }


def descent_work(rows: int, columns: float) -> Work:
    """Return the work of ranking the nearest rows approximately.

    Parameters
    ----------
    rows, columns : int
        Size of the matrix.

    Examples
    --------
    >>> descent_work(2**20, 0).amount == descent_work(2**10, 0).amount * 2**11
    True
    """
    return Work("loops", float(rows * np.log2(rows) * (columns + SCORE_COST) * FLOAT))


def search_memory(rows: int) -> float:
    """Return the bytes of the scores of a search, which are computed a block at a time.

    Parameters
    ----------
    rows : int

    Examples
    --------
    >>> search_memory(1000), search_memory(10**6)
    (4000000.0, 134217728.0)
    """
    return float(min(FLOAT * rows**2, BLOCK_BYTES))


def add_work(*parts: Mapping[str, Work]) -> dict[str, Work]:
    """Return the sum of works of the same names.

    Examples
    --------
    >>> add_work({"a": Work("reads", 1)}, {"a": Work("reads", 2)})
    {'a': Work(kind='reads', amount=3)}
    """
    total: dict[str, Work] = {}
    for part in parts:
        for name, each in part.items():
            total[name] = Work(each.kind, each.amount + (total[name].amount if name in total else 0))
    return total
