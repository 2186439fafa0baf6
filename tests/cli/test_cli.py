"""The program as a whole: shared options, errors, help, completion; graphprox info and datasets.

Covers graphprox.__main__, graphprox.cli.app, graphprox.cli.graph_source, graphprox.cli.options and graphprox.cli.usage.
Covers graphprox.cli.info and graphprox.cli.datasets.
"""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import graphprox
from graphprox.cli.app import app
from graphprox.cli.info import describe_column, sparkline
from graphprox.datasets import ColumnDescription

PROGRAM = Path(sys.executable).with_name("graphprox")


COMMANDS = [each.name for each in app.registered_commands]
READ_A_GRAPH = ["info", "views", "embed", "transform", "compare", "tune", "curve", "evaluate", "holdout"]


@pytest.fixture
def triangle(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("source,target\na,b\nb,c\nc,a\na,b\n")
    (tmp_path / "x.csv").write_text("id,one,two\nc,1,0\na,1,1\nb,0,1\n")
    (tmp_path / "y.csv").write_text("id,label\na,cat\nb,cat\nc,dog\n")
    return path


# -- info and datasets ----------------------------------------------------------------------------------------------


def test_info_prints_statistics(run, triangle):
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


def test_info_prints_json(run, triangle):
    code, out, _ = run(
        "info", triangle, "--features", triangle.with_name("x.csv"), "--labels", triangle.with_name("y.csv"), "--json"
    )
    found = json.loads(out)
    assert code == 0
    expected = {"nodes": 3, "edges": 3, "features": 2, "classes": 2, "isolated": 0, "components": 1, "self_loops": 0}
    assert {key: found[key] for key in expected} == expected
    assert found["homophily"] == pytest.approx(1 / 3)
    assert found["duplicates"] == 1


def test_edges_are_directed_on_request(run, triangle):
    code, out, _ = run("info", triangle, "--features", triangle.with_name("x.csv"), "--directed", "--json")
    found = json.loads(out)
    assert (code, found["directed"], found["edges"], found["pairs"]) == (0, True, 3, 3)
    _, out, _ = run("info", triangle, "--features", triangle.with_name("x.csv"), "--undirected", "--json")
    assert json.loads(out)["directed"] is False


def test_the_first_row_is_read_as_requested(run, triangle):
    _, out, _ = run("info", triangle, "--no-header", "--json")
    assert json.loads(out)["nodes"] == 5  # the header is an edge between two more nodes
    _, out, _ = run("info", triangle, "--header", "--json")
    assert json.loads(out)["nodes"] == 3


def test_a_warning_is_one_line_on_stderr(run, triangle):
    code, out, err = run("info", triangle, "--json")
    assert (code, json.loads(out)["features"]) == (0, 3)
    assert err.startswith("warning: the graph has no features")
    assert err.count("\n") == 1


def test_statistics_are_also_written_to_a_file(run, tmp_path):
    code, out, _ = run("info", "synthetic", "--json", "--out", tmp_path / "info.json")
    assert code == 0
    assert json.loads((tmp_path / "info.json").read_text()) == json.loads(out)


def test_datasets_are_listed(run, no_data):
    code, out, _ = run("datasets")
    assert code == 0
    assert all(name in out for name in graphprox.CATALOG)
    code, out, _ = run("datasets", "--json")
    rows = json.loads(out)
    assert [row["name"] for row in rows] == list(graphprox.CATALOG)
    assert not any(row["available"] for row in rows)
    assert all(row["source"] for row in rows)


def test_available_data_sets_are_marked(run, no_data, tmp_path):
    (tmp_path / "data" / "acm" / "raw").mkdir(parents=True)
    _, out, _ = run("datasets", "--data", tmp_path / "data", "--json")
    assert [row["name"] for row in json.loads(out) if row["available"]] == ["ACM"]


def test_data_is_read_from_the_option_or_the_environment(run, data, monkeypatch):
    monkeypatch.delenv("GRAPHPROX_DATA", raising=False)
    code, out, _ = run("info", "Cora", "--data", data, "--json")
    found = json.loads(out)
    assert code == 0
    assert [found[key] for key in ("nodes", "edges", "features", "classes")] == [2708, 5278, 1433, 7]
    assert found["homophily"] == pytest.approx(0.810, abs=5e-4)
    monkeypatch.setenv("GRAPHPROX_DATA", str(data))
    assert run("info", "Cora", "--json")[1] == out


# -- errors ---------------------------------------------------------------------------------------------------------


def test_error_is_one_sentence_with_exit_code_2(run):
    code, out, err = run("info", "cora")
    assert (code, out) == (2, "")
    assert err == "error: 'cora' is neither a data set nor a file; did you mean Cora?\n"


@pytest.mark.parametrize("name", ["a:smile:[bold]b.csv", "two\nlines.csv", "n" * 300 + ".csv", "n" * 300])
def test_odd_names_are_printed_unchanged_on_one_line(run, name):
    code, out, err = run("info", name)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert name.replace("\n", " ")[:9] in err.replace("\\n", " ")


def test_unknown_option_exits_with_2(run):
    code, out, err = run("info", "synthetic", "--nope")
    assert (code, out) == (2, "")
    assert err == "error: graphprox info has no option --nope; see graphprox info --help\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["info", "synthetic", "--jso"], "graphprox info has no option --jso; did you mean --json?"),
        (
            ["embed", "synthetic", "--out", "emb.npy", "--labels", "y.csv"],
            "graphprox embed has no option --labels, as it ignores labels: use graphprox evaluate --labels FILE",
        ),
        (["info"], "missing argument 'GRAPH'; see graphprox info --help"),
        (["embed", "synthetic"], "missing option '--out'; see graphprox embed --help"),
        (["embed", "synthetic", "--out"], "option '--out' requires an argument; see graphprox --help"),
        (["evalute", "synthetic"], "no such command 'evalute'; did you mean 'evaluate'?"),
        (["nonsense"], "no such command 'nonsense'; see graphprox --help"),
    ],
)
def test_usage_error_is_one_sentence_with_exit_code_2(run, arguments, sentence):
    assert run(*arguments) == (2, "", f"error: {sentence}\n")


