"""Raw features: the baseline that uses no edges and no training."""

from __future__ import annotations

from typing import ClassVar

from graphprox._utils.arrays import Features
from graphprox._utils.progress import Progress
from graphprox.graph.graph import Graph
from graphprox.methods import InductiveEmbedder, MethodInfo, register_method


@register_method("raw")
class RawFeatures(InductiveEmbedder):
    """The features of the nodes, unchanged.

    Parameters
    ----------
    preset : str, default="auto"
        Has no effect: there are no settings.
    scale : {"auto", "standard", "none"}, default="auto"
        Whether columns of features are standardized: those of a table, whose units differ; all of them; or none.
    random_state : int, RandomState, Generator or None, default=0
        Has no effect: the method is deterministic.
    verbose : bool, default=False
        Has no effect: nothing is trained.

    Attributes
    ----------
    embedding_ : Embedding
    vectors_ : ndarray or csr_array of shape (num_nodes, num_features)
        Sparse where the features are.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> RawFeatures().fit_transform(synthetic(nodes=140)).shape
    (140, 32)
    """

    info = MethodInfo(title="Raw features", group="floor", uses="X", summary="the features, unchanged")
    stochastic: ClassVar[bool] = False

    def _fit(self, graph: Graph, seed: int, progress: Progress | None) -> Features:  # noqa: ARG002 - deterministic
        return graph.x

    def _transform(self, graph: Graph) -> Features:
        return graph.x
