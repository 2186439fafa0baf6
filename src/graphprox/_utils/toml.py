"""Nested tables and their text in TOML: ``{"encoder": {"n_components": 256}}`` is ``encoder.n_components = 256``."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from graphprox._utils.suggestions import shorten_repr
from graphprox.errors import ParameterError

_OVERRIDE = re.compile(r"\s*([\w-]+(?:\.[\w-]+)*)\s*=\s*(.*\S)\s*", re.DOTALL)
_BARE_WORD = re.compile(r"""[^"'\[\]{}=#\n]+""")


def parse_override(text: str) -> tuple[str, Any]:
    """Parse ``FIELD=VALUE``, where the value is TOML, or a bare word for a string.

    Parameters
    ----------
    text : str

    Returns
    -------
    name : str
    value : object

    Examples
    --------
    >>> parse_override("encoder.n_components = 256"), parse_override("encoder.name=sage")
    (('encoder.n_components', 256), ('encoder.name', 'sage'))
    """
    match = _OVERRIDE.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ParameterError(f"a setting must be NAME=VALUE, such as n_components=256; got {shorten_repr(text)}")
    name, value = match.groups()
    try:
        (parsed,) = tomllib.loads(f"value = {value}").values()  # more than one: there were further lines
    except (ValueError, RecursionError):
        if not _BARE_WORD.fullmatch(value):
            raise ParameterError(
                f'the value of {name} must be TOML, such as 256, true, "relu" or [["graph", "feature"]], quoted for '
                f"the shell; got {shorten_repr(value)}"
            ) from None
        parsed = value
    return name, parsed


def nest(name: str, value: Any) -> dict[str, Any]:
    """Return a value inside the tables that a name with dots denotes.

    Parameters
    ----------
    name : str
    value : object

    Returns
    -------
    dict

    Examples
    --------
    >>> nest("encoder.n_components", 256)
    {'encoder': {'n_components': 256}}
    """
    table, _, rest = name.partition(".")
    return {table: nest(rest, value) if rest else value}


def merge(fields: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields with changes; tables are merged field by field, anything else is replaced.

    Parameters
    ----------
    fields, changes : mapping of str to object

    Returns
    -------
    dict

    Examples
    --------
    >>> merge({"epochs": 5, "encoder": {"n_components": 64, "num_layers": 2}}, {"encoder": {"num_layers": 1}})
    {'epochs': 5, 'encoder': {'n_components': 64, 'num_layers': 1}}
    """
    merged = dict(fields)
    for name, value in changes.items():
        older = merged.get(str(name))
        is_table = isinstance(value, Mapping)
        merged[str(name)] = merge(older if isinstance(older, Mapping) else {}, value) if is_table else value
    return merged


def to_plain(value: Any) -> Any:
    """Convert options to nested dicts; fields that are None are left out, as TOML cannot express them.

    Parameters
    ----------
    value : object
        A pydantic model, a mapping of such, or any other value, which is returned as it is.

    Returns
    -------
    object

    Examples
    --------
    >>> class Size(BaseModel):
    ...     n_components: int
    ...     hidden_channels: int | None = None
    >>> to_plain({"encoder": Size(n_components=256)})
    {'encoder': {'n_components': 256}}
    """
    if hasattr(value, "to_table"):
        return value.to_table()
    if isinstance(value, BaseModel):
        fields = {name: to_plain(getattr(value, name)) for name in type(value).model_fields}
        return {name: field for name, field in fields.items() if field is not None}
    if isinstance(value, Mapping):
        return {name: to_plain(field) for name, field in value.items()}
    return value


def leaves(fields: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the names, with dots, and the values of all fields that are not tables.

    Parameters
    ----------
    fields : mapping of str to object
    prefix : str, default=""
        Prepended to the names.

    Yields
    ------
    name : str
    value : object

    Examples
    --------
    >>> list(leaves({"epochs": 5, "encoder": {"n_components": 256}}))
    [('epochs', 5), ('encoder.n_components', 256)]
    """
    for name, value in fields.items():
        if isinstance(value, Mapping):
            yield from leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def to_toml(fields: Mapping[str, Any], table: str = "") -> str:
    """Return fields as TOML, in their order, but tables last.

    Parameters
    ----------
    fields : mapping of str to object
    table : str, default=""
        Name of the table that the fields belong to.

    Returns
    -------
    str

    Examples
    --------
    >>> print(to_toml({"encoder": {"n_components": 256}, "epochs": 5}), end="")
    epochs = 5
    <BLANKLINE>
    [encoder]
    n_components = 256
    """
    tables = {name: value for name, value in fields.items() if isinstance(value, Mapping)}
    # All values that occur, including printable strings, have the same text in TOML and in JSON.
    lines = [
        f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in fields.items() if name not in tables
    ]
    head = f"\n[{table}]\n" if table and lines else ""
    inner = [to_toml(value, f"{table}.{name}" if table else name) for name, value in tables.items()]
    return head + "".join(lines + inner)
