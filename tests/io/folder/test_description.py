"""The description of a graph folder is what was written, and says what is wrong with one that is not."""

from __future__ import annotations

import json

import pytest

from graphprox import synthetic
from graphprox.errors import ReadError
from graphprox.io.folder.description import (
    GRAPH,
    check_is_folder,
    describe_file,
    dump_description,
    is_graph_folder,
    read_description,
    sample_checksum,
    verify_file,
)
from graphprox.io.folder.graph_folder import GraphFolder
from graphprox.io.storage.verified import dump_with_checksum


@pytest.fixture
def folder(tmp_path):
    return GraphFolder.create(tmp_path / "G", synthetic(nodes=140), num_parts=2)


def test_description_survives_writing(folder):
    assert read_description(folder.path) == folder.about
    assert dump_description(folder.about) == (folder.path / GRAPH).read_text()


def test_folder_without_a_description_is_none(tmp_path, folder):
    assert is_graph_folder(folder.path)
    assert not is_graph_folder(tmp_path)
    assert not is_graph_folder("x" * 5000)
    assert not is_graph_folder("a\0b")
    with pytest.raises(ReadError, match=r"must be a graph folder, which graphprox shard writes; it has no graph.json"):
        check_is_folder(tmp_path)


def edit(folder, change):
    """Change the description, and give it a checksum that fits."""
    path = folder.path / GRAPH
    about = json.loads(path.read_text())
    del about["checksum"]
    change(about)
    path.write_text(dump_with_checksum(about))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda about: about.update(format=2), "must have format 1; it has 2"),
        (lambda about: about.pop("ids"), "ids: Field required"),
        (lambda about: about.update(num_nodes=2**31), "num_nodes: "),
        (lambda about: about["parts"].pop(), "its parts must have all rows once, in order"),
        (lambda about: about["parts"].reverse(), "its parts must have all rows once, in order"),
        (lambda about: about["parts"][0].update(num_entries=1), "its parts must have all entries"),
        (lambda about: about["parts"][0].update(folder="../part-00000-00000000"), "parts.0.folder: "),
        (lambda about: about["parts"][1].update(folder=about["parts"][0]["folder"]), "must have a folder of its own"),
        (lambda about: about["parts"][1].update(start=0, stop=0), "its parts must have all rows once, in order"),
    ],
)
def test_wrong_description_is_one_sentence(folder, change, words):
    edit(folder, change)
    with pytest.raises(ReadError, match=words):
        GraphFolder.open(folder.path)


def test_edited_description_is_damaged(folder):
    path = folder.path / GRAPH
    path.write_text(path.read_text().replace('"duplicates": 0', '"duplicates": 1'))
    with pytest.raises(ReadError, match=r"graph.json is damaged: its content does not match its checksum"):
        read_description(folder.path)


@pytest.mark.parametrize("size", [0, 1, 2**18, 2**18 + 1, 10**6])
def test_sample_has_the_beginning_and_the_end(tmp_path, size):
    path = tmp_path / "file"
    content = bytes(i % 251 for i in range(size))
    path.write_bytes(content)
    record = describe_file(path)
    verify_file(path, record, full=False)
    for at in {0, size - 1} if size else ():
        changed = bytearray(content)
        changed[at] ^= 1
        path.write_bytes(changed)
        assert sample_checksum(path) != record.sample
        for full in (False, True):
            with pytest.raises(ReadError, match="is damaged"):
                verify_file(path, record, full=full)


def test_missing_file_is_reported(tmp_path, folder):
    record = next(iter(folder.about.parts[0].files.values()))
    with pytest.raises(ReadError, match=r"missing.npy cannot be read: No such file"):
        verify_file(tmp_path / "missing.npy", record, full=True)
