"""Selection: how much each output counts, by the scores of a criterion.

One number decides, the *ratio*: how informative the edges of a graph are, compared with its features. Each output has
a weight for four values of it, and in between weights are interpolated, so that a small change of the ratio is a small
change of the embedding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType

import numpy as np

from graphprox.auto.criteria.base import BALANCED, BOTH, FEATURES, GRAPH, RATIOS, Evidence
from graphprox.auto.outputs import OUTPUTS

EDGES = "edges"  # the choice in a graph without features
# Exponent of the singular values of the result: where edges tell more than features, neighbors agree, and what few
# nodes share is noise.
SHARPNESS: Mapping[str, float] = MappingProxyType({FEATURES: 1.0, BOTH: 1.0, BALANCED: 1.0, GRAPH: 1.35, EDGES: 1.0})
# Weight of the most similar nodes, for the same reason.
SIMILAR: Mapping[str, float] = MappingProxyType({FEATURES: 0.0, BOTH: 0.0, BALANCED: 0.2, GRAPH: 0.5, EDGES: 0.0})
POPULARITY = 0.6  # size of the column for the number of neighbors, at the largest, relative to the length of a row


@dataclass(frozen=True)
class Mixture:
    """How outputs are mixed.

    Parameters
    ----------
    weights : mapping of str to float
        Weight of each output that is kept.
    sharpness : float, default=1.0
        Exponent of the singular values of the outputs side by side. Above 1, directions that many outputs agree on
        count more.
    similar : float, default=0.0
        Weight of the most similar nodes: how much of their vectors is added to that of a node.
    popularity : float, default=0.0
        Size of the column that says how many neighbors a node has, relative to the length of a row.
    """

    weights: Mapping[str, float]
    sharpness: float = 1.0
    similar: float = 0.0
    popularity: float = 0.0


@dataclass(frozen=True)
class Selection:
    """A choice, and why it was made.

    Parameters
    ----------
    choice : {"graph", "balanced", "both", "features", "edges"}
        The nearest of the ratios that weights are meant for; *edges* in a graph without features.
    scores : mapping of str to float
        What the choice was made by; empty if nothing was computed.
    ratio : float or None
        How informative edges are, compared with features. None if it is not known: weights are then those of the
        choice.
    given : bool, default=False
        Whether the choice was given rather than made.
    meaning : str, default=""
        What the scores are shares of.

    Examples
    --------
    >>> select_outputs(Evidence(ratio=2.0)).choice
    'graph'
    """

    choice: str
    scores: Mapping[str, float]
    ratio: float | None = None
    given: bool = False
    meaning: str = ""

    def __post_init__(self) -> None:
        if self.choice not in (*RATIOS, EDGES):
            raise ValueError(f"choice must be one of {', '.join((*RATIOS, EDGES))}; got {self.choice!r}")

    @property
    def weights(self) -> dict[str, float]:
        """Weight of each output that is kept."""
        weights = {name: self._interpolate(asdict(output.weights)) for name, output in OUTPUTS.items()}
        return {name: weight for name, weight in weights.items() if weight > 0}

    @property
    def mixture(self) -> Mixture:
        """How the outputs that are kept are mixed."""
        return Mixture(self.weights, self._interpolate(SHARPNESS), self._interpolate(SIMILAR), POPULARITY)

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


def select_outputs(evidence: Evidence) -> Selection:
    """Choose weights by what a criterion found.

    Parameters
    ----------
    evidence : Evidence

    Returns
    -------
    Selection
    """
    ratio = evidence.ratio
    choice = BALANCED if ratio is None else min(RATIOS, key=lambda each: abs(RATIOS[each] - ratio))
    return Selection(choice, evidence.scores, ratio, meaning=evidence.meaning)
