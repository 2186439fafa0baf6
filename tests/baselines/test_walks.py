from __future__ import annotations

import os
import subprocess
import sys

import networkx as nx
import numba
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from scipy.stats import chisquare, spearmanr

from graphprox import Graph, synthetic
from graphprox.baselines.deepwalk import DeepWalk
from graphprox.baselines.line import LINE, _Edges
from graphprox.baselines.node2vec import Node2Vec
from graphprox.baselines.skipgram import begin, draw, parts
from graphprox.baselines.verse import VERSE, ppr_sample
from graphprox.errors import ParameterError, StructuralFeaturesWarning, TrainingError
from graphprox.proximity.hashing import GOLDEN, stream, uniform
from graphprox.proximity.options import draw_seed
from graphprox.proximity.structure import structure_of

SMALL = {
    "DeepWalk": DeepWalk(width=16, walks=2, length=12, window=4),
    "node2vec": Node2Vec(width=16, walks=2, length=12, window=4, p=0.5, q=2.0),
    "LINE": LINE(width=16, rounds=20),
    "LINE, first": LINE(width=16, rounds=20, order="first"),
    "LINE, second": LINE(width=16, rounds=20, order="second"),
    "VERSE": VERSE(width=16, rounds=100),
}
every = pytest.mark.parametrize("method", SMALL.values(), ids=SMALL)


@pytest.fixture(scope="module")
def graph():
    return synthetic(nodes=140)


def linked(edges, *, nodes=None, weights=None, directed=False):
    edges = np.asarray(edges, np.int64).reshape(2, -1)
    nodes = int(edges.max()) + 1 if nodes is None else nodes
    return Graph(x=np.ones((nodes, 1)), edge_index=edges, edge_weight=weights, directed=directed)


def of_networkx(given):
    return linked(np.array(given.edges).T, nodes=given.number_of_nodes())


# -- laws -------------------------------------------------------------------------------------------------------------


@every
def test_a_vector_for_every_node(method, graph):
    vectors = method.embed(graph, seed=0)
    assert vectors.shape == (140, 16)
    assert vectors.dtype == np.float32
    assert np.isfinite(vectors).all()
    assert len(np.unique(vectors, axis=0)) == 140


@every
def test_the_seed_alone_decides(method, graph, monkeypatch):
    first = method.embed(graph, seed=3)
    torch.manual_seed(12)
    state = torch.get_rng_state()
    for threads in (1, 3):
        monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", threads)
        assert method.embed(graph, seed=3).tobytes() == first.tobytes()
    assert torch.equal(torch.get_rng_state(), state)
    assert not np.array_equal(method.embed(graph, seed=4), first)


@every
def test_labels_and_features_play_no_part(method, graph):
    vectors = method.embed(graph, seed=0)
    assert np.array_equal(method.embed(graph.without_labels(), seed=0), vectors)
    assert np.array_equal(method.embed(graph.with_features(np.ones((140, 2))), seed=0), vectors)


@every
@pytest.mark.parametrize(
    "given",
    [
        linked([[0, 1], [1, 2]], nodes=5),
        linked([[0, 1, 1, 3], [1, 2, 1, 0]], directed=True),
        linked([[], []], nodes=3),
        linked([[0], [0]], nodes=2),
        linked([[0], [1]]),
        linked([[0, 1], [1, 2]]),
        linked([[0, 1, 2], [1, 2, 3]], weights=[0.0, 2.0, 0.5]),
        linked([[0, 1], [1, 2]], weights=[0.0, 0.0]),
    ],
    ids=["isolated", "directed", "no edges", "a loop", "two", "three", "weighted", "without weight"],
)
def test_odd_graphs(method, given):
    vectors = method.embed(given, seed=0)
    assert vectors.shape == (given.num_nodes, 16)
    assert np.isfinite(vectors).all()
    assert np.abs(vectors).sum(axis=1).all()


@every
def test_a_graph_without_features_will_do(method):
    ring = sp.coo_array((np.ones(8), (np.arange(8), (np.arange(8) + 1) % 8)), shape=(8, 8))
    with pytest.warns(StructuralFeaturesWarning):
        graph = Graph.from_scipy(ring)
    assert method.embed(graph, seed=0).shape == (8, 16)


