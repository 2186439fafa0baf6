"""Options: tables of validated settings, with errors that are one sentence each."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, Literal, TypeVar, get_args, get_origin

import numpy as np
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from graphprox._utils.suggestions import shorten_repr
from graphprox.errors import ParameterError

V = TypeVar("V")

# -- types of fields ------------------------------------------------------------------------------------------------
# The description is the rule as a message states it: "encoder.n_components must be {description}; got -5".


def _unbox(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _drop_sign_of_zero(value: float) -> float:
    # -0.0 equals 0.0 but is written differently, and equal options must have equal text.
    return value + 0.0


_PLAIN, _SIGN = BeforeValidator(_unbox), AfterValidator(_drop_sign_of_zero)


def integer(low: int, high: int | None = None) -> Any:
    """Return the pydantic field of an integer.

    Parameters
    ----------
    low : int
        Smallest value.
    high : int, optional
        Largest value.

    Returns
    -------
    FieldInfo

    Examples
    --------
    >>> integer(1).description, integer(1, 1000).description
    ('a positive integer', 'an integer between 1 and 1,000')
    """
    kind = {0: "a non-negative integer", 1: "a positive integer"}.get(low, f"an integer of at least {low}")
    rule = kind if high is None else f"an integer between {low} and {high:,}"
    return Field(strict=True, ge=low, le=high, description=rule)


def number(rule: str, **limits: float) -> Any:
    """Return the pydantic field of a finite number.

    Parameters
    ----------
    rule : str
        The limits in words, for messages.
    **limits : float
        The limits as keyword arguments of pydantic's ``Field``, such as ``ge=0``.

    Returns
    -------
    FieldInfo

    Examples
    --------
    >>> number("a number in [0, 1)", ge=0, lt=1).description
    'a number in [0, 1)'
    """
    return Field(strict=True, allow_inf_nan=False, description=rule, **limits)  # type: ignore[call-overload]


NonNegativeInt = Annotated[int, integer(0), _PLAIN]
PositiveInt = Annotated[int, integer(1), _PLAIN]
Seed = Annotated[int, Field(strict=True, ge=0, lt=2**63, description="a non-negative integer below 2^63"), _PLAIN]
NeighborCount = Annotated[int, integer(1, 1_000), _PLAIN]
Amount = Annotated[int, integer(1, 1_000_000), _PLAIN]
Iterations = Annotated[int, integer(0, 1_000), _PLAIN]
HeadLayers = Annotated[int, integer(0, 2), _PLAIN]
Probability = Annotated[float, number("a number in [0, 1)", ge=0, lt=1), _PLAIN, _SIGN]
PositiveFloat = Annotated[float, number("a positive, finite number", gt=0), _PLAIN]
NonNegativeFloat = Annotated[float, number("a non-negative, finite number", ge=0), _PLAIN, _SIGN]
WalkBias = Annotated[float, number("a number between 1e-06 and 1e+06", ge=1e-6, le=1e6), _PLAIN]
Text = Annotated[str, Field(strict=True)]


class Options(BaseModel):
    """A table of settings, validated when it is created and immutable afterwards.

    Invalid values raise a `ParameterError` of one sentence.

    Attributes
    ----------
    prefix : str
        Prepended to the names of fields in messages, such as ``"encoder."``.

    Examples
    --------
    >>> class SizeOptions(Options):
    ...     prefix = "size."
    ...     channels: PositiveInt = 8
    >>> SizeOptions(channels=0)
    Traceback (most recent call last):
    graphprox.errors.ParameterError: size.channels must be a positive integer; got 0
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    prefix: ClassVar[str] = ""

    if not TYPE_CHECKING:  # a type checker knows the fields by themselves

        def __init__(self, /, **fields: Any) -> None:
            try:
                super().__init__(**fields)
            except ValidationError as error:
                raise ParameterError(_to_sentence(type(self), error, fields)) from None


