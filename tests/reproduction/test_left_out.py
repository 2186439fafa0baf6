"""The constants of the default method, chosen without the graph they are applied to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from graphprox import AutoEmbedder, synthetic
from graphprox.auto.outputs import OUTPUTS
from graphprox.auto.selection import RATIOS
from reproduction import left_out
from reproduction.left_out import (
    FLOORS,
    PACKAGE,
    SELECTABLE,
    VARIANTS,
    Observation,
    choose_variant,
    embed_variants,
    fingerprint,
    observe_graph,
    plot_weights,
    write_page,
)


def observation(name, ratio=1.0, **accuracy):
    """Return an observation in which variants have an accuracy of 50 % unless told otherwise."""
    figures = {**dict.fromkeys(VARIANTS, 0.5), "raw": 0.4, "smoothed": 0.3, "diffused": 0.45}
    figures |= {key.replace("_", " "): value for key, value in accuracy.items()}
    return Observation(name, 100, ratio, "both", figures, dict.fromkeys(figures, 0.9), "constants")


def test_variant_as_it_is_equals_the_package():
    graph = synthetic(nodes=210)
    fitted = AutoEmbedder(random_state=0).fit(graph)
    found = {name: vectors for names, vectors in embed_variants(graph, fitted.selection_) for name in names}
    assert set(found) == set(VARIANTS)
    np.testing.assert_allclose(found[PACKAGE], fitted.vectors_, atol=1e-5)
    assert not np.allclose(found["without own"], fitted.vectors_, atol=1e-2)


@pytest.mark.parametrize("choice", RATIOS)
def test_one_choice_for_all_graphs_is_what_keep_does(choice):
    graph = synthetic(nodes=140)
    fitted = AutoEmbedder(keep=choice, random_state=0).fit(graph)
    found = {name: vectors for names, vectors in embed_variants(graph, fitted.selection_) for name in names}
    np.testing.assert_allclose(found[f"always {choice}"], fitted.vectors_, atol=1e-5)


def test_variant_with_the_highest_mean_accuracy_is_chosen():
    assert choose_variant([observation("a")]) == PACKAGE  # of several, the first
    assert choose_variant([observation("a", without_own=0.8), observation("b")]) == "without own"
    assert choose_variant([observation("a", without_own=0.8), observation("b", without_own=0.1)]) == PACKAGE
    assert "always graph" not in SELECTABLE


def test_page_uses_the_variant_that_was_chosen_without_the_graph(tmp_path):
    observations = [
        observation("a", 1.2, always_graph=0.7),
        observation("b", 0.9, without_own=0.6),
        observation("c", 0.8, without_own=0.9),
    ]
    page = write_page(tmp_path / "left_out.md", observations).read_text()
    rows = {line.split(" | ")[0]: line.split(" | ") for line in page.splitlines() if line.startswith("| ")}
    assert rows["| c"][3:7] == ["without own", "90.0", "45.0", "+45.0"]  # b alone is enough
    lonely = write_page(tmp_path / "left_out.md", [observations[0], observations[2], observation("d", 0.7)]).read_text()
    row = next(line.split(" | ") for line in lonely.splitlines() if line.startswith("| c"))
    assert row[3:7] == [PACKAGE, "50.0", "45.0", "+5.0"]  # its own figures do not count
    assert "| without own | +16.67 | +0.00 | a +0.0 | c +40.0 |" in page


def test_all_variants_and_floors_are_observed(monkeypatch):
    monkeypatch.setattr(left_out, "MIN_EDGES", 100)
    observed = observe_graph("synthetic", synthetic(nodes=210))
    assert set(observed.accuracy) == set(observed.auc) == {*VARIANTS, *FLOORS}
    assert observed.constants == fingerprint()
    monkeypatch.setattr(left_out, "MAX_LINK_NODES", 200)
    monkeypatch.setattr(left_out, "edge_split", pytest.fail)
    assert observe_graph("synthetic", synthetic(nodes=210)).auc == {}


def test_graphs_are_measured_again_if_a_constant_has_changed(tmp_path, monkeypatch):
    monkeypatch.setattr(left_out, "CATALOG", ())
    measured = []
    monkeypatch.setattr(left_out, "observe_graph", lambda name, _: measured.append(name) or stored)
    stored = replace(observation("synthetic"), constants=fingerprint())
    path = tmp_path / "left-out.jsonl"
    for _ in range(2):
        assert list(left_out.observe_catalog(path, None)) == [stored]
    assert measured == ["synthetic"]
    monkeypatch.setattr(left_out, "fingerprint", lambda: "others")
    list(left_out.observe_catalog(path, None))
    assert measured == ["synthetic", "synthetic"]


def test_figure_has_a_line_for_each_output_and_the_name_of_each_graph_that_was_judged(tmp_path):
    judged, thin = observation("Judged", 0.97), observation("Thin", None)
    text = plot_weights(tmp_path / "weights.svg", [judged, thin]).read_text()
    assert "<!-- Judged -->" in text
    assert "<!-- Thin -->" not in text
    assert all(f"<!-- {name} -->" in text for name in OUTPUTS)
