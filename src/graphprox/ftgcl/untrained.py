"""The untrained encoder, a floor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from graphprox.ftgcl.base import ContrastiveEmbedder
from graphprox.ftgcl.presets import load_presets
from graphprox.methods import MethodInfo, parameter, register_method


@register_method("untrained")
class UntrainedEncoder(ContrastiveEmbedder):
    """The encoder of FT-GCL with its initial weights, as a floor that training should exceed.

    Parameters are those of :class:`ContrastiveEmbedder`; the number of epochs is 0.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> UntrainedEncoder(n_components=8).fit_transform(synthetic(nodes=140)).shape
    (140, 8)
    """

    info = MethodInfo(
        title="Untrained encoder",
        group="floor",
        uses="AX",
        summary="the encoder of FT-GCL with its initial weights",
    )
    presets = load_presets("convolution", "ft-gcl")
    recipe_fields: ClassVar[Mapping[str, Any]] = {"pairs": [["graph", "feature"], ["graph", "topology"]]}
    forced_fields: ClassVar[Mapping[str, Any]] = {"epochs": 0}

    epochs: int = parameter(0, min=0, max=0)
