"""FT-GCL and its family: what each method contrasts, as fields of a recipe.

    FGCL, TGCL        the graph and one of its views
    FTGCL             the graph and its feature view, then the graph and its topology view
    FTGCLPlus, PEGCL  with augmentations; with a third view
    FTGCLNL           with a contrast of nodes instead of channels

All else is shared (base.py). GRACE is in grace.py, the encoder without training in untrained.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from graphprox.ftgcl.base import ContrastiveEmbedder
from graphprox.ftgcl.presets import load_presets
from graphprox.methods import MethodInfo, parameter, register_method

PAPER = "Zhuo and Tan, Self-Supervised Graph Learning with Proximity-based Views and Channel Contrast, 2021"


@register_method("f-gcl")
class FGCL(ContrastiveEmbedder):
    """F-GCL: contrasts the channels of the graph and of its feature view.

    Parameters are those of :class:`ContrastiveEmbedder`.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> FGCL(epochs=2, n_components=8, cache=False).fit_transform(synthetic(nodes=140)).shape
    (140, 8)
    """

    info = MethodInfo(
        title="F-GCL",
        group="FT-GCL",
        uses="AX",
        summary="contrasts the channels of the graph and of its feature view",
        paper=PAPER,
    )
    presets = load_presets("convolution", "ft-gcl", "large")
    recipe_fields: ClassVar[Mapping[str, Any]] = {"pairs": [["graph", "feature"]]}


@register_method("t-gcl")
class TGCL(ContrastiveEmbedder):
    """T-GCL: contrasts the channels of the graph and of its topology view.

    Parameters are those of :class:`ContrastiveEmbedder`.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> list(TGCL(epochs=2, n_components=8, cache=False).fit(synthetic(nodes=140)).rankings_)
    ['topology']
    """

    info = MethodInfo(
        title="T-GCL",
        group="FT-GCL",
        uses="AX",
        summary="contrasts the channels of the graph and of its topology view",
        paper=PAPER,
    )
    presets = load_presets("convolution", "ft-gcl", "t-gcl", "large")
    recipe_fields: ClassVar[Mapping[str, Any]] = {"pairs": [["graph", "topology"]]}


@register_method("ft-gcl")
class FTGCL(ContrastiveEmbedder):
    """FT-GCL: contrasts the channels of the graph with those of its feature view and its topology view in turn.

    Parameters are those of :class:`ContrastiveEmbedder`.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> embedder = FTGCL(epochs=2, n_components=8, cache=False).fit(synthetic(nodes=140))
    >>> embedder.embedding_.shape, embedder.loss_curve_.shape
    ((140, 8), (2,))
    >>> embedder.transform(synthetic(nodes=210)).shape  # another graph with the same features
    (210, 8)
    """

    info = MethodInfo(
        title="FT-GCL",
        group="FT-GCL",
        uses="AX",
        summary="contrasts the channels of the graph with those of its feature and topology views in turn",
        paper=PAPER,
    )
    presets = load_presets("convolution", "ft-gcl", "large")
    recipe_fields: ClassVar[Mapping[str, Any]] = {"pairs": [["graph", "feature"], ["graph", "topology"]]}


@register_method("ft-gcl-plus")
class FTGCLPlus(ContrastiveEmbedder):
    """FT-GCL+: FT-GCL with dropped edges and masked features, and the graph against itself as a third pair.

    Parameters are those of :class:`ContrastiveEmbedder`, with 60 epochs by default.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> embedder = FTGCLPlus(epochs=3, n_components=8, cache=False).fit(synthetic(nodes=140))
    >>> len(embedder.recipe_.pairs), embedder.recipe_.augmentations["light"].drop_edges
    (3, 0.4)
    """

    info = MethodInfo(
        title="FT-GCL+",
        group="FT-GCL",
        uses="AX",
        summary="FT-GCL with dropped edges and masked features, and the graph against itself as a third pair",
    )
    presets = load_presets("convolution", "ft-gcl-plus", "large", "large-plus")
    recipe_fields: ClassVar[Mapping[str, Any]] = {
        "pairs": [["graph+light", "feature+light"], ["graph+light", "topology+light"], ["graph+light", "graph+light"]],
        "augmentations": {"light": {"drop_edges": 0.4, "mask_features": 0.1}},
    }

    epochs: int = parameter(60, min=0)


@register_method("pe-gcl")
class PEGCL(ContrastiveEmbedder):
    """PE-GCL: FT-GCL with a third view, by the mean features of a node's neighbors.

    Parameters are those of :class:`ContrastiveEmbedder`.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> list(PEGCL(epochs=2, n_components=8, cache=False).fit(synthetic(nodes=140)).rankings_)
    ['feature', 'neighborhood', 'topology']
    """

    info = MethodInfo(
        title="PE-GCL",
        group="FT-GCL",
        uses="AX",
        summary="FT-GCL with a third view, by the mean features of a node's neighbors",
    )
    presets = load_presets("convolution", "ft-gcl", "large")
    recipe_fields: ClassVar[Mapping[str, Any]] = {
        "pairs": [["graph", "feature"], ["graph", "neighborhood"], ["graph", "topology"]]
    }


@register_method("ft-gcl-nl")
class FTGCLNL(ContrastiveEmbedder):
    """FT-GCL-NL: FT-GCL with a contrast of nodes instead of channels.

    The positive pair stays outside of the denominator, as in FT-GCL: only what is contrasted differs. Parameters are
    those of :class:`ContrastiveEmbedder`.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> FTGCLNL(epochs=2, n_components=8, cache=False).fit(synthetic(nodes=140)).recipe_.objective.name
    'node'
    """

    info = MethodInfo(
        title="FT-GCL-NL",
        group="FT-GCL",
        uses="AX",
        summary="FT-GCL with a contrast of nodes instead of channels",
        paper=PAPER,
    )
    presets = load_presets("convolution", "ft-gcl")
    recipe_fields: ClassVar[Mapping[str, Any]] = {
        "pairs": [["graph", "feature"], ["graph", "topology"]],
        "objective": {"name": "node"},
    }
