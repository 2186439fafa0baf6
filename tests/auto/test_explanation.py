"""The explanation of a choice has three lines, and names every number that decided it."""

from __future__ import annotations

import re

import numpy as np
import pytest

from graphprox import WriteError
from graphprox.auto import explanation
from graphprox.auto.criteria import Evidence
from graphprox.auto.selection import RATIOS, Selection, select_outputs

SCORES = {"own": 0.125, "graph": 0.25, "own and view": -0.031, "own and graph": 0.3}
SELECTIONS = {
    "graph": Selection("graph", SCORES, 2.0),
    "balanced": Selection("balanced", SCORES, 1.02),
    "features": Selection("features", SCORES, 0.5),
    "both": Selection("both", SCORES, 0.95),
    "infinite": Selection("graph", SCORES, np.inf),
    "thin": Selection("both", SCORES),
    "given": Selection("features", {}, given=True),
    "small": Selection("both", {}, meaning="the graph is small"),
    "edges": Selection("edges", {}),
}


def explain(selection, *rest):
    return explanation.explain(selection, selection.weights, *rest)


def plot_selection(path, selection):
    return explanation.plot_selection(path, selection, selection.weights)


@pytest.mark.parametrize("selection", SELECTIONS.values(), ids=SELECTIONS)
def test_explanation_has_three_lines(selection):
    lines = explain(selection, (1234, 56), 7.89, 3 * 10**6).splitlines()
    assert [line.partition(":")[0] for line in lines] == ["found", "kept", "cost"]
    assert lines[2] == "cost:  7.9 s, at most 3 MB in this process, for 1,234 × 56 numbers"


def test_memory_is_left_out_if_it_is_not_known():
    assert explain(SELECTIONS["graph"], (2, 3), 0.0).endswith("cost:  0.0 s, for 2 × 3 numbers")


@pytest.mark.parametrize("name", ["graph", "balanced", "features", "both", "infinite", "thin"])
def test_found_lists_the_score_of_every_candidate_in_percent(name):
    selection = SELECTIONS[name]
    found = explain(selection, (2, 3), 1.0).splitlines()[0]
    for candidate, score in selection.scores.items():
        assert f"{candidate} {100 * score:.1f} %" in found


def test_each_choice_is_described_differently():
    for line in (0, 1):
        texts = [explain(Selection(choice, SCORES, 1.0), (2, 3), 1.0).splitlines()[line] for choice in RATIOS]
        assert len(set(texts)) == len(RATIOS)


@pytest.mark.parametrize("name", SELECTIONS)
def test_kept_lists_every_output_with_its_weight(name):
    selection = SELECTIONS[name]
    kept = explain(selection, (2, 3), 1.0).splitlines()[1]
    listed = re.findall(r"([a-z-]+) (\d\.\d)", kept)
    assert [float(weight) for _, weight in listed] == sorted((float(weight) for _, weight in listed), reverse=True)
    expected = {each: f"{weight:.1f}" for each, weight in selection.weights.items()}
    assert dict(listed) == {each: weight for each, weight in expected.items() if weight != "0.0"}


def test_what_is_found_is_a_sentence_about_edges():
    for choice in RATIOS:
        found = explain(SELECTIONS[choice], (2, 3), 1.0).splitlines()[0]
        assert re.match(r"found: edges are [\w ]+ informative [\w ]+ features: ", found), found


def test_meaning_of_the_scores_and_similar_nodes_are_named():
    selection = Selection("graph", {"neighbors": 0.2}, 1.25, meaning="as similar")
    text = explanation.explain(selection, selection.weights, (2, 3), 1.0, similar=0.5)
    assert "edges are more informative than features: neighbors 20.0 % as similar" in text
    assert "averaged over similar nodes" in text
    assert "averaged over similar nodes" not in explain(SELECTIONS["features"], (2, 3), 1.0)


def test_choice_without_evidence_says_so():
    assert "nothing was compared, as the choice was given" in explain(SELECTIONS["given"], (2, 3), 1.0)
    assert "nothing was compared, as the graph is small" in explain(SELECTIONS["small"], (2, 3), 1.0)
    assert "cannot judge" in explain(SELECTIONS["thin"], (2, 3), 1.0)
    assert "no features" in explain(SELECTIONS["edges"], (2, 3), 1.0)


@pytest.mark.parametrize("name", SELECTIONS)
def test_figure_of_any_selection_is_written_reproducibly(name, tmp_path):
    one, other = (plot_selection(tmp_path / f"{each}.svg", SELECTIONS[name]) for each in ("one", "other"))
    assert one == tmp_path / "one.svg"
    assert one.read_bytes() == other.read_bytes()


def test_figure_is_png_or_svg(tmp_path):
    assert plot_selection(tmp_path / "found.png", SELECTIONS["graph"]).read_bytes().startswith(b"\x89PNG")
    with pytest.raises(WriteError):
        plot_selection(tmp_path / "found.docx", SELECTIONS["graph"])


def test_number_of_neighbors_is_named_where_edges_are_left_out():
    selection = Selection("features", {}, 0.5)
    with_column, without = (
        explanation.explain(selection, selection.weights, (2, 3), 1.0, popularity=size) for size in (0.6, 0.0)
    )
    assert "edges are left out but for the number of neighbors (" in with_column
    assert "edges are left out (" in without


@pytest.mark.parametrize(("ratio", "left_out"), [(0.5, True), (0.88, True), (0.89, False), (0.91, False)])
def test_edges_are_said_to_be_left_out_only_if_they_are(ratio, left_out):
    selection = select_outputs(Evidence(ratio))
    assert selection.choice == "features"
    assert ("edges are left out" in explain(selection, (2, 3), 1.0)) == left_out
    assert ("graph" in selection.weights) != left_out
