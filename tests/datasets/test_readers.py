"""Readers of the published files, on small files of the same formats."""

from __future__ import annotations

import gzip
import json
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.io import savemat

from graphprox import GraphproxError, IgnoredInputWarning, StructuralFeaturesWarning, load_dataset, read_graph


def assert_rejected(name, data, sentence):
    """Assert that a data set is rejected by an error of one line that matches a pattern."""
    with pytest.raises(GraphproxError, match=sentence) as caught:
        load_dataset(name, data=data)
    assert "\n" not in str(caught.value)


@pytest.fixture
def wikics(tmp_path):
    """A small file of WikiCS's format: six articles, twenty splits."""
    rng = np.random.default_rng(0)
    parts = rng.integers(0, 4, size=(20, 6))
    test = np.array([False, False, False, False, True, True])
    content = {
        "features": rng.normal(size=(6, 3)).tolist(),
        "labels": [0, 1, 2, 0, 1, 2],
        "links": [[1, 2], [0], [2, 3], [], [5], [0]],
        "train_masks": ((parts == 0) & ~test).tolist(),
        "val_masks": ((parts == 1) & ~test).tolist(),
        "stopping_masks": ((parts == 2) & ~test).tolist(),
        "test_mask": test.tolist(),
    }
    raw = tmp_path / "WikiCS" / "raw"
    raw.mkdir(parents=True)
    (raw / "data.json").write_text(json.dumps(content))
    return tmp_path, content


def test_wikics_reader(wikics):
    data, content = wikics
    dataset = load_dataset("WikiCS", data=data)
    graph = dataset.graph
    assert np.array_equal(graph.x, np.asarray(content["features"], np.float32))
    assert graph.y.tolist() == content["labels"]
    assert graph.edges_once().T.tolist() == [[0, 1], [0, 2], [0, 5], [2, 2], [2, 3], [4, 5]]
    assert len(dataset.splits["public"]) == 20
    for split, mask in zip(dataset.splits["public"], content["train_masks"], strict=True):
        assert split.train.tolist() == np.flatnonzero(mask).tolist()
        assert split.test.tolist() == [4, 5]


def test_wikics_equals_pyg(wikics):
    data, _ = wikics
    ours, pyg = load_dataset("WikiCS", data=data), load_dataset("pyg:WikiCS", data=data)
    assert np.array_equal(ours.graph.edge_index, pyg.graph.edge_index)
    assert np.array_equal(ours.graph.x, pyg.graph.x)
    assert np.array_equal(ours.graph.y, pyg.graph.y)
    for one, other in zip(ours.splits["public"], pyg.splits["public"], strict=True):
        assert np.array_equal(one.train, other.train)
        assert np.array_equal(one.val, other.val)
        assert np.array_equal(one.test, other.test)


def test_pickled_names_of_published_npz_files_are_ignored(tmp_path):
    raw = tmp_path / "dblp" / "raw"
    raw.mkdir(parents=True)
    arrays = {
        "adj_data": np.ones(2),
        "adj_indices": [1, 0],
        "adj_indptr": [0, 1, 2],
        "adj_shape": [2, 2],
        "attr_data": [3.0, 0.5],
        "attr_indices": [0, 1],
        "attr_indptr": [0, 1, 2],
        "attr_shape": [2, 2],
        "labels": [0, 1],
        "attr_names": np.array(["a", {}], object),
    }
    np.savez(raw / "dblp.npz", **arrays)
    graph = load_dataset("DBLP", data=tmp_path).graph
    assert graph.x.toarray().tolist() == [[1, 0], [0, 1]]  # every positive entry is 1, as PyG has it
    with pytest.warns(IgnoredInputWarning, match="attr_names of .* never loaded"):
        from_file = read_graph(raw / "dblp.npz")
    assert from_file.x.toarray().tolist() == [[3, 0], [0, 0.5]]  # a user's file is read as it is


# -- UAI ------------------------------------------------------------------------------------------------------------

UAI_FILES = {
    "uai.feature": "1\t0\t1\n0\t0\t0\n0\t1\t0\n1\t1\t1\n",
    "uai.edge": "0 1\n1 0\n1 2\n2 1\n3 3\n",
    "uai.label": "0\n2\n1\n2\n",
    **{f"train{size}.txt": "3\n0\n" for size in (20, 40, 60)},
    **{f"test{size}.txt": "2\n" for size in (20, 40, 60)},
}