@every
def test_direction_plays_no_part(method):
    edges = np.random.default_rng(0).integers(0, 20, (2, 40))
    both_ways = linked(np.concatenate([edges, edges[::-1]], axis=1), nodes=20)
    one_way = linked(edges, nodes=20, directed=True)
    assert np.array_equal(method.embed(one_way, seed=0), method.embed(both_ways, seed=0))


@every
def test_progress_is_told(method, graph):
    told = []
    method.embed(graph, seed=0, progress=lambda *each: told.append(each))
    last = {stage: (done, total) for stage, done, total in told}
    stages = [f"{order} order" for order in ("first", "second")] if isinstance(method, LINE) else ["training"]
    assert set(last) <= set(stages)
    assert all(done == total for done, total in last.values())
    assert told


@pytest.mark.parametrize(
    ("method", "name", "value"),
    [
        (DeepWalk, "length", 1),
        (DeepWalk, "window", 0),
        (Node2Vec, "p", 0.0),
        (Node2Vec, "q", 1e7),
        (LINE, "order", "third"),
        (LINE, "width", 1),
        (VERSE, "alpha", 1.0),
        (VERSE, "negatives", 0),
    ],
)
def test_settings_beyond_their_limits_are_refused(method, name, value):
    with pytest.raises(ParameterError, match=f"{name} must be"):
        method.with_settings(overrides={name: value})


@pytest.mark.parametrize(("method", "more"), [(DeepWalk, {"walks": 1, "length": 9}), (VERSE, {"rounds": 100})])
def test_a_training_that_goes_astray_says_so(method, more, graph):
    with pytest.raises(TrainingError, match="lower learning_rate"):
        method(learning_rate=1e30, **more).embed(graph, seed=0)


# -- what the vectors tell --------------------------------------------------------------------------------------------

TOLD_APART = {
    "DeepWalk": DeepWalk(width=16, length=20),
    "node2vec": Node2Vec(width=16, length=20, p=0.25, q=4.0),
    "LINE": LINE(width=16, rounds=300),
    "LINE, first": LINE(width=16, rounds=300, order="first"),
    "LINE, second": LINE(width=16, rounds=300, order="second"),
    "VERSE": VERSE(width=16, rounds=5000),
}


def cosines(vectors):
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit @ unit.T


@pytest.mark.parametrize("method", TOLD_APART.values(), ids=TOLD_APART)
def test_two_cliques_are_told_apart(method):
    size = 12
    vectors = method.embed(of_networkx(nx.barbell_graph(size, 0)), seed=0)
    similar = cosines(vectors)
    same = np.arange(2 * size) // size
    inside = (same[:, None] == same) & ~np.eye(2 * size, dtype=bool)
    across = same[:, None] != same
    assert similar[inside].mean() > similar[across].mean() + 0.2
    nearest = np.argmax(np.where(np.eye(2 * size, dtype=bool), -2, similar), axis=1)
    assert (same[nearest] == same).mean() > 0.9


def joined_and_alike(order):
    """The mean cosine of nodes that are joined, and of nodes that only share all neighbours."""
    size = 10
    side = np.arange(2 * size) // size
    graph = of_networkx(nx.complete_bipartite_graph(size, size))
    similar = cosines(LINE(width=16, rounds=300, order=order).embed(graph, seed=0))
    joined = side[:, None] != side
    return similar[joined].mean(), similar[~joined & ~np.eye(2 * size, dtype=bool)].mean()


def test_the_first_order_of_line_is_of_joined_nodes_and_the_second_of_those_with_the_same_neighbours():
    joined, alike = joined_and_alike("first")
    assert joined > alike
    joined, alike = joined_and_alike("second")
    assert alike > joined + 0.5


