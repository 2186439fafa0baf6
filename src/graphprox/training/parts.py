"""The parts of a recipe, and what is wrong with a field of them, in a sentence.

What one field may be stands beside the field; what fields must be to one another is checked by `Recipe`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args, get_origin

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    ValidationError,
    WrapSerializer,
)

from graphprox.errors import ParameterError
from graphprox.training.tables import shown

# -- the rules for one field ----------------------------------------------------------------------------------------
# The description is the rule as a message tells it: "encoder.width must be {description}; got -5".


def _unboxed(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _positive_zero(value: float) -> float:
    # -0.0 equals 0.0 but is written otherwise, and equal recipes have one text.
    return value + 0.0


def _name_for_people(value: str) -> str:
    if not value or value != value.strip() or value != value.lower() or not value.isprintable():
        raise ValueError
    return value


def _whole(least: int, most: int | None = None) -> Any:
    rule = f"a whole number of {least} or more" if most is None else f"a whole number in {least}..{most:,}"
    return Field(strict=True, ge=least, le=most, description=rule)


def _number(rule: str, **limits: float) -> Any:
    return Field(strict=True, allow_inf_nan=False, description=rule, **limits)  # type: ignore[call-overload]


_PLAIN, _SIGN = BeforeValidator(_unboxed), AfterValidator(_positive_zero)

Count = Annotated[int, _whole(0), _PLAIN]
_Size = Annotated[int, _whole(1), _PLAIN]
Seed = Annotated[int, Field(strict=True, ge=0, lt=2**63, description="a whole number of 0 or more, below 2^63"), _PLAIN]
_Neighbours = Annotated[int, _whole(1, 1_000), _PLAIN]
_Amount = Annotated[int, _whole(1, 1_000_000), _PLAIN]
_Iterations = Annotated[int, _whole(0, 1_000), _PLAIN]
_HeadLayers = Annotated[int, _whole(0, 2), _PLAIN]
_Probability = Annotated[float, _number("a number in [0, 1)", ge=0, lt=1), _PLAIN, _SIGN]
_Positive = Annotated[float, _number("a finite number above 0", gt=0), _PLAIN]
_NotNegative = Annotated[float, _number("a finite number of 0 or more", ge=0), _PLAIN, _SIGN]
_Bias = Annotated[float, _number("a number in 1e-06..1e+06", ge=1e-6, le=1e6), _PLAIN]
_Text = Annotated[str, Field(strict=True)]
Name = Annotated[
    _Text, AfterValidator(_name_for_people), Field(description="a name in lower case, on one line, such as 'ft-gcl'")
]
_Range = Annotated[
    tuple[_Neighbours, _Neighbours] | None, Field(description="the least k and the most in 1..1,000, such as [1, 5]")
]
Turns = Annotated[
    tuple[tuple[_Text, _Text], ...],
    Field(min_length=1, description='one or more pairs of sources, such as [["graph", "feature"]]'),
]
_CorruptionName = Annotated[str, Field(strict=True, pattern=r"^[a-z0-9-]+$")]


class Part(BaseModel):
    """A table of fields that are checked when it is made, and never change.

    >>> Corruption(drop_edges=2)
    Traceback (most recent call last):
    graphprox.errors.ParameterError: corruptions.*.drop_edges must be a number in [0, 1); got 2
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    prefix: ClassVar[str]  # what stands before a field's name in a message
    known: ClassVar[tuple[str, ...]]  # the fields of a whole recipe, which alone knows them, and tells

    if not TYPE_CHECKING:  # a type checker knows the fields by themselves

        def __init__(self, /, **fields):
            try:
                super().__init__(**fields)
            except ValidationError as error:
                raise ParameterError(_sentence(type(self), error, fields)) from None


# -- the parts of a recipe ------------------------------------------------------------------------------------------


class Views(Part):
    """How many neighbours a proximity view draws each step, and how they are found.

    k is uniform on ``k_min``..``k_max``, or on a view's own range where it has one. ``binary`` ranks features by which
    entries are there only; ``both_directions`` lets edges of a view go both ways.

    >>> Views(k_max=8).k_feature is None
    True
    """

    prefix: ClassVar[str] = "views."

    k_min: _Neighbours = 1
    k_max: _Neighbours = 10
    k_feature: _Range = None
    k_topology: _Range = None
    k_neighbourhood: _Range = None
    binary: StrictBool = False
    both_directions: StrictBool = False
    engine: Literal["auto", "exact", "descent", "hnsw", "ivf", "lsh"] = "auto"


class Topology(Part):
    """Options of the topology descriptor, :func:`graphprox.proximity.topology.topology`, which tells what they mean.

    >>> Topology(subgraphs="egonet", hops=1).landmarks
    200
    """

    prefix: ClassVar[str] = "topology."

    subgraphs: Literal["walks", "egonet"] = "walks"
    walks: _Amount = 30
    length: _Amount = 10
    p: _Bias = 1.0
    q: _Bias = 1.0
    hops: _Amount = 2
    iterations: _Iterations = 3
    landmarks: _Amount = 200
    normalize: StrictBool = False


