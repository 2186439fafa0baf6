"""The family of FT-GCL, as data: which recipe is which method, and with which settings on which data set.

    the default Recipe ◄─ family.toml: the method ◄─ presets.toml: the data set's settings ◄─ overrides

Each is merged over what stands to its left. The settings that the paper prints for a data set are in printed.toml, as
presets of their own: "Cora-paper".
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from graphprox.errors import ParameterError
from graphprox.training.recipe import Recipe
from graphprox.training.tables import did_you_mean

AUTO = "auto"
DEFAULT = "default"


@dataclass(frozen=True)
class Member:
    """A method of the family: its name, what it is called in print, what it does, which groups of presets it takes.

    >>> FAMILY["ft-gcl"].title
    'FT-GCL'
    """

    name: str
    title: str
    group: str
    paper: str
    summary: str
    presets: tuple[str, ...]


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads(files("graphprox.methods").joinpath(name).read_text(encoding="utf-8"))


_RECIPES = _table("family.toml")
_PRESETS = _table("presets.toml")
_PRESETS["ft-gcl"] |= {f"{name}-paper": settings for name, settings in _table("printed.toml").items()}
FAMILY: Mapping[str, Member] = MappingProxyType(
    {
        name: Member(name, each["title"], each["group"], each["paper"], each["summary"], tuple(each["presets"]))
        for name, each in _RECIPES.items()
    }
)


def recipe_for(
    method: str,
    *,
    preset: str = AUTO,
    dataset: str | None = None,
    overrides: Iterable[str] | Mapping[str, Any] = (),
) -> Recipe:
    """The recipe of a method, with a preset's settings and whatever is overridden.

    The ``preset`` "auto" is that of the ``dataset``, or "default" where there is none for it. ``overrides`` are those
    of :meth:`Recipe.with_overrides`.

    >>> recipe = recipe_for("FT-GCL", dataset="Cora", overrides=["steps=20"])
    >>> recipe.method, recipe.encoder.kind, recipe.steps
    ('ft-gcl', 'gat', 20)
    """
    known = _member(method)
    names = preset_names(method)
    if preset == AUTO:
        preset = dataset if dataset is not None and dataset in names else DEFAULT
    if preset not in names:
        raise ParameterError(f"{known.title} has no preset {preset!r}; {did_you_mean(preset, [AUTO, *names])}")
    recipe = Recipe(method=known.name, **_RECIPES[known.name]["recipe"])
    for group in known.presets:
        settings = dict(_PRESETS[group].get(preset, {}))
        if not recipe.corruptions:  # it may take the presets of a method that has some, as FT-GRACE takes GRACE's
            settings.pop("corruptions", None)
        recipe = recipe.merged(settings)
    return recipe.with_overrides(overrides)


def preset_names(method: str) -> tuple[str, ...]:
    """The presets that a method takes, the default first.

    >>> preset_names("grace")
    ('default', 'Cora', 'CiteSeer', 'PubMed', 'DBLP', 'CoauthorCS', 'BlogCatalog')
    """
    return tuple(dict.fromkeys(name for group in _member(method).presets for name in _PRESETS[group]))


def _member(name: str) -> Member:
    """The method of a name, in lower case or not, with hyphens or underscores."""
    plain = name.lower().replace("_", "-")
    if plain not in FAMILY:
        raise ParameterError(f"a method must be one of the family; got {name!r}: {did_you_mean(plain, FAMILY)}")
    return FAMILY[plain]
