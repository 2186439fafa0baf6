"""Invalid input of the command line gives exit code 2 and one sentence: no traceback, and nothing on stdout.

Covers graphprox.errors.
"""

from __future__ import annotations

import gzip
import io
import os
import pickle
import socket
import sys
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
import torch
from torch_geometric.data import Data

from graphprox.cli import main

NOISE = np.random.default_rng(0).integers(0, 256, 4000, dtype=np.uint8).tobytes()
PATH = "a,b\nb,c\n"


@pytest.fixture
def run_invalid(monkeypatch, capsys, no_data):
    """Function that runs the program in this process on invalid input, and returns its message."""

    def run_invalid(*arguments):
        monkeypatch.setattr(sys, "argv", ["graphprox", *map(str, arguments)])
        with warnings.catch_warnings(action="default"), pytest.raises(SystemExit) as stopped:
            main()
        printed = capsys.readouterr()
        return message_of(stopped.value.code, printed.out, printed.err)

    return run_invalid


def message_of(code, out, err):
    assert (code, out) == (2, ""), err
    assert "Traceback" not in err
    lines = [line for line in err.splitlines() if not line.startswith("warning: ")]
    assert len(lines) == 1, err
    assert lines[0].startswith("error: ")
    return lines[0]


def put(folder, **files):
    """Write files with names such as ``edges_csv``, and return their paths."""
    paths = []
    for name, content in files.items():
        path = folder / name.replace("_", ".", 1).replace("_", ".")
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        paths.append(path)
    return paths


def to_bytes(write):
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def npz(**arrays):
    return to_bytes(lambda file: np.savez(file, **arrays))


def npy(array):
    return to_bytes(lambda file: np.save(file, array, allow_pickle=True))


def pt(content):
    return to_bytes(lambda file: torch.save(content, file))


def parquet(**columns):
    return to_bytes(lambda file: pa.parquet.write_table(pa.table(columns), file))


def graphml(graph):
    return "\n".join(nx.generate_graphml(graph))


# -- unreadable files -----------------------------------------------------------------------------------------------

GRAPH_ENDINGS = ("csv", "tsv", "txt", "edgelist", "parquet", "npz", "graphml", "pt", "csv.gz")
ATTRIBUTE_ENDINGS = ("csv", "tsv", "parquet", "npz", "npy", "svmlight", "csv.gz")
ROLES = [(None, each) for each in GRAPH_ENDINGS] + [
    (option, each) for option in ("--features", "--labels") for each in ATTRIBUTE_ENDINGS
]


@pytest.mark.parametrize(("option", "ending"), ROLES)
@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "does not exist"), (b"", "empty"), ("directory", "it is a directory"), (NOISE, "as its name indicates")],
    ids=["missing", "empty", "directory", "noise"],
)
def test_unreadable_file_is_named(run_invalid, tmp_path, option, ending, content, words):
    path = tmp_path / f"given.{ending}"
    if content == "directory":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    arguments = [path] if option is None else [*put(tmp_path, edges_csv=PATH), option, path]
    message = run_invalid("info", *arguments)
    assert words in message
    assert str(path) in message


@pytest.mark.parametrize(("option", "ending"), ROLES)
@pytest.mark.parametrize("kind", ["pipe", "device", "socket"])
def test_what_is_no_regular_file_is_rejected_at_once(run_invalid, tmp_path, option, ending, kind):
    path = tmp_path / f"given.{ending}"
    with socket.socket(socket.AF_UNIX) as listener:
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "device":
            path.symlink_to("/dev/zero")
        else:
            listener.bind(str(path))
        arguments = [path] if option is None else [*put(tmp_path, edges_csv=PATH), option, path]
        message = run_invalid("info", *arguments)
    assert "must be a regular file" in message
    assert "write it to a file first" in message


LONG = pd.DataFrame({"source": np.arange(3000), "target": np.random.default_rng(1).permutation(3000)})
INDEX = LONG.to_numpy().T.copy()
WHOLE = {
    "csv.gz": gzip.compress(LONG.to_csv(index=False).encode(), mtime=0),
    "parquet": to_bytes(LONG.to_parquet),
    "npz": npz(edge_index=INDEX, x=np.ones((3000, 1))),
    "pt": pt(Data(edge_index=torch.tensor(INDEX), x=torch.ones(3000, 1))),
    "graphml": graphml(nx.path_graph(50)).encode(),
    "npy": npy(np.ones((3000, 3))),
    "svmlight.gz": gzip.compress(b"".join(b"1 1:%d\n" % i for i in range(3000)), mtime=0),
}


