"""Readers of files that contain a complete graph: npz, GraphML and PyG ``Data``."""

from __future__ import annotations

import pickle
import warnings
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graphprox._utils.column_names import LABEL_NAMES
from graphprox._utils.suggestions import did_you_mean
from graphprox.errors import GraphproxError, ParameterError, ReadError
from graphprox.graph.conversion import from_networkx, from_pyg, from_scipy
from graphprox.graph.graph import Graph
from graphprox.io.attributes import encode_labels, to_strings
from graphprox.io.limits import check_expansion, check_nodes
from graphprox.io.npy import NpzArrays, open_npz, read_sparse
from graphprox.io.storage.files import check_readable, reason
from graphprox.io.tables.column_choice import TableColumn
from graphprox.io.tables.encodings import open_text

# -- npz ------------------------------------------------------------------------------------------------------------


def read_npz(path: Path, *, directed: bool) -> Graph:
    """Read a graph from an npz file.

    Parameters
    ----------
    path : Path
        A file of CitationFull or ``scipy.sparse.save_npz``, or with the arrays ``edge_index``, ``x`` and ``y``.
    directed : bool
        Whether edges have a direction.

    Returns
    -------
    Graph
    """
    with open_npz(path) as arrays:
        graph = _from_edge_index(arrays, directed) if "edge_index" in arrays else _from_adjacency(arrays, directed)
        y: Any = next((arrays[name] for name in ("labels", "y") if name in arrays), None)
        if y is None:
            return graph
        y, names = encode_labels(to_strings(path, y)) if y.dtype.kind in "US" else (y, None)
        return graph.with_labels(y, class_names=names)


def _from_edge_index(arrays: NpzArrays, directed: bool) -> Graph:
    index, x = arrays["edge_index"], _read_features(arrays)
    if x is None and "x" in arrays:
        x = arrays["x"]
    size = _read_num_nodes(arrays)
    if index.dtype.kind not in "iu" and index.size:
        raise ReadError(
            f"edge_index must contain integer node numbers; that of {arrays.path} contains {index.dtype}: number the "
            "nodes from 0, and save it as int64"
        )
    if x is None and size is None:
        known = [len(arrays[name]) for name in ("ids", "y", "labels") if name in arrays and arrays[name].ndim]
        size = max([*known, int(index.max(initial=-1)) + 1]) if index.dtype.kind in "iu" else None
    if x is None and size is not None:
        check_nodes(arrays.path, size, index.size)
    return Graph(
        x,
        index,
        num_nodes=size,
        edge_weight=arrays.get("edge_weight"),
        node_ids=arrays.get("ids"),
        directed=directed,
    )


def _read_num_nodes(arrays: NpzArrays) -> int | None:
    given = arrays.get("num_nodes")
    if given is None:
        return None
    if given.size != 1 or given.dtype.kind not in "iu":
        raise ReadError(f"num_nodes of {arrays.path} must be an integer; it is {given.dtype} of shape {given.shape}")
    return int(given.item())


def _from_adjacency(arrays: NpzArrays, directed: bool) -> Graph:
    adjacency = read_sparse(arrays, "adj_")
    if adjacency is None:
        adjacency = read_sparse(arrays)
    if adjacency is None:
        raise ReadError(
            f"{arrays.path} must contain a graph, as arrays adj_data, adj_indices, adj_indptr and adj_shape, as "
            f"scipy.sparse.save_npz writes it, or as edge_index; it contains {', '.join(arrays) or 'nothing'}"
        )
    return from_scipy(adjacency, _read_features(arrays), directed=directed)


def _read_features(arrays: NpzArrays) -> Any:
    x: Any = read_sparse(arrays, "attr_")
    return arrays["attr_matrix"] if x is None and "attr_matrix" in arrays else x


# -- GraphML --------------------------------------------------------------------------------------------------------


