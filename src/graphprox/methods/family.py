"""The family of FT-GCL, as data: which recipe is which method, and with which settings on which data set.

    the default Recipe ◄─ family.toml: the method ◄─ presets.toml: the data set's settings ◄─ overrides

Each is merged over what stands to its left.
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
class Method:
    """A method of the family: its name, what it is called in print, what it does, which group of presets it takes.

    >>> METHODS["ft-gcl"].title
    'FT-GCL'
    """

    name: str
    title: str
    summary: str
    presets: str


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads(files("graphprox.methods").joinpath(name).read_text(encoding="utf-8"))


_FAMILY = _table("family.toml")
_PRESETS = _table("presets.toml")
METHODS: Mapping[str, Method] = MappingProxyType(
    {name: Method(name, each["title"], each["summary"], each["presets"]) for name, each in _FAMILY.items()}
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
    >>> recipe.method, recipe.views.k_max, recipe.steps
    ('ft-gcl', 8, 20)
    """
    known = _method(method)
    presets = _PRESETS[known.presets]
    if preset == AUTO:
        preset = dataset if dataset is not None and dataset in presets else DEFAULT
    if preset not in presets:
        raise ParameterError(f"{known.title} has no preset {preset!r}; {did_you_mean(preset, [AUTO, *presets])}")
    recipe = Recipe(method=known.name, **_FAMILY[known.name]["recipe"])
    return recipe.merged(presets[preset]).with_overrides(overrides)


def preset_names(method: str) -> tuple[str, ...]:
    """The presets that a method takes, the default first.

    >>> preset_names("grace")
    ('default', 'Cora', 'CiteSeer', 'PubMed', 'DBLP')
    """
    return tuple(_PRESETS[_method(method).presets])


def _method(name: str) -> Method:
    """The method of a name, in lower case or not, with hyphens or underscores."""
    plain = name.lower().replace("_", "-")
    if plain not in METHODS:
        raise ParameterError(f"a method must be one of the family; got {name!r}: {did_you_mean(plain, METHODS)}")
    return METHODS[plain]
