"""A graph folder has the graph that was written to it, and says what is wrong with one that was changed.

Covers graphprox.io.folder.create and graphprox.io.folder.folder_graph.
Covers graphprox.io.folder.graph_part and graphprox.io.folder.part_files.
"""

from __future__ import annotations

import shutil
import warnings
from dataclasses import fields

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from graphprox import Graph, synthetic
from graphprox.errors import ParameterError, ReadError
from graphprox.graph import graph_checksum
from graphprox.io.folder.graph_folder import GraphFolder
from graphprox.preprocessing.encoded_table import encode_table

EDGES = [[0, 1, 2, 4, 4], [1, 2, 0, 4, 0]]
WEIGHT = [1, 2, 0.5, 3, 0]
GRAPHS = {
    "dense": Graph(np.arange(15).reshape(5, 3), EDGES),
    "sparse": Graph(sp.csr_array(np.diag([1, 0, 2, 0, 3])), EDGES, edge_weight=WEIGHT),
    "directed": Graph(np.eye(5, 4), EDGES, directed=True, y=[0, 1, -1, 0, 1], class_names=["a", "b"]),
    "strings": Graph(np.ones((5, 1)), EDGES, node_ids=["b", "", "a\0", "é", "c"], feature_names=["x"]),
    "integers": Graph(np.ones((5, 2)), EDGES, node_ids=[7, -2, 2**62, 0, 1], y=[1, 0, 1, 0, 1]),
    "table": Graph(encode_table(pa.table({"age": [1, None, 2, 4, 5], "b": [True, False, True, True, None]})), EDGES),
}


def assert_equal(found, expected):
    """Check that two graphs have the same arrays, in value, type and layout."""
    for field in fields(Graph):
        a, b = getattr(found, field.name), getattr(expected, field.name)
        if field.name == "table":
            assert (None if a is None else a.encoder) == (None if b is None else b.encoder)
        elif isinstance(b, sp.csr_array):
            assert isinstance(a, sp.csr_array)
            assert a.shape == b.shape
            for name in ("data", "indices", "indptr"):
                np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
                assert not getattr(a, name).flags.writeable
        elif isinstance(b, np.ndarray):
            np.testing.assert_array_equal(a, b)
            assert (a.dtype, a.flags.writeable, a.flags.c_contiguous) == (b.dtype, False, True)
        else:
            assert a == b, field.name


@pytest.mark.parametrize("num_parts", [1, 2, 5])
@pytest.mark.parametrize("name", GRAPHS)
def test_graph_of_a_folder_equals_what_was_written(tmp_path, name, num_parts):
    folder = GraphFolder.create(tmp_path / "G", GRAPHS[name], num_parts=num_parts)
    assert_equal(folder.to_graph(), GRAPHS[name])
    again = GraphFolder.open(tmp_path / "G")
    again.verify()
    assert_equal(again.to_graph(), GRAPHS[name])
    assert again.checksum == graph_checksum(GRAPHS[name])


@pytest.mark.parametrize("num_rows", [1, 2, 100])
@pytest.mark.parametrize("name", GRAPHS)
def test_blocks_have_the_rows_of_the_graph(tmp_path, name, num_rows):
    graph = GRAPHS[name]
    folder = GraphFolder.create(tmp_path / "G", graph, num_parts=2)
    seen = []
    for block in folder.blocks(num_rows):
        rows = slice(block.rows.start, block.rows.stop)
        seen.extend(block.rows)
        np.testing.assert_array_equal(block.adjacency().toarray(), graph.to_scipy()[rows].toarray())
        expected, found = graph.x[rows], block.features
        assert (found != expected).sum() == 0
        if graph.y is not None:
            np.testing.assert_array_equal(block.labels, graph.y[rows])
    assert seen == list(range(5))


@pytest.mark.parametrize("name", ["dense", "strings", "integers"])
def test_ids_of_parts_are_those_of_the_graph(tmp_path, name):
    folder = GraphFolder.create(tmp_path / "G", GRAPHS[name], num_parts=2)
    found = [each for part in folder.parts for each in part.ids.tolist()]
    arrow = [
        each for part in folder.parts for i in range(part.num_rows) for each in part.id_array(i, i + 1).to_pylist()
    ]
    assert found == arrow == GRAPHS[name].ids.tolist()
    assert len(folder.parts[0].id_array(1, 1)) == 0


