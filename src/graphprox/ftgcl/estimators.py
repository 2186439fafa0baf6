"""FT-GCL and its family as scikit-learn estimators.

    ContrastiveEmbedder      all that the family shares: parameters, recipe, fit, transform, save, load
    ├── FGCL, TGCL, FTGCL, FTGCLPlus, PEGCL, FTGCLNL
    ├── FTGRACE, GRACE       in grace.py
    └── UntrainedEncoder     in untrained.py

A class states what its method contrasts, as fields of a recipe; its settings are its parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from graphprox._utils.arrays import FloatArray
from graphprox._utils.progress import Progress
from graphprox._utils.suggestions import did_you_mean
from graphprox._utils.toml import to_plain
from graphprox.errors import ParameterError
from graphprox.ftgcl.fit import fit_recipe
from graphprox.ftgcl.model import Model, select_device
from graphprox.ftgcl.model_folder import (
    METRICS,
    MetricsFile,
    Origin,
    load_model,
    read_metrics,
    read_origin,
    save_model,
)
from graphprox.ftgcl.options import ViewsOptions
from graphprox.ftgcl.presets import load_presets
from graphprox.ftgcl.recipe import Recipe, field_names, renamed_field
from graphprox.ftgcl.trainer import Callback, EpochLog
from graphprox.graph.graph import Graph
from graphprox.methods.base import (
    DEFAULT,
    METHODS,
    InductiveEmbedder,
    MethodInfo,
    parameter,
    register_method,
    renamed_parameter,
)
from graphprox.nn.encoders.base import ENCODERS
from graphprox.views.base import VIEWS
from graphprox.views.ranking import Ranking

PAPER = "Zhuo and Tan, Self-Supervised Graph Learning with Proximity-based Views and Channel Contrast, 2021"

# Parameters that stand for a field of the recipe.
FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "epochs": "epochs",
        "k_max": "views.k_max",
        "encoder": "encoder.name",
        "n_components": "encoder.n_components",
        "hidden_channels": "encoder.hidden_channels",
        "num_layers": "encoder.num_layers",
        "activation": "encoder.activation",
        "head_layers": "head.num_layers",
        "head_channels": "head.out_channels",
        "temperature": "objective.temperature",
        "learning_rate": "optimizer.learning_rate",
        "weight_decay": "optimizer.weight_decay",
        "normalize": "normalize",
    }
)
# Fields that an override must not name, and what to use instead.
_FIXED = {"method": "use the class of another method", "random_state": "set the parameter random_state"}


class _FittedContrastive:
    """Attributes that ``fit`` sets."""

    model_: Model
    recipe_: Recipe
    rankings_: dict[str, Ranking]
    loss_curve_: NDArray[np.float64]
    _origin: Origin
    _logs: list[EpochLog]


@dataclass(eq=False, repr=False, kw_only=True)
class ContrastiveEmbedder(_FittedContrastive, InductiveEmbedder):
    """Base class of the FT-GCL family: a shared encoder, trained by contrasting a graph and its views.

    Parameters
    ----------
    preset : str, default="auto"
        Settings selected for a data set, such as ``"Cora"``, or ``"default"``; they replace the values of parameters
        that were left at their default. ``"auto"`` takes those of the `Dataset` that is passed to ``fit``.
    epochs : int, default=20
        Number of epochs; each is one full-batch step.
    k_max : int, default=10
        Largest number of neighbors of a node in a proximity view.
    encoder : str, default="gcn"
        A registered encoder, such as ``"gcn"``, ``"gat"``, ``"sage"``, ``"gin"`` or ``"mlp"``.
    n_components : int, default=512
        Size of the embedding.
    hidden_channels : int or None, default=None
        Size of the hidden layers of the encoder; None for ``n_components``.
    num_layers : int, default=2
        Number of layers of the encoder.
    activation : {"relu", "elu", "prelu", "none"}, default="prelu"
    head_layers : int, default=0
        Number of layers of the projection head, which is used in training only; 0 for no head.
    head_channels : int, default=512
        Size of the output of the projection head.
    temperature : float, default=0.5
        Temperature of the objective.
    learning_rate : float, default=1e-3
    weight_decay : float, default=5e-5
    normalize : {"rows", "none"}, default="rows"
        Whether the features that the encoder sees have rows of absolute sum 1.
    overrides : mapping or None, default=None
        Any other field of the recipe by its name, such as ``{"encoder.residual": True}``. A parameter takes precedence
        over an override of the same field.
    checkpoint_dir : str, Path or None, default=None
        Folder in which the model and its checkpoints are saved while it trains.
    checkpoint_every : int, default=20
        Number of epochs between checkpoints.
    resume : bool, default=False
        Whether ``fit`` continues from the newest checkpoint in ``checkpoint_dir``.
    callbacks : iterable of callable or None, default=None
        Called with an :class:`~graphprox.ftgcl.trainer.EpochLog` after each epoch.
    device : str, default="auto"
        ``"auto"``, ``"cpu"``, ``"cuda"`` or ``"mps"``.
    cache : bool, default=True
        Whether rankings of views are cached on disk.
    random_state : int, RandomState, Generator or None, default=0
        Random seed: the same integer gives the same result, bit by bit.
    verbose : bool, default=False
        Whether to print progress on stderr.

    Attributes
    ----------
    embedding_ : Embedding
    vectors_ : ndarray of shape (n_nodes, n_components)
    loss_curve_ : ndarray of shape (n_epochs,)
    rankings_ : dict of str to Ranking
        Rankings of the views.
    recipe_ : Recipe
        The recipe that was trained.
    model_ : Model
    """

    recipe_fields: ClassVar[Mapping[str, Any]] = {}  # what makes the method what it is
    forced_fields: ClassVar[Mapping[str, Any]] = {}  # what no setting changes

    epochs: int = parameter(20, min=0)
    k_max: int = parameter(10, min=1, max=1000)
    encoder: str = parameter("gcn", choices=ENCODERS)
    n_components: int = parameter(512, min=1)
    hidden_channels: int | None = parameter(None, min=1, kind=int)
    num_layers: int = parameter(2, min=1)
    activation: str = parameter("prelu", choices=("relu", "elu", "prelu", "none"))
    head_layers: int = parameter(0, min=0, max=2)
    head_channels: int = parameter(512, min=1)
    temperature: float = parameter(0.5, min=0)
    learning_rate: float = parameter(1e-3, min=0)
    weight_decay: float = parameter(5e-5, min=0)
    normalize: str = parameter("rows", choices=("rows", "none"))
    overrides: Mapping[str, Any] | None = parameter(None, kind=object)
    checkpoint_dir: str | Path | None = parameter(None, kind=object, is_setting=False)
    checkpoint_every: int = parameter(20, min=1, is_setting=False)
    resume: bool = parameter(False, is_setting=False)
    callbacks: Iterable[Callback] | None = parameter(None, kind=object, is_setting=False)
    device: str = parameter("auto", is_setting=False)
    cache: bool = parameter(True, is_setting=False)

    # -- settings -----------------------------------------------------------------------------------------------------

    def recipe(self) -> Recipe:
        """Return the recipe that the parameters describe.

        Examples
        --------
        >>> FTGCL(epochs=5, overrides={"encoder.residual": True}).recipe().encoder.residual
        True
        """
        if not self.recipe_fields:
            raise ParameterError(f"{type(self).__name__} is a base class; use FTGCL or another method of the family")
        overrides = _check_overrides(self.overrides)
        defaults = {field: self.parameters()[name].default for name, field in FIELDS.items()}
        changed = {
            field: getattr(self, name)
            for name, field in FIELDS.items()
            if getattr(self, name) != self.parameters()[name].default
        }
        recipe = Recipe(method=self.name, pairs=self.recipe_fields["pairs"], **_augmentations(self.recipe_fields))
        recipe = recipe.merged(self.recipe_fields)
        # An objective need not have a temperature.
        recipe = recipe.with_overrides({name: value for name, value in defaults.items() if _has_field(recipe, name)})
        return recipe.with_overrides({**overrides, **changed}).merged(self.forced_fields)

    @classmethod
    def from_recipe(cls, recipe: Recipe, **parameters: Any) -> Self:
        """Return the estimator that trains by a recipe.

        Parameters
        ----------
        recipe : Recipe
        **parameters
            Parameters that are not part of a recipe, such as ``device``.

        Returns
        -------
        ContrastiveEmbedder

        Examples
        --------
        >>> FTGCL.from_recipe(Recipe(epochs=5, encoder={"residual": True}))
        FTGCL(epochs=5, overrides={'encoder.residual': True}, preset='default')
        """
        default = cls(preset=DEFAULT).recipe()
        changed = {
            name: _get_field(recipe, name)
            for name in default.merged({"random_state": recipe.random_state}).differences(recipe)
            if name not in _FIXED and _has_field(recipe, name) and not name.startswith("augmentations.")
        }
        if recipe.augmentations != default.augmentations:
            # With other pairs, the augmentations of the class that these do not use are dropped.
            changed |= {"pairs": recipe.pairs, "augmentations": to_plain(recipe.augmentations)}
        named = {name: changed.pop(field) for name, field in FIELDS.items() if field in changed}
        return cls(**named, overrides=changed or None, random_state=recipe.random_state, **parameters, preset=DEFAULT)

    @classmethod
    def from_preset(cls, preset: str = DEFAULT, **parameters: Any) -> Self:
        """Make the method with the settings of a preset, and parameters that override them.

        Parameters
        ----------
        preset : str, default="default"
            One of :meth:`preset_names`.
        **parameters
            Parameters by name, or fields of the recipe by their names with dots; they take precedence over the
            preset.

        Returns
        -------
        ContrastiveEmbedder

        Examples
        --------
        >>> FTGCL.from_preset("Texas", epochs=10).encoder
        'sage'
        """
        cls._check_preset(preset)
        known = cls.parameters()
        own = {name: value for name, value in parameters.items() if name in known}
        fields = {name: value for name, value in parameters.items() if name not in known}
        _check_fields(cls, fields)
        fields = {**_check_overrides(own.pop("overrides", None)), **fields}
        named = {FIELDS[name]: own.pop(name) for name in list(own) if name in FIELDS}
        for field, value in cls.forced_fields.items():
            if named.get(field, value) != value:
                raise ParameterError(f"{field} of {cls.info.title} must be {value}; got {named[field]}")
        settings = dict(cls.presets.get(preset, {}))
        if "views.k_max" in named:  # which is meant for all views, those with a range of their own among them
            settings["views"] = _without_ranges(settings.get("views", {}))
        if "augmentations" not in cls.recipe_fields:  # FT-GRACE has the presets of GRACE, and augments nothing
            settings.pop("augmentations", None)
        recipe = cls(preset=DEFAULT).recipe().merged(settings).with_overrides({**fields, **named})
        made = cls.from_recipe(recipe.merged(cls.forced_fields))
        own.pop("preset", None)
        return made.set_params(random_state=known["random_state"].default).set_params(**own)

    def settings(self) -> dict[str, Any]:
        """Return the recipe as nested tables, without the method's name and the random seed."""
        fields: dict[str, Any] = to_plain(self.recipe())
        return {name: value for name, value in fields.items() if name not in _FIXED}

    def check_parameters(self) -> None:
        """Raise a `ParameterError` if the parameters do not describe a recipe."""
        super().check_parameters()
        self.recipe()

    # -- from a graph to vectors --------------------------------------------------------------------------------------

    def _fit(self, graph: Graph, seed: int, progress: Progress | None) -> FloatArray:
        logs: list[EpochLog] = []
        folder = None if self.checkpoint_dir is None else Path(self.checkpoint_dir)
        result = fit_recipe(
            graph,
            self.recipe().merged({"random_state": seed}),
            device=self.device,
            folder=folder,
            resume=self.resume,
            checkpoint_every=self.checkpoint_every,
            cache=self.cache,
            progress=progress,
            callbacks=[logs.append, *(self.callbacks or ())],
        )
        self.model_, self.recipe_, self.rankings_ = result.model, result.model.recipe, result.rankings
        self.loss_curve_ = np.array(result.losses, np.float64)
        self._origin = Origin.of(graph)
        self._logs = logs if folder is None else read_metrics(folder / METRICS)  # also epochs before a resumption
        return result.vectors

    def _transform(self, graph: Graph) -> FloatArray:
        return self.model_.embed(graph)

    @property
    def _n_features_out(self) -> int:
        return self.model_.encoder.n_components

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in vars(self)

    # -- a folder -----------------------------------------------------------------------------------------------------

    def save(self, folder: str | Path) -> None:
        """Save the trained model in a folder, as ``graphprox embed --model`` does; no file in it is a pickle.

        Parameters
        ----------
        folder : str or Path
        """
        check_is_fitted(self)
        save_model(Path(folder), self.model_, self._origin)
        metrics = MetricsFile(Path(folder, METRICS))
        for log in self._logs:
            metrics.append(log)

    @classmethod
    def load(cls, folder: str | Path, *, device: str = "auto") -> Self:
        """Load the estimator of a model that ``save`` or ``graphprox embed --model`` has written.

        It can ``transform`` graphs; there is no ``embedding_``. To fit it again trains by the same recipe. A class
        loads models of its own method, ``ContrastiveEmbedder.load`` those of any.

        Parameters
        ----------
        folder : str or Path
        device : str, default="auto"

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from graphprox import synthetic
        >>> trained = FGCL(epochs=2, n_components=8, cache=False).fit(synthetic(nodes=140))
        >>> with TemporaryDirectory() as folder:
        ...     trained.save(folder)
        ...     FGCL.load(folder).transform(synthetic(nodes=140)).shape
        (140, 8)
        """
        model = load_model(folder, device=select_device(device))
        loaded = _class_of(model.recipe.method, cls).from_recipe(model.recipe, device=device)
        loaded.model_, loaded.recipe_, loaded.n_features_in_ = model, model.recipe, model.num_features
        loaded._origin, loaded._logs = read_origin(folder), read_metrics(Path(folder, METRICS))
        loaded.loss_curve_ = np.array([log.loss for log in loaded._logs], np.float64)
        loaded.settings_ = loaded.settings()
        return cast("Self", loaded)


