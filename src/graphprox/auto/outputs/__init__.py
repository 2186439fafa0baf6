"""Outputs: what the default method can embed a graph by, one file each."""

from graphprox.auto.outputs.base import OUTPUTS, Output, PreparedGraph, Weights, register_output

__all__ = ["OUTPUTS", "Output", "PreparedGraph", "Weights", "register_output"]
