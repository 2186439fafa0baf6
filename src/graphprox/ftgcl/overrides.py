"""How settings name the fields of a recipe: parameters stand for some of them, overrides name any by dots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from graphprox._utils.renamed import renamed_field, renamed_parameter
from graphprox._utils.suggestions import did_you_mean
from graphprox._utils.toml import leaves
from graphprox.errors import ParameterError
from graphprox.ftgcl.recipe_fields import field_names
from graphprox.methods import METHODS, GraphMethod

# Parameters that stand for a field of the recipe.
FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "epochs": "epochs",
        "k_max": "views.k_max",
        "encoder": "encoder.name",
        "n_components": "encoder.n_components",
        "hidden_channels": "encoder.hidden_channels",
        "num_layers": "encoder.num_layers",
        "activation": "encoder.activation",
        "head_layers": "head.num_layers",
        "head_channels": "head.out_channels",
        "temperature": "objective.temperature",
        "learning_rate": "optimizer.learning_rate",
        "weight_decay": "optimizer.weight_decay",
        "normalize": "normalize",
    }
)
# Fields that an override must not name, and what to use instead.
FIXED = {"method": "use the class of another method", "random_state": "set the parameter random_state"}


def check_overrides(overrides: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return overrides as a dict; raise unless they map names of fields that no parameter stands for to values.

    Parameters
    ----------
    overrides : mapping or None

    Returns
    -------
    dict

    Examples
    --------
    >>> check_overrides({"encoder.residual": True}), check_overrides(None)
    ({'encoder.residual': True}, {})
    """
    if overrides is None:
        return {}
    if not isinstance(overrides, Mapping):
        raise ParameterError(
            f"overrides must map fields of a recipe to values, such as {{'encoder.residual': True}}; got {overrides!r}"
        )
    for name, instead in FIXED.items():
        is_own_name = name == "method" and str(overrides.get(name)) not in METHODS
        if name in overrides and not is_own_name:
            raise ParameterError(f"overrides must not contain {name!r}; got {overrides[name]!r}: {instead}")
    fields = flatten_tables(overrides)
    for parameter, field in FIELDS.items():
        if field in fields:
            raise ParameterError(
                f"overrides must not contain {field!r}; got {fields[field]!r}: use the parameter {parameter}"
            )
    return dict(overrides)


def flatten_tables(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields with names with dots in place of nested tables, except in augmentations, whose names are free.

    Parameters
    ----------
    fields : mapping of str to object

    Returns
    -------
    dict

    Examples
    --------
    >>> flatten_tables({"encoder": {"residual": True}, "augmentations": {"light": {"drop_edges": 0.2}}})
    {'augmentations': {'light': {'drop_edges': 0.2}}, 'encoder.residual': True}
    """
    whole = {name: value for name, value in fields.items() if name == "augmentations"}
    return whole | dict(leaves({name: value for name, value in fields.items() if name not in whole}))


def check_names(cls: type[GraphMethod], names: Iterable[str]) -> None:
    """Raise if a name is neither a parameter of a method nor a field of a recipe.

    Parameters
    ----------
    cls : type
        Class of the method.
    names : iterable of str
    """
    tables = {name.partition(".")[0] for name in field_names()}
    for name in names:
        if renamed := renamed_field(name) or renamed_parameter(name, cls.parameters()):
            raise ParameterError(
                f"{cls.info.title} has no setting {name!r}; it was renamed to {renamed!r} in version 0.2"
            )
        if name in FIXED or name.partition(".")[0] not in tables:
            hint = did_you_mean(
                name, [*cls.parameters(), *field_names()], otherwise=f"`graphprox methods {cls.name}` lists them"
            )
            raise ParameterError(f"{cls.info.title} has no setting {name!r}; {hint}")


def without_ranges(views: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of views without ranges of k for single views.

    Parameters
    ----------
    views : mapping
        The table ``views`` of a recipe.

    Returns
    -------
    dict

    Examples
    --------
    >>> without_ranges({"k_max": 8, "feature": {"k_max": 5, "binary": True}})
    {'k_max': 8, 'feature': {'binary': True}}
    """
    return {
        name: {key: each for key, each in value.items() if key not in ("k_min", "k_max")}
        if isinstance(value, Mapping)
        else value
        for name, value in views.items()
    }
