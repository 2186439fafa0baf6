from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import graphprox
from graphprox.cli.info import sparkline

PROGRAM = Path(sys.executable).with_name("graphprox")


@pytest.fixture
def triangle(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("source,target\na,b\nb,c\nc,a\na,b\n")
    (tmp_path / "x.csv").write_text("id,one,two\nc,1,0\na,1,1\nb,0,1\n")
    (tmp_path / "y.csv").write_text("id,label\na,cat\nb,cat\nc,dog\n")
    return path


def test_info_prints_what_people_read(run, triangle):
    code, out, err = run(
        "info", triangle, "--features", triangle.with_name("x.csv"), "--labels", triangle.with_name("y.csv")
    )
    assert (code, err) == (0, "")
    for line in (
        "nodes       3",
        "edges       3 (undirected)",
        "2 (cat: 2, dog: 1)",
        "duplicates  1 merged",
        "0.333 of the edges",
    ):
        assert line in out


def test_info_prints_json_for_programs(run, triangle):
    code, out, _ = run(
        "info", triangle, "--features", triangle.with_name("x.csv"), "--labels", triangle.with_name("y.csv"), "--json"
    )
    found = json.loads(out)
    assert code == 0
    expected = {"nodes": 3, "edges": 3, "features": 2, "classes": 2, "isolated": 0, "components": 1, "self_loops": 0}
    assert {key: found[key] for key in expected} == expected
    assert found["homophily"] == pytest.approx(1 / 3)
    assert found["duplicates"] == 1


def test_directed_edges_stay_directed(run, triangle):
    code, out, _ = run("info", triangle, "--features", triangle.with_name("x.csv"), "--directed", "--json")
    found = json.loads(out)
    assert (code, found["directed"], found["edges"], found["pairs"]) == (0, True, 3, 3)


def test_a_warning_is_one_line_on_stderr(run, triangle):
    code, out, err = run("info", triangle, "--json")
    assert (code, json.loads(out)["features"]) == (0, 3)
    assert err.startswith("warning: the graph has no features")
    assert err.count("\n") == 1


def test_figures_may_be_kept_in_a_file(run, tmp_path):
    code, out, _ = run("info", "synthetic", "--json", "--out", tmp_path / "info.json")
    assert code == 0
    assert json.loads((tmp_path / "info.json").read_text()) == json.loads(out)


def test_datasets_lists_every_name(run, no_data):
    code, out, _ = run("datasets")
    assert code == 0
    assert all(name in out for name in graphprox.CATALOGUE)
    code, out, _ = run("datasets", "--json")
    rows = json.loads(out)
    assert [row["name"] for row in rows] == list(graphprox.CATALOGUE)
    assert not any(row["at_hand"] for row in rows)
    assert all(row["source"] for row in rows)


def test_datasets_says_what_is_at_hand(run, no_data, tmp_path):
    (tmp_path / "data" / "acm" / "raw").mkdir(parents=True)
    _, out, _ = run("datasets", "--data", tmp_path / "data", "--json")
    assert [row["name"] for row in json.loads(out) if row["at_hand"]] == ["ACM"]


def test_the_data_directory_may_stand_in_the_environment_or_an_option(run, data):
    code, out, _ = run("info", "Cora", "--data", data, "--json")
    found = json.loads(out)
    assert code == 0
    assert [found[key] for key in ("nodes", "edges", "features", "classes")] == [2708, 5278, 1433, 7]
    assert found["homophily"] == pytest.approx(0.810, abs=5e-4)


def test_a_users_mistake_is_2_and_one_sentence(run):
    code, out, err = run("info", "cora")
    assert (code, out) == (2, "")
    assert err == "error: 'cora' is neither a data set nor a file; did you mean Cora?\n"


@pytest.mark.parametrize("name", ["a:smile:[bold]b.csv", "two\nlines.csv", "n" * 300 + ".csv", "n" * 300])
def test_odd_names_are_printed_as_they_are_on_one_line(run, name):
    code, out, err = run("info", name)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert name.replace("\n", " ")[:9] in err.replace("\\n", " ")


def test_an_unknown_option_is_2(run):
    code, out, err = run("info", "synthetic", "--nope")
    assert (code, out) == (2, "")
    assert "No such option" in err


def test_our_fault_is_1_and_shows_where_only_if_asked(run, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("[bold]boom")

    monkeypatch.setattr("graphprox.cli.info.load", fail)
    code, out, err = run("info", "synthetic")
    assert (code, out) == (1, "")
    assert err == "error: a fault of graphprox, not yours: RuntimeError: [bold]boom; --verbose shows where\n"
    code, _, err = run("info", "synthetic", "--verbose")
    assert code == 1
    assert "Traceback" in err


def test_a_users_mistake_shows_where_if_asked(run):
    code, _, err = run("info", "cora", "--verbose")
    assert code == 2
    assert "Traceback" in err


def test_the_version_is_that_of_the_package(run):
    assert run("--version") == (0, f"graphprox {graphprox.__version__}\n", "")


@pytest.mark.parametrize("command", [[], ["info"], ["datasets"]])
def test_help_has_examples(run, command):
    code, out, _ = run(*command, "--help")
    assert code == 0
    assert "graphprox" in out
    if command:
        assert "Examples" in out


def program(*arguments, **environment):
    return subprocess.run(
        [PROGRAM, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_shell_completes_names():
    completed = program(
        _GRAPHPROX_COMPLETE="complete_bash", COMP_WORDS="graphprox info Co", COMP_CWORD="2", _TYPER_COMPLETE_ARGS="x"
    )
    assert completed.stdout.split() == ["Cora", "CoauthorCS", "Cornell", "Cornell-2021", "Cornell5"]
    commands = program(_GRAPHPROX_COMPLETE="complete_bash", COMP_WORDS="graphprox ", COMP_CWORD="1")
    assert {"info", "datasets"} <= set(commands.stdout.split())


def test_the_program_starts_without_torch():
    """Torch takes seconds to import: a command that needs none does without."""
    code = "import sys, graphprox.cli; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_interrupting_is_quiet():
    started = subprocess.Popen(
        [PROGRAM, "info", "synthetic:nodes=3000000,edges_per_node=10"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        started.communicate(timeout=2)
    except subprocess.TimeoutExpired:
        started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=60)
    assert started.returncode == 130
    assert out == ""
    assert "Traceback" not in err


def test_a_sparkline_shows_the_smallest_and_the_largest():
    assert sparkline([0, 1, 1000]) == " ▁█"
    assert sparkline([0]) == " "
