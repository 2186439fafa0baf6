"""Edges, features and labels are joined by id, in any order of rows."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from graphprox import IgnoredInputWarning, ReadError, StructuralFeaturesWarning, read_graph
from graphprox.graph.structural import IDENTITY_LIMIT


def dense(x):
    return x.toarray() if sp.issparse(x) else x


def random_tables(ids, seed):
    """Return edges, features and labels of a random graph, each in a different order."""
    rng = np.random.default_rng(seed)
    ends = rng.choice(ids, (60, 2))
    edges = pd.DataFrame({"source": ends[:, 0], "target": ends[:, 1]})
    features = pd.DataFrame(rng.normal(size=(len(ids), 4)).astype(np.float32), columns=list("abcd"))
    features.insert(0, "id", rng.permutation(ids))
    known = rng.permutation(ids)[: len(ids) // 2]
    labels = pd.DataFrame({"id": known, "label": rng.choice(["red", "green", "blue"], len(known))})
    return edges, features, labels


def write_table(table, path):
    if path.suffix == ".parquet":
        table.to_parquet(path)
    else:
        table.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    return path


@pytest.mark.parametrize("ids", [[f"n{i}" for i in range(20)], [*range(20)], [100 - 7 * i for i in range(20)]])
@pytest.mark.parametrize(
    ("of_edges", "of_features", "of_labels"), [("csv", "parquet", "tsv"), ("parquet", "csv", "parquet")]
)
def test_rows_are_joined_by_id(tmp_path, read_edge_set, ids, of_edges, of_features, of_labels):
    edges, features, labels = random_tables(np.array(ids), seed=len(str(ids)))
    graph = read_graph(
        write_table(edges, tmp_path / f"e.{of_edges}"),
        features=write_table(features, tmp_path / f"x.{of_features}"),
        labels=write_table(labels, tmp_path / f"y.{of_labels}"),
    )
    assert graph.ids.tolist() == features["id"].tolist()
    assert read_edge_set(graph) == {frozenset(pair) for pair in edges.itertuples(index=False)}
    by_id = features.set_index("id")
    class_of = dict(labels.itertuples(index=False))
    for node, row, y in zip(graph.ids.tolist(), dense(graph.x), graph.y, strict=True):
        assert row.tolist() == by_id.loc[node].tolist()
        assert (None if y < 0 else graph.class_names[y]) == class_of.get(node)


def test_integer_ids_match_equal_string_ids(write, tmp_path):
    edges = write("e.csv", "1,2\n2,x\n")
    np.savez(tmp_path / "x.npz", x=[[1.0], [2], [3]], ids=["x", "1", "2"])
    graph = read_graph(edges, features=tmp_path / "x.npz", labels=write("y.csv", "1,5\n2,6\n"))
    assert dict(zip(graph.ids, graph.x.ravel(), strict=True)) == {"x": 1, "1": 2, "2": 3}
    assert dict(zip(graph.ids, graph.y, strict=True)) == {"x": -1, "1": 5, "2": 6}


def test_rows_of_a_matrix_without_ids_match_integer_ids(write, tmp_path):
    np.save(tmp_path / "x.npy", np.arange(6).reshape(3, 2))
    graph = read_graph(write("e.csv", "2,0\n0,1\n"), features=tmp_path / "x.npy")
    assert (graph.node_ids, graph.x.tolist()) == (None, [[0, 1], [2, 3], [4, 5]])


def test_isolated_nodes_with_features_are_kept(write):
    graph = read_graph(write("e.csv", "a,b\n"), features=write("x.csv", "a,1\nb,2\nalone,3\n"))
    assert graph.ids.tolist() == ["a", "b", "alone"]


def test_features_and_labels_can_be_added_to_a_complete_graph(write, tmp_path):
    np.savez(tmp_path / "g.npz", edge_index=[[0, 1], [1, 2]], x=np.ones((3, 1)), y=[0, 0, 0])
    with warnings.catch_warnings(action="error"):
        graph = read_graph(
            tmp_path / "g.npz", features=write("x.csv", "2,7\n0,5\n1,6\n"), labels=write("y.csv", "2,1\n0,4\n")
        )
    assert (graph.x.ravel().tolist(), graph.y.tolist()) == ([5, 6, 7], [4, -1, 1])


def test_features_added_to_a_complete_graph_cause_no_warning(write, tmp_path):
    np.savez(tmp_path / "g.npz", edge_index=[[0, 1], [1, 2]])
    with warnings.catch_warnings(action="error"):
        assert read_graph(tmp_path / "g.npz", features=write("x.csv", "2,7\n0,5\n1,6\n")).x.ravel().tolist() == [
            5,
            6,
            7,
        ]


def test_features_of_unknown_nodes_are_counted_in_a_warning(write, tmp_path):
    np.savez(tmp_path / "g.npz", edge_index=[[0, 1], [1, 2]])
    with pytest.warns(IgnoredInputWarning, match="2 rows of .* belong to no node"):
        graph = read_graph(tmp_path / "g.npz", features=write("x.csv", "2,7\n0,5\n1,6\n9,1\n8,1\n"))
    assert graph.num_nodes == 3


# -- a graph without features ---------------------------------------------------------------------------------------


def test_a_small_graph_gets_identity_features(write):
    with pytest.warns(StructuralFeaturesWarning, match="identity"):
        graph = read_graph(write("e.csv", "a,b\nb,c\n"))
    assert np.array_equal(graph.x.toarray(), np.eye(3))


def test_a_large_graph_gets_one_hot_degree_buckets(tmp_path):
    star = pd.DataFrame({"source": 0, "target": np.arange(1, IDENTITY_LIMIT + 50)})
    path = pd.DataFrame({"source": np.arange(1, 40), "target": np.arange(2, 41)})
    pd.concat([star, path]).to_csv(tmp_path / "e.csv", index=False)
    with pytest.warns(StructuralFeaturesWarning, match="degree"):
        graph = read_graph(tmp_path / "e.csv")
    x = graph.x.toarray()
    degree = np.bincount(graph.edge_index[0])
    assert x.shape[1] < 20
    assert (x.sum(axis=1) == 1).all()
    assert set(np.unique(x)) == {0, 1}
    for one in set(degree):
        assert len({*x[degree == one].argmax(axis=1)}) == 1
    assert (np.diff(x[np.argsort(degree)].argmax(axis=1)) >= 0).all()


def test_given_features_cause_no_warning(write):
    with warnings.catch_warnings(action="error"):
        graph = read_graph(write("e.csv", "a,b\nb,c\n"), features=write("x.csv", "a,1\nb,2\nc,3\n"))
    assert graph.x.tolist() == [[1], [2], [3]]


# -- inconsistent files ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edges", "features", "words"),
    [
        ("a,b\n" + "".join(f"a,n{i}\n" for i in range(9)), "a,1\nb,2\n", "9 of the 11 nodes .* 'n0', 'n1', 'n2', and"),
        ("1,2\n2,3\n", "u1,1\nu2,2\n", "3 of the 3 nodes of .* such as '1', '2', '3', .* such as 'u1', 'u2'"),
        ("a,b\nb,c\n", "a,1\nb,2\na,3\nc,1\n", "several for 'a' in line 1 and line 3: keep one row for each id$"),
        (
            "a,b\nb,c\n",
            "user,friend\n1,2\n\n1,3\n",
            "1 in line 2 and line 4: it seems to list edges, which are given",
        ),
        ("1,2\n2,3\n", "u1,1\nu2,2\n", "differ by letters in front alone, as '1' and 'u1': write them in the same"),
        ("u1,u2\nu2,u3\n", "1,1\n2,2\n", "differ by letters in front alone, as 'u1' and '1': write them in the same"),
        ("u1,u2\nu2,u3\n", "m1,1\nm2,2\n", "such as 'm1', 'm2': set id to take another column$"),
        ("a,b\nb,c\n", "id,f\na,1\nb,2,3\nc,1\n", "2 cells, as the first has; line 3 has 3"),
        ("a,b\nb,c\n", "\n# x\nid,f\n\na,1\nb\nc,1\n", "line 6 has 1: 'b'"),
        ("a,b\nb,c\n", "id\na\nb\nc\n", "it contains the id alone"),
        ("a,b\nb,c\n", "a,1\n,2\nc,1\n", "line 2 of .* lacks one: write it"),
    ],
)
def test_inconsistent_features_are_rejected(write, edges, features, words):
    with pytest.raises(ReadError, match=words):
        read_graph(write("e.csv", edges), features=write("x.csv", features))


def test_an_unknown_ending_is_rejected(write):
    with pytest.raises(ReadError, match=r"must be one of \.csv, .*\.graphml, .* got 'g\.gexf'"):
        read_graph(write("g.gexf", "x"))
