"""Parameters of a method: declared with a default and the values they may take, and validated by ``fit``."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import Field, field
from typing import Any, TypeVar

import numpy as np

from graphprox._utils.suggestions import shorten_repr
from graphprox.errors import ParameterError

T = TypeVar("T")


def parameter(
    default: T,
    *,
    min: float | None = None,  # noqa: A002
    max: float | None = None,  # noqa: A002
    choices: Collection[Any] = (),
    kind: type | None = None,
    above: float | None = None,
    optional: bool = False,
    is_setting: bool = True,
) -> T:
    """Declare a parameter of a method: its default, and the values it may take.

    Parameters
    ----------
    default : object
        Default value. All values must be of its type; a float also accepts integers.
    min, max : float, optional
        Inclusive limits of a number.
    above : float, optional
        Exclusive lower limit of a number, in place of ``min``.
    choices : collection, optional
        The values that are accepted; may be a registry.
    kind : type, optional
        Type of the values where the default is None.
    optional : bool, default=False
        Whether None is accepted too; it always is where it is the default.
    is_setting : bool, default=True
        Whether the result depends on it. ``verbose``, for example, is no setting.

    Returns
    -------
    dataclasses.Field
        A field with the limits as metadata; type checkers see the type of the default.

    Examples
    --------
    >>> declared = parameter(512, min=1)
    >>> declared.default, declared.metadata["min"]
    (512, 1)
    """
    limits = {"min": min, "max": max, "above": above, "choices": choices, "kind": kind, "optional": optional}
    return field(default=default, metadata={**limits, "is_setting": is_setting})


# -- validation -----------------------------------------------------------------------------------------------------


def describe_values(declared: Field[Any]) -> str:
    """Return which values a parameter accepts, as a message states it; empty if any.

    Parameters
    ----------
    declared : dataclasses.Field
        One of :meth:`GraphMethod.parameters`.

    Examples
    --------
    >>> from graphprox import DGI
    >>> describe_values(DGI.parameters()["n_components"])
    'a positive integer'
    """
    low, high, above, choices, kind = _limits_of(declared)
    if choices:
        return f"one of {', '.join(map(str, choices))}"
    if kind is bool:
        return "true or false"
    if kind is int and high is None and low in (0, 1):
        return "a positive integer" if low else "a non-negative integer"
    if kind in (int, float):
        return f"{'an integer' if kind is int else 'a finite number'}{_describe_range(low, high, above)}"
    return ""


def check_value(name: str, value: Any, declared: Field[Any]) -> None:
    """Raise a `ParameterError` unless a value is of the type of the default and within the limits.

    Parameters
    ----------
    name : str
        Name of the parameter.
    value : object
    declared : dataclasses.Field
        One of :meth:`GraphMethod.parameters`.
    """
    if value is None and (declared.default is None or declared.metadata.get("optional")):
        return
    low, high, above, choices, kind = _limits_of(declared)
    if choices:
        is_valid = _is_choice(value, choices)
    elif kind is bool:
        is_valid = isinstance(value, bool)
    elif kind is int:
        is_valid = isinstance(value, int | np.integer) and not isinstance(value, bool)
    elif kind is float:
        is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
        is_valid = is_number and math.isfinite(value)
    else:
        return
    is_within = is_valid and (low is None or value >= low) and (high is None or value <= high)
    if not (is_within and (above is None or value > above)):
        raise ParameterError(f"{name} must be {describe_values(declared)}; got {shorten_repr(value)}")


def _limits_of(declared: Field[Any]) -> tuple[float | None, float | None, float | None, Collection[Any], type]:
    """Return minimum, maximum, exclusive minimum, choices and type of a parameter."""
    low, high, above, choices, kind = (declared.metadata.get(key) for key in ("min", "max", "above", "choices", "kind"))
    return low, high, above, choices or (), kind or type(declared.default)


def _is_choice(value: Any, choices: Collection[Any]) -> bool:
    try:
        return value in choices
    except (TypeError, ValueError):  # unhashable; an array
        return False


def _describe_range(low: float | None, high: float | None, above: float | None) -> str:
    if above is not None:
        return f" above {above:g}" + ("" if high is None else f" and at most {high:g}")
    if low is not None and high is not None:
        return f" between {low:g} and {high:g}"
    if low is not None:
        return f" of at least {low:g}"
    return f" of at most {high:g}" if high is not None else ""
