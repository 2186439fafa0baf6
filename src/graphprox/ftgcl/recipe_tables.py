"""Options of a recipe that belong to no extension point: all views, head, optimizer, augmentations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field, StrictBool, WrapSerializer, model_validator

from graphprox._utils.options_model import (
    FrozenMapping,
    HeadLayers,
    NeighborCount,
    NonNegativeFloat,
    Options,
    PositiveFloat,
    PositiveInt,
    Probability,
    Text,
)
from graphprox._utils.toml import to_plain
from graphprox.errors import ParameterError
from graphprox.views.base import VIEWS, ViewOptions
from graphprox.views.search.engines import AUTO, ENGINES


def _check_engine(name: str) -> str:
    if name not in (AUTO, *ENGINES):
        raise ValueError
    return name


EngineName = Annotated[Text, AfterValidator(_check_engine), Field(description=f"one of {', '.join((AUTO, *ENGINES))}")]


class ViewsOptions(Options):
    """How the proximity views are made.

    Parameters
    ----------
    k_min, k_max : int
        Range of the number of neighbors, sampled uniformly in each epoch. A view can have its own range.
    undirected : bool
        Whether views are undirected.
    engine : str
        Nearest-neighbor search; ``"auto"`` selects it by the size of the graph.
    by_name : mapping of str to ViewOptions
        Options of single views, given and written as tables next to the other fields: ``views.topology``.

    Examples
    --------
    >>> views = ViewsOptions(k_max=8, feature={"k_max": 5})
    >>> views.k_range("feature"), views.k_range("topology")
    ((1, 5), (1, 8))
    """

    prefix: ClassVar[str] = "views."

    k_min: NeighborCount = 1
    k_max: NeighborCount = 10
    undirected: StrictBool = False
    engine: EngineName = AUTO
    by_name: Annotated[Mapping[str, ViewOptions], AfterValidator(FrozenMapping)] = FrozenMapping({})

    @model_validator(mode="before")
    @classmethod
    def _gather_views(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        own = {name: value for name, value in given.items() if name in cls.model_fields}
        tables = {name: value for name, value in given.items() if name not in cls.model_fields}
        by_name = dict(own.get("by_name", {}))
        for name, value in tables.items():
            if name not in VIEWS:
                return {name: value}  # an unknown field, which is reported as such
            if not isinstance(value, Mapping | ViewOptions):
                raise ParameterError(f"views.{name} must be a table; got {value!r}")
            options = VIEWS[name].options
            by_name[name] = value if isinstance(value, options) else options(**to_plain(value))
        # Defaults are left out, so that equal options are equal values.
        return {**own, "by_name": {name: each for name, each in by_name.items() if each != VIEWS[name].options()}}

    @model_validator(mode="after")
    def _check_ranges(self) -> ViewsOptions:
        if self.k_min > self.k_max:
            raise ParameterError(f"views.k_min must be at most views.k_max, which is {self.k_max}; got {self.k_min}")
        for name in self.by_name:
            low, high = self.k_range(name)
            if low > high:
                raise ParameterError(f"views.{name}.k_min must be at most its k_max, which is {high}; got {low}")
        return self

    def k_range(self, view: str) -> tuple[int, int]:
        """Return the smallest and the largest number of neighbors in a view."""
        own = self.by_name.get(view)
        low = self.k_min if own is None or own.k_min is None else own.k_min
        high = self.k_max if own is None or own.k_max is None else own.k_max
        return low, high

    def to_table(self, views: Iterable[str] = ()) -> dict[str, Any]:
        """Return the fields as a table, with a table for each view that has options or is in ``views``."""
        fields = {name: getattr(self, name) for name in type(self).model_fields if name != "by_name"}
        return fields | {name: to_plain(self.options_of(name)) for name in sorted({*self.by_name, *views})}

    def options_of(self, view: str) -> ViewOptions:
        """Return the options of a view, the defaults if none are given."""
        return self.by_name.get(view) or VIEWS.lookup(view).options()


class HeadOptions(Options):
    """The projection head between the encoder and the objective, used in training only.

    Parameters
    ----------
    num_layers : int
        0 for no head, 1 or 2.
    out_channels : int
        Size of its output.

    Examples
    --------
    >>> HeadOptions(num_layers=1).out_channels
    512
    """

    prefix: ClassVar[str] = "head."

    num_layers: HeadLayers = 0
    out_channels: PositiveInt = 512


class OptimizerOptions(Options):
    """Settings of Adam.

    Examples
    --------
    >>> OptimizerOptions().learning_rate
    0.001
    """

    prefix: ClassVar[str] = "optimizer."

    learning_rate: PositiveFloat = 1e-3
    weight_decay: NonNegativeFloat = 5e-5


class AugmentationOptions(Options):
    """A random augmentation of a graph or a view, sampled again in each epoch unless ``edge_samples`` is set.

    Parameters
    ----------
    drop_edges : float
        Share of the edges that are dropped.
    mask_features : float
        Share of the feature columns that are set to zero.
    edge_samples : int, optional
        Number of samples of the kept edges, of which each epoch uses one at random for each source, a different one as
        long as there are some left. Features can then be diffused along them before training. By default each epoch
        makes its own sample.

    Examples
    --------
    >>> AugmentationOptions(drop_edges=0.2).mask_features
    0.0
    """

    prefix: ClassVar[str] = "augmentations.*."  # the recipe fills in the name

    drop_edges: Probability = 0.0
    mask_features: Probability = 0.0
    edge_samples: Annotated[PositiveInt | None, Field(description="a positive integer")] = None

    @model_validator(mode="after")
    def _check_samples(self) -> AugmentationOptions:
        if self.edge_samples is not None and self.drop_edges == 0:
            raise ParameterError(
                "augmentations.*.edge_samples needs augmentations.*.drop_edges above 0, or all samples are the same; "
                f"got drop_edges = 0 and edge_samples = {self.edge_samples}: leave edge_samples out"
            )
        return self


NamedAugmentations = Annotated[
    Mapping[Annotated[str, Field(strict=True, pattern=r"^[a-z0-9-]+$")], AugmentationOptions],
    AfterValidator(FrozenMapping),
    WrapSerializer(lambda named, serialize: serialize(dict(named))),
]
