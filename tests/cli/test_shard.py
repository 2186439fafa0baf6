"""graphprox shard writes what all commands read as a graph, and says what is wrong in one sentence."""

from __future__ import annotations

import json
import re
import shutil

import numpy as np
import pandas as pd
import pytest

import graphprox
from graphprox.io.folder.graph_folder import GraphFolder


@pytest.fixture
def files(tmp_path):
    """A table of edges, one of features and one of labels."""
    rng = np.random.default_rng(0)
    names = np.array([f"node {i}" for i in range(60)])
    ends = rng.integers(0, 60, (2, 240))
    pd.DataFrame({"source": names[ends[0]], "target": names[ends[1]]}).to_csv(tmp_path / "edges.csv", index=False)
    x = rng.random((60, 4)).round(3)
    pd.DataFrame({"id": names, **{f"x{i}": x[:, i] for i in range(4)}}).to_parquet(tmp_path / "x.parquet")
    pd.DataFrame({"id": names, "label": rng.integers(0, 2, 60)}).to_csv(tmp_path / "y.csv", index=False)
    return tmp_path


def shard(run, files, *options):
    return run(
        "shard", files / "edges.csv", "--features", files / "x.parquet", "--labels", files / "y.csv", "--out",
        files / "G", *options,
    )  # fmt: skip


def test_folder_is_the_graph_of_the_files(run, files):
    code, out, err = shard(run, files, "--parts", 3)
    assert (code, err) == (0, "")
    assert out.startswith(f"{files / 'G'}: 60 nodes, ")
    expected = graphprox.read_graph(files / "edges.csv", features=files / "x.parquet", labels=files / "y.csv")
    for graph in (graphprox.read_graph(files / "G"), graphprox.load(files / "G").graph):
        np.testing.assert_array_equal(graph.x, expected.x)
        np.testing.assert_array_equal(graph.edge_index, expected.edge_index)
        np.testing.assert_array_equal(graph.y, expected.y)
        assert graph.ids.tolist() == expected.ids.tolist()


@pytest.mark.parametrize(
    "command",
    [
        ["info", "G", "--json"],
        ["embed", "G", "--out", "v.csv", "--dim", "4"],
        ["views", "G", "--out", "views.npz"],
        ["compare", "G", "--methods", "raw,smoothed", "--splits", "2"],
        ["holdout", "G", "--out", "rest.npz"],
    ],
)
def test_commands_read_a_graph_folder(run, files, monkeypatch, command):
    monkeypatch.chdir(files)
    shard(run, files, "--parts", 2)
    code, _, err = run(*command)
    assert code == 0, err


def test_embedding_of_a_folder_is_that_of_the_files(run, files):
    shard(run, files)
    options = ["--method", "diffused", "--dim", 4]
    run("embed", files / "edges.csv", "--features", files / "x.parquet", "--out", files / "a.csv", *options)
    run("embed", files / "G", "--out", files / "b.csv", *options)
    assert (files / "a.csv").read_bytes() == (files / "b.csv").read_bytes()
    code, out, _ = run("evaluate", files / "G", "--embedding", files / "b.csv", "--splits", 2)
    assert code == 0, out


def test_summary_is_json_if_asked(run, files):
    _, out, _ = shard(run, files, "--parts", 2, "--json")
    found = json.loads(out)
    folder = GraphFolder.open(files / "G")
    assert (found["nodes"], found["entries"], found["features"], found["parts"]) == (60, folder.num_entries, 4, 2)
    assert found["checksum"] == folder.checksum


def test_any_other_graph_is_sharded(run, tmp_path):
    assert run("shard", "synthetic:nodes=140", "--parts", 2, "--out", tmp_path / "G")[0] == 0
    expected = graphprox.load("synthetic:nodes=140").graph
    assert GraphFolder.open(tmp_path / "G").checksum == graphprox.graph.graph_checksum(expected)
    assert run("shard", tmp_path / "G", "--parts", 4, "--out", tmp_path / "H")[0] == 0
    assert GraphFolder.open(tmp_path / "H").checksum == GraphFolder.open(tmp_path / "G").checksum


def test_finished_run_is_not_run_again(run, files):
    shard(run, files)
    before = {path: path.stat().st_mtime_ns for path in (files / "G").rglob("*")}
    assert shard(run, files, "--resume")[0] == 0
    assert {path: path.stat().st_mtime_ns for path in (files / "G").rglob("*")} == before


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "must not be replaced unasked; .* give --force to replace it, or name another folder"),
        (["--resume", "--parts", 2], "must not be replaced unasked"),
        (["--parts", 61, "--force"], "parts must be between 1 and the number of nodes, 60; got 61"),
        (["--label", "nothing", "--force"], "must name a column of"),
        (["--database", "x.duckdb", "--force"], "must be left out, except for a graph that is an SQL query"),
        (["--trust-pickles", "--force"], "can only be set for a data set of pyg:"),
    ],
)
def test_wrong_options_are_one_sentence_and_keep_the_older_graph(run, files, options, sentence):
    shard(run, files)
    code, out, err = shard(run, files, *options)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert re.search(sentence, err), err
    GraphFolder.open(files / "G").verify()
    assert not (files / "G" / ".sharding").exists()


def test_wrong_file_leaves_nothing(run, files):
    (files / "edges.csv").write_text("source,target,weight\na,b,1\nb,c,-1\n")
    code, _, err = run("shard", files / "edges.csv", "--out", files / "new" / "G")
    assert code == 2
    assert "edge weights must be finite and non-negative; column 'weight' in line 3 of" in err
    assert not (files / "new").exists()


def test_folder_must_not_have_an_input_in_it(run, files):
    code, _, err = run("shard", files / "edges.csv", "--out", files)
    assert code == 2
    assert "an output folder must not have an input in it" in err


def test_unfinished_folder_is_described(run, files):
    (files / "G" / ".sharding").mkdir(parents=True)
    code, _, err = run("info", files / "G")
    assert code == 2
    assert "graphprox shard was stopped before it ended: run the same command again with --resume" in err


def test_damaged_folder_is_one_sentence(run, files):
    shard(run, files, "--parts", 2)
    (part, _) = sorted((files / "G").glob("part-*"))
    with (part / "features.npy").open("r+b") as file:
        file.seek(-1, 2)
        file.write(b"\x01")
    code, out, err = run("info", files / "G")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "features.npy is damaged: its content does not match the recorded checksum: copy the folder again" in err
    shutil.rmtree(part)
    assert f"{part.name} is missing" in run("embed", files / "G", "--out", files / "v.csv")[2]


@pytest.mark.parametrize("option", [["--source", "a"], ["--weight", "w"], ["--directed"]])
def test_options_of_files_are_rejected_for_a_folder(run, files, option):
    shard(run, files)
    code, _, err = run("info", files / "G", *option)
    assert (code, err.count("\n")) == (2, 1)
