"""Recipe: everything that defines a training run, as a validated value and as TOML.

    Recipe ── pairs, schedule, epochs, random_state, normalize    what is contrasted, how long, from which features
      ├── views                                                   how the proximity views are made
      ├── encoder, head                                           what is trained
      ├── objective, optimizer                                    by which loss, and how
      └── augmentations                                           random changes of a graph or a view before encoding

Views, encoders and objectives are extension points: their fields come from the options of what is registered.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, SerializeAsAny, model_validator

from graphprox._utils.options_model import FrozenMapping, NonNegativeInt, Options, PositiveInt, Seed, Text
from graphprox._utils.suggestions import did_you_mean
from graphprox._utils.toml import leaves, merge, nest, parse_override, to_plain, to_toml
from graphprox.errors import ParameterError, ReadError
from graphprox.ftgcl.chunk_rules import obstacle_to_chunks
from graphprox.ftgcl.recipe_tables import (
    HeadOptions,
    NamedAugmentations,
    OptimizerOptions,
    ViewsOptions,
)
from graphprox.ftgcl.source_names import GRAPH, check_sources, split_source, used_augmentations
from graphprox.io.storage.files import atomic_write, check_readable, reason
from graphprox.nn.encoders.base import ENCODERS, EncoderOptions
from graphprox.nn.objectives.base import OBJECTIVES, ObjectiveOptions

DEFAULT_ENCODER, DEFAULT_OBJECTIVE = "gcn", "channel"


def _check_name(value: str) -> str:
    if not value or value != value.strip() or value != value.lower() or not value.isprintable():
        raise ValueError
    return value


def _encoder_options(name: str) -> type[EncoderOptions]:
    return ENCODERS.lookup(name).Options


def _objective_options(name: str) -> type[ObjectiveOptions]:
    return OBJECTIVES.lookup(name).options


def _to_encoder_options(given: Any) -> Any:
    return _make_options(given, _encoder_options, DEFAULT_ENCODER)


def _to_objective_options(given: Any) -> Any:
    return _make_options(given, _objective_options, DEFAULT_OBJECTIVE)


def _make_options(given: Any, options_of: Callable[[str], type[Options]], default: str) -> Any:
    """Make the options of a registered name from a table; the name may be spelled in upper case."""
    if not isinstance(given, Mapping):
        return given
    options = options_of(given.get("name", default))
    return options(**{name: value for name, value in given.items() if name != "name"})


Normalization = Literal["rows", "none"]
Name = Annotated[
    Text, AfterValidator(_check_name), Field(description="a name in lower case, on one line, such as 'ft-gcl'")
]
Pairs = Annotated[
    tuple[tuple[Text, Text], ...],
    Field(min_length=1, description='one or more pairs of sources, such as [["graph", "feature"]]'),
]


class Recipe(Options):
    """Everything that defines a training run.

    Equal recipes, run on equal graphs, train equal embeddings. The defaults are those of
    :class:`graphprox.FTGCL`.

    Parameters
    ----------
    method : str
        Name of the method, for people.
    pairs : tuple of pairs of str
        Pairs of sources whose encodings are contrasted. A source is ``"graph"`` or a registered view, as it is or with
        an augmentation, as in ``"graph+light"``.
    schedule : {"alternate", "sum"}
        Whether each epoch contrasts the next pair, or all of them.
    epochs : int
        Number of epochs; each is one full-batch step.
    random_state : int
        Random seed.
    normalize : {"rows", "none"}
        Whether the features that the encoder sees have rows of absolute sum 1.
    views : ViewsOptions
    encoder : EncoderOptions
    head : HeadOptions
    objective : ObjectiveOptions
    optimizer : OptimizerOptions
    augmentations : mapping of str to AugmentationOptions
    chunk_size : int, optional
        Number of nodes that are encoded at a time. Each epoch then passes over them twice, and the gradient is that of
        the full batch. By default all nodes are encoded together, unless there is too little memory.
    max_features : int, optional
        Largest number of columns of features. If there are more, the encoder gets their products with that many leading
        singular directions, and columns of these are what an augmentation masks. By default it gets all columns.

    Examples
    --------
    >>> recipe = Recipe(pairs=[["graph", "feature+light"]], augmentations={"light": {"drop_edges": 0.2}})
    >>> recipe.encoder.n_components, recipe.augmentations["light"].drop_edges
    (512, 0.2)
    >>> Recipe(epochs=-5)
    Traceback (most recent call last):
    graphprox.errors.ParameterError: epochs must be a non-negative integer; got -5
    """

    prefix: ClassVar[str] = ""

    method: Name = "ft-gcl"
    pairs: Pairs = (("graph", "feature"), ("graph", "topology"))
    schedule: Literal["alternate", "sum"] = "alternate"
    epochs: NonNegativeInt = 20
    random_state: Seed = 0
    normalize: Normalization = "rows"
    views: ViewsOptions = ViewsOptions()
    encoder: Annotated[SerializeAsAny[EncoderOptions], BeforeValidator(_to_encoder_options)] = Field(
        default_factory=lambda: ENCODERS[DEFAULT_ENCODER].Options()
    )
    head: HeadOptions = HeadOptions()
    objective: Annotated[SerializeAsAny[ObjectiveOptions], BeforeValidator(_to_objective_options)] = Field(
        default_factory=lambda: OBJECTIVES[DEFAULT_OBJECTIVE].options()
    )
    optimizer: OptimizerOptions = OptimizerOptions()
    augmentations: NamedAugmentations = FrozenMapping({})
    chunk_size: Annotated[PositiveInt | None, Field(description="a positive integer")] = None
    max_features: Annotated[PositiveInt | None, Field(description="a positive integer")] = None

    @model_validator(mode="after")
    def _check_fields_together(self) -> Recipe:
        check_sources(self.pairs, self.augmentations)
        _check_channels(self)
        if self.chunk_size is not None and (obstacle := obstacle_to_chunks(self)) is not None:
            raise ParameterError(f"chunk_size needs {obstacle}, or leave chunk_size out")
        return self

    # -- what training reads ------------------------------------------------------------------------------------------

    @property
    def required_views(self) -> tuple[str, ...]:
        """The views that have to be ranked, in the order of their first pair.

        Examples
        --------
        >>> Recipe(pairs=[["graph", "topology"], ["feature", "topology"]]).required_views
        ('topology', 'feature')
        """
        bases = [split_source(source)[0] for pair in self.pairs for source in pair]
        return tuple(dict.fromkeys(base for base in bases if base != GRAPH))

    def to_table(self) -> dict[str, Any]:
        """Return all fields as nested tables.

        Returns
        -------
        dict of str to object
            Fields that are None are left out, as TOML has no word for it.
        """
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        fields["views"] = self.views.to_table(self.required_views)
        return {name: to_plain(value) for name, value in fields.items() if value is not None}

    # -- other recipes ------------------------------------------------------------------------------------------------

    def merged(self, fields: Mapping[str, Any]) -> Recipe:
        """Return the recipe with some fields changed, given as nested tables.

        Another encoder or objective keeps those options that it has too.

        Parameters
        ----------
        fields : mapping
            Nested tables; None restores the default of an optional field.

        Returns
        -------
        Recipe

        Examples
        --------
        >>> Recipe().merged({"epochs": 50, "encoder": {"name": "gat", "heads": 2}}).encoder.heads
        2
        """
        current = to_plain(self)
        if "pairs" in fields:
            used = used_augmentations(fields["pairs"])
            current["augmentations"] = {name: each for name, each in current["augmentations"].items() if name in used}
        for table, options_of in (("encoder", _encoder_options), ("objective", _objective_options)):
            changes = fields.get(table)
            if isinstance(changes, Mapping) and "name" in changes:
                known = options_of(changes["name"]).model_fields
                current[table] = {name: value for name, value in current[table].items() if name in known}
        return Recipe(**merge(current, fields))

    def with_overrides(self, overrides: Iterable[str] | Mapping[str, Any]) -> Recipe:
        """Return the recipe with some fields changed, named by dots.

        Parameters
        ----------
        overrides : mapping or iterable of str
            Values by name, or texts such as ``"encoder.n_components=256"`` whose value is TOML; a bare word is a
            string. Of two for the same field, the later one counts.

        Returns
        -------
        Recipe

        Examples
        --------
        >>> recipe = Recipe().with_overrides(["encoder.n_components=64", "encoder.name=sage"])
        >>> recipe.encoder.n_components, recipe.encoder.name
        (64, 'sage')
        """
        if isinstance(overrides, str):
            overrides = [overrides]
        pairs = overrides.items() if isinstance(overrides, Mapping) else map(parse_override, overrides)
        changes: dict[str, Any] = {}
        for name, value in pairs:
            changes = merge(changes, nest(str(name), value))
        return self.merged(changes)

    # -- text and files -----------------------------------------------------------------------------------------------

    def to_toml(self) -> str:
        """Return all fields as TOML, in one order, so that equal recipes have equal texts.

        Returns
        -------
        str

        Examples
        --------
        >>> print(Recipe().to_toml().partition("[views]")[0])
        method = "ft-gcl"
        pairs = [["graph", "feature"], ["graph", "topology"]]
        schedule = "alternate"
        epochs = 20
        random_state = 0
        normalize = "rows"
        <BLANKLINE>
        <BLANKLINE>
        """
        return to_toml(to_plain(self))

    @classmethod
    def from_toml(cls, text: str, source: str | Path = "recipe.toml") -> Recipe:
        """Return the recipe that a text describes; fields that it leaves out have their defaults.

        Parameters
        ----------
        text : str
        source : str or Path, default="recipe.toml"
            What messages call the text.

        Returns
        -------
        Recipe

        Raises
        ------
        ReadError
            If the text is not TOML.
        ParameterError
            If a field is unknown or invalid.

        Examples
        --------
        >>> Recipe.from_toml("encoder.name = 'sage'") == Recipe(encoder={"name": "sage"})
        True
        """
        try:
            fields = tomllib.loads(text)
        except (ValueError, RecursionError) as error:  # also of a number with thousands of digits
            raise ReadError(f"{source} must be TOML; it cannot be parsed: {reason(error)}") from None
        try:
            return cls(**fields)
        except ParameterError as error:
            raise ParameterError(f"in {source}, {error}") from None

    @classmethod
    def read(cls, path: str | Path) -> Recipe:
        """Read a recipe from a TOML file.

        Parameters
        ----------
        path : str or Path
            A text file in UTF-8; fields that it leaves out have their defaults.

        Returns
        -------
        Recipe

        Raises
        ------
        ReadError
            If the file cannot be read, or is not TOML.
        ParameterError
            If a field is unknown or invalid.

        Examples
        --------
        >>> Recipe.read("missing.toml")
        Traceback (most recent call last):
        graphprox.errors.ReadError: missing.toml does not exist: check the name
        """
        try:
            text = check_readable(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ReadError(f"{path} must be a text file in UTF-8; it cannot be read: {reason(error)}") from None
        return cls.from_toml(text, source=path)

    def write(self, path: str | Path) -> None:
        """Write the recipe to a TOML file, atomically.

        Parameters
        ----------
        path : str or Path
            File to write; an existing one is replaced.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Recipe().write(Path(folder, "recipe.toml"))
        ...     Recipe.read(Path(folder, "recipe.toml")) == Recipe()
        True
        """
        with atomic_write(Path(path)) as (temporary,):
            temporary.write_text(self.to_toml(), encoding="utf-8", newline="\n")

    # -- comparison ---------------------------------------------------------------------------------------------------

    def fingerprint(self, *, without: Iterable[str] = ()) -> str:
        """Return a hash that equal recipes share, as 64 hexadecimal digits.

        Parameters
        ----------
        without : iterable of str
            Fields that are ignored.

        Returns
        -------
        str

        Examples
        --------
        >>> short, long = Recipe(epochs=50), Recipe(epochs=100)
        >>> short.fingerprint() == long.fingerprint()
        False
        >>> short.fingerprint(without=["epochs"]) == long.fingerprint(without=["epochs"])
        True
        """
        fields = to_plain(self)
        for name in without:
            if name not in type(self).model_fields:
                raise ParameterError(f"a recipe has no field {name!r}; {did_you_mean(name, type(self).model_fields)}")
            fields.pop(name, None)
        return hashlib.sha256(to_toml(fields).encode()).hexdigest()

    def differences(self, other: Recipe) -> list[str]:
        """Return the fields in which two recipes differ.

        Parameters
        ----------
        other : Recipe

        Returns
        -------
        list of str
            Names of fields, with dots.

        Examples
        --------
        >>> Recipe().differences(Recipe(epochs=50, encoder={"n_components": 64}))
        ['epochs', 'encoder.n_components']
        """
        one, another = dict(leaves(to_plain(self))), dict(leaves(to_plain(other)))
        return [name for name in one | another if one.get(name) != another.get(name)]


def _check_channels(recipe: Recipe) -> None:
    """Objectives over channels need several of them."""
    if recipe.head.num_layers:
        name, channels = "head.out_channels", recipe.head.out_channels
    else:
        name, channels = "encoder.n_components", recipe.encoder.n_components
    low = recipe.objective.min_channels
    if channels < low:
        raise ParameterError(
            f"{name} must be at least {low} for objective.name = {recipe.objective.name!r}; got {channels}"
        )