# -- the family -----------------------------------------------------------------------------------------------------


@register_method("f-gcl")
class FGCL(ContrastiveEmbedder):
    """F-GCL: contrasts the channels of the graph and of its feature view.

    Parameters are those of :class:`ContrastiveEmbedder`.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> FGCL(epochs=2, n_components=8, cache=False).fit_transform(synthetic(nodes=140)).shape
    (140, 8)
    """

    info = MethodInfo(
        title="F-GCL",
        group="FT-GCL",
        uses="AX",
        summary="contrasts the channels of the graph and of its feature view",
        paper=PAPER,
    )
    presets = load_presets("ft-gcl")
    recipe_fields: ClassVar[Mapping[str, Any]] = {"pairs": [["graph", "feature"]]}


@register_method("t-gcl")
class TGCL(ContrastiveEmbedder):
    """T-GCL: contrasts the channels of the graph and of its topology view.

    Parameters are those of :class:`ContrastiveEmbedder`.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> list(TGCL(epochs=2, n_components=8, cache=False).fit(synthetic(nodes=140)).rankings_)
    ['topology']
    """

    info = MethodInfo(
        title="T-GCL",
        group="FT-GCL",
        uses="AX",
        summary="contrasts the channels of the graph and of its topology view",
        paper=PAPER,
    )
    presets = load_presets("ft-gcl", "t-gcl")
    recipe_fields: ClassVar[Mapping[str, Any]] = {"pairs": [["graph", "topology"]]}


