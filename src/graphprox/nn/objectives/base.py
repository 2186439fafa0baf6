"""Base classes of objectives, their options and their registry.

An objective is one file with a function that is registered by :func:`register_objective`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, cast

from torch import Tensor

from graphprox._utils.options_model import Options, Text
from graphprox._utils.registry import Registry
from graphprox.nn._naming import derive_named_options


class ObjectiveOptions(Options):
    """Options of an objective, declared by a subclass.

    Parameters
    ----------
    name : str
        Name under which the objective is registered. Each objective has its own as the default.

    Attributes
    ----------
    min_channels : int
        Minimum number of channels.
    """

    prefix: ClassVar[str] = "objective."
    min_channels: ClassVar[int] = 1

    name: Text = ""


@dataclass(frozen=True)
class Objective:
    """Registered objective.

    Parameters
    ----------
    name : str
        Name in recipes and on the command line.
    function : callable
        Function of two views and of the fields of ``options`` as keywords, which returns the loss.
    options : type of ObjectiveOptions
        Options of the objective.
    summary : str
        First line of the function's docstring.

    Examples
    --------
    >>> import torch
    >>> channel = OBJECTIVES["channel"]
    >>> channel(torch.eye(2), torch.eye(2), channel.options(temperature=0.5)).item()
    -4.0
    """

    name: str
    function: Callable[..., Tensor]
    options: type[ObjectiveOptions]
    summary: str

    def __post_init__(self) -> None:
        # As functools.wraps does: registries compare entries by where they are defined.
        for attribute in ("__module__", "__qualname__"):
            object.__setattr__(self, attribute, getattr(self.function, attribute))

    def __call__(self, a: Tensor, b: Tensor, options: ObjectiveOptions) -> Tensor:
        """Return the loss of two views.

        Parameters
        ----------
        a, b : Tensor of shape (num_nodes, channels)
            Projections of two views of the same nodes.
        options : ObjectiveOptions
            Options, of the type :attr:`options`.

        Returns
        -------
        Tensor of shape ()
        """
        fields = {field: getattr(options, field) for field in type(options).model_fields if field != "name"}
        return self.function(a, b, **fields)


ObjectiveFunction = TypeVar("ObjectiveFunction", bound=Callable[..., Tensor])

OBJECTIVES: Registry[Objective] = Registry("objective", package="graphprox.nn.objectives", group="graphprox.objectives")


def register_objective(
    name: str, *, options: type[ObjectiveOptions] = ObjectiveOptions
) -> Callable[[ObjectiveFunction], ObjectiveFunction]:
    """Register a function of two views as an objective.

    Parameters
    ----------
    name : str
        Name in recipes and on the command line.
    options : type of ObjectiveOptions
        Options of the function. If ``name`` is not the default of that field, a subclass with that default is used.

    Returns
    -------
    callable
        Decorator of a function ``(a, b, **options) -> Tensor``, which it returns with the options as its attribute
        ``Options``.

    Examples
    --------
    >>> OBJECTIVES["node"].options().name
    'node'
    """

    def register(function: ObjectiveFunction) -> ObjectiveFunction:
        named = derive_named_options(options, name, owner=function)
        summary = (function.__doc__ or "").strip().partition("\n")[0]
        OBJECTIVES.add(name, Objective(name, function, named, summary))
        cast("Any", function).Options = named
        return function

    return register