def write_uai(data, **changes):
    """Write four nodes in AM-GCN's format; a change of None leaves a file out."""
    (data / "AM-GCN").mkdir()
    with zipfile.ZipFile(data / "AM-GCN" / "uai.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in {**UAI_FILES, **changes}.items():
            if text is not None:
                archive.writestr(f"uai/{name}", text)
    return data / "AM-GCN" / "uai.zip"


def test_uai_reader(tmp_path):
    write_uai(tmp_path)
    dataset = load_dataset("UAI", data=tmp_path)
    graph = dataset.graph
    assert graph.has_sparse_features
    assert graph.x.toarray().tolist() == [[1, 0, 1], [0, 0, 0], [0, 1, 0], [1, 1, 1]]
    assert graph.x.nnz == 6
    assert graph.y.tolist() == [0, 2, 1, 2]
    assert graph.edges_once().T.tolist() == [[0, 1], [1, 2], [3, 3]]
    assert list(dataset.splits) == ["train20", "train40", "train60"]
    (split,) = dataset.splits["train40"]
    assert (split.train.tolist(), split.val.tolist(), split.test.tolist()) == ([0, 3], [], [2])
    assert [path.name for path in (tmp_path / "AM-GCN").iterdir()] == ["uai.zip"]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"uai.edge": None}, "the files of UAI in .*AM-GCN are incomplete or damaged: 'uai/uai.edge' is missing"),
        ({"uai.edge": ""}, "damaged: uai/uai.edge contains no rows"),
        ({"uai.edge": "0 1\n1 x\n"}, "damaged: could not convert string 'x' to int64 at row 1"),
        ({"uai.edge": "0 9\n"}, r"an edge must join nodes 0\.\.3; edge 0 joins 0 and 9"),
        ({"uai.feature": "1\t0\n1\n"}, "damaged: the number of columns changed from 2 to 1 at row 2"),
        ({"uai.feature": "1\t0\n0\t3\n"}, "damaged: uai/uai.feature must contain only 0 and 1; it contains 3"),
        ({"uai.label": "0\n1\n"}, r"y must contain one class per node; got shape \(2,\) for 4 nodes"),
        ({"train40.txt": "0\n4\n"}, "damaged: the split train40 contains node 4, .* 4 nodes does not have"),
        ({"test60.txt": "0\n"}, "the parts of a split must be disjoint; got node 0"),
    ],
)
def test_malformed_files_of_uai_are_reported(tmp_path, changes, sentence):
    write_uai(tmp_path, **changes)
    assert_rejected("UAI", tmp_path, sentence)


def test_a_damaged_zip_file_is_reported(tmp_path):
    path = write_uai(tmp_path)
    content = path.read_bytes()
    path.write_bytes(content[:100])
    assert_rejected("UAI", tmp_path, "the files of UAI in .*AM-GCN are incomplete or damaged: File is not a zip file")
    path.write_bytes(content.replace(content[41:50], b"\xff" * 9, 1))
    assert_rejected("UAI", tmp_path, "the files of UAI in .*AM-GCN are incomplete or damaged: .")
    path.unlink()
    assert_rejected("UAI", tmp_path, r"uai.zip does not exist")


# -- heterophilous-graphs -------------------------------------------------------------------------------------------


def write_chameleon(data, **changes):
    """Write four nodes and two splits in the format of heterophilous-graphs; a change of None leaves an array out."""
    arrays = {
        "node_features": np.eye(4, 3, dtype=np.float32),
        "node_labels": np.array([0, 1, 1, 0]),
        "edges": np.array([[0, 1], [2, 1], [3, 0]]),
        "train_masks": np.array([[1, 1, 0, 0], [0, 0, 0, 1]], bool),
        "val_masks": np.array([[0, 0, 1, 0], [1, 0, 0, 0]], bool),
        "test_masks": np.array([[0, 0, 0, 1], [0, 1, 1, 0]], bool),
        **changes,
    }
    (data / "chameleon_filtered").mkdir()
    path = data / "chameleon_filtered" / "chameleon_filtered.npz"
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    return path


def test_heterophilous_reader(tmp_path):
    write_chameleon(tmp_path)
    dataset = load_dataset("Chameleon-filtered", data=tmp_path)
    graph = dataset.graph
    assert not graph.directed
    assert graph.has_sparse_features
    assert np.array_equal(graph.x.toarray(), np.eye(4, 3))
    assert graph.y.tolist() == [0, 1, 1, 0]
    assert graph.edges_once().T.tolist() == [[0, 1], [0, 3], [1, 2]]
    one, other = dataset.splits["public"]
    assert (one.train.tolist(), one.val.tolist(), one.test.tolist()) == ([0, 1], [2], [3])
    assert (other.train.tolist(), other.val.tolist(), other.test.tolist()) == ([3], [0], [1, 2])


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"edges": None}, "the files of Chameleon-filtered in .* are incomplete or damaged: 'edges' is missing"),
        ({"edges": np.array([[0, 4]])}, r"an edge must join nodes 0\.\.3; edge 0 joins 0 and 4"),
        (
            {"val_masks": np.zeros((1, 4), bool)},
            r"damaged: masks must have a row per split and a column per node, 4; got",
        ),
        ({"test_masks": np.zeros((2, 5), bool)}, r"damaged: masks must have .*; got \[\(2, 4\), \(2, 4\), \(2, 5\)\]"),
        ({"train_masks": np.zeros((2, 4))}, "train must be a mask, one boolean per node; got float64"),
        ({"val_masks": np.ones((2, 4), bool)}, "the parts of a split must be disjoint"),
    ],
)
def test_malformed_files_of_heterophilous_graphs_are_reported(tmp_path, changes, sentence):
    write_chameleon(tmp_path, **changes)
    assert_rejected("Chameleon-filtered", tmp_path, sentence)


