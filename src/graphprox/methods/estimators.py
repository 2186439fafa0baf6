"""The family as scikit-learn estimators: fit on a graph, without labels; transform it, or any with the same features.

    GraphEmbedder     all that an estimator does
    ├── FGCL, TGCL, FTGCL, FTGCLPlus, PEGCL, FTGCLNL
    └── FTGRACE, GRACE

A class is a name for a method; what the method is, its recipe tells.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted, validate_data

from graphprox.arrays import Features, FloatArray, MatrixLike, NodeIds
from graphprox.errors import ParameterError
from graphprox.graph import Graph
from graphprox.interop import without_torch
from graphprox.methods.family import DEFAULT, FAMILY, recipe_for
from graphprox.methods.inputs import NO_EDGES, GraphLike, as_graph, is_matrix
from graphprox.proximity.ranking import Ranking
from graphprox.training.fitting import fit
from graphprox.training.model import Model, chosen_device
from graphprox.training.recipe import Recipe
from graphprox.training.store import METRICS, Metrics, Origin, load_model, origin_of, save_model, steps_in
from graphprox.training.trainer import Step

# The parameters that stand for a field of the recipe, and which.
FIELDS = {
    "steps": "steps",
    "k_max": "views.k_max",
    "encoder": "encoder.kind",
    "width": "encoder.width",
    "layers": "encoder.layers",
    "heads": "encoder.heads",
    "activation": "encoder.activation",
    "head_width": "head.width",
    "head_layers": "head.layers",
    "temperature": "objective.temperature",
    "learning_rate": "optimizer.learning_rate",
    "weight_decay": "optimizer.weight_decay",
    "normalize": "normalize",
}
# Fields that no override may name, and what does in their place.
SETTLED = {"method": "another class is another method", "seed": "give random_state"}


class GraphEmbedder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """What the estimators of the family share: a vector for every node of a graph, learned without labels.

    ``fit``, ``transform`` and ``fit_transform`` take whatever :func:`graphprox.methods.inputs.as_graph` reads: a
    `Graph`, a PyG ``Data``, a networkx graph, a pair ``(X, A)``, a sparse adjacency, or a matrix of features for nodes
    without edges. Labels, in ``y`` or in the graph, play no part.

    Parameters; None stands for what the preset says:

    | name                            | meaning                                                                     |
    |---------------------------------|-----------------------------------------------------------------------------|
    | ``preset``                      | settings to begin with: "default", or those of a data set, such as "Cora"   |
    | ``steps``                       | how long to train                                                           |
    | ``k_max``                       | the most neighbours that a node has in a proximity view; GRACE has no views |
    | ``encoder``                     | "gat", "sage", "gcn", "gin" or "mlp"                                        |
    | ``width``                       | how many numbers a vector has                                               |
    | ``layers``, ``heads``           | of the encoder; more than one head for "gat" alone                          |
    | ``activation``                  | "relu", "elu", "prelu" or "none"                                            |
    | ``head_width``, ``head_layers`` | of the projection head, which only training needs                           |
    | ``temperature``                 | of the contrast                                                             |
    | ``learning_rate``               | of Adam; ``weight_decay`` too                                               |
    | ``normalize``                   | how the encoder sees features: "rows" scaled to sum 1, or "none"            |
    | ``overrides``                   | any other field of the recipe by its name, ``{"encoder.residual": True}``   |
    | ``random_state``                | what chance draws from: the same whole number, the same bytes;              |
    |                                 | a RandomState or a Generator, or None, draws one at each fit                |
    | ``device``                      | "auto", "cpu", "cuda" or "mps"                                              |
    | ``cache``                       | whether rankings of views are kept on disk for next time                    |
    | ``verbose``                     | whether lines on stderr tell how far the training is                        |

    A parameter counts more than an override of the same field.

    After ``fit`` there are ``embedding_`` (nodes, width), ``node_ids_``, ``loss_curve_`` (a loss per step),
    ``rankings_`` (by view), ``recipe_``, ``model_`` and ``n_features_in_``; ``feature_names_in_`` where features had
    names.
    """

    method: ClassVar[str]  # its name in FAMILY

    model_: Model
    recipe_: Recipe
    embedding_: FloatArray
    rankings_: dict[str, Ranking]
    loss_curve_: NDArray[np.float64]
    node_ids_: NodeIds
    n_features_in_: int
    _origin: Origin
    _steps: list[Step]

    # The graph is what others call X, and nothing that a pipeline could be asked to pass along.
    __metadata_request__fit: ClassVar = {"graph": UNUSED}
    __metadata_request__transform: ClassVar = {"graph": UNUSED}

    def __init__(
        self,
        *,
        preset: str = DEFAULT,
        steps: int | None = None,
        k_max: int | None = None,
        encoder: str | None = None,
        width: int | None = None,
        layers: int | None = None,
        heads: int | None = None,
        activation: str | None = None,
        head_width: int | None = None,
        head_layers: int | None = None,
        temperature: float | None = None,
        learning_rate: float | None = None,
        weight_decay: float | None = None,
        normalize: str | None = None,
        overrides: Mapping[str, Any] | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = 0,
        device: str = "auto",
        cache: bool = True,
        verbose: bool = False,
    ) -> None:
        self.preset = preset
        self.steps = steps
        self.k_max = k_max
        self.encoder = encoder
        self.width = width
        self.layers = layers
        self.heads = heads
        self.activation = activation
        self.head_width = head_width
        self.head_layers = head_layers
        self.temperature = temperature
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.normalize = normalize
        self.overrides = overrides
        self.random_state = random_state
        self.device = device
        self.cache = cache
        self.verbose = verbose

    # -- from a graph to vectors -------------------------------------------------------------------------------------

    def fit(self, graph: GraphLike, y: object = None) -> Self:  # noqa: ARG002 - scikit-learn hands labels to everybody
        """Train on a graph; ``y`` is not looked at."""
        recipe = self._chosen_recipe()
        self._forget_feature_names()
        seen = as_graph(graph, checked=partial(self._checked_features, fitting=True)).without_labels()
        lines, taken = _Lines(recipe), list[Step]()
        fitted = fit(
            seen,
            recipe,
            device=self.device,
            cache=self.cache,
            progress=lines.stage if self.verbose else None,
            on_step=[taken.append, lines.step] if self.verbose else [taken.append],
        )
        self._take(fitted.model)
        self.embedding_, self.rankings_ = fitted.embedding, fitted.rankings
        self.loss_curve_, self.node_ids_ = np.array(fitted.losses, np.float64), seen.ids
        self._origin, self._steps = Origin.of(seen), taken
        return self

    def transform(self, graph: GraphLike) -> FloatArray:
        """The vectors of a graph's nodes, (nodes, width): of the one trained on, or of any with the same features.

        Nothing is trained: the encoder sees the features and the edges as they are.
        """
        check_is_fitted(self, "model_")
        checked = partial(self._checked_features, fitting=False)
        if is_matrix(graph):
            return self._without_edges(checked(without_torch(graph)))
        return self.model_.embed(as_graph(graph, checked=checked))

    def fit_transform(self, graph: GraphLike, y: object = None) -> FloatArray:
        """Train on a graph and return ``embedding_``; ``y`` is not looked at."""
        return self.fit(graph, y).embedding_

    def _without_edges(self, x: Features) -> FloatArray:
        # Without edges a row is embedded by itself. One alone gets a twin, as a graph must have two nodes.
        rows = x if x.shape[0] > 1 else np.repeat(cast("FloatArray", x), 2, axis=0)
        return self.model_.embed(Graph(rows, NO_EDGES))[: x.shape[0]]

    def _checked_features(self, x: MatrixLike, *, fitting: bool) -> Features:
        """Features that scikit-learn found sound, and to be those of the fit where that has been."""
        least = 2 if fitting else 1
        sound: Features = validate_data(
            self, x, reset=fitting, accept_sparse="csr", dtype=np.float32, ensure_min_samples=least
        )
        return sound

    def _forget_feature_names(self) -> None:
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _take(self, model: Model) -> None:
        self.model_, self.recipe_, self.n_features_in_ = model, model.recipe, model.features

    def _chosen_recipe(self) -> Recipe:
        named = {field: getattr(self, name) for name, field in FIELDS.items() if getattr(self, name) is not None}
        overrides = {**_checked(self.overrides), **named, "seed": _seed(self.random_state)}
        return recipe_for(self.method, preset=str(self.preset), overrides=overrides)

    # -- what scikit-learn asks ----------------------------------------------------------------------------------------

    @property
    def _n_features_out(self) -> int:
        return self.model_.encoder.width

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]  # which vectors always are
        return tags

    # -- a folder ------------------------------------------------------------------------------------------------------

    def save(self, folder: str | Path) -> None:
        """Keep the trained model in a folder, as ``graphprox embed --model`` does; nothing in it is a pickle."""
        check_is_fitted(self, "model_")
        save_model(Path(folder), self.model_, self._origin)
        metrics = Metrics(Path(folder, METRICS))
        for step in self._steps:
            metrics.add(step)

    @classmethod
    def load(cls, folder: str | Path, *, device: str = "auto") -> Self:
        """The estimator of a model in a folder, which ``save`` or ``graphprox embed --model`` kept there.

        A class loads models of its own method; ``GraphEmbedder.load`` those of any, as the class that fits. The
        parameters are such that to fit again trains by the same recipe. There is no ``embedding_``: call ``transform``.

        >>> from tempfile import TemporaryDirectory
        >>> from graphprox import synthetic
        >>> trained = FGCL(steps=2, width=8, cache=False).fit(synthetic(nodes=140))
        >>> with TemporaryDirectory() as folder:
        ...     trained.save(folder)
        ...     GraphEmbedder.load(folder)
        FGCL(steps=2, width=8)
        """
        model = load_model(folder, device=chosen_device(device))
        loaded = _class_of(model.recipe.method, cls)(**_parameters_of(model.recipe), device=device)
        loaded._take(model)
        loaded._origin, loaded._steps = origin_of(folder), steps_in(Path(folder, METRICS))
        loaded.loss_curve_ = np.array([step.loss for step in loaded._steps], np.float64)
        return cast("Self", loaded)


# -- the family -------------------------------------------------------------------------------------------------------


class FGCL(GraphEmbedder):
    """F-GCL: the graph against its feature view, channel by channel.

    >>> from graphprox import synthetic
    >>> FGCL(steps=2, width=8, cache=False).fit_transform(synthetic(nodes=140)).shape
    (140, 8)
    """

    method = "f-gcl"


class TGCL(GraphEmbedder):
    """T-GCL: the graph against its topology view, channel by channel.

    >>> from graphprox import synthetic
    >>> list(TGCL(steps=2, width=8, cache=False).fit(synthetic(nodes=140)).rankings_)
    ['topology']
    """

    method = "t-gcl"


class FTGCL(GraphEmbedder):
    """FT-GCL: the graph against its feature view and its topology view in turn, channel by channel.

    >>> from graphprox import synthetic
    >>> embedder = FTGCL(steps=2, width=8, cache=False).fit(synthetic(nodes=140))
    >>> embedder.embedding_.shape, embedder.loss_curve_.shape
    ((140, 8), (2,))
    >>> embedder.transform(synthetic(nodes=210)).shape  # another graph with the same features
    (210, 8)
    """

    method = "ft-gcl"


class FTGCLPlus(GraphEmbedder):
    """FT-GCL+: as FT-GCL, with edges dropped and features masked, and the graph against itself as a third turn.

    >>> from graphprox import synthetic
    >>> embedder = FTGCLPlus(steps=3, width=8, cache=False).fit(synthetic(nodes=140))
    >>> len(embedder.recipe_.turns), embedder.recipe_.corruptions["light"].drop_edges
    (3, 0.4)
    """

    method = "ft-gcl-plus"


class PEGCL(GraphEmbedder):
    """PE-GCL: as FT-GCL, with a third view in the cycle: the features of a node's neighbours.

    >>> from graphprox import synthetic
    >>> list(PEGCL(steps=2, width=8, cache=False).fit(synthetic(nodes=140)).rankings_)
    ['feature', 'neighbourhood', 'topology']
    """

    method = "pe-gcl"


class FTGCLNL(GraphEmbedder):
    """FT-GCL-NL: as FT-GCL, but node by node.

    >>> from graphprox import synthetic
    >>> FTGCLNL(steps=2, width=8, cache=False).fit(synthetic(nodes=140)).recipe_.objective.contrast
    'node'
    """

    method = "ft-gcl-nl"


class FTGRACE(GraphEmbedder):
    """FT-GRACE: GRACE with the graph against each view in turn, in place of two corrupted copies of it.

    >>> from graphprox import synthetic
    >>> FTGRACE(steps=2, width=8, cache=False).fit(synthetic(nodes=140)).recipe_.turns
    (('graph', 'feature'), ('graph', 'topology'))
    """

    method = "ft-grace"


class GRACE(GraphEmbedder):
    """GRACE: two corrupted copies of the graph against each other, node by node, with negatives from both.

    >>> from graphprox import synthetic
    >>> GRACE(steps=2, width=8, cache=False).fit(synthetic(nodes=140)).get_feature_names_out()[:2].tolist()
    ['grace0', 'grace1']
    """

    method = "grace"


ESTIMATORS: dict[str, type[GraphEmbedder]] = {
    each.method: each for each in (FGCL, TGCL, FTGCL, FTGCLPlus, PEGCL, FTGCLNL, FTGRACE, GRACE)
}


# -- parameters -------------------------------------------------------------------------------------------------------


def _checked(overrides: Mapping[str, Any] | None) -> Mapping[str, Any]:
    if overrides is None:
        return {}
    if not isinstance(overrides, Mapping):
        raise ParameterError(
            f"overrides must be a mapping of names to values, such as {{'encoder.residual': True}}; got {overrides!r}"
        )
    for name, instead in SETTLED.items():
        if name in overrides:
            raise ParameterError(f"overrides must leave out {name!r}; got {overrides[name]!r}: {instead}")
    return overrides


def _seed(random_state: object) -> int:
    """The seed that a number is, or that is drawn from a state."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool) and 0 <= random_state < 2**63:
        return int(random_state)
    if random_state is None or isinstance(random_state, np.random.RandomState):
        return int(check_random_state(random_state).randint(2**31))
    raise ParameterError(
        "random_state must be a whole number of 0 or more, below 2^63, a RandomState, a Generator or None; "
        f"got {random_state!r}"
    )


