"""Sources by their names: a recipe contrasts pairs of them, such as ``["graph", "feature+light"]``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from graphprox._utils.suggestions import did_you_mean, shorten_repr
from graphprox.errors import ParameterError
from graphprox.ftgcl.recipe_tables import AugmentationOptions
from graphprox.views.base import VIEWS

GRAPH = "graph"
_SOURCE = re.compile(r"([A-Za-z0-9_-]+)(\+[a-z0-9-]+)?")


def split_source(source: str) -> tuple[str, str | None]:
    """Split a source into the graph or view it is made from, and the name of its augmentation.

    Examples
    --------
    >>> split_source("graph+light"), split_source("feature")
    (('graph', 'light'), ('feature', None))
    """
    base, _, augmentation = source.partition("+")
    return base, augmentation or None


def used_augmentations(pairs: Any) -> set[str | None]:
    """Return the names of the augmentations in pairs, which may be invalid."""
    try:
        return {split_source(source)[1] for pair in pairs for source in pair}
    except (AttributeError, TypeError):
        return set()


def check_sources(pairs: tuple[tuple[str, str], ...], augmentations: Mapping[str, AugmentationOptions]) -> None:
    """Raise unless pairs consist of known sources, and use all augmentations and no others."""
    used = set()
    for pair in pairs:
        for source in pair:
            base, augmentation = split_source(source)
            if not _SOURCE.fullmatch(source) or (base != GRAPH and base not in VIEWS):
                raise ParameterError(
                    f"pairs must consist of sources, each one of {', '.join((GRAPH, *VIEWS))}, alone or with an "
                    f"augmentation as in 'graph+light'; got {shorten_repr(source)}"
                )
            if augmentation is not None and augmentation not in augmentations:
                known = did_you_mean(augmentation, augmentations) if augmentations else None
                raise ParameterError(
                    f"pairs must name augmentations that the recipe defines; got {shorten_repr(source)}: "
                    f"{known or f'add [augmentations.{augmentation}]'}"
                )
            used.add(augmentation)
        if pair[0] == pair[1] and "+" not in pair[0]:
            raise ParameterError(f"pairs must consist of sources that differ or are augmented; got {pair[0]!r} twice")
    for name in augmentations:
        if name not in used:
            raise ParameterError(
                f"augmentations.{name} must be used in pairs; no source there ends in '+{name}': correct the name, or "
                "remove it"
            )
