"""What the default method found in a graph, in words and as a figure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from graphprox._utils.figures import new_figure, write_figure
from graphprox.auto.criteria.base import BALANCED, BOTH, FEATURES, GRAPH
from graphprox.auto.outputs import OUTPUTS
from graphprox.auto.selection import EDGES, Selection

MIN_LISTED = 0.05  # weight that is not rounded to zero

_EDGES = {
    GRAPH: "edges are more informative than features",
    BALANCED: "edges are about as informative as features",
    BOTH: "edges are a little less informative than features",
    FEATURES: "edges are less informative than features",
}
_KEPT = {
    GRAPH: "mostly what is spread over edges",
    BALANCED: "features, and as much of what is spread over edges",
    BOTH: "mostly features, and half as much of what is spread over edges",
    FEATURES: "features of the node and of similar nodes, and very little of what is spread over edges",
    EDGES: "who is connected with whom, and degrees",
}


def explain(
    selection: Selection,
    weights: Mapping[str, float],
    shape: tuple[int, int],
    seconds: float,
    peak_memory: int | None = None,
    *,
    similar: float = 0.0,
    popularity: float = 0.0,
) -> str:
    """Describe what was found, what was kept and what it cost, in three lines.

    Parameters
    ----------
    selection : Selection
    weights : mapping of str to float
        Weight of each output that is kept.
    shape : tuple of int
        Shape of the vectors.
    seconds : float
        Time that fitting took.
    peak_memory : int or None, default=None
        Peak memory in bytes, if it is known.
    similar : float, default=0.0
        Weight of the most similar nodes.
    popularity : float, default=0.0
        Size of the column for the number of neighbors.

    Returns
    -------
    str

    Examples
    --------
    >>> print(explain(Selection("edges", {}), {"positions": 1.0}, (10, 4), 0.5).splitlines()[0])
    found: no features, so nodes are described by their edges
    """
    memory = "" if peak_memory is None else f", at most {peak_memory / 1e6:,.0f} MB in this process"
    listed = ", ".join(f"{name} {weight:.1f}" for name, weight in _by_weight(weights) if weight >= MIN_LISTED)
    uses_edges = not all(name in OUTPUTS and OUTPUTS[name].weights.features for name in weights)
    kept = _KEPT[selection.choice]
    if not uses_edges:
        but = " but for the number of neighbors" if popularity > 0 else ""
        kept = f"features of the node and of similar nodes; edges are left out{but}"
    if similar >= MIN_LISTED:
        kept += ", averaged over similar nodes"
    return "\n".join(
        (
            f"found: {_describe_evidence(selection)}",
            f"kept:  {kept} ({listed})",
            f"cost:  {seconds:.1f} s{memory}, for {shape[0]:,} × {shape[1]:,} numbers",
        )
    )


def _describe_evidence(selection: Selection) -> str:
    if selection.choice == EDGES:
        return "no features, so nodes are described by their edges"
    if not selection.scores:
        if selection.given:
            return "nothing was compared, as the choice was given"
        return f"nothing was compared, as {selection.meaning or 'there is no evidence'}"
    scores = ", ".join(f"{name} {100 * value:.1f} %" for name, value in selection.scores.items())
    if selection.ratio is None:
        return f"features cannot judge edges: {scores} {selection.meaning}"
    return f"{_EDGES[selection.choice]}: {scores} {selection.meaning}"


def _by_weight(weights: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(weights.items(), key=lambda each: -each[1])


def plot_selection(path: str | Path, selection: Selection, weights: Mapping[str, float]) -> Path:
    """Draw the scores that the choice was made by, and the weights of the outputs that were kept.

    Parameters
    ----------
    path : str or Path
        The file to write, atomically: PNG or SVG, by its ending.
    selection : Selection
    weights : mapping of str to float
        Weight of each output that is kept.

    Returns
    -------
    Path
    """
    figure = new_figure(8.0, 3.2)
    left, right = figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2)
    names, values = list(selection.scores), [100 * each for each in selection.scores.values()]
    left.barh(names[::-1], values[::-1])
    left.set_xlabel(f"percent {selection.meaning}" if names else "")
    left.set_title("found" if names else "nothing was compared")
    if selection.ratio is not None:
        left.set_title(f"found: ratio {selection.ratio:.2f}")
    bars = _by_weight(weights)[::-1]
    right.barh([name for name, _ in bars], [weight for _, weight in bars])
    right.set_xlabel("weight")
    right.set_title(f"kept: {selection.choice}")
    figure.tight_layout()
    return write_figure(figure, Path(path))
