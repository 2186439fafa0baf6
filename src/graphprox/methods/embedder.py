"""The base classes of methods that embed nodes: of one graph, or of any graph with the same features."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from graphprox._utils.arrays import Features, NodeIds
from graphprox._utils.outcome import warn_if_alike
from graphprox._utils.progress import Progress, report_progress
from graphprox._utils.random import check_seed
from graphprox._utils.team import row_keepers
from graphprox.embedding import Embedding
from graphprox.errors import NotInductiveError, StructuralFeaturesWarning
from graphprox.forecast import Costs, Forecast, make_forecast
from graphprox.forecast.disk import DiskUses
from graphprox.graph.conversion import to_numpy
from graphprox.graph.graph import Graph
from graphprox.graph.validation import GraphLike, check_graph, is_matrix
from graphprox.methods.base import GraphMethod, graph_without_edges
from graphprox.methods.memory_check import check_fits_memory


class GraphEmbedder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, GraphMethod):  # type: ignore[misc]
    """Base class of methods that learn a vector for every node; labels are ignored.

    Subclasses implement ``_fit(graph, seed, progress)``, which returns the vectors.

    Attributes
    ----------
    embedding_ : Embedding
        Vectors and ids of the nodes of the graph it was fitted on.
    vectors_ : ndarray or csr_array of shape (num_nodes, n_components)
        The same vectors as an array.
    node_ids_ : ndarray of shape (num_nodes,)
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
        method = self.resolve_preset(graph)
        method.check_parameters()
        seed = check_seed(self.random_state)
        checked = self._check_graph(graph, fitting=True).without_labels()
        check_fits_memory(method, checked)
        method.preprocessor_ = self.preprocessor_  # which a model is saved with while it trains
        self.__dict__.pop("embedding_", None)
        with report_progress(progress := self._progress()):
            self.vectors_ = warn_if_alike(method._fit(checked, seed, progress))
        self._copy_fitted(method)
        self.node_ids_, self.settings_ = checked.ids[row_keepers().rows(checked.num_nodes)], method.settings()
        return self

    def forecast(self, graph: GraphLike) -> Forecast:
        """Estimate what fitting on a graph takes on this machine, in well under a second for most graphs.

        Parameters
        ----------
        graph : Graph, Dataset, Data, networkx.Graph, tuple, sparse or dense matrix
            What ``fit`` would be given.

        Returns
        -------
        Forecast
            Seconds, and peak memory of the process. The default method and FT-GCL with its family have a model of their
            time; of other methods, the memory of the largest arrays is counted, and seconds are None.

        Examples
        --------
        >>> from graphprox import AutoEmbedder, synthetic
        >>> AutoEmbedder().forecast(synthetic(nodes=420)).seconds < 60
        True
        """
        return make_forecast(self.costs(graph))

    def costs(self, graph: GraphLike) -> Costs:
        """Count the work and the memory of fitting on a graph, of which a forecast is made.

        Parameters
        ----------
        graph : Graph, Dataset, Data, networkx.Graph, tuple, sparse or dense matrix

        Returns
        -------
        Costs
            For a method without a model of its time, only memory.
        """
        method = self.resolve_preset(graph)
        method.check_parameters()
        with warnings.catch_warnings(action="ignore", category=StructuralFeaturesWarning):
            return method._costs(check_graph(graph).without_labels())

    def disk_use(self, graph: GraphLike, *, is_saved: bool = False) -> DiskUses:
        """Estimate how many bytes of files fitting on a graph needs, without the vectors that it returns.

        Parameters
        ----------
        graph : Graph, Dataset, Data, networkx.Graph, tuple, sparse or dense matrix
        is_saved : bool, default=False
            Whether the model is saved in a folder.

        Returns
        -------
        mapping of str to mapping
            Bytes by place (``"work"``, ``"model"`` or ``"cache"``), and in each by what the files are.

        Examples
        --------
        >>> from graphprox import AutoEmbedder, synthetic
        >>> AutoEmbedder(n_components=8).disk_use(synthetic(nodes=140))["work"]
        {'rows that memory does not hold': 0}
        """
        method = self.resolve_preset(graph)
        with warnings.catch_warnings(action="ignore", category=StructuralFeaturesWarning):
            return method._disk_use(check_graph(graph).without_labels(), is_saved=is_saved)

    def _disk_use(self, graph: Graph, *, is_saved: bool) -> DiskUses:  # noqa: ARG002 - for subclasses
        """Return the bytes of files; see :mod:`graphprox.forecast.disk`."""
        return {}

    def count_components(self, graph: GraphLike) -> int:
        """Return the number of columns of the vectors of a graph, before it is embedded.

        Parameters
        ----------
        graph : Graph, Dataset, Data, networkx.Graph, tuple, sparse or dense matrix

        Returns
        -------
        int

        Examples
        --------
        >>> from graphprox import AutoEmbedder, synthetic
        >>> AutoEmbedder(n_components=8).count_components(synthetic(nodes=140))
        8
        """
        method = self.resolve_preset(graph)
        with warnings.catch_warnings(action="ignore", category=StructuralFeaturesWarning):
            return method._count_components(check_graph(graph))

    def _count_components(self, graph: Graph) -> int:
        size = self.settings().get("n_components")
        return size if isinstance(size, int) else graph.num_features

    def _costs(self, graph: Graph) -> Costs:
        """Return the costs of fitting on a graph; see :mod:`graphprox.forecast`."""
        return self._memory_costs(graph)

    def fit_transform(self, graph: GraphLike, y: object = None) -> Any:
        """Fit on a graph, and return the vectors of its nodes.

        Parameters
        ----------
        graph : Graph, Dataset, Data, networkx.Graph, tuple, sparse or dense matrix
        y : ignored

        Returns
        -------
        ndarray or csr_array of shape (num_nodes, n_components)
        """
        return self.fit(graph, y).vectors_

    @cached_property
    def embedding_(self) -> Embedding:
        """Vectors and ids of the nodes."""
        check_is_fitted(self, "vectors_")
        vectors = self.vectors_
        return Embedding(vectors if isinstance(vectors, np.ndarray) else vectors.toarray(), self.node_ids_)

    @abstractmethod
    def _fit(self, graph: Graph, seed: int, progress: Progress | None) -> NDArray[Any] | sp.csr_array:
        """Return the vectors of a graph without labels, (num_nodes, n_components)."""

    @property
    def _n_features_out(self) -> int:
        return int(self.vectors_.shape[1])

    def __sklearn_is_fitted__(self) -> bool:
        return "vectors_" in vars(self)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("embedding_", None)  # a copy of the vectors, made again when it is read
        return state

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
            For new nodes, the whole grown graph, or at least these with their neighbors, and the features of both.

        Returns
        -------
        ndarray or csr_array of shape (num_nodes, n_components)
            Of all nodes of that graph.
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
        return self._transform(self.preprocessor_.rescale(graph_without_edges(x)))[: x.shape[0]]
