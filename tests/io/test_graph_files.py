from __future__ import annotations

import gzip
import os

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.data import Data, HeteroData

from graphprox import GraphError, GraphproxError, IgnoredInputWarning, ReadError, StructuralFeaturesWarning, read_graph

INDEX = np.array([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])  # a path, in both directions
X = np.array([[0, 1, 0], [2, 0, 0], [0, 0, 0], [0, 0.5, 3]], np.float32)
Y = np.array([1, 0, 0, 2])
PATH = {frozenset({0, 1}), frozenset({1, 2}), frozenset({2, 3})}
quiet = pytest.mark.filterwarnings("ignore::graphprox.StructuralFeaturesWarning")


def dense(x):
    return x.toarray() if sp.issparse(x) else x


# -- npz ------------------------------------------------------------------------------------------------------------


def citation_arrays(x):
    adjacency = sp.csr_array((np.ones(3, np.float32), ([0, 1, 2], [1, 2, 3])), shape=(4, 4))
    contents = {f"adj_{part}": getattr(adjacency, part) for part in ("data", "indices", "indptr", "shape")}
    if sp.issparse(x):
        return contents | {f"attr_{part}": getattr(x, part) for part in ("data", "indices", "indptr", "shape")}
    return contents if x is None else contents | {"attr_matrix": x}


@pytest.mark.parametrize("x", [X, sp.csr_array(X)], ids=["dense", "sparse"])
def test_npz_of_citation_full(tmp_path, read_edge_set, x):
    np.savez_compressed(tmp_path / "g.npz", labels=Y, **citation_arrays(x))
    graph = read_graph(tmp_path / "g.npz")
    assert read_edge_set(graph) == PATH
    assert np.array_equal(dense(graph.x), X)
    assert graph.has_sparse_features == sp.issparse(x)
    assert graph.y.tolist() == Y.tolist()
    assert read_edge_set(read_graph(tmp_path / "g.npz", directed=True)) == {(0, 1), (1, 2), (2, 3)}


def test_pickled_names_of_published_npz_files_are_ignored(tmp_path, read_edge_set):
    np.savez(tmp_path / "g.npz", node_names=np.array(["a", None], object), **citation_arrays(X))
    with pytest.warns(IgnoredInputWarning, match="node_names"):
        assert read_edge_set(read_graph(tmp_path / "g.npz")) == PATH


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_npz_of_scipy(tmp_path, read_edge_set, kind):
    weights = sp.coo_array(([1.0, 2.5, 0.5], ([0, 1, 2], [1, 2, 3])), shape=(4, 4))
    sp.save_npz(tmp_path / "g.npz", weights.asformat(kind))
    with pytest.warns(StructuralFeaturesWarning):
        graph = read_graph(tmp_path / "g.npz")
    assert read_edge_set(graph) == {(frozenset({0, 1}), 1.0), (frozenset({1, 2}), 2.5), (frozenset({2, 3}), 0.5)}


def test_npz_with_edge_index(tmp_path, read_edge_set):
    np.savez(tmp_path / "g.npz", edge_index=INDEX, x=X, y=["b", "a", "a", "c"], ids=["p", "q", "r", "s"])
    graph = read_graph(tmp_path / "g.npz")
    assert read_edge_set(graph) == {frozenset("pq"), frozenset("qr"), frozenset("rs")}
    assert (graph.y.tolist(), graph.class_names) == ([1, 0, 0, 2], ("a", "b", "c"))
    assert np.array_equal(graph.x, X)


@pytest.mark.parametrize(("more", "nodes"), [({}, 4), ({"y": [0, 1, 0, 1, 1]}, 5), ({"num_nodes": 7}, 7)])
def test_npz_without_features_gets_structural_features(tmp_path, more, nodes):
    np.savez(tmp_path / "g.npz", edge_index=INDEX, **more)
    with pytest.warns(StructuralFeaturesWarning):
        graph = read_graph(tmp_path / "g.npz")
    assert np.array_equal(graph.x.toarray(), np.eye(nodes))


@pytest.mark.parametrize(
    ("contents", "words"),
    [
        ({"edge_index": [[0], [7]], "x": X}, "node 7 is unknown"),
        ({"edge_index": [[0.0], [1.0]], "x": X}, "integer node numbers; .* contains float64"),
        ({"edge_index": [[0], [1]], "x": X, "y": [0, 1]}, "one class per node"),
        ({"edge_index": [[0], [1]], "x": X, "edge_weight": [-1.0]}, "non-negative; got -1.0"),
        (citation_arrays(X) | {"adj_indices": [1, 2, 9]}, "unknown node or column 9"),
        (citation_arrays(X) | {"adj_shape": [4, 5]}, "square"),
        (citation_arrays(X[:3]), "4 .*and 3"),
        ({"a": [1]}, "must contain a graph.*it contains a"),
    ],
)
def test_invalid_npz_files_are_rejected(tmp_path, contents, words):
    np.savez(tmp_path / "g.npz", **contents)
    with pytest.raises((ReadError, GraphError), match=words):
        read_graph(tmp_path / "g.npz")


