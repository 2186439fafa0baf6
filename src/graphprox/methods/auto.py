"""The default method: every proximity of a graph, of which it keeps those that carry information."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Collection, Iterable
from functools import partial
from pathlib import Path
from typing import ClassVar, Self

from sklearn.utils.validation import check_is_fitted

from graphprox._utils.arrays import Features, FloatArray, IntArray, MatrixLike
from graphprox._utils.memory import peak_memory
from graphprox._utils.outcome import warn_if_unused
from graphprox._utils.progress import Progress
from graphprox._utils.team import ALONE, Team, is_model_saved, row_keepers
from graphprox.auto.combination import Combination, to_unit_rows
from graphprox.auto.consensus import agree_on_selection, find_processes
from graphprox.auto.criteria import CRITERIA
from graphprox.auto.criteria.base import FEATURES, GRAPH, RATIOS
from graphprox.auto.explanation import explain
from graphprox.auto.outputs import OUTPUTS, PreparedGraph
from graphprox.auto.outputs.base import POSITION_ROWS, ROWS, SIMILAR, VIEW_ROWS, output_stage
from graphprox.auto.packing import PREPARATION, SELECTION, make_positions_packing, make_projection_packing
from graphprox.auto.positions import Positions
from graphprox.auto.preparation import Preparation
from graphprox.auto.row_store import RowStore, count_kept_columns, read_only
from graphprox.auto.selection import EDGES, Selection, select_outputs
from graphprox.auto.stages import Stages, open_stages
from graphprox.auto.storage import Facts, FittedParts, load_fitted, save_fitted
from graphprox.errors import ParameterError, StructuralFeaturesWarning
from graphprox.forecast import Costs
from graphprox.forecast.disk import DiskUses
from graphprox.graph.graph import Graph
from graphprox.graph.structural import has_informative_features, has_structural_features
from graphprox.graph.validation import GraphLike, check_graph
from graphprox.graph.weights import scale_weights
from graphprox.methods import InductiveEmbedder, MethodInfo, parameter, register_method

POSITIONS = "positions"  # the output that has to be fitted
CHOOSE = "auto"  # what is kept is chosen by the criterion


class _FittedAuto:
    """Attributes that ``fit`` sets."""

    selection_: Selection
    preparation_: Preparation | None
    positions_: Positions | None
    combination_: Combination
    seconds_: float
    _seed: int
    _shape: tuple[int, int]
    _peak_memory: int | None


@register_method("auto")
class AutoEmbedder(_FittedAuto, InductiveEmbedder):
    """Embed a graph by the proximities that carry information in it, chosen without labels.

    Features are weighted, reduced to their leading singular directions, and seen in several ways: as they are, spread
    along edges by personalized PageRank, averaged over neighbors, spread over nodes with similar features. To these
    come who is connected with whom, the degrees around a node, and how many features it has. How much each of them
    counts is decided by the graph itself: an embedding of one half of the features must predict the other half, or,
    where features are dense, it counts how fast similarity fades from neighbors to nodes two steps apart. Nothing is
    trained, and nothing has to be tuned.

    A graph without features is described by who is connected with whom and by degrees.

    Parameters
    ----------
    n_components : int, default=256
        Size of the embedding. A graph gives no more components than it has nodes, nor than its proximities have
        columns, of which there are a few for each feature. The others are zeros, so that vectors of small graphs have
        the same size as those of large ones, with a warning unless it is the default.
    keep : {"auto", "features", "both", "balanced", "graph"}, default="auto"
        What the embedding is made of: features without edges, but for the number of neighbors; mostly features; as much
        of what is spread over edges; or mostly that. ``"auto"`` leaves it to the criterion.
    criterion : {"by-density", "held-out-features", "neighbor-similarity"}, default="by-density"
        How the choice is made; the first takes the second for sparse features and the third for dense ones.
    preset : str, default="auto"
        Has no effect: there are no presets.
    scale : {"auto", "standard", "none"}, default="auto"
        Whether columns of features are standardized: those of a table, whose units differ; all of them; or none.
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
    ignores_structural_features: ClassVar[bool] = True
    shares_work: ClassVar[bool] = True

    n_components: int = parameter(256, min=1)
    keep: str = parameter(CHOOSE, choices=(CHOOSE, *RATIOS))
    criterion: str = parameter("by-density", choices=CRITERIA)

    def _fit(self, graph: Graph, seed: int, progress: Progress | None) -> FloatArray:
        start = time.perf_counter()
        report = progress or _ignore_progress
        self._seed = seed
        team = find_processes(graph, {**self.settings(), "random_state": seed})
        self._make_store(graph, OUTPUTS, team)  # raises if there is no room for files, before any work
        stages = open_stages(graph, self.settings(), seed)
        self.selection_ = stages.keep(
            "selection", lambda: agree_on_selection(team, self._select(graph, seed, report)), SELECTION
        )
        has_features, weights = self.selection_.choice != EDGES, self.selection_.weights
        store = self._make_store(graph, weights, team)
        steps = len(weights) + 4  # features, positions, each of the outputs, their directions, the vectors
        report("embedding", 0, steps)
        self.preparation_ = stages.keep("preparation", lambda: self._prepare(graph, seed, team), PREPARATION)
        report("embedding", 1, steps)
        self.positions_ = None
        if POSITIONS in weights:
            self.positions_ = stages.keep(
                POSITIONS,
                lambda: Positions.fit(graph, has_features=has_features, random_state=seed, store=store),
                make_positions_packing(graph.ids),
                store=store,
            )
        report("embedding", 2, steps)
        self.combination_, rows, num_neighbors = stages.keep(
            "projection",
            lambda: self._combine(graph, store, stages, report),
            make_projection_packing(seed),
            store=store,
        )
        self._warn_of_zeros()
        # Their files make room for those of the vectors.
        stages.discard(ROWS, POSITION_ROWS, SIMILAR, VIEW_ROWS, *map(output_stage, weights))
        report("embedding", steps - 1, steps)
        vectors = stages.keep(
            "vectors",
            lambda: self.combination_.finish(rows, num_neighbors, store, stages),
            store=store,
            is_stored=lambda vectors: vectors is rows,
        )
        if row_keepers().size == 1:
            vectors = store.gather(vectors, graph.num_nodes)
        if self.positions_ is not None and (row_keepers().size == 1 or is_model_saved()):
            self.positions_ = self.positions_.gather(store)
        report("embedding", steps, steps)
        self.seconds_ = time.perf_counter() - start
        self._shape, self._peak_memory = (graph.num_nodes, vectors.shape[1]), peak_memory()
        return read_only(vectors) if store.in_files else vectors

    def _prepare(self, graph: Graph, seed: int, team: Team) -> Preparation | None:
        if self.selection_.choice == EDGES:
            return None
        # Columns on a common scale stay on it, and none are scaled if the user wants none.
        limited = self.preprocessor_.scaling is None and self.scale != "none"
        return Preparation.fit(graph.x, random_state=seed, limited=limited, team=team)

    def _combine(
        self, graph: Graph, store: RowStore, stages: Stages, report: Progress
    ) -> tuple[Combination, FloatArray, IntArray]:
        """Return how the outputs are combined, the rows of unit length that result, and numbers of neighbors."""
        weights = self.selection_.weights
        steps = len(weights) + 4
        outputs, num_neighbors = self._outputs(
            graph, weights, store, stages, lambda name, done: report("embedding", done + 2, steps, note=f", {name}")
        )
        combination = Combination.fit(
            outputs,
            self.selection_.mixture,
            n_components=self.n_components,
            num_neighbors=num_neighbors,
            random_state=self._seed,
            team=store.team,
        )
        return combination, to_unit_rows(combination.project(outputs, store)), num_neighbors

    def _warn_of_zeros(self) -> None:
        used, default = self.combination_.num_used, self.parameters()["n_components"].default
        remedy = "choose fewer, unless another program needs that size"
        warn_if_unused(used, self.n_components, default, f"are not zero in all vectors: {remedy}")

    def _costs(self, graph: Graph) -> Costs:
        from graphprox.auto.auto_costs import auto_costs

        return auto_costs(graph, keep=self.keep, n_components=self.n_components)

    def _memory_costs(self, graph: Graph) -> Costs:
        from graphprox.auto.auto_costs import auto_memory

        return Costs(self.name, {}, auto_memory(graph, keep=self.keep, n_components=self.n_components))

    def _disk_use(self, graph: Graph, *, is_saved: bool) -> DiskUses:
        from graphprox.auto.auto_disk import auto_disk_use

        return auto_disk_use(graph, keep=self.keep, n_components=self.n_components, is_saved=is_saved)

    def _transform(self, graph: Graph) -> FloatArray:
        store = self._make_store(graph, self.combination_.weights)
        return self.combination_.transform(*self._outputs(graph, self.combination_.weights, store), store)

    def _make_store(self, graph: Graph, names: Collection[str], team: Team = ALONE) -> RowStore:
        """Return where rows of the outputs of these names are kept, of which each process of a team has a part."""
        from graphprox.auto.auto_costs import count_channels
        from graphprox.forecast.work import Size

        return RowStore.of(
            graph.num_nodes, count_kept_columns(count_channels(Size.of(graph), names), self.n_components), team
        )

    @property
    def explanation_(self) -> str:
        """What was found in the graph, what was kept, and what it cost, in three lines."""
        kept = self.combination_
        return explain(
            self.selection_,
            kept.weights,
            self._shape,
            self.seconds_,
            self._peak_memory,
            similar=kept.similar,
            popularity=kept.popularity,
        )

    @property
    def _n_features_out(self) -> int:
        return self.combination_.n_components

    def __sklearn_is_fitted__(self) -> bool:
        return "combination_" in vars(self)

    def _select(self, graph: Graph, seed: int, progress: Progress) -> Selection:
        if not has_informative_features(graph):
            if self.keep not in (CHOOSE, GRAPH):
                raise ParameterError(
                    f"keep must be {CHOOSE!r} or {GRAPH!r} for a graph without features; got {self.keep!r}: leave it "
                    "out, or add features"
                )
            return Selection(EDGES, {}, given=self.keep != CHOOSE)
        if self.keep != CHOOSE:
            return Selection(self.keep, {}, given=True)
        if not (graph.edge_index[0] != graph.edge_index[1]).any():
            return Selection(FEATURES, {}, meaning="there are no edges")
        return select_outputs(CRITERIA[self.criterion](graph, seed, progress))

    def _outputs(
        self,
        graph: Graph,
        names: Iterable[str],
        store: RowStore | None = None,
        stages: Stages | None = None,
        report: Callable[[str, int], None] = lambda _name, _done: None,
    ) -> tuple[dict[str, FloatArray], IntArray]:
        """Return the outputs of a graph, and the number of neighbors of each node."""
        prepared = PreparedGraph.of(
            graph, self.preparation_, self.positions_, random_state=self._seed, store=store, stages=stages
        )
        outputs = {}
        for done, name in enumerate(names):
            report(name, done)
            outputs[name] = prepared.compute(name)
        return outputs, prepared.num_neighbors

    # -- graphs without features --------------------------------------------------------------------------------------

    def _check_graph(self, graph: GraphLike, *, fitting: bool) -> Graph:
        if fitting:
            return super()._check_graph(graph, fitting=True)
        # Features that were made from edges differ in number between graphs, and are not read.
        check = {} if self.preparation_ is None else {"check_features": partial(self._check_features, fitting=False)}
        with warnings.catch_warnings(action="ignore", category=StructuralFeaturesWarning):
            checked = check_graph(graph, **check)
        if self.preparation_ is None:
            if has_informative_features(checked):
                raise ParameterError(_describe_given_features(f"{checked.num_features:,} features"))
            return scale_weights(checked)
        if has_structural_features(checked):
            raise ParameterError(
                f"a graph must have features, as the one that auto was fitted on has {self.n_features_in_:,}; got a "
                "graph without: add its features, or call fit_transform on it, which embeds nodes by their neighbors"
            )
        return super()._check_graph(checked, fitting=False)

    def _check_features(self, x: MatrixLike, *, fitting: bool) -> Features:
        if fitting or self.preparation_ is not None:
            return super()._check_features(x, fitting=fitting)
        raise ParameterError(_describe_given_features("features without edges"))

    # -- a folder -----------------------------------------------------------------------------------------------------

    def save(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Save what was fitted in a folder, as ``graphprox embed --model`` does; no file in it is a pickle.

        Parameters
        ----------
        folder : str or Path
            Created if it does not exist. It must not have files of other programs only.
        overwrite : bool, default=False
            Whether an older model in the folder is replaced; without it, that is an error.
        """
        check_is_fitted(self)
        facts = Facts(self.settings_, self._seed, self.n_features_in_, self._shape, self.seconds_, self._peak_memory)
        parts = FittedParts(
            facts, self.selection_, self.preparation_, self.positions_, self.combination_, self.preprocessor_
        )
        save_fitted(folder, parts, overwrite=overwrite)

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
        given = {**cls._to_parameters(facts.settings), "random_state": facts.random_state}
        loaded = cls(**{name: value for name, value in given.items() if value != known[name].default})
        loaded.check_parameters()
        loaded.selection_, loaded.combination_ = parts.selection, parts.combination
        loaded.preparation_, loaded.positions_ = parts.preparation, parts.positions
        loaded._restore_features(parts.preprocessor)
        loaded.n_features_in_, loaded.settings_ = facts.num_features, loaded.settings()
        loaded._seed, loaded._shape = facts.random_state, facts.shape
        loaded.seconds_, loaded._peak_memory = facts.seconds, facts.peak_memory
        return loaded


def _describe_given_features(given: str) -> str:
    return (
        "a graph must have no features, as the one that auto was fitted on has none and nodes are embedded by their "
        f"neighbors; got {given}: give a graph without, or fit on one with features"
    )


def _ignore_progress(stage: str, done: int, total: int, note: str = "") -> None:
    """Report nothing."""
