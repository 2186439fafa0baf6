"""Drawings: the figures of the paper, from what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from graphprox.experiments.figures import new_figure
from graphprox.experiments.report.cells import CHAMPION, Cell, Column, figure
from graphprox.experiments.report.curves import Curve
from graphprox.experiments.report.figure_tables import by_settings
from graphprox.experiments.report.findings import Findings
from graphprox.experiments.report.numbers import metric_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colours that most people can tell apart, whatever colours they see.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#000000")
FRAME = PALETTE[1]
FAINT = 0.18
BARBELL = 6, 2  # nodes of each clique, nodes between them
LABELLED_GAP = 5  # percent: the axis of bars begins at a multiple of it
MOST_ABREAST = 3


def colour(number: int) -> str:
    """The colour of a row or a class by its number."""
    from matplotlib import colormaps

    return PALETTE[number] if number < len(PALETTE) else str(_hex(colormaps["tab20"](number % 20)))


def _hex(rgba: Any) -> str:
    from matplotlib.colors import to_hex

    return to_hex(rgba)


# -- bars -----------------------------------------------------------------------------------------------------------


def bars(findings: Findings, columns: Mapping[Column, Sequence[Cell]]) -> Figure:
    """Rows side by side for each data set, with the deviation; by the first metric."""
    metric = findings.experiment.metrics[0]
    shown = {dataset: cells for (dataset, of), cells in columns.items() if of == metric and findings.is_run(dataset)}
    rows = findings.experiment.all_rows
    drawn = new_figure(1.6 + 0.62 * len(rows) * len(shown), 3.6, layout="constrained")
    axes = drawn.subplots()
    width = 0.8 / len(rows)
    for number, row in enumerate(rows):
        for place, cells in enumerate(shown.values()):
            cell = next(cell for cell in cells if cell.row == row)
            if cell.measured:
                _bar(axes, place + (number - (len(rows) - 1) / 2) * width, cell, width, colour(number))
    begin, end = _range_of_bars([cell for cells in shown.values() for cell in cells if cell.measured])
    axes.set_ylim(begin, end)
    axes.set_xticks(range(len(shown)), list(shown))
    axes.tick_params(axis="x", length=0)
    axes.set_ylabel(f"{metric_name(metric)}, %" + (f" (from {begin:.0f})" if begin else ""))
    _bare(axes)
    _name_rows(drawn, [row.title for row in rows.values()])
    return drawn


def _range_of_bars(cells: Sequence[Cell]) -> tuple[float, float]:
    """Where the axis begins and ends: not at 0, or bars of similar height could not be told apart."""
    lowest = min(cell.mean - (cell.deviation or 0) for cell in cells)
    highest = max(cell.mean + (cell.deviation or 0) for cell in cells)
    begin = max(0.0, LABELLED_GAP * float(np.floor((lowest - 1) / LABELLED_GAP)))
    return begin, highest + 0.1 * (highest - begin)


def _bar(axes: Axes, at: float, cell: Cell, width: float, shade: str) -> None:
    spread = cell.deviation or 0.0
    error = {"ecolor": "#333333", "elinewidth": 1, "capsize": 3}
    axes.bar(at, cell.mean, 0.92 * width, yerr=spread, color=shade, error_kw=error)
    place = (at, cell.mean + spread)
    axes.annotate(f"{cell.mean:.1f}", place, (0, 3), textcoords="offset points", ha="center", fontsize=8)


# -- curves ---------------------------------------------------------------------------------------------------------


def curves(shown: Mapping[Column, Curve]) -> Figure:
    """For each data set the accuracy of all rows, and below it the loss of each on a scale of its own."""
    datasets = list(dict.fromkeys(dataset for dataset, _ in shown))
    rows = {row: curve.title for (_, row), curve in shown.items()}
    drawn = new_figure(0.6 + 4.2 * len(datasets), 2.9 + 1.1 * len(rows), layout="constrained")
    panels = drawn.subplots(
        1 + len(rows), len(datasets), sharex="col", squeeze=False, height_ratios=[2.4, *[1] * len(rows)]
    )
    for across, dataset in enumerate(datasets):
        top, *below = panels[:, across]
        for number, row in enumerate(rows):
            if (dataset, row) in shown:
                _accuracy_curve(top, shown[dataset, row], number)
                _loss_curve(below[number], shown[dataset, row], number)
            _bare(below[number])
        top.set_title(dataset)
        _bare(top)
        below[-1].set_xlabel("steps")
        below[-1].xaxis.get_major_locator().set_params(integer=True)
    panels[0, 0].set_ylabel("accuracy, %")
    for number, axes in enumerate(panels[1:, 0]):
        axes.set_ylabel("loss", color=colour(number))
    _name_rows(drawn, list(rows.values()))
    drawn.align_ylabels(list(panels[:, 0]))
    return drawn


def _accuracy_curve(axes: Axes, curve: Curve, number: int) -> None:
    at = np.array([curve.accuracy_at(mark) for mark in curve.marks])
    mean, deviation = at.T
    axes.fill_between(curve.marks, mean - deviation, mean + deviation, color=colour(number), alpha=FAINT, linewidth=0)
    axes.plot(curve.marks, mean, color=colour(number), marker="o", markersize=4)


def _loss_curve(axes: Axes, curve: Curve, number: int) -> None:
    mean, deviation = curve.loss.mean(axis=0), curve.loss.std(axis=0)
    steps = np.arange(1, len(mean) + 1)
    axes.fill_between(steps, mean - deviation, mean + deviation, color=colour(number), alpha=FAINT, linewidth=0)
    axes.plot(steps, mean, color=colour(number), linewidth=1)


# -- heatmap --------------------------------------------------------------------------------------------------------


def heatmap(findings: Findings, columns: Mapping[Column, Sequence[Cell]]) -> Figure:
    """A map for each data set: one setting down, the other across, the mean in each field, the best framed."""
    metric = findings.experiment.metrics[0]
    (down, downward), (across, rightward) = findings.experiment.grid.items()
    shown = {dataset: cells for (dataset, of), cells in columns.items() if of == metric and findings.is_run(dataset)}
    side = 0.75
    drawn = new_figure(len(shown) * (1.1 + side * len(rightward)), 1.1 + side * len(downward), layout="constrained")
    for axes, (dataset, cells) in zip(
        np.ravel(drawn.subplots(1, len(shown), squeeze=False)), shown.items(), strict=True
    ):
        at = by_settings(findings, cells)
        _fields(axes, [[at[one, other] for other in rightward] for one in downward])
        axes.set_xticks(range(len(rightward)), list(map(str, rightward)))
        axes.set_yticks(range(len(downward)), list(map(str, downward)))
        axes.set(title=dataset, xlabel=across, ylabel=down)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    drawn.suptitle(f"{metric_name(metric)}, %", fontsize=10)
    return drawn


def _fields(axes: Axes, cells: Sequence[Sequence[Cell]]) -> None:
    from matplotlib.patches import Rectangle

    means = np.array([[cell.mean if cell.measured else np.nan for cell in line] for line in cells])
    axes.imshow(means, cmap="viridis")
    middle = np.nanmin(means) + 0.6 * (np.nanmax(means) - np.nanmin(means))
    for y, line in enumerate(cells):
        for x, cell in enumerate(line):
            if not cell.measured:
                continue
            ink = "white" if cell.mean < middle else "black"
            axes.text(x, y, f"{cell.mean:.1f}", ha="center", va="center", color=ink)
            if cell.place == CHAMPION:
                frame = Rectangle((x - 0.46, y - 0.46), 0.92, 0.92, fill=False, edgecolor=FRAME, linewidth=2)
                axes.add_patch(frame)


# -- map ------------------------------------------------------------------------------------------------------------


def embedding_map(findings: Findings) -> Figure:
    """A panel for each row on each data set: a point for each node, a colour for each class; of the first training."""
    rows = findings.experiment.all_rows
    first = {place: records[0] for place, records in findings.records.items()}
    abreast = min(MOST_ABREAST, len(first))
    deep = -(-len(first) // abreast)
    # At the resolution of the PNG the points are pixels in the SVG too: thousands of circles would make it huge.
    drawn = new_figure(3.1 * abreast, 3.2 * deep + 0.5, layout="constrained", dpi=150)
    panels = np.ravel(drawn.subplots(deep, abreast, squeeze=False))
    several = len({dataset for dataset, _ in first}) > 1
    for axes, ((dataset, row), record) in zip(panels, first.items(), strict=False):
        points: Any = figure(record, "points")
        _cloud(axes, points)
        axes.set_title(f"{rows[row].title}, {dataset}" if several else rows[row].title, fontsize=11)
    for axes in panels[len(first) :]:
        axes.set_axis_off()
    handles, labels = panels[0].get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, markerscale=4, fontsize=9)
    return drawn


def _cloud(axes: Axes, points: Mapping[str, Sequence[Sequence[float]]]) -> None:
    for number, (name, of_class) in enumerate(points.items()):
        x, y = np.reshape(of_class, (-1, 2)).T
        axes.scatter(x, y, s=4, linewidths=0, color=colour(number), label=name, rasterized=True)
    axes.set(xticks=[], yticks=[])
    axes.set_aspect("equal", "datalim")
    axes.spines[:].set_color("#cccccc")


# -- barbell --------------------------------------------------------------------------------------------------------


def barbell(classes: Sequence[int], plane: Sequence[Sequence[float]]) -> Figure:
    """The barbell graph beside its topology space, both coloured by local structure: (nodes,), (nodes, 2)."""
    import networkx as nx

    drawn = new_figure(8, 3.6, layout="constrained")
    left, right = drawn.subplots(1, 2)
    graph = nx.barbell_graph(*BARBELL)
    structure, points = np.asarray(classes), np.asarray(plane, np.float64)
    colours = [colour(number) for number in np.unique(structure, return_inverse=True)[1]]
    place = nx.kamada_kawai_layout(graph)
    nx.draw_networkx(graph, place, ax=left, node_color=colours, font_color="white", edge_color="#888888")
    left.set_axis_off()
    left.set_title(f"the barbell graph B{BARBELL}")
    right.scatter(points[:, 0], points[:, 1], c=colours, s=120, alpha=0.5)
    for each in np.unique(structure):
        nodes = np.flatnonzero(structure == each)
        right.annotate(_ranges(nodes), tuple(points[nodes[0]]), (0, 9), textcoords="offset points", ha="center")
    right.set_title("topology space: equal structure coincides")
    right.margins(x=0.5, y=0.3)
    _bare(right)
    return drawn


def _ranges(numbers: np.ndarray) -> str:
    """Sorted numbers, those in a row by the first and the last.

    >>> _ranges(np.array([0, 1, 2, 5, 7, 8]))
    '0–2, 5, 7–8'
    """
    runs = np.split(numbers, np.flatnonzero(np.diff(numbers) > 1) + 1)
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)


def barbell_of(findings: Findings) -> Figure:
    """The barbell of the first record."""
    record = findings.all_records[0]
    classes: Any = figure(record, "classes")
    plane: Any = figure(record, "plane")
    return barbell(classes, plane)


def _name_rows(drawn: Figure, titles: Sequence[str]) -> None:
    """Tell above the panels which colour is which row, also where the first of them lacks one."""
    from matplotlib.patches import Patch

    handles = [Patch(color=colour(number), label=title) for number, title in enumerate(titles)]
    drawn.legend(handles=handles, loc="outside upper center", ncols=len(titles), frameon=False)


def _bare(axes: Axes) -> None:
    """Take away what carries no number: two sides of the frame; and lay a faint grid behind the rest."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
