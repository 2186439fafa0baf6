"""Own features: no edges."""

from __future__ import annotations

from graphprox._utils.arrays import FloatArray
from graphprox.auto.outputs.base import PreparedGraph, Weights, register_output


@register_output("own", Weights(features=1.0, both=1.0, balanced=0.8, graph=0.5))
def own_features(prepared: PreparedGraph) -> FloatArray:
    """Features of the node itself.

    Parameters
    ----------
    prepared : PreparedGraph

    Returns
    -------
    ndarray of shape (num_nodes, channels)
    """
    return prepared.rows
