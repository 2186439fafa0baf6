from __future__ import annotations

import ast
import dataclasses
import importlib
import io
import os
import pickle
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
import torch
import torch_geometric

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


@pytest.fixture
def foreign():
    """Returns a function that runs in a module of a given name, as a loader of PyG does."""

    def make(module, source="def run(text):\n    return eval(text)\n"):
        names = {"__name__": module}
        exec(source, names)
        return names["run"]

    return make


@pytest.mark.parametrize("module", ["torch_geometric.datasets.cornell", "torch_geometric.io.txt", "pandas.core.apply"])
@pytest.mark.parametrize(
    "call", ["eval(text)", "exec(text)", "exec(compile(text, 'a name', 'exec'))", "[*map(eval, [text])]"]
)
def test_the_text_of_a_file_is_not_evaluated(tmp_path, foreign, module, call):
    run = foreign(module, f"def run(text):\n    {call}\n")
    text = f"__import__('os').mkdir({str(tmp_path / 'SPRUNG')!r})"
    with pytest.raises(DatasetError, match="evaluates one as Python code"), guard_loader("it", allowed=ALLOWED_GLOBALS):
        run(text)
    assert not (tmp_path / "SPRUNG").exists()
    with guard_loader("it", allowed=None):
        run(text)
    assert (tmp_path / "SPRUNG").exists()


def test_loaders_may_parse_literals_create_classes_and_import(foreign):
    run = foreign("torch_geometric.datasets.it", "def run(work):\n    return work()\n")

    def work():
        sys.modules.pop("colorsys", None)
        importlib.import_module("colorsys")
        rows = list(pd.DataFrame({"a": [1]}).itertuples())
        return ast.literal_eval("[1, 2]"), rows[0].a, dataclasses.make_dataclass("C", ["x"])(3).x

    with guard_loader("it", allowed=ALLOWED_GLOBALS):
        assert run(work) == ([1, 2], 1, 3)


@pytest.mark.parametrize(
    "start",
    [
        lambda path: os.system(f"mkdir '{path}'"),
        lambda path: subprocess.run(["mkdir", path], check=True),
        lambda path: os.posix_spawnp("mkdir", ["mkdir", path], {}),
    ],
    ids=["system", "subprocess", "spawn"],
)
def test_loaders_run_no_other_program(tmp_path, start):
    with pytest.raises(DatasetError, match="no other program"), guard_loader("it", allowed=ALLOWED_GLOBALS):
        start(str(tmp_path / "SPRUNG"))
    assert not (tmp_path / "SPRUNG").exists()


def test_no_module_of_the_data_directory_is_imported(tmp_path, monkeypatch):
    (tmp_path / "sprung_module.py").write_text("import os\nos.mkdir(os.path.dirname(__file__) + '/SPRUNG')\n")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def load():
        with guard_loader("it", allowed=ALLOWED_GLOBALS, read_only=tmp_path):
            monkeypatch.syspath_prepend(tmp_path)
            importlib.import_module("sprung_module")

    with pytest.raises(DatasetError, match="which is code"):
        load()
    assert not (tmp_path / "SPRUNG").exists()


def test_every_eval_of_pyg_is_in_a_package_whose_evaluations_are_refused():
    """What PyG evaluates is seen by the guard, as long as its own modules call eval and exec."""
    found = set()
    for name in ("datasets", "io"):
        for path in Path(torch_geometric.__file__).with_name(name).rglob("*.py"):
            calls = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Name))
            if {node.id for node in calls} & {"eval", "exec", "compile", "__import__"}:
                found.add(path.name)
    assert found == {"cornell.py"}
