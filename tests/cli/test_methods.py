"""graphprox methods, compare, and embed by any method.

Covers graphprox.cli.compare.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

from graphprox.errors import ParameterError
from graphprox.methods import METHODS

# -- methods --------------------------------------------------------------------------------------------------------


def test_methods_are_listed_by_group_with_floors_first(run):
    code, out, _ = run("methods", "--json")
    listed = json.loads(out)
    assert code == 0
    assert sorted(each["name"] for each in listed) == sorted(METHODS)
    assert [each["name"] for each in listed[:4]] == ["diffused", "raw", "smoothed", "untrained"]
    groups = [each["group"] for each in listed]
    assert groups == sorted(groups, key=groups.index)
    assert listed[0].keys() == {"name", "class", "title", "group", "uses", "paper", "summary", "presets"}
    code, out, _ = run("methods")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines() if line[0] != " "] == [
        "name",
        *(row["name"] for row in listed),
    ]


def test_papers_are_listed_if_the_terminal_is_wide(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert "Deep Graph Infomax" in run("methods")[1]


@pytest.mark.parametrize("name", ["dgi", "DGI"])
def test_settings_of_a_method_are_printed_with_defaults_and_values(run, name):
    code, out, _ = run("methods", name)
    lines = [line.split("  ") for line in out.splitlines()]
    rows = {cells[0]: [cell.strip() for cell in cells[1:] if cell.strip()] for cells in lines}
    assert code == 0
    assert rows["--dim"] == ["n_components", "512", "a positive integer"]
    assert rows["--set learning_rate"] == ["learning_rate", "0.001", "a finite number above 0"]
    assert "DGI (graphprox.DGI): " in out
    assert "Deep Graph Infomax" in out
    assert "verbose" not in out


@pytest.mark.parametrize("name", list(METHODS))
def test_limits_that_are_printed_are_those_that_are_enforced(name):
    for setting, declared in METHODS[name].parameters().items():
        low, high, above = (declared.metadata[limit] for limit in ("min", "max", "above"))
        if isinstance(declared.default, float):
            for value in (low, high, None if above is None else above + 1e-9):
                if value is not None:
                    METHODS[name](**{setting: value}).check_parameters()
            if above is not None:
                with pytest.raises(ParameterError, match=f"{setting} must be a finite number above {above}; got"):
                    METHODS[name](**{setting: above}).check_parameters()


def test_exclusive_limits_are_printed(run):
    settings = {each["name"]: each["values"] for each in json.loads(run("methods", "ft-gcl", "--json")[1])["settings"]}
    assert settings["temperature"] == settings["learning_rate"] == "a finite number above 0"


def test_presets_are_printed_where_they_differ_from_the_defaults(run):
    _, out, _ = run("methods", "mvgrl")
    assert "CiteSeer: threshold=0.01 scale_diffusion=true\n" in out


def test_fields_of_the_recipe_are_settings_of_the_family(run):
    code, out, _ = run("methods", "grace", "--json")
    described = json.loads(out)
    settings = {each["name"]: each for each in described["settings"]}
    assert code == 0
    assert settings["encoder"]["default"] == "gcn"
    assert "sage" in settings["encoder"]["values"]
    assert settings["objective.name"]["values"] == "one of channel, node"
    assert settings["augmentations.second.drop_edges"]["default"] == 0.4
    assert settings["augmentations.second.drop_edges"]["values"] == "a number in [0, 1)"
    assert described["presets"]["default"] == {}
    assert described["presets"]["Cora"] == {"n_components": 128, "hidden_channels": 256, "head_channels": 128}
    assert not {"checkpoint_dir", "device", "random_state", "overrides"} & set(settings)


def test_one_table_has_the_spellings_of_the_command_line_and_of_python(run):
    settings = json.loads(run("methods", "ft-gcl", "--json")[1])["settings"]
    spellings = {each["name"]: (each["option"], each["python"]) for each in settings}
    assert spellings["n_components"] == ("--dim", "n_components")
    assert spellings["epochs"] == ("--epochs", "epochs")
    assert spellings["temperature"] == ("--set temperature", "temperature")
    assert spellings["encoder.residual"] == ("--set encoder.residual", "overrides")
    _, out, _ = run("methods", "ft-gcl")
    assert out.count("command line") == 1
    assert 'overrides in Python: graphprox.FTGCL(overrides={"NAME": VALUE})' in out
    for each in settings:
        METHODS["ft-gcl"](
            **(
                {"overrides": {each["name"]: each["default"]}}
                if each["python"] == "overrides"
                else {each["python"]: each["default"]}
            )
        ).check_parameters()


@pytest.mark.parametrize("name", list(METHODS))
def test_every_setting_is_accepted_with_its_default(name, run):
    described = json.loads(run("methods", name, "--json")[1])
    given = {each["name"]: each["default"] for each in described["settings"] if each["default"] is not None}
    made = METHODS[name].from_preset(**given)
    assert made.settings() == METHODS[name](preset="default").settings()
    assert all(each["values"] for each in described["settings"])


def test_unknown_method_is_reported_with_a_suggestion(run):
    code, out, err = run("methods", "dgj")
    assert (code, out) == (2, "")
    assert err == "error: method must be a known name; got 'dgj': did you mean 'dgi'?\n"


# -- compare --------------------------------------------------------------------------------------------------------


def test_methods_are_compared_on_a_graph_from_files(run, tmp_path, no_data):
    edges, features, labels = (tmp_path / name for name in ("edges.csv", "features.csv", "labels.csv"))
    rng = np.random.default_rng(0)
    classes = np.arange(40) % 2
    pairs = [(a, b) for a in range(40) for b in range(a) if rng.random() < (0.3 if classes[a] == classes[b] else 0.05)]
    edges.write_text("source,target\n" + "".join(f"{a},{b}\n" for a, b in pairs))
    features.write_text("id,x,y\n" + "".join(f"{node},{classes[node] + rng.normal():.3f},1\n" for node in range(40)))
    labels.write_text("id,class\n" + "".join(f"{node},{'ab'[classes[node]]}\n" for node in range(40)))
    command = ("compare", edges, "--features", features, "--out", tmp_path / "out", "--methods", "raw, smoothed")
    options = ("--labels", labels, "--splits", 2, "--first-split", 2, "--seed", 1)
    code, out, err = run(*command, *options, "--json")
    assert code == 0, err
    summary = json.loads(out)
    assert summary["seed"] == 1
    assert [each["method"] for each in summary["methods"]] == ["raw", "smoothed"]
    assert all(0 < each["accuracy"] <= 1 and 0 < each["roc_auc"] <= 1 for each in summary["methods"])
    assert all(len(each["accuracies"]) == 2 for each in summary["methods"])
    assert summary["advice"][0].startswith("Take ")
    _, out, _ = run(*command, *options)
    assert out.splitlines()[0].split() == ["method", "accuracy", "macro-F1", "ROC-AUC", "seconds", "memory"]
    assert summary["advice"][0][:20] in out
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"compare.png", "compare.svg"}
    code, out, _ = run(*command)
    assert code == 0
    assert out.splitlines()[0].split() == ["method", "link", "AUC", "neighborhood", "seconds", "memory"]
    assert "accuracy" not in out
    assert "Smoothed features" in out
    assert "held-out edges)" in out
    _, out, _ = run(*command, "--json")
    summary = json.loads(out)
    assert all(0 < each["link_auc"] < 1 and 0 < each["neighborhood"] < 1 for each in summary["methods"])
    assert "its link AUC of" in summary["advice"][0]
    assert "samples" not in summary["methods"][0]
    _, out, _ = run(*command, "--no-links")
    assert out.splitlines()[0].split() == ["method", "seconds", "memory"]


def test_accuracy_is_printed_in_percent_by_any_protocol(run, tmp_path, no_data, two_penalties):
    options = ["--methods", "raw", "--protocol", "grace", "--splits", 2, "--out", tmp_path]
    code, out, _ = run("compare", "synthetic:nodes=140", *options)
    assert code == 0
    assert out.splitlines()[0].split() == ["method", "accuracy", "macro-F1", "seconds", "memory"]
    assert "±" in out.splitlines()[1]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--methods", "raw,dgj"], "did you mean 'dgi'"),
        (["--protocol", "rndom"], "protocol must be one of random, public, grace, dgi; got 'rndom'"),
        (["--methods", "raw", "--protocol", "public"], "public splits need a data set that has some"),
    ],
)
def test_invalid_comparison_is_reported(run, tmp_path, no_data, options, sentence):
    code, _, err = run("compare", "synthetic:nodes=140", "--out", tmp_path / "out", *options)
    assert code == 2
    assert sentence in err


def test_an_interruption_does_not_lose_the_methods_that_are_done(run, tmp_path, no_data, monkeypatch):
    from graphprox.methods import METHODS

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(METHODS["smoothed"], "_fit", stop)
    code, out, err = run(
        *("compare", "synthetic:nodes=140", "--out", tmp_path / "out", "--methods", "raw,smoothed", "--splits", 1)
    )
    assert code == 130
    assert [line.split("  ")[0] for line in out.splitlines()] == ["method", "Raw features"]
    assert "Take" not in out
    assert err.startswith("error: ")


@pytest.mark.parametrize("options", [["--protocol", "random"], ["--splits", "3"]])
def test_options_of_accuracy_are_refused_without_labels(run, tmp_path, options):
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(f"{a},{a + 1}\n" for a in range(40)))
    code, out, err = run("compare", tmp_path / "edges.csv", "--methods", "raw", "--out", tmp_path / "out", *options)
    assert (code, out) == (2, "")
    assert f"{options[0]} needs a graph with labels" in err


def test_repeated_methods_are_collected(run, tmp_path, no_data):
    options = ("--methods", "raw", "--methods", "smoothed,raw", "--splits", 1, "--out", tmp_path, "--json")
    _, out, _ = run("compare", "synthetic:nodes=140", *options)
    assert [each["method"] for each in json.loads(out)["methods"]] == ["raw", "smoothed"]


# -- embed by methods outside of the family -------------------------------------------------------------------------


def test_other_methods_embed_with_the_same_options(run, tmp_path, no_data):
    out = tmp_path / "emb.npy"
    command = ("embed", "synthetic:nodes=140", "--out", out, "--method", "dgi", "--epochs", 2, "--dim", 4)
    code, printed, _ = run(*command, "--json")
    assert code == 0
    assert (json.loads(printed)["method"], np.load(out).shape) == ("dgi", (140, 4))
    first = np.load(out)
    same = ("--set", "epochs=2", "--set", "n_components=4", "--seed", 0, "--preset", "default")
    assert run("embed", "synthetic:nodes=140", "--out", out, "--method", "DGI", *same)[0] == 0
    assert np.array_equal(np.load(out), first)
    assert run(*command, "--seed", 1)[0] == 0
    assert not np.array_equal(np.load(out), first)
    code, printed, _ = run("embed", "synthetic:nodes=140", "--out", out, "--method", "raw")
    assert code == 0
    assert "140 nodes, 32 components, by raw," in printed


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--method", "raw", "--dim", "5"], "--dim needs a method that has the setting n_components, such as"),
        (["--method", "smoothed", "--epochs", "5"], "--epochs needs a method that has the setting epochs"),
        (
            ["--method", "dgi", "--set", "n_componets=4"],
            "DGI has no parameter 'n_componets'; did you mean 'n_components'?",
        ),
        (["--method", "dgi", "--set", "patience=0"], "patience must be a positive integer; got 0"),
        (["--method", "dgi", "--epochs", "-1"], "epochs must be a non-negative integer; got -1"),
        (["--method", "gcn"], "GCN classifies nodes by labels: see graphprox compare"),
    ],
)
def test_invalid_settings_are_reported_and_nothing_is_written(run, tmp_path, no_data, options, sentence):
    code, out, err = run("embed", "synthetic", "--out", tmp_path / "emb.npy", *options)
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1
    assert not (tmp_path / "emb.npy").exists()


@pytest.mark.parametrize(
    ("method", "old", "new"),
    [
        ("dgi", "width", "n_components"),
        ("gcn", "width", "hidden_channels"),
        ("gae", "hidden", "hidden_channels"),
        ("smoothed", "steps", "hops"),
        ("dgi", "steps", "epochs"),
        ("line", "rounds", "epochs"),
        ("deepwalk", "walks", "num_walks"),
        ("verse", "alpha", "damping"),
        ("mvgrl", "teleport", "alpha"),
        ("cca-ssg", "edge_drop", "drop_edge_rate"),
        ("bgrl", "edge_drop", "drop_edge_rate_1"),
        ("jk-net", "kind", "conv"),
        ("gmi-mean", "neighbours", "neighbor_weighting"),
    ],
)
def test_old_name_of_a_setting_is_rejected_with_the_new_one(run, tmp_path, method, old, new):
    command = ["tune", "synthetic", "--method", method, "--over", f"{old}=1"]
    code, out, err = run(*command)
    assert (code, out) == (2, "")
    title = METHODS[method].info.title
    assert err == f"error: {title} has no parameter {old!r}; it was renamed to {new!r} in version 0.2\n"
