"""Readers of the published raw files of the benchmarks.

PyG's loaders read the same files, but make sparse features dense and write to the folder that they read. The graphs
are the same, which the tests verify.

A reader takes the folder of the raw files, and returns the graph and its public splits.
"""

from __future__ import annotations

import json
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphprox._utils.arrays import IntArray
from graphprox.datasets.dataset import NO_SPLITS, Splits
from graphprox.errors import IgnoredInputWarning
from graphprox.graph.graph import Graph
from graphprox.graph.splits import NodeSplit
from graphprox.io.limits import check_zip
from graphprox.io.npy import open_npz, read_sparse, wrap_read_errors
from graphprox.io.storage.files import check_readable
from graphprox.io.tables.encodings import open_text

_PARTS = ("train", "val", "test")


def _check_found(matrix: sp.csr_array | None, path: Path) -> sp.csr_array:
    if matrix is None:
        raise ValueError(f"{path.name} has no such matrix")
    return matrix


def _read_integers(file: Path | IO[bytes], *, skip: int = 0, dtype: type[np.integer[Any]] = np.int64) -> NDArray[Any]:
    """Read a table of integers, which may be gzipped and contain comments."""
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # of no rows, which is an error here
        if isinstance(file, Path):
            with open_text(file) as opened:
                table = np.loadtxt(opened, dtype=dtype, skiprows=skip, ndmin=2)
        else:
            table = np.loadtxt(file, dtype=dtype, skiprows=skip, ndmin=2)
    if not len(table):
        raise ValueError(f"{file.name} contains no rows")
    return table


def _binarize(x: sp.csr_array) -> sp.csr_array:
    """Set every positive entry to 1."""
    return sp.csr_array(((x.data > 0).astype(np.float32), x.indices, x.indptr), shape=x.shape)


def _make_index_splits(lists: Mapping[str, IntArray], num_nodes: int) -> Splits:
    """Return a split for each pair of lists such as ``train20`` and ``test20``; none has validation nodes."""
    splits = {}
    for name in [name for name in lists if name.startswith("train")]:
        split = NodeSplit(lists[name], np.empty(0, np.int64), lists[name.replace("train", "test")])
        last = max(split.train.max(initial=0), split.test.max(initial=0))
        if last >= num_nodes:
            raise ValueError(
                f"the split {name} contains node {last}, which the graph of {num_nodes} nodes does not have"
            )
        splits[name] = (split,)
    return splits


# -- npz: CitationFull, Coauthor, Amazon, ACM -----------------------------------------------------------------------


def read_citation_npz(raw: Path) -> tuple[Graph, Splits]:
    """Read an npz file of PyG's format, or ACM; features are binary and self-loops removed, as in PyG."""
    path = next(raw.glob("*.npz"))
    with warnings.catch_warnings(action="ignore", category=IgnoredInputWarning), open_npz(path) as arrays:
        adjacency = _check_found(read_sparse(arrays, "adj_"), path).tocoo()
        x = _binarize(_check_found(read_sparse(arrays, "attr_"), path))
        index = np.stack(adjacency.coords).astype(np.int64)
        graph = Graph(x, index[:, index[0] != index[1]], y=arrays["labels"].astype(np.int64))
        return graph, _make_index_splits(arrays, graph.num_nodes)


def read_heterophilous(raw: Path) -> tuple[Graph, Splits]:
    """Read an npz file of heterophilous-graphs: dense words, an edge list, labels, and a row of each mask per split."""
    path = next(raw.glob("*.npz"))
    with open_npz(path) as arrays:
        masks = [arrays[f"{part}_masks"] for part in _PARTS]
        x, edges, y = (arrays[name] for name in ("node_features", "edges", "node_labels"))
    graph = Graph(sp.csr_array(x), edges.T, y=y)
    shapes = [mask.shape for mask in masks]
    if set(shapes) != {(len(masks[0]), graph.num_nodes)}:
        raise ValueError(f"masks must have a row per split and a column per node, {graph.num_nodes}; got {shapes}")
    return graph, {"public": tuple(NodeSplit.from_masks(*split) for split in zip(*masks, strict=True))}


# -- Geom-GCN: WebKB, Actor -----------------------------------------------------------------------------------------


def read_webkb(raw: Path) -> tuple[Graph, Splits]:
    """Read a directed graph of web pages; features are a list of zeros and ones."""
    rows = _read_geom_gcn_rows(raw)
    words = [np.fromstring(cells, dtype=np.float32, sep=",") for _, cells, _ in rows]
    return _read_geom_gcn(raw, sp.csr_array(np.stack(words)), rows)


def read_actor(raw: Path) -> tuple[Graph, Splits]:
    """Read the graph of actors; features are a list of words."""
    rows = _read_geom_gcn_rows(raw)
    words = [np.fromstring(cells, dtype=np.int64, sep=",") for _, cells, _ in rows]
    nodes = np.repeat(np.arange(len(rows)), [len(each) for each in words])
    columns = np.concatenate(words)
    x = sp.csr_array((np.ones(len(columns), np.float32), (nodes, columns)))
    return _read_geom_gcn(raw, _binarize(x), rows)


def _read_geom_gcn_rows(raw: Path) -> list[tuple[int, str, int]]:
    """Return the number, features as text, and label of each node, sorted by number."""
    lines = (raw / "out1_node_feature_label.txt").read_text().splitlines()[1:]
    cells = (line.split("\t") for line in lines)
    return sorted((int(number), features, int(label)) for number, features, label in cells)


