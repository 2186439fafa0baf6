"""Positions: who is connected with whom, whatever the features are."""

from __future__ import annotations

from graphprox._utils.arrays import FloatArray
from graphprox.auto.outputs.base import PreparedGraph, Weights, register_output
from graphprox.auto.outputs.graph_diffusion import ALPHA, HOPS


@register_output("positions", Weights(both=0.4, balanced=0.6, graph=0.6, edges=1.0))
def positions(prepared: PreparedGraph) -> FloatArray:
    """Neighbors of the node and of those it is connected with: nodes that are near each other are similar.

    Parameters
    ----------
    prepared : PreparedGraph

    Returns
    -------
    ndarray of shape (num_nodes, channels)
        Zero for nodes that are connected with no node of the fitted graph.
    """
    return prepared.diffuse(prepared.edges, prepared.position_rows, alpha=ALPHA, hops=HOPS)