@pytest.mark.parametrize("ending", WHOLE)
@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
def test_truncated_file_is_named(run_invalid, tmp_path, ending, share):
    whole = WHOLE[ending]
    path = tmp_path / f"given.{ending}"
    path.write_bytes(whole[: int(share * len(whole))])
    edges = [*put(tmp_path, edges_csv="0,1\n1,2\n"), "--features"] if ending in ("npy", "svmlight.gz") else []
    assert str(path) in run_invalid("info", *edges, path)


# -- invalid content ------------------------------------------------------------------------------------------------

EDGES = {
    "negative weight": ("a,b,1\nb,c,-2\n", ["non-negative", "line 2", "-2"]),
    "NaN weight": ("a,b,1\nb,c,nan\n", ["finite", "line 2", "nan"]),
    "no weight": (
        "source,target,weight\na,b,1\nb,c,\n",
        ["must have a weight", "line 3", "is empty", "write a number"],
    ),
    "infinite weight": ("a,b,1\nb,c,inf\n", ["finite", "line 2", "inf"]),
    "weight beyond float32": ("a,b,1\nb,c,1e39\n", ["at most 3.4e+38", "1e+39", "divide all by"]),
    "weight in words": ("source,target,weight\na,b,1\nb,c,much\n", ["must be numbers", "line 3", "'much'"]),
    "weight with a comma": ("source;target;weight\na;b;1,234\nb;c;1\n", ["must be numbers", "line 2", "'1,234'"]),
    "weight with a point": ("a;b;0,5\nb;c;1.234\n", ["all have a decimal comma", "line 2", "'1.234'", "write 1,5"]),
    "a row too long": ("a,b\nb,c\nc,d,5\n", ["2 cells", "line 3 has 3", "'c,d,5'"]),
    "a row too short": ("source,target,weight\na,b,1\nb,c\n", ["3 cells", "line 3 has 2"]),
    "no id": ("a,b\n,c\n", ["line 2", "lacks one", "if the table is one of nodes, give it as features"]),
    "one column": ("a\nb\n", ["two ids", "has 1 cell, 'a'"]),
    "no edges": ("source,target\n", ["at least one edge"]),
    "no edges of users": ("user,friend\n", ["at least one edge", "lists none below its header"]),
    "comments alone": ("# nothing\n", ["it has none"]),
    "one node": ("a,a\n", ["at least two nodes", "got 1"]),
    "ids beyond 2^63": ("1,2\n2,9223372036854775808\n", ["less than 2^63", "9223372036854775808"]),
    "an open quote": ('a,b\nb,"c\nc,d\n', ["quote must be closed"]),
    "no text": (b"\x81,b\n", ["must be text in UTF-8"]),
    "no text far down": (b"a,b\n" * 30_000 + b"\x81,b\n", ["must be text in UTF-8"]),
    "damaged text": ("é,è\né,ü\n".encode()[:-2] + b"\n", ["UTF-8", "1 character is damaged", "--encoding NAME"]),
    "a damaged mark": (b"\xff\xfea\0,\0b\0\n", ["must be text in utf-16", "another --encoding"]),
    "another separator": ("sep=:\na:b\n", ["sep= must name a comma, semicolon, tab, bar or space", "'sep=:'"]),
    "a separator alone": ("sep=;\n", ["rows of data", "none below 'sep=;'"]),
}


@pytest.mark.parametrize("case", EDGES)
def test_invalid_edge_list_is_rejected(run_invalid, tmp_path, case):
    content, words = EDGES[case]
    message = run_invalid("info", *put(tmp_path, edges_csv=content))
    assert all(word in message for word in words), message


