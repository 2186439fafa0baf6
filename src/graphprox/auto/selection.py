"""Selection: how much each output counts, by the scores of a criterion.

One number decides, the *ratio*: what the edges of a graph explain of held-out features, divided by what the features
of the nodes explain themselves. Each output has a weight for four values of it, and in between weights are
interpolated, so that a small change of the ratio is a small change of the embedding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType

import numpy as np

from graphprox.auto.outputs import OUTPUTS

# Combinations of outputs that a criterion scores.
CANDIDATES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "own": ("own",),
        "graph": ("graph",),
        "own and view": ("own", "view"),
        "own and graph": ("own", "graph", "neighbors"),
    }
)

FEATURES, BOTH, BALANCED, GRAPH, EDGES = "features", "both", "balanced", "graph", "edges"
# Ratio for which the weights of each choice are meant.
RATIOS: Mapping[str, float] = MappingProxyType({FEATURES: 0.88, BOTH: 0.95, BALANCED: 1.0, GRAPH: 1.25})
# Exponent of the singular values of the result: where edges tell more than features, neighbors agree, and what few
# nodes share is noise.
SHARPNESS: Mapping[str, float] = MappingProxyType({FEATURES: 1.0, BOTH: 1.0, BALANCED: 1.0, GRAPH: 1.2, EDGES: 1.0})
MIN_SCORE = 0.01  # an R² below it is no evidence


@dataclass(frozen=True)
class Selection:
    """A choice, and why it was made.

    Parameters
    ----------
    choice : {"graph", "balanced", "both", "features", "edges"}
        The nearest of the ratios that weights are meant for; *edges* in a graph without features.
    scores : mapping of str to float
        Score of each candidate; empty if none was computed.
    ratio : float or None
        What edges explain of held-out features, divided by what the node's own features explain. None if it is not
        known: weights are then those of the choice.
    given : bool, default=False
        Whether the choice was given rather than made.

    Examples
    --------
    >>> scores = {"own": 0.1, "graph": 0.2, "own and view": 0.1, "own and graph": 0.2}
    >>> select_outputs(scores).choice
    'graph'
    """

    choice: str
    scores: Mapping[str, float]
    ratio: float | None = None
    given: bool = False

    def __post_init__(self) -> None:
        if self.choice not in (*RATIOS, EDGES):
            raise ValueError(f"choice must be one of {', '.join((*RATIOS, EDGES))}; got {self.choice!r}")

    @property
    def weights(self) -> dict[str, float]:
        """Weight of each output that is kept."""
        weights = {name: self._interpolate(asdict(output.weights)) for name, output in OUTPUTS.items()}
        return {name: weight for name, weight in weights.items() if weight > 0}

    @property
    def sharpness(self) -> float:
        """Exponent of the singular values of the result."""
        return self._interpolate(SHARPNESS)

    def _interpolate(self, values: Mapping[str, float]) -> float:
        return values[self.choice] if self.ratio is None else interpolate(values, self.ratio)


def interpolate(values: Mapping[str, float], ratio: float, ratios: Mapping[str, float] = RATIOS) -> float:
    """Return the value of a constant for a ratio.

    Parameters
    ----------
    values : mapping of str to float
        Value of the constant for each choice.
    ratio : float
    ratios : mapping of str to float, default=RATIOS
        Ratio that each value is meant for, in increasing order.

    Returns
    -------
    float

    Examples
    --------
    >>> interpolate({"features": 0.0, "both": 0.0, "balanced": 0.0, "graph": 1.0}, 1.125)
    0.5
    """
    return float(np.interp(ratio, list(ratios.values()), [values[name] for name in ratios]))


def select_outputs(scores: Mapping[str, float]) -> Selection:
    """Weight outputs by the scores of the candidates.

    Edges are useful if diffusion predicts held-out features as well as the node's own features do, or if adding edges
    to own features predicts them as well as adding nodes with similar features does. The second alone is not enough for
    an embedding that is mostly diffusion: neighbors may be unlike the node in a way that tells what it is.

    Parameters
    ----------
    scores : mapping of str to float
        Score of each of ``CANDIDATES``; may be empty.

    Returns
    -------
    Selection
    """
    if not scores or max(scores.values()) < MIN_SCORE:
        return Selection(BOTH, scores)
    in_place = _divide(scores["graph"], scores["own"])
    in_addition = _divide(scores["own and graph"], scores["own and view"])
    ratio = max(in_place, min(in_addition, RATIOS[BALANCED]))
    return Selection(min(RATIOS, key=lambda choice: abs(RATIOS[choice] - ratio)), scores, ratio)


def _divide(with_edges: float, without: float) -> float:
    return max(with_edges, 0.0) / max(without, MIN_SCORE)  # less is no evidence, and would make any ratio large
