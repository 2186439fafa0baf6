"""The rule of the default method, chosen without the graph it is applied to."""

from __future__ import annotations

import json

import pytest

from graphprox import synthetic
from graphprox.auto.selection import MAX_RATIO, MIN_RATIO, select_outputs
from reproduction.left_out import (
    CHOICES,
    FLOORS,
    Observation,
    apply_rule,
    fit_rule,
    observe_graph,
    read_observations,
    write_page,
)


def observation(name, ratio, *, graph, features, both=0.5, chosen="both"):
    accuracy = {"graph": graph, "features": features, "both": both, "raw": 0.4, "smoothed": 0.3, "diffused": 0.45}
    return Observation(name, 100, ratio, chosen, accuracy)


OBSERVATIONS = [
    observation("a", 1.2, graph=0.9, features=0.1),
    observation("b", 1.1, graph=0.9, features=0.1),
    observation("c", 0.6, graph=0.1, features=0.9),
    observation("d", 0.7, graph=0.1, features=0.9),
    observation("e", None, graph=0.1, features=0.1, both=0.9),
]


@pytest.mark.parametrize("ratio", [0.5, 0.89, 0.9, 0.95, 0.97, 1.5])
def test_rule_is_that_of_the_package(ratio):
    scores = {"own": 0.1, "graph": 0.1 * ratio, "own and view": 0.1, "own and graph": 0.0}
    selection = select_outputs(scores)
    assert apply_rule(selection.ratio, (MIN_RATIO, MAX_RATIO)) == selection.choice
    assert apply_rule(None, (MIN_RATIO, MAX_RATIO)) == select_outputs({}).choice


def test_fitted_limits_separate_the_graphs():
    low, high = fit_rule(OBSERVATIONS)
    assert 0.7 < low <= high <= 1.1
    assert [apply_rule(each.ratio, (low, high)) for each in OBSERVATIONS] == [
        "graph",
        "graph",
        "features",
        "features",
        "both",
    ]


def test_page_applies_limits_that_were_fitted_without_the_graph(tmp_path):
    outlier = observation("f", 1.15, graph=0.2, features=0.8)  # its own limits would choose features
    page = write_page(tmp_path / "left_out.md", [*OBSERVATIONS, outlier]).read_text()
    row = next(line for line in page.splitlines() if line.startswith("| f |"))
    assert [cell.strip() for cell in row.split("|")][4:9] == ["graph", "20.0", "80.0", "45.0", "-25.0"]


def test_observation_is_written_and_read_again(tmp_path):
    observed = observe_graph("synthetic", synthetic(nodes=210))
    assert set(observed.accuracy) == {*CHOICES, *FLOORS}
    assert observed.regret(max(CHOICES, key=observed.accuracy.__getitem__)) == 0
    path = tmp_path / "left-out.jsonl"
    path.write_text(json.dumps(vars(observed)) + "\n")
    assert read_observations(path) == [observed]
    assert read_observations(tmp_path / "none.jsonl") == []
