"""Rankings and their files."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest

from graphprox import ParameterError, ReadError
from graphprox._utils.mapped import is_mapped
from graphprox.views.ranking import Ranking


@pytest.fixture
def ranking() -> Ranking:
    return Ranking(
        neighbors=[[1, 2, 3], [0, 3, -1], [-1, -1, -1], [0, 1, 2]],
        similarities=[[0.9, 0.5, 0.1], [0.9, 0.9, 0], [0, 0, 0], [1, 1, 0.5]],
        engine="descent",
        recall=0.97,
    )


def test_edge_index_contains_the_first_k_neighbors_of_each_row(ranking):
    assert ranking.edge_index(1).tolist() == [[0, 1, 3], [1, 0, 0]]
    assert ranking.edge_index(3).tolist() == [[0, 0, 0, 1, 1, 3, 3, 3], [1, 2, 3, 0, 3, 0, 1, 2]]
    assert ranking.edge_index(np.int64(2)).dtype == np.int64


@pytest.mark.parametrize("k", [0, 4, -1, 1.5, True, "2"])
def test_k_must_be_at_most_k_max(ranking, k):
    with pytest.raises(ParameterError, match="k must be an integer between 1 and 3; got"):
        ranking.edge_index(k)


def test_ranking_is_immutable(ranking):
    for array in (ranking.neighbors, ranking.similarities, ranking.edge_index(2)):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 2
    with pytest.raises(AttributeError):
        ranking.engine = "exact"


def test_ranking_does_not_share_memory_with_its_arguments():
    given = np.array([[1], [0]], np.int32)
    ranking = Ranking(given, np.ones((2, 1), np.float32))
    given[0, 0] = -1
    assert ranking.neighbors[0, 0] == 1


def test_repr_describes_the_ranking(ranking):
    assert repr(ranking) == "Ranking(4 nodes, 3 neighbors each, descent, recall 0.970)"


@pytest.mark.parametrize(
    ("neighbors", "similarities", "message"),
    [
        ([[0.5]], [[1]], "matrix of integers"),
        ([1, 0], [1, 1], "matrix of integers"),
        (np.empty((2, 0), int), np.empty((2, 0)), "matrix of integers"),
        ([[1], [0]], [[1, 1], [1, 1]], "shape of neighbors"),
        ([[2], [0]], [[1], [1]], "node numbers between 0 and 1"),
        ([[-2], [0]], [[1], [1]], "node numbers between 0 and 1"),
        ([[1], [0]], [[1], [0]], "positive where there is a neighbor .*; got 0 for neighbor 0 of node 1"),
        ([[1], [-1]], [[1], [1]], "positive where there is a neighbor"),
        ([[1], [0]], [[1], [np.nan]], "positive where there is a neighbor"),
        (
            [[1, 2], [0, 2], [0, 1]],
            [[1, 1], [0.5, 0.9], [1, 1]],
            "must not increase along a row; node 1 has 0.5 before 0.9: sort",
        ),
        ([[0], [0]], [[1], [1]], "its own neighbor; got node 0 in its own row"),
    ],
)
@pytest.mark.parametrize("block_rows", [1, 65_536])
def test_invalid_rankings_are_rejected(neighbors, similarities, message, block_rows, monkeypatch):
    monkeypatch.setattr("graphprox.views.ranking.BLOCK_ROWS", block_rows)
    with pytest.raises(ParameterError, match=message):
        Ranking(neighbors, similarities)
    with pytest.raises(ParameterError, match="recall must be between 0 and 1"):
        Ranking([[1], [0]], [[1], [1]], recall=1.5)


# -- files ----------------------------------------------------------------------------------------------------------


def test_saved_ranking_is_loaded_unchanged(ranking, tmp_path):
    path = tmp_path / "ranking.npz"
    ranking.save(path)
    again = Ranking.load(path)
    assert again.neighbors.tobytes() == ranking.neighbors.tobytes()
    assert again.similarities.tobytes() == ranking.similarities.tobytes()
    assert (again.engine, again.recall) == ("descent", 0.97)
    assert not again.neighbors.flags.writeable
    assert list(tmp_path.iterdir()) == [path]


def test_file_contains_plain_arrays(ranking, tmp_path):
    ranking.save(tmp_path / "ranking.npz")
    with np.load(tmp_path / "ranking.npz", allow_pickle=False) as file:
        assert set(file) == {"neighbors", "similarities", "engine", "recall"}
        assert all(file[name].dtype != object for name in file)


def test_pickles_are_rejected(tmp_path):
    path = tmp_path / "ranking.npz"
    np.savez(path, neighbors=np.array([[1], [0]]), similarities=np.ones((2, 1)), engine=np.array(["a"], object))
    with pytest.warns(UserWarning, match="never loaded"), pytest.raises(ReadError):
        Ranking.load(path)


def test_any_damage_is_detected(ranking, tmp_path):
    path = tmp_path / "ranking.npz"
    ranking.save(path)
    intact = path.read_bytes()
    with zipfile.ZipFile(path) as members:
        info = members.getinfo("neighbors.npy")
        inside = info.header_offset + 30 + len(info.filename) + 20 + 128  # past both headers: the first node number
    damaged = [intact[:size] for size in (0, 1, 100, len(intact) // 2, len(intact) - 1)]
    damaged += [intact[:at] + bytes([intact[at] ^ 1]) + intact[at + 1 :] for at in range(inside, inside + 48)]
    for content in damaged:
        path.write_bytes(content)
        with pytest.raises(ReadError, match=r"ranking\.npz"):
            Ranking.load(path)


def test_other_npz_files_are_rejected(tmp_path):
    path = tmp_path / "other.npz"
    valid = {"neighbors": [[1], [0]], "similarities": [[1], [1]], "engine": "exact", "recall": 1.0}
    others = [
        {"neighbors": [[1], [0]]},
        {**valid, "recall": "high"},
        {**valid, "engine": 3},
        {**valid, "similarities": [[1]]},
        {**valid, "neighbors": [[7], [0]]},
    ]
    for arrays in others:
        np.savez(path, **{name: np.array(value) for name, value in arrays.items()})
        with pytest.raises(ReadError, match=r"other\.npz"):
            Ranking.load(path)
    with pytest.raises(ReadError, match="does not exist"):
        Ranking.load(tmp_path / "none.npz")


def test_edges_are_read_in_blocks_of_sources(ranking, monkeypatch):
    monkeypatch.setattr("graphprox.views.ranking.BLOCK_ROWS", 3)
    blocks = list(ranking.edge_blocks(2))
    assert [each.tolist() for each in blocks] == [[[0, 0, 1, 1], [1, 2, 0, 3]], [[3, 3], [0, 1]]]
    np.testing.assert_array_equal(np.concatenate(blocks, axis=1), ranking.edge_index(2))


def test_arrays_can_be_moved_to_files(ranking):
    moved = ranking.in_files()
    for name in ("neighbors", "similarities"):
        assert is_mapped(getattr(moved, name))
        assert not getattr(moved, name).flags.writeable
        np.testing.assert_array_equal(getattr(moved, name), getattr(ranking, name))
    assert repr(moved) == repr(ranking)
