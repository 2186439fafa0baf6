"""The value that a search yields, and its file."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest

from graphprox import GraphError, ParameterError, ReadError
from graphprox.proximity.ranking import Ranking


@pytest.fixture
def ranking() -> Ranking:
    return Ranking(
        neighbors=[[1, 2, 3], [0, 3, -1], [-1, -1, -1], [0, 1, 2]],
        similarities=[[0.9, 0.5, 0.1], [0.9, 0.9, 0], [0, 0, 0], [1, 1, 0.5]],
        engine="descent",
        recall=0.97,
    )


def test_the_graph_of_k_is_the_first_k_of_each_row(ranking):
    assert ranking.graph(1).tolist() == [[0, 1, 3], [1, 0, 0]]
    assert ranking.graph(3).tolist() == [[0, 0, 0, 1, 1, 3, 3, 3], [1, 2, 3, 0, 3, 0, 1, 2]]
    assert ranking.graph(np.int64(2)).dtype == np.int64


@pytest.mark.parametrize("k", [0, 4, -1, 1.5, True, "2"])
def test_k_must_lie_within_the_ranked_width(ranking, k):
    with pytest.raises(GraphError, match=r"k must lie in 1\.\.3, the ranked width; got"):
        ranking.graph(k)


def test_nobody_can_write_to_a_ranking(ranking):
    for array in (ranking.neighbors, ranking.similarities, ranking.graph(2)):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 2
    with pytest.raises(AttributeError):
        ranking.engine = "exact"


def test_what_was_given_can_change_without_changing_the_ranking():
    given = np.array([[1], [0]], np.int32)
    ranking = Ranking(given, np.ones((2, 1), np.float32))
    given[0, 0] = -1
    assert ranking.neighbors[0, 0] == 1


def test_a_ranking_says_what_it_is(ranking):
    assert repr(ranking) == "Ranking(4 nodes, 3 neighbours each, descent, recall 0.970)"


@pytest.mark.parametrize(
    ("neighbors", "similarities", "said"),
    [
        ([[0.5]], [[1]], "matrix of node numbers"),
        ([1, 0], [1, 1], "matrix of node numbers"),
        (np.empty((2, 0), int), np.empty((2, 0)), "matrix of node numbers"),
        ([[1], [0]], [[1, 1], [1, 1]], "shape of neighbors"),
        ([[2], [0]], [[1], [1]], r"name nodes 0\.\.1"),
        ([[-2], [0]], [[1], [1]], r"name nodes 0\.\.1"),
        ([[1], [0]], [[1], [0]], "positive where there is a neighbour"),
        ([[1], [-1]], [[1], [1]], "positive where there is a neighbour"),
        ([[1], [0]], [[1], [np.nan]], "positive where there is a neighbour"),
        ([[1, 2], [0, 2], [0, 1]], [[1, 1], [0.5, 0.9], [1, 1]], "never rise"),
        ([[0], [0]], [[1], [1]], "its own neighbour"),
    ],
)
def test_rules(neighbors, similarities, said):
    with pytest.raises(ParameterError, match=said):
        Ranking(neighbors, similarities)
    with pytest.raises(ParameterError, match="recall must lie in"):
        Ranking([[1], [0]], [[1], [1]], recall=1.5)


# -- the file -------------------------------------------------------------------------------------------------------


def test_a_ranking_comes_back_as_it_was_saved(ranking, tmp_path):
    path = tmp_path / "ranking.npz"
    ranking.save(path)
    again = Ranking.load(path)
    assert again.neighbors.tobytes() == ranking.neighbors.tobytes()
    assert again.similarities.tobytes() == ranking.similarities.tobytes()
    assert (again.engine, again.recall) == ("descent", 0.97)
    assert not again.neighbors.flags.writeable
    assert list(tmp_path.iterdir()) == [path]


def test_the_file_holds_plain_arrays(ranking, tmp_path):
    ranking.save(tmp_path / "ranking.npz")
    with np.load(tmp_path / "ranking.npz", allow_pickle=False) as file:
        assert set(file) == {"neighbors", "similarities", "engine", "recall"}
        assert all(file[name].dtype != object for name in file)


def test_pickles_are_refused(tmp_path):
    path = tmp_path / "ranking.npz"
    np.savez(path, neighbors=np.array([[1], [0]]), similarities=np.ones((2, 1)), engine=np.array(["a"], object))
    with pytest.warns(UserWarning, match="never loaded"), pytest.raises(ReadError):
        Ranking.load(path)


def test_no_damage_goes_unseen(ranking, tmp_path):
    path = tmp_path / "ranking.npz"
    ranking.save(path)
    sound = path.read_bytes()
    with zipfile.ZipFile(path) as members:
        info = members.getinfo("neighbors.npy")
        inside = info.header_offset + 30 + len(info.filename) + 20 + 128  # past both headers: the first node number
    damaged = [sound[:size] for size in (0, 1, 100, len(sound) // 2, len(sound) - 1)]
    damaged += [sound[:at] + bytes([sound[at] ^ 1]) + sound[at + 1 :] for at in range(inside, inside + 48)]
    for content in damaged:
        path.write_bytes(content)
        with pytest.raises(ReadError, match=r"ranking\.npz"):
            Ranking.load(path)


def test_another_npz_is_no_ranking(tmp_path):
    path = tmp_path / "other.npz"
    whole = {"neighbors": [[1], [0]], "similarities": [[1], [1]], "engine": "exact", "recall": 1.0}
    others = [
        {"neighbors": [[1], [0]]},
        {**whole, "recall": "high"},
        {**whole, "engine": 3},
        {**whole, "similarities": [[1]]},
        {**whole, "neighbors": [[7], [0]]},
    ]
    for arrays in others:
        np.savez(path, **{name: np.array(value) for name, value in arrays.items()})
        with pytest.raises(ReadError, match=r"other\.npz"):
            Ranking.load(path)
    with pytest.raises(ReadError, match="does not exist"):
        Ranking.load(tmp_path / "none.npz")
