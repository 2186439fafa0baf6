"""Feature view: features spread over the nodes with similar features."""

from __future__ import annotations

from graphprox._utils.arrays import FloatArray
from graphprox.auto.outputs.base import PreparedGraph, Weights, register_output


@register_output("view", Weights(features=0.3, both=0.3, balanced=0.8))
def feature_view(prepared: PreparedGraph) -> FloatArray:
    """Features of the node and of the nodes with similar features.

    Parameters
    ----------
    prepared : PreparedGraph

    Returns
    -------
    ndarray of shape (num_nodes, channels)
    """
    return prepared.view_rows