@register_method("ft-gcl")
class FTGCL(ContrastiveEmbedder):
    """FT-GCL: contrasts the channels of the graph with those of its feature view and its topology view in turn.

    Parameters are those of :class:`ContrastiveEmbedder`.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> embedder = FTGCL(epochs=2, n_components=8, cache=False).fit(synthetic(nodes=140))
    >>> embedder.embedding_.shape, embedder.loss_curve_.shape
    ((140, 8), (2,))
    >>> embedder.transform(synthetic(nodes=210)).shape  # another graph with the same features
    (210, 8)
    """

    info = MethodInfo(
        title="FT-GCL",
        group="FT-GCL",
        uses="AX",
        summary="contrasts the channels of the graph with those of its feature and topology views in turn",
        paper=PAPER,
    )
    presets = load_presets("ft-gcl")
    recipe_fields: ClassVar[Mapping[str, Any]] = {"pairs": [["graph", "feature"], ["graph", "topology"]]}


@register_method("ft-gcl-plus")
class FTGCLPlus(ContrastiveEmbedder):
    """FT-GCL+: FT-GCL with dropped edges and masked features, and the graph against itself as a third pair.

    Parameters are those of :class:`ContrastiveEmbedder`, with 60 epochs by default.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> embedder = FTGCLPlus(epochs=3, n_components=8, cache=False).fit(synthetic(nodes=140))
    >>> len(embedder.recipe_.pairs), embedder.recipe_.augmentations["light"].drop_edges
    (3, 0.4)
    """

    info = MethodInfo(
        title="FT-GCL+",
        group="FT-GCL",
        uses="AX",
        summary="FT-GCL with dropped edges and masked features, and the graph against itself as a third pair",
    )
    presets = load_presets("ft-gcl", "ft-gcl-plus")
    recipe_fields: ClassVar[Mapping[str, Any]] = {
        "pairs": [["graph+light", "feature+light"], ["graph+light", "topology+light"], ["graph+light", "graph+light"]],
        "augmentations": {"light": {"drop_edges": 0.4, "mask_features": 0.1}},
    }

    epochs: int = parameter(60, min=0)