def _read_geom_gcn(raw: Path, x: sp.csr_array, rows: list[tuple[int, str, int]]) -> tuple[Graph, Splits]:
    index = _read_integers(raw / "out1_graph_edges.txt", skip=1).T
    graph = Graph(x, index, y=np.array([label for _, _, label in rows]), directed=True)
    splits = []
    for path in sorted(raw.glob("*_split_0.6_0.2_*.npz")):
        with open_npz(path) as masks:
            splits.append(NodeSplit.from_masks(*(masks[f"{part}_mask"] != 0 for part in _PARTS)))
    return graph, {"public": tuple(splits)} if splits else NO_SPLITS


# -- text in a zip file: AM-GCN -------------------------------------------------------------------------------------


def read_uai(raw: Path) -> tuple[Graph, Splits]:
    """Read UAI of AM-GCN: a dense table of zeros and ones, an edge list, labels, and lists of nodes."""
    with zipfile.ZipFile(check_readable(raw / "uai.zip")) as archive:
        check_zip(raw / "uai.zip", archive)
        words = _read_member(archive, "uai.feature", dtype=np.uint8)  # int64 would take 120 MB
        if words.max() > 1:
            raise ValueError(f"uai/uai.feature must contain only 0 and 1; it contains {words.max()}")
        index, y = _read_member(archive, "uai.edge").T, _read_member(archive, "uai.label").ravel()
        graph = Graph(sp.csr_array(words).astype(np.float32), index, y=y)
        names = [f"{part}{size}" for size in (20, 40, 60) for part in ("train", "test")]
        lists = {name: _read_member(archive, f"{name}.txt").ravel() for name in names}
    return graph, _make_index_splits(lists, graph.num_nodes)


def _read_member(archive: zipfile.ZipFile, name: str, *, dtype: type[np.integer[Any]] = np.int64) -> NDArray[Any]:
    member = f"uai/{name}"
    if member not in archive.namelist():
        raise KeyError(member)
    with archive.open(member) as file:
        return _read_integers(file, dtype=dtype)


# -- others ---------------------------------------------------------------------------------------------------------


def read_wikics(raw: Path) -> tuple[Graph, Splits]:
    """Read WikiCS from a JSON file; the graph is made undirected, as in PyG."""
    content = json.loads((raw / "data.json").read_text())
    source = np.repeat(np.arange(len(content["links"])), [len(targets) for targets in content["links"]])
    target = np.concatenate([np.asarray(targets, np.int64) for targets in content["links"]])
    graph = Graph(np.asarray(content["features"], np.float32), np.stack([source, target]), y=content["labels"])
    test = np.asarray(content["test_mask"], bool)
    pairs = zip(content["train_masks"], content["val_masks"], strict=True)
    return graph, {
        "public": tuple(
            NodeSplit.from_masks(np.asarray(train, bool), np.asarray(val, bool), test) for train, val in pairs
        )
    }


def read_attributed(raw: Path) -> tuple[Graph, Splits]:
    """Read BlogCatalog of AttributedGraphDataset: word counts, an edge list, and labels."""
    with open_npz(raw / "attrs.npz") as arrays:
        x = _check_found(read_sparse(arrays), raw / "attrs.npz")
    index = _read_integers(raw / "edgelist.txt").T
    labels = _read_integers(raw / "labels.txt")
    y = np.empty(len(labels), np.int64)
    y[labels[:, 0]] = labels[:, 1] - 1
    return Graph(x, index, y=y), NO_SPLITS


def read_airports(raw: Path) -> tuple[Graph, Splits]:
    """Read a graph of airports and flights, with identity features."""
    labels = _read_integers(next(raw.glob("labels-*.txt")), skip=1)
    edges = _read_integers(next(raw.glob("*.edgelist"))).T
    order = np.argsort(labels[:, 0])
    index = order[np.searchsorted(labels[:, 0], edges, sorter=order)]
    ids = labels[:, 0]
    return Graph(_identity(len(ids)), index, y=labels[:, 1], node_ids=ids), NO_SPLITS


def _identity(size: int) -> sp.csr_array:
    return sp.csr_array(sp.eye_array(size, dtype=np.float32, format="csr"))


def read_facebook(raw: Path) -> tuple[Graph, Splits]:
    """Read a Facebook100 network; features are one-hot profile fields, the label is the gender."""
    from scipy.io import loadmat

    path = check_readable(raw / "data.mat")
    with wrap_read_errors(path, "mat"):
        content = loadmat(path)
    profile = np.asarray(content["local_info"], np.int64)
    adjacency = sp.coo_array(content["A"])
    fields = [_one_hot(profile[:, column]) for column in (0, *range(2, profile.shape[1]))]
    index = np.stack(adjacency.coords).astype(np.int64)
    return Graph(sp.hstack(fields, format="csr"), index, y=profile[:, 1] - 1), NO_SPLITS


def _one_hot(values: NDArray[np.int64]) -> sp.csr_array:
    columns = np.unique(values, return_inverse=True)[1]
    return sp.csr_array((np.ones(len(columns), np.float32), columns, np.arange(len(columns) + 1)))


def read_epinions(raw: Path) -> tuple[Graph, Splits]:
    """Read soc-Epinions1, an undirected graph without features, which gets structural ones."""
    index = _read_integers(raw / "soc-Epinions1.txt.gz").T
    return Graph(None, index, num_nodes=int(index.max()) + 1), NO_SPLITS


def read_astroph(raw: Path) -> tuple[Graph, Splits]:
    """Read ca-AstroPh, an undirected graph without features, whose node numbers have gaps and are kept as ids."""
    edges = _read_integers(raw / "ca-AstroPh.txt.gz")
    ids, index = np.unique(edges, return_inverse=True)
    return Graph(None, index.reshape(edges.shape).T, node_ids=ids), NO_SPLITS