def test_each_half_of_line_has_length_1_and_is_what_it_is_alone(graph):
    vectors = LINE(width=15, rounds=5).embed(graph, seed=0)
    assert vectors.shape == (140, 15)
    np.testing.assert_allclose(np.linalg.norm(vectors[:, :7], axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(vectors[:, 7:], axis=1), 1, rtol=1e-5)
    assert np.array_equal(vectors[:, :7], LINE(width=7, rounds=5, order="first").embed(graph, seed=0))


def test_line_draws_edges_by_their_weight_and_noise_by_degree():
    weights = np.array([1.0, 4.0, 2.5, 0.0, 9.0])
    graph = linked([[0, 1, 2, 3, 1], [1, 2, 3, 0, 1]], nodes=5, weights=weights)
    edges = _Edges.of(graph)
    assert not (edges.source == edges.target).any()
    expected = graph.to_scipy().toarray()
    np.fill_diagonal(expected, 0)
    law = chances_of(edges.chances)
    np.testing.assert_allclose(law, expected[edges.source, edges.target] / expected.sum(), atol=1e-6)
    degree = expected.sum(axis=1) ** 0.75
    np.testing.assert_allclose(chances_of(edges.noise), degree / degree.sum(), atol=1e-6)


def chances_of(table):
    """The probability of each entry of an alias table."""
    law = table.keep.astype(np.float64)
    np.add.at(law, table.other, 1.0 - table.keep)
    return law / len(law)


@numba.njit  # without a cache, which would not see that what is called has changed
def ends(start, neighbour, keep, other, alpha, source, times, nodes):
    counts, state = np.zeros(nodes, np.int64), stream(np.uint64(1), 0, 0)
    for _ in range(times):
        end, state = ppr_sample(start, neighbour, keep, other, alpha, source, state)
        counts[end] += 1
    return counts


@pytest.mark.parametrize("alpha", [0.85, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
def test_walks_of_verse_end_as_personalised_pagerank_says(alpha, weighted):
    drawn = nx.gnm_random_graph(12, 24, seed=4)
    weights = np.random.default_rng(0).integers(1, 9, 24) if weighted else np.ones(24)
    for (a, b), weight in zip(drawn.edges, weights, strict=True):
        drawn[a][b]["weight"] = float(weight)
    assert nx.is_connected(drawn)
    graph = linked(np.array(drawn.edges).T, nodes=12, weights=weights if weighted else None)
    shape = structure_of(graph)
    seen = ends(shape.start, shape.neighbour, shape.keep, shape.other, alpha, 3, 200_000, 12)
    law = nx.pagerank(drawn, alpha=alpha, personalization={3: 1}, tol=1e-12, max_iter=1000)
    assert chisquare(seen, np.array([law[node] for node in range(12)]) * 200_000).pvalue > 1e-4


def test_with_alpha_0_a_walk_of_verse_stays():
    shape = structure_of(linked([[0], [1]]))
    assert ends(shape.start, shape.neighbour, shape.keep, shape.other, 0.0, 1, 100, 2).tolist() == [0, 100]


def test_products_of_verse_rise_with_personalised_pagerank():
    drawn = nx.connected_caveman_graph(6, 5)
    vectors = VERSE(width=32, rounds=20_000).embed(of_networkx(drawn), seed=0)
    ranks = np.array([list(nx.pagerank(drawn, alpha=0.85, personalization={node: 1}).values()) for node in drawn])
    pairs = np.triu_indices(30, 1)
    assert spearmanr((vectors @ vectors.T)[pairs], (ranks + ranks.T)[pairs]).statistic > 0.8


def test_node2vec_without_preference_is_deepwalk(graph):
    settings = {"width": 8, "walks": 2, "length": 10}
    assert np.array_equal(Node2Vec(**settings).embed(graph, 0), DeepWalk(**settings).embed(graph, 0))
    assert not np.array_equal(Node2Vec(**settings, q=4.0).embed(graph, 0), DeepWalk(**settings).embed(graph, 0))


def test_more_walks_than_one_epoch_are_read_again(graph):
    once, twice = (DeepWalk(width=8, walks=1, length=10, epochs=each).embed(graph, 0) for each in (1, 2))
    assert np.linalg.norm(twice) > np.linalg.norm(once)


# -- the same, literally ----------------------------------------------------------------------------------------------


def pull(inputs, source, outputs, targets, rate, bias=0.0, noise_bias=0.0):
    """A step in plain numpy: the first target is true, the others are noise."""
    x = inputs[source].copy()
    told = outputs[targets] @ x - np.array([bias] + [noise_bias] * (len(targets) - 1))
    pulls = rate * (np.eye(len(targets))[0] - 1 / (1 + np.exp(-told)))
    change = pulls @ outputs[targets]
    for target, each in zip(targets, pulls, strict=True):
        outputs[target] += each * x
    inputs[source] += change


@pytest.mark.parametrize("order", ["first", "second"])
def test_line_is_what_it_says(order):
    rng = np.random.default_rng(2)
    graph = linked(rng.integers(0, 9, (2, 20)), nodes=9, weights=rng.integers(1, 5, 20))
    edges, rounds, rate = _Edges.of(graph), 40, 0.5
    ours = LINE(width=10, order=order, rounds=rounds, negatives=4, learning_rate=rate).embed(graph, seed=7)
    rng = np.random.default_rng(7)
    vectors = begin(rng, 9, 10).astype(np.float64)
    contexts = vectors if order == "first" else np.zeros((9, 10))
    seed, total = draw_seed(rng), rounds * len(edges.source)
    with np.errstate(over="ignore"):
        for first, end in parts(total, None):
            state = np.uint64(stream(seed, first, 0))
            for step in range(first, end):
                edge = draw(*edges.chances, state)
                ends = edges.source[edge], edges.target[edge]
                targets = [ends[1]]
                for _ in range(4):
                    state += GOLDEN
                    drawn = draw(*edges.noise, state)
                    targets += [drawn] if drawn not in ends else []
                state += GOLDEN
                pull(vectors, ends[0], contexts, targets, rate + (1e-4 - rate) * step / total)
    np.testing.assert_allclose(ours, vectors / np.linalg.norm(vectors, axis=1, keepdims=True), atol=2e-3)


def test_verse_is_what_it_says():
    graph = of_networkx(nx.lollipop_graph(5, 3))
    ours = VERSE(width=10, rounds=30, alpha=0.7, negatives=3, learning_rate=0.1).embed(graph, seed=7)
    rng, shape = np.random.default_rng(7), structure_of(graph)
    vectors = rng.random((8, 10), np.float32).astype(np.float64) - 0.5
    seed = draw_seed(rng)
    with np.errstate(over="ignore"):
        for first, end in parts(30 * 8, None):
            state = np.uint64(stream(seed, first, 0))
            for _ in range(first, end):
                source = int(uniform(state) * 8)
                target, state = ppr_sample(
                    shape.start, shape.neighbour, shape.keep, shape.other, 0.7, source, state + GOLDEN
                )
                state, targets = np.uint64(state), [target]
                for _ in range(3):
                    targets.append(int(uniform(state) * 8))
                    state += GOLDEN
                pull(vectors, source, vectors, targets, 0.1, np.log(8), np.log(8 / 3))
    np.testing.assert_allclose(ours, vectors, atol=2e-3)


# -- compiled code ----------------------------------------------------------------------------------------------------

EVERY_KERNEL = """
import sys

import numpy as np

from graphprox import synthetic
from graphprox.baselines.deepwalk import DeepWalk
from graphprox.baselines.gae import GAE
from graphprox.baselines.line import LINE
from graphprox.baselines.verse import VERSE

graph = synthetic(nodes=140)
methods = [
    DeepWalk(width=19, walks=2, length=8), LINE(width=19, rounds=5), VERSE(width=19, rounds=50), GAE(width=19, epochs=3)
]
np.save(sys.argv[1], np.concatenate([method.embed(graph, seed=0) for method in methods]))
"""


@pytest.mark.slow
def test_compiled_code_stays_within_bounds_and_is_not_out_of_date(tmp_path):
    files = [tmp_path / "checked.npy", tmp_path / "kept.npy"]
    # The one has a cache of its own, so that all is compiled anew.
    for file, more in zip(files, ({"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}, {}), strict=True):
        command = [sys.executable, "-c", EVERY_KERNEL, str(file)]
        done = subprocess.run(command, env=os.environ | more, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(*map(np.load, files), atol=1e-4, err_msg="compiled code is old: delete __pycache__")
