"""JSON without the numbers that only some programs read: infinite ones, and NaN."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def dump_json(value: Any, *, indent: int | None = None, ensure_ascii: bool = True) -> str:
    """Return a value as JSON, with null for numbers that are not finite.

    Parameters
    ----------
    value : object
        Mappings, lists, tuples, strings, numbers, booleans and None.
    indent : int, optional
    ensure_ascii : bool, default=True

    Returns
    -------
    str

    Examples
    --------
    >>> dump_json({"loss": float("nan"), "scores": (0.5, float("inf"))})
    '{"loss": null, "scores": [0.5, null]}'
    """
    return json.dumps(_replace_not_finite(value), indent=indent, ensure_ascii=ensure_ascii, allow_nan=False)


def _replace_not_finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _replace_not_finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_not_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
