"""A damaged file of any format gives a graph or a GraphproxError, and no other exception."""

from __future__ import annotations

import gzip
import io
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file
from torch_geometric.data import Data

from graphprox import Graph, GraphproxError, read_graph

EDGES = pd.DataFrame({"source": ["a", "b", "c", "d"], "target": ["b", "c", "d", "e"], "weight": [1.0, 2.5, 0.5, 1]})
NUMBERED = pd.DataFrame({"source": [0, 1, 2, 3], "target": [1, 2, 3, 4]})
X = np.array([[0, 1, 0], [2, 0, 0], [0, 0, 0], [0, 0.5, 3], [1, 1, 1]], np.float32)
INDEX = NUMBERED.to_numpy().T.copy()


def to_bytes(write):
    """Return the bytes that a function writes to a file object."""
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


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


GRAPHS = {
    "g.csv": EDGES.to_csv(index=False).encode(),
    "g.tsv": NUMBERED.to_csv(index=False, header=False, sep="\t").encode(),
    "g.txt": b"# a comment\n" + NUMBERED.to_csv(index=False, header=False, sep=" ").encode(),
    "g.csv.gz": gzip.compress(EDGES.to_csv(index=False).encode(), mtime=0),
    "g.parquet": to_bytes(EDGES.to_parquet),
    "g.graphml": graphml(),
    "citation.npz": to_bytes(lambda file: np.savez(file, **citation())),
    "index.npz": to_bytes(lambda file: np.savez(file, edge_index=INDEX, x=X, y=[0, 1, 0, 1, 1])),
    "scipy.npz": to_bytes(lambda file: sp.save_npz(file, sp.csc_array((np.ones(4), INDEX), shape=(5, 5)))),
    "data.pt": to_bytes(lambda file: torch.save(data(), file)),
    "legacy.pt": to_bytes(lambda file: torch.save(data().to_dict(), file, _use_new_zipfile_serialization=False)),
}
FEATURES = {
    "x.csv": features().to_csv(index=False).encode(),
    "x.parquet": to_bytes(features().to_parquet),
    "x.npy": to_bytes(lambda file: np.save(file, X)),
    "x.npz": to_bytes(lambda file: np.savez(file, x=X, ids=[4, 3, 2, 1, 0])),
    "sparse.npz": to_bytes(lambda file: sp.save_npz(file, sp.csr_array(X), compressed=False)),
    "x.svmlight": to_bytes(lambda file: dump_svmlight_file(X, [0, 1, 0, 1, 1], file)),
}
FILES = GRAPHS | FEATURES

WORDS = [b"nan", b"-1", b",", b'"', b"\n", b"\0", b"\xff", b" ", b"#", b"<", b"9" * 20, b"1e999", b"\t", b"\r"]


@st.composite
def damage(draw, whole):
    """Change, insert and remove some bytes of a file, and possibly truncate it."""
    broken = bytearray(whole)
    place = st.integers(0, len(whole) - 1)
    for kind in draw(st.lists(st.sampled_from(["change", "put in", "take out"]), max_size=3)):
        at = draw(place)
        if kind == "change":
            broken[at : at + 1] = bytes([draw(st.integers(0, 255))])
        elif kind == "put in":
            broken[at:at] = draw(st.sampled_from(WORDS) | st.binary(min_size=1, max_size=8))
        else:
            del broken[at : at + draw(st.integers(1, 20))]
    if draw(st.booleans()):
        del broken[draw(place) :]
    return bytes(broken)


def read(name, content):
    """Return the graph, or the GraphproxError that reading it raises."""
    with TemporaryDirectory() as folder, warnings.catch_warnings(action="ignore"):
        path, edges = Path(folder, name), Path(folder, "edges.csv")
        path.write_bytes(content)
        NUMBERED.to_csv(edges, index=False)
        try:
            if name in GRAPHS:
                return read_graph(path)
            return read_graph(edges, features=path, labels=path if name == "x.svmlight" else None)
        except GraphproxError as error:
            return error


def assert_sound(found):
    if isinstance(found, Graph):
        assert np.isfinite(found.x.sum())  # all indices are valid
        assert found.edge_index.max() < found.num_nodes
    else:
        assert "\n" not in str(found)


@pytest.mark.parametrize("name", FILES)
def test_an_intact_file_is_read(name):
    assert read(name, FILES[name]).num_edges == 4


@pytest.mark.parametrize("name", FILES)
@given(more=st.data())
@settings(max_examples=60)
def test_a_damaged_file_is_read_or_rejected(name, more):
    assert_sound(read(name, more.draw(damage(FILES[name]))))


@pytest.mark.parametrize("name", FILES)
def test_a_truncated_file_is_read_or_rejected(name):
    whole = FILES[name]
    for length in np.linspace(1, len(whole) - 1, 12).astype(int):
        assert_sound(read(name, whole[:length]))
