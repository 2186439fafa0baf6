"""graphprox methods: what can be asked for by name."""

from __future__ import annotations

import json

from rich.console import Console
from rich.table import Table

from graphprox.cli.options import JsonOption, VerboseOption


def methods(
    as_json: JsonOption = False,
    verbose: VerboseOption = False,  # noqa: ARG001 - main looks at it
) -> None:
    """List the methods: name, kind, what each looks at (A: edges, X: features, Y: labels), and what it does.

    `graphprox embed GRAPH --method NAME` takes any that makes an embedding, `graphprox compare` any of them.

    Examples:

    - `graphprox methods`
    - `graphprox methods --json`
    """
    from graphprox.methods.registry import METHODS

    rows = [
        {
            "name": each.name,
            "title": each.about.title,
            "group": each.about.group,
            "uses": each.about.uses,
            "paper": each.about.paper,
            "summary": each.about.summary,
            "presets": list(each.presets),
        }
        for each in METHODS.values()
    ]
    if as_json:
        print(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    console = Console(highlight=False, emoji=False, markup=False)
    columns = _COLUMNS if console.width < _WIDE else (*_COLUMNS, "paper")
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, no_wrap=column in ("name", "uses"))
    groups = list(dict.fromkeys(row["group"] for row in rows))
    for row in sorted(rows, key=lambda row: groups.index(row["group"])):
        table.add_row(*(str(row[column]) for column in columns))
    console.print(table)


_COLUMNS = ("name", "group", "uses", "summary")
_WIDE = 160  # columns of a terminal that has room for where each was published
