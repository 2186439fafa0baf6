"""graphprox tune, as users call it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from graphprox import synthetic


def test_the_command_tells_the_best(run, no_data):
    said = ["tune", "synthetic:nodes=350", "--method", "smoothed", "--over", "steps=0,2", "--splits", 2]
    code, printed, _ = run(*said)
    *rows, best = printed.splitlines()
    assert code == 0
    assert [row.split("  ")[-1] for row in rows] == ["--set steps=0", "--set steps=2"]
    accuracies = [float(row.split()[0]) for row in rows]
    assert best == f"best: --set steps={2 * int(np.argmax(accuracies))}"
    code, printed, _ = run(*said, "--json")
    trials = [json.loads(line) for line in printed.splitlines()]
    assert [round(100 * each["accuracy"], 2) for each in trials] == accuracies
    assert [each["settings"] for each in trials] == [{"steps": 0}, {"steps": 2}]


def test_ones_own_graph_is_tuned_on(run, no_data, tmp_path):
    graph = synthetic(nodes=140)
    edges, features, classes = (tmp_path / name for name in ("edges.csv", "x.npy", "y.csv"))
    np.savetxt(edges, graph.edge_index.T, fmt="%d", delimiter=",", header="source,target", comments="")
    np.save(features, graph.x)
    classes.write_text("id,label\n" + "".join(f"{node},{label}\n" for node, label in enumerate(graph.y)))
    said = ["tune", edges, "--features", features, "--labels", classes, "--method", "smoothed", "--over", "steps=0,2"]
    code, printed, complained = run(*said, "--splits", 1)
    assert (code, complained) == (0, "")
    assert printed.splitlines()[-1] in ("best: --set steps=0", "best: --set steps=2")
    code, _, complained = run("tune", edges, "--features", features, "--method", "smoothed", "--over", "steps=0")
    assert code == 2
    assert "must have labels" in complained


@pytest.mark.parametrize(
    ("over", "sentence"),
    [
        ("steps", "--over must be NAME=VALUE,VALUE..., such as width=16,64; got 'steps'"),
        ("steps=1,,2", "--over must be NAME=VALUE,VALUE..., such as width=16,64; got 'steps=1,,2'"),
        ("step=1", "has no setting 'step'"),
        ("steps=-1", "steps must be"),
    ],
)
def test_a_mistake_is_one_sentence(run, no_data, over, sentence):
    code, _, complained = run("tune", "synthetic", "--method", "smoothed", "--over", over)
    assert code == 2
    assert sentence in complained
