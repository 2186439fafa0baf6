"""Nested tables, their text in TOML, and words for what was given.

    {"encoder": {"width": 256}}  ◄─►  encoder.width = 256

Nothing here knows what a recipe is.
"""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from graphprox.errors import ParameterError

MOST_SHOWN = 80  # characters of a wrong value in a message
_OVERRIDE = re.compile(r"\s*([\w-]+(?:\.[\w-]+)*)\s*=\s*(.*\S)\s*", re.DOTALL)
_BARE_WORD = re.compile(r"""[^"'\[\]{}=#\n]+""")

# -- tables ---------------------------------------------------------------------------------------------------------


def parsed_override(text: str) -> tuple[str, Any]:
    """The field and the value of ``FIELD=VALUE``: the value is TOML, a bare word a string.

    >>> parsed_override("encoder.width = 256"), parsed_override("encoder.kind=sage")
    (('encoder.width', 256), ('encoder.kind', 'sage'))
    """
    match = _OVERRIDE.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ParameterError(f"an override must be FIELD=VALUE, such as encoder.width=256; got {shown(text)}")
    name, value = match.groups()
    try:
        (parsed,) = tomllib.loads(f"value = {value}").values()  # more than one: there were further lines
    except (ValueError, RecursionError):
        if not _BARE_WORD.fullmatch(value):
            raise ParameterError(
                f'the value of {name} must be TOML, such as 256, true, "relu" or [["graph", "feature"]], with '
                f"quotes that the shell leaves alone; got {shown(value)}"
            ) from None
        parsed = value
    return name, parsed


def nested(name: str, value: Any) -> dict[str, Any]:
    """The value as a table inside the tables that a name with dots tells.

    >>> nested("encoder.width", 256)
    {'encoder': {'width': 256}}
    """
    table, _, rest = name.partition(".")
    return {table: nested(rest, value) if rest else value}


def merge(fields: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The fields with changes; a table is changed field by field, anything else is replaced.

    >>> merge({"steps": 5, "encoder": {"width": 64, "layers": 2}}, {"encoder": {"layers": 1}})
    {'steps': 5, 'encoder': {'width': 64, 'layers': 1}}
    """
    merged = dict(fields)
    for name, value in changes.items():
        older = merged.get(str(name))
        is_table = isinstance(value, Mapping)
        merged[str(name)] = merge(older if isinstance(older, Mapping) else {}, value) if is_table else value
    return merged


def plain(value: Any) -> Any:
    """A model of pydantic's as nested dicts; fields that are None are left out, as TOML has no word for it.

    >>> class Size(BaseModel):
    ...     width: int
    ...     hidden: int | None = None
    >>> plain({"encoder": Size(width=256)})
    {'encoder': {'width': 256}}
    """
    if isinstance(value, BaseModel):
        fields = {name: plain(getattr(value, name)) for name in type(value).model_fields}
        return {name: field for name, field in fields.items() if field is not None}
    if isinstance(value, Mapping):
        return {name: plain(field) for name, field in value.items()}
    return value


def leaves(fields: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The fields that are no tables, named by dots.

    >>> list(leaves({"steps": 5, "encoder": {"width": 256}}))
    [('steps', 5), ('encoder.width', 256)]
    """
    for name, value in fields.items():
        if isinstance(value, Mapping):
            yield from leaves(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def toml(fields: Mapping[str, Any], table: str = "") -> str:
    """The fields as TOML, in their order, tables last; ``table`` is the name of the table that they are.

    >>> print(toml({"encoder": {"width": 256}, "steps": 5}), end="")
    steps = 5
    <BLANKLINE>
    [encoder]
    width = 256
    """
    tables = {name: value for name, value in fields.items() if isinstance(value, Mapping)}
    # Whatever a field can hold, a printable text among them, is written in TOML as in JSON; and a pair on one line.
    lines = [
        f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in fields.items() if name not in tables
    ]
    head = f"\n[{table}]\n" if table and lines else ""
    inner = [toml(value, f"{table}.{name}" if table else name) for name, value in tables.items()]
    return head + "".join(lines + inner)


# -- words ----------------------------------------------------------------------------------------------------------


def shown(value: object) -> str:
    """A wrong value as a message shows it, cut where it is long.

    >>> shown("sage"), len(shown("sage" * 100))
    ("'sage'", 81)
    """
    text = repr(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """A question that names the nearest of the known names; where none is near, all of them.

    >>> did_you_mean("Encodr", ["encoder", "head"]), did_you_mean("x", ["encoder", "head"])
    ("did you mean 'encoder'?", 'there are encoder, head')
    """
    by_lower = {name.lower(): name for name in known}
    near = difflib.get_close_matches(given.lower(), by_lower, n=1)
    return f"did you mean {by_lower[near[0]]!r}?" if near else f"there are {', '.join(by_lower.values())}"
