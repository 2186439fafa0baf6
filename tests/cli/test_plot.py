"""graphprox plot."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import datetime
from itertools import pairwise

import duckdb
import numpy as np
import pandas as pd
import pytest

from graphprox import write_embedding
from graphprox.visualization import EmbeddingMap

NAMES = [f"n{i}" for i in range(40)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An embedding of 40 nodes, a table about them, and classes of some."""
    monkeypatch.chdir(tmp_path)
    vectors = np.random.default_rng(0).normal(size=(40, 6)).astype(np.float32)
    write_embedding("v.parquet", vectors, NAMES)
    table = pd.DataFrame({"id": NAMES, "age": np.linspace(20, 60, 40), "town": ["Ulm", "Bonn"] * 20})
    table.to_csv("people.csv", index=False)
    table[["id", "town"]][:30].to_parquet("towns.parquet", index=False)
    table[["age", "id"]].rename(columns={"id": "node"}).to_csv("aged.csv", index=False)
    (tmp_path / "bare.csv").write_text("".join(map("{},{},x\n".format, NAMES, GERMAN)), encoding="cp1252")
    pd.DataFrame(
        {
            "id": NAMES,
            "income": ["N/A", *(f"{1000.5 + i}" for i in range(39))],
            "joined": [*(f"2024-01-{i + 1:02}" for i in range(30)), *["na"] * 10],
            "wrong": ["unknown", *["1.5", "2.5", "3.5"] * 13],
        }
    ).to_csv("customers.csv", index=False)
    pd.DataFrame({"id": NAMES, "place": [[1.0, 2.0]] * 40}).to_parquet("places.parquet")
    with duckdb.connect("people.duckdb") as database:
        database.execute("CREATE TABLE people AS FROM 'people.csv'")
    return tmp_path