def test_value_out_of_range_is_a_usage_error(run):
    code, out, err = run("demo", "--seed", "-1")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("error: invalid value for '--seed': ")


def test_help_is_printed_without_arguments(run):
    code, out, err = run()
    assert (code, err) == (2, "")
    assert "Usage" in out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["embed", "{graph}", "--out", "emb.npy", "--dim", "0"], "--dim must be a positive integer; got 0"),
        (
            ["embed", "{graph}", "--out", "emb.npy", "--method", "dgi", "--epochs", "-1"],
            "--epochs must be a non-negative integer; got -1",
        ),
        (["embed", "{graph}", "--out", "emb.npy", "--method", "dgj"], "--method must be a known name; got 'dgj'"),
        (
            ["embed", "{graph}", "--out", "emb.npy", "--method", "ft-gcl", "--checkpoint-every", "0"],
            "--checkpoint-every must be a positive integer; got 0",
        ),
        (
            ["embed", "{graph}", "--out", "emb.npy", "--seed", str(2**63)],
            f"--seed must be a non-negative integer below 2^63; got {2**63}",
        ),
        (
            ["holdout", "{graph}", "--out", "rest.npz", "--val", "0.6", "--test", "0.5"],
            "--val + --test must be less than 1",
        ),
        (["tune", "{graph}", "--over", "epochs=1"], "got one without: give --labels FILE"),
        (["curve", "{graph}", "--epochs", "0"], "got one without: give --labels FILE"),
        (["compare", "{graph}", "--methods", "gcn"], "GCN needs labels; the graph has none: give --labels FILE"),
        (["compare", "{graph}", "--protocol", "rndom"], "--protocol must be one of"),
        (["transform", "{graph}", "--model", "none", "--out", "emb.npy"], "make one with graphprox embed --model"),
    ],
)
def test_errors_of_the_library_name_options(run, triangle, monkeypatch, tmp_path, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    code, _, err = run(*(each.format(graph=triangle) for each in arguments))
    last = err.splitlines()[-1]
    assert code == 2
    assert last.startswith("error: ")
    assert sentence in last
    assert not re.search(r"\b(y|random_state|n_splits|n_components|checkpoint_every)\b(?!=)", last)


def test_internal_error_exits_with_1(run, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("[bold]boom")

    monkeypatch.setattr("graphprox.cli.graph_source.load", fail)
    code, out, err = run("info", "synthetic")
    assert (code, out) == (1, "")
    assert err == "error: internal error of graphprox: RuntimeError: [bold]boom; --verbose shows the traceback\n"
    code, _, err = run("--verbose", "info", "synthetic")
    assert code == 1
    assert "Traceback" in err
    assert "--verbose" not in err.splitlines()[-1]


def test_verbose_shows_the_traceback_of_an_error(run):
    code, _, err = run("--verbose", "info", "cora")
    assert code == 2
    assert "Traceback" in err
    assert err.splitlines()[-1] == "error: 'cora' is neither a data set nor a file; did you mean Cora?"


def test_interruption_exits_with_130_and_no_traceback(run, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("graphprox.cli.graph_source.load", interrupt)
    code, out, err = run("info", "synthetic")
    assert (code, out) == (130, "")
    assert "Traceback" not in err


# -- spellings of version 0.1 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["embed", "synthetic", "--out", "emb.npy", "--steps", "3"], "--steps was renamed to --epochs in version 0.2"),
        (["curve", "synthetic", "--steps=0,2"], "--steps was renamed to --epochs in version 0.2"),
        (
            ["holdout", "synthetic", "--out", "rest.npz", "--validation", "0.1"],
            "--validation was renamed to --val in version 0.2",
        ),
        (["info", "synthetic", "--verbose"], "--verbose must come before the command since version 0.2"),
        (
            ["neighbours", "emb.npy", "3"],
            "the command 'neighbours' was renamed to 'graphprox neighbors' in version 0.2",
        ),
        (
            ["run", "random.toml", "--check"],
            "the command 'run' was renamed to 'python -m reproduction run' in version 0.2",
        ),
        (["report"], "the command 'report' was renamed to 'python -m reproduction report' in version 0.2"),
        (["compare", "synthetic", "--protocol", "compat"], "got 'compat': it is now called 'grace'"),
        (["compare", "synthetic", "--protocol", "descent"], "got 'descent': it is now called 'dgi'"),
    ],
)
def test_old_spelling_is_rejected_with_the_new_one(run, tmp_path, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert sentence in err
    assert err.count("\n") == 1
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_arguments_after_two_dashes_are_not_options(run, tmp_path):
    (tmp_path / "emb.csv").write_text("id,x,y\n--steps,1,0\nb,0,1\n")
    code, out, _ = run("neighbors", tmp_path / "emb.csv", "--", "--steps")
    assert code == 0
    assert out.startswith("--steps")


# -- help -----------------------------------------------------------------------------------------------------------


def test_version_is_that_of_the_package(run):
    assert run("--version") == (0, f"graphprox {graphprox.__version__}\n", "")


def test_module_is_the_program(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["graphprox", "--version"])
    with pytest.raises(SystemExit) as stopped:
        runpy.run_module("graphprox", run_name="__main__")
    assert (stopped.value.code or 0, capsys.readouterr().out) == (0, f"graphprox {graphprox.__version__}\n")


def test_help_lists_the_commands(run):
    code, out, _ = run("--help")
    assert code == 0
    for name in COMMANDS:
        assert re.search(rf"^│ {name} ", out, re.MULTILINE)
    for old in ("neighbours", "report"):
        assert not re.search(rf"^│ {old} ", out, re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_has_examples(run, command):
    code, out, _ = run(command, "--help")
    assert code == 0
    assert "Examples" in out
    assert f"graphprox {command}" in out
    assert run(command, "-h") == (code, out, "")


@pytest.mark.parametrize("command", READ_A_GRAPH)
def test_commands_share_the_options_for_reading_a_graph(run, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "160")
    _, out, _ = run(command, "--help")
    _, _, panel = out.partition("Reading the graph")
    assert ("--kind" in panel) == (command != "transform")
    assert set(re.findall(r"--[a-z-]+", panel)) - {"--labels", "--label", "--kind"} == {
        "--features",
        "--database",
        "--directed",
        "--undirected",
        "--header",
        "--no-header",
        "--encoding",
        "--source",
        "--target",
        "--weight",
        "--id",
        "--ids",
        "--no-ids",
        "--data",
        "--trust-pickles",
    }


# -- completion -----------------------------------------------------------------------------------------------------


def to_environment(line):
    """Return the environment in which bash calls the program to complete the last word of a line."""
    words = line.split(" ")
    return {"_GRAPHPROX_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}


@pytest.fixture
def complete(monkeypatch, capsys):
    """Complete the last word of a line in this process."""

    def complete(line):
        for name, value in to_environment(line).items():
            monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit):
            app(prog_name="graphprox")
        return capsys.readouterr().out.split()

    return complete


def test_installed_program_completes_names():
    environment = {**os.environ, **to_environment("graphprox info Co")}
    done = subprocess.run([PROGRAM], env=environment, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == ["Cora", "CoauthorCS", "Cornell", "Cornell-2021", "Cornell5"]


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("graphprox embed syn", ["synthetic"]),
        ("graphprox embed Cora --method d", ["deepwalk", "dgi", "diffused"]),
        ("graphprox methods ft-gcl-", ["ft-gcl-nl", "ft-gcl-plus"]),
        ("graphprox embed Cora --method ft-gcl --preset T", ["Texas", "Texas-paper"]),
        ("graphprox tune Cora --preset T", ["Texas", "Texas-paper"]),
        ("graphprox embed Cora --preset d", ["default"]),
        ("graphprox tune Cora --method mvgrl --preset T", ["Texas"]),
        ("graphprox curve Cora --preset a", ["auto"]),
        ("graphprox neighbors emb.npy 3 --graph Tex", ["Texas"]),
    ],
)
def test_names_are_completed(complete, line, names):
    assert complete(line) == names


def test_commands_are_completed(complete):
    assert set(COMMANDS) <= set(complete("graphprox "))


def test_program_starts_without_torch():
    code = "import sys, graphprox.cli; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("given", [None, "26"])
def test_threads_of_openblas_do_not_wait_for_long_unless_the_user_says_so(given):
    code = (
        "import os, sys, graphprox.cli; assert 'numpy' not in sys.modules; sys.argv[1:] = ['--version'];"
        f"import atexit; atexit.register(lambda: os._exit(os.environ['OPENBLAS_THREAD_TIMEOUT'] != '{given or 10}'));"
        "graphprox.cli.main()"
    )
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_THREAD_TIMEOUT"}
    environment |= {"OPENBLAS_THREAD_TIMEOUT": given} if given else {}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0


def test_names_of_methods_are_completed_without_torch():
    code = (
        "import sys; from graphprox.cli.options import complete_method; names = complete_method('');"
        "assert 'torch' not in sys.modules; from graphprox import METHODS; assert names == list(METHODS)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_sparkline_shows_the_smallest_and_the_largest_count():
    assert sparkline([0, 1, 1000]) == " ▁█"
    assert sparkline([0]) == " "


def test_quiet_must_come_before_the_command(run):
    code, _, err = run("datasets", "--quiet")
    assert (code, err) == (2, "error: --quiet must come before the command: graphprox --quiet COMMAND\n")
    assert run("--quiet", "datasets")[0] == 0


def test_help_says_what_quiet_leaves(run):
    assert "results and warnings remain" in " ".join(run("--help")[1].replace("│", " ").split())


def test_columns_in_doubt_are_named_with_options(run, tmp_path):
    (tmp_path / "e.csv").write_text("source,target,note\n1,2,x\n2,3,y\n")
    (tmp_path / "x.csv").write_text("steps,label\n1,a\n2,b\n3,a\n")
    _, _, stderr = run("info", tmp_path / "e.csv", "--features", tmp_path / "x.csv")
    for words in (
        "--source, --target and --weight take other columns",
        "--id takes another column",
        "is used as a feature: use --kind label=ignored to leave it out",
    ):
        assert words in stderr


# -- kinds of columns -----------------------------------------------------------------------------------------------

USERS = "user_id,age,zip code,about me\n" + "".join(
    f"u{i},{31 + i % 7 * i % 5},{75001 + i % 3},writes long sentences about the number {i} and others\n"
    for i in range(12)
)


@pytest.fixture
def users(tmp_path, monkeypatch):
    """Arguments of a graph of users with codes and texts."""
    monkeypatch.chdir(tmp_path)
    Path("friends.csv").write_text("source,target\n" + "".join(f"u{i},u{(i * 5 + 1) % 12}\n" for i in range(12)))
    Path("users.csv").write_text(USERS)
    return ["friends.csv", "--features", "users.csv"]


def test_a_column_of_text_is_left_out_as_the_error_says(run, users):
    code, _, err = run("info", *users)
    assert code == 2
    assert "use --kind 'about me=ignored' to leave it out, or embed it by a language model" in err
    code, out, err = run("info", *users, "--kind", "about me=ignored")
    assert (code, "features    2 " in out) == (0, True)
    assert err == (
        "warning: column 'zip code' is named as a code and read as a quantity: use --kind 'zip code=category' to read "
        "it as codes, or --kind 'zip code=number' to confirm it\n"
    )
    code, out, err = run("info", *users, "--kind", "about me=ignored", "--kind", "zip code=category")
    assert (code, "features    4 " in out, err) == (0, True, "")


def test_transform_takes_columns_as_the_model_knows_them(run, users, tmp_path):
    kinds = ["--kind", "about me=ignored", "--kind", "3=category"]
    code, _, err = run("embed", *users, *kinds, "--out", "a.npy", "--dim", "4", "--model", "model")
    assert (code, err) == (0, "")
    Path("users.csv").write_text(USERS.replace("writes long", "5"))
    code, _, err = run("transform", *users, "--out", "b.npy", "--model", "model")
    assert (code, err) == (0, "")
    assert np.array_equal(np.load("a.npy"), np.load("b.npy"))


@pytest.mark.parametrize(
    ("kinds", "sentence"),
    [
        (["zip"], "--kind must be COLUMN=KIND, as in --kind zip=category; got 'zip'"),
        (["=category"], "--kind must be COLUMN=KIND, as in --kind zip=category; got '=category'"),
        (["age=number", "age=date"], "--kind must be given once for a column; got two for 'age'"),
        (["zip cod=category"], "--kind must name a column of users.csv; got 'zip cod': did you mean 'zip code'?"),
        (
            ["age=numbr"],
            "among number, boolean, category, date, ignored; got 'numbr' for 'age': did you mean 'number'?",
        ),
        (["7=number"], "--kind must be a column of users.csv, by name or by number from 1 to 4; got 7"),
    ],
)
def test_kinds_that_are_wrong_are_one_sentence(run, users, kinds, sentence):
    code, out, err = run("info", *users, *(part for kind in kinds for part in ("--kind", kind)))
    assert (code, out) == (2, "")
    assert err.startswith("error: --kind must ")
    assert err.endswith(f"{sentence}\n")


def test_kinds_without_features_are_one_sentence(run, users):
    assert run("info", users[0], "--kind", "age=number") == (
        2,
        "",
        "error: --kind can only be given with a table of features; got none\n",
    )


@pytest.mark.parametrize(
    ("option", "kind"),
    [("--drop", "ignored"), ("--exclude", "ignored"), ("--category", "category"), ("--numeric", "number")],
)
def test_options_of_other_programs_lead_to_kind(run, users, option, kind):
    code, _, err = run("info", *users, option, "zip")
    assert (code, err) == (2, f"error: graphprox info has no option {option}: use --kind COLUMN={kind}\n")


def test_transform_has_no_option_kind(run, users):
    code, _, err = run("transform", *users, "--model", "m", "--out", "o.npy", "--kind", "age=number")
    assert code == 2
    assert (
        err
        == "error: graphprox transform has no option --kind, as the model knows the kinds of columns: leave it out\n"
    )


# -- columns of info ------------------------------------------------------------------------------------------------


def test_info_says_what_columns_are_taken_for(run, users):
    labels = ["--labels", "users.csv", "--label", "zip code"]
    code, out, err = run("info", *users, *labels, "--kind", "about me=ignored")
    assert (code, err) == (0, "")
    shown = [line.strip().split(maxsplit=2) for line in out.partition("taken for")[2].splitlines()[1:]]
    assert shown[:4] == [
        ["source", "edges", "source"],
        ["target", "edges", "target"],
        ["user_id", "features", "id"],
        ["age", "features", "number"],
    ]
    assert [" ".join(" ".join(words).split()) for words in shown[4:]] == [
        "about me features ignored, as given",
        "zip code labels label of 3 classes",
    ]
    _, out, _ = run("info", *users, *labels, "--kind", "about me=ignored", "--json")
    columns = {each["column"]: each for each in json.loads(out)["columns"]}
    assert columns["age"] == {
        "table": "features",
        "column": "age",
        "role": "feature",
        "kind": "number",
        "features": 1,
        "missing": 0,
        "values": None,
        "rare": None,
        "reason": "",
    }
    assert columns["zip code"]["values"] == 3


def test_info_of_many_columns_lists_some_and_counts_the_others(run, tmp_path):
    names = ["id", *(f"f{i}" for i in range(59)), "x" * 90]
    rows = [names, *([str(node), *(str(node * i % 7) for i in range(60))] for node in range(3))]
    (tmp_path / "x.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    (tmp_path / "e.csv").write_text("source,target\n0,1\n1,2\n")
    command = ["info", tmp_path / "e.csv", "--features", tmp_path / "x.csv"]
    _, out, _ = run(*command)
    assert "and 23 more" in out
    assert "23 numbers; --json lists all" in out
    assert max(map(len, out.splitlines())) <= 100
    assert len(json.loads(run(*command, "--json")[1])["columns"]) == 63


@pytest.mark.parametrize(
    ("description", "words"),
    [
        ({"kind": "number", "features": 1, "missing": 0}, "number"),
        ({"kind": "number", "features": 2, "missing": 1234}, "number, 1,234 missing"),
        ({"kind": "number", "features": 128, "missing": 0}, "128 numbers"),
        ({"kind": "category", "features": 50, "missing": 0, "values": 812, "rare": 763},
         "category of 812 values, 763 rare ones together"),
        ({"kind": "category", "features": 2, "missing": 1, "values": 1, "rare": 0}, "category of 1 value, 1 missing"),
        ({"kind": "boolean", "features": 2, "missing": 5}, "yes or no, 5 missing"),
        ({"kind": "date", "features": 5, "missing": 0}, "date"),
        ({"role": "ignored", "reason": "no values"}, "ignored, no values"),
        ({"role": "label", "values": 1, "missing": 2}, "label of 1 class, 2 missing"),
        ({"role": "weight"}, "weight"),
    ],
)  # fmt: skip
def test_a_column_is_described_in_words(description, words):
    assert describe_column(ColumnDescription("features", "c", **{"role": "feature", **description})) == words
