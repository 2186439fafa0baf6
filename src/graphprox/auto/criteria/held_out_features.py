"""Held-out features: how well an embedding of one half of the features predicts the other half.

The columns are split at random. Outputs are computed from the first half; a ridge regression from them to the second
half is fitted on a few nodes and scored on the others. A proximity that says something about features a node was not
embedded by also says something about its class, if the class has to do with features at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from graphprox._utils.arrays import Features, FloatArray
from graphprox._utils.progress import Progress
from graphprox._utils.team import current_team, select_rows
from graphprox.auto.criteria.base import BALANCED, RATIOS, Evidence, register_criterion
from graphprox.auto.outputs.base import OUTPUTS, PreparedGraph
from graphprox.auto.preparation import SHARPNESS, Preparation
from graphprox.auto.row_store import RowStore
from graphprox.graph.graph import Graph

# Combinations of outputs that are scored.
CANDIDATES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "own": ("own",),
        "graph": ("graph",),
        "own and view": ("own", "view"),
        "own and graph": ("own", "graph", "neighbors"),
    }
)
MIN_SCORE = 0.01  # an R² below it is no evidence
MIN_FEATURES, MIN_NODES = 8, 40  # below, nothing can be concluded
SMALL = 5_000  # nodes; smaller graphs are judged by several splits of the columns
MAX_SPLITS = 5
TRAIN_NODES, TEST_NODES = 2_000, 20_000  # at most
TRAIN_SHARE = 0.1
MIN_TRAIN_NODES = 300  # or 30 % of a smaller graph
MAX_DIRECTIONS = 128  # half of the columns have fewer than all of them
PENALTIES = (0.1, 1.0, 10.0, 100.0)


@register_criterion("held-out-features")
def held_out_features(graph: Graph, random_state: int, progress: Progress) -> Evidence:
    """Compare how well edges and features predict features that are held out.

    Parameters
    ----------
    graph : Graph
    random_state : int
        Random seed of the halves.
    progress : callable

    Returns
    -------
    Evidence
        Its scores are the R² of `CANDIDATES`, the mean over splits; none if the graph is too small or has too few
        features.
    """
    scores = score_candidates(graph, random_state, progress)
    if not scores:
        return Evidence(None, meaning="the graph has too few nodes or features")
    return Evidence(compare_scores(scores), scores, "of held-out features explained")


def compare_scores(scores: Mapping[str, float]) -> float | None:
    """Return what is explained with edges, divided by what is explained without.

    Edges are useful if diffusion predicts held-out features as well as the node's own features do, or if adding edges
    to own features predicts them as well as adding nodes with similar features does. The second alone is not enough for
    an embedding that is mostly diffusion: neighbors may be unlike the node in a way that tells what it is.

    Parameters
    ----------
    scores : mapping of str to float
        Score of each of `CANDIDATES`; may be empty.

    Returns
    -------
    float or None

    Examples
    --------
    >>> compare_scores({"own": 0.1, "graph": 0.2, "own and view": 0.1, "own and graph": 0.2})
    2.0
    """
    if not scores or max(scores.values()) < MIN_SCORE:
        return None
    in_place = _divide(scores["graph"], scores["own"])
    in_addition = _divide(scores["own and graph"], scores["own and view"])
    return max(in_place, min(in_addition, RATIOS[BALANCED]))


def _divide(with_edges: float, without: float) -> float:
    return max(with_edges, 0.0) / max(without, MIN_SCORE)  # less is no evidence, and would make any ratio large


def score_candidates(graph: Graph, random_state: int, progress: Progress) -> dict[str, float]:
    """Return the R² of each of `CANDIDATES`, the mean over splits of the columns.

    Parameters
    ----------
    graph : Graph
    random_state : int
    progress : callable

    Returns
    -------
    dict of str to float
        Empty if the graph is too small or has too few features.
    """
    if graph.num_features < MIN_FEATURES or graph.num_nodes < MIN_NODES:
        return {}
    rng = np.random.default_rng([random_state, 1])
    num_splits = int(np.clip(SMALL // graph.num_nodes, 1, MAX_SPLITS))
    scores: dict[str, list[float]] = {name: [] for name in CANDIDATES}
    names = dict.fromkeys(name for combined in CANDIDATES.values() for name in combined)
    store = RowStore.of(graph.num_nodes, 8 * MAX_DIRECTIONS, current_team())

    def choose(rows: FloatArray) -> FloatArray:
        selected: FloatArray = select_rows(store.team, rows, chosen, graph.num_nodes)
        return selected

    columns = sp.csc_array(graph.x) if sp.issparse(graph.x) else graph.x
    for split in range(num_splits):
        halves = np.array_split(rng.permutation(graph.num_features), 2)
        for part, (given, held_out) in enumerate((halves, halves[::-1])):
            progress("choosing", 2 * split + part, 2 * num_splits)
            order = rng.permutation(graph.num_nodes)
            num_train = _count_train_nodes(graph.num_nodes)
            chosen = order[: num_train + TEST_NODES]
            target = choose(_prepare(columns[:, held_out], random_state, store))
            prepared = PreparedGraph(graph, _prepare(columns[:, given], random_state, store), random_state, store=store)
            outputs = {name: normalize(choose(OUTPUTS[name](prepared))) for name in names}
            for name, parts in CANDIDATES.items():
                rows = np.concatenate([outputs[each] for each in parts], axis=1)
                scores[name].append(_score(rows, target, num_train))
    progress("choosing", 2 * num_splits, 2 * num_splits)
    return {name: float(np.mean(each)) for name, each in scores.items()}


def _count_train_nodes(num_nodes: int) -> int:
    return int(min(max(TRAIN_SHARE * num_nodes, min(MIN_TRAIN_NODES, 0.3 * num_nodes)), TRAIN_NODES))


def _prepare(columns: FloatArray | sp.csc_array, random_state: int, store: RowStore) -> FloatArray:
    x: Features = columns if isinstance(columns, np.ndarray) else sp.csr_array(columns)
    fitted = Preparation.fit(
        x,
        random_state=random_state,
        max_directions=MAX_DIRECTIONS,
        sharpness=SHARPNESS,
        centered=False,
        team=store.team,
    )
    return fitted.transform(x, store)


def _score(rows: FloatArray, target: FloatArray, num_train: int) -> float:
    """Return the R² of a ridge regression on nodes that it was not fitted on, with the best of a few penalties."""
    train, test = slice(0, num_train), slice(num_train, len(rows))
    mean, center = rows[train].mean(axis=0), target[train].mean(axis=0)
    left, values, right = np.linalg.svd(rows[train] - mean, full_matrices=False)
    inner, projected = left.T @ (target[train] - center), (rows[test] - mean) @ right.T
    actual = target[test] - center
    total = float((actual**2).sum())
    if total == 0:
        return 0.0
    errors = (
        float(((projected @ ((values / (values**2 + penalty))[:, None] * inner) - actual) ** 2).sum())
        for penalty in PENALTIES
    )
    return 1 - min(errors) / total
