"""Selection: which outputs are kept, by the scores of a criterion.

There are three choices. *Graph*: nodes are described by diffusion over edges. *Features*: edges are left out, as in
graphs whose edges join unlike nodes. *Both*: the node's own features, its neighbors' and diffusion, side by side, where
the evidence is thin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

# Combinations of outputs that a criterion scores.
CANDIDATES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "own": ("own",),
        "graph": ("graph",),
        "own and view": ("own", "view"),
        "own and graph": ("own", "graph", "neighbors"),
    }
)

# Outputs that each choice keeps, and their weights.
GRAPH, FEATURES, BOTH, POSITIONS = "graph", "features", "both", "positions"
CHOICES: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        GRAPH: {"graph": 1.0, "view-graph": 0.7, "own": 0.5},
        FEATURES: {"own": 1.0, "view": 0.3},
        BOTH: {"own": 1.0, "graph": 1.0, "neighbors": 1.0},
        POSITIONS: {"graph": 1.0, "roles": 0.3},
    }
)
MIN_SCORE = 0.01  # an R² below it is no evidence
MIN_RATIO, MAX_RATIO = 0.9, 0.97  # of what is explained with edges and without; graphs in between keep both


@dataclass(frozen=True)
class Selection:
    """A choice, and why it was made.

    Parameters
    ----------
    choice : {"graph", "features", "both", "positions"}
    scores : mapping of str to float
        Score of each candidate; empty if none was computed.
    ratio : float or None
        What edges explain of held-out features, divided by what the node's own features explain.

    Examples
    --------
    >>> scores = {"own": 0.1, "graph": 0.2, "own and view": 0.1, "own and graph": 0.2}
    >>> select_outputs(scores).choice
    'graph'
    """

    choice: str
    scores: Mapping[str, float]
    ratio: float | None = None

    @property
    def weights(self) -> Mapping[str, float]:
        """Weight of each output that is kept.

        The more edges explain, the further diffusion reaches. Where they explain less than features do, but not much
        less, they count half.
        """
        weights = dict(CHOICES[self.choice])
        if self.choice == GRAPH and self.ratio is not None and self.ratio > 1:
            weights["distant"] = min(self.ratio - 1, 1.0)
        if self.choice == BOTH and self.ratio is not None:
            weights |= {"graph": 0.5, "neighbors": 0.5}
        return weights


def select_outputs(scores: Mapping[str, float]) -> Selection:
    """Choose outputs by the scores of the candidates.

    Edges are useful if diffusion predicts held-out features as well as the node's own features do, or if adding edges
    to own features predicts them as well as adding nodes with similar features does.

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
    ratio = max(
        _divide(scores["graph"], scores["own"]),
        _divide(scores["own and graph"], scores["own and view"]),
    )
    return Selection(GRAPH if ratio >= MAX_RATIO else FEATURES if ratio < MIN_RATIO else BOTH, scores, ratio)


def _divide(with_edges: float, without: float) -> float:
    return max(with_edges, 0.0) / max(without, MIN_SCORE)  # less is no evidence, and would make any ratio large
