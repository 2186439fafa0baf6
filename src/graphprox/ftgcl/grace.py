"""GRACE, and FT-GRACE, which contrasts proximity views by GRACE's objective."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, get_args

from graphprox.ftgcl.base import ContrastiveEmbedder
from graphprox.ftgcl.estimators import PAPER
from graphprox.ftgcl.presets import load_presets
from graphprox.methods import MethodInfo, parameter, register_method
from graphprox.nn.activation import ActivationName

GRACE_OBJECTIVE = {"name": "node", "positives_in_denominator": True, "intra_view": True}


@dataclass(eq=False, repr=False, kw_only=True)
class _GRACESettings(ContrastiveEmbedder):
    """The defaults of the code of GRACE's authors."""

    presets = load_presets("grace")

    epochs: int = parameter(200, min=0)
    n_components: int = parameter(256, min=1)
    hidden_channels: int | None = parameter(512, min=1, optional=True)
    activation: str = parameter("relu", choices=get_args(ActivationName))
    head_layers: int = parameter(2, min=0, max=2)
    head_channels: int = parameter(256, min=1)
    temperature: float = parameter(0.4, above=0)
    learning_rate: float = parameter(5e-4, above=0)
    weight_decay: float = parameter(1e-5, min=0)


@register_method("ft-grace")
class FTGRACE(_GRACESettings):
    """FT-GRACE: GRACE with the graph and its views in place of two augmented copies of the graph.

    The paper has "proximity graphs as used in FT-GCL", that is, against the graph. Parameters are those of
    :class:`ContrastiveEmbedder`, with GRACE's defaults.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> FTGRACE(epochs=2, n_components=8, cache=False).fit(synthetic(nodes=140)).recipe_.pairs
    (('graph', 'feature'), ('graph', 'topology'))
    """

    info = MethodInfo(
        title="FT-GRACE",
        group="FT-GCL",
        uses="AX",
        summary="GRACE with the graph and its views in place of two augmented copies of the graph",
        paper=PAPER,
    )
    recipe_fields: ClassVar[Mapping[str, Any]] = {
        "pairs": [["graph", "feature"], ["graph", "topology"]],
        "objective": GRACE_OBJECTIVE,
    }


@register_method("grace")
class GRACE(_GRACESettings):
    """GRACE: contrasts the nodes of two augmented copies of the graph, with negatives from both.

    Parameters are those of :class:`ContrastiveEmbedder`, with the defaults of the authors' code; the rates of the
    augmentations are the fields ``augmentations.first`` and ``augmentations.second`` of the recipe.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> GRACE(epochs=2, n_components=8, cache=False).fit(synthetic(nodes=140)).get_feature_names_out()[:2].tolist()
    ['grace0', 'grace1']
    """

    info = MethodInfo(
        title="GRACE",
        group="contrast",
        uses="AX",
        summary="contrasts the nodes of two augmented copies of the graph, with negatives from both",
        paper="Zhu et al., Deep Graph Contrastive Representation Learning, 2020",
    )
    recipe_fields: ClassVar[Mapping[str, Any]] = {
        "pairs": [["graph+first", "graph+second"]],
        "objective": GRACE_OBJECTIVE,
        "augmentations": {
            "first": {"drop_edges": 0.2, "mask_features": 0.3},
            "second": {"drop_edges": 0.4, "mask_features": 0.4},
        },
    }
