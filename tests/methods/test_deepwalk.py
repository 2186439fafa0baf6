"""DeepWalk and node2vec, and laws of all methods that learn from walks and edges.

Covers graphprox.methods.node2vec.
"""

from __future__ import annotations

import os
import subprocess
import sys

import networkx as nx
import numba
import numpy as np
import pytest

from graphprox import Graph, synthetic
from graphprox.errors import TrainingError
from graphprox.methods.deepwalk import DeepWalk
from graphprox.methods.line import LINE
from graphprox.methods.node2vec import Node2Vec
from graphprox.methods.verse import VERSE

WALKS = {"n_components": 16, "num_walks": 2, "walk_length": 12, "window_size": 4}
SMALL = {
    "deepwalk": DeepWalk(**WALKS),
    "node2vec": Node2Vec(**WALKS, p=0.5, q=2.0),
    "line": LINE(n_components=16, epochs=20),
    "line, first order": LINE(n_components=16, epochs=20, order="first"),
    "line, second order": LINE(n_components=16, epochs=20, order="second"),
    "verse": VERSE(n_components=16, epochs=100),
}
methods = pytest.mark.parametrize("method", SMALL.values(), ids=SMALL)


@pytest.fixture(scope="module")
def graph():
    return synthetic(nodes=140)


def make_graph(edges, *, nodes=None, weights=None, directed=False):
    edges = np.asarray(edges, np.int64).reshape(2, -1)
    nodes = int(edges.max()) + 1 if nodes is None else nodes
    return Graph(x=np.ones((nodes, 1)), edge_index=edges, edge_weight=weights, directed=directed)


# -- all of them ------------------------------------------------------------------------------------------------------


@methods
def test_number_of_threads_does_not_change_vectors(method, graph, monkeypatch):
    vectors = method.fit_transform(graph)
    for threads in (1, 3):
        monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", threads)
        assert method.fit_transform(graph).tobytes() == vectors.tobytes()


@methods
def test_features_are_ignored(method, graph):
    assert np.array_equal(method.fit_transform(graph), method.fit_transform(graph.with_features(np.ones((140, 2)))))


@methods
def test_directions_are_ignored(method):
    edges = np.random.default_rng(0).integers(0, 20, (2, 40))
    both_ways = make_graph(np.concatenate([edges, edges[::-1]], axis=1), nodes=20)
    one_way = make_graph(edges, nodes=20, directed=True)
    assert np.array_equal(method.fit_transform(one_way), method.fit_transform(both_ways))


@methods
@pytest.mark.parametrize(
    "graph",
    [
        make_graph([[0], [0]], nodes=2),
        make_graph([[0], [1]]),
        make_graph([[0, 1], [1, 2]], nodes=5, weights=[0.0, 0.0]),
    ],
    ids=["self-loop only", "two nodes", "weights of zero"],
)
def test_degenerate_graph_has_nonzero_vectors(method, graph):
    vectors = method.fit_transform(graph)
    assert np.isfinite(vectors).all()
    assert np.abs(vectors).sum(axis=1).all()


@pytest.mark.parametrize(
    "method", [DeepWalk(num_walks=1, walk_length=9, learning_rate=1e30), VERSE(epochs=100, learning_rate=1e30)]
)
def test_diverged_training_raises(method, graph):
    with pytest.raises(TrainingError, match="lower learning_rate"):
        method.fit(graph)


TRAINED = {
    "deepwalk": DeepWalk(n_components=16, walk_length=20),
    "node2vec": Node2Vec(n_components=16, walk_length=20, p=0.25, q=4.0),
    "line": LINE(n_components=16, epochs=300),
    "line, first order": LINE(n_components=16, epochs=300, order="first"),
    "line, second order": LINE(n_components=16, epochs=300, order="second"),
    "verse": VERSE(n_components=16, epochs=5000),
}


@pytest.mark.parametrize("method", TRAINED.values(), ids=TRAINED)
def test_nodes_of_a_clique_are_closer_than_those_of_another(method):
    size = 12
    barbell = nx.barbell_graph(size, 0)
    vectors = method.fit_transform(make_graph(np.array(barbell.edges).T))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    similarity = unit @ unit.T
    clique = np.arange(2 * size) // size
    is_same, is_self = clique[:, None] == clique, np.eye(2 * size, dtype=bool)
    assert similarity[is_same & ~is_self].mean() > similarity[~is_same].mean() + 0.2
    nearest = np.argmax(np.where(is_self, -2, similarity), axis=1)
    assert (clique[nearest] == clique).mean() > 0.9


# -- DeepWalk and node2vec --------------------------------------------------------------------------------------------


def test_node2vec_without_bias_equals_deepwalk(graph):
    deepwalk = DeepWalk(**WALKS).fit_transform(graph)
    assert np.array_equal(Node2Vec(**WALKS).fit_transform(graph), deepwalk)
    assert not np.array_equal(Node2Vec(**WALKS, q=4.0).fit_transform(graph), deepwalk)


def test_vectors_grow_with_epochs(graph):
    once, twice = (
        DeepWalk(n_components=8, num_walks=1, walk_length=10, epochs=epochs).fit_transform(graph) for epochs in (1, 2)
    )
    assert np.linalg.norm(twice) > np.linalg.norm(once)


# -- compiled code ----------------------------------------------------------------------------------------------------

EVERY_KERNEL = """
import sys

import numpy as np

from graphprox import synthetic
from graphprox.methods.deepwalk import DeepWalk
from graphprox.methods.gae import GAE
from graphprox.methods.line import LINE
from graphprox.methods.verse import VERSE

graph = synthetic(nodes=140)
methods = [
    DeepWalk(n_components=19, num_walks=2, walk_length=8),
    LINE(n_components=19, epochs=5),
    VERSE(n_components=19, epochs=50),
    GAE(n_components=19, epochs=3),
]
np.save(sys.argv[1], np.concatenate([method.fit_transform(graph) for method in methods]))
"""


@pytest.mark.slow
def test_compiled_code_stays_within_bounds_and_is_up_to_date(tmp_path):
    files = [tmp_path / "checked.npy", tmp_path / "cached.npy"]
    # The first run has an empty cache, so that everything is compiled.
    for file, more in zip(files, ({"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}, {}), strict=True):
        command = [sys.executable, "-c", EVERY_KERNEL, str(file)]
        done = subprocess.run(command, env=os.environ | more, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(*map(np.load, files), atol=1e-4, err_msg="compiled code is old: delete __pycache__")


@pytest.mark.parametrize("kind", [DeepWalk, Node2Vec, LINE, VERSE])
def test_no_epochs_keep_the_initial_vectors(kind, graph):
    untrained = kind(n_components=8, epochs=0).fit_transform(graph)
    assert untrained.shape == (graph.num_nodes, 8)
    assert np.isfinite(untrained).all()
    assert not np.array_equal(untrained, kind(n_components=8, epochs=1).fit_transform(graph))