def test_arrays_of_one_part_are_not_copied(tmp_path):
    graph = GraphFolder.create(tmp_path / "G", GRAPHS["integers"]).to_graph()
    for array in (graph.x, graph.y, graph.node_ids):
        assert isinstance(array.base, np.memmap)
    folder = GraphFolder.create(tmp_path / "S", GRAPHS["sparse"])
    sparse = folder.to_graph()
    assert np.shares_memory(sparse.x.data, folder.parts[0].features.data)
    assert np.shares_memory(sparse.x.indices, folder.parts[0].features.indices)
    assert np.shares_memory(sparse.edge_weight, folder.parts[0].weights)


def test_checksum_does_not_depend_on_the_number_of_parts(tmp_path):
    graph = synthetic(nodes=140)
    found = {GraphFolder.create(tmp_path / f"{n}", graph, num_parts=n).checksum for n in (1, 3, 140)}
    assert found == {graph_checksum(graph)}


@pytest.mark.parametrize("num_parts", [0, 6])
def test_every_part_has_a_node(tmp_path, num_parts):
    with pytest.raises(ParameterError, match=r"parts must be between 1 and the number of nodes, 5; got"):
        GraphFolder.create(tmp_path / "G", GRAPHS["dense"], num_parts=num_parts)
    assert not (tmp_path / "G").exists()


def test_size_of_a_folder_is_known_without_reading_its_arrays(tmp_path):
    folder = GraphFolder.create(tmp_path / "G", GRAPHS["directed"], num_parts=2)
    assert (folder.num_nodes, folder.num_entries, folder.num_features, folder.num_parts) == (5, 5, 4, 2)
    assert (folder.directed, folder.has_weights, folder.has_sparse_features) == (True, False, False)
    assert [folder.rows(0), folder.rows(1)] == [range(2), range(2, 5)]
    assert "5 nodes, 5 entries, 2 parts" in repr(folder)


# -- damage ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    return GraphFolder.create(tmp_path / "G", synthetic(nodes=7000, features=20), num_parts=2)


def damage(path, at):
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


def test_missing_part_is_reported(folder):
    shutil.rmtree(folder.parts[1].path)
    with pytest.raises(ReadError, match=r"G must have all parts .*; part-00001-\w+ is missing: copy the folder again"):
        GraphFolder.open(folder.path)
    assert GraphFolder.open(folder.path, parts=[0]).rows(1) == range(3500, 7000)


def test_part_of_another_graph_is_reported(folder, tmp_path):
    other = GraphFolder.create(tmp_path / "H", synthetic(nodes=7000, random_state=1), num_parts=2)
    shutil.rmtree(folder.parts[1].path)
    shutil.copytree(other.parts[1].path, folder.path / other.parts[1].path.name)
    with pytest.raises(ReadError, match=rf"{other.parts[1].path.name} is of another graph"):
        GraphFolder.open(folder.path)
    # Even under the name of the part that it replaces.
    (folder.path / other.parts[1].path.name).rename(folder.parts[1].path)
    with pytest.raises(ReadError, match=r"is damaged: "):
        GraphFolder.open(folder.path)


def test_changed_file_is_reported(folder):
    path = folder.parts[1].path / "features.npy"
    damage(path, -1)
    with pytest.raises(ReadError, match=r"features.npy is damaged: its content does not match"):
        GraphFolder.open(folder.path)
    GraphFolder.open(folder.path, parts=[0])
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ReadError, match=r"features.npy is damaged: it has 280,127 of 280,128 bytes"):
        GraphFolder.open(folder.path)


def test_full_verification_finds_a_change_between_the_samples(folder):
    path = folder.parts[0].path / "features.npy"
    damage(path, 4096)  # the samples are 4096 bytes long, and 4381 apart
    GraphFolder.open(folder.path)
    with pytest.raises(ReadError, match=r"features.npy is damaged: its content does not match"):
        folder.verify()
    folder.verify(parts=[1])


def test_array_of_another_shape_is_reported(folder):
    part = folder.parts[0]
    np.save(part.path / "columns.npy", np.zeros(3, np.int32))
    with pytest.raises(ReadError, match=r"columns.npy is damaged: it must have shape .*; it has \(3,\) and int32"):
        _ = part.columns


def test_unknown_part_is_reported(folder):
    with pytest.raises(ParameterError, match=r"a part must be one of 0..1; got 2"):
        GraphFolder.open(folder.path, parts=[2])


def test_graph_without_features_is_one(tmp_path):
    with warnings.catch_warnings(action="ignore"):
        graph = Graph(None, EDGES, num_nodes=5)
    assert_equal(GraphFolder.create(tmp_path / "G", graph, num_parts=2).to_graph(), graph)
