"""Rankings are found again by what they were made from."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest
import scipy.sparse as sp

from graphprox import Graph, GraphproxWarning, ParameterError
from graphprox.proximity.cache import cached, ranking_directory, ranking_key
from graphprox.proximity.ranking import Ranking


@pytest.fixture
def graph() -> Graph:
    return Graph(np.eye(4), [[0, 1, 2], [1, 2, 3]], y=[0, 1, 0, 1])


@pytest.fixture
def ranking() -> Ranking:
    return Ranking([[1], [0]], [[0.5], [0.5]])


class Maker:
    """Makes a ranking and counts how often."""

    def __init__(self, ranking: Ranking) -> None:
        self.ranking, self.calls = ranking, 0

    def __call__(self) -> Ranking:
        self.calls += 1
        return self.ranking


# -- keys -----------------------------------------------------------------------------------------------------------


def test_labels_and_ids_are_no_part_of_a_key(graph):
    twin = Graph(np.eye(4), [[0, 1, 2], [1, 2, 3]], y=[1, 1, 1, 0], node_ids=list("abcd"))
    assert ranking_key(graph, k_max=3) == ranking_key(twin, k_max=3) == ranking_key(graph.without_labels(), k_max=3)


def test_whatever_matters_is_part_of_a_key(graph):
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
    options = [{}, {"seed": 0}, {"seed": 1}, {"k_max": 1}, {"view": "feature", "options": {"binary": True}}]
    keys = {ranking_key(each, **said) for each in graphs for said in options}
    assert len(keys) == len(graphs) * len(options)


def test_the_order_of_options_does_not_matter(graph):
    assert ranking_key(graph, a=1, b={"c": 2, "d": 3}) == ranking_key(graph, b={"d": 3, "c": 2}, a=1)


def test_the_width_of_positions_does_not_matter():
    x = sp.csr_array(np.eye(4, dtype=np.float32))
    wide = Graph(x, [[0], [1]])
    wide.x.indices, wide.x.indptr = x.indices.astype(np.int64), x.indptr.astype(np.int64)
    assert ranking_key(wide) == ranking_key(Graph(x, [[0], [1]]))


def test_a_key_stays_what_it_is(graph):
    """If this changes, rankings that users keep are made anew: raise FORMAT knowingly, and write the new one here."""
    assert ranking_key(graph, k_max=3, seed=0)[:16] == "54e6c146b92b6883"


@pytest.mark.parametrize("value", [object(), np.float32(1), float("nan"), {1, 2}])
def test_options_must_be_plain(graph, value):
    with pytest.raises(ParameterError, match="must be plain values"):
        ranking_key(graph, option=value)


# -- files ----------------------------------------------------------------------------------------------------------


def test_a_ranking_is_made_once(ranking, no_data):
    make = Maker(ranking)
    first, second = cached("key", make), cached("key", make)
    assert make.calls == 1
    assert first.neighbors.tobytes() == second.neighbors.tobytes()
    assert ranking_directory() == no_data.parent / "rankings"
    assert [path.name for path in ranking_directory().iterdir()] == ["key.npz"]


def test_another_key_is_another_ranking(ranking, tmp_path):
    make = Maker(ranking)
    cached("one", make, directory=tmp_path)
    cached("two", make, directory=tmp_path)
    assert make.calls == 2


@pytest.mark.parametrize("damage", [lambda whole: whole[:0], lambda whole: whole[:-40], lambda whole: whole[::-1]])
def test_a_damaged_file_is_made_anew(ranking, tmp_path, damage):
    make = Maker(ranking)
    cached("key", make, directory=tmp_path)
    path = tmp_path / "key.npz"
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert cached("key", make, directory=tmp_path).neighbors.tolist() == [[1], [0]]
    assert make.calls == 2
    assert Ranking.load(path).neighbors.tolist() == [[1], [0]]


def test_where_nothing_can_be_written_the_ranking_is_still_made(ranking, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.warns(GraphproxWarning, match="not kept for next time"):
        assert cached("key", Maker(ranking), directory=tmp_path / "file") is ranking


def test_an_error_of_the_maker_is_not_hidden_and_leaves_nothing(tmp_path):
    def fail() -> Ranking:
        raise ParameterError("k_max must be right")

    with pytest.raises(ParameterError, match="k_max must be right"):
        cached("key", fail, directory=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_two_processes_at_once_both_get_a_whole_ranking(tmp_path):
    program = textwrap.dedent("""
        import sys, time
        import numpy as np
        from graphprox.proximity.cache import cached
        from graphprox.proximity.ranking import Ranking

        def make():
            time.sleep(0.01)
            order = np.arange(2000)
            return Ranking((order[::-1, None] + np.zeros((1, 1), int)), np.ones((2000, 1)))

        for each in range(25):
            found = cached(f"key-{each}", make, directory=sys.argv[1])
            assert (found.neighbors[:, 0] == np.arange(2000)[::-1]).all()
    """)
    running = [subprocess.Popen([sys.executable, "-c", program, str(tmp_path)]) for _ in range(2)]
    assert [each.wait(timeout=120) for each in running] == [0, 0]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(f"key-{each}.npz" for each in range(25))
