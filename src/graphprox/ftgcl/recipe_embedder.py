"""Parameters of FT-GCL and its family, and the recipes that they describe, in both directions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast, get_args

from graphprox._utils.toml import leaves, to_plain
from graphprox.errors import ParameterError
from graphprox.ftgcl.chunk_rules import obstacle_to_chunks
from graphprox.ftgcl.overrides import FIELDS, FIXED, check_names, check_overrides, flatten_tables, without_ranges
from graphprox.ftgcl.presets import CONVOLUTION
from graphprox.ftgcl.recipe import Normalization, Recipe
from graphprox.ftgcl.recipe_fields import get_field, has_field
from graphprox.methods import METHODS, InductiveEmbedder, parameter
from graphprox.methods.base import DEFAULT
from graphprox.nn.activation import ActivationName
from graphprox.nn.encoders.base import ENCODERS


@dataclass(eq=False, repr=False, kw_only=True)
class RecipeEmbedder(InductiveEmbedder):
    """Base class of embedders whose settings are a recipe: each parameter is one of its fields.

    A method states what it is by ``recipe_fields``; its users change the rest. `ContrastiveEmbedder` describes the
    parameters, and trains.
    """

    recipe_fields: ClassVar[Mapping[str, Any]] = {}  # what makes the method what it is
    forced_fields: ClassVar[Mapping[str, Any]] = {}  # what no setting changes

    epochs: int = parameter(20, min=0)
    k_max: int = parameter(10, min=1, max=1000)
    encoder: str = parameter("gcn", choices=ENCODERS)
    n_components: int = parameter(512, min=1)
    hidden_channels: int | None = parameter(None, min=1, kind=int)
    num_layers: int = parameter(2, min=1)
    activation: str = parameter("prelu", choices=get_args(ActivationName))
    head_layers: int = parameter(0, min=0, max=2)
    head_channels: int = parameter(512, min=1)
    temperature: float = parameter(0.5, above=0)
    learning_rate: float = parameter(1e-3, above=0)
    weight_decay: float = parameter(5e-5, min=0)
    normalize: str = parameter("rows", choices=get_args(Normalization))
    overrides: Mapping[str, Any] | None = parameter(None, kind=object)

    def recipe(self) -> Recipe:
        """Return the recipe that the parameters describe.

        Returns
        -------
        Recipe

        Examples
        --------
        >>> from graphprox import FTGCL
        >>> FTGCL(epochs=5, overrides={"encoder.residual": True}).recipe().encoder.residual
        True
        """
        if not self.recipe_fields:
            raise ParameterError(f"{type(self).__name__} is a base class; use FTGCL or another method of the family")
        overrides = check_overrides(self.overrides)
        defaults = {field: self.parameters()[name].default for name, field in FIELDS.items()}
        changed = {
            field: getattr(self, name)
            for name, field in FIELDS.items()
            if getattr(self, name) != self.parameters()[name].default
        }
        own = {name: self.recipe_fields[name] for name in ("pairs", "augmentations") if name in self.recipe_fields}
        recipe = Recipe(method=self.name, **own).merged(self.recipe_fields)
        # An objective need not have a temperature.
        recipe = recipe.with_overrides({name: value for name, value in defaults.items() if has_field(recipe, name)})
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
        >>> from graphprox import FTGCL
        >>> FTGCL.from_recipe(Recipe(epochs=5, encoder={"residual": True}))
        FTGCL(epochs=5, overrides={'encoder.residual': True}, preset='default')
        """
        default = cls(preset=DEFAULT).recipe()
        changed = {
            name: get_field(recipe, name)
            for name in default.merged({"random_state": recipe.random_state}).differences(recipe)
            if name not in FIXED and has_field(recipe, name) and not name.startswith("augmentations.")
        }
        if recipe.method not in METHODS:  # a name that the recipe has been given by its author
            changed["method"] = recipe.method
        if recipe.augmentations != default.augmentations:
            # With other pairs, the augmentations of the class that these do not use are dropped.
            changed |= {"pairs": recipe.pairs, "augmentations": to_plain(recipe.augmentations)}
        named = {name: changed.pop(field) for name, field in FIELDS.items() if field in changed}
        if changed:
            named["overrides"] = changed
        if recipe.random_state != cls.parameters()["random_state"].default:
            named["random_state"] = recipe.random_state
        return cls(**named, **parameters, preset=DEFAULT)

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
        >>> from graphprox import FTGCL
        >>> FTGCL.from_preset("Texas", epochs=10).encoder
        'sage'
        """
        cls._check_preset(preset)
        own = cls._to_parameters(parameters)
        fields = own.pop("overrides", None) or {}
        named = {FIELDS[name]: own.pop(name) for name in list(own) if name in FIELDS}
        for field, value in cls.forced_fields.items():
            if named.get(field, value) != value:
                raise ParameterError(f"{field} of {cls.info.title} must be {value}; got {named[field]}")
        settings = dict(cls._find_settings(preset, {**fields, **named}.get("encoder.name")))
        if "views.k_max" in named:  # which is meant for all views, those with a range of their own among them
            settings["views"] = without_ranges(settings.get("views", {}))
        if "augmentations" not in cls.recipe_fields:  # FT-GRACE has the presets of GRACE, and augments nothing
            settings.pop("augmentations", None)
        chunk_size = settings.pop("chunk_size", None)
        recipe = cls(preset=DEFAULT).recipe().merged(settings).with_overrides({**fields, **named})
        # The chunks of a preset are meant for its encoder: one that is given instead may need all nodes.
        if chunk_size is not None and recipe.chunk_size is None and obstacle_to_chunks(recipe) is None:
            recipe = recipe.with_overrides({"chunk_size": chunk_size})
        made = cls.from_recipe(recipe.merged(cls.forced_fields))
        made.random_state = cast("Any", cls.parameters()["random_state"].default)  # a recipe has that of the base class
        own.pop("preset", None)
        return made.set_params(**own)

    @classmethod
    def _find_settings(cls, preset: str, encoder: str | None) -> Mapping[str, Any]:
        """Return the settings of a preset: those by graph convolutions if an encoder is given that it is not for."""
        settings = cls.presets.get(preset, {})
        convolution = cls.presets.get(f"{preset}{CONVOLUTION}", settings)
        return settings if encoder in (None, settings.get("encoder", {}).get("name")) else convolution

    @classmethod
    def _to_parameters(cls, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return settings as parameters: fields of the recipe that no parameter stands for become overrides."""
        known = cls.parameters()
        parameters = {name: value for name, value in settings.items() if name in known}
        fields = {name: value for name, value in settings.items() if name not in known}
        check_names(cls, fields)
        fields = flatten_tables(fields)
        named = {name: fields.pop(field) for name, field in FIELDS.items() if field in fields}
        overrides = {**check_overrides(parameters.get("overrides")), **fields}
        return {**named, **parameters, **({"overrides": overrides} if overrides else {})}

    def settings(self) -> dict[str, Any]:
        """Return all fields of the recipe, except the random state.

        Returns
        -------
        dict
            Values by the name of the parameter, or else by the name of the field with dots. :meth:`from_preset`
            accepts them.

        Examples
        --------
        >>> from graphprox import FTGCL
        >>> settings = FTGCL(epochs=5).settings()
        >>> settings["epochs"], settings["encoder.residual"]
        (5, False)
        """
        fields = {name: value for name, value in leaves(to_plain(self.recipe())) if name not in FIXED}
        named = {name: fields.pop(field) for name, field in FIELDS.items() if field in fields}
        return named | fields | self._scale_setting()

    def check_parameters(self) -> None:
        """Raise a `ParameterError` if the parameters do not describe a recipe."""
        super().check_parameters()
        self.recipe()