FEATURES = {
    "other ids": ("x,1\ny,2\na,5\n", ["2 of the 3 nodes of", "such as 'b', 'c'", "such as 'x', 'y', 'a'"]),
    "a row twice": ("a,1\nb,2\nc,3\nb,4\n", ["several for 'b'"]),
    "a row too long": ("id,f\na,1\nb,2,9\nc,3\n", ["2 cells", "line 3 has 3"]),
    "infinity": ("a,1\nb,2\nc,-inf\n", ["finite", "-inf", "'c'"]),
    "a word": (
        "a,1,1\nb,2,tall\nc,3,3\n",
        ["of numbers must", "column 3", "line 2", "'tall'", "empty, or use --kind 'column 3=category'"],
    ),
    "a date that is none": ("a,2024-01-31\nb,2024-01-32\nc,2024-02-01\n", ["dates must be", "line 2", "'2024-01-32'"]),
    "only empty cells": ("a,\nb,NA\nc,\n", ["a column that differs between nodes", "no values"]),
    "ids alone": ("a\nb\nc\n", ["id alone"]),
    "no id": ("a,1\n,2\nc,3\n", ["line 2", "lacks one"]),
    "ids beyond 2^63": ("1,1\n99999999999999999999,2\n", ["less than 2^63"]),
}


@pytest.mark.parametrize("case", FEATURES)
def test_invalid_features_are_rejected(run_invalid, tmp_path, case):
    content, words = FEATURES[case]
    edges, features = put(tmp_path, edges_csv=PATH, features_csv=content)
    message = run_invalid("info", edges, "--features", features)
    assert all(word in message for word in words), message


LABELS = {
    "unknown nodes": ("ann,cat\nzoe,dog\n", ["labels of 'ann', 'zoe'", "such as 'a', 'b', 'c'"]),
    "a label twice": ("a,cat\nb,dog\na,dog\n", ["one label", "several for 'a' in line 1 and line 3"]),
    "three columns": ("a,cat,1\nb,dog,2\n", ["an id and a label", "3 cells"]),
    "a row too short": ("a,cat\nb\n", ["2 cells", "line 2 has 1"]),
}


@pytest.mark.parametrize("case", LABELS)
def test_invalid_labels_are_rejected(run_invalid, tmp_path, case):
    content, words = LABELS[case]
    edges, labels = put(tmp_path, edges_csv=PATH, labels_csv=content)
    message = run_invalid("info", edges, "--labels", labels)
    assert all(word in message for word in words), message


TABLE = "buyer,price,seller\nann,2.5,bob\nbob,1,cy\n"
COLUMNS = {
    "a misspelled source": (
        ["--source", "bayer", "--target", "seller"],
        ["--source must name", "did you mean 'buyer'?"],
    ),
    "a misspelled weight": (["--weight", "prize"], ["--weight must name a column", "did you mean 'price'?"]),
    "a number too large": (["--source", "1", "--target", "4"], ["--target must be a column", "from 1 to 3; got 4"]),
    "a number of zero": (["--source", "0", "--target", "1"], ["--source must be a column", "from 1 to 3; got 0"]),
    "one column twice": (["--source", "buyer", "--target", "1"], ["must be different columns", "'buyer' for both"]),
    "one end alone": (["--source", "seller"], ["must be given together", "named 'target'; got source alone"]),
    "a weight of words": (
        ["--source", "1", "--target", "2", "--weight", "3"],
        ["must be numbers", "column 'seller'", "'bob'"],
    ),
    "a weight that is an end": (["--weight", "buyer", "--source", "1", "--target", "3"], ["--weight must be another"]),
    "no header": (["--no-header", "--source", "buyer", "--target", "2"], ["--source must be a number", "no header"]),
    "ids of no table": (["--id", "buyer"], ["id can only be given with features or labels"]),
    "rows of no table": (["--no-ids"], ["ids can only be given with features or labels"]),
    "a label of no table": (["--label", "buyer"], ["label can only be given with a table of labels"]),
}


@pytest.mark.parametrize("case", COLUMNS)
def test_invalid_column_is_rejected(run_invalid, tmp_path, case):
    options, words = COLUMNS[case]
    message = run_invalid("info", *put(tmp_path, edges_csv=TABLE), *options)
    assert all(word in message for word in words), message


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--id", "nodes"], ["--id must name a column", "did you mean 'node'?"]),
        (["--label", "kin"], ["--label must name a column", "did you mean 'kind'?"]),
        (["--label", "node"], ["--label must be another column", "than the ids"]),
        (["--id", "node", "--no-ids", "--label", "kind"], ["--id must not be given", "'node' and --no-ids"]),
        ([], ["labels must be one column of", "several, 'kind', 'size': select one with --label"]),
    ],
)
def test_invalid_column_of_labels_is_rejected(run_invalid, tmp_path, options, words):
    edges, labels = put(tmp_path, edges_csv=PATH, labels_csv="node,kind,size\na,cat,1\nb,dog,1\n")
    message = run_invalid("info", edges, "--labels", labels, *options)
    assert all(word in message for word in words), message


