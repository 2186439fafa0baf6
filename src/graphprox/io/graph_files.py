"""Files that hold a whole graph: npz of several kinds, GraphML, a PyG ``Data``."""

from __future__ import annotations

import pickle
import warnings
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

from graphprox.errors import GraphproxError, ReadError
from graphprox.graph import Graph
from graphprox.interop import from_networkx, from_pyg, from_scipy
from graphprox.io.arrays import NpzArrays, opened_npz, sparse_of
from graphprox.io.attributes import class_numbers, strings
from graphprox.io.files import readable, reason
from graphprox.io.layout import opened_text

# -- npz ------------------------------------------------------------------------------------------------------------


def read_npz(path: Path, *, directed: bool) -> Graph:
    """An npz file: of the CitationFull kind, of scipy's ``save_npz``, or with ``edge_index``, ``x`` and ``y``."""
    with opened_npz(path) as arrays:
        graph = _of_edge_index(arrays, directed) if "edge_index" in arrays else _of_adjacency(arrays, directed)
        y: Any = next((arrays[name] for name in ("labels", "y") if name in arrays), None)
        if y is None:
            return graph
        y, names = class_numbers(strings(path, y)) if y.dtype.kind in "US" else (y, None)
        return graph.with_labels(y, class_names=names)


def _of_edge_index(arrays: NpzArrays, directed: bool) -> Graph:
    index, x = arrays["edge_index"], _features_in(arrays)
    if x is None and "x" in arrays:
        x = arrays["x"]
    size = int(arrays["num_nodes"].max()) if "num_nodes" in arrays else None
    if x is None and size is None:
        known = [len(arrays[name]) for name in ("ids", "y", "labels") if name in arrays and arrays[name].ndim]
        size = max([*known, int(index.max(initial=-1)) + 1]) if index.dtype.kind in "iu" else None
    return Graph(
        x,
        index,
        num_nodes=size,
        edge_weight=arrays.get("edge_weight"),
        node_ids=arrays.get("ids"),
        directed=directed,
    )


def _of_adjacency(arrays: NpzArrays, directed: bool) -> Graph:
    adjacency = sparse_of(arrays, "adj_")
    if adjacency is None:
        adjacency = sparse_of(arrays)
    if adjacency is None:
        raise ReadError(
            f"{arrays.path} must hold a graph, as arrays adj_data, adj_indices, adj_indptr and adj_shape, as "
            f"scipy.sparse.save_npz writes it, or as edge_index; it holds {', '.join(arrays) or 'nothing'}"
        )
    return from_scipy(adjacency, _features_in(arrays), directed=directed)


def _features_in(arrays: NpzArrays) -> Any:
    x: Any = sparse_of(arrays, "attr_")
    return arrays["attr_matrix"] if x is None and "attr_matrix" in arrays else x


# -- GraphML --------------------------------------------------------------------------------------------------------

_LABELS_IN_GRAPHML = ("y", "label", "class")


def read_graphml(path: Path) -> Graph:
    """A GraphML file: numeric node attributes are features, ``y``, ``label`` or ``class`` the label."""
    import networkx as nx

    path = readable(path)
    try:
        declared, ends = _graphml_ids(path)
        parsed: nx.Graph[Any] = nx.read_graphml(path)
    except (GraphproxError, Warning):
        raise
    except Exception as error:  # what networkx meets in a damaged file can be anything
        raise ReadError(f"{path} must be a sound GraphML file, as its name says: {reason(error)}") from None
    unknown = next((end for end in ends if end not in declared), None)
    if unknown is not None:
        raise ReadError(f"an edge must join nodes of the file; {path} has one to {unknown!r}, which is unknown")
    held = {name for _, attributes in parsed.nodes.data() for name in attributes}
    label = next((name for name in _LABELS_IN_GRAPHML if name in held), _LABELS_IN_GRAPHML[0])
    return from_networkx(parsed, label=label)


def _graphml_ids(path: Path) -> tuple[set[str], set[str]]:
    """The ids of the nodes that are declared and of those that edges name: networkx adds the latter in silence."""
    declared: set[str] = set()
    ends: set[str] = set()
    with opened_text(path) as file:
        # The expat of every supported Python limits how far entities may expand.
        for _, element in ElementTree.iterparse(file, events=["start"]):  # noqa: S314
            kind = element.tag.rpartition("}")[2]
            if kind == "node":
                if element.attrib["id"] in declared:
                    raise ReadError(f"a node must be listed once; {path} has {element.attrib['id']!r} again")
                declared.add(element.attrib["id"])
            elif kind == "edge":
                ends.update((element.attrib["source"], element.attrib["target"]))
    return declared, ends


# -- a PyG Data, as torch.save writes it ----------------------------------------------------------------------------


def read_torch(path: Path, *, directed: bool | None) -> Graph:
    """A PyG ``Data``, or its ``to_dict()``, saved with ``torch.save``; nothing that could run code is loaded."""
    import torch
    from torch_geometric.data import Data, HeteroData
    from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
    from torch_geometric.data.storage import BaseStorage, EdgeStorage, GlobalStorage, NodeStorage

    path = readable(path)
    plain = [Data, HeteroData, DataEdgeAttr, DataTensorAttr, BaseStorage, EdgeStorage, GlobalStorage, NodeStorage]
    try:
        with torch.serialization.safe_globals(plain), warnings.catch_warnings(action="ignore", category=UserWarning):
            loaded = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # what torch meets in a damaged file can be anything
        if isinstance(error, pickle.UnpicklingError) and "GLOBAL" in str(error):
            raise ReadError(
                f"{path} must hold a PyG Data of tensors; it holds other pickled objects, which could run code, and "
                "is refused: save data.to_dict() with tensors alone"
            ) from None
        said = "it is not" if isinstance(error, pickle.UnpicklingError) else reason(error)
        raise ReadError(f"{path} must be a whole and sound file of torch.save, as its name says: {said}") from None
    if isinstance(loaded, dict) and "edge_index" in loaded:
        loaded = Data.from_dict({name: value for name, value in loaded.items() if isinstance(name, str)})
    if not isinstance(loaded, Data | HeteroData):
        raise ReadError(f"{path} must hold a PyG Data; it holds {type(loaded).__name__}")
    try:
        return from_pyg(loaded, directed=directed)
    except (GraphproxError, Warning):
        raise
    except Exception as error:
        raise ReadError(f"{path} must hold a PyG Data of sound tensors: {reason(error)}") from None
