"""graphprox methods: the registered methods, and the settings of one."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from graphprox._utils.strict_json import dump_json
from graphprox.cli.options import JsonOption, complete_method

if TYPE_CHECKING:
    from graphprox.methods import GraphMethod

_COLUMNS = ("name", "group", "uses", "summary")
OVERRIDES = "overrides"  # parameter of FT-GCL and its family for fields of the recipe that are no parameters
OPTIONS = {"n_components": "--dim", "epochs": "--epochs"}  # settings with an option of their own
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

    Settings are listed as the command line and as Python spell them: `--set NAME=VALUE`, or an option of their own.

    The column "uses" names what a method reads: A for edges, X for features, Y for labels. `graphprox embed GRAPH
    --method NAME` runs any method that makes embeddings, `graphprox compare` any of them.

    Examples:

    - `graphprox methods`
    - `graphprox methods dgi`
    - `graphprox methods ft-gcl --json`
    """
    from graphprox.methods import METHODS
    from graphprox.methods.factory import methods_by_group

    if name is not None:
        _show_method(METHODS.lookup(name), as_json)
        return
    rows = [_summarize(each) for each in methods_by_group()]
    if as_json:
        print(dump_json(rows, indent=2, ensure_ascii=False))
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
        print(dump_json(described, indent=2, ensure_ascii=False))
        return
    console = Console(highlight=False, emoji=False, markup=False, soft_wrap=True)
    console.print(f"{method.info.title} ({_python_path(method)}): {method.info.summary}")
    if method.info.paper:
        console.print(method.info.paper)
    if settings:
        console.print()
        console.print(_settings_table(settings))
    if any(each["python"] == OVERRIDES for each in settings):
        console.print(f'\n{OVERRIDES} in Python: {_python_path(method)}({OVERRIDES}={{"NAME": VALUE}})')
    if len(presets) > 1:
        console.print("\npresets, where they differ from the defaults", style="bold")
    for name, changes in presets.items():
        if changes:
            console.print(
                f"{name}: {' '.join(f'{setting}={_format_value(value)}' for setting, value in changes.items())}"
            )


def _python_path(method: type[GraphMethod]) -> str:
    """Return where to import a method from: ``graphprox``, or the module of another package."""
    package = "graphprox" if method.__module__.startswith("graphprox.") else method.__module__
    return f"{package}.{method.__name__}"


def _settings_table(settings: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("command line", no_wrap=True)
    table.add_column("Python", no_wrap=True)
    table.add_column("default", max_width=12)
    table.add_column("values")
    for each in settings:
        table.add_row(each["option"], each["python"], _format_value(each["default"]), each["values"])
    return table


def _describe_setting(name: str, default: Any, values: str | None, *, python: str) -> dict[str, Any]:
    """Describe a setting: its spelling on the command line and in Python, its default and its values."""
    option = OPTIONS.get(name, f"--set {name}")
    return {"name": name, "option": option, "python": python, "default": default, "values": values}


def _format_value(value: Any) -> str:
    """Format a value as ``--set`` parses it; None cannot be given."""
    if value is None:
        return "-"
    return value if isinstance(value, str) else json.dumps(value)


def _parameters(method: type[GraphMethod]) -> list[dict[str, Any]]:
    from graphprox.methods.parameters import describe_values

    return [
        _describe_setting(name, each.default, describe_values(each), python=name)
        for name, each in method.parameters().items()
        if each.metadata.get("is_setting", True) and name != OVERRIDES
    ]


def _recipe_fields(method: type[GraphMethod]) -> list[dict[str, Any]]:
    """Describe the fields of the recipe of FT-GCL and its family that are not parameters."""
    from graphprox.ftgcl.recipe_fields import field_rules

    rules = field_rules()
    return [
        _describe_setting(
            name, value, rules.get(re.sub(r"^augmentations\.[^.]+", "augmentations.*", name)), python=OVERRIDES
        )
        for name, value in method(preset="default").settings().items()
        if name not in method.parameters()
    ]


def _differences(method: type[GraphMethod], preset: str) -> dict[str, Any]:
    """Return the settings in which a preset differs from the defaults."""
    default, changed = method(preset="default"), method.from_preset(preset)
    names = [name for name in method.parameters() if getattr(changed, name) != getattr(default, name)]
    return {name: getattr(changed, name) for name in names if name != OVERRIDES} | (
        getattr(changed, OVERRIDES, None) or {}
    )