def test_columns_of_a_complete_graph_are_rejected(run_invalid, tmp_path):
    (path,) = put(tmp_path, g_npz=npz(edge_index=[[0], [1]], x=np.eye(2)))
    assert "can only be given with a table of edges" in run_invalid("info", path, "--source", "a", "--target", "b")


TWO = nx.Graph([("a", "b")])
UNKNOWN_END = graphml(TWO).replace('target="b"', 'target="zoe"')
NO_EDGES = nx.empty_graph(["a", "b"])
WHOLE_GRAPHS = {
    "npz, an unknown node": ({"g_npz": npz(edge_index=[[0], [7]], x=np.eye(3))}, ["node 7 is unknown"]),
    "npz, no nodes": ({"g_npz": npz(edge_index=np.empty((2, 0), int), x=np.empty((0, 1)))}, ["at least two nodes"]),
    "npz, floats": ({"g_npz": npz(edge_index=[[0, 1.5], [1, 0]])}, ["edge_index must contain integer", "float64"]),
    "npz, one node": ({"g_npz": npz(edge_index=[[0], [0]], x=[[1.0]])}, ["at least two nodes", "got 1"]),
    "npz, no edges": ({"g_npz": npz(edge_index=np.empty((2, 0), int), x=np.eye(2))}, ["at least one edge"]),
    "npz, NaN": ({"g_npz": npz(edge_index=[[0], [1]], x=[[1.0], [np.nan]], ids=["p", "q"])}, ["NaN", "'q'"]),
    "npz, negative weights": ({"g_npz": npz(edge_index=[[0], [1]], x=np.eye(2), edge_weight=[-1.0])}, ["non-negative"]),
    "npz, num_nodes in words": ({"g_npz": npz(edge_index=[[0], [1]], num_nodes="x")}, ["num_nodes", "an integer"]),
    "npz, num_nodes of True": ({"g_npz": npz(edge_index=[[0], [1]], num_nodes=True)}, ["num_nodes", "bool"]),
    "npz, num_nodes of 2.5": ({"g_npz": npz(edge_index=[[0], [1]], num_nodes=2.5)}, ["num_nodes", "float64"]),
    "npz, two num_nodes": ({"g_npz": npz(edge_index=[[0], [1]], num_nodes=[2, 3])}, ["num_nodes", "(2,)"]),
    "pt, num_nodes in words": (
        {"g_pt": pt({"edge_index": torch.tensor([[0], [1]]), "num_nodes": "x"})}, ["number of nodes of a Data"]
    ),
    "npz, no graph": ({"g_npz": npz(a=[1])}, ["must contain a graph", "it contains a"]),
    "graphml, an unknown node": ({"g_graphml": UNKNOWN_END}, ["the unknown node 'zoe'"]),
    "graphml, no nodes": ({"g_graphml": graphml(nx.Graph())}, ["at least two nodes"]),
    "graphml, one node": ({"g_graphml": graphml(nx.empty_graph(["a"]))}, ["at least two nodes"]),
    "graphml, no edges": ({"g_graphml": graphml(NO_EDGES)}, ["at least one edge"]),
    "pt, an unknown node": ({"g_pt": pt(Data(edge_index=torch.tensor([[0], [7]]), x=torch.eye(3)))}, ["node 7"]),
    "pt, no edges": ({"g_pt": pt(Data(edge_index=torch.empty(2, 0).long(), x=torch.eye(3)))}, ["at least one edge"]),
    "pt, no Data": ({"g_pt": pt(torch.eye(3))}, ["must contain a PyG Data"]),
    "parquet, ids beyond 2^63": ({"g_parquet": parquet(a=pa.array([2**63], pa.uint64()), b=[1])}, ["less than 2^63"]),
    "parquet, no edges": ({"g_parquet": parquet(a=pa.array([], pa.int64()), b=pa.array([], pa.int64()))}, ["one edge"]),
    "parquet, NaN weight": ({"g_parquet": parquet(a=["p"], b=["q"], weight=[float("nan")])}, ["finite", "row 0"]),
    "an unknown ending": ({"g_docx": "hello"}, ["ending", ".csv", "'g.docx'"]),
}  # fmt: skip