@register_method("pe-gcl")
class PEGCL(ContrastiveEmbedder):
    """PE-GCL: FT-GCL with a third view, by the mean features of a node's neighbors.

    Parameters are those of :class:`ContrastiveEmbedder`.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> list(PEGCL(epochs=2, n_components=8, cache=False).fit(synthetic(nodes=140)).rankings_)
    ['feature', 'neighborhood', 'topology']
    """

    info = MethodInfo(
        title="PE-GCL",
        group="FT-GCL",
        uses="AX",
        summary="FT-GCL with a third view, by the mean features of a node's neighbors",
    )
    presets = load_presets("ft-gcl")
    recipe_fields: ClassVar[Mapping[str, Any]] = {
        "pairs": [["graph", "feature"], ["graph", "neighborhood"], ["graph", "topology"]]
    }


@register_method("ft-gcl-nl")
class FTGCLNL(ContrastiveEmbedder):
    """FT-GCL-NL: FT-GCL with a contrast of nodes instead of channels.

    The positive pair stays outside of the denominator, as in FT-GCL: only what is contrasted differs. Parameters are
    those of :class:`ContrastiveEmbedder`.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> FTGCLNL(epochs=2, n_components=8, cache=False).fit(synthetic(nodes=140)).recipe_.objective.name
    'node'
    """

    info = MethodInfo(
        title="FT-GCL-NL",
        group="FT-GCL",
        uses="AX",
        summary="FT-GCL with a contrast of nodes instead of channels",
        paper=PAPER,
    )
    presets = load_presets("ft-gcl")
    recipe_fields: ClassVar[Mapping[str, Any]] = {
        "pairs": [["graph", "feature"], ["graph", "topology"]],
        "objective": {"name": "node"},
    }


