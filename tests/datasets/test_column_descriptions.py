"""What is said of columns is what was read."""

from __future__ import annotations

import pickle

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from graphprox import Dataset, load
from graphprox.datasets import describe_columns

pytestmark = pytest.mark.filterwarnings("ignore::graphprox.GraphproxWarning")
EDGES = pd.DataFrame({"since": [1, 2, 3], "User ID": ["a", "b", "c"], "Friend ID": ["b", "c", "d"], "w": [1, 2, 1]})
USERS = pd.DataFrame(
    {
        "age": [31, None, 52],
        "user_id": ["a", "b", "c"],
        "city": ["Rome", "Oslo", "Rome"],
        "zip": [1, 2, 3],
        "notes": ["x", "y", "z"],
        "team": ["red", "blue", None],
    }
)
EXPECTED = [
    ("edges", "since", "ignored", None, None, None),
    ("edges", "User ID", "source", None, None, None),
    ("edges", "Friend ID", "target", None, None, None),
    ("edges", "w", "weight", None, None, None),
    ("features", "age", "feature", "number", 2, None),
    ("features", "user_id", "id", None, None, None),
    ("features", "city", "feature", "category", 1, 2),
    ("features", "zip", "feature", "category", 1, 3),
    ("features", "notes", "ignored", None, None, None),
]
OPTIONS = {"kinds": {"zip": "category", "notes": "ignored"}}


def summarize(dataset):
    return [
        (each.table, each.column, each.role, each.kind, each.missing, each.values) for each in describe_columns(dataset)
    ]


@pytest.fixture(params=["csv", "parquet"])
def files(request, tmp_path):
    paths = {}
    for name, frame in {"edges": EDGES, "users": USERS, "teams": USERS[["user_id", "team", "age"]]}.items():
        paths[name] = tmp_path / f"{name}.{request.param}"
        write = frame.to_csv if request.param == "csv" else frame.to_parquet
        write(paths[name], index=False)
    return paths


def test_columns_of_files_have_the_roles_that_they_were_read_in(files):
    dataset = load(files["edges"], features=files["users"], labels=files["users"], label="team", **OPTIONS)
    assert summarize(dataset) == [*EXPECTED, ("labels", "team", "label", None, 2, 2)]
    again = pickle.loads(pickle.dumps(dataset))
    assert summarize(again) == summarize(dataset)


def test_a_table_of_labels_has_its_own_columns(files):
    dataset = load(files["edges"], features=files["users"], labels=files["teams"], label="team", **OPTIONS)
    assert summarize(dataset)[-4:] == [
        ("features", "team", "ignored", None, None, None),
        ("labels", "user_id", "id", None, None, None),
        ("labels", "team", "label", None, 2, 2),
        ("labels", "age", "ignored", None, None, None),
    ]


def test_columns_of_queries_are_those_of_files(files):
    queries = [f"FROM '{files[name]}'" for name in ("edges", "users")]
    dataset = load(queries[0], features=queries[1], labels=queries[1], label="team", **OPTIONS)
    assert summarize(dataset) == [*EXPECTED, ("labels", "team", "label", None, 2, 2)]


def test_columns_without_names_have_numbers(tmp_path):
    (tmp_path / "e.csv").write_text("7,8\n8,9\n")
    (tmp_path / "x.csv").write_text("7,1.5,2\n8,2.5,3\n9,3,5\n")
    dataset = load(tmp_path / "e.csv", features=tmp_path / "x.csv")
    assert summarize(dataset) == [
        ("edges", "column 1", "source", None, None, None),
        ("edges", "column 2", "target", None, None, None),
        ("features", "column 1", "id", None, None, None),
        ("features", "column 2", "feature", "number", 0, None),
        ("features", "column 3", "feature", "number", 0, None),
    ]


def test_lists_are_one_column(tmp_path):
    pd.DataFrame({"source": [0], "target": [1]}).to_parquet(tmp_path / "e.parquet")
    pd.DataFrame({"id": [0, 1], "vector": [[1.0, 2, 3], [3, 4, 5]]}).to_parquet(tmp_path / "x.parquet")
    found = describe_columns(load(tmp_path / "e.parquet", features=tmp_path / "x.parquet"))[-1]
    assert (found.column, found.kind, found.features) == ("vector", "number", 3)


def test_attributes_of_graphml_are_columns(tmp_path):
    made = nx.path_graph(3)
    for node in made:
        made.nodes[node].update(age=node, city="ab"[node % 2], label="xyz"[node], note="n")
    nx.set_edge_attributes(made, 2.0, "weight")
    nx.set_edge_attributes(made, "k", "kind")
    nx.write_graphml(made, tmp_path / "g.graphml")
    dataset = load(tmp_path / "g.graphml", kinds={"note": "ignored"})
    assert summarize(dataset) == [
        ("edges", "kind", "ignored", None, None, None),
        ("edges", "weight", "weight", None, None, None),
        ("nodes", "age", "feature", "number", 0, None),
        ("nodes", "city", "feature", "category", 0, 2),
        ("nodes", "label", "label", None, 0, 3),
        ("nodes", "note", "ignored", None, None, None),
    ]
    features = tmp_path / "x.csv"
    features.write_text("id,size\n0,1\n1,2\n2,3\n")
    replaced = summarize(load(tmp_path / "g.graphml", features=features))
    assert [each[1] for each in replaced] == ["kind", "weight", "label", "id", "size"]


def test_a_graph_without_tables_has_no_columns(tmp_path):
    np.savez(tmp_path / "g.npz", edge_index=[[0], [1]], x=np.eye(2))
    assert describe_columns(load(tmp_path / "g.npz")) == describe_columns(load("synthetic:nodes=140")) == ()
    assert describe_columns(Dataset("g", load(tmp_path / "g.npz").graph)) == ()
