"""The fields of a recipe by their names with dots, with those of every view, encoder and objective."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from graphprox._utils.options_model import Options, field_rule, set_suggestions
from graphprox._utils.renamed import renamed_field
from graphprox.ftgcl.recipe import Recipe
from graphprox.ftgcl.recipe_tables import AugmentationOptions, HeadOptions, OptimizerOptions, ViewsOptions
from graphprox.nn.encoders.base import ENCODERS
from graphprox.nn.objectives.base import OBJECTIVES
from graphprox.views.base import VIEWS


def field_names(options: type[Options] = Recipe) -> Iterator[str]:
    """Yield the fields of a recipe, named by dots, with those of everything that is registered.

    Examples
    --------
    >>> list(field_names(HeadOptions))
    ['head.num_layers', 'head.out_channels']
    """
    tables = _tables() if options is Recipe else {}
    names_of_tables = {"views": [f"views.{view}" for view in VIEWS]} if options is Recipe else {}
    seen = {"views.by_name"}
    for name in options.model_fields:
        inner = (each for kind in tables.get(name, []) for each in field_names(kind))
        for each in (f"{options.prefix}{name}", *inner, *names_of_tables.get(name, ())):
            if each not in seen:
                yield each
            seen.add(each)


def field_rules() -> dict[str, str]:
    """Return which values each field of a recipe accepts, by its name with dots.

    Examples
    --------
    >>> field_rules()["head.num_layers"]
    'an integer between 0 and 2'
    """
    tables: list[type[Options]] = [Recipe, *(each for options in _tables().values() for each in options)]
    rules = {f"{each.prefix}{name}": field_rule(each, name) for each in tables for name in each.model_fields}
    rules["encoder.name"] = f"one of {', '.join(ENCODERS)}"
    rules["objective.name"] = f"one of {', '.join(OBJECTIVES)}"
    return rules


def _tables() -> dict[str, list[type[Options]]]:
    """Return the options that a table of a recipe may have."""
    return {
        "views": [ViewsOptions, *(view.options for view in VIEWS.values())],
        "encoder": [encoder.Options for encoder in ENCODERS.values()],
        "objective": [objective.options for objective in OBJECTIVES.values()],
        "head": [HeadOptions],
        "optimizer": [OptimizerOptions],
        "augmentations": [AugmentationOptions],
    }


def get_field(recipe: Recipe, name: str) -> Any:
    """Return a field of a recipe by its name with dots.

    Examples
    --------
    >>> get_field(Recipe(), "views.topology.num_walks")
    30
    """
    value: Any = recipe
    for part in name.split("."):
        if isinstance(value, ViewsOptions) and part in VIEWS:
            value = value.options_of(part)
        else:
            value = value[part] if isinstance(value, Mapping) else getattr(value, part)
    return value


def has_field(recipe: Recipe, name: str) -> bool:
    """Return whether a recipe has a field of a name with dots.

    Examples
    --------
    >>> has_field(Recipe(), "encoder.heads"), has_field(Recipe(encoder={"name": "gat"}), "encoder.heads")
    (False, True)
    """
    try:
        get_field(recipe, name)
    except (AttributeError, KeyError):
        return False
    return True


set_suggestions(known=field_names, renamed=renamed_field)
