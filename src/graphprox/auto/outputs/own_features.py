"""Own features: no edges."""

from __future__ import annotations

from graphprox._utils.arrays import FloatArray
from graphprox.auto.outputs.base import PreparedGraph, register_output


@register_output("own")
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
