"""Figures by matplotlib: creation and reproducible output."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphprox.errors import WriteError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Options of savefig by the ending of a file.
_FORMATS: dict[str, dict[str, Any]] = {
    ".png": {"format": "png", "dpi": 150},
    ".svg": {"format": "svg", "metadata": {"Date": None}},
    ".pdf": {"format": "pdf", "metadata": {"CreationDate": None}},
}


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
    return _write(figure, *figure_files(folder, name))


def figure_files(folder: Path, name: str) -> list[Path]:
    """Return the files that `save_figure` writes.

    Parameters
    ----------
    folder : Path
    name : str

    Returns
    -------
    list of Path
    """
    return [folder / f"{name}{suffix}" for suffix in (".png", ".svg")]


def write_figure(figure: Figure, path: Path) -> Path:
    """Write a figure to one file, atomically; equal figures give equal bytes.

    Parameters
    ----------
    figure : Figure
    path : Path
        A name that ends in .png, .svg or .pdf.

    Returns
    -------
    Path
        The same.

    Raises
    ------
    WriteError
        If the ending is another one, or the file cannot be written.
    """
    _check_ending(path)
    (written,) = _write(figure, path)
    return written


def check_figure(path: Path) -> None:
    """Check that a figure can be drawn and written to a file, before what it shows is computed.

    Parameters
    ----------
    path : Path

    Raises
    ------
    WriteError
        If the ending is another one, matplotlib is not installed, or the folder cannot be written to.
    """
    from graphprox.io.storage.files import make_writable_folder

    _check_ending(path)
    new_figure(1, 1)
    make_writable_folder(path.parent)
    if path.is_dir():
        raise WriteError(f"{path} must be a file; it is a directory: name a file inside it")


def _check_ending(path: Path) -> None:
    if path.suffix.lower() not in _FORMATS:
        raise WriteError(f"the ending of a figure must be one of {', '.join(_FORMATS)}; got {path.name!r}")


def _write(figure: Figure, *paths: Path) -> list[Path]:
    from matplotlib import rc_context

    from graphprox.io.storage.files import atomic_write

    with atomic_write(*paths) as staged, rc_context({"svg.hashsalt": "graphprox"}):
        for path, temporary in zip(paths, staged, strict=True):
            figure.savefig(temporary, **_FORMATS[path.suffix.lower()])
    return list(paths)
