"""graphprox plot."""

from __future__ import annotations

import json
import subprocess
import sys

import duckdb
import numpy as np
import pandas as pd
import pytest

from graphprox import write_embedding

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
    with duckdb.connect("people.duckdb") as database:
        database.execute("CREATE TABLE people AS FROM 'people.csv'")
    return tmp_path


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--labels", "towns.parquet"],
        ["--labels", "people.csv", "--color", "age"],
        ["--labels", "people.csv", "--color", "town", "--out", "map.svg"],
        ["--out", "map.pdf"],
        ["--labels", "aged.csv", "--color", "age", "--id", "node"],
        ["--labels", "SELECT id, age // 10 AS decade FROM 'people.csv'"],
        ["--labels", "FROM people", "--database", "people.duckdb", "--color", "town", "--out", "map.svg"],
    ],
)
def test_map_is_drawn(run, folder, options):
    code, out, err = run("plot", "v.parquet", *options)
    assert (code, err) == (0, "")
    name = next((each for each in options if each.startswith("map.")), "map.png")
    assert out.startswith(f"{name}: 40 nodes, ")
    assert "trust: 0." in out.splitlines()[1]
    assert (folder / name).stat().st_size > 5_000
    if name == "map.svg":
        assert "Bonn" in (folder / name).read_text()


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
        (["--labels", "people.csv"], "people.csv has several columns, age, town: select one with --color"),
        (["--labels", "people.csv", "--color", "agee"], "people.csv has no column 'agee'; did you mean 'age'?"),
        (["--labels", "others.csv"], "colors must be of nodes of v.parquet, such as 'n0'; got 'x': check the ids"),
        (["--perplexity", "0"], "--perplexity must be a number between 1 and 10000"),
        (["--labels", "people.csv", "--database", "people.duckdb"], "--database needs --labels to be an SQL query"),
        (["--labels", "SELECT nope FROM 'people.csv'"], "the query must be valid SQL"),
        (["--labels", "people.csv", "--color", "age", "--points", "people.csv"], "an output must not be an input"),
    ],
)
def test_invalid_arguments_exit_with_2(run, folder, options, words):
    (folder / "others.csv").write_text("id,town\nx,Ulm\ny,Bonn\n")
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
