"""Which recipes can be trained on chunks of nodes, or by several processes that have different nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphprox.nn.encoders.base import ENCODERS
from graphprox.nn.objectives.base import OBJECTIVES

if TYPE_CHECKING:
    from graphprox.ftgcl.recipe import Recipe


def obstacle_to_chunks(recipe: Recipe) -> str | None:
    """Return what a recipe lacks for encoding some nodes without the others, or None if it lacks nothing.

    Parameters
    ----------
    recipe : Recipe

    Returns
    -------
    str or None
        The end of a sentence that begins with what needs it.

    Examples
    --------
    >>> from graphprox.ftgcl.recipe import Recipe
    >>> obstacle_to_chunks(Recipe(encoder={"name": "mlp"})) is None
    True
    >>> print(obstacle_to_chunks(Recipe(encoder={"name": "mlp"}, objective={"name": "node"})))
    an objective that is a function of sums over nodes; got objective.name = 'node': use one of channel
    """
    if OBJECTIVES.lookup(recipe.objective.name).sums is None:
        able = ", ".join(name for name, each in OBJECTIVES.items() if each.sums is not None)
        return (
            "an objective that is a function of sums over nodes; "
            f"got objective.name = {recipe.objective.name!r}: use one of {able}"
        )
    coefficients = ENCODERS.lookup(recipe.encoder.name).feature_diffusion(recipe.encoder)
    if coefficients is None:
        return (
            "an encoder that works on the features of single nodes once they are diffused; "
            f"got encoder.name = {recipe.encoder.name!r} with {recipe.encoder.num_layers} layers and "
            f"encoder.activation = {recipe.encoder.activation!r}: use diffusion with activation none, or mlp"
        )
    for name, augmentation in recipe.augmentations.items():
        if augmentation.drop_edges > 0 and augmentation.edge_samples is None:
            return (
                "dropped edges that are sampled before training; got augmentations."
                f"{name}.drop_edges = {augmentation.drop_edges:g} without samples: set "
                f"augmentations.{name}.edge_samples, such as to 4"
            )
    return None
