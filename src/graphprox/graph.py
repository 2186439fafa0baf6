"""Graph: the frozen value that everything else takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from graphprox.arrays import Features, FloatArray, IntArray, MatrixLike, NodeIds, SparseLike, frozen, frozen_csr
from graphprox.edges import canonical_edges, is_symmetric
from graphprox.errors import GraphError
from graphprox.structural import structural_features

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import Data

UNKNOWN_LABEL = -1


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Graph:
    """A graph with node features: immutable, and checked once, when it is made.

    ``x`` (nodes, features) is float32, dense or scipy CSR as it was given: a sparse matrix is never made dense. Where
    it is None, structural features stand in, after a warning (:mod:`graphprox.structural`).
    ``edge_index`` (2, entries) is kept sorted and without duplicates, as :mod:`graphprox.edges` says; an undirected
    graph holds both directions of each edge. ``directed=None`` goes by the edges: undirected if each is listed both
    ways. ``y`` holds a class number for each node, -1 where it is not known.

    >>> graph = Graph(x=[[1, 0], [0, 1], [1, 1]], edge_index=[[0, 1], [1, 2]], y=[0, 0, 1])
    >>> graph
    Graph(3 nodes, 2 edges, 2 features, 2 classes)
    >>> graph.edge_index.tolist()
    [[0, 1, 1, 2], [1, 0, 2, 1]]
    """

    x: Features
    edge_index: IntArray
    edge_weight: FloatArray | None = None
    y: IntArray | None = None
    node_ids: NodeIds | None = None
    class_names: tuple[str, ...] | None = None
    directed: bool = False
    duplicates: int = 0  # listed entries that were merged into another

    def __init__(
        self,
        x: MatrixLike | None,
        edge_index: ArrayLike,
        *,
        num_nodes: int | None = None,
        edge_weight: ArrayLike | None = None,
        y: ArrayLike | None = None,
        node_ids: ArrayLike | None = None,
        class_names: Iterable[str] | None = None,
        directed: bool | None = False,
    ) -> None:
        ids = None if node_ids is None else _checked_ids(node_ids)
        features = None if x is None else _checked_features(x, ids)
        num_nodes = _checked_size(num_nodes, features, ids)
        index = _checked_edges(edge_index, num_nodes)
        weight = None if edge_weight is None else _checked_weights(edge_weight, index, ids)
        if directed is None:
            directed = not is_symmetric(index, weight, num_nodes=num_nodes)
        edges = canonical_edges(index, weight, num_nodes=num_nodes, directed=directed)
        if features is None:
            features = structural_features(edges.index, num_nodes=num_nodes, directed=directed)
        names = None if class_names is None else tuple(class_names)
        values: dict[str, Any] = {
            "x": features,
            "edge_index": frozen(edges.index),
            "edge_weight": None if edges.weight is None else frozen(edges.weight),
            "y": None if y is None else _checked_labels(y, num_nodes, names),
            "node_ids": ids,
            "class_names": names,
            "directed": bool(directed),
            "duplicates": edges.duplicates,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    # -- what it is --------------------------------------------------------------------------------------------

    @property
    def num_nodes(self) -> int:
        """The number of nodes."""
        return int(self.x.shape[0])

    @property
    def num_features(self) -> int:
        """The number of columns of ``x``."""
        return int(self.x.shape[1])

    @property
    def num_entries(self) -> int:
        """The number of columns of ``edge_index``: what PyG calls ``num_edges``."""
        return int(self.edge_index.shape[1])

    @cached_property
    def num_self_loops(self) -> int:
        """The number of edges from a node to itself."""
        return int((self.edge_index[0] == self.edge_index[1]).sum())

    @property
    def num_edges(self) -> int:
        """The number of edges; in an undirected graph each is counted once."""
        if self.directed:
            return self.num_entries
        return (self.num_entries + self.num_self_loops) // 2

    @cached_property
    def num_classes(self) -> int:
        """The number of different classes among the known labels."""
        if self.y is None:
            return 0
        return len(np.unique(self.y[self.y != UNKNOWN_LABEL]))

    @property
    def has_sparse_features(self) -> bool:
        """Whether ``x`` is a scipy CSR array."""
        return sp.issparse(self.x)

    @property
    def ids(self) -> NodeIds:
        """The nodes' ids; their numbers where they have none."""
        return np.arange(self.num_nodes) if self.node_ids is None else self.node_ids

    def edges_once(self) -> IntArray:
        """Every edge as one column, (2, num_edges): of an undirected edge the direction with source <= target."""
        if self.directed:
            return self.edge_index
        return self.edge_index[:, self.edge_index[0] <= self.edge_index[1]]

    def __repr__(self) -> str:
        parts = [f"{self.num_nodes} nodes", f"{self.num_edges} {'directed ' * self.directed}edges"]
        parts.append(f"{self.num_features} {'sparse ' * self.has_sparse_features}features")
        if self.y is not None:
            parts.append(f"{self.num_classes} classes")
        if self.edge_weight is not None:
            parts.append("weighted")
        return f"Graph({', '.join(parts)})"

    # -- the same graph, less ----------------------------------------------------------------------------------

    def without_labels(self) -> Graph:
        """The graph that an embedder gets: labels can play no part in what it computes."""
        return self._with(y=None, class_names=None)

    def with_features(self, x: MatrixLike) -> Graph:
        """The same graph with other features, checked, a row per node."""
        features = _checked_features(x, self.node_ids)
        if features.shape[0] != self.num_nodes:
            raise GraphError(f"features must have a row per node; got {features.shape[0]} for {self.num_nodes} nodes")
        return self._with(x=features)

    def with_labels(self, y: ArrayLike, *, class_names: Iterable[str] | None = None) -> Graph:
        """The same graph with other labels, checked; -1 marks a node whose class is not known."""
        names = None if class_names is None else tuple(class_names)
        return self._with(y=_checked_labels(y, self.num_nodes, names), class_names=names)

    def to_undirected(self) -> Graph:
        """The same graph with every edge going both ways."""
        edges = canonical_edges(self.edge_index, self.edge_weight, num_nodes=self.num_nodes, directed=False)
        return self._with(
            edge_index=frozen(edges.index),
            edge_weight=None if edges.weight is None else frozen(edges.weight),
            directed=False,
        )

    def _with(self, **changes: Any) -> Graph:
        """A copy with some fields changed to values that are known to be sound: nothing is checked again."""
        twin = object.__new__(Graph)
        for each in fields(self):
            object.__setattr__(twin, each.name, changes.get(each.name, getattr(self, each.name)))
        return twin

    # -- from and to what others use ---------------------------------------------------------------------------

    @classmethod
    def from_pyg(cls, data: Data, *, directed: bool | None = None) -> Graph:
        """A PyG ``Data``; directed unless every edge is listed both ways, or as told."""
        from graphprox.interop import from_pyg

        return from_pyg(data, directed=directed)

    def to_pyg(self) -> Data:
        """A PyG ``Data`` with ``x`` (a torch sparse CSR tensor where it is sparse), ``edge_index`` and the rest."""
        from graphprox.interop import to_pyg

        return to_pyg(self)

    @classmethod
    def from_networkx(
        cls,
        graph: nx.Graph[Any],
        *,
        features: Iterable[str] | None = None,
        label: str = "y",
        weight: str = "weight",
    ) -> Graph:
        """A networkx graph; ``features``, ``label`` and ``weight`` name attributes of its nodes and edges."""
        from graphprox.interop import from_networkx

        return from_networkx(graph, features=features, label=label, weight=weight)

    def to_networkx(self) -> nx.Graph[Any]:
        """A networkx ``Graph`` or ``DiGraph``: nodes carry ``x`` and ``y``, edges ``weight``."""
        from graphprox.interop import to_networkx

        return to_networkx(self)

    @classmethod
    def from_scipy(
        cls,
        adjacency: SparseLike,
        x: MatrixLike | None = None,
        *,
        y: ArrayLike | None = None,
        directed: bool | None = None,
    ) -> Graph:
        """A sparse adjacency matrix, row to column; values other than 1 become edge weights."""
        from graphprox.interop import from_scipy

        return from_scipy(adjacency, x, y=y, directed=directed)

    def to_scipy(self) -> sp.csr_array:
        """The adjacency matrix, row to column, float32: edge weights, or ones."""
        from graphprox.interop import to_scipy

        return to_scipy(self)


