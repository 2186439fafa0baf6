"""The raw files of each benchmark, read as they were published: (folder of raw files) -> (graph, public splits).

PyG's loaders read the same files, but they make every bag of words dense and write beside what they read. The result
here is the same graph; the tests hold it against PyG's.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphprox.arrays import IntArray
from graphprox.datasets.dataset import NO_SPLITS, Splits
from graphprox.errors import IgnoredInputWarning
from graphprox.graph import Graph
from graphprox.io.arrays import opened_npz, sparse_of
from graphprox.splits import NodeSplit


def _required(matrix: sp.csr_array | None, path: Path) -> sp.csr_array:
    if matrix is None:
        raise KeyError(f"{path.name} lacks a matrix")
    return matrix


def _integers(path: Path, *, skip: int = 0) -> IntArray:
    """A table of whole numbers, which may be gzipped; lines that begin with # are comments."""
    return np.loadtxt(path, dtype=np.int64, skiprows=skip, ndmin=2)


def _binary(x: sp.csr_array) -> sp.csr_array:
    """Every positive entry set to 1."""
    return sp.csr_array(((x.data > 0).astype(np.float32), x.indices, x.indptr), shape=x.shape)


# -- npz: CitationFull, Coauthor, ACM -------------------------------------------------------------------------------


def read_citation_npz(raw: Path) -> tuple[Graph, Splits]:
    """Binary features and no self-loops, as PyG has it; splits where arrays ``train20``, ``test20`` … are held."""
    path = next(raw.glob("*.npz"))
    with warnings.catch_warnings(action="ignore", category=IgnoredInputWarning), opened_npz(path) as arrays:
        adjacency = _required(sparse_of(arrays, "adj_"), path).tocoo()
        x = _binary(_required(sparse_of(arrays, "attr_"), path))
        index = np.stack(adjacency.coords).astype(np.int64)
        graph = Graph(x, index[:, index[0] != index[1]], y=arrays["labels"].astype(np.int64))
        sizes = [name.removeprefix("train") for name in arrays if name.startswith("train")]
        nobody = np.empty(0, np.int64)
        splits = {
            f"train{size}": (NodeSplit(np.sort(arrays[f"train{size}"]), nobody, np.sort(arrays[f"test{size}"])),)
            for size in sizes
        }
        return graph, splits


# -- Geom-GCN: WebKB, Actor -----------------------------------------------------------------------------------------


def read_webkb(raw: Path) -> tuple[Graph, Splits]:
    """Pages and their links, which are directed; features are a list of zeros and ones."""
    rows = _geom_gcn_rows(raw)
    words = [np.fromstring(cells, dtype=np.float32, sep=",") for _, cells, _ in rows]
    return _geom_gcn(raw, sp.csr_array(np.stack(words)), rows)


def read_actor(raw: Path) -> tuple[Graph, Splits]:
    """Actors and the pages that name them together; features are a list of the words that occur."""
    rows = _geom_gcn_rows(raw)
    words = [np.fromstring(cells, dtype=np.int64, sep=",") for _, cells, _ in rows]
    nodes = np.repeat(np.arange(len(rows)), [len(each) for each in words])
    columns = np.concatenate(words)
    x = sp.csr_array((np.ones(len(columns), np.float32), (nodes, columns)))
    return _geom_gcn(raw, _binary(x), rows)


def _geom_gcn_rows(raw: Path) -> list[tuple[int, str, int]]:
    """Number, features as text, label of each node, in the order of the numbers."""
    lines = (raw / "out1_node_feature_label.txt").read_text().splitlines()[1:]
    cells = (line.split("\t") for line in lines)
    return sorted((int(number), features, int(label)) for number, features, label in cells)


def _geom_gcn(raw: Path, x: sp.csr_array, rows: list[tuple[int, str, int]]) -> tuple[Graph, Splits]:
    index = _integers(raw / "out1_graph_edges.txt", skip=1).T
    graph = Graph(x, index, y=np.array([label for _, _, label in rows]), directed=True)
    splits = []
    for path in sorted(raw.glob("*_split_0.6_0.2_*.npz")):
        with opened_npz(path) as masks:
            splits.append(NodeSplit.from_masks(*(masks[f"{part}_mask"] != 0 for part in ("train", "val", "test"))))
    return graph, {"public": tuple(splits)} if splits else NO_SPLITS


# -- others ---------------------------------------------------------------------------------------------------------


def read_wikics(raw: Path) -> tuple[Graph, Splits]:
    """Articles, dense features and twenty splits in one JSON file; made undirected, as PyG does by default."""
    held = json.loads((raw / "data.json").read_text())
    source = np.repeat(np.arange(len(held["links"])), [len(targets) for targets in held["links"]])
    target = np.concatenate([np.asarray(targets, np.int64) for targets in held["links"]])
    graph = Graph(np.asarray(held["features"], np.float32), np.stack([source, target]), y=held["labels"])
    test = np.asarray(held["test_mask"], bool)
    pairs = zip(held["train_masks"], held["val_masks"], strict=True)
    return graph, {
        "public": tuple(
            NodeSplit.from_masks(np.asarray(train, bool), np.asarray(validation, bool), test)
            for train, validation in pairs
        )
    }


def read_attributed(raw: Path) -> tuple[Graph, Splits]:
    """BlogCatalog, of AttributedGraphDataset: sparse word counts, an edge list, a label per node from 1."""
    with opened_npz(raw / "attrs.npz") as arrays:
        x = _required(sparse_of(arrays), raw / "attrs.npz")
    index = _integers(raw / "edgelist.txt").T
    labels = _integers(raw / "labels.txt")
    y = np.empty(len(labels), np.int64)
    y[labels[:, 0]] = labels[:, 1] - 1
    return Graph(x, index, y=y), NO_SPLITS


def read_airports(raw: Path) -> tuple[Graph, Splits]:
    """Airports and flights, each pair listed once; they have no features, so each gets a column of its own."""
    labels = _integers(next(raw.glob("labels-*.txt")), skip=1)
    listed = _integers(next(raw.glob("*.edgelist"))).T
    order = np.argsort(labels[:, 0])
    index = order[np.searchsorted(labels[:, 0], listed, sorter=order)]
    ids = labels[:, 0]
    return Graph(_identity(len(ids)), index, y=labels[:, 1], node_ids=ids), NO_SPLITS


def _identity(size: int) -> sp.csr_array:
    return sp.csr_array(sp.eye_array(size, dtype=np.float32, format="csr"))


def read_facebook(raw: Path) -> tuple[Graph, Splits]:
    """A Facebook100 network: profile fields one-hot, gender as the label (-1 where it is not given)."""
    from scipy.io import loadmat

    held = loadmat(raw / "data.mat")
    profile = np.asarray(held["local_info"], np.int64)
    adjacency = sp.coo_array(held["A"])
    fields = [_one_hot(profile[:, column]) for column in (0, *range(2, profile.shape[1]))]
    index = np.stack(adjacency.coords).astype(np.int64)
    return Graph(sp.hstack(fields, format="csr"), index, y=profile[:, 1] - 1), NO_SPLITS


def _one_hot(values: NDArray[np.int64]) -> sp.csr_array:
    columns = np.unique(values, return_inverse=True)[1]
    return sp.csr_array((np.ones(len(columns), np.float32), columns, np.arange(len(columns) + 1)))


def read_epinions(raw: Path) -> tuple[Graph, Splits]:
    """Who trusts whom, without direction and without features: degree buckets stand in, after a warning."""
    index = _integers(raw / "soc-Epinions1.txt.gz").T
    return Graph(None, index, num_nodes=int(index.max()) + 1), NO_SPLITS
