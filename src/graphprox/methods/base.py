"""The interface of all methods: scikit-learn estimators that are fitted on a graph.

    GraphMethod                  parameters with ranges, presets, facts about the method
    ├── GraphEmbedder            fit(graph), fit_transform(graph), embedding_; in embedder.py
    │   └── InductiveEmbedder    and transform(other_graph)
    └── NodeClassifier           fit(graph, split), predict(graph), score(graph, split); in classifier.py

A method is one file with a class that declares its parameters (parameters.py) and is registered (registration.py).
"""

from __future__ import annotations

import warnings
from abc import ABC
from collections.abc import Iterable, Mapping
from dataclasses import Field, dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import validate_data

from graphprox._utils.arrays import Features, MatrixLike
from graphprox._utils.defaults import AUTO
from graphprox._utils.progress import PrintProgress, Progress, current_progress
from graphprox._utils.random import RandomState
from graphprox._utils.renamed import renamed_parameter
from graphprox._utils.suggestions import did_you_mean
from graphprox.datasets.dataset import Dataset
from graphprox.errors import ParameterError, StructuralFeaturesWarning
from graphprox.forecast import Costs
from graphprox.forecast.largest_arrays import count_arrays
from graphprox.graph.graph import Graph
from graphprox.graph.structural import has_structural_features, use_degree_buckets
from graphprox.graph.validation import NO_EDGES, GraphLike, check_graph
from graphprox.graph.weights import scale_weights
from graphprox.methods.parameters import check_value, parameter
from graphprox.preprocessing.preprocessor import Preprocessor
from graphprox.preprocessing.scaling import SCALES, ScaleName

if TYPE_CHECKING:
    from graphprox.methods.registration import MethodInfo

DEFAULT = "default"  # the preset that changes nothing

# Names of the parameters that were given, so that they take precedence over a preset even if they equal their default.
# They are no attribute of an estimator, whose constructor sets its parameters and nothing else, but part of its state.
_EXPLICIT: WeakKeyDictionary[GraphMethod, frozenset[str]] = WeakKeyDictionary()
_STATE_KEY = "_explicit"


