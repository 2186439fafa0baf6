"""The interface of all methods: scikit-learn estimators that are fitted on a graph.

    GraphMethod                  parameters with ranges, presets, facts about the method
    ├── GraphEmbedder            fit(graph), fit_transform(graph), embedding_
    │   └── InductiveEmbedder    and transform(other_graph)
    └── NodeClassifier           fit(graph, split), predict(graph), score(graph, split)

A method is one file with a class that is registered by :func:`register_method`.
"""

from __future__ import annotations

import inspect
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import Field, dataclass, field, fields
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast, dataclass_transform
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from graphprox._utils.arrays import Features, MatrixLike, NodeIds
from graphprox._utils.progress import PrintProgress, Progress, current_progress
from graphprox._utils.random import RandomState, check_seed
from graphprox._utils.registry import Registry
from graphprox._utils.suggestions import did_you_mean, shorten_repr
from graphprox.datasets.dataset import Dataset
from graphprox.embedding import Embedding
from graphprox.errors import GraphError, NotInductiveError, ParameterError
from graphprox.graph.conversion import to_numpy
from graphprox.graph.graph import UNKNOWN_LABEL, Graph
from graphprox.graph.splits import NodeSplit
from graphprox.graph.validation import NO_EDGES, GraphLike, check_graph, is_matrix

if TYPE_CHECKING:
    from torch import Tensor

    from graphprox.methods._supervised import SupervisedTask

AUTO = "auto"
DEFAULT = "default"
VAL_SHARE = 0.1  # of the labeled nodes, held out to stop early where a classifier is given labels and no split

T = TypeVar("T")
C = TypeVar("C", bound="type[GraphMethod]")

METHODS: Registry[type[GraphMethod]] = Registry(
    "method", package=("graphprox.methods", "graphprox.ftgcl"), group="graphprox.methods"
)


@dataclass(frozen=True)
class MethodInfo:
    """Facts about a method.

    Parameters
    ----------
    title : str
        Name in print, such as ``"DGI"``.
    group : str
        Kind of method, by which tables are ordered.
    uses : str
        What the method reads: A for edges, X for features, Y for labels.
    summary : str
        What it does, in one line.
    paper : str
        Where it was published; empty if nowhere.
    """

    title: str
    group: str
    uses: str
    summary: str
    paper: str = ""


# -- parameters -----------------------------------------------------------------------------------------------------


def parameter(
    default: T,
    *,
    min: float | None = None,  # noqa: A002
    max: float | None = None,  # noqa: A002
    choices: Collection[Any] = (),
    kind: type | None = None,
    optional: bool = False,
    is_setting: bool = True,
) -> T:
    """Declare a parameter of a method: its default, and the values it may take.

    Parameters
    ----------
    default : object
        Default value. All values must be of its type; a float also accepts integers.
    min, max : float, optional
        Inclusive limits of a number.
    choices : collection, optional
        The values that are accepted; may be a registry.
    kind : type, optional
        Type of the values where the default is None.
    optional : bool, default=False
        Whether None is accepted too; it always is where it is the default.
    is_setting : bool, default=True
        Whether the result depends on it. ``verbose``, for example, is no setting.
    """
    limits = {"min": min, "max": max, "choices": choices, "kind": kind, "optional": optional, "is_setting": is_setting}
    return field(default=default, metadata=limits)


# Names of the parameters that were given, so that they take precedence over a preset even if they equal their default.
# They are no attribute of an estimator, whose constructor sets its parameters and nothing else.
_EXPLICIT: WeakKeyDictionary[GraphMethod, frozenset[str]] = WeakKeyDictionary()


def _record_explicit(cls: type[GraphMethod]) -> None:
    """Make the constructor record which parameters it was given."""
    original: Any = cls.__init__

    @wraps(original)
    def init(self: GraphMethod, **parameters: Any) -> None:
        original(self, **parameters)
        _EXPLICIT[self] = frozenset(parameters)

    setattr(cls, "__init__", init)  # noqa: B010 - a type checker refuses to assign to a method


