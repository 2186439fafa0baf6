"""The feature view: nodes with similar features."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.random import Generator
from pydantic import StrictBool

from graphprox.graph.graph import Graph
from graphprox.views.base import Matrix, ViewOptions, register_view


class FeatureOptions(ViewOptions):
    """Options of `feature_descriptor`.

    Parameters
    ----------
    binary : bool, default=False
        Whether to use only which features are nonzero.
    k_min, k_max : int, optional
        The view's own range of k, as in `ViewOptions`.
    """

    prefix: ClassVar[str] = "views.feature."

    binary: StrictBool = False


@register_view("feature", options=FeatureOptions)
def feature_descriptor(graph: Graph, _rng: Generator, *, binary: bool = False) -> Matrix:
    """Compare nodes by their features.

    Parameters
    ----------
    graph : Graph
    _rng : Generator
        Not used: the descriptor is deterministic.
    binary : bool, default=False
        Whether to use only which features are nonzero.

    Returns
    -------
    ndarray or csr_array of shape (num_nodes, num_features)
        Sparse if the features are.

    Examples
    --------
    >>> import numpy as np
    >>> from graphprox import Graph
    >>> graph = Graph(x=[[3, 0], [1, 0], [0, 2]], edge_index=[[0], [1]])
    >>> feature_descriptor(graph, np.random.default_rng(0), binary=True).tolist()
    [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    """
    x = graph.x
    if not binary:
        return x
    if isinstance(x, sp.csr_array):
        return sp.csr_array((np.ones_like(x.data), x.indices, x.indptr), shape=x.shape)
    nonzero: Matrix = (x != 0).astype(np.float32)
    return nonzero
