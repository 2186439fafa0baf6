"""Figures show the numbers they are given."""

from __future__ import annotations

import builtins

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from graphprox import WriteError
from reproduction.report import figures
from reproduction.report.cells import percent_columns, training_curves


@pytest.fixture
def kind(of_each_kind, records):
    """The findings of an experiment of a kind."""

    def kind(name, **changes):
        experiment = next(each for each in of_each_kind if each.name == name)
        return records.keep(experiment.model_copy(update=changes))

    return kind


def test_bars_are_as_high_as_their_means(kind, paper):
    findings = kind("bars")
    columns = percent_columns(findings, paper)
    (axes,) = figures.draw_bars(findings, columns).axes
    heights = sorted(patch.get_height() for patch in axes.patches if isinstance(patch, Rectangle))
    assert heights == pytest.approx(sorted(cell.mean for cells in columns.values() for cell in cells))
    assert [label.get_text() for label in axes.get_xticklabels()] == ["Cora", "CiteSeer"]
    begin, end = axes.get_ylim()
    assert begin < heights[0] < heights[-1] < end
    assert axes.get_ylabel() == f"accuracy, % (from {begin:.0f})"  # the label states where the axis begins if not at 0


def test_each_loss_has_its_own_scale(kind):
    shown = training_curves(kind("curves"))
    figure = figures.draw_curves(shown)
    assert len(figure.axes) == 2 * (1 + 2)
    top = figure.axes[0]
    assert top.get_title() == "Cora"
    for line, row in zip(top.lines, ("grace", "ft-grace"), strict=True):
        curve = shown["Cora", row]
        assert line.get_xdata().tolist() == list(curve.marks)
        assert line.get_ydata() == pytest.approx([curve.accuracy_at(mark)[0] for mark in curve.marks])
    (loss,) = figure.axes[2].lines
    assert loss.get_ydata() == pytest.approx(shown["Cora", "grace"].loss.mean(axis=0))
    assert figure.axes[2].get_ylim() != figure.axes[4].get_ylim()


def test_heatmap_prints_its_values_and_frames_the_best(kind, paper):
    findings = kind("heatmap")
    columns = percent_columns(findings, paper)
    figure = figures.draw_heatmaps(findings, columns)
    for axes, dataset in zip(figure.axes, ("Cora", "CiteSeer"), strict=True):
        cells = columns[dataset, "accuracy"]
        assert [text.get_text() for text in axes.texts] == [f"{cell.mean:.1f}" for cell in cells]
        assert len(axes.patches) == sum(cell.rank == 1 for cell in cells)
        assert np.asarray(axes.images[0].get_array()).shape == (2, 3)


def test_heatmap_may_have_gaps(of_each_kind, records, paper):
    experiment = next(each for each in of_each_kind if each.name == "heatmap")
    gap = "encoder.n_components=8,head.out_channels=4"
    findings = records.keep(experiment, lambda trial: None if trial.row_name == gap else {"accuracy": [0.8] * 5})
    figure = figures.draw_heatmaps(findings, percent_columns(findings, paper))
    assert [len(axes.texts) for axes in figure.axes] == [5, 5]


def test_map_has_a_panel_for_each_row_and_a_point_for_each_node(kind):
    figure = figures.draw_maps(kind("map"))
    panels = [axes for axes in figure.axes if axes.collections]
    assert [axes.get_title() for axes in panels] == [
        "Raw features, Cora",
        "FT-GCL, Cora",
        "Raw features, CiteSeer",
        "FT-GCL, CiteSeer",
    ]
    assert all(sum(len(each.get_offsets()) for each in axes.collections) == 700 for axes in panels)
    assert len({tuple(each.get_facecolor()[0]) for each in panels[0].collections}) == 7


def test_barbell_is_plotted_next_to_its_topology_space(kind):
    left, right = figures.draw_barbell(kind("barbell")).axes
    assert "B(6, 2)" in left.get_title()
    assert sorted(text.get_text() for text in right.texts) == ["0–4, 9–13", "5, 8", "6–7"]


def test_colors_repeat_late():
    assert len({figures.color(number) for number in range(15)}) > 10


def test_row_without_records_leaves_a_gap(of_each_kind, records, paper):
    def some(trial):
        return None if (trial.dataset, trial.row_name) == ("Cora", "grace") else {"accuracy": [0.5, 0.6, 0.7, 0.6, 0.5]}

    experiment = next(each for each in of_each_kind if each.name == "bars")
    findings = records.keep(experiment, some)
    figure = figures.draw_bars(findings, percent_columns(findings, paper))
    assert len(figure.axes[0].patches) == 3
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["GRACE", "FT-GRACE"]


def test_missing_matplotlib_is_an_error(kind, monkeypatch):
    findings, imported = kind("barbell"), builtins.__import__

    def refuse(name, *arguments, **options):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return imported(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(WriteError, match=r"pip install 'graphprox\[plots\]'"):
        figures.draw_barbell(findings)
