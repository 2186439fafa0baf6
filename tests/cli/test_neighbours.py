"""The most similar nodes, as people ask for them."""

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


def test_neighbours_are_shown_as_people_read_them(run, people):
    code, out, err = run("neighbours", people, "ann", "bob", "-k", "2")
    assert (code, err) == (0, "")
    assert [line.split() for line in out.splitlines()] == [
        ["ann"],
        ["neighbour", "cosine"],
        ["Cyd", "1.0000"],
        ["bob", "0.6000"],
        [],
        ["bob"],
        ["neighbour", "cosine"],
        ["ann", "0.6000"],
        ["Cyd", "0.6000"],
    ]


def test_neighbours_are_json_for_programs(run, people):
    code, out, _ = run("neighbours", people, "ann", "--json")
    assert code == 0
    assert json.loads(out) == [
        {
            "node": "ann",
            "neighbours": [
                {"node": "Cyd", "score": 1.0},
                {"node": "bob", "score": 0.6},
                {"node": "dee", "score": 0.0},
            ],
        }
    ]


@pytest.mark.parametrize(
    ("metric", "expected"), [("dot", [["bob", 3], ["Cyd", 2]]), ("euclidean", [["Cyd", 1], ["dee", np.sqrt(2)]])]
)
def test_the_metric_may_be_chosen(run, people, metric, expected):
    _, out, _ = run("neighbours", people, "ann", "--metric", metric, "-k", "2", "--json")
    assert [list(each.values()) for each in json.loads(out)[0]["neighbours"]] == expected
    _, out, _ = run("neighbours", people, "ann", "--metric", metric)
    assert ("distance" if metric == "euclidean" else metric) in out


@pytest.mark.parametrize("options", [["--labels", "y.csv"], ["--graph", "edges.csv", "--labels", "y.csv"]])
def test_classes_are_shown_where_they_are_known(run, people, options):
    options = [people.with_name(each) if "." in each else each for each in options]
    code, out, err = run("neighbours", people, "ann", *options)
    assert (code, err) == (0, "")
    assert [line.split() for line in out.splitlines()] == [
        ["ann", "(cat)"],
        ["neighbour", "cosine", "class"],
        ["Cyd", "1.0000", "-"],
        ["bob", "0.6000", "dog"],
        ["dee", "0.0000", "-"],
    ]
    _, out, _ = run("neighbours", people, "ann", *options, "--json")
    row = json.loads(out)[0]
    assert row["class"] == "cat"
    assert [each["class"] for each in row["neighbours"]] == [None, "dog", None]


def test_a_graph_names_the_rows_of_a_file_without_ids(run, people):
    write_embedding(people.with_name("v.npy"), np.array(VECTORS)[[2, 0, 1]])  # in the order of the ids: Cyd, ann, bob
    _, out, _ = run("neighbours", people.with_name("v.npy"), "ann", "--graph", people.with_name("edges.csv"), "--json")
    assert [each["node"] for each in json.loads(out)[0]["neighbours"]] == ["Cyd", "bob"]


def test_a_data_set_tells_its_classes(run, tmp_path):
    write_embedding(tmp_path / "v.npy", np.random.default_rng(0).normal(size=(300, 4)))
    code, out, _ = run("neighbours", tmp_path / "v.npy", "7", "--graph", "synthetic:nodes=300", "--json")
    row = json.loads(out)[0]
    assert (code, row["node"]) == (0, 7)
    assert isinstance(row["class"], str)


def test_ids_that_are_numbers_are_matched_as_numbers(run, tmp_path):
    write_embedding(tmp_path / "v.csv", VECTORS, [-3, 10, 7, 8])
    code, out, _ = run("neighbours", tmp_path / "v.csv", "-k", "1", "--json", "--", "-3", "10")
    assert code == 0
    assert [(each["node"], each["neighbours"][0]["node"]) for each in json.loads(out)] == [(-3, 7), (10, -3)]
    code, _, err = run("neighbours", tmp_path / "v.csv", "07")
    assert (code, err) == (2, f"error: {tmp_path}/v.csv has no node '07'; its ids are whole numbers in -3..10\n")


