"""Held-out features: how well an embedding of one half of the features predicts the other half.

The columns are split at random. Outputs are computed from the first half; a ridge regression from them to the second
half is fitted on a few nodes and scored on the others. A proximity that says something about features a node was not
embedded by also says something about its class, if the class has to do with features at all.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from graphprox._utils.arrays import Features, FloatArray, IntArray
from graphprox._utils.progress import Progress
from graphprox.auto.criteria.base import Candidates, register_criterion
from graphprox.auto.outputs.base import OUTPUTS, PreparedGraph
from graphprox.auto.preparation import Preparation
from graphprox.graph.graph import Graph

MIN_FEATURES, MIN_NODES = 8, 40  # below, nothing can be concluded
SMALL = 5_000  # nodes; smaller graphs are judged by several splits of the columns
MAX_SPLITS = 5
TRAIN_NODES, TEST_NODES = 2_000, 20_000  # at most
TRAIN_SHARE = 0.1
MIN_TRAIN_NODES = 300  # or 30 % of a smaller graph
MAX_DIRECTIONS = 128  # half of the columns have fewer than all of them
PENALTIES = (0.1, 1.0, 10.0, 100.0)


@register_criterion("held-out-features")
def held_out_features(graph: Graph, candidates: Candidates, random_state: int, progress: Progress) -> dict[str, float]:
    """Score combinations of outputs by how well they predict features that they were not computed from.

    Parameters
    ----------
    graph : Graph
    candidates : mapping of str to tuple of str
        Names of outputs, by the name of their combination.
    random_state : int
    progress : callable

    Returns
    -------
    dict of str to float
        R² of each combination, the mean over splits; empty if the graph is too small or has too few features.
    """
    if graph.num_features < MIN_FEATURES or graph.num_nodes < MIN_NODES:
        return {}
    rng = np.random.default_rng([random_state, 1])
    num_splits = int(np.clip(SMALL // graph.num_nodes, 1, MAX_SPLITS))
    scores: dict[str, list[float]] = {name: [] for name in candidates}
    names = dict.fromkeys(name for combined in candidates.values() for name in combined)
    columns = sp.csc_array(graph.x) if sp.issparse(graph.x) else graph.x
    for split in range(num_splits):
        halves = np.array_split(rng.permutation(graph.num_features), 2)
        for part, (given, held_out) in enumerate((halves, halves[::-1])):
            progress("choosing", 2 * split + part, 2 * num_splits)
            target = _prepare(columns[:, held_out], random_state)
            prepared = PreparedGraph(graph, _prepare(columns[:, given], random_state), random_state)
            outputs = {name: normalize(OUTPUTS[name](prepared)) for name in names}
            order = rng.permutation(graph.num_nodes)
            for name, parts in candidates.items():
                scores[name].append(_score(np.concatenate([outputs[each] for each in parts], axis=1), target, order))
    progress("choosing", 2 * num_splits, 2 * num_splits)
    return {name: float(np.mean(each)) for name, each in scores.items()}


def _prepare(columns: FloatArray | sp.csc_array, random_state: int) -> FloatArray:
    x: Features = columns if isinstance(columns, np.ndarray) else sp.csr_array(columns)
    return Preparation.fit(x, random_state=random_state, max_directions=MAX_DIRECTIONS).transform(x)


def _score(rows: FloatArray, target: FloatArray, order: IntArray) -> float:
    """Return the R² of a ridge regression on nodes that it was not fitted on, with the best of a few penalties."""
    num_nodes = len(rows)
    num_train = int(min(max(TRAIN_SHARE * num_nodes, min(MIN_TRAIN_NODES, 0.3 * num_nodes)), TRAIN_NODES))
    train, test = order[:num_train], order[num_train : num_train + TEST_NODES]
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
