"""write_rest: a graph without its held-out edges, in a file from which it can be embedded."""

from __future__ import annotations

import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphprox.arrays import Features, NodeIds
from graphprox.errors import StructuralFeaturesWarning, WriteError
from graphprox.graph import Graph
from graphprox.io.files import written_whole
from graphprox.splits import EdgeSplit
from graphprox.structural import structural_features

ENDING = ".npz"


def check_ending(path: Path) -> None:
    """Say that another ending would not be read back, before anything is computed."""
    if path.suffix.lower() != ENDING:
        raise WriteError(f"the ending of a graph without held-out edges must be {ENDING}; got {path.name!r}")


def write_rest(path: str | Path, whole: Graph, split: EdgeSplit) -> Path:
    """Write what a split left of the whole graph, as an npz file that ``read_graph`` reads; whole or not at all.

    Nodes keep their order, ids and features, edges their weights; there are no labels. The same graph gives the same
    bytes. The file does not say whether edges are directed: whoever reads it does.

    >>> from tempfile import TemporaryDirectory
    >>> from graphprox import edge_split, read_graph, synthetic
    >>> graph = synthetic()
    >>> with TemporaryDirectory() as folder:
    ...     read_graph(write_rest(Path(folder, "rest.npz"), graph, edge_split(graph, seed=0)))
    Graph(840 nodes, 2856 edges, 32 features)
    """
    path = Path(path)
    check_ending(path)
    arrays = {"edge_index": split.graph.edge_index, **_features_of(whole)}
    if split.graph.edge_weight is not None:
        arrays["edge_weight"] = split.graph.edge_weight
    if whole.node_ids is not None:
        arrays["ids"] = _plain(whole.node_ids)
    with written_whole(path) as (staged,), zipfile.ZipFile(staged, "w") as archive:
        for name, array in arrays.items():
            # A bare ZipInfo has a date of its own, always the same, where np.savez would write today's.
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
    return path


def _features_of(graph: Graph) -> dict[str, NDArray[Any]]:
    """The arrays of the features; where they were made of the edges, the number of nodes alone.

    Degrees of the whole graph would tell of the held-out edges. Whoever reads the file makes features of what is left.
    """
    if _are_made_of_edges(graph):
        return {"num_nodes": np.array(graph.num_nodes)}
    return _arrays_of(graph.x)


def _are_made_of_edges(graph: Graph) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StructuralFeaturesWarning)
        made = structural_features(graph.edge_index, num_nodes=graph.num_nodes, directed=graph.directed)
    x = graph.x
    return (
        isinstance(x, sp.csr_array)
        and x.shape == made.shape
        and np.array_equal(x.indptr, made.indptr)
        and np.array_equal(x.indices, made.indices)
        and np.array_equal(x.data, made.data)
    )


def _arrays_of(x: Features) -> dict[str, NDArray[Any]]:
    if isinstance(x, np.ndarray):
        return {"x": x}
    return {"attr_data": x.data, "attr_indices": x.indices, "attr_indptr": x.indptr, "attr_shape": np.array(x.shape)}


def _plain(ids: NodeIds) -> NDArray[Any]:
    """Ids without objects, which only a pickle could hold."""
    return ids.astype(str) if ids.dtype == object else ids
