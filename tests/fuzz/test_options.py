"""Options with any value give a result, or exit code 2, one sentence and nothing on stdout."""

from __future__ import annotations

import contextlib
import io
import os
import socket
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzz.examples import CLASSES, EDGES, LABEL_SETS, MIXED, NUMBERED, X, graphml, to_csv
from graphprox import write_embedding
from graphprox.cli import main

# Text that a number, a name of a column, a file or the markup of a message could be confused with.
VALUES = [
    *("", "0", "1", "3", "4", "-1", "9" * 20, str(2**63 - 1), str(2**42), "1.0", "1e5", "nan", "1_0", "+1", "0x1", "²"),
    *("source", " Source", "weight", "label", "id", "None", "é", "\U0001f600", "\ud800", "a" * 10_000, "\0", " ", "\n"),
    *("--x", "-", "../..", "'", '"', "%s", "{}", "[red]", "[/red]", "\u202e", "\x1b[31m", "standard", "AUTO", ";", ","),
    *("cp1252", "UTF-16", "idna", "rot13", "utf-8-sig"),
]  # fmt: skip
ANY = st.sampled_from(VALUES) | st.text(max_size=12) | st.integers(-5, 10).map(str)
PARAMETERS = st.lists(
    st.tuples(st.sampled_from(["nodes", "noise", "seed", "classes", "features", "x", ""]), ANY), max_size=3
)
LOADERS = ["", "Planetoid:", "Planetoid", "KarateClub", "Amazon:", "TUDataset:", "Dataset:", "InMemoryDataset", "os"]
SPECS = {
    "synthetic": PARAMETERS.map(lambda given: "synthetic:" + ",".join(f"{name}={value}" for name, value in given)),
    "pyg": st.tuples(st.sampled_from(LOADERS), ANY).map(lambda parts: "pyg:" + "".join(parts)),
    "any": ANY,
}
KINDS = st.tuples(
    ANY | st.sampled_from([*MIXED.columns, "2", "6"]),
    ANY | st.sampled_from(["number", "category", "boolean", "date", "ignored"]),
).map("=".join)
COMMANDS = {
    "source": ("info", "e.csv", "--source"),
    "target": ("info", "e.csv", "--target"),
    "weight": ("info", "e.csv", "--weight"),
    "weight of GraphML": ("info", "g.graphml", "--weight"),
    "label of GraphML": ("info", "g.graphml", "--label"),
    "id": ("info", "n.csv", "--features", "x.csv", "--id"),
    "encoding": ("info", "e.csv", "--encoding"),
    "kind": ("info", "n.csv", "--features", "x.csv", "--kind"),
    "label": ("info", "n.csv", "--labels", "y.csv", "--label"),
    "label of a table": ("info", "n.csv", "--labels", "x.csv", "--features", "x.csv", "--label"),
    "separator": ("evaluate", "v.csv", "--task", "multilabel", "--splits", "1", "--labels", "s.csv", "--separator"),
    "dim": ("embed", "n.csv", "--features", "x.csv", "--out", "out.npy", "--dim"),
    "seed": ("embed", "n.csv", "--features", "x.csv", "--out", "out.npy", "--seed"),
    "scale": ("embed", "n.csv", "--features", "x.csv", "--out", "out.npy", "--scale"),
}
QUICK = settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
LONG = settings(QUICK, max_examples=300)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder of small files, without network, in which a cache is the only other folder that may be written."""
    for name in ("files", "home"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("GRAPHPROX_DATA", raising=False)
    monkeypatch.chdir(tmp_path / "files")
    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    tables = {"e.csv": EDGES, "n.csv": NUMBERED, "x.csv": MIXED, "y.csv": CLASSES}
    contents = {name: to_csv(table) for name, table in tables.items()}
    for name, content in {**contents, "g.graphml": graphml(), "s.csv": LABEL_SETS["sets.csv"]}.items():
        (tmp_path / "files" / name).write_bytes(content)
    write_embedding("v.csv", X)
    return tmp_path


def refuse(*_, **__):
    raise OSError("the tests have no network")


def list_files(place):
    return {str(path) for path in place.rglob("*") if not path.is_relative_to(place / "cache")}


def check_run(place, *arguments):
    """Run the program; check its exit code, what it prints, and that it leaves no files."""
    before = list_files(place)
    stdout, stderr = io.StringIO(), io.StringIO()
    argv, sys.argv = sys.argv, ["graphprox", *arguments]
    try:
        with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
            main()
    except SystemExit as stopped:
        code = stopped.code or 0
    finally:
        sys.argv = argv
    printed = stderr.getvalue()
    assert code in (0, 2), printed
    assert "Traceback" not in printed
    if code == 2:
        assert stdout.getvalue() == ""
        assert sum(line.startswith("error: ") for line in printed.splitlines()) == 1, printed
    assert {os.path.basename(path) for path in list_files(place) - before} <= {"out.npy"}  # noqa: PTH119 - any text


@pytest.mark.parametrize("option", COMMANDS)
@given(value=ANY)
@QUICK
def test_an_option_may_have_any_value(place, option, value):
    check_run(place, *COMMANDS[option], value)


@given(kinds=st.lists(KINDS, max_size=4))
@QUICK
def test_a_column_may_be_of_any_kind(place, kinds):
    check_run(place, *COMMANDS["kind"][:-1], *(part for kind in kinds for part in ("--kind", kind)))


@pytest.mark.parametrize("kind", SPECS)
@given(more=st.data())
@QUICK
def test_a_graph_may_have_any_name(place, kind, more):
    check_run(place, "info", more.draw(SPECS[kind]))


@pytest.mark.slow
@pytest.mark.parametrize("option", COMMANDS)
def test_an_option_may_have_each_value(place, option):
    for value in VALUES:
        check_run(place, *COMMANDS[option], value)


@pytest.mark.slow
@pytest.mark.parametrize("option", COMMANDS)
@given(value=ANY)
@LONG
def test_an_option_may_have_many_values(place, option, value):
    check_run(place, *COMMANDS[option], value)


@pytest.mark.slow
@given(kinds=st.lists(KINDS, max_size=4))
@LONG
def test_columns_may_be_of_any_kinds(place, kinds):
    check_run(place, *COMMANDS["kind"][:-1], *(part for kind in kinds for part in ("--kind", kind)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", SPECS)
@given(more=st.data())
@LONG
def test_a_graph_may_have_many_names(place, kind, more):
    check_run(place, "info", more.draw(SPECS[kind]))