def _inherit_parameters(cls: type[GraphMethod]) -> str | None:
    """Return the docstring with the Parameters section of a base class, if it has none, and its own defaults."""
    own = inspect.cleandoc(cls.__doc__ or "")
    if "Parameters\n----------" in own:
        return cls.__doc__
    for base in cls.__mro__[1:]:
        found = re.search(r"Parameters\n-+\n(.*?)(?=\n\n\w+\n-+\n|\Z)", inspect.getdoc(base) or "", flags=re.DOTALL)
        if found is not None:
            break
    else:
        return cls.__doc__
    section = found[0]
    for name, each in cls.__dataclass_fields__.items():
        section = re.sub(rf"^({name} : .*default=).*$", rf"\g<1>{each.default!r}", section, flags=re.MULTILINE)
    summary, _, rest = own.partition("\n\nExamples\n")
    return f"{summary}\n\n{section}" + (f"\n\nExamples\n{rest}" if rest else "")


@dataclass_transform(kw_only_default=True, eq_default=False)
def register_method(name: str) -> Callable[[C], C]:
    """Register a class as a method, and make its annotated parameters those of its constructor.

    Parameters
    ----------
    name : str
        Name on the command line and for :func:`graphprox.method`, in lower case with hyphens.
    """

    def register(cls: C) -> C:
        if not isinstance(getattr(cls, "info", None), MethodInfo):
            raise ParameterError(
                f"a method must state its facts; {cls.__name__} has no attribute info: set a MethodInfo"
            )
        made = cast("C", dataclass(eq=False, repr=False, kw_only=True)(cls))
        made.name = name
        made.__doc__ = _inherit_parameters(made)
        _record_explicit(made)
        METHODS.add(name, made)
        return made

    return register


class _Fitted:
    """Attributes that ``fit`` sets; declared apart from the parameters, which are the fields of a dataclass."""

    n_features_in_: int
    settings_: dict[str, Any]


