"""graphprox neighbors."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from graphprox import write_embedding

VECTORS = [[1, 0], [3, 4], [2, 0], [0, -1]]
NAMES = ["ann", "bob", "Cyd", "dee"]


@pytest.fixture
def people(tmp_path):
    """An embedding of four people, three of whom are in a graph, and two have a class."""
    write_embedding(tmp_path / "v.parquet", VECTORS, NAMES)
    (tmp_path / "edges.csv").write_text("source,target\nann,bob\nbob,Cyd\n")
    (tmp_path / "y.csv").write_text("id,label\nann,cat\nbob,dog\n")
    return tmp_path / "v.parquet"


@pytest.fixture
def from_stdin(monkeypatch):
    def from_stdin(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return from_stdin


def test_neighbors_are_printed_as_a_table(run, people):
    code, out, err = run("neighbors", people, "ann", "bob", "-k", "2")
    assert (code, err) == (0, "")
    assert [line.split() for line in out.splitlines()] == [
        ["ann"],
        ["neighbor", "cosine"],
        ["Cyd", "1.0000"],
        ["bob", "0.6000"],
        [],
        ["bob"],
        ["neighbor", "cosine"],
        ["ann", "0.6000"],
        ["Cyd", "0.6000"],
    ]


def test_neighbors_are_printed_as_json(run, people):
    code, out, _ = run("neighbors", people, "ann", "--json")
    assert code == 0
    assert json.loads(out) == [
        {
            "node": "ann",
            "neighbors": [
                {"node": "Cyd", "score": 1.0},
                {"node": "bob", "score": 0.6},
                {"node": "dee", "score": 0.0},
            ],
        }
    ]


@pytest.mark.parametrize(
    ("metric", "expected"), [("dot", [["bob", 3], ["Cyd", 2]]), ("euclidean", [["Cyd", 1], ["dee", np.sqrt(2)]])]
)
def test_metric_is_an_option(run, people, metric, expected):
    _, out, _ = run("neighbors", people, "ann", "--metric", metric, "-k", "2", "--json")
    assert [list(each.values()) for each in json.loads(out)[0]["neighbors"]] == expected
    _, out, _ = run("neighbors", people, "ann", "--metric", metric)
    assert ("distance" if metric == "euclidean" else metric) in out


@pytest.mark.parametrize("options", [["--labels", "y.csv"], ["--graph", "edges.csv", "--labels", "y.csv"]])
def test_known_classes_are_printed(run, people, options):
    options = [people.with_name(each) if "." in each else each for each in options]
    code, out, err = run("neighbors", people, "ann", *options)
    assert (code, err) == (0, "")
    assert [line.split() for line in out.splitlines()] == [
        ["ann", "(cat)"],
        ["neighbor", "cosine", "class"],
        ["Cyd", "1.0000", "-"],
        ["bob", "0.6000", "dog"],
        ["dee", "0.0000", "-"],
    ]
    _, out, _ = run("neighbors", people, "ann", *options, "--json")
    row = json.loads(out)[0]
    assert row["class"] == "cat"
    assert [each["class"] for each in row["neighbors"]] == [None, "dog", None]


def test_rows_of_a_file_without_ids_are_named_by_the_graph(run, people):
    write_embedding(people.with_name("v.npy"), np.array(VECTORS)[[2, 0, 1]])  # in the order of the ids: Cyd, ann, bob
    _, out, _ = run("neighbors", people.with_name("v.npy"), "ann", "--graph", people.with_name("edges.csv"), "--json")
    assert [each["node"] for each in json.loads(out)[0]["neighbors"]] == ["Cyd", "bob"]


def test_classes_are_those_of_the_data_set(run, tmp_path):
    write_embedding(tmp_path / "v.npy", np.random.default_rng(0).normal(size=(300, 4)))
    code, out, _ = run("neighbors", tmp_path / "v.npy", "7", "--graph", "synthetic:nodes=300", "--json")
    row = json.loads(out)[0]
    assert (code, row["node"]) == (0, 7)
    assert isinstance(row["class"], str)


@pytest.mark.parametrize(("name", "layout"), [("w.parquet", "wide"), ("w.npz", None), ("w.csv", None)])
def test_neighbors_are_equal_in_all_formats(run, people, name, layout):
    write_embedding(people.with_name(name), VECTORS, NAMES, layout=layout)
    assert run("neighbors", people.with_name(name), "ann", "--json") == run("neighbors", people, "ann", "--json")


def test_integer_ids_are_matched_as_integers(run, tmp_path):
    write_embedding(tmp_path / "v.csv", VECTORS, [-3, 10, 7, 8])
    code, out, _ = run("neighbors", tmp_path / "v.csv", "-k", "1", "--json", "--", "-3", "10")
    assert code == 0
    assert [(each["node"], each["neighbors"][0]["node"]) for each in json.loads(out)] == [(-3, 7), (10, -3)]
    code, _, err = run("neighbors", tmp_path / "v.csv", "07")
    assert (code, err) == (2, "error: the embedding has no node '07'; its ids are integers in -3..10\n")


def test_ids_are_read_from_stdin(run, people, from_stdin):
    from_stdin(b"bob\r\n\nCyd\n")
    code, out, _ = run("neighbors", people, "-", "ann", "--json")
    assert (code, [each["node"] for each in json.loads(out)]) == (0, ["bob", "Cyd", "ann"])
    from_stdin(b"\n")
    code, out, err = run("neighbors", people, "-")
    assert (code, out) == (2, "")
    assert err == "error: - needs ids on stdin, one per line; got none\n"
    from_stdin(b"b\xffb\n")
    assert run("neighbors", people, "-")[0] == 2


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("cyd", "no node 'cyd'; did you mean 'Cyd'?"),
        ("bop", "no node 'bop'; did you mean 'bob'?"),
        ("somebody else", "no node 'somebody else'; its ids are strings such as 'ann', 'bob', 'Cyd'"),
        ("[bold]x", "no node '[bold]x'; its ids"),
        ("a\udcff", "no node 'a?'"),
    ],
)
def test_unknown_node_is_reported_with_a_suggestion(run, people, name, words):
    code, out, err = run("neighbors", people, "ann", name)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"error: the embedding has {words}" in err


def test_ids_are_printed_unchanged(run, tmp_path):
    write_embedding(tmp_path / "v.csv", VECTORS, ["[red]a[/]", ":smile:", "c" * 100, "d"])
    code, out, _ = run("neighbors", tmp_path / "v.csv", "[red]a[/]")
    assert code == 0
    assert out.startswith("[red]a[/]")
    assert ":smile:" in out
    assert sum(line.split()[0].count("c") for line in out.splitlines() if line.startswith("cc")) == 100


def test_neighbors_are_also_written_to_a_file(run, people):
    options = ["neighbors", people, "ann", "bob", "--labels", people.with_name("y.csv")]
    code, out, _ = run(*options, "--json", "--out", people.with_name("near.json"))
    assert code == 0
    assert people.with_name("near.json").read_text() == out
    code, _, _ = run(*options, "--out", people.with_name("near.CSV"), "-k", "2")
    assert code == 0
    assert people.with_name("near.CSV").read_text() == (
        "node,rank,neighbor,score,class\nann,1,Cyd,1.0,\nann,2,bob,0.6,dog\nbob,1,ann,0.6,cat\nbob,2,Cyd,0.6,\n"
    )
    run("neighbors", people, "ann", "--out", people.with_name("bare.csv"))
    assert list(pd.read_csv(people.with_name("bare.csv")).columns) == ["node", "rank", "neighbor", "score"]


@pytest.mark.parametrize("name", ["near", "near.parquet", "near.csv.gz"])
def test_unknown_ending_is_rejected(run, people, name):
    code, out, err = run("neighbors", people, "ann", "--out", people.with_name(name))
    assert (code, out) == (2, "")
    assert f"must be one of .csv, .json; got {name!r}" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.csv", "ann"], "does not exist"),
        (["v.parquet", "ann", "--metric", "cos"], "metric must be one of cosine, dot, euclidean; got 'cos'"),
        (["v.parquet", "ann", "-k", "0"], "greater than or equal to 1"),
        (["v.parquet", "ann", "--graph", "nothing"], "neither a data set nor a file"),
        (["v.parquet", "ann", "--labels", "nothing.csv"], "does not exist"),
        (["v.parquet"], "missing argument"),
        (["one.csv", "ann"], "at least two nodes"),
    ],
)
def test_invalid_arguments_exit_with_2(run, people, monkeypatch, arguments, words):
    monkeypatch.chdir(people.parent)
    write_embedding("one.csv", [[1, 2]], ["ann"])
    code, out, err = run("neighbors", *arguments)
    assert (code, out) == (2, "")
    assert words in err


def test_neighbors_do_not_import_torch(people):
    code = (
        f"import sys; sys.argv = ['graphprox', 'neighbors', {str(people)!r}, 'ann']\n"
        "from graphprox.cli import main\ntry: main()\nexcept SystemExit: pass\nassert 'torch' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, capture_output=True).returncode == 0
