"""The folder of a model: its kind is known even if its description is damaged, and another kind leaves nothing."""

from __future__ import annotations

import json

import pytest

from graphprox import ReadError, WriteError
from graphprox.io.storage.model_files import (
    ABOUT,
    ARRAYS,
    AUTO,
    CHECKPOINTS,
    FAMILY,
    METRICS,
    RECIPE,
    WEIGHTS,
    check_has_model,
    model_kind,
    recorded_method,
    remove_files,
    replace_model,
)
from graphprox.io.storage.verified import dump_with_checksum

FILES = {AUTO: [ARRAYS], FAMILY: [RECIPE, WEIGHTS, METRICS, f"{CHECKPOINTS}/epoch-00000001.json"]}


def write_model(folder, kind):
    for name in FILES[kind]:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("content")
    about = {"format": 1, "method": "auto"} if kind == AUTO else {"format": 2}
    (folder / ABOUT).write_text(dump_with_checksum(about))


def names(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_method_of_a_model_is_read_from_an_intact_description_only(tmp_path):
    assert recorded_method(tmp_path) is None
    for about, method in (({"method": "auto"}, "auto"), ({"recipe": "a"}, "ft-gcl")):
        text = dump_with_checksum({"format": 1, **about})
        (tmp_path / ABOUT).write_text(text)
        assert recorded_method(tmp_path) == method
        (tmp_path / ABOUT).write_text(text.replace('"format": 1', '"format": 2'))
        assert recorded_method(tmp_path) is None
    for text in ("[]", "{}", "3", "", json.dumps({"method": "auto"})):
        (tmp_path / ABOUT).write_text(text)
        assert recorded_method(tmp_path) is None


def test_folder_without_a_description_has_no_model(tmp_path):
    with pytest.raises(ReadError, match=r"must be the folder of a model; it has no about.json: call save of"):
        check_has_model(tmp_path)
    (tmp_path / ABOUT).write_text("{}")
    check_has_model(tmp_path)


# -- kinds ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"method": "other"}'])
@pytest.mark.parametrize("kind", FILES)
def test_kind_is_known_by_the_files_if_the_description_is_damaged(tmp_path, kind, damage):
    write_model(tmp_path, kind)
    assert model_kind(tmp_path) == kind
    (tmp_path / ABOUT).write_text(damage)
    assert model_kind(tmp_path) == kind


def test_damaged_description_between_files_of_no_kind_or_of_both_has_none(tmp_path):
    assert model_kind(tmp_path) is None
    (tmp_path / ABOUT).write_text("{}")
    assert model_kind(tmp_path) is None
    write_model(tmp_path, AUTO)
    write_model(tmp_path, FAMILY)
    assert model_kind(tmp_path) == FAMILY  # an intact description decides
    (tmp_path / ABOUT).write_text("{}")
    assert model_kind(tmp_path) is None


# -- another kind ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("older", "newer"), [(AUTO, FAMILY), (FAMILY, AUTO)])
@pytest.mark.parametrize("is_damaged", [False, True])
def test_files_of_the_older_kind_are_removed(tmp_path, older, newer, is_damaged):
    write_model(tmp_path, older)
    (tmp_path / "notes.txt").write_text("mine")
    if is_damaged:
        (tmp_path / ABOUT).write_text("{")
    with replace_model(tmp_path, newer):
        write_model(tmp_path, newer)
    assert names(tmp_path) == sorted([*FILES[newer], ABOUT, "notes.txt"])
    assert (tmp_path / CHECKPOINTS).exists() == (newer == FAMILY)


@pytest.mark.parametrize("kind", FILES)
def test_files_of_the_same_kind_stay(tmp_path, kind):
    write_model(tmp_path, kind)
    with replace_model(tmp_path, kind):
        pass
    assert names(tmp_path) == sorted([*FILES[kind], ABOUT])


def test_files_that_belong_to_no_model_stay(tmp_path):
    (tmp_path / RECIPE).write_text("epochs = 5")
    with replace_model(tmp_path, AUTO):
        write_model(tmp_path, AUTO)
    assert names(tmp_path) == sorted([ABOUT, ARRAYS, RECIPE])


def test_nothing_is_removed_if_writing_fails(tmp_path):
    write_model(tmp_path, FAMILY)
    with pytest.raises(WriteError), replace_model(tmp_path, AUTO):
        raise WriteError("no space left")
    assert names(tmp_path) == sorted([*FILES[FAMILY], ABOUT])


def test_file_that_cannot_be_removed_is_named(tmp_path):
    (tmp_path / ARRAYS).mkdir()
    with pytest.raises(WriteError, match=r"arrays.safetensors cannot be removed: "):
        remove_files([tmp_path / ARRAYS])
