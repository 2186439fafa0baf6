"""Graph diffusion: features spread along edges."""

from __future__ import annotations

from graphprox._utils.arrays import FloatArray
from graphprox.auto.outputs.base import PreparedGraph, Weights, register_output

ALPHA, HOPS = 0.15, 10
DISTANT_ALPHA, DISTANT_HOPS = 0.05, 20


@register_output("graph", Weights(both=0.5, balanced=1.0, graph=1.0))
def graph_diffusion(prepared: PreparedGraph) -> FloatArray:
    """Features of the node and of those it is connected with, by personalized PageRank.

    Parameters
    ----------
    prepared : PreparedGraph

    Returns
    -------
    ndarray of shape (num_nodes, channels)
    """
    return prepared.diffuse(prepared.edges, prepared.rows, alpha=ALPHA, hops=HOPS)


@register_output("distant", Weights(graph=0.5))
def distant_diffusion(prepared: PreparedGraph) -> FloatArray:
    """Features of nodes further away: the same diffusion with a smaller share of the node's own.

    Parameters
    ----------
    prepared : PreparedGraph

    Returns
    -------
    ndarray of shape (num_nodes, channels)
    """
    return prepared.diffuse(prepared.edges, prepared.rows, alpha=DISTANT_ALPHA, hops=DISTANT_HOPS)


@register_output("view-graph", Weights(balanced=0.7, graph=0.7))
def view_then_graph(prepared: PreparedGraph) -> FloatArray:
    """Features spread over the feature view first, and then along edges.

    Parameters
    ----------
    prepared : PreparedGraph

    Returns
    -------
    ndarray of shape (num_nodes, channels)
    """
    return prepared.diffuse(prepared.edges, prepared.view_rows, alpha=ALPHA, hops=HOPS)