def _parameters_of(recipe: Recipe) -> dict[str, Any]:
    """The parameters by which a recipe is chosen: all in which it differs from its method's default."""
    different = recipe_for(recipe.method, preset=DEFAULT, overrides={"seed": recipe.seed}).differences(recipe)
    changed = {name: _field(recipe, name) for name in different}
    named = {name: changed.pop(field) for name, field in FIELDS.items() if field in changed}
    return {**named, "overrides": changed or None, "random_state": recipe.seed}


def _field(recipe: Recipe, name: str) -> Any:
    value: Any = recipe.model_dump()
    for part in name.split("."):
        value = (value or {}).get(part)
    return value


# -- loading ----------------------------------------------------------------------------------------------------------


def _class_of(method: str, asked: type[GraphEmbedder]) -> type[GraphEmbedder]:
    """The class asked for, if the method is its own; of `GraphEmbedder`, the one whose method it is."""
    if method not in ESTIMATORS:
        raise ParameterError(
            f"a model must be of one of {', '.join(FAMILY)} to be an estimator; got {method!r}: "
            "graphprox.training.store.load_model takes any"
        )
    if asked is GraphEmbedder:
        return ESTIMATORS[method]
    if asked.method != method:
        raise ParameterError(
            f"{asked.__name__}.load takes a model of {asked.method}; got one of {method}: "
            f"call {ESTIMATORS[method].__name__}.load, or GraphEmbedder.load for either"
        )
    return asked


# -- progress ---------------------------------------------------------------------------------------------------------


class _Lines:
    """Tells on stderr how far the work is, a line for each tenth of it."""

    def __init__(self, recipe: Recipe) -> None:
        self.title = FAMILY[recipe.method].title
        self.steps = recipe.steps
        self.last: tuple[str, int] | None = None

    def stage(self, stage: str, done: int, total: int, note: str = "") -> None:
        """So many nodes of a stage, or steps of the training, are done."""
        tenth = (stage, 10 * done // max(total, 1))
        if tenth != self.last:
            print(f"{self.title}: {stage} {done:,} of {total:,}{note}", file=sys.stderr)
        self.last = tenth

    def step(self, step: Step) -> None:
        """A step was taken."""
        self.stage("step", step.step, self.steps, note=f", loss {step.loss:.4f}")
