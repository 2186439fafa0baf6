"""graphprox methods: the registered methods, and the settings of one."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from graphprox.cli.options import JsonOption, complete_method

if TYPE_CHECKING:
    from graphprox.methods.base import GraphMethod

_COLUMNS = ("name", "group", "uses", "summary")
_WIDE = 160  # columns of a terminal with room for where each method was published


def list_methods(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="Show the settings of this method.", autocompletion=complete_method, show_default=False
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the methods, or the settings of one with their defaults, ranges and presets.

    The column "uses" names what a method reads: A for edges, X for features, Y for labels. `graphprox embed GRAPH
    --method NAME` runs any method that makes embeddings, `graphprox compare` any of them.

    Examples:

    - `graphprox methods`
    - `graphprox methods dgi`
    - `graphprox methods ft-gcl --json`
    """
    from graphprox.methods.base import METHODS
    from graphprox.methods.registry import methods_by_group

    if name is not None:
        _show_method(METHODS.lookup(name), as_json)
        return
    rows = [_summarize(each) for each in methods_by_group()]
    if as_json:
        print(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    console = Console(highlight=False, emoji=False, markup=False)
    columns = _COLUMNS if console.width < _WIDE else (*_COLUMNS, "paper")
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, no_wrap=column in ("name", "uses"))
    for row in rows:
        table.add_row(*(str(row[column]) for column in columns))
    console.print(table)


def _summarize(method: type[GraphMethod]) -> dict[str, Any]:
    return {
        "name": method.name,
        "class": method.__name__,
        "title": method.info.title,
        "group": method.info.group,
        "uses": method.info.uses,
        "paper": method.info.paper,
        "summary": method.info.summary,
        "presets": list(method.preset_names()),
    }


# -- one method -----------------------------------------------------------------------------------------------------


def _show_method(method: type[GraphMethod], as_json: bool) -> None:
    settings = [*_parameters(method), *_recipe_fields(method)]
    presets = {name: _differences(method, name) for name in method.preset_names()}
    if as_json:
        described = {**_summarize(method), "settings": settings, "presets": presets}
        print(json.dumps(described, indent=2, ensure_ascii=False))
        return
    console = Console(highlight=False, emoji=False, markup=False, soft_wrap=True)
    console.print(f"{method.info.title} (graphprox.{method.__name__}): {method.info.summary}")
    if method.info.paper:
        console.print(method.info.paper)
    if settings:
        console.print()
        console.print(_settings_table(settings))
    if len(presets) > 1:
        console.print("\npresets, where they differ from the defaults", style="bold")
    for name, changes in presets.items():
        if changes:
            console.print(f"{name}: {' '.join(f'{setting}={_shown(value)}' for setting, value in changes.items())}")


def _settings_table(settings: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("setting", no_wrap=True)
    table.add_column("default", max_width=12)
    table.add_column("values")
    for each in settings:
        table.add_row(each["name"], _shown(each["default"]), each["values"])
    return table


def _shown(value: Any) -> str:
    """Write a value as ``--set`` reads it; None cannot be given."""
    if value is None:
        return "-"
    return value if isinstance(value, str) else json.dumps(value)


def _parameters(method: type[GraphMethod]) -> list[dict[str, Any]]:
    from graphprox.methods.base import describe_values

    return [
        {"name": name, "default": each.default, "values": describe_values(each)}
        for name, each in method.parameters().items()
        if each.metadata.get("is_setting", True) and name != "overrides"
    ]


def _recipe_fields(method: type[GraphMethod]) -> list[dict[str, Any]]:
    """Describe the fields of the recipe of FT-GCL and its family that are no parameters."""
    from graphprox._utils.toml import leaves, to_plain
    from graphprox.ftgcl.estimators import FIELDS, ContrastiveEmbedder
    from graphprox.ftgcl.recipe import field_rules

    if not issubclass(method, ContrastiveEmbedder):
        return []
    rules = field_rules()
    recipe = to_plain(method(preset="default").recipe())
    return [
        {"name": name, "default": value, "values": rules.get(re.sub(r"^augmentations\.[^.]+", "augmentations.*", name))}
        for name, value in leaves(recipe)
        if name not in FIELDS.values() and name not in ("method", "random_state")
    ]


def _differences(method: type[GraphMethod], preset: str) -> dict[str, Any]:
    """Return the settings in which a preset differs from the defaults."""
    default, changed = method(preset="default"), method.from_preset(preset)
    names = [name for name in method.parameters() if getattr(changed, name) != getattr(default, name)]
    return {name: getattr(changed, name) for name in names if name != "overrides"} | (
        getattr(changed, "overrides", None) or {}
    )
