"""Figures by matplotlib: creation and reproducible output."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphprox.errors import WriteError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def new_figure(width: float, height: float, **options: Any) -> Figure:
    """Create an empty figure.

    Parameters
    ----------
    width, height : float
        Size in inches.
    **options
        Further arguments of ``matplotlib.figure.Figure``.

    Returns
    -------
    Figure

    Raises
    ------
    WriteError
        If matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure  # unlike pyplot, needs no display
    except ImportError:
        raise WriteError("a figure needs matplotlib, which is not installed: pip install 'graphprox[plots]'") from None
    return Figure(figsize=(width, height), **options)


def save_figure(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write a figure as PNG and SVG, atomically; equal figures give equal bytes.

    Parameters
    ----------
    figure : Figure
    folder : Path
    name : str
        File name without suffix.

    Returns
    -------
    list of Path
        The PNG and the SVG file.
    """
    from matplotlib import rc_context

    from graphprox.io.files import atomic_write

    paths = [folder / f"{name}.png", folder / f"{name}.svg"]
    with atomic_write(*paths) as (png, svg), rc_context({"svg.hashsalt": "graphprox"}):
        figure.savefig(png, format="png", dpi=150)
        figure.savefig(svg, format="svg", metadata={"Date": None})
    return paths
