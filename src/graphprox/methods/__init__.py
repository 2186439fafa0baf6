"""The interface of all methods, their registry, and the methods that do not share FT-GCL's trainer, one file each.

Those that do are defined in `graphprox.ftgcl`: the FT-GCL family, GRACE and the untrained encoder.
"""

from graphprox._utils.progress import Progress
from graphprox.methods.base import GraphMethod
from graphprox.methods.classifier import NodeClassifier
from graphprox.methods.embedder import GraphEmbedder, InductiveEmbedder
from graphprox.methods.factory import embed, method
from graphprox.methods.parameters import parameter
from graphprox.methods.registration import METHODS, MethodInfo, register_method

__all__ = [
    "METHODS",
    "GraphEmbedder",
    "GraphMethod",
    "InductiveEmbedder",
    "MethodInfo",
    "NodeClassifier",
    "Progress",
    "embed",
    "method",
    "parameter",
    "register_method",
]