def test_ids_may_come_from_stdin(run, people, from_stdin):
    from_stdin(b"bob\r\n\nCyd\n")
    code, out, _ = run("neighbours", people, "-", "ann", "--json")
    assert (code, [each["node"] for each in json.loads(out)]) == (0, ["bob", "Cyd", "ann"])
    from_stdin(b"\n")
    code, out, err = run("neighbours", people, "-")
    assert (code, out) == (2, "")
    assert err == "error: for - there must be ids on stdin, one on each line; none came\n"
    from_stdin(b"b\xffb\n")
    assert run("neighbours", people, "-")[0] == 2


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("cyd", "no node 'cyd'; did you mean 'Cyd'?"),
        ("bop", "no node 'bop'; did you mean 'bob'?"),
        ("somebody else", "no node 'somebody else'; its ids are such as 'ann', 'bob', 'Cyd'"),
        ("[bold]x", "no node '[bold]x'; its ids"),
        ("a\udcff", "no node 'a?'"),
    ],
)
def test_a_node_that_is_not_there(run, people, name, words):
    code, out, err = run("neighbours", people, "ann", name)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"error: {people} has {words}" in err


def test_ids_are_printed_as_they_are(run, tmp_path):
    write_embedding(tmp_path / "v.csv", VECTORS, ["[red]a[/]", ":smile:", "c" * 100, "d"])
    code, out, _ = run("neighbours", tmp_path / "v.csv", "[red]a[/]")
    assert code == 0
    assert out.startswith("[red]a[/]")
    assert ":smile:" in out
    assert sum(line.split()[0].count("c") for line in out.splitlines() if line.startswith("cc")) == 100


def test_neighbours_may_be_kept_in_a_file(run, people):
    options = ["neighbours", people, "ann", "bob", "--labels", people.with_name("y.csv")]
    code, out, _ = run(*options, "--json", "--out", people.with_name("near.json"))
    assert code == 0
    assert people.with_name("near.json").read_text() == out
    code, _, _ = run(*options, "--out", people.with_name("near.CSV"), "-k", "2")
    assert code == 0
    assert people.with_name("near.CSV").read_text() == (
        "node,rank,neighbour,score,class\nann,1,Cyd,1.0,\nann,2,bob,0.6,dog\nbob,1,ann,0.6,cat\nbob,2,Cyd,0.6,\n"
    )
    run("neighbours", people, "ann", "--out", people.with_name("bare.csv"))
    assert list(pd.read_csv(people.with_name("bare.csv")).columns) == ["node", "rank", "neighbour", "score"]


@pytest.mark.parametrize("name", ["near", "near.parquet", "near.csv.gz"])
def test_an_ending_that_nobody_knows_is_refused(run, people, name):
    code, out, err = run("neighbours", people, "ann", "--out", people.with_name(name))
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
        (["v.parquet"], "Missing argument"),
        (["one.csv", "ann"], "at least two nodes"),
    ],
)
def test_a_users_mistake_is_2(run, people, monkeypatch, arguments, words):
    monkeypatch.chdir(people.parent)
    write_embedding("one.csv", [[1, 2]], ["ann"])
    code, out, err = run("neighbours", *arguments)
    assert (code, out) == (2, "")
    assert words in err


def test_the_other_spelling_works_and_help_shows_one(run, people):
    assert run("neighbors", people, "ann") == run("neighbours", people, "ann")
    _, out, _ = run("--help")
    assert "neighbours" in out
    assert "neighbors" not in out
    _, out, _ = run("neighbours", "--help")
    assert "Examples" in out


def test_neighbours_need_no_torch(people):
    code = (
        f"import sys; sys.argv = ['graphprox', 'neighbours', {str(people)!r}, 'ann']\n"
        "from graphprox.cli import main\ntry: main()\nexcept SystemExit: pass\nassert 'torch' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, capture_output=True).returncode == 0
