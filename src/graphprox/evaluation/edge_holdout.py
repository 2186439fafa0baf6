"""Write a graph without its held-out edges, so that it can be embedded for link prediction."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphprox._utils.arrays import NodeIds
from graphprox.errors import WriteError
from graphprox.graph.graph import Graph
from graphprox.graph.splits import EdgeSplit
from graphprox.graph.structural import has_structural_features
from graphprox.io.storage.files import atomic_write

SUFFIX = ".npz"


def check_suffix(path: Path) -> None:
    """Raise unless the suffix of a path is one that :func:`write_training_graph` writes.

    Parameters
    ----------
    path : Path

    Raises
    ------
    WriteError
    """
    if path.suffix.lower() != SUFFIX:
        raise WriteError(f"the suffix of a graph without held-out edges must be {SUFFIX}; got {path.name!r}")


def write_training_graph(path: str | Path, graph: Graph, split: EdgeSplit) -> Path:
    """Write the edges of a graph that are not held out, as an npz file for :func:`graphprox.read_graph`.

    Nodes keep their order, ids and features, edges keep their weights; labels are left out. Structural features, which
    are made from all edges, are left out too, and made again from the remaining edges by the reader. The file is
    written atomically, and the same graph gives the same bytes. It does not record whether edges are directed.

    Parameters
    ----------
    path : str or Path
        File with the suffix ``.npz``.
    graph : Graph
        The whole graph.
    split : EdgeSplit
        A split of its edges.

    Returns
    -------
    Path
        The path written to.

    Raises
    ------
    WriteError
        If the suffix is another, or the file cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from graphprox import edge_split, read_graph, synthetic
    >>> graph = synthetic()
    >>> with TemporaryDirectory() as folder:
    ...     path = write_training_graph(Path(folder, "rest.npz"), graph, edge_split(graph, random_state=0))
    ...     read_graph(path)
    Graph(840 nodes, 2856 edges, 32 features)
    """
    path = Path(path)
    check_suffix(path)
    arrays = {"edge_index": split.graph.edge_index, **_feature_arrays(graph)}
    if split.graph.edge_weight is not None:
        arrays["edge_weight"] = split.graph.edge_weight
    if graph.node_ids is not None:
        arrays["ids"] = _to_plain_ids(graph.node_ids)
    with atomic_write(path) as (staged,), zipfile.ZipFile(staged, "w") as archive:
        for name, array in arrays.items():
            # A bare ZipInfo has a constant date, where np.savez would write the current one.
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
    return path


def _feature_arrays(graph: Graph) -> dict[str, NDArray[Any]]:
    """Return the arrays of the features; for structural ones, only the number of nodes."""
    x = graph.x
    if has_structural_features(graph):  # degrees of the whole graph would reveal held-out edges
        return {"num_nodes": np.array(graph.num_nodes)}
    if isinstance(x, np.ndarray):
        return {"x": x}
    return {"attr_data": x.data, "attr_indices": x.indices, "attr_indptr": x.indptr, "attr_shape": np.array(x.shape)}


def _to_plain_ids(ids: NodeIds) -> NDArray[Any]:
    """Return ids as an array without objects, which could only be pickled."""
    return ids.astype(str) if ids.dtype == object else ids