@pytest.mark.parametrize("case", WHOLE_GRAPHS)
def test_invalid_graph_is_rejected(run_invalid, tmp_path, case):
    files, words = WHOLE_GRAPHS[case]
    message = run_invalid("info", *put(tmp_path, **files))
    assert all(word in message for word in words), message


# -- pickles --------------------------------------------------------------------------------------------------------


class Trap:
    """Creates a directory when it is unpickled."""

    def __reduce__(self):
        return os.mkdir, ("SPRUNG",)


TRAPS = np.array([[Trap()], [Trap()]], object)
CAUGHT = {
    "graph npz": ([], {"g_npz": npz(edge_index=TRAPS, x=TRAPS)}),
    "graph pt": ([], {"g_pt": pt({"edge_index": Trap()})}),
    "graph pt of a Data": ([], {"g_pt": pt(Data(edge_index=torch.tensor([[0], [1]]), x=Trap()))}),
    "bare pickle as pt": ([], {"g_pt": pickle.dumps(Trap())}),
    "bare pickle as npz": ([], {"g_npz": pickle.dumps(Trap())}),
    "features npy": (["--features"], {"x_npy": npy(TRAPS)}),
    "features npz": (["--features"], {"x_npz": npz(x=TRAPS)}),
    "features npz, ids": (["--features"], {"x_npz": npz(x=np.eye(2), ids=TRAPS[:, 0])}),
    "features npz, sparse": (["--features"], {"x_npz": npz(data=TRAPS[:, 0], indices=[0], indptr=[0], shape=[1, 1])}),
    "labels npy": (["--labels"], {"y_npy": npy(TRAPS[:, 0])}),
    "labels npz": (["--labels"], {"y_npz": npz(y=TRAPS[:, 0])}),
    "bare pickle as npy": (["--labels"], {"y_npy": pickle.dumps(Trap())}),
}


def test_unpickling_a_trap_creates_a_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pickle.loads(pickle.dumps(Trap()))
    assert (tmp_path / "SPRUNG").exists()


@pytest.mark.parametrize("case", CAUGHT)
def test_pickled_objects_are_rejected_and_never_executed(run_invalid, tmp_path, monkeypatch, case):
    option, files = CAUGHT[case]
    monkeypatch.chdir(tmp_path)
    arguments = [*put(tmp_path, edges_csv=PATH), *option] if option else []
    message = run_invalid("info", *arguments, *put(tmp_path, **files))
    assert "rejected" in message or ("bare pickle" in case and "as its name indicates" in message)
    assert not (tmp_path / "SPRUNG").exists()


@pytest.mark.parametrize("trust", [False, True])
def test_pickles_of_pyg_are_rejected_unless_trusted(run_invalid, tmp_path, monkeypatch, trust):
    monkeypatch.chdir(tmp_path)
    raw = tmp_path / "Cora" / "raw"
    raw.mkdir(parents=True)
    for part in ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index"):
        (raw / f"ind.cora.{part}").write_bytes(pickle.dumps(Trap()))
    message = run_invalid("info", "pyg:Planetoid:Cora", "--data", tmp_path, *["--trust-pickles"] * trust)
    assert ("rejected: add --trust-pickles if you trust" in message) is not trust
    assert (tmp_path / "SPRUNG").exists() is trust


# -- names and options ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "meant"), [("Coraa", "Cora"), ("cora", "Cora"), ("sythetic", "synthetic"), ("Citeser", "CiteSeer")]
)
def test_misspelled_data_set_gets_a_suggestion(run_invalid, name, meant):
    assert f"did you mean {meant}?" in run_invalid("info", name)


def test_unknown_data_set_refers_to_the_list(run_invalid):
    assert "`graphprox datasets` lists them" in run_invalid("info", "zzzzzz")


def test_features_are_rejected_for_a_named_data_set(run_invalid, tmp_path):
    assert "can only be given with a file" in run_invalid(
        "info", "synthetic", "--features", *put(tmp_path, x_csv="a,1\n")
    )
