"""Recipe: everything that defines a training run, as a value that is checked once, and as TOML for people.

    Recipe ── turns, schedule, steps, seed, normalize      what is contrasted, how often, from which features
      ├── views, topology                                  how the proximity views are made
      ├── encoder, head                                    what is trained
      ├── objective, optimizer                             by what, and how
      └── corruptions                                      how a source is disturbed before it is encoded

What one field may be stands beside the field; what fields must be to one another is checked by `Recipe`.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import model_validator

from graphprox.errors import ParameterError, ReadError
from graphprox.io.files import readable, reason, written_whole
from graphprox.training.parts import (
    Corruption,
    Corruptions,
    Count,
    Encoder,
    Head,
    Name,
    NamedCorruptions,
    Objective,
    Optimizer,
    Part,
    Seed,
    Topology,
    Turns,
    Views,
    field_names,
)
from graphprox.training.tables import did_you_mean, leaves, merge, nested, parsed_override, plain, shown, toml

GRAPH = "graph"
VIEWS = ("feature", "topology", "neighbourhood")
_SOURCE = re.compile(rf"({'|'.join((GRAPH, *VIEWS))})(\+[a-z0-9-]+)?")


class Recipe(Part):
    """Everything that defines a training run; equal recipes, run on equal graphs, train equal embeddings.

    Each of the ``turns`` is a pair of sources whose encodings are contrasted; they take turns, one a step, unless the
    ``schedule`` is "sum". A source is the graph or a proximity view of it, as it is or corrupted: "graph", "feature",
    "topology", "neighbourhood", or any of them with a corruption, as in "graph+light". ``method`` is a name for people.
    ``normalize`` scales the features that the encoder sees: each row to absolute values of sum 1, or "none".

    >>> recipe = Recipe(turns=[["graph", "feature+light"]], corruptions={"light": {"drop_edges": 0.2}})
    >>> recipe.encoder.width, recipe.corruptions["light"].drop_edges
    (256, 0.2)
    >>> Recipe(steps=-5)
    Traceback (most recent call last):
    graphprox.errors.ParameterError: steps must be a whole number of 0 or more; got -5
    """

    prefix: ClassVar[str] = ""

    method: Name = "ft-gcl"
    turns: Turns = (("graph", "feature"), ("graph", "topology"))
    schedule: Literal["alternate", "sum"] = "alternate"
    steps: Count = 100
    seed: Seed = 0
    normalize: Literal["rows", "none"] = "rows"
    views: Views = Views()
    topology: Topology = Topology()
    encoder: Encoder = Encoder()
    head: Head = Head()
    objective: Objective = Objective()
    optimizer: Optimizer = Optimizer()
    corruptions: NamedCorruptions = Corruptions({})

    @model_validator(mode="after")
    def _check_fields_together(self) -> Recipe:
        _check_sources(self.turns, self.corruptions)
        _check_ranges(self.views)
        _check_encoder(self.encoder)
        _check_objective(self)
        return self

    # What training asks.

    @property
    def views_needed(self) -> tuple[str, ...]:
        """The proximity views that have to be ranked, in the order of their first turn.

        >>> Recipe(turns=[["graph", "topology"], ["feature", "topology"]]).views_needed
        ('topology', 'feature')
        """
        bases = [parts_of_source(source)[0] for turn in self.turns for source in turn]
        return tuple(dict.fromkeys(base for base in bases if base != GRAPH))

    def k_range(self, view: str) -> tuple[int, int]:
        """The least and the most neighbours that a node has in a view.

        >>> recipe = Recipe(views=Views(k_max=8, k_feature=(2, 5)))
        >>> recipe.k_range("feature"), recipe.k_range("topology")
        ((2, 5), (1, 8))
        """
        if view not in VIEWS:
            raise ParameterError(f"a view must be one of {', '.join(VIEWS)}; got {view!r}")
        own: tuple[int, int] | None = getattr(self.views, f"k_{view}")
        return own or (self.views.k_min, self.views.k_max)

    # Other recipes from this one.

    def merged(self, fields: Mapping[str, Any]) -> Recipe:
        """The recipe with some fields changed, given as nested tables; what they do not name stays.

        >>> Recipe().merged({"steps": 50, "encoder": {"width": 64}}).encoder
        Encoder(kind='gat', width=64, hidden=None, layers=2, heads=1, activation='prelu', ...)
        """
        return Recipe(**merge(plain(self), fields))

    def with_overrides(self, overrides: Iterable[str] | Mapping[str, Any]) -> Recipe:
        """The recipe with some fields changed, named by dots: a mapping, or texts such as ``encoder.width=256``.

        The value of a text is TOML; a bare word is a string. Of two for the same field, the later counts.

        >>> recipe = Recipe().with_overrides(["encoder.width=64", "encoder.kind=sage"])
        >>> recipe.encoder.width, recipe.encoder.kind
        (64, 'sage')
        >>> recipe.with_overrides({"encoder.width": 128}).encoder.width
        128
        """
        if isinstance(overrides, str):
            overrides = [overrides]
        pairs = overrides.items() if isinstance(overrides, Mapping) else map(parsed_override, overrides)
        fields = plain(self)
        for name, value in pairs:
            fields = merge(fields, nested(str(name), value))
        return Recipe(**fields)

    # Text and files.

    def to_toml(self) -> str:
        """The whole recipe as TOML: every field, in one order, so that equal recipes have equal texts.

        >>> print(Recipe().to_toml().partition("[views]")[0])
        method = "ft-gcl"
        turns = [["graph", "feature"], ["graph", "topology"]]
        schedule = "alternate"
        steps = 100
        seed = 0
        normalize = "rows"
        <BLANKLINE>
        <BLANKLINE>
        """
        return toml(plain(self))

    @classmethod
    def from_toml(cls, text: str, source: str | Path = "recipe.toml") -> Recipe:
        """The recipe that a text describes; fields that it leaves out have their defaults.

        ``source`` is what messages call the text.

        >>> Recipe.from_toml("encoder.kind = 'sage'") == Recipe(encoder=Encoder(kind="sage"))
        True
        """
        try:
            fields = tomllib.loads(text)
        except (ValueError, RecursionError) as error:  # also of a number with thousands of digits
            raise ReadError(f"{source} must be TOML; it cannot be read as such: {reason(error)}") from None
        try:
            return cls(**fields)
        except ParameterError as error:
            raise ParameterError(f"in {source}, {error}") from None

    @classmethod
    def read(cls, path: str | Path) -> Recipe:
        """The recipe in a TOML file.

        >>> Recipe.read("missing.toml")
        Traceback (most recent call last):
        graphprox.errors.ReadError: missing.toml does not exist: check the name
        """
        try:
            text = readable(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ReadError(f"{path} must be a text in UTF-8; it cannot be read as such: {reason(error)}") from None
        return cls.from_toml(text, source=path)

    def write(self, path: str | Path) -> None:
        """Write the recipe to a TOML file, whole or not at all.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Recipe().write(Path(folder, "recipe.toml"))
        ...     Recipe.read(Path(folder, "recipe.toml")) == Recipe()
        True
        """
        with written_whole(Path(path)) as (temporary,):
            temporary.write_text(self.to_toml(), encoding="utf-8", newline="\n")

    # Comparison.

    def fingerprint(self, *, without: Iterable[str] = ()) -> str:
        """A hash that equal recipes share, in 64 hexadecimal digits; fields ``without`` which it is taken do not count.

        >>> one, longer = Recipe(steps=50), Recipe(steps=100)
        >>> one.fingerprint() == longer.fingerprint()
        False
        >>> one.fingerprint(without=["steps"]) == longer.fingerprint(without=["steps"])
        True
        """
        fields = plain(self)
        for name in without:
            if name not in type(self).model_fields:
                raise ParameterError(f"a recipe has no field {name!r}; {did_you_mean(name, type(self).model_fields)}")
            fields.pop(name, None)
        return hashlib.sha256(toml(fields).encode()).hexdigest()

    def differences(self, other: Recipe) -> list[str]:
        """The fields in which two recipes differ, named by dots.

        >>> Recipe().differences(Recipe(steps=50, encoder=Encoder(width=64)))
        ['steps', 'encoder.width']
        """
        one, another = dict(leaves(plain(self))), dict(leaves(plain(other)))
        return [name for name in one | another if one.get(name) != another.get(name)]


Part.known = tuple(field_names(Recipe))  # so that any part can tell which field was meant, in another part too


def parts_of_source(source: str) -> tuple[str, str | None]:
    """What a source is made from, and the name of its corruption if it has one.

    >>> parts_of_source("graph+light"), parts_of_source("feature")
    (('graph', 'light'), ('feature', None))
    """
    base, _, corruption = source.partition("+")
    return base, corruption or None


# -- the rules for fields together ----------------------------------------------------------------------------------


def _check_sources(turns: tuple[tuple[str, str], ...], corruptions: Mapping[str, Corruption]) -> None:
    used = set()
    for turn in turns:
        for source in turn:
            corruption = parts_of_source(source)[1]
            if not _SOURCE.fullmatch(source):
                raise ParameterError(
                    f"turns must pair sources, each one of {', '.join((GRAPH, *VIEWS))}, alone or with a corruption as "
                    f"in 'graph+light'; got {shown(source)}"
                )
            if corruption is not None and corruption not in corruptions:
                hint = did_you_mean(corruption, corruptions) if corruptions else f"add [corruptions.{corruption}]"
                raise ParameterError(
                    f"turns must name corruptions that the recipe defines; got {shown(source)}: {hint}"
                )
            used.add(corruption)
        if turn[0] == turn[1] and "+" not in turn[0]:
            raise ParameterError(f"turns must pair sources that differ, or are corrupted; got {turn[0]!r} twice")
    for name in corruptions:
        if name not in used:
            raise ParameterError(
                f"corruptions.{name} must be used in turns; no source there ends in '+{name}': correct the name, or "
                "leave it out"
            )


def _check_ranges(views: Views) -> None:
    if views.k_min > views.k_max:
        raise ParameterError(f"views.k_min must be at most views.k_max, which is {views.k_max}; got {views.k_min}")
    for view in VIEWS:
        own = getattr(views, f"k_{view}")
        if own and own[0] > own[1]:
            raise ParameterError(f"views.k_{view} must be a range, its least k first; got {list(own)}")


def _check_encoder(encoder: Encoder) -> None:
    hidden = encoder.width if encoder.hidden is None else encoder.hidden
    if encoder.heads > 1 and encoder.kind != "gat":
        raise ParameterError(f"encoder.heads must be 1 unless encoder.kind is 'gat'; got {encoder.heads}")
    for name, width in (("width", encoder.width), ("hidden", hidden)):
        if width % encoder.heads:
            raise ParameterError(
                f"encoder.heads must divide encoder.{name} without rest; got {encoder.heads} heads for {width}"
            )
    if encoder.jumping == "max" and hidden != encoder.width:
        raise ParameterError(
            f"encoder.hidden must equal encoder.width, which is {encoder.width}, for encoder.jumping = 'max'; "
            f"got {hidden}"
        )


def _check_objective(recipe: Recipe) -> None:
    if recipe.objective.contrast == "node":
        return
    if recipe.objective.intra_view:
        raise ParameterError("objective.intra_view must be false unless objective.contrast is 'node'; got true")
    name, channels = ("head", recipe.head.width) if recipe.head.layers else ("encoder", recipe.encoder.width)
    if channels < 2:
        raise ParameterError(f"{name}.width must be 2 or more for objective.contrast = 'channel'; got {channels}")