# -- the rules, each in one place -----------------------------------------------------------------------------------


def _checked_ids(given: ArrayLike) -> NodeIds:
    ids = np.asarray(given)
    if ids.ndim != 1:
        raise GraphError(f"node_ids must be a list, one id per node; got an array of shape {ids.shape}")
    if ids.dtype.kind in "iu":
        if ids.dtype.kind == "u" and len(ids) and ids.max() > np.iinfo(np.int64).max:
            raise GraphError(f"node ids must lie below 2^63; got {ids.max()}: use strings for longer ones")
        ids = ids.astype(np.int64, copy=False)
    else:
        ids = ids.astype(object)
        odd = next((each for each in ids if not isinstance(each, str)), None)
        if odd is not None:
            raise GraphError(f"node ids must be all whole numbers below 2^63 or all strings; got {odd!r}")
    values, counts = np.unique(ids, return_counts=True)
    if len(values) < len(ids):
        raise GraphError(f"node ids must differ; got {values[counts > 1].tolist()[0]!r} more than once")
    return frozen(ids, given=given)


def _checked_size(given: int | None, features: Features | None, ids: NodeIds | None) -> int:
    """The number of nodes, on which all that is given must agree."""
    sizes = {
        "num_nodes": given,
        "features": None if features is None else features.shape[0],
        "node_ids": None if ids is None else len(ids),
    }
    told = {name: int(size) for name, size in sizes.items() if size is not None}
    if not told:
        raise GraphError("a graph must say how many nodes it has; got neither features nor num_nodes nor node_ids")
    if len(set(told.values())) > 1:
        listed = " and ".join(f"{size} by {name}" for name, size in told.items())
        raise GraphError(f"a graph must have as many features and ids as nodes; got {listed}")
    size = next(iter(told.values()))
    if size < 2:
        raise GraphError(f"a graph must have at least two nodes, or nothing is near anything; got {size}")
    return size


