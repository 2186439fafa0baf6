"""Figures of the paper, plotted with matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from graphprox._utils.figures import new_figure
from reproduction.barbell import BRIDGE_SIZE, CLIQUE_SIZE
from reproduction.report.cells import BEST, Cell, Findings, Place, TrainingCurve
from reproduction.report.layouts import Columns, cells_by_settings
from reproduction.report.tables import metric_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colors that can be distinguished with most kinds of color blindness.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#000000")
FRAME_COLOR = PALETTE[1]
BAND_ALPHA = 0.18
BAR_AXIS_STEP = 5  # percent: the axis of bars starts at a multiple of it
MAX_PANELS_ACROSS = 3


def color(index: int) -> str:
    """Return the color of a row or a class."""
    from matplotlib import colormaps

    return PALETTE[index] if index < len(PALETTE) else str(_to_hex(colormaps["tab20"](index % 20)))


def _to_hex(rgba: Any) -> str:
    from matplotlib.colors import to_hex

    return to_hex(rgba)


# -- bars -------------------------------------------------------------------------------------------------------------


def draw_bars(findings: Findings, columns: Columns) -> Figure:
    """Plot the first metric of all rows as bars with error bars, grouped by data set."""
    metric = findings.experiment.metrics[0]
    by_dataset = _by_dataset(findings, columns, metric)
    rows = findings.experiment.all_rows
    figure = new_figure(1.6 + 0.62 * len(rows) * len(by_dataset), 3.6, layout="constrained")
    axes = figure.subplots()
    width = 0.8 / len(rows)
    for index, row in enumerate(rows):
        for group, cells in enumerate(by_dataset.values()):
            cell = next(cell for cell in cells if cell.row == row)
            if cell.measured:
                _draw_bar(axes, group + (index - (len(rows) - 1) / 2) * width, cell, width, color(index))
    bottom, top = _bar_limits([cell for cells in by_dataset.values() for cell in cells if cell.measured])
    axes.set_ylim(bottom, top)
    axes.set_xticks(range(len(by_dataset)), list(by_dataset))
    axes.tick_params(axis="x", length=0)
    axes.set_ylabel(f"{metric_name(metric)}, %" + (f" (from {bottom:.0f})" if bottom else ""))
    _style_axes(axes)
    _add_legend(figure, [row.title for row in rows.values()])
    return figure


def _by_dataset(findings: Findings, columns: Columns, metric: str) -> dict[str, Sequence[Cell]]:
    return {dataset: cells for (dataset, of), cells in columns.items() if of == metric and findings.is_run(dataset)}


def _bar_limits(cells: Sequence[Cell]) -> tuple[float, float]:
    """Return the limits of the axis, which does not start at 0, so that similar heights can be compared."""
    lowest = min(cell.mean - (cell.deviation or 0) for cell in cells)
    highest = max(cell.mean + (cell.deviation or 0) for cell in cells)
    bottom = max(0.0, BAR_AXIS_STEP * float(np.floor((lowest - 1) / BAR_AXIS_STEP)))
    return bottom, highest + 0.1 * (highest - bottom)


def _draw_bar(axes: Axes, x: float, cell: Cell, width: float, fill: str) -> None:
    deviation = cell.deviation or 0.0
    error = {"ecolor": "#333333", "elinewidth": 1, "capsize": 3}
    axes.bar(x, cell.mean, 0.92 * width, yerr=deviation, color=fill, error_kw=error)
    top = (x, cell.mean + deviation)
    axes.annotate(f"{cell.mean:.1f}", top, (0, 3), textcoords="offset points", ha="center", fontsize=8)


# -- training curves --------------------------------------------------------------------------------------------------


def draw_curves(curves: Mapping[Place, TrainingCurve]) -> Figure:
    """Plot the accuracy of all rows for each data set, and below it the loss of each row on its own scale."""
    datasets = list(dict.fromkeys(dataset for dataset, _ in curves))
    rows = {row: curve.title for (_, row), curve in curves.items()}
    figure = new_figure(0.6 + 4.2 * len(datasets), 2.9 + 1.1 * len(rows), layout="constrained")
    panels = figure.subplots(
        1 + len(rows), len(datasets), sharex="col", squeeze=False, height_ratios=[2.4, *[1] * len(rows)]
    )
    for across, dataset in enumerate(datasets):
        top, *below = panels[:, across]
        for index, row in enumerate(rows):
            if (dataset, row) in curves:
                _draw_accuracy(top, curves[dataset, row], index)
                _draw_loss(below[index], curves[dataset, row], index)
            _style_axes(below[index])
        top.set_title(dataset)
        _style_axes(top)
        below[-1].set_xlabel("epochs")
        below[-1].xaxis.get_major_locator().set_params(integer=True)
    panels[0, 0].set_ylabel("accuracy, %")
    for index, axes in enumerate(panels[1:, 0]):
        axes.set_ylabel("loss", color=color(index))
    _add_legend(figure, list(rows.values()))
    figure.align_ylabels(list(panels[:, 0]))
    return figure


def _draw_accuracy(axes: Axes, curve: TrainingCurve, index: int) -> None:
    mean, deviation = np.array([curve.accuracy_at(mark) for mark in curve.marks]).T
    _draw_band(axes, curve.marks, mean, deviation, color(index))
    axes.plot(curve.marks, mean, color=color(index), marker="o", markersize=4)


def _draw_band(axes: Axes, x: ArrayLike, mean: np.ndarray, deviation: np.ndarray, fill: str) -> None:
    axes.fill_between(x, mean - deviation, mean + deviation, color=fill, alpha=BAND_ALPHA, linewidth=0)


def _draw_loss(axes: Axes, curve: TrainingCurve, index: int) -> None:
    mean, deviation = curve.loss.mean(axis=0), curve.loss.std(axis=0)
    epochs = np.arange(1, len(mean) + 1)
    _draw_band(axes, epochs, mean, deviation, color(index))
    axes.plot(epochs, mean, color=color(index), linewidth=1)


# -- heatmaps ---------------------------------------------------------------------------------------------------------


def draw_heatmaps(findings: Findings, columns: Columns) -> Figure:
    """Plot a heatmap for each data set: one setting down, the other across, the best framed."""
    metric = findings.experiment.metrics[0]
    (down, row_values), (across, column_values) = findings.experiment.grid.items()
    by_dataset = _by_dataset(findings, columns, metric)
    side = 0.75
    width, height = len(by_dataset) * (1.1 + side * len(column_values)), 1.1 + side * len(row_values)
    figure = new_figure(width, height, layout="constrained")
    panels = np.ravel(figure.subplots(1, len(by_dataset), squeeze=False))
    for axes, (dataset, cells) in zip(panels, by_dataset.items(), strict=True):
        at = cells_by_settings(findings, cells)
        _draw_heatmap(axes, [[at[one, other] for other in column_values] for one in row_values])
        axes.set_xticks(range(len(column_values)), list(map(str, column_values)))
        axes.set_yticks(range(len(row_values)), list(map(str, row_values)))
        axes.set(title=dataset, xlabel=across, ylabel=down)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    figure.suptitle(f"{metric_name(metric)}, %", fontsize=10)
    return figure


def _draw_heatmap(axes: Axes, cells: Sequence[Sequence[Cell]]) -> None:
    from matplotlib.patches import Rectangle

    means = np.array([[cell.mean if cell.measured else np.nan for cell in line] for line in cells])
    axes.imshow(means, cmap="viridis")
    threshold = np.nanmin(means) + 0.6 * (np.nanmax(means) - np.nanmin(means))
    for y, line in enumerate(cells):
        for x, cell in enumerate(line):
            if not cell.measured:
                continue
            text_color = "white" if cell.mean < threshold else "black"
            axes.text(x, y, f"{cell.mean:.1f}", ha="center", va="center", color=text_color)
            if cell.rank == BEST:
                frame = Rectangle((x - 0.46, y - 0.46), 0.92, 0.92, fill=False, edgecolor=FRAME_COLOR, linewidth=2)
                axes.add_patch(frame)


# -- projections ------------------------------------------------------------------------------------------------------


def draw_maps(findings: Findings) -> Figure:
    """Make a scatter plot for each row on each data set, colored by class, from the first training run."""
    rows = findings.experiment.all_rows
    first = {place: records[0] for place, records in findings.records.items()}
    across = min(MAX_PANELS_ACROSS, len(first))
    down = -(-len(first) // across)
    # Points are rasterized in the SVG too, at the resolution of the PNG: thousands of circles would make it huge.
    figure = new_figure(3.1 * across, 3.2 * down + 0.5, layout="constrained", dpi=150)
    panels = np.ravel(figure.subplots(down, across, squeeze=False))
    several = len({dataset for dataset, _ in first}) > 1
    for axes, ((dataset, row), record) in zip(panels, first.items(), strict=False):
        _draw_points(axes, findings.figure(record, "points"))
        axes.set_title(f"{rows[row].title}, {dataset}" if several else rows[row].title, fontsize=11)
    for axes in panels[len(first) :]:
        axes.set_axis_off()
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, markerscale=4, fontsize=9)
    return figure


def _draw_points(axes: Axes, points: Mapping[str, Sequence[Sequence[float]]]) -> None:
    for index, (name, of_class) in enumerate(points.items()):
        x, y = np.reshape(of_class, (-1, 2)).T
        axes.scatter(x, y, s=4, linewidths=0, color=color(index), label=name, rasterized=True)
    axes.set(xticks=[], yticks=[])
    axes.set_aspect("equal", "datalim")
    axes.spines[:].set_color("#cccccc")


# -- barbell ----------------------------------------------------------------------------------------------------------


def draw_barbell(findings: Findings) -> Figure:
    """Plot the barbell graph next to its topology space, both colored by local structure."""
    import networkx as nx

    record = findings.all_records[0]
    structure = np.asarray(findings.figure(record, "classes"))
    points = np.asarray(findings.figure(record, "plane"), np.float64)
    figure = new_figure(8, 3.6, layout="constrained")
    left, right = figure.subplots(1, 2)
    graph = nx.barbell_graph(CLIQUE_SIZE, BRIDGE_SIZE)
    colors = [color(index) for index in np.unique(structure, return_inverse=True)[1]]
    layout = nx.kamada_kawai_layout(graph)
    nx.draw_networkx(graph, layout, ax=left, node_color=colors, font_color="white", edge_color="#888888")
    left.set_axis_off()
    left.set_title(f"the barbell graph B({CLIQUE_SIZE}, {BRIDGE_SIZE})")
    right.scatter(points[:, 0], points[:, 1], c=colors, s=120, alpha=0.5)
    for each in np.unique(structure):
        nodes = np.flatnonzero(structure == each)
        right.annotate(_format_ranges(nodes), tuple(points[nodes[0]]), (0, 9), textcoords="offset points", ha="center")
    right.set_title("topology space: equal structure coincides")
    right.margins(x=0.5, y=0.3)
    _style_axes(right)
    return figure


def _format_ranges(numbers: np.ndarray) -> str:
    """Format sorted numbers, abbreviating consecutive ones.

    >>> _format_ranges(np.array([0, 1, 2, 5, 7, 8]))
    '0–2, 5, 7–8'
    """
    runs = np.split(numbers, np.flatnonzero(np.diff(numbers) > 1) + 1)
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)


# -- common parts -----------------------------------------------------------------------------------------------------


def _add_legend(figure: Figure, titles: Sequence[str]) -> None:
    """Add a legend of all rows above the panels, including rows that a panel does not have."""
    from matplotlib.patches import Patch

    handles = [Patch(color=color(index), label=title) for index, title in enumerate(titles)]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(titles), frameon=False)


def _style_axes(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