# -- GraphML --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph])
@pytest.mark.parametrize("name", ["g.graphml", "g.graphml.gz"])
def test_graphml_equals_networkx(tmp_path, read_edge_set, kind, name):
    made = kind()
    for node, age, height in (("a", 31, 1.75), ("b", 25, 1.5), ("c", 4, 1.0)):
        made.add_node(node, age=age, height=height)
    made.add_edge("a", "b", weight=2.5)
    made.add_edge("c", "b", weight=1.0)
    nx.write_graphml(made, tmp_path / name)
    graph, known = read_graph(tmp_path / name), nx.read_graphml(tmp_path / name)
    ends = tuple if known.is_directed() else frozenset
    assert read_edge_set(graph) == {(ends([a, b]), weight) for a, b, weight in known.edges(data="weight")}
    assert graph.x.tolist() == [[known.nodes[node]["age"], known.nodes[node]["height"]] for node in graph.ids]
    assert graph.directed == known.is_directed()


def test_a_directed_file_can_be_read_as_undirected(tmp_path, read_edge_set):
    nx.write_graphml(nx.DiGraph([("a", "b"), ("b", "c")]), tmp_path / "g.graphml")
    with pytest.warns(StructuralFeaturesWarning):
        graph = read_graph(tmp_path / "g.graphml", directed=False)
    assert read_edge_set(graph) == {frozenset("ab"), frozenset("bc")}


@pytest.mark.parametrize("name", ["y", "label", "class"])
@quiet
def test_labels_of_graphml(tmp_path, name):
    made = nx.path_graph(["a", "b", "c"])
    nx.set_node_attributes(made, {"a": "cat", "c": "dog"}, name)
    nx.write_graphml(made, tmp_path / "g.graphml")
    graph = read_graph(tmp_path / "g.graphml")
    assert (graph.y.tolist(), graph.class_names) == ([0, -1, 1], ("cat", "dog"))


GRAPHML = (
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{}<graph edgedefault="undirected">{}</graph></graphml>'
)
FEATURE = '<key id="k" for="node" attr.name="f" attr.type="double"/>'
TWO = '<node id="a"/><node id="b"/>'
LAUGHS = "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (GRAPHML.format("", TWO + '<edge source="a" target="c"/>'), "the unknown node 'c'"),
        (GRAPHML.format("", TWO + '<node id="a"/>'), "listed once.*'a' again"),
        (GRAPHML.format("", "<node/>"), "'id' is missing"),
        (GRAPHML.format("", TWO + '<edge source="a"/>'), "'target' is missing"),
        (GRAPHML.format(FEATURE, '<node id="a"><data key="k">x</data></node>'), "'x'"),
        (GRAPHML.format(FEATURE, '<node id="a"><data key="no">1</data></node>'), "no key no"),
        (GRAPHML.format("", ""), "at least two nodes"),
        (GRAPHML.format("", TWO[:40])[:120], "valid GraphML file"),
        ("<graphml></graphml>", "valid GraphML file"),
        ("<html/>", "valid GraphML file"),
        ('<?xml version="1.0" encoding="klingon"?><graphml/>', "encoding"),
        (f'<!DOCTYPE g [<!ENTITY a "{"ha" * 50}">{LAUGHS}]>' + GRAPHML.format("", "&i;"), "valid GraphML file"),
    ],
)
def test_invalid_graphml_files_are_rejected(write, text, words):
    with pytest.raises(GraphproxError, match=words):
        read_graph(write("g.graphml", text))


# -- PyG ------------------------------------------------------------------------------------------------------------


def data(**more):
    return Data(edge_index=torch.tensor(INDEX), x=torch.tensor(X), y=torch.tensor(Y), **more)


def save_torch(path, contents, **options):
    torch.save(contents, path, **options)
    return path


@pytest.mark.parametrize("name", ["g.pt", "g.pth"])
@pytest.mark.parametrize("as_dict", [False, True])
@pytest.mark.parametrize("zipped", [False, True])
def test_pyg_data_is_read(tmp_path, read_edge_set, name, as_dict, zipped):
    contents = data().to_dict() if as_dict else data()
    graph = read_graph(save_torch(tmp_path / name, contents, _use_new_zipfile_serialization=zipped))
    assert read_edge_set(graph) == PATH
    assert np.array_equal(graph.x, X)
    assert graph.y.tolist() == Y.tolist()


def test_reading_pyg_data_keeps_what_pyg_has_registered_as_safe(tmp_path):
    before = set(torch.serialization.get_safe_globals())
    read_graph(save_torch(tmp_path / "g.pt", data()))
    assert set(torch.serialization.get_safe_globals()) == before


