"""What all figures share: where they come from, and how they are written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphprox.errors import WriteError
from graphprox.io.files import written_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def new_figure(width: float, height: float, **options: Any) -> Figure:
    """An empty figure, in inches."""
    try:
        from matplotlib.figure import Figure  # without pyplot no window system is looked for
    except ImportError:
        raise WriteError("a figure needs matplotlib, which is not installed: pip install 'graphprox[plots]'") from None
    return Figure(figsize=(width, height), **options)


def save_figure(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write a figure as PNG and SVG, both or neither; the same figure is the same bytes."""
    from matplotlib import rc_context

    paths = [folder / f"{name}.png", folder / f"{name}.svg"]
    with written_whole(*paths) as (png, svg), rc_context({"svg.hashsalt": "graphprox"}):
        figure.savefig(png, format="png", dpi=150)
        figure.savefig(svg, format="svg", metadata={"Date": None})
    return paths
