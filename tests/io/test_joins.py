"""Nodes without a row of features have missing values, and rows of unknown nodes are ignored, with a warning."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from graphprox import AssumedInputWarning, IgnoredInputWarning, ReadError, read_graph
from graphprox.io.joins import take_rows
from graphprox.preprocessing import TableEncoder

EDGES = "ann,bob\nbob,cy\ncy,dan\n"


def test_a_minority_without_a_row_has_missing_values(write):
    edges, users = write("e.csv", EDGES), write("x.csv", "id,age,city\ncy,30,Rome\nann,40,Oslo\nbob,50,Rome\n")
    with pytest.warns(
        AssumedInputWarning, match=r"1 node has no row in .*x.csv, such as 'dan'; its features are missing values"
    ):
        graph = read_graph(edges, features=users)
    assert graph.ids.tolist() == ["cy", "ann", "bob", "dan"]
    assert graph.feature_names == ("age", "city=Oslo", "city=Rome", "row is missing")
    assert graph.x.tolist() == [[30, 0, 1, 0], [40, 1, 0, 0], [50, 0, 1, 0], [40, 0, 0, 1]]


def test_a_minority_is_counted_in_the_warning(write):
    edges, users = write("e.csv", EDGES), write("x.csv", "id,age\nann,30\nbob,50\nzoe,10\n")
    with pytest.warns(AssumedInputWarning, match="2 of 4 nodes have no row in .*; their features are"):
        graph = read_graph(edges, features=users)
    assert graph.ids.tolist() == ["ann", "bob", "zoe", "cy", "dan"]  # zoe is isolated
    assert graph.x.tolist() == [[30, 0], [50, 0], [10, 0], [30, 1], [30, 1]]


def test_integer_ids_without_a_row_are_appended(write, tmp_path):
    np.save(tmp_path / "x.npy", np.array([[2.0, 4.0], [4.0, 8.0]]))
    with pytest.warns(AssumedInputWarning, match="1 node has no row"):
        graph = read_graph(write("e.csv", "0,1\n1,2\n"), features=tmp_path / "x.npy")
    assert (graph.node_ids, graph.x.tolist()) == (None, [[2, 4], [4, 8], [3, 6]])


def test_a_complete_graph_gets_missing_values_too(write, tmp_path):
    np.savez(tmp_path / "g.npz", edge_index=[[0, 1], [1, 2]])
    with pytest.warns(AssumedInputWarning, match="1 node has no row in .*, such as 2"):
        graph = read_graph(tmp_path / "g.npz", features=write("x.csv", "id,age\n0,5\n1,7\n"))
    assert graph.x.tolist() == [[5, 0], [7, 0], [6, 1]]


def test_missing_rows_of_a_model_have_its_means(write):
    encoder = TableEncoder.of_numbers(["age"], np.array([33.0]))
    with pytest.warns(AssumedInputWarning):
        graph = read_graph(
            write("e.csv", EDGES), features=write("x.csv", "id,age\nann,1\nbob,2\ncy,3\n"), encoder=encoder
        )
    assert graph.x.tolist() == [[1], [2], [3], [33]]


def test_a_missing_row_of_a_sparse_matrix_is_empty():
    x = take_rows(sp.csr_array(np.eye(3, dtype=np.float32)), np.array([2, -1, 0]))
    assert x.toarray().tolist() == [[0, 0, 1], [0, 0, 0], [1, 0, 0]]


def test_most_nodes_without_a_row_are_rejected_with_ids_of_both(write):
    edges, users = write("e.csv", EDGES), write("x.csv", "id,age\nann,30\nB.,50\nC.,10\n")
    with pytest.raises(
        ReadError, match=r"3 of the 4 nodes of .*, such as 'bob', 'cy', 'dan', .* such as 'ann', 'B\.', 'C\.'"
    ):
        read_graph(edges, features=users)


@pytest.mark.parametrize(
    ("ids", "remedy"),
    [
        (("ann", "bob"), r"give the rows of these nodes, too, .* all edges and all rows of the grown graph$"),
        (("a", "b"), "such as 'a', 'b': set id to take another column$"),
    ],
)
def test_another_column_of_ids_is_proposed_only_if_no_id_matches(write, ids, remedy):
    edges = write("e.csv", "ann,u1\nbob,u2\nann,u3\n")
    users = write("x.csv", "id,age\n" + "".join(f"{name},{30 + i}\n" for i, name in enumerate(ids)))
    with pytest.raises(ReadError, match=remedy) as raised:
        read_graph(edges, features=users)
    assert ("set id" in str(raised.value)) == (ids == ("a", "b"))


@pytest.mark.filterwarnings("ignore::graphprox.StructuralFeaturesWarning")
def test_labels_of_unknown_nodes_are_counted_in_a_warning(write):
    with pytest.warns(IgnoredInputWarning, match="2 of 3 rows of .*y.csv belong to no node and are ignored, .* 'joe'"):
        graph = read_graph(write("e.csv", EDGES), labels=write("y.csv", "id,label\nbob,red\njoe,blue\nkim,red\n"))
    assert graph.y.tolist() == [-1, 1, -1, -1]


@pytest.mark.filterwarnings("ignore::graphprox.StructuralFeaturesWarning")
def test_labels_of_unknown_nodes_alone_are_rejected(write):
    with pytest.raises(ReadError, match="has labels of 'joe', 'kim', and the ids of the graph are such as 'ann'"):
        read_graph(write("e.csv", EDGES), labels=write("y.csv", "id,label\njoe,blue\nkim,red\n"))


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        (("ann ", " bob", "cy "), "differ by spaces around them alone, as 'ann' and 'ann ': remove the spaces"),
        (("ann ", "bob", "cy"), "differ by spaces around them alone, as 'ann' and 'ann ': remove the spaces"),
        (("x", "y", "z"), "set id to take another column"),
    ],
)
def test_ids_that_differ_by_spaces_alone_are_named(write, ids, words):
    edges = write("edges.csv", "source,target\nann,bob\nbob,cy\n")
    features = write("x.csv", "id,age\n" + "".join(f'"{name}",{i}\n' for i, name in enumerate(ids)))
    several = sum(name != name.strip() or len(name) == 1 for name in ids) > 1
    raised = pytest.raises(ReadError, match=words) if several else pytest.warns(AssumedInputWarning, match=words)
    with raised:
        read_graph(edges, features=features)


def test_ids_that_differ_by_leading_zeros_alone_are_named(write):
    edges = write("edges.csv", "source,target\n007,012\n012,030\n")
    features = write("x.csv", "id,age\n7,1\n12,2\n30,4\n")
    with pytest.raises(ReadError, match="differ by leading zeros alone, as '007' and '7': write them with the same"):
        read_graph(edges, features=features)