@pytest.mark.parametrize("layout", ["to_sparse_coo", "to_sparse_csr", "to_sparse_csc"])
@pytest.mark.filterwarnings("ignore:Sparse CS. tensor support")
def test_sparse_features_of_pyg_data_stay_sparse(tmp_path, layout):
    contents = data()
    contents.x = getattr(contents.x, layout)()
    graph = read_graph(save_torch(tmp_path / "g.pt", contents))
    assert graph.has_sparse_features
    assert np.array_equal(graph.x.toarray(), X)


def test_pyg_data_is_undirected_if_every_edge_is_listed_both_ways(tmp_path, read_edge_set):
    contents = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), x=torch.ones(3, 1), edge_weight=torch.tensor([2.0, 1.0]))
    path = save_torch(tmp_path / "g.pt", contents)
    assert read_edge_set(read_graph(path)) == {((0, 1), 2.0), ((1, 2), 1.0)}
    assert read_edge_set(read_graph(path, directed=False)) == {(frozenset({0, 1}), 2.0), (frozenset({1, 2}), 1.0)}


@pytest.mark.parametrize(("more", "nodes"), [({}, 4), ({"num_nodes": 6}, 6)])
def test_pyg_data_without_features_gets_structural_features(tmp_path, recwarn, more, nodes):
    path = save_torch(tmp_path / "g.pt", Data(edge_index=torch.tensor(INDEX), **more))
    with pytest.warns(StructuralFeaturesWarning) as caught:
        assert read_graph(path).num_nodes == nodes
    assert len(caught) == 1


class Trap:
    def __reduce__(self):
        return os.mkdir, ("SPRUNG",)


@pytest.mark.parametrize("contents", [Trap(), {"edge_index": Trap()}, Data(edge_index=torch.tensor(INDEX), x=Trap())])
@pytest.mark.parametrize("zipped", [False, True])
def test_objects_that_could_run_code_are_rejected(tmp_path, monkeypatch, contents, zipped):
    monkeypatch.chdir(tmp_path)
    path = save_torch(tmp_path / "g.pt", contents, _use_new_zipfile_serialization=zipped)
    with pytest.raises(ReadError, match="pickled objects, which could run code, and is rejected"):
        read_graph(path)
    assert not (tmp_path / "SPRUNG").exists()


@pytest.mark.parametrize(
    ("contents", "words"),
    [
        ({"edge_index": torch.tensor([[0], [7]]), "x": torch.eye(3)}, "node 7 is unknown"),
        ({"edge_index": [[0], [1]], "x": [[1.0], [2.0]]}, "number of nodes|tensor"),
        ({"edge_index": torch.tensor(INDEX), "x": torch.tensor(X), "y": ["a"] * len(X)}, "y must contain"),
        (
            {"edge_index": torch.tensor(INDEX), "x": torch.tensor(X), "edge_weight": torch.ones(2)},
            "valid tensors|one number per edge",
        ),
        ({"edge_index": torch.tensor(INDEX), "x": torch.tensor(X * np.nan)}, "finite.*NaN"),
        ({"x": torch.eye(2)}, "must contain a PyG Data; it contains dict"),
        (Data(x=torch.eye(2)), "must have edges"),
        (HeteroData(), "to_homogeneous"),
        (torch.eye(2), "must contain a PyG Data; it contains Tensor"),
        ((data().to_dict(), None), "must contain a PyG Data; it contains tuple"),
        (Data(edge_index=torch.empty(2, 0, dtype=torch.long), num_nodes=0), "at least two nodes"),
    ],
)
@quiet
@pytest.mark.filterwarnings("ignore:Unable to accurately infer")
def test_invalid_pyg_data_is_rejected(tmp_path, contents, words):
    with pytest.raises(GraphproxError, match=words):
        read_graph(save_torch(tmp_path / "g.pt", contents))


def test_pyg_data_without_its_storage_is_rejected(tmp_path):
    path = save_torch(tmp_path / "g.pt", data())
    path.write_bytes(path.read_bytes().replace(b"_store", b"_stork"))
    with pytest.raises(ReadError, match="must contain a PyG Data of valid tensors"):
        read_graph(path)


def test_keys_that_are_not_strings_are_ignored(tmp_path, read_edge_set):
    assert read_edge_set(read_graph(save_torch(tmp_path / "g.pt", data().to_dict() | {1: torch.ones(2)}))) == PATH


def test_a_truncated_gzipped_graphml_file_is_rejected(write):
    whole = gzip.compress(GRAPHML.format("", "".join(f'<node id="{i}"/>' for i in range(5000))).encode())
    with pytest.raises(ReadError, match="ends early"):
        read_graph(write("g.graphml.gz", whole[: len(whole) // 2]))
