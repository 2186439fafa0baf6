from __future__ import annotations

import io
import os
import pickle
import threading
from contextlib import suppress

import joblib
import numpy as np
import pandas as pd
import pytest
import torch

from graphprox import DatasetError
from graphprox.datasets.loader_guard import ALLOWED_GLOBALS, guard_loader


class Trap:
    """Creates a directory when it is unpickled."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


def save_npy(content, path):
    with path.open("wb") as file:
        np.save(file, np.array([content], object), allow_pickle=True)


@pytest.mark.parametrize(
    ("write", "read"),
    [
        (lambda content, path: path.write_bytes(pickle.dumps(content)), lambda path: pickle.loads(path.read_bytes())),
        (
            lambda content, path: path.write_bytes(pickle.dumps(content, protocol=0)),
            lambda path: pickle._Unpickler(io.BytesIO(path.read_bytes())).load(),
        ),
        (torch.save, lambda path: torch.load(path, weights_only=False)),
        (save_npy, lambda path: np.load(path, allow_pickle=True)),
        (pd.to_pickle, pd.read_pickle),
        (joblib.dump, joblib.load),
    ],
    ids=["pickle", "pure Python", "torch", "numpy", "pandas", "joblib"],
)
def test_the_guard_holds_for_every_unpickler(tmp_path, write, read):
    path = tmp_path / "file.pkl"
    write(Trap(tmp_path / "SPRUNG"), path)
    with pytest.raises(DatasetError, match="could run code"), guard_loader("it", allowed=ALLOWED_GLOBALS):
        read(path)
    assert not (tmp_path / "SPRUNG").exists()
    read(path)
    assert (tmp_path / "SPRUNG").exists()


def test_the_guard_raises_even_if_a_loader_suppresses_the_error(tmp_path):
    def load():
        with guard_loader("it", allowed=ALLOWED_GLOBALS), suppress(DatasetError):
            pickle.loads(pickle.dumps(Trap(tmp_path / "SPRUNG")))

    with pytest.raises(DatasetError, match="could run code"):
        load()
    assert not (tmp_path / "SPRUNG").exists()


def run_both(own, other, begin):
    own.start()
    begin.set()
    own.join()
    other.join()


def test_the_guard_holds_for_threads_of_the_loader_and_for_no_other(tmp_path):
    begin, results = threading.Event(), {}

    def unpickle(name):
        begin.wait(10)
        try:
            results[name] = pickle.loads(pickle.dumps(Trap(tmp_path / name)))
        except DatasetError as error:
            results[name] = error

    other = threading.Thread(target=unpickle, args=("other",))
    other.start()
    own = threading.Thread(target=unpickle, args=("own",))
    with pytest.raises(DatasetError, match="could run code"), guard_loader("it", allowed=ALLOWED_GLOBALS):
        run_both(own, other, begin)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other"]


@pytest.mark.parametrize("way", ["open", "os.open", "through a link"])
def test_files_of_a_read_only_directory_cannot_be_opened_for_writing(tmp_path, way):
    held, link = tmp_path / "held", tmp_path / "link"
    held.mkdir()
    (held / "file").write_text("as it was")
    link.symlink_to(held / "file")
    path = link if way == "through a link" else held / "file"
    with pytest.raises(DatasetError, match="is only read"), guard_loader("it", allowed=None, read_only=held):
        os.open(path, os.O_WRONLY | os.O_TRUNC) if way == "os.open" else path.write_text("new")
    assert (held / "file").read_text() == "as it was"


def test_a_read_only_directory_can_be_read_and_others_written(tmp_path):
    (tmp_path / "held").mkdir()
    (tmp_path / "held" / "file").write_text("text")
    with guard_loader("it", allowed=ALLOWED_GLOBALS, read_only=tmp_path / "held"):
        (tmp_path / "copy").write_text((tmp_path / "held" / "file").read_text())
        assert pickle.loads(pickle.dumps([np.eye(2), {"a": 1}]))[1] == {"a": 1}
    assert (tmp_path / "copy").read_text() == "text"
