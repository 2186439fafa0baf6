"""Registration of methods: their facts, their registry, and the decorator that adds a class to it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast, dataclass_transform

from graphprox._utils.registry import Registry
from graphprox.errors import ParameterError

if TYPE_CHECKING:
    from graphprox.methods.base import GraphMethod

C = TypeVar("C", bound="type[GraphMethod]")

METHODS: Registry[type[GraphMethod]] = Registry(
    "method", package=("graphprox.methods", "graphprox.ftgcl"), group="graphprox.methods"
)


@dataclass(frozen=True)
class MethodInfo:
    """Facts about a method.

    Parameters
    ----------
    title : str
        Name in print, such as ``"DGI"``.
    group : str
        Kind of method, by which tables are ordered.
    uses : str
        What the method reads: A for edges, X for features, Y for labels.
    summary : str
        What it does, in one line.
    paper : str
        Where it was published; empty if nowhere.

    Examples
    --------
    >>> from graphprox import DGI
    >>> DGI.info.title, DGI.info.uses, DGI.info.paper
    ('DGI', 'AX', 'Veličković et al., Deep Graph Infomax, ICLR 2019')
    """

    title: str
    group: str
    uses: str
    summary: str
    paper: str = ""


@dataclass_transform(kw_only_default=True, eq_default=False)
def register_method(name: str) -> Callable[[C], C]:
    """Register a class as a method, and make its annotated parameters those of its constructor.

    Parameters
    ----------
    name : str
        Name on the command line and for :func:`graphprox.method`, in lower case with hyphens.

    Returns
    -------
    callable
        Decorator of a class, which it returns with its constructor.

    Raises
    ------
    ParameterError
        If the class has no `MethodInfo` as its attribute ``info``, or the name is taken.

    Examples
    --------
    >>> from graphprox import DGI, GraphEmbedder
    >>> METHODS["dgi"] is DGI  # the class is decorated by @register_method("dgi")
    True
    >>> @register_method("nothing")
    ... class Nothing(GraphEmbedder):
    ...     pass
    Traceback (most recent call last):
    graphprox.errors.ParameterError: a method must state its facts; Nothing has no attribute info: set a MethodInfo
    """

    def register(cls: C) -> C:
        if not isinstance(getattr(cls, "info", None), MethodInfo):
            raise ParameterError(
                f"a method must state its facts; {cls.__name__} has no attribute info: set a MethodInfo"
            )
        made = cast("C", dataclass(eq=False, repr=False, kw_only=True)(cls))
        made.name = name
        made.ignores_structural_features |= "X" not in made.info.uses
        made.__doc__ = _inherit_parameters(made)
        _record_explicit(made)
        METHODS.add(name, made)
        return made

    return register


def _record_explicit(cls: type[GraphMethod]) -> None:
    """Make the constructor record which parameters it was given."""
    original: Any = cls.__init__

    @wraps(original)
    def init(self: GraphMethod, **parameters: Any) -> None:
        self._reject_renamed(parameters)
        original(self, **parameters)
        self._mark_explicit(parameters)

    setattr(cls, "__init__", init)  # noqa: B010 - a type checker refuses to assign to a method


def _inherit_parameters(cls: type[GraphMethod]) -> str | None:
    """Return the docstring with the Parameters section of a base class, if it has none, and its own defaults."""
    own = inspect.cleandoc(cls.__doc__ or "")
    if "Parameters\n----------" in own:
        return cls.__doc__
    for base in cls.__mro__[1:]:
        found = re.search(r"Parameters\n-+\n(.*?)(?=\n\n\w+\n-+\n|\Z)", inspect.getdoc(base) or "", flags=re.DOTALL)
        if found is not None:
            break
    else:
        return cls.__doc__
    section = found[0]
    for name, each in cls.__dataclass_fields__.items():
        section = re.sub(rf"^({name} : .*default=).*$", rf"\g<1>{each.default!r}", section, flags=re.MULTILINE)
    summary, _, rest = own.partition("\n\nExamples\n")
    return f"{summary}\n\n{section}" + (f"\n\nExamples\n{rest}" if rest else "")