@dataclass(eq=False, repr=False, kw_only=True)
class GraphMethod(_Fitted, BaseEstimator, ABC):  # type: ignore[misc]
    """Base class of all methods.

    Subclasses declare their parameters with :func:`parameter`, and are registered by :func:`register_method`. As in
    scikit-learn, the constructor only stores parameters; they are validated by ``fit``.

    Parameters
    ----------
    preset : str, default="auto"
        Settings that replace the defaults of parameters which were left at their default: those selected for a data
        set, such as ``"Cora"``, or ``"default"`` for none. ``"auto"`` takes the preset of the `Dataset` that is passed
        to ``fit``, if there is one.
    random_state : int, RandomState, Generator or None, default=0
        Random seed: the same integer gives the same result, bit by bit.
    verbose : bool, default=False
        Whether to print progress on stderr.

    Attributes
    ----------
    name : str
        Name on the command line.
    info : MethodInfo
        Facts about the method.
    presets : mapping of str to mapping
        Settings by data set, applied over the defaults.
    stochastic : bool
        Whether the result depends on ``random_state``.
    """

    name: ClassVar[str]
    info: ClassVar[MethodInfo]
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    stochastic: ClassVar[bool] = True

    preset: str = parameter(AUTO, is_setting=False)
    random_state: RandomState = parameter(0, kind=object, is_setting=False)
    verbose: bool = parameter(False, is_setting=False)

    # -- settings -----------------------------------------------------------------------------------------------------

    @classmethod
    def parameters(cls) -> dict[str, Field[Any]]:
        """Return the declared parameters.

        Returns
        -------
        dict of str to dataclasses.Field
            Default, and limits as metadata, by name.
        """
        return {each.name: each for each in fields(cast("Any", cls)) if each.init}

    @classmethod
    def preset_names(cls) -> tuple[str, ...]:
        """Return the names of the presets.

        Returns
        -------
        tuple of str
            ``"default"`` is the first.
        """
        return tuple(dict.fromkeys([DEFAULT, *cls.presets]))

    @classmethod
    def from_preset(cls, preset: str = DEFAULT, **parameters: Any) -> Self:
        """Make the method with the settings of a preset, and parameters that override them.

        Parameters
        ----------
        preset : str, default="default"
            One of :meth:`preset_names`.
        **parameters
            Parameters by name; they take precedence over the preset.
        """
        cls._check_preset(preset)
        known = cls.parameters()
        for name in parameters:
            if name not in known:
                renamed = renamed_parameter(name, known)
                hint = did_you_mean(name, known) if renamed is None else f"it is {renamed!r} since version 0.2"
                raise ParameterError(f"{cls.info.title} has no parameter {name!r}; {hint}")
        return cls(**{**cls.presets.get(preset, {}), **parameters, "preset": DEFAULT})

    @classmethod
    def _check_preset(cls, preset: str) -> None:
        if preset not in cls.preset_names():
            hint = did_you_mean(str(preset), [AUTO, *cls.preset_names()])
            raise ParameterError(f"{cls.info.title} has no preset {preset!r}; {hint}")

    def settings(self) -> dict[str, Any]:
        """Return all parameters that the result depends on, except the random state.

        Returns
        -------
        dict
        """
        return {
            name: getattr(self, name)
            for name, each in self.parameters().items()
            if each.metadata.get("is_setting", True)
        }

    def check_parameters(self) -> None:
        """Raise a `ParameterError` if a parameter has a value that it may not have."""
        for name, each in self.parameters().items():
            if each.metadata:
                _check_value(name, getattr(self, name), each)

    def _with_preset(self, graph: object) -> Self:
        """Return this method with the settings of its preset; those that differ from their default stay."""
        preset = self.preset
        if preset == AUTO:
            preset = graph.name if isinstance(graph, Dataset) and graph.name in self.presets else DEFAULT
        self._check_preset(preset)
        if preset == DEFAULT:
            return self
        explicit = _EXPLICIT.get(self, frozenset())
        changed = {
            name: getattr(self, name)
            for name, each in self.parameters().items()
            if name != "preset" and (name in explicit or getattr(self, name) != each.default)
        }
        return self.from_preset(preset, **changed)

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters, which then take precedence over a preset.

        Parameters
        ----------
        **parameters
            Parameters by name.

        Returns
        -------
        self
        """
        super().set_params(**parameters)
        self._mark_explicit(parameters)
        return self

    def _mark_explicit(self, names: Iterable[str]) -> None:
        _EXPLICIT[self] = _EXPLICIT.get(self, frozenset()) | frozenset(names)

    def __sklearn_clone__(self) -> Self:
        made: Self = super().__sklearn_clone__()
        _EXPLICIT[made] = _EXPLICIT.get(self, frozenset())
        return made

    def _progress(self) -> Progress | None:
        return current_progress() or (PrintProgress(self.info.title) if self.verbose else None)

    def _copy_fitted(self, other: GraphMethod) -> None:
        """Take the fitted attributes of the method that a preset has made of this one."""
        if other is not self:
            parameters = self.parameters()
            self.__dict__ |= {name: value for name, value in vars(other).items() if name not in parameters}

    # -- features -----------------------------------------------------------------------------------------------------

    def _check_graph(self, graph: GraphLike, *, fitting: bool) -> Graph:
        if fitting and hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        checked = check_graph(graph, check_features=partial(self._check_features, fitting=fitting))
        if fitting:
            self.n_features_in_ = checked.num_features
        elif checked.num_features != self.n_features_in_:
            raise ParameterError(
                f"a graph must have the {self.n_features_in_:,} features that {self.info.title} was fitted on; "
                f"got {checked.num_features:,}"
            )
        return checked

    def _check_features(self, x: MatrixLike, *, fitting: bool) -> Features:
        checked: Features = validate_data(
            self, x, reset=fitting, accept_sparse="csr", dtype=np.float32, ensure_min_samples=2 if fitting else 1
        )
        return checked

    # The graph is what scikit-learn calls X, and is never passed along as metadata.
    __metadata_request__fit: ClassVar = {"graph": UNUSED}


# -- embedders ------------------------------------------------------------------------------------------------------


class GraphEmbedder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, GraphMethod):  # type: ignore[misc]
    """Base class of methods that learn a vector for every node; labels are ignored.

    Subclasses implement ``_fit(graph, seed, progress)``, which returns the vectors.

    Attributes
    ----------
    embedding_ : Embedding
        Vectors and ids of the nodes of the graph it was fitted on.
    vectors_ : ndarray or csr_array of shape (n_nodes, n_components)
        The same vectors as an array.
    node_ids_ : ndarray of shape (n_nodes,)
        Ids of the nodes.
    settings_ : dict
        The settings that were used, with those of the preset.
    """

    vectors_: NDArray[Any] | sp.csr_array
    node_ids_: NodeIds

    def fit(self, graph: GraphLike, y: object = None) -> Self:  # noqa: ARG002 - scikit-learn passes labels to all
        """Learn a vector for every node of a graph.

        Parameters
        ----------
        graph : Graph, Dataset, Data, networkx.Graph, tuple, sparse or dense matrix
            Whatever :func:`graphprox.check_graph` accepts. A `Dataset` also selects the preset of its name.
        y : ignored

        Returns
        -------
        self
        """
        method = self._with_preset(graph)
        method.check_parameters()
        seed = check_seed(self.random_state)
        checked = self._check_graph(graph, fitting=True).without_labels()
        self.vectors_ = method._fit(checked, seed, self._progress())
        self._copy_fitted(method)
        self.node_ids_, self.settings_ = checked.ids, method.settings()
        return self

    def fit_transform(self, graph: GraphLike, y: object = None) -> Any:
        """Fit on a graph, and return the vectors of its nodes.

        Parameters
        ----------
        graph : Graph, Dataset, Data, networkx.Graph, tuple, sparse or dense matrix
        y : ignored

        Returns
        -------
        ndarray or csr_array of shape (n_nodes, n_components)
        """
        return self.fit(graph, y).vectors_

    @property
    def embedding_(self) -> Embedding:
        """Vectors and ids of the nodes."""
        check_is_fitted(self, "vectors_")
        vectors = self.vectors_
        return Embedding(vectors if isinstance(vectors, np.ndarray) else vectors.toarray(), self.node_ids_)

    @abstractmethod
    def _fit(self, graph: Graph, seed: int, progress: Progress | None) -> NDArray[Any] | sp.csr_array:
        """Return the vectors of a graph without labels, (n_nodes, n_components)."""

    @property
    def _n_features_out(self) -> int:
        return int(self.vectors_.shape[1])

    def __sklearn_is_fitted__(self) -> bool:
        return "vectors_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    if not TYPE_CHECKING:  # for a type checker, this would give the class every attribute

        def __getattr__(self, name: str) -> Any:
            if name == "transform":
                raise NotInductiveError(
                    f"{type(self).__name__} learns a vector for each node of the graph it is fitted on and cannot "
                    "transform another graph: call fit_transform on that graph"
                )
            if name == "embedding_":  # its property raised, as NotFittedError is an AttributeError too
                check_is_fitted(self, "vectors_")
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


class InductiveEmbedder(GraphEmbedder):
    """Base class of embedders that can also embed graphs which they were not fitted on.

    Subclasses implement ``_fit(graph, seed, progress)`` and ``_transform(graph)``.
    """

    __metadata_request__transform: ClassVar = {"graph": UNUSED}

    def transform(self, graph: GraphLike) -> Any:
        """Embed a graph without training: the one fitted on, or another with the same features.

        Parameters
        ----------
        graph : Graph, Dataset, Data, networkx.Graph, tuple, sparse or dense matrix

        Returns
        -------
        ndarray or csr_array of shape (n_nodes, n_components)
        """
        check_is_fitted(self)
        graph = to_numpy(graph)  # a sparse tensor is an adjacency matrix
        if is_matrix(graph):
            return self._transform_features(self._check_features(graph, fitting=False))
        return self._transform(self._check_graph(graph, fitting=False).without_labels())

    @abstractmethod
    def _transform(self, graph: Graph) -> NDArray[Any] | sp.csr_array:
        """Return the vectors of a graph with as many features as the one fitted on."""

    def _transform_features(self, x: Features) -> NDArray[Any] | sp.csr_array:
        # Without edges a row is embedded by itself. A single one is doubled, as a graph has at least two nodes.
        rows = x if x.shape[0] > 1 else np.repeat(cast("NDArray[Any]", x), 2, axis=0)
        return self._transform(Graph(rows, NO_EDGES))[: x.shape[0]]


# -- classifiers ----------------------------------------------------------------------------------------------------


class NodeClassifier(ClassifierMixin, GraphMethod):  # type: ignore[misc]
    """Base class of semi-supervised methods, which learn classes from the labels of training nodes.

    Labels of validation nodes select the epoch; labels of test nodes are ignored. Subclasses implement
    ``_fit(task, seed, progress)`` and ``_decision_function(graph)``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes seen among training and validation nodes.
    settings_ : dict
        The settings that were used, with those of the preset.
    """

    classes_: NDArray[Any]
    __metadata_request__fit: ClassVar = {"graph": UNUSED, "split": UNUSED}
    __metadata_request__predict: ClassVar = {"graph": UNUSED}
    __metadata_request__predict_proba: ClassVar = {"graph": UNUSED}
    __metadata_request__score: ClassVar = {"graph": UNUSED, "split": UNUSED}

    def fit(self, graph: GraphLike, split: NodeSplit | ArrayLike | None = None) -> Self:
        """Learn classes from the training nodes of a graph.

        Parameters
        ----------
        graph : Graph, Dataset, Data, networkx.Graph, tuple, sparse or dense matrix
            A graph; with a `NodeSplit` it must have labels.
        split : NodeSplit or array-like of shape (n_nodes,)
            Which nodes to train on and to validate with. An array gives the labels themselves, -1 for an unlabeled
            node; a tenth of the labeled nodes, at random, is then used for validation.

        Returns
        -------
        self
        """
        from graphprox.methods._supervised import SupervisedTask

        method = self._with_preset(graph)
        method.check_parameters()
        seed = check_seed(self.random_state)
        checked = self._check_graph(graph, fitting=True)
        if isinstance(split, NodeSplit):
            classes, parts = None, split
        else:
            checked, classes, parts = _split_labels(checked, split, seed)
        task = SupervisedTask.of(checked, parts)
        method._fit(task, seed, self._progress())
        self._copy_fitted(method)
        self.classes_ = task.classes if classes is None else classes[task.classes]
        self.settings_ = method.settings()
        return self

    def predict(self, graph: GraphLike) -> NDArray[Any]:
        """Predict the class of every node.

        Parameters
        ----------
        graph : Graph, Dataset, Data, networkx.Graph, tuple, sparse or dense matrix
            The graph fitted on, or another with the same features where the method is inductive.

        Returns
        -------
        ndarray of shape (n_nodes,)
        """
        scores = self._scores(graph)
        found: NDArray[Any] = self.classes_[scores.argmax(1).numpy()]
        return found

    def predict_proba(self, graph: GraphLike) -> NDArray[Any]:
        """Predict the probability of each class for every node.

        Parameters
        ----------
        graph : Graph, Dataset, Data, networkx.Graph, tuple, sparse or dense matrix

        Returns
        -------
        ndarray of shape (n_nodes, n_classes)
        """
        probabilities: NDArray[Any] = self._scores(graph).double().softmax(1).numpy()
        return probabilities

    def score(self, graph: GraphLike, split: NodeSplit | ArrayLike) -> float:
        """Return the accuracy on the test nodes of a split.

        Parameters
        ----------
        graph : Graph, Dataset, Data, networkx.Graph, tuple, sparse or dense matrix
        split : NodeSplit or array-like of shape (n_nodes,)
            Accuracy is that on the test nodes; an array gives the labels, and counts all that are known.

        Returns
        -------
        float
        """
        predicted = self.predict(graph)
        if isinstance(split, NodeSplit):
            labels, nodes = check_graph(graph).y, split.test
            if labels is None:
                raise GraphError("score needs a graph with labels; got one without: give y")
            if len(nodes) and nodes[-1] >= len(labels):
                raise ParameterError(
                    f"a split must contain nodes 0 to {len(labels) - 1} of the graph; got node {nodes[-1]}"
                )
        else:
            labels = column_or_1d(split)
            nodes = np.arange(len(labels))
            if len(labels) != len(predicted):
                raise ParameterError(
                    f"labels must have one entry per node; got {len(labels)} for {len(predicted)} nodes"
                )
        known = nodes[labels[nodes] != UNKNOWN_LABEL] if labels.dtype.kind in "iuf" else nodes
        if len(known) == 0:
            raise GraphError("score needs test nodes with known labels; got none")
        return float(np.mean(predicted[known] == labels[known]))

    @abstractmethod
    def _fit(self, task: SupervisedTask, seed: int, progress: Progress | None) -> None:
        """Train on a task, and keep what `_decision_function` needs as fitted attributes."""

    @abstractmethod
    def _decision_function(self, graph: Graph) -> Tensor:
        """Return the score of every node for every class, (n_nodes, n_classes)."""

    def _scores(self, graph: GraphLike) -> Tensor:
        import torch

        check_is_fitted(self, "classes_")
        graph = to_numpy(graph)
        if is_matrix(graph):
            x = self._check_features(graph, fitting=False)
            rows = x if x.shape[0] > 1 else np.repeat(cast("NDArray[Any]", x), 2, axis=0)
            checked, count = Graph(rows, NO_EDGES), x.shape[0]
        else:
            checked = self._check_graph(graph, fitting=False)
            count = checked.num_nodes
        with torch.no_grad():
            return self._decision_function(checked.without_labels())[:count]


def _split_labels(graph: Graph, labels: ArrayLike | None, seed: int) -> tuple[Graph, NDArray[Any], NodeSplit]:
    """Return a graph with labels as numbers, the classes they stand for, and a split of the labeled nodes."""
    if labels is None:
        raise ParameterError(
            "split must be a NodeSplit, as random_split makes, or y should be a 1d array of labels; got None"
        )
    given = column_or_1d(check_array(labels, ensure_2d=False, dtype=None, input_name="y"), warn=True)
    if given.dtype.kind == "b":
        raise ParameterError(
            "labels must be classes; got booleans, which look like a mask: pass NodeSplit.from_masks(train, val, test)"
        )
    check_classification_targets(given)
    if len(given) != graph.num_nodes:
        raise ParameterError(
            f"labels must have one entry per node, -1 where unknown; got {len(given)} for {graph.num_nodes} nodes"
        )
    known = given != UNKNOWN_LABEL if given.dtype.kind in "iuf" else np.ones(len(given), bool)
    classes, codes = np.unique(given[known], return_inverse=True)
    if len(classes) < 2:
        raise GraphError(f"a classifier needs nodes of at least two classes; got {len(classes)}")
    y = np.full(graph.num_nodes, UNKNOWN_LABEL, np.int64)
    y[known] = codes
    nodes = np.random.default_rng(seed).permutation(np.flatnonzero(known))
    # The first node of every class is a training node, so that no class is missing there.
    is_first = np.zeros(len(nodes), bool)
    is_first[np.unique(y[nodes], return_index=True)[1]] = True
    order = np.concatenate([nodes[~is_first], nodes[is_first]])
    num_val = max(1, int(VAL_SHARE * len(nodes)))
    return graph.with_labels(y), classes, NodeSplit(train=order[num_val:], val=order[:num_val], test=[])


# -- parameters of version 0.1 --------------------------------------------------------------------------------------

# The present names; a method has at most one of several.
_RENAMED: Mapping[str, tuple[str, ...]] = {
    "width": ("n_components", "hidden_channels"),
    "hidden": ("hidden_channels",),
    "layers": ("num_layers",),
    "steps": ("epochs", "hops"),
    "rounds": ("epochs",),
    "seed": ("random_state",),
    "walks": ("num_walks",),
    "length": ("walk_length",),
    "window": ("window_size",),
    "negatives": ("num_negatives",),
    "alpha": ("damping",),
    "discriminator": ("discriminator_channels",),
    "discriminator_rate": ("discriminator_learning_rate",),
    "teleport": ("alpha",),
    "scaled": ("scale_diffusion",),
    "parts": ("num_subgraphs",),
    "part_size": ("subgraph_size",),
    "neighbours": ("neighbor_weighting",),
    "own": ("self_loss_weight",),
    "near": ("neighbor_loss_weight",),
    "edges": ("edge_loss_weight",),
    "decorrelation": ("decorrelation_weight",),
    "feature_mask": ("drop_feature_rate", "drop_feature_rate_1"),
    "feature_mask_2": ("drop_feature_rate_2",),
    "edge_drop": ("drop_edge_rate", "drop_edge_rate_1"),
    "edge_drop_2": ("drop_edge_rate_2",),
    "predictor": ("predictor_channels",),
    "warm_up": ("warmup_ratio",),
    "mask": ("mask_rate",),
    "replace": ("replace_rate",),
    "sharpness": ("gamma",),
    "last_heads": ("output_heads",),
    "kind": ("conv", "encoder"),
    "jump": ("jk",),
}


def renamed_parameter(name: str, known: Collection[str]) -> str | None:
    """Return the present name of a parameter of version 0.1, or None.

    Parameters
    ----------
    name : str
    known : collection of str
        Parameters of the method.

    Examples
    --------
    >>> renamed_parameter("width", ["n_components"]), renamed_parameter("width", ["hidden_channels"])
    ('n_components', 'hidden_channels')
    """
    return next((each for each in _RENAMED.get(name, ()) if each in known), None)


# -- validation -----------------------------------------------------------------------------------------------------


def describe_values(declared: Field[Any]) -> str:
    """Return which values a parameter accepts, as a message states it; empty if any.

    Parameters
    ----------
    declared : dataclasses.Field
        One of :meth:`GraphMethod.parameters`.

    Examples
    --------
    >>> from graphprox import DGI
    >>> describe_values(DGI.parameters()["n_components"])
    'a positive integer'
    """
    low, high, choices, kind = (declared.metadata.get(key) for key in ("min", "max", "choices", "kind"))
    kind = kind or type(declared.default)
    if choices:
        return f"one of {_join(choices)}"
    if kind is bool:
        return "true or false"
    if kind is int and high is None and low in (0, 1):
        return "a positive integer" if low else "a non-negative integer"
    if kind in (int, float):
        return f"{'an integer' if kind is int else 'a finite number'}{_limits(low, high)}"
    return ""


def _check_value(name: str, value: Any, declared: Field[Any]) -> None:
    """Raise unless a value is of the default's type and within the limits."""
    low, high, choices, kind = (declared.metadata.get(key) for key in ("min", "max", "choices", "kind"))
    kind = kind or type(declared.default)
    if value is None and (declared.default is None or declared.metadata.get("optional")):
        return
    if choices:
        is_valid = value in choices
    elif kind is bool:
        is_valid = isinstance(value, bool)
    elif kind is int:
        is_valid = isinstance(value, int | np.integer) and not isinstance(value, bool)
    elif kind is float:
        is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
        is_valid = is_number and math.isfinite(value)
    else:
        return
    if not (is_valid and (low is None or value >= low) and (high is None or value <= high)):
        raise ParameterError(f"{name} must be {describe_values(declared)}; got {shorten_repr(value)}")


def _is_choice(value: Any, choices: Collection[Any]) -> bool:
    try:
        return value in choices
    except TypeError:  # unhashable
        return False


def _limits(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f" between {low:g} and {high:g}"
    if low is not None:
        return f" of at least {low:g}"
    return f" of at most {high:g}" if high is not None else ""


def _join(names: Iterable[Any]) -> str:
    return ", ".join(map(str, names))
