"""What every baseline is: settings as a frozen value, a few words about itself, and what it makes of a graph.

    Baseline ── about, presets, settings
      ├── EmbeddingBaseline    embed(graph, seed)             a vector for every node; labels play no part
      └── ClassifyingBaseline  predict(graph, split, seed)    a class for every node, learned from labels

A new method is a file with a subclass of one of the two, and a line in :mod:`graphprox.methods.registry`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, asdict, dataclass, field, fields
from typing import Any, ClassVar, Self

import scipy.sparse as sp

from graphprox.arrays import FloatArray, IntArray
from graphprox.errors import ParameterError
from graphprox.graph import Graph
from graphprox.proximity.descriptors import Progress
from graphprox.splits import NodeSplit
from graphprox.training.tables import did_you_mean, shown

DEFAULT = "default"


@dataclass(frozen=True)
class About:
    """A method in words: its name in print, its kind, what it looks at, where it was published, what it does.

    ``uses`` names what a method looks at: A for edges, X for features, Y for labels.
    """

    title: str
    group: str
    uses: str
    paper: str
    summary: str


def setting(default: Any, *, least: float | None = None, most: float | None = None, among: tuple[Any, ...] = ()) -> Any:
    """A field of a baseline with its default, of whose kind all its values are, and the limits of what it may be."""
    return field(default=default, metadata={"least": least, "most": most, "among": among})


@dataclass(frozen=True)
class Baseline(ABC):
    """What all baselines share. ``presets`` are settings by data set, merged over the defaults.

    Subclasses are frozen dataclasses whose fields are made by :func:`setting`; a value beyond the limits is refused.
    """

    about: ClassVar[About]
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    drawn: ClassVar[bool] = True  # whether another seed gives another result

    def __post_init__(self) -> None:
        """Refuse what a setting may not be."""
        for each in fields(self):
            _check(each, getattr(self, each.name))

    @property
    def settings(self) -> dict[str, Any]:
        """All that the result depends on beside the graph and the seed."""
        return asdict(self)

    @classmethod
    def with_settings(cls, preset: str = DEFAULT, overrides: Mapping[str, Any] | None = None) -> Self:
        """The method with a preset's settings, and whatever is overridden."""
        changes = {**cls.presets.get(preset, {}), **(overrides or {})}
        names = [each.name for each in fields(cls)]
        for name in changes:
            if name not in names:
                hint = did_you_mean(name, names) if names else "there is nothing to set"
                raise ParameterError(f"{cls.about.title} has no setting {name!r}; {hint}")
        return cls(**changes)


class EmbeddingBaseline(Baseline):
    """A method that makes a vector for every node, from edges and features alone."""

    @abstractmethod
    def embed(self, graph: Graph, seed: int, *, progress: Progress | None = None) -> FloatArray | sp.csr_array:
        """The embedding, (nodes, width); ``progress`` hears of every epoch."""


class ClassifyingBaseline(Baseline):
    """A method that learns classes from the labels of training nodes, and stops by those of validation nodes."""

    @abstractmethod
    def predict(self, graph: Graph, split: NodeSplit, seed: int, *, progress: Progress | None = None) -> IntArray:
        """The class of every node, (nodes,); labels of test nodes are never looked at."""


# -- the rules for settings -------------------------------------------------------------------------------------------


def _check(each: Field[Any], value: Any) -> None:
    """Refuse a value that is not of the default's kind, or beyond the limits."""
    if each.default is MISSING:
        raise TypeError(f"{each.name} must have a default")  # a mistake of whoever wrote the method
    least, most, among = (each.metadata.get(name) for name in ("least", "most", "among"))
    if among and value not in among:
        raise ParameterError(f"{each.name} must be one of {_listed(among)}; got {shown(value)}")
    if isinstance(each.default, bool) or among:
        fits, rule = type(value) is type(each.default), "true or false"
    elif isinstance(each.default, int):
        fits, rule = isinstance(value, int) and not isinstance(value, bool), "a whole number"
    elif isinstance(each.default, float):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        fits, rule = is_number and math.isfinite(value), "a number"
    else:
        return
    within = fits and (least is None or value >= least) and (most is None or value <= most)
    if not within:
        limits = (f" from {least:g}" if least is not None else "") + (f" to {most:g}" if most is not None else "")
        raise ParameterError(f"{each.name} must be {rule}{limits}; got {shown(value)}")


def _listed(names: Iterable[Any]) -> str:
    return ", ".join(map(str, names))
