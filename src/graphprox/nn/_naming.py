"""Options models that carry the name of what they configure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar

from pydantic import create_model

from graphprox._utils.options_model import Options

OptionsModel = TypeVar("OptionsModel", bound=Options)


def derive_named_options(
    options: type[OptionsModel], name: str, *, owner: type | Callable[..., Any]
) -> type[OptionsModel]:
    """Return an options model whose ``name`` is fixed.

    Parameters
    ----------
    options : type of Options
        Model with a field ``name``.
    name : str
        Name of the encoder or objective.
    owner : type or callable
        Class or function that gets the model as its attribute ``Options``, where pickle finds it.

    Returns
    -------
    type of Options
        ``options`` itself where ``name`` is already the default, otherwise a subclass.
    """
    if options.model_fields["name"].default == name:
        return options
    derived = create_model(
        options.__name__,
        __base__=options,
        __doc__=options.__doc__,
        __module__=owner.__module__,
        name=(Literal[name], name),  # type: ignore[arg-type]
    )
    derived.__qualname__ = f"{owner.__qualname__}.Options"
    return derived
