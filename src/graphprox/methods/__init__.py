"""All methods but the FT-GCL family, one file each; the interface of all methods, and their registry."""

from graphprox.methods.base import (
    METHODS,
    GraphEmbedder,
    GraphMethod,
    InductiveEmbedder,
    MethodInfo,
    NodeClassifier,
    parameter,
    register_method,
)
from graphprox.methods.registry import embed, method

__all__ = [
    "METHODS",
    "GraphEmbedder",
    "GraphMethod",
    "InductiveEmbedder",
    "MethodInfo",
    "NodeClassifier",
    "embed",
    "method",
    "parameter",
    "register_method",
]