class Encoder(Part):
    """What makes an embedding of a graph.

    ``width`` is that of the embedding, ``hidden`` that of the layers before the last, as ``width`` where it is None.
    ``heads`` are for "gat" alone.

    >>> Encoder(kind="sage", width=128).layers
    2
    """

    prefix: ClassVar[str] = "encoder."

    kind: Literal["gat", "sage", "gcn", "gin", "mlp"] = "gat"
    width: _Size = 256
    hidden: Annotated[_Size | None, Field(description="a whole number of 1 or more")] = None
    layers: _Size = 2
    heads: _Size = 1
    activation: Literal["relu", "elu", "prelu", "none"] = "prelu"
    residual: StrictBool = False
    jumping: Literal["last", "concat", "max"] = "last"


class Head(Part):
    """What stands between the embedding and the objective in training; 0 ``layers`` are no head.

    >>> Head(layers=1).width
    512
    """

    prefix: ClassVar[str] = "head."

    layers: _HeadLayers = 2
    width: _Size = 512


class Objective(Part):
    """What training lowers: the contrast of channels, as in the paper, or of nodes.

    ``positives_in_denominator`` makes the paper's Eq. 2 the usual InfoNCE; ``intra_view`` takes negatives from a node's
    own view too.

    >>> Objective(contrast="node", intra_view=True).temperature
    0.2
    """

    prefix: ClassVar[str] = "objective."

    contrast: Literal["channel", "node"] = "channel"
    temperature: _Positive = 0.2
    positives_in_denominator: StrictBool = False
    intra_view: StrictBool = False


class Optimizer(Part):
    """How Adam goes.

    >>> Optimizer(learning_rate=1e-3).weight_decay
    5e-05
    """

    prefix: ClassVar[str] = "optimizer."

    learning_rate: _Positive = 5e-4
    weight_decay: _NotNegative = 5e-5


class Corruption(Part):
    """The share of edges that are dropped, and of features that are masked, anew each step.

    >>> Corruption(drop_edges=0.2)
    Corruption(drop_edges=0.2, mask_features=0.0)
    """

    prefix: ClassVar[str] = "corruptions.*."  # the recipe fills in the name

    drop_edges: _Probability = 0.0
    mask_features: _Probability = 0.0


class Corruptions(Mapping[str, Corruption]):
    """Corruptions by name, in the order of their names; never changes, so that a recipe can be hashed.

    >>> list(Corruptions({"light": Corruption(), "heavy": Corruption()}))
    ['heavy', 'light']
    """

    def __init__(self, corruptions: Mapping[str, Corruption]) -> None:
        self._by_name = dict(sorted(corruptions.items()))

    def __getitem__(self, name: str) -> Corruption:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __hash__(self) -> int:
        return hash(tuple(self._by_name.items()))

    def __repr__(self) -> str:
        return repr(self._by_name)


NamedCorruptions = Annotated[
    Mapping[_CorruptionName, Corruption],
    AfterValidator(Corruptions),
    WrapSerializer(lambda named, serialized: serialized(dict(named))),
]

# -- what is wrong, in a sentence -----------------------------------------------------------------------------------


def _sentence(part: type[Part], error: ValidationError, given: Mapping[str, Any]) -> str:
    """The first of the errors that pydantic lists."""
    first = error.errors(include_url=False)[0]
    cause = first.get("ctx", {}).get("error")
    name, *inside = map(str, first["loc"]) if first["loc"] else [""]
    if isinstance(cause, ParameterError):  # of a table inside this one, or of fields together: the sentence is there
        return str(cause).replace("corruptions.*", f"corruptions.{inside[0]}") if inside else str(cause)
    if name not in part.model_fields:
        return f"recipe has no field '{part.prefix}{name}'; {_nearest_field(part.prefix + name)}"
    if inside and inside[-1] == "[key]":
        return f"a name in corruptions must be lower-case letters, digits and hyphens; got {shown(first['input'])}"
    if inside and name == "corruptions":
        return f"corruptions.{inside[0]} must be a table; got {shown(first['input'])}"
    return f"{part.prefix}{name} must be {_rule(part, name)}; got {shown(given[name])}"


def _rule(part: type[Part], name: str) -> str:
    field = part.model_fields[name]
    if field.description is not None:
        return field.description
    if get_origin(field.annotation) is Literal:
        return f"one of {', '.join(get_args(field.annotation))}"
    return "true or false" if field.annotation is bool else "a table"


def _nearest_field(name: str) -> str:
    """The field that somebody may have meant: of nearly this name, in the same table or else in another."""
    table, _, last = name.rpartition(".")
    known = [each.rpartition(".") for each in Part.known]
    beside = {own: f"{place}{dot}{own}" for place, dot, own in known if place == table}
    anywhere = {own: f"{place}{dot}{own}" for place, dot, own in reversed(known)}  # of namesakes the first
    for names in (beside, anywhere):
        for near in difflib.get_close_matches(last, names, n=1):
            return f"did you mean '{names[near]}'?"
    return f"there are {', '.join(beside.values())}"


def field_names(part: type[Part]) -> Iterator[str]:
    """The fields of a part and of the parts in it, named by dots; a corruption's with a star for its name.

    >>> list(field_names(Head))
    ['head.layers', 'head.width']
    """
    for name, field in part.model_fields.items():
        yield f"{part.prefix}{name}"
        inner = Corruption if name == "corruptions" else field.annotation
        if isinstance(inner, type) and issubclass(inner, Part):
            yield from field_names(inner)
