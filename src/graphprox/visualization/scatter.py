"""Drawing of a map by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphprox._utils.arrays import FloatArray
from graphprox.visualization.coloring import NO_CATEGORY, UNKNOWN, Categories, Numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.colorbar import Colorbar

# Paul Tol's "muted" scheme, whose nine colors remain distinct to color-blind people, and a second shape for more.
PALETTE = ("#332288", "#CC6677", "#117733", "#DDAA33", "#88CCEE", "#AA4499", "#44AA99", "#882255", "#999933")
SHAPES = ("o", "^")
OTHER_COLOR, UNKNOWN_COLOR = "#B0B0B0", "#DADADA"
PLAIN_COLOR, TEXT_COLOR = "#332288", "#555555"
MAX_VECTOR_POINTS = 5_000  # more are drawn as an image inside of an SVG or PDF file
_TOTAL_AREA = 16_000.0  # of all points, in square points


def draw(
    axes: Axes,
    points: FloatArray,
    coloring: Categories | Numbers | None,
    *,
    title: str = "",
    caption: str = "",
    color_title: str = "",
) -> None:
    """Draw nodes as points, with a legend or a color bar.

    Parameters
    ----------
    axes : Axes
    points : ndarray of shape (num_nodes, 2)
    coloring : Categories, Numbers or None
    title, caption : str
        Text above and below the map.
    color_title : str
        Title of the legend or color bar.
    """
    # A random order: the last category must not cover the others.
    order = np.random.default_rng(0).permutation(len(points))
    size = point_size(len(points))
    style: dict[str, Any] = {
        "linewidths": 0,
        "alpha": 0.85 if len(points) < 20_000 else 0.6,
        "rasterized": len(points) > MAX_VECTOR_POINTS,
    }
    if isinstance(coloring, Numbers):
        _draw_numbers(axes, points[order], coloring.values[order], size, style, color_title, coloring.are_dates)
    elif coloring is not None:
        _draw_categories(axes, points, coloring, order, size, style, color_title)
    else:
        _scatter(axes, points[order], s=size, color=PLAIN_COLOR, **style)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.04)
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_color("#E4E4E4")
    axes.set_title(title, loc="left", fontsize=12, color="#222222", parse_math=False)
    axes.set_xlabel(caption, loc="left", fontsize=9, color=TEXT_COLOR, parse_math=False)


def point_size(num_nodes: int) -> float:
    """Return the area of a point, in square points: all of them cover about the same share of the map.

    Parameters
    ----------
    num_nodes : int

    Returns
    -------
    float

    Examples
    --------
    >>> point_size(100), round(point_size(10_000), 1), point_size(1_000_000)
    (45.0, 1.6, 0.6)
    """
    return float(np.clip(_TOTAL_AREA / num_nodes, 0.6, 45))


def _scatter(axes: Axes, points: FloatArray, **options: Any) -> PathCollection:
    x, y = points.T
    return axes.scatter(x, y, **options)


def _draw_numbers(
    axes: Axes,
    points: FloatArray,
    values: NDArray[np.float64],
    size: float,
    style: dict[str, Any],
    title: str,
    are_dates: bool,
) -> None:
    known = ~np.isnan(values)
    _scatter(axes, points[~known], s=size, color=UNKNOWN_COLOR, **style)
    if not known.any():
        return
    # A few outliers must not leave one color for all others.
    low, high = np.quantile(values[known], [0.01, 0.99])
    if low == high:
        low, high = values[known].min(), values[known].max()
    drawn = _scatter(axes, points[known], s=size, c=values[known], cmap="viridis", vmin=low, vmax=high, **style)
    below, above = values[known].min() < low, values[known].max() > high
    extend = "both" if below and above else "min" if below else "max" if above else "neither"
    assert axes.figure is not None  # noqa: S101 - axes of a figure
    bar = axes.figure.colorbar(drawn, ax=axes, shrink=0.6, aspect=25, pad=0.02, extend=extend)
    bar.set_label(title, parse_math=False)
    if are_dates:
        _label_dates(bar)
    assert bar.solids is not None  # noqa: S101 - drawn with the bar
    bar.solids.set_alpha(1)
    bar.outline.set_visible(False)


def _label_dates(bar: Colorbar) -> None:
    """Label a color bar of days since 1970 by dates."""
    from matplotlib.dates import AutoDateFormatter, AutoDateLocator

    bar.locator = AutoDateLocator()  # type: ignore[no-untyped-call]
    bar.formatter = AutoDateFormatter(bar.locator)  # type: ignore[no-untyped-call]
    bar.update_ticks()


def _draw_categories(
    axes: Axes,
    points: FloatArray,
    coloring: Categories,
    order: NDArray[np.int64],
    size: float,
    style: dict[str, Any],
    title: str,
) -> None:
    last = len(coloring.names) - 1
    looks = [
        (OTHER_COLOR, SHAPES[0])
        if coloring.has_other and i == last
        else (PALETTE[i % len(PALETTE)], SHAPES[i // len(PALETTE) % len(SHAPES)])
        for i in range(len(coloring.names))
    ]
    unknown = order[coloring.codes[order] == NO_CATEGORY]
    _scatter(axes, points[unknown], s=size, color=UNKNOWN_COLOR, **style)
    entries = [(name, *look) for name, look in zip(coloring.names, looks, strict=True)]
    if len(unknown):
        entries.append((UNKNOWN, UNKNOWN_COLOR, SHAPES[0]))
    if coloring.has_other:
        rest = order[coloring.codes[order] == last]
        _scatter(axes, points[rest], s=size, color=OTHER_COLOR, **style)
    for shape in SHAPES:
        is_drawn = np.array([look[1] == shape for look in looks] + [False])  # -1, unknown, is the last
        is_drawn[last] &= not coloring.has_other
        chosen = order[is_drawn[coloring.codes[order]]]
        colors = [looks[code][0] for code in coloring.codes[chosen]]
        _scatter(axes, points[chosen], s=size * (1.3 if shape == "^" else 1), c=colors or None, marker=shape, **style)
    _add_legend(axes, entries, title)


def _add_legend(axes: Axes, entries: list[tuple[str, str, str]], title: str) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], linestyle="", marker=shape, color=color, markersize=7, markeredgewidth=0, label=_shorten(name))
        for name, color, shape in entries
    ]
    legend = axes.legend(
        handles=handles,
        title=title or None,
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        frameon=False,
        alignment="left",
        borderaxespad=0.0,
        handletextpad=0.3,
    )
    for text in (*legend.get_texts(), legend.get_title()):
        text.set_parse_math(False)


def _shorten(name: str, length: int = 28) -> str:
    return name if len(name) <= length else f"{name[: length - 1]}…"
