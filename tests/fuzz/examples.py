"""Small files of every format that is read, and the function that reads each."""

from __future__ import annotations

import gzip
from pathlib import Path
from tempfile import TemporaryDirectory

import networkx as nx
import numpy as np
import pandas as pd
import scipy.sparse as sp
import torch
from sklearn.datasets import dump_svmlight_file
from torch_geometric.data import Data

from fuzz.damage import to_bytes
from graphprox import Embedding, Graph, read_embedding, read_graph, write_embedding
from graphprox.io.label_sets import read_label_sets
from graphprox.io.sql.sql_reader import read_sql

EDGES = pd.DataFrame({"source": ["a", "b", "c", "d"], "target": ["b", "c", "d", "e"], "weight": [1.0, 2.5, 0.5, 1]})
NUMBERED = pd.DataFrame({"source": [0, 1, 2, 3], "target": [1, 2, 3, 4]})
X = np.array([[0, 1, 0], [2, 0, 0], [0, 0, 0], [0, 0.5, 3], [1, 1, 1]], np.float32)
INDEX = NUMBERED.to_numpy().T.copy()
CLASSES = pd.DataFrame({"id": range(5), "label": ["x", "y", "x", "y", "y"]})
MIXED = pd.DataFrame(
    {
        "id": range(5),
        "age": [31, 25.5, None, 52, 44],
        "since": ["2024-01-05", "2023-11-30", "2020-02-29", None, "2024-06-01"],
        "active": ["yes", "no", "yes", "yes", None],
        "city": ["Rome", "Paris", "Rome", None, "Paris"],
        "stars": [1, 5, 3, 3, 2],
    }
)
TYPED = MIXED.assign(since=pd.to_datetime(MIXED["since"]), active=MIXED["active"] == "yes")


def graphml():
    made = nx.path_graph(["a", "b", "c", "d", "e"])
    nx.set_node_attributes(made, dict(zip(made, [1.5, 2.0, 3.5, 4.0, 5.0], strict=True)), "f")
    nx.set_edge_attributes(made, 2.0, "weight")
    return "\n".join(nx.generate_graphml(made)).encode()


def citation():
    adjacency = sp.csr_array((np.ones(4, np.float32), INDEX), shape=(5, 5))
    return {f"adj_{part}": getattr(adjacency, part) for part in ("data", "indices", "indptr", "shape")} | {
        f"attr_{part}": getattr(sp.csr_array(X), part) for part in ("data", "indices", "indptr", "shape")
    }


def data():
    return Data(edge_index=torch.tensor(INDEX), x=torch.tensor(X).to_sparse(), y=torch.tensor([0, 1, 0, 1, 1]))


def features():
    return pd.DataFrame(X, columns=["f", "g", "h"]).assign(id=range(5))[["id", "f", "g", "h"]]


def to_csv(frame, **options):
    return frame.to_csv(index=False, **options).encode()


def to_excel(frame, *, encoding="utf-8-sig", named=True, **options):
    """Return a table as Excel saves it in countries with a decimal comma."""
    text = frame.to_csv(index=False, lineterminator="\r\n", **{"sep": ";", "decimal": ",", **options})
    return (f"sep={options.get('sep', ';')}\r\n" * named + text).encode(encoding)


def written(name, **options):
    """Return the bytes of an embedding that graphprox has written."""
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        write_embedding(path, X, ids=["ann", "bob", "c c", "é", "5"] if "txt" not in name else None, **options)
        return path.read_bytes()


def database():
    import duckdb

    with TemporaryDirectory() as folder:
        path = Path(folder, "g.duckdb")
        with duckdb.connect(str(path)) as connection:
            connection.execute("CREATE TABLE follows AS SELECT i AS source, i + 1 AS target FROM range(4) t(i)")
            connection.execute(
                "CREATE TABLE users AS SELECT i AS id, i * 0.5 AS f, 'c' || i % 2 AS g FROM range(5) t(i)"
            )
        return path.read_bytes()


def sqlite():
    import sqlite3

    with TemporaryDirectory() as folder:
        path = Path(folder, "g.sqlite")
        connection = sqlite3.connect(path)
        NUMBERED.to_sql("follows", connection, index=False)
        features().to_sql("users", connection, index=False)
        connection.close()
        return path.read_bytes()