def read_graphml(
    path: Path, *, label: str | None = None, weight: str | None = None, kinds: Mapping[str, str] | None = None
) -> tuple[Graph, tuple[TableColumn, ...]]:
    """Read a graph from a GraphML file.

    Parameters
    ----------
    path : Path
        File whose node attributes are features.
    label : str, default=None
        Node attribute that is the label; by default ``y``, ``label`` or ``class``.
    weight : str, default=None
        Edge attribute that is the weight; by default ``weight``.
    kinds : mapping of str to str, default=None
        Kinds of node attributes; found out by default.

    Returns
    -------
    graph : Graph
    columns : tuple of TableColumn
        What the attributes were taken for.
    """
    import networkx as nx

    path = check_readable(path)
    try:
        declared, ends = _read_graphml_ids(path)
        with open_text(path, whole=True) as file:
            parsed: nx.Graph[Any] = nx.read_graphml(file)
    except (GraphproxError, Warning):
        raise
    except Exception as error:  # networkx may raise anything for a damaged file
        raise ReadError(f"{path} must be a valid GraphML file, as its name indicates: {reason(error)}") from None
    unknown = next((end for end in ends if end not in declared), None)
    if unknown is not None:
        raise ReadError(f"an edge must connect nodes of the file; {path} has one to the unknown node {unknown!r}")
    for *_, attributes in parsed.edges.data():
        attributes.pop("id", None)  # of the XML element, not of the edge
    attribute_names = {name for _, attributes in parsed.nodes.data() for name in attributes}
    if label is not None and label not in attribute_names:
        hint = did_you_mean(label, sorted(attribute_names))
        raise ParameterError(f"label must name an attribute of the nodes of {path}; got {label!r}: {hint}")
    edge_names = {name for _, _, attributes in parsed.edges.data() for name in attributes}
    if weight is not None and weight not in edge_names:
        hint = did_you_mean(weight, sorted(edge_names))
        raise ParameterError(f"weight must name an attribute of the edges of {path}; got {weight!r}: {hint}")
    label = label or next((name for name in LABEL_NAMES if name in attribute_names), None)
    weight = weight or "weight"
    columns = (
        *(TableColumn("edges", name, "weight" if name == weight else "ignored") for name in sorted(edge_names)),
        *(TableColumn("nodes", name, "label" if name == label else "feature") for name in sorted(attribute_names)),
    )
    return from_networkx(parsed, label=label, weight=weight, kinds=kinds), columns


def _read_graphml_ids(path: Path) -> tuple[set[str], set[str]]:
    """Return the declared ids and the ids of edge ends, as networkx silently adds undeclared nodes."""
    declared: set[str] = set()
    ends: set[str] = set()
    with open_text(path, whole=True) as file:
        # The expat of every supported Python limits the expansion of entities.
        for _, element in ElementTree.iterparse(file, events=["start"]):  # noqa: S314
            kind = element.tag.rpartition("}")[2]
            if kind == "node":
                if element.attrib["id"] in declared:
                    raise ReadError(f"a node must be listed once; {path} has {element.attrib['id']!r} again")
                declared.add(element.attrib["id"])
            elif kind == "edge":
                ends.update((element.attrib["source"], element.attrib["target"]))
    return declared, ends


# -- PyG Data -------------------------------------------------------------------------------------------------------


def read_torch(path: Path, *, directed: bool | None) -> Graph:
    """Read a PyG ``Data``, or its ``to_dict()``, saved with ``torch.save``; objects that could run code are rejected.

    Parameters
    ----------
    path : Path
        File to read.
    directed : bool or None
        Whether edges have a direction; inferred from the edges if None.

    Returns
    -------
    Graph
    """
    import torch
    from torch_geometric.data import Data, HeteroData
    from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
    from torch_geometric.data.storage import BaseStorage, EdgeStorage, GlobalStorage, NodeStorage

    path = check_readable(path)
    plain = [Data, HeteroData, DataEdgeAttr, DataTensorAttr, BaseStorage, EdgeStorage, GlobalStorage, NodeStorage]
    # On exit, torch would also forget those that PyG itself has registered, by which its loaders read their own files.
    added = [each for each in plain if each not in torch.serialization.get_safe_globals()]
    try:
        with torch.serialization.safe_globals(added), warnings.catch_warnings(action="ignore", category=UserWarning):
            loaded = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch may raise anything for a damaged file
        if isinstance(error, pickle.UnpicklingError) and "GLOBAL" in str(error):
            raise ReadError(
                f"{path} must contain a PyG Data of tensors; it contains other pickled objects, which could run code, "
                "and is rejected: save data.to_dict() with only tensors"
            ) from None
        message = "it is not" if isinstance(error, pickle.UnpicklingError) else reason(error)
        raise ReadError(f"{path} must be a valid torch.save file, as its name indicates: {message}") from None
    if isinstance(loaded, dict) and "edge_index" in loaded:
        loaded = Data.from_dict({name: value for name, value in loaded.items() if isinstance(name, str)})
    if not isinstance(loaded, Data | HeteroData):
        raise ReadError(f"{path} must contain a PyG Data; it contains {type(loaded).__name__}")
    try:
        _check_tensors(path, loaded)
        return from_pyg(loaded, directed=directed)
    except (GraphproxError, Warning):
        raise
    except Exception as error:
        raise ReadError(f"{path} must contain a PyG Data of valid tensors: {reason(error)}") from None


def _check_tensors(path: Path, loaded: Any) -> None:
    """Check that tensors are not larger than what the file contains, as a tensor can repeat a value."""
    from torch import Tensor

    values = loaded.to_dict()
    tensors = [each for each in values.values() if isinstance(each, Tensor) and not each.is_sparse]
    check_expansion(
        path, compressed=path.stat().st_size, expanded=sum(each.numel() * each.element_size() for each in tensors)
    )
    index, nodes = values.get("edge_index"), values.get("num_nodes")
    if nodes is None and "x" not in values and isinstance(index, Tensor) and index.numel():
        nodes = int(index.max()) + 1
    if isinstance(nodes, int):
        check_nodes(path, nodes, path.stat().st_size)
