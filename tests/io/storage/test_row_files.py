from __future__ import annotations

import hashlib

import numpy as np
import pytest

from graphprox.errors import ReadError
from graphprox.io.storage.row_files import RowFile

ROWS = np.arange(60, dtype=np.float32).reshape(20, 3)


@pytest.fixture
def path(tmp_path):
    np.save(tmp_path / "rows.npy", ROWS)
    return tmp_path / "rows.npy"


def test_any_range_of_rows_is_that_of_the_array(path):
    file = RowFile.open(path)
    assert file.shape == ROWS.shape
    for low in range(21):
        for high in range(low, 21):
            assert np.array_equal(file.read(slice(low, high)), ROWS[low:high])


def test_checksum_is_that_of_the_values(path):
    assert RowFile.open(path).checksum() == hashlib.sha256(ROWS.tobytes()).hexdigest()


@pytest.mark.parametrize(
    "array", [ROWS[:, 0], ROWS.astype(np.float64), np.asfortranarray(ROWS), np.array([[None]], dtype=object)]
)
def test_other_arrays_are_rejected(tmp_path, array):
    np.save(tmp_path / "other.npy", array, allow_pickle=True)
    with pytest.raises(ReadError, match=r"other\.npy is damaged: it must contain rows of float32"):
        RowFile.open(tmp_path / "other.npy")


@pytest.mark.parametrize("size", [0, 5, 50, 200])
def test_file_that_ends_early_is_damaged(path, size):
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(ReadError, match=r"rows\.npy is damaged"):
        RowFile.open(path)


def test_file_that_is_cut_or_removed_after_it_was_opened_is_an_error(path):
    file = RowFile.open(path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(ReadError, match="it ends early"):
        file.read(slice(0, 20))
    path.unlink()
    with pytest.raises(ReadError, match="cannot be read"):
        file.read(slice(0, 20))


def test_missing_file_is_an_error(tmp_path):
    with pytest.raises(ReadError, match=r"none\.npy is damaged: No such file"):
        RowFile.open(tmp_path / "none.npy")
