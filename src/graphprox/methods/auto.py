"""The default method: every proximity of a graph, of which it keeps those that carry information."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from graphprox._utils.arrays import Features, FloatArray, NodeIds
from graphprox._utils.memory import peak_memory
from graphprox._utils.progress import Progress
from graphprox.auto.combination import Combination
from graphprox.auto.criteria import CRITERIA
from graphprox.auto.explanation import explain
from graphprox.auto.outputs import OUTPUTS, PreparedGraph
from graphprox.auto.preparation import Preparation
from graphprox.auto.selection import BOTH, CANDIDATES, FEATURES, GRAPH, POSITIONS, Selection, select_outputs
from graphprox.auto.storage import Facts, FittedParts, load_fitted, save_fitted
from graphprox.errors import ParameterError
from graphprox.graph.graph import Graph
from graphprox.graph.structural import has_informative_features
from graphprox.graph.validation import GraphLike, check_graph
from graphprox.methods import InductiveEmbedder, MethodInfo, parameter, register_method

CHOOSE = "auto"  # what is kept is chosen by the criterion


class _FittedAuto:
    """Attributes that ``fit`` sets."""

    selection_: Selection
    preparation_: Preparation
    combination_: Combination
    known_ids_: NodeIds | None
    seconds_: float
    _seed: int
    _shape: tuple[int, int]
    _peak_memory: int | None


@register_method("auto")
class AutoEmbedder(_FittedAuto, InductiveEmbedder):
    """Embed a graph by the proximities that carry information in it, chosen without labels.

    Features are weighted, reduced to their leading singular directions, and seen in several ways: as they are, spread
    along edges by personalized PageRank, averaged over neighbors, spread over nodes with similar features. Whether
    edges are used is decided by the graph itself: an embedding of one half of the features must predict the other
    half. Nothing is trained, and nothing has to be tuned.

    A graph without features is described by who is connected with whom: the neighbors of a node are its features, and
    degrees around it are a second, weaker output.

    Parameters
    ----------
    n_components : int, default=256
        Size of the embedding.
    keep : {"auto", "graph", "features", "both"}, default="auto"
        What the embedding is made of: diffusion over edges, features without edges, or both. ``"auto"`` leaves it to
        the criterion.
    criterion : str, default="held-out-features"
        How the choice is made.
    preset : str, default="auto"
        Has no effect: there are no presets.
    random_state : int, RandomState, Generator or None, default=0
        Random seed of singular vectors and of the halves of the features.
    verbose : bool, default=False
        Whether to print progress on stderr.

    Attributes
    ----------
    embedding_ : Embedding
    vectors_ : ndarray of shape (num_nodes, n_components)
    selection_ : Selection
        What was kept, and the scores that decided it.
    explanation_ : str
        The same in three lines.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> embedder = AutoEmbedder(n_components=32).fit(synthetic(nodes=420))
    >>> embedder.vectors_.shape, embedder.selection_.choice
    ((420, 32), 'both')
    """

    info = MethodInfo(
        title="auto",
        group="auto",
        uses="AX",
        summary="the default: every proximity that carries information, chosen without labels; nothing is trained",
    )
    presets: ClassVar = {}

    n_components: int = parameter(256, min=1)
    keep: str = parameter(CHOOSE, choices=(CHOOSE, GRAPH, FEATURES, BOTH))
    criterion: str = parameter("held-out-features", choices=CRITERIA)

    def _fit(self, graph: Graph, seed: int, progress: Progress | None) -> FloatArray:
        start = time.perf_counter()
        report = progress or _ignore_progress
        self.known_ids_ = None if has_informative_features(graph) else graph.ids
        self._seed = seed
        self.selection_ = self._select(graph, seed, report)
        report("embedding", 0, 2)
        x = self._features(graph)
        self.preparation_ = Preparation.fit(x, seed=seed)
        outputs = self._outputs(graph, x)
        report("embedding", 1, 2)
        self.combination_ = Combination.fit(outputs, self.selection_.weights, n_components=self.n_components)
        vectors = self.combination_.transform(outputs)
        report("embedding", 2, 2)
        self.seconds_ = time.perf_counter() - start
        self._shape, self._peak_memory = vectors.shape, peak_memory()
        return vectors

    def _transform(self, graph: Graph) -> FloatArray:
        return self.combination_.transform(self._outputs(graph, self._features(graph)))

    @property
    def explanation_(self) -> str:
        """What was found in the graph, what was kept, and what it cost, in three lines."""
        return explain(self.selection_, self._shape, self.seconds_, self._peak_memory)

    @property
    def _n_features_out(self) -> int:
        return int(self.combination_.projection.shape[1])

    def __sklearn_is_fitted__(self) -> bool:
        return "combination_" in vars(self)

    def _select(self, graph: Graph, seed: int, progress: Progress) -> Selection:
        if self.known_ids_ is not None:
            return Selection(POSITIONS, {})
        if self.keep != CHOOSE:
            return Selection(self.keep, {})
        return select_outputs(CRITERIA[self.criterion](graph, CANDIDATES, seed, progress))

    def _outputs(self, graph: Graph, x: Features) -> dict[str, FloatArray]:
        prepared = PreparedGraph(graph, self.preparation_.transform(x), self._seed)
        return {name: OUTPUTS[name](prepared) for name in self.selection_.weights}

    # -- graphs without features --------------------------------------------------------------------------------------

    def _features(self, graph: Graph) -> Features:
        """Return the features of a graph, or those made from its edges: a column for each node of the fitted graph."""
        if self.known_ids_ is None:
            return graph.x
        column = {each: number for number, each in enumerate(self.known_ids_.tolist())}
        known = np.array([column.get(each, -1) for each in graph.ids.tolist()])
        if (known < 0).all():
            raise ParameterError(
                "a graph without features must share nodes with the one that auto was fitted on, as nodes are "
                "described by their neighbors; none of its ids is known: call fit_transform on that graph"
            )
        source, target = graph.edge_index
        if graph.directed:
            source, target = np.concatenate([source, target]), np.concatenate([target, source])
        listed = (known[target] >= 0) & (source != target)
        entries = (source[listed], known[target[listed]])
        shape = (graph.num_nodes, len(self.known_ids_))
        matrix = sp.csr_array((np.ones(len(entries[0]), np.float32), entries), shape=shape)
        matrix.data[:] = 1  # both directions of an edge were added up
        return matrix

    def _check_graph(self, graph: GraphLike, *, fitting: bool) -> Graph:
        # Features that were made from edges differ in number between graphs, and are not read.
        if fitting or self.known_ids_ is None:
            return super()._check_graph(graph, fitting=fitting)
        checked = check_graph(graph)
        if has_informative_features(checked):
            raise ParameterError(
                "auto was fitted on a graph without features and embeds nodes by their neighbors; got a graph with "
                f"{checked.num_features:,} features: leave them out, or fit on a graph with features"
            )
        return checked

    def _transform_features(self, x: Features) -> Any:
        if self.known_ids_ is not None:
            raise ParameterError(
                "auto was fitted on a graph without features and embeds nodes by their neighbors; got features without "
                "edges: give a graph"
            )
        return super()._transform_features(x)

    # -- a folder -----------------------------------------------------------------------------------------------------

    def save(self, folder: str | Path) -> None:
        """Save what was fitted in a folder, as ``graphprox embed --model`` does; no file in it is a pickle.

        Parameters
        ----------
        folder : str or Path
            Created if it does not exist; an older model in it is replaced.
        """
        check_is_fitted(self)
        facts = Facts(self.settings_, self._seed, self.n_features_in_, self._shape, self.seconds_, self._peak_memory)
        save_fitted(folder, FittedParts(facts, self.selection_, self.preparation_, self.combination_, self.known_ids_))

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Load an embedder that ``save`` or ``graphprox embed --model`` has written.

        It can ``transform`` graphs; there is no ``embedding_``.

        Parameters
        ----------
        folder : str or Path

        Returns
        -------
        AutoEmbedder

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from graphprox import synthetic
        >>> fitted = AutoEmbedder(n_components=8).fit(synthetic(nodes=140))
        >>> with TemporaryDirectory() as folder:
        ...     fitted.save(folder)
        ...     AutoEmbedder.load(folder).transform(synthetic(nodes=210)).shape
        (210, 8)
        """
        parts = load_fitted(folder)
        facts, known = parts.facts, cls.parameters()
        given = {**cls._to_parameters(facts.settings), "random_state": facts.seed}
        loaded = cls(**{name: value for name, value in given.items() if value != known[name].default})
        loaded.selection_, loaded.known_ids_ = parts.selection, parts.known_ids
        loaded.preparation_, loaded.combination_ = parts.preparation, parts.combination
        loaded.n_features_in_, loaded.settings_ = facts.num_features, loaded.settings()
        loaded._seed, loaded._shape = facts.seed, facts.shape
        loaded.seconds_, loaded._peak_memory = facts.seconds, facts.peak_memory
        return loaded


def _ignore_progress(stage: str, done: int, total: int, note: str = "") -> None:
    """Report nothing."""
