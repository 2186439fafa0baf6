"""graphprox tune, as users call it."""

from __future__ import annotations

import json

import numpy as np
import pytest


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