def test_pickled_arrays_of_heterophilous_graphs_are_rejected(tmp_path):
    write_chameleon(tmp_path, node_labels=np.array([0, 1, 1, {}], object))
    with pytest.warns(IgnoredInputWarning, match="node_labels of .* never loaded"):
        assert_rejected(
            "Chameleon-filtered", tmp_path, "contains pickled objects, which could run code, and is rejected"
        )


# -- Facebook100 ----------------------------------------------------------------------------------------------------


def write_reed98(data, **changes):
    """Write three students in Facebook100's format: the profile's second field is the gender, 0 if unknown."""
    raw = data / "reed98" / "raw"
    raw.mkdir(parents=True)
    links = sp.csc_matrix(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], float))
    profile = np.array([[1, 2, 7], [1, 0, 5], [2, 1, 7]])
    savemat(raw / "data.mat", {"A": links, "local_info": profile, **changes})
    return raw / "data.mat"


def test_facebook_reader(tmp_path):
    write_reed98(tmp_path)
    graph = load_dataset("Reed98", data=tmp_path).graph
    assert graph.x.toarray().tolist() == [[1, 0, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1]]
    assert graph.y.tolist() == [1, -1, 0]
    assert graph.edges_once().T.tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize("content", [b"", b"MATLAB", b"noise" * 100])
def test_damaged_files_of_facebook_are_reported(tmp_path, content):
    write_reed98(tmp_path).write_bytes(content)
    assert_rejected("Reed98", tmp_path, r"data.mat must (be a valid mat file, as its name indicates: .|contain data)")


def test_cut_files_of_facebook_are_reported(tmp_path):
    path = write_reed98(tmp_path)
    path.write_bytes(path.read_bytes()[:200])
    assert_rejected("Reed98", tmp_path, "data.mat must be a valid mat file, as its name indicates: .")


# -- ca-AstroPh -----------------------------------------------------------------------------------------------------


def write_astroph(data, text):
    (data / "ca-AstroPh").mkdir()
    path = data / "ca-AstroPh" / "ca-AstroPh.txt.gz"
    path.write_bytes(gzip.compress(text.encode()))
    return path


def test_astroph_reader(tmp_path):
    write_astroph(tmp_path, "# FromNodeId\tToNodeId\n84424\t276\n276\t84424\n9\t9\n9\t276\n")
    with pytest.warns(StructuralFeaturesWarning):
        graph = load_dataset("ca-AstroPh", data=tmp_path).graph
    assert graph.ids.tolist() == [9, 276, 84424]
    assert graph.edges_once().T.tolist() == [[0, 0], [0, 1], [1, 2]]
    assert (graph.num_edges, graph.num_self_loops, graph.y) == (3, 1, None)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "the files of ca-AstroPh in .* are incomplete or damaged: ca-AstroPh.txt.gz contains no rows"),
        ("# Nodes: 0\n", "damaged: ca-AstroPh.txt.gz contains no rows"),
        ("1\t2\n3\tx\n", "damaged: could not convert string 'x' to int64 at row 1"),
        ("1\t2\n3\n", "damaged: the number of columns changed from 2 to 1 at row 2"),
        ("1\t2\t3\n", r"edge_index must .*\(3, 1\)"),
    ],
)
def test_malformed_files_of_astroph_are_reported(tmp_path, text, sentence):
    write_astroph(tmp_path, text)
    assert_rejected("ca-AstroPh", tmp_path, sentence)


def test_damaged_gzip_files_are_reported(tmp_path):
    path = write_astroph(tmp_path, "".join(f"{i}\t{i * i}\n" for i in range(100)))
    content = path.read_bytes()
    for damaged in (content[:-20], content[:10] + b"\xff" * 20 + content[30:], b"1\t2\n"):
        path.write_bytes(damaged)
        assert_rejected("ca-AstroPh", tmp_path, r"ca-AstroPh.txt.gz must be a (complete|valid) gzip file")
