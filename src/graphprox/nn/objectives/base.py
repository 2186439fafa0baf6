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
from graphprox.errors import ParameterError
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
class SumsOverNodes:
    """How an objective follows from sums over nodes, as those of parts of a graph add up.

    Parameters
    ----------
    statistics : callable
        Function of two views, or of the same rows of both, that returns a tuple of tensors. Elementwise, the tuples of
        disjoint rows add up to that of all.
    loss : callable
        Function of the statistics of all rows, and of the options of the objective as keywords.
    """

    statistics: Callable[[Tensor, Tensor], tuple[Tensor, ...]]
    loss: Callable[..., Tensor]


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
    sums : SumsOverNodes, optional
        How it follows from sums over nodes. Without, all nodes have to be in the memory of one process.

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
    sums: SumsOverNodes | None = None

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
        return self.function(a, b, **_to_keywords(options))

    def loss_of(self, statistics: tuple[Tensor, ...], options: ObjectiveOptions) -> Tensor:
        """Return the loss that follows from the sums over all nodes.

        Parameters
        ----------
        statistics : tuple of Tensor
            Elementwise sum of what ``sums.statistics`` returns for all rows of two views.
        options : ObjectiveOptions
            Options, of the type :attr:`options`.

        Returns
        -------
        Tensor of shape ()
        """
        if self.sums is None:
            raise ParameterError(f"an objective must be a function of sums over nodes; {self.name!r} is not")
        return self.sums.loss(statistics, **_to_keywords(options))


def _to_keywords(options: ObjectiveOptions) -> dict[str, Any]:
    return {field: getattr(options, field) for field in type(options).model_fields if field != "name"}


ObjectiveFunction = TypeVar("ObjectiveFunction", bound=Callable[..., Tensor])

OBJECTIVES: Registry[Objective] = Registry("objective", package="graphprox.nn.objectives", group="graphprox.objectives")


def register_objective(
    name: str, *, options: type[ObjectiveOptions] = ObjectiveOptions, sums: SumsOverNodes | None = None
) -> Callable[[ObjectiveFunction], ObjectiveFunction]:
    """Register a function of two views as an objective.

    Parameters
    ----------
    name : str
        Name in recipes and on the command line.
    options : type of ObjectiveOptions
        Options of the function. If ``name`` is not the default of that field, a subclass with that default is used.
    sums : SumsOverNodes, optional
        How the objective follows from sums over nodes, which training by several processes needs.

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
        OBJECTIVES.add(name, Objective(name, function, named, summary, sums))
        cast("Any", function).Options = named
        return function

    return register
