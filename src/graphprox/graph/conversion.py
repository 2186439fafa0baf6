"""Conversions from and to PyG, networkx and scipy; `Graph` has them as methods.

A graph has features, labels, ids and edge weights. Other attributes of PyG, such as masks and positions, are not
converted; attributes of networkx and of edges that cannot be converted raise an `IgnoredInputWarning`.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from graphprox._utils.arrays import MatrixLike, SparseLike
from graphprox._utils.column_names import LABEL_NAMES
from graphprox._utils.stacklevel import warn
from graphprox.errors import GraphError, IgnoredInputWarning
from graphprox.graph.graph import UNKNOWN_LABEL, Graph
from graphprox.graph.node_attributes import read_node_attributes, report_edges

if TYPE_CHECKING:
    import networkx as nx
    import torch
    from torch_geometric.data import Data


# -- PyTorch Geometric ----------------------------------------------------------------------------------------------


def from_pyg(data: Data, *, directed: bool | None = None) -> Graph:
    """Convert a PyG ``Data``; see `Graph.from_pyg`."""
    from torch_geometric.data import Data, HeteroData

    if isinstance(data, HeteroData):
        raise GraphError(
            f"a graph must have one type of node and of edge; got HeteroData with {len(data.node_types)} and "
            f"{len(data.edge_types)}: call data.to_homogeneous() first"
        )
    if not isinstance(data, Data):
        raise GraphError(f"from_pyg takes a torch_geometric.data.Data; got {type(data).__name__}")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Unable to accurately infer 'num_nodes'")
        num_nodes = data.num_nodes
    if num_nodes is None:
        raise GraphError("the number of nodes of a Data must be known; got neither x nor num_nodes: set one of them")
    index, weight = _read_edges(data)
    return Graph(
        to_numpy(data.x),
        index,
        num_nodes=num_nodes,
        edge_weight=weight,
        y=to_numpy(data.y),
        node_ids=data.node_ids if "node_ids" in data else None,
        class_names=data.class_names if "class_names" in data else None,
        directed=directed,
    )


def _read_edges(data: Data) -> tuple[Any, Any]:
    """Return the edge index and the weights, from ``edge_weight`` or a single column of ``edge_attr``."""
    if data.edge_index is None:
        if "adj_t" not in data:
            raise GraphError("a Data must have edges; got neither edge_index nor adj_t")
        # adj_t is the transposed adjacency matrix: rows are targets.
        adj_t = data.adj_t.to_torch_sparse_coo_tensor() if hasattr(data.adj_t, "coo") else data.adj_t
        adj_t = adj_t.to_sparse_coo().coalesce()
        index, values = adj_t.indices().flip(0), adj_t.values()
        weight = None if bool((values == 1).all()) else values
    else:
        index, weight = data.edge_index, data.edge_weight if "edge_weight" in data else None
    if weight is None and data.edge_attr is not None:
        weight = _read_edge_attr(data.edge_attr)
    return to_numpy(index), to_numpy(weight)


def _read_edge_attr(edge_attr: torch.Tensor) -> torch.Tensor | None:
    if edge_attr.dim() == 1 or edge_attr.size(-1) == 1:
        return edge_attr.reshape(-1)
    warn(
        f"edge_attr has {edge_attr.size(-1)} columns; it is ignored because a graph has one weight per edge",
        IgnoredInputWarning,
    )
    return None


def to_numpy(obj: Any) -> Any:
    """Convert a tensor to an array, sparse or dense; return any other object as it is.

    Parameters
    ----------
    obj : object
        A torch tensor on any device, or anything else.

    Returns
    -------
    object
        An ndarray, a csr_array, or ``obj`` itself.
    """
    torch = sys.modules.get("torch")  # an object can only be a tensor if torch is imported already
    if torch is None or not isinstance(obj, torch.Tensor):
        return obj
    tensor = obj.detach().cpu()
    if tensor.dtype == torch.bfloat16:  # numpy has no such dtype
        tensor = tensor.float()
    if tensor.layout == torch.strided:
        return tensor.numpy()
    coo = tensor.to_sparse_coo().coalesce()
    rows, columns = coo.indices().numpy()
    return sp.csr_array((coo.values().numpy(), (rows, columns)), shape=(tensor.shape[0], tensor.shape[1]))


def to_pyg(graph: Graph) -> Data:
    """Convert to a PyG ``Data``; see `Graph.to_pyg`."""
    import torch
    from torch_geometric.data import Data

    data = Data(edge_index=torch.from_numpy(graph.edge_index.copy()), num_nodes=graph.num_nodes)
    if isinstance(graph.x, sp.csr_array):
        rows, columns, values = (
            torch.from_numpy(part.copy()) for part in (graph.x.indptr, graph.x.indices, graph.x.data)
        )
        # torch warns that sparse tensors are in beta and their indices are not checked.
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            data.x = torch.sparse_csr_tensor(rows, columns, values, size=graph.x.shape)
    else:
        data.x = torch.from_numpy(graph.x.copy())
    if graph.edge_weight is not None:
        data.edge_weight = torch.from_numpy(graph.edge_weight.copy())
    if graph.y is not None:
        data.y = torch.from_numpy(graph.y.copy())
    if graph.node_ids is not None:
        data.node_ids = graph.node_ids.tolist()
    if graph.class_names is not None:
        data.class_names = list(graph.class_names)
    return data


# -- networkx -------------------------------------------------------------------------------------------------------


def from_networkx(
    graph: nx.Graph[Any],
    *,
    features: Iterable[str] | None = None,
    label: str | None = None,
    weight: str = "weight",
    kinds: Mapping[str, str] | None = None,
) -> Graph:
    """Convert a networkx graph; see `Graph.from_networkx`."""
    nodes = list(graph)
    ids = nodes if _are_all(nodes, int) or _are_all(nodes, str) else [str(node) for node in nodes]
    number = {node: i for i, node in enumerate(nodes)}
    edges = [(number[a], number[b]) for a, b in graph.edges()]
    index = np.array(edges, np.int64).reshape(-1, 2).T
    if label is None:
        known = {name for _, attributes in graph.nodes.data() for name in attributes} - set(features or ())
        label = next((name for name in LABEL_NAMES if name in known), LABEL_NAMES[0])
    x = read_node_attributes(graph, features=features, label=label, kinds=kinds or {})
    report_edges(graph, weight)
    y, class_names = _encode_labels([graph.nodes[node].get(label) for node in nodes])
    return Graph(
        x,
        index,
        num_nodes=len(nodes),
        edge_weight=_edge_weights(graph, weight),
        y=y,
        node_ids=ids,
        class_names=class_names,
        directed=graph.is_directed(),
    )


def _are_all(values: Iterable[Any], kind: type) -> bool:
    return all(isinstance(value, kind) and not isinstance(value, bool) for value in values)


def _edge_weights(graph: nx.Graph[Any], name: str) -> list[float] | None:
    """Return the weight of every edge, 1 where it is missing as in networkx; None if all weights are 1."""
    weights: list[float | None] = [held.get(name) for _, _, held in graph.edges.data()]
    if all(weight is None or weight == 1 for weight in weights):
        return None
    return [1.0 if weight is None else weight for weight in weights]


def _encode_labels(labels: list[Any]) -> tuple[Any, tuple[str, ...] | None]:
    if all(label is None for label in labels):
        return None, None
    known = [label for label in labels if label is not None]
    if _are_all(known, int):
        return [UNKNOWN_LABEL if label is None else label for label in labels], None
    names = sorted({str(label) for label in known})
    code = {name: i for i, name in enumerate(names)}
    return [UNKNOWN_LABEL if label is None else code[str(label)] for label in labels], tuple(names)


def to_networkx(graph: Graph) -> nx.Graph[Any]:
    """Convert to a networkx graph; see `Graph.to_networkx`."""
    import networkx as nx

    ids = graph.ids.tolist()
    network: nx.Graph[Any] = nx.DiGraph() if graph.directed else nx.Graph()
    for i, node in enumerate(ids):
        row = graph.x[[i]].toarray()[0] if isinstance(graph.x, sp.csr_array) else graph.x[i]
        network.add_node(node, x=row)
        if graph.y is not None and graph.y[i] != UNKNOWN_LABEL:
            network.nodes[node]["y"] = int(graph.y[i]) if graph.class_names is None else graph.class_names[graph.y[i]]
    ends = ([ids[end] for end in side] for side in graph.edge_index)
    if graph.edge_weight is None:
        network.add_edges_from(zip(*ends, strict=True))
    else:
        network.add_weighted_edges_from(zip(*ends, graph.edge_weight.tolist(), strict=True))
    return network


# -- scipy ----------------------------------------------------------------------------------------------------------


def from_scipy(
    adjacency: SparseLike,
    x: MatrixLike | None = None,
    *,
    y: ArrayLike | None = None,
    directed: bool | None = None,
) -> Graph:
    """Convert a sparse adjacency matrix; see `Graph.from_scipy`."""
    shape = np.shape(adjacency)
    sparse: bool = sp.issparse(adjacency)
    if not sparse or len(shape) != 2 or shape[0] != shape[1]:
        raise GraphError(
            f"an adjacency matrix must be sparse and square; got {type(adjacency).__name__} of shape {shape}"
        )
    num_nodes = shape[0]
    coo: Any = adjacency.tocoo()
    stored = coo.data != 0
    index = np.stack([side[stored] for side in coo.coords]).astype(np.int64)
    weight = None if (coo.data[stored] == 1).all() else coo.data[stored]
    return Graph(x, index, num_nodes=num_nodes, edge_weight=weight, y=y, directed=directed)


def to_scipy(graph: Graph) -> sp.csr_array:
    """Convert to a sparse adjacency matrix; see `Graph.to_scipy`."""
    values = np.ones(graph.num_entries, np.float32) if graph.edge_weight is None else graph.edge_weight.copy()
    shape = (graph.num_nodes, graph.num_nodes)
    return sp.csr_array((values, (graph.edge_index[0], graph.edge_index[1])), shape=shape)
