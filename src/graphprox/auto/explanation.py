"""What the default method found in a graph, in words and as a figure."""

from __future__ import annotations

from pathlib import Path

from graphprox._utils.figures import new_figure, write_figure
from graphprox.auto.selection import BOTH, FEATURES, GRAPH, POSITIONS, Selection

_KEPT = {
    GRAPH: "features spread over edges, also after averaging them over similar nodes, and a little of the own ones",
    FEATURES: "own features, and those of nodes with similar features; edges are left out",
    BOTH: "own features, features of neighbors, and diffusion over edges, side by side",
    POSITIONS: "who is connected with whom, and with a smaller weight the degrees around a node",
}


def explain(selection: Selection, shape: tuple[int, int], seconds: float, peak_memory: int | None = None) -> str:
    """Describe what was found, what was kept and what it cost, in three lines.

    Parameters
    ----------
    selection : Selection
    shape : tuple of int
        Shape of the vectors.
    seconds : float
        Time that fitting took.
    peak_memory : int or None, default=None
        Peak memory in bytes, if it is known.

    Returns
    -------
    str

    Examples
    --------
    >>> print(explain(Selection("positions", {}), (10, 4), 0.5).splitlines()[0])
    found: no features, so nodes are described by their edges
    """
    memory = "" if peak_memory is None else f", {peak_memory / 2**20:,.0f} MB"
    return "\n".join(
        (
            f"found: {_describe_evidence(selection)}",
            f"kept:  {_KEPT[selection.choice]}",
            f"cost:  {seconds:.1f} s{memory}, for {shape[0]:,} × {shape[1]:,} numbers",
        )
    )


def _describe_evidence(selection: Selection) -> str:
    if selection.choice == POSITIONS:
        return "no features, so nodes are described by their edges"
    if not selection.scores:
        return "nothing was compared: the choice was given, or there are too few nodes or features"
    scores = ", ".join(f"{name} {100 * value:.1f} %" for name, value in selection.scores.items())
    if selection.ratio is None:
        return f"features cannot judge, as no proximity predicts held-out ones ({scores} explained)"
    verdict = {
        GRAPH: "carry information",
        FEATURES: "carry less information than features",
        BOTH: "carry some information",
    }
    return f"edges {verdict[selection.choice]} about features: {scores} of held-out features explained"


def plot_selection(path: str | Path, selection: Selection) -> Path:
    """Draw what each candidate explains of held-out features, and the weights of the outputs that were kept.

    Parameters
    ----------
    path : str or Path
        The file to write, atomically: PNG or SVG, by its ending.
    selection : Selection

    Returns
    -------
    Path
    """
    figure = new_figure(8.0, 3.2)
    left, right = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2)
    names, values = list(selection.scores), [100 * each for each in selection.scores.values()]
    left.barh(names[::-1], values[::-1])
    left.set_xlabel("held-out features explained, R² in percent")
    left.set_title("found" if names else "nothing was compared")
    if selection.ratio is not None:
        left.set_title(f"found: ratio {selection.ratio:.2f}")
    weights = selection.weights
    right.barh(list(weights)[::-1], list(weights.values())[::-1])
    right.set_xlabel("weight")
    right.set_title(f"kept: {selection.choice}")
    figure.tight_layout()
    return write_figure(figure, Path(path))