class _Fitted:
    """Attributes that ``fit`` sets; declared apart from the parameters, which are the fields of a dataclass."""

    n_features_in_: int
    feature_names_in_: NDArray[Any]
    preprocessor_: Preprocessor = Preprocessor()  # of an estimator that was fitted before there was one
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
    scale : {"auto", "standard", "none"}, default="auto"
        Whether columns of features are standardized: those of a table, whose units differ; all of them; or none.
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
    ignores_structural_features : bool
        Whether a graph without features gets features of the method's own, in place of the structural ones that a
        `StructuralFeaturesWarning` is about. True for every method that reads no features.
    shares_work : bool
        Whether several processes can fit the method together; see :mod:`graphprox.distributed`.
    """

    name: ClassVar[str]
    info: ClassVar[MethodInfo]
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    stochastic: ClassVar[bool] = True
    ignores_structural_features: ClassVar[bool] = False
    shares_work: ClassVar[bool] = False

    preset: str = parameter(AUTO, is_setting=False)
    scale: ScaleName = parameter("auto", choices=SCALES, is_setting=False)
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

        Returns
        -------
        GraphMethod
            An instance of the class, not fitted.

        Raises
        ------
        ParameterError
            If the preset or a parameter is unknown.

        Examples
        --------
        >>> from graphprox import DGI
        >>> DGI.from_preset(n_components=64)
        DGI(n_components=64, preset='default')
        """
        cls._check_preset(preset)
        return cls(**{**cls.presets.get(preset, {}), **cls._to_parameters(parameters), "preset": DEFAULT})

    @classmethod
    def _to_parameters(cls, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return settings as parameters of the constructor; raise if one is unknown."""
        cls._reject_renamed(settings)
        known = cls.parameters()
        for name in settings:
            if name not in known:
                raise ParameterError(f"{cls.info.title} has no parameter {name!r}; {did_you_mean(name, known)}")
        return dict(settings)

    @classmethod
    def _reject_renamed(cls, names: Iterable[str]) -> None:
        """Raise if a parameter is unknown and has another name since version 0.2."""
        known = cls.parameters()
        for name in names:
            if name not in known and (renamed := renamed_parameter(name, known)) is not None:
                raise ParameterError(
                    f"{cls.info.title} has no parameter {name!r}; it was renamed to {renamed!r} in version 0.2"
                )

    @classmethod
    def select_preset(cls, preset: str = AUTO, dataset: str | None = None) -> str:
        """Return the name of the preset to use.

        Parameters
        ----------
        preset : str, default="auto"
            ``"auto"`` is the preset of ``dataset``, if there is one, or else ``"default"``.
        dataset : str, optional
            Name of the data set.

        Returns
        -------
        str
            One of :meth:`preset_names`.
        """
        if preset == AUTO:
            preset = dataset if dataset is not None and dataset in cls.presets else DEFAULT
        cls._check_preset(preset)
        return preset

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
        } | self._scale_setting()

    def _scale_setting(self) -> dict[str, Any]:
        """Return the scale as a setting if it is not the default, so that older descriptions of settings stay valid."""
        return {} if self.scale == AUTO else {"scale": self.scale}

    def check_parameters(self) -> None:
        """Raise a `ParameterError` if a parameter has a value that it may not have."""
        for name, each in self.parameters().items():
            if each.metadata:
                check_value(name, getattr(self, name), each)

    def resolve_preset(self, graph: object = None) -> Self:
        """Return this method with the settings of its preset; parameters that were given take precedence.

        Parameters
        ----------
        graph : object, optional
            What ``fit`` is given: if it is a `Dataset`, ``preset="auto"`` stands for its name.

        Returns
        -------
        GraphMethod
            This method itself if there is no preset to apply.
        """
        preset = self.select_preset(self.preset, graph.name if isinstance(graph, Dataset) else None)
        if preset == DEFAULT:
            return self
        given = self._given_parameters()
        given.pop("preset", None)
        return self.from_preset(preset, **given)

    def _given_parameters(self) -> dict[str, Any]:
        """Return the parameters that were given, or that differ from their default."""
        explicit = _EXPLICIT.get(self, frozenset())
        return {
            name: getattr(self, name)
            for name, each in self.parameters().items()
            if name in explicit or getattr(self, name) != each.default
        }

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
        self._reject_renamed(parameters)
        super().set_params(**parameters)
        self._mark_explicit(parameters)
        return self

    def _mark_explicit(self, names: Iterable[str]) -> None:
        _EXPLICIT[self] = _EXPLICIT.get(self, frozenset()) | frozenset(names)

    def __sklearn_clone__(self) -> Self:
        made: Self = super().__sklearn_clone__()
        _EXPLICIT[made] = _EXPLICIT.get(self, frozenset())
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), _STATE_KEY: sorted(_EXPLICIT.get(self, ()))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        _EXPLICIT[self] = frozenset(state.pop(_STATE_KEY, ()))
        super().__setstate__(state)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:  # noqa: N803 - the signature of scikit-learn
        """Return the constructor call with the parameters that were given, so that equal texts fit equally."""
        shown = self._given_parameters() if get_config()["print_changed_only"] else self.get_params(deep=False)
        return f"{type(self).__name__}({', '.join(f'{name}={shown[name]!r}' for name in sorted(shown))})"

    def _progress(self) -> Progress | None:
        return current_progress() or (PrintProgress(self.info.title) if self.verbose else None)

    def _copy_fitted(self, other: GraphMethod) -> None:
        """Take the fitted attributes of the method that a preset has made of this one."""
        if other is not self:
            parameters = self.parameters()
            self.__dict__ |= {name: value for name, value in vars(other).items() if name not in parameters}

    def _memory_costs(self, graph: Graph) -> Costs:
        """Return what fitting on a graph needs of memory, coarsely: the bytes of the largest arrays.

        It is counted before each fit, from sizes alone; a method overrides it if it holds more than its vectors.
        """
        return count_arrays(rows=float(getattr(self, "n_components", 0)) * graph.num_nodes)

    # -- features -----------------------------------------------------------------------------------------------------

    def _check_graph(self, graph: GraphLike, *, fitting: bool) -> Graph:
        if fitting and hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        buckets = None if fitting else self.preprocessor_.degree_buckets
        with warnings.catch_warnings():
            if self.ignores_structural_features or buckets is not None:
                warnings.simplefilter("ignore", StructuralFeaturesWarning)
            if buckets is not None:
                # The grown graph may have degrees that the one fitted on has not, and is not to get other columns.
                graph = use_degree_buckets(check_graph(graph), buckets)
            checked = check_graph(graph, check_features=partial(self._check_features, fitting=fitting))
        if fitting:
            self._fit_preprocessor(checked)
            return scale_weights(self.preprocessor_.rescale(checked))
        checked = self.preprocessor_.encode(checked)
        if checked.num_features != self.n_features_in_:
            raise ParameterError(
                f"a graph must have the {self.n_features_in_:,} features that {self.info.title} was fitted on; "
                f"got {checked.num_features:,}"
            )
        return scale_weights(self.preprocessor_.rescale(checked))

    def _fit_preprocessor(self, graph: Graph) -> None:
        self.n_features_in_ = graph.num_features
        if graph.feature_names is not None:
            self.feature_names_in_ = np.array(graph.feature_names, dtype=object)
        # Features that were made from edges have one scale, which "standard" would replace by the rarity of degrees.
        is_scaled = "X" in self.info.uses and not (self.scale == "standard" and has_structural_features(graph))
        fitted = Preprocessor.fit(graph, scale=self.scale if is_scaled else "none")
        self.preprocessor_ = replace(fitted, scale=self.scale)

    def _restore_features(self, preprocessor: Preprocessor) -> None:
        """Set what is known of the features of a loaded model."""
        self.preprocessor_ = preprocessor
        if preprocessor.encoder is not None:
            self.feature_names_in_ = np.array(preprocessor.encoder.feature_names, dtype=object)

    def _check_features(self, x: MatrixLike, *, fitting: bool) -> Features:
        with np.errstate(over="ignore"):  # too large for float32 becomes inf, which Graph rejects
            checked: Features = validate_data(
                self,
                x,
                reset=fitting,
                accept_sparse="csr",
                dtype=np.float32,
                ensure_all_finite=False,
                ensure_min_samples=2 if fitting else 1,
            )
        return checked

    # The graph is what scikit-learn calls X, and is never passed along as metadata.
    __metadata_request__fit: ClassVar = {"graph": UNUSED}


def graph_without_edges(x: Features) -> Graph:
    """Return rows of features as nodes without edges; a single one is doubled, as a graph has at least two nodes.

    Parameters
    ----------
    x : ndarray or csr_array of shape (n_rows, n_features)

    Returns
    -------
    Graph
        With ``max(n_rows, 2)`` nodes.
    """
    return Graph(x if x.shape[0] > 1 else np.repeat(cast("NDArray[Any]", x), 2, axis=0), NO_EDGES)
