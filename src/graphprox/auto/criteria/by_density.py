"""By density: the criterion that suits the kind of features."""

from __future__ import annotations

from graphprox._utils.progress import Progress
from graphprox.auto.criteria.base import Evidence, register_criterion
from graphprox.auto.criteria.held_out_features import held_out_features
from graphprox.auto.criteria.neighbor_similarity import neighbor_similarity
from graphprox.auto.preparation import is_dense
from graphprox.graph.graph import Graph


@register_criterion("by-density")
def by_density(graph: Graph, random_state: int, progress: Progress) -> Evidence:
    """Take the similarity of neighbors if features are dense, and held-out features otherwise.

    Sparse columns, such as words, vary independently of each other except for what a node is about. Dense ones, such as
    learned vectors or principal components, do not: either all of them are mixtures of the same facts, so that one half
    repeats the noise of the other, or none says anything about another.

    Parameters
    ----------
    graph : Graph
    random_state : int
    progress : callable

    Returns
    -------
    Evidence
    """
    return (neighbor_similarity if is_dense(graph.x) else held_out_features)(graph, random_state, progress)
