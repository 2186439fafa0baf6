"""The explanation of a choice has three lines, and names every number that decided it."""

from __future__ import annotations

import re

import numpy as np
import pytest

from graphprox import WriteError
from graphprox.auto.explanation import explain, plot_selection
from graphprox.auto.selection import CHOICES, Selection, select_outputs

SCORES = {"own": 0.125, "graph": 0.25, "own and view": -0.031, "own and graph": 0.3}
SELECTIONS = {
    "graph": Selection("graph", SCORES, 2.0),
    "features": Selection("features", SCORES, 0.5),
    "both": Selection("both", SCORES, 0.95),
    "infinite": Selection("graph", SCORES, np.inf),
    "thin": select_outputs(dict.fromkeys(SCORES, 0.001)),
    "given": Selection("features", {}),
    "positions": Selection("positions", {}),
}


@pytest.mark.parametrize("selection", SELECTIONS.values(), ids=SELECTIONS)
def test_explanation_has_three_lines(selection):
    lines = explain(selection, (1234, 56), 7.89, 3 * 2**20).splitlines()
    assert [line.partition(":")[0] for line in lines] == ["found", "kept", "cost"]
    assert lines[2] == "cost:  7.9 s, 3 MB, for 1,234 × 56 numbers"


def test_memory_is_left_out_if_it_is_not_known():
    assert explain(SELECTIONS["graph"], (2, 3), 0.0).endswith("cost:  0.0 s, for 2 × 3 numbers")


@pytest.mark.parametrize("name", ["graph", "features", "both", "infinite", "thin"])
def test_found_lists_the_score_of_every_candidate_in_percent(name):
    selection = SELECTIONS[name]
    found = explain(selection, (2, 3), 1.0).splitlines()[0]
    for candidate, score in selection.scores.items():
        assert f"{candidate} {100 * score:.1f} %" in found


def test_each_choice_is_described_differently():
    for line in (0, 1):
        texts = [explain(Selection(choice, SCORES, 1.0), (2, 3), 1.0).splitlines()[line] for choice in CHOICES]
        assert len(set(texts)) == len(CHOICES)


def test_what_is_found_is_a_sentence_about_edges():
    for choice in ("graph", "features", "both"):
        found = explain(SELECTIONS[choice], (2, 3), 1.0).splitlines()[0]
        assert re.match(r"found: edges carry [\w ]+ about features: ", found), found


def test_choice_without_evidence_says_so():
    assert "nothing was compared" in explain(SELECTIONS["given"], (2, 3), 1.0)
    assert "cannot judge" in explain(SELECTIONS["thin"], (2, 3), 1.0)
    assert "no features" in explain(SELECTIONS["positions"], (2, 3), 1.0)


@pytest.mark.parametrize("name", SELECTIONS)
def test_figure_of_any_selection_is_written_reproducibly(name, tmp_path):
    one, other = (plot_selection(tmp_path / f"{each}.svg", SELECTIONS[name]) for each in ("one", "other"))
    assert one == tmp_path / "one.svg"
    assert one.read_bytes() == other.read_bytes()


def test_figure_is_png_or_svg(tmp_path):
    assert plot_selection(tmp_path / "found.png", SELECTIONS["graph"]).read_bytes().startswith(b"\x89PNG")
    with pytest.raises(WriteError):
        plot_selection(tmp_path / "found.docx", SELECTIONS["graph"])