AGES, TOWNS = np.linspace(20, 60, 40).tolist(), ["Ulm", "Bonn"] * 20
GERMAN = ["Köln", "Bonn"] * 20
INCOMES = [None, *(1000.5 + i for i in range(39))]
JOINED = [*(datetime(2024, 1, i + 1) for i in range(30)), *[None] * 10]
DECADES = [round(age) // 10 for age in AGES]


@pytest.mark.parametrize(
    ("options", "title", "colors"),
    [
        ([], "", None),
        (["--labels", "towns.parquet"], "town", [*TOWNS[:30], *[None] * 10]),
        (["--labels", "people.csv", "--color", "age"], "age", AGES),
        (["--labels", "people.csv", "--color", "town", "--out", "map.svg"], "town", TOWNS),
        (["--out", "map.pdf"], "", None),
        (["--labels", "aged.csv", "--color", "age", "--id", "node"], "age", AGES),
        (["--labels", "people.csv", "--color", "Age"], "age", AGES),
        (["--labels", "customers.csv", "--color", "income"], "income", INCOMES),
        (["--labels", "customers.csv", "--color", "joined"], "joined", JOINED),
        (["--labels", "SELECT id, joined FROM 'customers.csv'"], "joined", JOINED),
        (["--labels", "people.csv", "--color", "3"], "town", TOWNS),
        (["--labels", "bare.csv", "--color", "2", "--no-header", "--encoding", "cp1252"], "column 2", GERMAN),
        (["--labels", "SELECT id, age::INT // 10 AS decade FROM 'people.csv'"], "decade", DECADES),
        (
            ["--labels", "FROM people", "--database", "people.duckdb", "--color", "town", "--out", "map.svg"],
            "town",
            TOWNS,
        ),
    ],
)
def test_map_is_drawn_in_the_colors_of_the_labels(run, folder, monkeypatch, options, title, colors):
    drawn, plot = [], EmbeddingMap.plot
    monkeypatch.setattr(
        EmbeddingMap,
        "plot",
        lambda self, color, **rest: drawn.append((color, rest["color_title"])) or plot(self, color, **rest),
    )
    code, out, err = run("plot", "v.parquet", *options)
    assert (code, err) == (0, "")
    name = next((each for each in options if each.startswith("map.")), "map.png")
    assert out.startswith(f"{name}: 40 nodes, ")
    assert "trust: 0." in out.splitlines()[1]
    assert (folder / name).stat().st_size > 5_000
    if name == "map.svg":
        assert "Bonn" in (folder / name).read_text()
    assert drawn[0][1] == title
    if colors is None:
        assert drawn[0][0] is None
    else:
        assert drawn[0][0].to_pylist() == [pytest.approx(each) if title == "age" else each for each in colors]


def test_ids_of_a_graph_that_is_a_query_are_those_of_the_database(run, folder):
    with duckdb.connect("people.duckdb") as database:
        database.execute(
            "CREATE TABLE follows AS SELECT 'n' || i AS source, 'n' || (i + 1) AS target FROM range(39) t(i)"
        )
    write_embedding("v.npy", np.random.default_rng(0).normal(size=(40, 4)))
    query = ("--graph", "SELECT * FROM follows", "--database", "people.duckdb")
    code, _, err = run("plot", "v.npy", *query, "--points", "points.csv")
    assert (code, err) == (0, "")
    assert set(pd.read_csv(folder / "points.csv")["id"]) == set(NAMES)


def test_a_graph_in_a_text_file_is_read_with_the_options_of_text(run, folder):
    write_embedding("v.npy", np.random.default_rng(0).normal(size=(42, 4)))
    (folder / "edges.csv").write_text("who,whom\n" + "".join(f"{a},{b}\n" for a, b in pairwise(NAMES)))
    code, _, err = run("plot", "v.npy", "--graph", "edges.csv", "--no-header", "--points", "points.csv")
    assert (code, err) == (0, "")
    assert set(pd.read_csv(folder / "points.csv")["id"]) == {*NAMES, "who", "whom"}


@pytest.mark.parametrize("command", ["plot", "evaluate", "neighbors"])
def test_help_names_every_file_that_is_read(run, command):
    assert ".duckdb" in run(command, "--help")[1]


def test_a_map_of_a_few_nodes_claims_no_trust(run, folder):
    write_embedding("few.npy", np.random.default_rng(0).normal(size=(5, 4)))
    assert "trust" not in run("plot", "few.npy")[1]
    summary = json.loads(run("plot", "few.npy", "--json")[1])
    assert (summary["layout"], summary["trustworthiness"]) == ("PCA", None)


def test_same_command_writes_the_same_bytes(run, folder):
    for name in ("a", "b"):
        code, out, _ = run("plot", "v.parquet", "--out", f"{name}.png", "--points", f"{name}.parquet", "--json")
        summary = json.loads(out)
        assert (code, summary["files"], summary["nodes"]) == (0, [f"{name}.png", f"{name}.parquet"], 40)
    for ending in ("png", "parquet"):
        assert (folder / f"a.{ending}").read_bytes() == (folder / f"b.{ending}").read_bytes()


def test_classes_and_ids_are_those_of_the_graph(run, folder, no_data):
    write_embedding("v.npy", np.random.default_rng(0).normal(size=(140, 4)))
    code, _, err = run("plot", "v.npy", "--graph", "synthetic:nodes=140", "--out", "map.svg")
    assert (code, err) == (0, "")
    assert "arts readers" in (folder / "map.svg").read_text()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--out", "map.doc"], "the ending of a figure must be one of .png, .svg, .pdf; got 'map.doc'"),
        (["--points", "map.txt"], "the ending of a file of coordinates must be one of .csv, .parquet"),
        (["--color", "age"], "--color needs a table that has the column; got none: give --labels FILE"),
        (["--labels", "people.csv"], "people.csv has several columns, 'age', 'town': select one with --color"),
        (
            ["--labels", "people.csv", "--color", "agee"],
            "a column of people.csv; got 'agee': did you mean 'age'?",
        ),
        (
            ["--labels", "people.csv", "--color", "4"],
            "--color must be a column of people.csv, by name or by number",
        ),
        (["--labels", "people.csv", "--color", "id"], "--color must be another column of people.csv than the ids; got"),
        (
            ["--labels", "people.csv", "--color", "town", "--no-header"],
            "--color must be a number from 1 to 3, as p",
        ),
        (["--no-header"], "--no-header needs --labels or --graph to be a text file; got none: leave it out"),
        (
            ["--labels", "towns.parquet", "--encoding", "cp1252"],
            "--encoding needs --labels or --graph to be a text",
        ),
        (["--labels", "bare.csv", "--color", "2", "--encoding", "nope"], "--encoding must be one of text that"),
        (["--labels", "others.csv"], "colors must be of nodes of v.parquet, such as 'n0'; got 'x': check the ids"),
        (
            ["--labels", "customers.csv", "--color", "wrong"],
            "column 'wrong' in line 2 of customers.csv contains 'unknown': correct the cell, or leave it empty",
        ),
        (["--labels", "places.parquet"], "color must be a column of places.parquet with a value per node; 'place' is"),
        (["--perplexity", "0"], "--perplexity must be a number between 1 and 10000"),
        (
            ["--labels", "people.csv", "--database", "people.duckdb"],
            "--database needs --labels or --graph to be",
        ),
        (["--database", "people.duckdb"], "--database needs --labels or --graph to be an SQL query; got none"),
        (["--id", "node"], "--id needs --labels to be a table, whose ids it names; got none: leave it out"),
        (["--labels", "y.npy", "--id", "node"], "--id needs --labels to be a table, whose ids it names; got 'y.npy'"),
        (["--labels", "twice.csv"], "a node must have one label; twice.csv has several for 'n0'"),
        (["--labels", "SELECT nope FROM 'people.csv'"], "the query must be valid SQL"),
        (["--labels", "people.csv", "--color", "age", "--points", "people.csv"], "an output must not be an input"),
    ],
)
def test_invalid_arguments_exit_with_2(run, folder, options, words):
    (folder / "others.csv").write_text("id,town\nx,Ulm\ny,Bonn\n")
    (folder / "twice.csv").write_text("id,town\nn0,Ulm\nn1,Ulm\nn0,Bonn\n")
    np.save(folder / "y.npy", np.arange(40) % 2)
    code, out, err = run("plot", "v.parquet", *options)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert words in err
    assert not (folder / "map.png").exists()


def test_a_missing_package_is_named_before_anything_is_computed(run, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "openTSNE", None)
    code, _, err = run("plot", "nothing.parquet")
    assert (code, err) == (2, "error: a map needs openTSNE, which is not installed: pip install 'graphprox[plots]'\n")


def test_torch_is_not_imported(folder):
    code = (
        "import sys; sys.argv = ['graphprox', 'plot', 'v.parquet']\n"
        "from graphprox.cli import main\ntry: main()\nexcept SystemExit: pass\nassert 'torch' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, capture_output=True).returncode == 0
