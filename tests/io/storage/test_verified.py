"""Files that are verified by checksums: a changed bit is detected."""

from __future__ import annotations

import hashlib

import pytest
import torch
from safetensors.torch import save_file

from graphprox import ReadError
from graphprox.io.storage.verified import (
    add_remedy,
    checksum,
    dump_with_checksum,
    library_versions,
    load_verified_tensors,
    read_verified_bytes,
    read_with_checksum,
)


def test_file_without_tensors_is_damaged_even_if_its_checksum_matches(tmp_path):
    path = tmp_path / "weights.safetensors"
    path.write_bytes(b"no tensors at all")
    with pytest.raises(ReadError, match=r"weights.safetensors is damaged: .*header"):
        load_verified_tensors(path, hashlib.sha256(path.read_bytes()).hexdigest())


def test_changed_description_is_detected(tmp_path):
    path = tmp_path / "about.json"
    about = {"format": 1, "name": "ä", "size": 3, "nested": {"b": 1, "a": [1.5, None]}}
    path.write_text(dump_with_checksum(about))
    assert read_with_checksum(path, 1) == about
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(ReadError, match=r"about.json (is damaged: |must have format 1; it has 0)"):
            read_with_checksum(path, 1)


def test_tensors_are_those_that_were_written(tmp_path):
    path, tensor = tmp_path / "some.safetensors", torch.arange(6.0).reshape(2, 3)
    save_file({"odd": torch.ones(3, dtype=torch.uint8), "values": tensor}, path)
    loaded = load_verified_tensors(path, checksum(path.read_bytes()))
    assert torch.equal(loaded["values"], tensor)
    assert loaded["values"].data_ptr() % tensor.element_size() == 0


def test_missing_or_changed_file_is_damaged(tmp_path):
    path = tmp_path / "file"
    with pytest.raises(ReadError, match="file is damaged: No such file"):
        read_verified_bytes(path, checksum(b"a"))
    path.write_bytes(b"b")
    with pytest.raises(ReadError, match="file is damaged: its content does not match the recorded checksum"):
        read_verified_bytes(path, checksum(b"a"))
    assert read_verified_bytes(path, hashlib.sha256(b"b").hexdigest()) == b"b"


def test_versions_are_those_of_the_installed_packages():
    versions = library_versions("numpy", "scikit-learn")
    assert list(versions) == ["python", "graphprox", "numpy", "scikit-learn"]
    assert all(versions.values())


@pytest.mark.parametrize("number", [float("inf"), float("nan")])
def test_number_that_is_not_finite_is_not_written(number):
    with pytest.raises(ValueError, match="not JSON compliant"):
        dump_with_checksum({"format": 1, "number": number})


def test_remedy_is_added_to_errors_of_reading_only():
    with pytest.raises(ReadError, match=r"^a is damaged: do it again$"), add_remedy("do it again"):
        raise ReadError("a is damaged")
    with pytest.raises(ValueError, match=r"^other$"), add_remedy("do it again"):
        raise ValueError("other")


def test_backup_of_a_killed_process_is_read_if_it_is_what_is_described(tmp_path):
    path = tmp_path / "arrays.safetensors"
    path.write_bytes(b"new")
    (tmp_path / ".arrays.safetensors.abcd1234.part").write_bytes(b"half")
    (tmp_path / ".arrays.safetensors.efgh5678.part").write_bytes(b"older")
    assert read_verified_bytes(path, checksum(b"older")) == b"older"
    assert read_verified_bytes(path, checksum(b"new")) == b"new"
    with pytest.raises(ReadError, match="does not match the recorded checksum"):
        read_verified_bytes(path, checksum(b"other"))
