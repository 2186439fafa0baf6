"""read_graph: from a user's files to a Graph."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from graphprox.arrays import IntArray
from graphprox.errors import IgnoredInputWarning, ReadError, StructuralFeaturesWarning
from graphprox.graph import UNKNOWN_LABEL, Graph
from graphprox.io.attributes import NodeFeatures, NodeLabels, read_features, read_labels
from graphprox.io.edge_lists import EdgeList, read_edge_list
from graphprox.io.files import ending, readable
from graphprox.io.graph_files import read_graphml, read_npz, read_torch
from graphprox.io.ids import as_node_ids, numbered, positions
from graphprox.io.tables import PARQUET_ENDINGS, TEXT_ENDINGS

_WHOLE_GRAPHS = (".npz", ".graphml", ".pt", ".pth")


def read_graph(
    path: str | Path,
    *,
    features: str | Path | None = None,
    labels: str | Path | None = None,
    directed: bool | None = None,
    header: bool | None = None,
) -> Graph:
    r"""Read a graph from a file, its kind told by the ending; ``.gz`` may follow that of a text file.

    An edge list is CSV, TSV, text or Parquet: two columns of ids, and perhaps weights. Its ``features`` and
    ``labels`` stand in files of their own and are joined by id; the nodes are then numbered as the features are, and
    otherwise in the order of their ids. npz, GraphML and PyG's ``.pt`` hold a whole graph, to which features and
    labels may still be given. A graph without features gets structural ones, after a warning.

    ``directed`` is by default what the file says (GraphML, PyG), and else no. ``header`` says whether the first row
    of text names the columns, where that cannot be told from the rows.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     edges, features = Path(folder, "edges.csv"), Path(folder, "features.csv")
    ...     _ = edges.write_text("source,target,weight\nann,bob,2\nbob,eve,1\n")
    ...     _ = features.write_text("id,age,height\nann,31,1.7\nbob,25,1.8\neve,52,1.6\n")
    ...     read_graph(edges, features=features)
    Graph(3 nodes, 2 edges, 2 features, weighted)
    """
    path = Path(path)
    given_features = None if features is None else read_features(Path(features), header=header)
    given_labels = None if labels is None else read_labels(Path(labels), header=header)
    kind = ending(path)
    if kind in _WHOLE_GRAPHS:
        with warnings.catch_warnings():
            if given_features is not None:
                warnings.simplefilter("ignore", StructuralFeaturesWarning)
            graph = _read_whole(path, kind, directed)
    elif kind in TEXT_ENDINGS + PARQUET_ENDINGS:
        graph = _graph_of(path, read_edge_list(path, header=header), given_features, directed=bool(directed))
        given_features = None
    else:
        readable(path)
        known = ", ".join(TEXT_ENDINGS[:4] + PARQUET_ENDINGS[:1] + _WHOLE_GRAPHS)
        raise ReadError(f"the ending of a graph's file must be one of {known}; got {path.name!r}")
    if given_features is not None:
        graph = _with_features(graph, given_features, str(features))
    if given_labels is not None:
        graph = _with_labels(graph, given_labels, str(labels))
    if graph.num_entries == 0:
        raise ReadError(f"a graph must have at least one edge; {path} has none")
    return graph


def _read_whole(path: Path, kind: str, directed: bool | None) -> Graph:
    if kind == ".npz":
        return read_npz(path, directed=bool(directed))
    if kind == ".graphml":
        graph = read_graphml(path)
        return graph.to_undirected() if directed is False and graph.directed else graph
    return read_torch(path, directed=directed)


def _graph_of(path: Path, edges: EdgeList, features: NodeFeatures | None, *, directed: bool) -> Graph:
    x: Any = None
    if features is None:
        index, ids = numbered(edges.source, edges.target)
        num_nodes = int(index.max()) + 1 if ids is None else len(ids)
    else:
        index = np.stack([_known_ends(path, end, features.ids) for end in (edges.source, edges.target)])
        ids, x, num_nodes = as_node_ids(features.ids), features.x, len(features.ids)
    weight = edges.weight
    # The ids of a large graph need not stand in memory beside their numbers.
    del edges
    pa.default_memory_pool().release_unused()
    return Graph(x, index, num_nodes=num_nodes, edge_weight=weight, node_ids=ids, directed=directed)


def _known_ends(path: Path, ends: pa.Array, known: pa.Array) -> IntArray:
    found = positions(ends, known)
    unknown = np.flatnonzero(found < 0)
    if len(unknown):
        names = {ends[int(i)].as_py() for i in unknown[:1000]}
        raise ReadError(
            f"every node of an edge must have a row of features; {path} has edges to unknown nodes: "
            f"{_listed(names, at_least=len(unknown) > 1000)}"
        )
    return found


def _listed(names: set[object], *, at_least: bool) -> str:
    shown = sorted(names, key=str)[:3]
    rest = len(names) - len(shown)
    more = f" and {'at least ' * at_least}{rest} more" if rest else ""
    return ", ".join(repr(name) for name in shown) + more


def _with_features(graph: Graph, features: NodeFeatures, name: str) -> Graph:
    ids = pa.array(graph.ids)
    row = positions(ids, features.ids)
    missing = np.flatnonzero(row < 0)
    if len(missing):
        names = {ids[int(i)].as_py() for i in missing}
        raise ReadError(f"every node must have a row of features; {name} has none for {_listed(names, at_least=False)}")
    if len(features.ids) > len(row):
        warnings.warn(
            f"{len(features.ids) - len(row)} rows of {name} are for nodes that the graph does not have: not used",
            IgnoredInputWarning,
            stacklevel=3,
        )
    return graph.with_features(features.x[row])


def _with_labels(graph: Graph, labels: NodeLabels, name: str) -> Graph:
    node = positions(labels.ids, pa.array(graph.ids))
    unknown = np.flatnonzero(node < 0)
    if len(unknown):
        names = {labels.ids[int(i)].as_py() for i in unknown}
        raise ReadError(
            f"labels must be for nodes of the graph; {name} labels unknown nodes: {_listed(names, at_least=False)}"
        )
    y = np.full(graph.num_nodes, UNKNOWN_LABEL, np.int64)
    y[node] = labels.y
    return graph.with_labels(y, class_names=labels.names)