GRAPHS = {
    "g.csv": to_csv(EDGES),
    "g.tsv": to_csv(NUMBERED, header=False, sep="\t"),
    "g.txt": b"# a comment\n" + to_csv(NUMBERED, header=False, sep=" "),
    "g.edgelist": to_csv(EDGES, header=False, sep=" "),
    "g.csv.gz": gzip.compress(to_csv(EDGES), mtime=0),
    "excel-edges.csv": to_excel(EDGES),
    "windows-edges.csv": to_excel(EDGES.replace("e", "é"), encoding="cp1252", named=False),
    "g.parquet": to_bytes(EDGES.to_parquet),
    "g.graphml": graphml(),
    "citation.npz": to_bytes(lambda file: np.savez(file, **citation())),
    "index.npz": to_bytes(lambda file: np.savez(file, edge_index=INDEX, x=X, y=[0, 1, 0, 1, 1])),
    "scipy.npz": to_bytes(lambda file: sp.save_npz(file, sp.csc_array((np.ones(4), INDEX), shape=(5, 5)))),
    "data.pt": to_bytes(lambda file: torch.save(data(), file)),
    "legacy.pt": to_bytes(lambda file: torch.save(data().to_dict(), file, _use_new_zipfile_serialization=False)),
}
FEATURES = {
    "x.csv": to_csv(features()),
    "x.tsv": to_csv(features(), sep="\t"),
    "x.parquet": to_bytes(features().to_parquet),
    "x.npy": to_bytes(lambda file: np.save(file, X)),
    "x.npz": to_bytes(lambda file: np.savez(file, x=X, ids=[4, 3, 2, 1, 0])),
    "sparse.npz": to_bytes(lambda file: sp.save_npz(file, sp.csr_array(X), compressed=False)),
    "x.svmlight": to_bytes(lambda file: dump_svmlight_file(X, [0, 1, 0, 1, 1], file)),
    "mixed.csv": to_csv(MIXED),
    "mixed.tsv": to_csv(MIXED, sep="\t"),
    "mixed.csv.gz": gzip.compress(to_csv(MIXED), mtime=0),
    "mixed.parquet": to_bytes(TYPED.to_parquet),
    "excel.csv": to_excel(MIXED),
    "excel.txt": to_excel(MIXED, encoding="utf-16", sep="\t", named=False),
    "windows.csv": to_excel(MIXED.replace("Rome", "Málaga"), encoding="cp1252"),
    "utf-16.csv.gz": gzip.compress(to_excel(MIXED, encoding="utf-16"), mtime=0),
}
LABELS = {
    "y.csv": to_csv(CLASSES),
    "y.tsv": to_csv(CLASSES, sep="\t"),
    "y.parquet": to_bytes(CLASSES.to_parquet),
    "y.npy": to_bytes(lambda file: np.save(file, [0, 1, 0, 1, 1])),
    "y.npz": to_bytes(lambda file: np.savez(file, y=["x", "y", "x", "y", "y"], ids=[4, 3, 2, 1, 0])),
    "y.svmlight": FEATURES["x.svmlight"],
}
LABEL_SETS = {
    "sets.csv": b"id,groups\n0,a;b\n1,b\n2,\n3,c\n4,a;c\n",
    "sets.txt": b"0 a\n1 b\n1 c\n3 c\n",
    "sets.parquet": to_bytes(pd.DataFrame({"id": [0, 1, 1, 3], "group": ["a", "b", "c", "a"]}).to_parquet),
}
EMBEDDINGS = {
    "list.parquet": written("e.parquet"),
    "wide.parquet": written("e.parquet", layout="wide"),
    "e.npz": written("e.npz"),
    "e.npy": written("e.npy"),
    "e.csv": written("e.csv"),
    "e.csv.gz": gzip.compress(written("e.csv"), mtime=0),
    "e.txt": written("e.txt"),
    "e.tsv": written("e.tsv"),
    "e.metadata.tsv": b"ann\nbob\nc c\n\xc3\xa9\n5\n",
    "e.duckdb": written("e.duckdb"),
}
DATABASES = {"g.duckdb": database(), "g.sqlite": sqlite()}
FILES = GRAPHS | FEATURES | LABELS | LABEL_SETS | EMBEDDINGS | DATABASES


def read_example(name, content, folder):
    """Read a file of one of these names, with other files that belong to it."""
    path, edges = Path(folder, name), Path(folder, "edges.csv")
    path.write_bytes(content)
    edges.write_bytes(to_csv(NUMBERED))
    if name in GRAPHS:
        return read_graph(path)
    if name in FEATURES:
        return read_graph(edges, features=path)
    if name in LABELS:
        return read_graph(edges, labels=path)
    if name in LABEL_SETS:
        return read_label_sets(path)
    if name in DATABASES:
        return read_sql("SELECT * FROM follows", features="SELECT * FROM users", database=path)
    if name == "e.metadata.tsv":
        path = Path(folder, "e.tsv")
        path.write_bytes(EMBEDDINGS["e.tsv"])
    elif name == "e.tsv":
        Path(folder, "e.metadata.tsv").write_bytes(EMBEDDINGS["e.metadata.tsv"])
    return read_embedding(path)


def check_sound(found):
    """Check that a graph or an embedding has valid contents."""
    if isinstance(found, Graph):
        assert np.isfinite(found.x.sum(dtype=np.float64))  # all indices are valid
        assert found.edge_index.max() < found.num_nodes
        assert found.y is None or len(found.y) == found.num_nodes
    elif isinstance(found, Embedding):
        assert np.isfinite(found.vectors).all()
        assert len(set(found.ids.tolist())) == len(found.vectors)
