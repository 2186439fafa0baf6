"""graphprox tune."""

from __future__ import annotations

import json

import numpy as np
import pytest

from graphprox import synthetic


def test_best_settings_are_printed_last(run, no_data):
    command = ["tune", "synthetic:nodes=350", "--method", "smoothed", "--over", "hops=0,2", "--splits", 2]
    code, out, _ = run(*command)
    *rows, best = out.splitlines()
    assert code == 0
    assert [row.split("  ")[-1] for row in rows] == ["--set hops=0", "--set hops=2"]
    accuracies = [float(row.split()[0]) for row in rows]
    assert best == f"best: --set hops={2 * int(np.argmax(accuracies))}"
    code, out, _ = run(*command, "--json")
    trials = [json.loads(line) for line in out.splitlines()]
    assert [round(100 * each["accuracy"], 2) for each in trials] == accuracies
    assert [each["settings"] for each in trials] == [{"hops": 0}, {"hops": 2}]


def test_settings_are_selected_on_a_graph_from_files(run, no_data, tmp_path):
    graph = synthetic(nodes=140)
    edges, features, classes = (tmp_path / name for name in ("edges.csv", "x.npy", "y.csv"))
    np.savetxt(edges, graph.edge_index.T, fmt="%d", delimiter=",", header="source,target", comments="")
    np.save(features, graph.x)
    classes.write_text("id,label\n" + "".join(f"{node},{label}\n" for node, label in enumerate(graph.y)))
    command = ["tune", edges, "--features", features, "--labels", classes, "--method", "smoothed", "--over", "hops=0,2"]
    code, out, err = run(*command, "--splits", 1)
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] in ("best: --set hops=0", "best: --set hops=2")
    code, _, err = run("tune", edges, "--features", features, "--method", "smoothed", "--over", "hops=0")
    assert code == 2
    assert "must have labels" in err


@pytest.mark.parametrize(
    ("over", "sentence"),
    [
        ("hops", "--over must be NAME=VALUE,VALUE..., such as n_components=16,64; got 'hops'"),
        ("hops=1,,2", "--over must be NAME=VALUE,VALUE..., such as n_components=16,64; got 'hops=1,,2'"),
        ("hop=1", "Smoothed features has no parameter 'hop'; did you mean 'hops'?"),
        ("steps=1", "Smoothed features has no parameter 'steps'; it was renamed to 'hops' in version 0.2"),
        ("random_state=1,2", "a setting must not be 'random_state'; use --seed instead"),
        ("hops=-1", "hops must be a non-negative integer; got -1"),
    ],
)
def test_error_is_one_sentence(run, no_data, over, sentence):
    code, _, err = run("tune", "synthetic", "--method", "smoothed", "--over", over)
    assert code == 2
    assert sentence in err


def test_all_combinations_are_tried_with_the_other_settings_fixed(run, no_data):
    command = ["tune", "synthetic:nodes=140", "--method", "gcn", "--set", "epochs=2", "--splits", 1]
    grid = ["--over", "hidden_channels=4,8", "--over", "dropout=0.1,0.2"]
    shares = ["--train", 0.2, "--val", 0.2, "--first-split", 7, "--seed", 1, "--preset", "default"]
    code, out, _ = run(*command, *grid, *shares, "--json")
    assert code == 0
    assert [json.loads(line)["settings"] for line in out.splitlines()] == [
        {"hidden_channels": channels, "dropout": dropout} for channels in (4, 8) for dropout in (0.1, 0.2)
    ]
