"""The cache of rankings on disk."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest
import scipy.sparse as sp

from graphprox import Graph, GraphproxWarning, ParameterError
from graphprox.views.cache import load_or_compute, ranking_directory, ranking_key
from graphprox.views.ranking import Ranking


@pytest.fixture
def graph() -> Graph:
    return Graph(np.eye(4), [[0, 1, 2], [1, 2, 3]], y=[0, 1, 0, 1])


@pytest.fixture
def ranking() -> Ranking:
    return Ranking([[1], [0]], [[0.5], [0.5]])


class Computation:
    """Returns a ranking and counts the calls."""

    def __init__(self, ranking: Ranking) -> None:
        self.ranking, self.calls = ranking, 0

    def __call__(self) -> Ranking:
        self.calls += 1
        return self.ranking


# -- keys -----------------------------------------------------------------------------------------------------------


def test_key_ignores_labels_and_node_ids(graph):
    twin = Graph(np.eye(4), [[0, 1, 2], [1, 2, 3]], y=[1, 1, 1, 0], node_ids=list("abcd"))
    assert ranking_key(graph, k_max=3) == ranking_key(twin, k_max=3) == ranking_key(graph.without_labels(), k_max=3)


def test_key_depends_on_features_edges_weights_and_options(graph):
    x, edges = np.eye(4), [[0, 1, 2], [1, 2, 3]]
    other_x = x.copy()
    other_x[3, 3] = 2
    graphs = [
        graph,
        Graph(other_x, edges),
        Graph(x[:, [1, 0, 2, 3]], edges),
        Graph(sp.csr_array(x), edges),
        Graph(x, [[0, 1, 2], [1, 2, 0]]),
        Graph(x, edges, directed=True),
        Graph(x, edges, edge_weight=[1, 1, 1]),
        Graph(x, edges, edge_weight=[1, 1, 2]),
    ]
    options = [
        {},
        {"random_state": 0},
        {"random_state": 1},
        {"k_max": 1},
        {"view": "feature", "options": {"binary": True}},
    ]
    keys = {ranking_key(each, **given) for each in graphs for given in options}
    assert len(keys) == len(graphs) * len(options)


def test_key_does_not_depend_on_the_order_of_options(graph):
    assert ranking_key(graph, a=1, b={"c": 2, "d": 3}) == ranking_key(graph, b={"d": 3, "c": 2}, a=1)


def test_key_does_not_depend_on_the_index_type_of_sparse_features():
    x = sp.csr_array(np.eye(4, dtype=np.float32))
    wide = Graph(x, [[0], [1]])
    wide.x.indices, wide.x.indptr = x.indices.astype(np.int64), x.indptr.astype(np.int64)
    assert ranking_key(wide) == ranking_key(Graph(x, [[0], [1]]))


def test_key_is_stable_between_releases(graph):
    """A change here invalidates the caches of users."""
    assert ranking_key(graph, k_max=3, seed=0)[:16] == "54e6c146b92b6883"


@pytest.mark.parametrize("value", [object(), np.float32(1), float("nan"), {1, 2}])
def test_options_must_be_json_values(graph, value):
    with pytest.raises(ParameterError, match="must be JSON values"):
        ranking_key(graph, option=value)


# -- files ----------------------------------------------------------------------------------------------------------


def test_ranking_is_computed_once(ranking, no_data):
    compute = Computation(ranking)
    first, second = load_or_compute("key", compute), load_or_compute("key", compute)
    assert compute.calls == 1
    assert first.neighbors.tobytes() == second.neighbors.tobytes()
    assert ranking_directory() == no_data.parent / "rankings"
    assert [path.name for path in ranking_directory().iterdir()] == ["key.npz"]


def test_different_keys_are_cached_separately(ranking, tmp_path):
    compute = Computation(ranking)
    load_or_compute("one", compute, directory=tmp_path)
    load_or_compute("two", compute, directory=tmp_path)
    assert compute.calls == 2


@pytest.mark.parametrize(
    "damage", [lambda content: content[:0], lambda content: content[:-40], lambda content: content[::-1]]
)
def test_damaged_file_is_replaced(ranking, tmp_path, damage):
    compute = Computation(ranking)
    load_or_compute("key", compute, directory=tmp_path)
    path = tmp_path / "key.npz"
    path.write_bytes(damage(path.read_bytes()))
    assert load_or_compute("key", compute, directory=tmp_path).neighbors.tolist() == [[1], [0]]
    assert compute.calls == 2
    assert Ranking.load(path).neighbors.tolist() == [[1], [0]]


def test_unwritable_cache_warns_and_returns_the_ranking(ranking, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.warns(GraphproxWarning, match="could not be cached"):
        assert load_or_compute("key", Computation(ranking), directory=tmp_path / "file") is ranking


def test_error_of_the_computation_is_raised_and_nothing_is_cached(tmp_path):
    def fail() -> Ranking:
        raise ParameterError("k_max must be right")

    with pytest.raises(ParameterError, match="k_max must be right"):
        load_or_compute("key", fail, directory=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_concurrent_processes_get_complete_rankings(tmp_path):
    program = textwrap.dedent("""
        import sys, time
        import numpy as np
        from graphprox.views.cache import load_or_compute
        from graphprox.views.ranking import Ranking

        def compute():
            time.sleep(0.01)
            order = np.arange(2000)
            return Ranking((order[::-1, None] + np.zeros((1, 1), int)), np.ones((2000, 1)))

        for each in range(25):
            found = load_or_compute(f"key-{each}", compute, directory=sys.argv[1])
            assert (found.neighbors[:, 0] == np.arange(2000)[::-1]).all()
    """)
    running = [subprocess.Popen([sys.executable, "-c", program, str(tmp_path)]) for _ in range(2)]
    assert [each.wait(timeout=120) for each in running] == [0, 0]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(f"key-{each}.npz" for each in range(25))