class FrozenMapping(Mapping[str, V], Generic[V]):
    """An immutable, hashable mapping, in the order of its keys.

    Examples
    --------
    >>> FrozenMapping({"b": 1, "a": 2})
    {'a': 2, 'b': 1}
    """

    def __init__(self, items: Mapping[str, V]) -> None:
        self._items = dict(sorted(items.items()))

    def __getitem__(self, name: str) -> V:
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(tuple(self._items.items()))

    def __repr__(self) -> str:
        return repr(self._items)


# -- messages -------------------------------------------------------------------------------------------------------


@dataclass
class _Suggestions:
    """Where messages about unknown fields take suggestions from."""

    known: Callable[[], Iterable[str]] = tuple
    renamed: Callable[[str], str | None] = lambda _: None


_suggestions = _Suggestions()


def set_suggestions(*, known: Callable[[], Iterable[str]], renamed: Callable[[str], str | None]) -> None:
    """Set where messages about unknown fields take suggestions from: the whole that the tables of options are part of.

    Parameters
    ----------
    known : callable
        Returns the full names of all fields.
    renamed : callable
        Returns the present name of a field by its old one, or None.
    """
    _suggestions.known, _suggestions.renamed = known, renamed


def _to_sentence(options: type[Options], error: ValidationError, given: Mapping[str, Any]) -> str:
    """Return the first of pydantic's errors as a sentence."""
    first = error.errors(include_url=False)[0]
    cause = first.get("ctx", {}).get("error")
    name, *inside = map(str, first["loc"]) if first["loc"] else [""]
    if isinstance(cause, ParameterError):  # of a nested table, or of several fields together: it is a sentence already
        return str(cause).replace("augmentations.*", f"augmentations.{inside[0]}") if inside else str(cause)
    if name not in options.model_fields:
        return _describe_unknown_field(options, name)
    if inside and inside[-1] == "[key]":
        return (
            f"a name in {name} must consist of lower-case letters, digits and hyphens; "
            f"got {shorten_repr(first['input'])}"
        )
    if inside and name == "augmentations":
        return f"{name}.{inside[0]} must be a table; got {shorten_repr(first['input'])}"
    return f"{options.prefix}{name} must be {field_rule(options, name)}; got {shorten_repr(given[name])}"


def field_rule(options: type[Options], name: str) -> str:
    """Return which values a field accepts, as a message states it."""
    field = options.model_fields[name]
    if field.description is not None:
        return field.description
    if get_origin(field.annotation) is Literal:
        return f"one of {', '.join(get_args(field.annotation))}"
    return "true or false" if field.annotation is bool else "a table"


def _describe_unknown_field(options: type[Options], name: str) -> str:
    full = options.prefix + name
    if (renamed := _suggestions.renamed(full)) is not None:
        return f"recipe has no field '{full}'; it was renamed to {renamed} in version 0.2"
    own = ", ".join(f"{options.prefix}{each}" for each in options.model_fields)
    if full in set(_suggestions.known()) and "name" in options.model_fields:  # of another encoder or objective
        current = options.model_fields["name"].default
        return f"recipe has no field '{full}' for {options.prefix}name = {current!r}; valid names are {own}"
    return f"recipe has no field '{full}'; {_suggest_field(full) or f'valid names are {own}'}"


def _suggest_field(name: str) -> str | None:
    """Suggest a field of nearly this name, in the same table or else in another."""
    table, _, last = name.rpartition(".")
    known = [each.rpartition(".") for each in _suggestions.known()]
    siblings = {own: f"{place}{dot}{own}" for place, dot, own in known if place == table}
    anywhere = {
        own: f"{place}{dot}{own}" for place, dot, own in reversed(known)
    }  # the first of several with the same name
    if last in anywhere:
        return f"did you mean '{anywhere[last]}'?"
    for names in (siblings, anywhere):
        for near in difflib.get_close_matches(last, names, n=1):
            return f"did you mean '{names[near]}'?"
    return f"valid names are {', '.join(siblings.values())}" if siblings else None
