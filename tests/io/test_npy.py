"""NumPy files are read without running code and without trusting their headers."""

from __future__ import annotations

import io
import os
import pickle
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from graphprox import IgnoredInputWarning, ReadError
from graphprox.io.npy import open_npz, read_npy, read_sparse


class Trap:
    """Creates a file when it is unpickled."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return os.mkdir, (str(self.marker),)


@pytest.fixture
def trap(tmp_path):
    made = Trap(tmp_path / "SPRUNG")
    pickle.loads(pickle.dumps(made))
    assert made.marker.exists(), "the trap must work, or the tests are meaningless"
    made.marker.rmdir()
    yield made
    assert not made.marker.exists()


def test_pickled_npy_objects_are_rejected(tmp_path, trap):
    np.save(tmp_path / "x.npy", np.array([trap], object), allow_pickle=True)
    with pytest.raises(ReadError, match="pickled objects, which could run code, and is rejected"):
        read_npy(tmp_path / "x.npy")


def test_a_plain_pickle_is_rejected(tmp_path, trap):
    for name, read in (("x.npy", read_npy), ("x.npz", lambda path: open_npz(path).__enter__())):
        (tmp_path / name).write_bytes(pickle.dumps(trap))
        with pytest.raises(ReadError, match="it is not"):
            read(tmp_path / name)


def test_pickled_npz_objects_are_ignored_with_a_warning(tmp_path, trap):
    np.savez(tmp_path / "x.npz", x=np.eye(2), names=np.array([trap], object))
    opened = open_npz(tmp_path / "x.npz")
    with pytest.warns(IgnoredInputWarning, match="names of .*never loaded"):
        arrays = opened.__enter__()
    assert np.array_equal(arrays["x"], np.eye(2))
    with pytest.raises(ReadError, match="pickled objects"):
        arrays["names"]
    opened.__exit__(None, None, None)


def test_arrays_are_a_mapping(tmp_path):
    np.savez(tmp_path / "x.npz", a=[1], b=[2])
    with open_npz(tmp_path / "x.npz") as arrays:
        assert ([*arrays], len(arrays), "a" in arrays, arrays.get("c")) == (["a", "b"], 2, True, None)
        with pytest.raises(KeyError):
            arrays["c"]


def test_members_that_are_not_arrays_are_ignored(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("README.txt", "hello")
    with open_npz(tmp_path / "x.npz") as arrays:
        assert [*arrays] == []


def test_a_damaged_member_is_rejected(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("x.npy", "hello")
    with pytest.raises(ReadError, match="valid npz file"), open_npz(tmp_path / "x.npz"):
        pass


def test_npy_and_npz_files_with_swapped_endings_are_rejected(tmp_path):
    np.save(tmp_path / "one.npy", [1])
    (tmp_path / "one.npy").rename(tmp_path / "one.npz")
    with pytest.raises(ReadError, match=r"a single array: name it \.npy"), open_npz(tmp_path / "one.npz"):
        pass
    np.savez(tmp_path / "many.npz", a=[1])
    (tmp_path / "many.npz").rename(tmp_path / "many.npy")
    with pytest.raises(ReadError, match=r"several arrays: name it \.npz"):
        read_npy(tmp_path / "many.npy")


def test_an_array_larger_than_memory_is_rejected(tmp_path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": (10**9, 10**6)})
    (tmp_path / "x.npy").write_bytes(header.getvalue() + bytes(100))
    with pytest.raises(ReadError, match="must contain the values of its arrays"):
        read_npy(tmp_path / "x.npy")


EYE = sp.csr_array(np.eye(3, dtype=np.float32))
SOUND = {"data": EYE.data, "indices": EYE.indices, "indptr": EYE.indptr, "shape": [3, 3], "format": b"csr"}


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ({"indices": [0, 1, 7]}, "unknown node or column 7 of a 3 x 3"),
        ({"indices": [0, 1, -2]}, "unknown node or column -2"),
        ({"indices": [0, 1, 7], "format": b"csc"}, "unknown node or column 7"),
        ({"indptr": [0, 2, 1, 3]}, "indptr"),
        ({"indptr": [0, 1, 2]}, "valid npz file"),
        ({"indptr": [0, 1, 2, 9]}, "valid npz file"),
        ({"shape": [3]}, "valid npz file"),
        ({"shape": [-3, 3]}, "valid npz file"),
        ({"data": ["a", "b", "c"]}, "data must contain numbers"),
        ({"data": [1.0, 2.0]}, "valid npz file"),
        ({"format": b"lil"}, "valid npz file"),
    ],
)
def test_a_sparse_matrix_with_invalid_indices_is_rejected(tmp_path, broken, words):
    # scipy would access memory outside of the matrix.
    np.savez(tmp_path / "x.npz", **{**SOUND, **broken})
    with open_npz(tmp_path / "x.npz") as arrays, pytest.raises(ReadError, match=words):
        read_sparse(arrays)


@pytest.mark.filterwarnings("ignore::graphprox.IgnoredInputWarning")
def test_a_pickled_format_is_rejected(tmp_path, trap):
    np.savez(tmp_path / "x.npz", **{**SOUND, "format": np.array([trap], object)})
    with open_npz(tmp_path / "x.npz") as arrays, pytest.raises(ReadError, match="pickled objects"):
        read_sparse(arrays)


def test_a_coo_matrix_with_invalid_indices_is_rejected(tmp_path):
    np.savez(tmp_path / "x.npz", row=[0, 9], col=[1, 1], data=[1.0, 1.0], shape=[3, 3])
    with open_npz(tmp_path / "x.npz") as arrays, pytest.raises(ReadError, match="valid npz file"):
        read_sparse(arrays)