# -- helpers --------------------------------------------------------------------------------------------------------


def _augmentations(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"augmentations": fields["augmentations"]} if "augmentations" in fields else {}


def _without_ranges(views: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of views without ranges of k for single views."""
    return {
        name: {key: each for key, each in value.items() if key not in ("k_min", "k_max")}
        if isinstance(value, Mapping)
        else value
        for name, value in views.items()
    }


def _check_overrides(overrides: Mapping[str, Any] | None) -> dict[str, Any]:
    if overrides is None:
        return {}
    if not isinstance(overrides, Mapping):
        raise ParameterError(
            f"overrides must map fields of a recipe to values, such as {{'encoder.residual': True}}; got {overrides!r}"
        )
    for name, instead in _FIXED.items():
        if name in overrides:
            raise ParameterError(f"overrides must not contain {name!r}; got {overrides[name]!r}: {instead}")
    return dict(overrides)


def _check_fields(cls: type[ContrastiveEmbedder], fields: Mapping[str, Any]) -> None:
    """Raise if a name is neither a parameter nor a field of a recipe."""
    tables = {name.partition(".")[0] for name in field_names()}
    for name in fields:
        if renamed := renamed_field(name) or renamed_parameter(name, cls.parameters()):
            raise ParameterError(f"{cls.info.title} has no setting {name!r}; it is {renamed!r} since version 0.2")
        if name in _FIXED or name.partition(".")[0] not in tables:
            hint = did_you_mean(
                name, [*cls.parameters(), *field_names()], otherwise=f"`graphprox methods {cls.name}` lists them"
            )
            raise ParameterError(f"{cls.info.title} has no setting {name!r}; {hint}")


def _get_field(recipe: Recipe, name: str) -> Any:
    """Return a field by its name with dots."""
    value: Any = recipe
    for part in name.split("."):
        if isinstance(value, ViewsOptions) and part in VIEWS:
            value = value.options_of(part)
        else:
            value = value[part] if isinstance(value, Mapping) else getattr(value, part)
    return value


def _has_field(recipe: Recipe, name: str) -> bool:
    try:
        _get_field(recipe, name)
    except (AttributeError, KeyError):
        return False
    return True


def _class_of(method: str, requested: type[ContrastiveEmbedder]) -> type[ContrastiveEmbedder]:
    """Return the class of a model's method, which must be the requested one if that has a method."""
    found = METHODS.get(method)
    if found is None or not issubclass(found, ContrastiveEmbedder):
        raise ParameterError(
            f"a model must be of a method of the FT-GCL family; got {method!r}: "
            "graphprox.ftgcl.model_folder.load_model loads any"
        )
    if issubclass(requested, found):
        return requested
    own = getattr(requested, "name", None)
    if own is not None and own != method:
        raise ParameterError(
            f"{requested.__name__}.load loads models of {own}; got one of {method}: call {found.__name__}.load"
        )
    return found