def _checked_features(given: MatrixLike, ids: NodeIds | None) -> Features:
    x: Features
    if np.iscomplexobj(given):
        raise GraphError("features must be real numbers; got complex ones: give their parts as columns")
    try:
        with np.errstate(over="ignore"):  # too large for float32 is infinity, and refused below
            converted: Any = frozen_csr(given) if sp.issparse(given) else np.asarray(given, dtype=np.float32)
    except (TypeError, ValueError, RuntimeError) as error:
        raise GraphError(f"features must be a sound matrix of numbers; got {error}") from None
    if isinstance(converted, sp.csr_array):
        x = converted
        values = x.data
    else:
        dense = converted
        if dense.ndim != 2:
            raise GraphError(f"features must be a matrix, one row per node; got shape {dense.shape}")
        x = values = frozen(np.ascontiguousarray(dense), given=given)
    if x.shape[1] == 0:
        raise GraphError("features must have at least one column; got none: give None for structural ones")
    # The least and the largest value tell of NaN and infinity without a matrix of booleans.
    if values.size and not (np.isfinite(values.min()) and np.isfinite(values.max())):
        row, value = _first_bad_feature(x)
        name = row if ids is None or row >= len(ids) else ids.tolist()[row]
        raise GraphError(
            f"features must be finite float32 numbers; got {value} in the row of node {name!r}: mend or leave out"
        )
    return x


def _first_bad_feature(x: Features) -> tuple[int, float]:
    values = x.data if isinstance(x, sp.csr_array) else x.ravel()
    at = int(np.flatnonzero(~np.isfinite(values))[0])
    if isinstance(x, sp.csr_array):
        return int(np.searchsorted(x.indptr, at, side="right")) - 1, float(values[at])
    return at // x.shape[1], float(values[at])


def _checked_edges(given: ArrayLike, num_nodes: int) -> NDArray[Any]:
    listed = np.asarray(given)
    if listed.size == 0:
        return np.empty((2, 0), np.int64)
    if listed.ndim != 2 or listed.shape[0] != 2:
        raise GraphError(f"edge_index must have two rows, sources and targets; got shape {listed.shape}")
    if listed.dtype.kind not in "iu":
        raise GraphError(f"edge_index must hold node numbers, which are integers; got {listed.dtype}")
    if listed.min() < 0 or listed.max() >= num_nodes:
        column = int(np.flatnonzero(((listed < 0) | (listed >= num_nodes)).any(axis=0))[0])
        source, target = (int(end) for end in listed[:, column])
        raise GraphError(
            f"an edge must join nodes 0..{num_nodes - 1}; edge {column} joins {source} and {target}, "
            f"and node {source if not 0 <= source < num_nodes else target} is unknown"
        )
    return listed


def _checked_weights(given: ArrayLike, index: NDArray[Any], ids: NodeIds | None) -> NDArray[Any]:
    weight = np.asarray(given)
    if weight.ndim == 2 and weight.shape[1] == 1:
        weight = weight[:, 0]
    if weight.shape != (index.shape[1],):
        raise GraphError(
            f"edge_weight must hold one number per edge; got shape {weight.shape} for {index.shape[1]} edges"
        )
    if weight.dtype.kind not in "iufb":
        raise GraphError(f"edge_weight must hold numbers; got {weight.dtype}")
    with np.errstate(over="ignore"):
        bad = np.flatnonzero(~((weight >= 0) & np.isfinite(weight.astype(np.float32))))
    if len(bad):
        source, target = index[:, bad[0]]
        if ids is not None:
            source, target = ids[source], ids[target]
        raise GraphError(
            f"edge weights must be finite and not negative; got {weight[bad[0]]} between {source} and {target}"
        )
    return weight


def _checked_labels(given: ArrayLike, num_nodes: int, class_names: tuple[str, ...] | None) -> IntArray:
    labels = np.asarray(given)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.shape != (num_nodes,):
        raise GraphError(
            f"y must hold one class per node; got shape {labels.shape} for {num_nodes} nodes: "
            "leave labels out if a node may have several"
        )
    if labels.dtype.kind not in "iub":
        raise GraphError(f"y must hold class numbers, which are integers; got {labels.dtype}")
    y = labels.astype(np.int64, copy=False)
    if y.min() < UNKNOWN_LABEL:
        raise GraphError(f"y must hold class numbers from 0, or -1 where it is not known; got {y.min()}")
    if class_names is not None and y.max() >= len(class_names):
        raise GraphError(f"class_names must name every class; got {len(class_names)} names for class {y.max()}")
    return frozen(y, given=given)
