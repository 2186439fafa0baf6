"""The immutable `Graph` that readers return and methods take."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from graphprox._utils.arrays import (
    Features,
    FloatArray,
    IntArray,
    MatrixLike,
    NodeIds,
    ReadOnlyArrays,
    SparseLike,
    freeze,
)
from graphprox.errors import GraphError, StructuralFeaturesWarning
from graphprox.graph.arguments import (
    UNKNOWN_LABEL,
    check_columns,
    check_edge_index,
    check_edge_weight,
    check_ids,
    check_labels,
    check_num_nodes,
)
from graphprox.graph.edges import canonicalize_edges, is_symmetric
from graphprox.graph.structural import IDENTITY_LIMIT, has_structural_features, structural_features
from graphprox.preprocessing.encoded_table import EncodedTable

if TYPE_CHECKING:
    import networkx as nx
    from torch_geometric.data import Data

    from graphprox.preprocessing.table_encoder import TableEncoder

__all__ = ["UNKNOWN_LABEL", "Graph"]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Graph(ReadOnlyArrays):
    """An immutable graph with node features and optional labels, ids and edge weights.

    All arguments are validated once, on construction; the arrays of a graph are read-only.

    Parameters
    ----------
    x : {array-like, sparse matrix} of shape (num_nodes, num_features), EncodedTable or None
        Node features. They are stored as float32, dense or as a CSR array: a sparse matrix is never made dense.
        A table with columns of other kinds is encoded by `graphprox.preprocessing.encode_table` first. If None,
        structural features are computed from the edges, with a `StructuralFeaturesWarning`.
    edge_index : array-like of shape (2, num_listed_edges)
        Source and target of each edge. Edges listed more than once are merged, and their weights are added.
    num_nodes : int, default=None
        Number of nodes. Required if neither ``x`` nor ``node_ids`` is given.
    edge_weight : array-like of shape (num_listed_edges,), default=None
        Non-negative weight of each edge.
    y : array-like of shape (num_nodes,), default=None
        Class of each node as an integer, -1 where it is unknown.
    node_ids : array-like of shape (num_nodes,), default=None
        Unique ids, all integers or all strings.
    class_names : iterable of str, default=None
        Name of each class.
    directed : bool or None, default=False
        Whether edges have a direction. If None, the graph is undirected if every edge is listed in both directions
        with the same weight.
    feature_names : iterable of str, default=None
        Name of each column of ``x``; by default those of an `EncodedTable` or a DataFrame, if they are different
        strings.

    Attributes
    ----------
    x : ndarray or csr_array of shape (num_nodes, num_features)
        Node features, float32.
    edge_index : ndarray of shape (2, num_entries)
        Edges sorted by source and target, without duplicates. An undirected graph stores both directions of an edge.
    edge_weight : ndarray of shape (num_entries,) or None
        Weight of each entry, float32.
    y : ndarray of shape (num_nodes,) or None
        Class of each node, -1 where it is unknown.
    node_ids : ndarray of shape (num_nodes,) or None
        Ids, int64 or str.
    class_names : tuple of str or None
        Name of each class.
    directed : bool
        Whether edges have a direction.
    duplicates : int
        Number of listed edges that were merged into another one.
    feature_names : tuple of str or None
        Name of each column of ``x``.
    table : EncodedTable or None
        The table that ``x`` was encoded from, if it has columns other than numbers or missing cells.

    Examples
    --------
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
    duplicates: int = 0
    feature_names: tuple[str, ...] | None = None
    table: EncodedTable | None = None

    def __init__(
        self,
        x: MatrixLike | EncodedTable | None,
        edge_index: ArrayLike,
        *,
        num_nodes: int | None = None,
        edge_weight: ArrayLike | None = None,
        y: ArrayLike | None = None,
        node_ids: ArrayLike | None = None,
        class_names: Iterable[str] | None = None,
        directed: bool | None = False,
        feature_names: Iterable[str] | None = None,
    ) -> None:
        ids = None if node_ids is None else check_ids(node_ids)
        columns = check_columns(x, ids, feature_names)
        features = columns["x"]
        num_nodes = check_num_nodes(num_nodes, features, ids)
        index = check_edge_index(edge_index, num_nodes)
        weight = None if edge_weight is None else check_edge_weight(edge_weight, index, ids)
        if directed is None:
            directed = not is_symmetric(index, weight, num_nodes=num_nodes)
        edges = canonicalize_edges(index, weight, num_nodes=num_nodes, directed=directed)
        if features is None:
            features = structural_features(edges.index, num_nodes=num_nodes, directed=directed)
        names = None if class_names is None else tuple(class_names)
        values: dict[str, Any] = {
            **columns,
            "x": features,
            "edge_index": freeze(edges.index),
            "edge_weight": None if edges.weight is None else freeze(edges.weight),
            "y": None if y is None else check_labels(y, num_nodes, names),
            "node_ids": ids,
            "class_names": names,
            "directed": bool(directed),
            "duplicates": edges.duplicates,
        }
        self._set(values)

    # -- properties --------------------------------------------------------------------------------------------

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return int(self.x.shape[0])

    @property
    def num_features(self) -> int:
        """Number of columns of ``x``."""
        return int(self.x.shape[1])

    @property
    def num_entries(self) -> int:
        """Number of columns of ``edge_index``, which PyG calls ``num_edges``."""
        return int(self.edge_index.shape[1])

    @cached_property
    def num_self_loops(self) -> int:
        """Number of edges from a node to itself."""
        return int((self.edge_index[0] == self.edge_index[1]).sum())

    @property
    def num_edges(self) -> int:
        """Number of edges; each undirected edge is counted once."""
        if self.directed:
            return self.num_entries
        return (self.num_entries + self.num_self_loops) // 2

    @cached_property
    def num_classes(self) -> int:
        """Number of distinct classes among the known labels."""
        if self.y is None:
            return 0
        return len(np.unique(self.y[self.y != UNKNOWN_LABEL]))

    @property
    def has_sparse_features(self) -> bool:
        """Whether ``x`` is a CSR array."""
        return sp.issparse(self.x)

    @property
    def ids(self) -> NodeIds:
        """Node ids; 0 to ``num_nodes - 1`` if the graph has none."""
        return np.arange(self.num_nodes) if self.node_ids is None else self.node_ids

    def edges_once(self) -> IntArray:
        """Return every edge once.

        Returns
        -------
        ndarray of shape (2, num_edges)
            Of an undirected edge, the direction with source <= target.
        """
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

    # -- modified copies ---------------------------------------------------------------------------------------

    def without_labels(self) -> Graph:
        """Return the graph without labels, which is what an embedding method sees.

        Returns
        -------
        Graph
            The same graph with ``y`` and ``class_names`` set to None.
        """
        return self._replace(y=None, class_names=None)

    def with_features(self, x: MatrixLike | EncodedTable, *, feature_names: Iterable[str] | None = None) -> Graph:
        """Return the graph with other features.

        Parameters
        ----------
        x : {array-like, sparse matrix} of shape (num_nodes, num_features) or EncodedTable
            The new features.
        feature_names : iterable of str, default=None
            Name of each column; those of an `EncodedTable` if there is one.

        Returns
        -------
        Graph
            The same graph with the new ``x``.
        """
        columns = check_columns(x, self.node_ids, feature_names)
        num_rows = columns["x"].shape[0]
        if num_rows != self.num_nodes:
            raise GraphError(f"features must have a row per node; got {num_rows} for {self.num_nodes} nodes")
        return self._replace(**columns)

    def with_labels(self, y: ArrayLike, *, class_names: Iterable[str] | None = None) -> Graph:
        """Return the graph with other labels.

        Parameters
        ----------
        y : array-like of shape (num_nodes,)
            The new labels, -1 where the class is unknown.
        class_names : iterable of str, default=None
            Name of each class.

        Returns
        -------
        Graph
            The same graph with the new ``y`` and ``class_names``.
        """
        names = None if class_names is None else tuple(class_names)
        return self._replace(y=check_labels(y, self.num_nodes, names), class_names=names)

    def to_undirected(self) -> Graph:
        """Return the graph with every edge in both directions.

        Returns
        -------
        Graph
            An undirected graph. Where both directions of an edge have a weight, the larger one is kept. Structural
            features are computed again.
        """
        edges = canonicalize_edges(self.edge_index, self.edge_weight, num_nodes=self.num_nodes, directed=False)
        return self._with_edges(edges.index, edges.weight, directed=False)

    def _with_edges(self, index: IntArray, weight: FloatArray | None, *, directed: bool) -> Graph:
        """Return the graph with other edges in canonical form.

        Features that were computed from edges are computed again: a node whose degree is greater than its number of
        edges would reveal that it has lost some.
        """
        changed = self._replace(
            edge_index=freeze(index), edge_weight=None if weight is None else freeze(weight), directed=directed
        )
        if self.num_nodes <= IDENTITY_LIMIT or not has_structural_features(self):  # an identity matrix stays the same
            return changed
        with warnings.catch_warnings(action="ignore", category=StructuralFeaturesWarning):  # as for the whole graph
            return changed.with_features(structural_features(index, num_nodes=self.num_nodes, directed=directed))

    def _replace(self, **changes: Any) -> Graph:
        """Return a copy with some fields replaced by values that are already validated."""
        return self._from_valid(**{field.name: getattr(self, field.name) for field in fields(self)} | changes)

    @classmethod
    def _from_valid(cls, **values: Any) -> Graph:
        """Return a graph of values that are already validated, without copying them; fields have defaults."""
        graph = object.__new__(cls)
        graph._set({field.name: field.default for field in fields(cls)} | values)
        return graph

    def _set(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    # -- conversions -------------------------------------------------------------------------------------------

    @classmethod
    def from_pyg(cls, data: Data, *, directed: bool | None = None) -> Graph:
        """Convert a PyG ``Data``.

        Parameters
        ----------
        data : torch_geometric.data.Data
            ``x``, ``edge_index`` (or ``adj_t``), ``edge_weight`` (or ``edge_attr`` with a single column) and ``y`` are
            read, and ``node_ids`` and ``class_names`` as `to_pyg` writes them.
        directed : bool, default=None
            If None, the graph is undirected if every edge is listed in both directions.

        Returns
        -------
        Graph
        """
        from graphprox.graph.conversion import from_pyg

        return from_pyg(data, directed=directed)

    def to_pyg(self) -> Data:
        """Convert to a PyG ``Data``.

        Returns
        -------
        torch_geometric.data.Data
            Sparse features become a torch sparse CSR tensor.
        """
        from graphprox.graph.conversion import to_pyg

        return to_pyg(self)

    @classmethod
    def from_frames(
        cls,
        edges: Any,
        features: Any = None,
        labels: Any = None,
        *,
        source: str | int | None = None,
        target: str | int | None = None,
        weight: str | int | None = None,
        id: str | int | None = None,  # noqa: A002 - as the column is named
        label: str | int | None = None,
        kinds: Mapping[str | int, str] | None = None,
        directed: bool = False,
        encoder: TableEncoder | None = None,
    ) -> Graph:
        """Convert tables of edges, features and labels, as `read_graph` reads them from files.

        Parameters
        ----------
        edges : pandas.DataFrame, polars.DataFrame, pyarrow.Table or object with ``__arrow_c_stream__``
            A row for each edge.
        features : table as ``edges``, default=None
            A row for each node, joined by id, with columns of any kind.
        labels : table as ``edges``, default=None
            A row with the class of each node, joined by id. Here and for ``features``, a pandas Series of one value
            per node is a table whose index contains the ids.
        source, target, weight : str or int, default=None
            Columns of ``edges``, by name or by number from 1. By default columns with names such as ``source``,
            ``target`` and ``weight``, or else the first two, without weights.
        id : str or int, default=None
            Column of ``features`` and ``labels``. By default one with a name such as ``id`` or ``user_id``, the index
            of a pandas DataFrame if it has a name or contains strings, or else the first column.
        label : str or int, default=None
            Column of ``labels``. By default the only one besides the ids, or one with a name such as ``label``.
        kinds : mapping of str or int to str, default=None
            What columns of ``features`` contain, where cells do not show it: ``"number"``, ``"category"`` (as numeric
            codes are), ``"boolean"`` or ``"date"``; ``"ignored"`` leaves a column out.
        directed : bool, default=False
            Whether edges have a direction.
        encoder : TableEncoder, default=None
            What the columns of ``features`` contain, as a fitted embedder knows it in ``preprocessor_.encoder``. Found
            out by default.

        Returns
        -------
        Graph

        Examples
        --------
        >>> import pandas as pd
        >>> follows = pd.DataFrame({"follower": ["ann", "bob"], "followee": ["bob", "eve"]})
        >>> users = pd.DataFrame({"age": [31, 25, 52], "user_id": ["ann", "bob", "eve"]})
        >>> Graph.from_frames(follows, users.set_index("user_id"), directed=True)
        Graph(3 nodes, 2 directed edges, 1 features)
        """
        from graphprox.io.frames import read_frames
        from graphprox.io.tables.column_choice import ColumnNames

        names = ColumnNames(source, target, weight, id, label, kinds=kinds or {})
        return read_frames(edges, features, labels, names, directed=directed, encoder=encoder)[0]

    @classmethod
    def from_networkx(
        cls,
        graph: nx.Graph[Any],
        *,
        features: Iterable[str] | None = None,
        label: str | None = None,
        weight: str = "weight",
        kinds: Mapping[str, str] | None = None,
    ) -> Graph:
        """Convert a networkx graph.

        Parameters
        ----------
        graph : networkx.Graph or networkx.DiGraph
            The graph. Node ids other than all integers or all strings are converted to strings.
        features : iterable of str, default=None
            Node attributes to use as features, all of them if None. Strings are categories, a vector fills several
            columns, and a node without an attribute has a missing value. What cannot be used is ignored, with a
            warning.
        label : str, default=None
            Node attribute that contains the class; nodes may lack it. If None, ``y``, ``label`` or ``class``.
        weight : str, default="weight"
            Edge attribute that contains the weight; edges without it have weight 1.
        kinds : mapping of str to str, default=None
            What attributes of nodes contain, as for `from_frames`.

        Returns
        -------
        Graph
        """
        from graphprox.graph.conversion import from_networkx

        return from_networkx(graph, features=features, label=label, weight=weight, kinds=kinds)

    def to_networkx(self) -> nx.Graph[Any]:
        """Convert to a networkx graph.

        Returns
        -------
        networkx.Graph or networkx.DiGraph
            Nodes have the attributes ``x`` (a dense row) and ``y``, edges ``weight``.
        """
        from graphprox.graph.conversion import to_networkx

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
        """Convert a sparse adjacency matrix.

        Parameters
        ----------
        adjacency : sparse matrix of shape (num_nodes, num_nodes)
            Rows are sources, columns are targets. Values other than 1 become edge weights; stored zeros are ignored.
        x : {array-like, sparse matrix} of shape (num_nodes, num_features), default=None
            Node features.
        y : array-like of shape (num_nodes,), default=None
            Class of each node, -1 where it is unknown.
        directed : bool, default=None
            If None, the graph is undirected if the matrix is symmetric.

        Returns
        -------
        Graph
        """
        from graphprox.graph.conversion import from_scipy

        return from_scipy(adjacency, x, y=y, directed=directed)

    def to_scipy(self) -> sp.csr_array:
        """Convert to a sparse adjacency matrix.

        Returns
        -------
        csr_array of shape (num_nodes, num_nodes)
            Edge weights, or ones, as float32. Rows are sources, columns are targets.
        """
        from graphprox.graph.conversion import to_scipy

        return to_scipy(self)
