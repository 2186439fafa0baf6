"""The folder of a model: nothing in it is lost unasked, and files of other programs are never touched."""

from __future__ import annotations

import json

import pytest

from graphprox import WriteError
from graphprox.io.storage.locks import LOCK
from graphprox.io.storage.model_claims import claim_model_folder
from graphprox.io.storage.model_files import (
    ABOUT,
    ARRAYS,
    AUTO,
    CHECKPOINTS,
    FAMILY,
    METRICS,
    RECIPE,
    WEIGHTS,
    WORK,
    replace_model,
)
from graphprox.io.storage.verified import dump_with_checksum

EPOCH = json.dumps({"epoch": 1, "pairs": [], "k": {}, "loss": 0.5, "seconds": 0.1}) + "\n"


def write(folder, *names, content="content"):
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text(content)


def write_about(folder, **about):
    write(folder, ABOUT, content=dump_with_checksum({"format": 2, **about}))


def auto_model(folder):
    write(folder, ARRAYS)
    write_about(folder, method="auto")


def family_model(folder):
    write(folder, RECIPE, WEIGHTS, METRICS)
    write_about(folder)


def unfinished(folder):
    write(folder, f"{CHECKPOINTS}/epoch-00000040.json", f"{CHECKPOINTS}/epoch-00000040.safetensors", METRICS)


def trained_model(folder):
    family_model(folder)
    unfinished(folder)


def other_method(folder):
    write_about(folder, method="of-another-package")


OURS = (auto_model, family_model, unfinished, trained_model, other_method)


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def claim(folder, kind, **options):
    with claim_model_folder(folder, kind, **options):
        pass


# -- new folders ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [AUTO, FAMILY])
def test_new_and_empty_folders_are_claimed(tmp_path, kind):
    with claim_model_folder(tmp_path / "a" / "model", kind) as folder:
        assert [path.name for path in folder.iterdir()] == [LOCK]
    assert not (tmp_path / "a" / "model").exists()  # nothing was written
    (tmp_path / "model").mkdir()
    claim(tmp_path / "model", kind)
    assert contents(tmp_path / "model") == {}
    assert (tmp_path / "model").exists()


def test_left_overs_of_a_run_that_was_killed_early_do_not_matter(tmp_path):
    (tmp_path / CHECKPOINTS).mkdir()
    write(tmp_path, METRICS, content=EPOCH)
    write(tmp_path, LOCK, f".{ABOUT}.abcd1234.part", f"{CHECKPOINTS}/.epoch-00000003.json.abcd1234.part")
    before = contents(tmp_path)
    for kind in (FAMILY, AUTO):
        claim(tmp_path, kind)
        assert contents(tmp_path) == {name: text for name, text in before.items() if name != LOCK}


@pytest.mark.parametrize("name", [".DS_Store", "Thumbs.db", ".gitkeep"])
def test_files_of_file_managers_do_not_matter(tmp_path, name):
    write(tmp_path, name)
    for kind in (FAMILY, AUTO):
        claim(tmp_path, kind)
    assert contents(tmp_path) == {name: "content"}


# -- files of other programs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["notes.txt", METRICS, RECIPE, "checkpoints/best.ckpt", "epoch-00000001.json", ".hidden", "a/b", ".x.part"]
)
@pytest.mark.parametrize("overwrite", [False, True])
def test_folder_of_another_program_is_rejected_in_any_case(tmp_path, name, overwrite):
    write(tmp_path, name)
    before = contents(tmp_path)
    for kind in (AUTO, FAMILY):
        with pytest.raises(WriteError, match=r"must be new, empty, or that of an older model; .* has .*: name another"):
            claim(tmp_path, kind, overwrite=overwrite, resume=not overwrite)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("text", ["{}", "[]", "not JSON", '{"name": "a web page"}', '{"method": "auto"}'])
def test_description_of_another_program_is_not_ours(tmp_path, text):
    write(tmp_path, ABOUT, content=text)
    with pytest.raises(WriteError, match=r"has about\.json, which is not a file of it"):
        claim(tmp_path, AUTO, overwrite=True)


def test_file_of_another_program_beside_a_model_is_not_replaced_by_the_new_one(tmp_path):
    auto_model(tmp_path)
    write(tmp_path, RECIPE)
    with pytest.raises(WriteError, match=r"has recipe\.toml, which is not a file of it"):
        claim(tmp_path, FAMILY, overwrite=True)
    claim(tmp_path, AUTO, overwrite=True)


@pytest.mark.parametrize("kind", [AUTO, FAMILY])
@pytest.mark.parametrize("ours", OURS)
def test_other_files_beside_a_model_stay(tmp_path, ours, kind):
    ours(tmp_path)
    mine = ["notes.txt", "checkpoints/best.ckpt", "checkpoints/epoch-best.json", "runs/events.1"]
    write(tmp_path, *mine, content="mine")
    with claim_model_folder(tmp_path, kind, overwrite=True), replace_model(tmp_path, kind):
        {AUTO: auto_model, FAMILY: family_model}[kind](tmp_path)
    assert {name: text for name, text in contents(tmp_path).items() if text == "mine"} == dict.fromkeys(mine, "mine")


# -- older models and checkpoints -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [AUTO, FAMILY])
@pytest.mark.parametrize("ours", OURS)
def test_nothing_is_replaced_unasked(tmp_path, ours, kind):
    ours(tmp_path)
    before = contents(tmp_path)
    with pytest.raises(
        WriteError, match=r"must not be (replaced|discarded) unasked; .*: set .*overwrite=True to replace"
    ):
        claim(tmp_path, kind)
    assert contents(tmp_path) == before
    claim(tmp_path, kind, overwrite=True)


def test_unfinished_training_is_named_with_both_ways_out(tmp_path):
    unfinished(tmp_path)
    words = (
        r"^a training run must not be discarded unasked; .* has an unfinished training run, saved after epoch 40: set "
        r"resume=True to continue it, set overwrite=True to replace it, or name another folder$"
    )
    with pytest.raises(WriteError, match=words):
        claim(tmp_path, FAMILY)


@pytest.mark.parametrize("ours", [unfinished, trained_model])
def test_checkpoints_are_resumed(tmp_path, ours):
    ours(tmp_path)
    before = contents(tmp_path)
    claim(tmp_path, FAMILY, resume=True)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("ours", [auto_model, family_model, other_method])
def test_model_without_checkpoints_is_not_replaced_by_resuming(tmp_path, ours):
    ours(tmp_path)
    with pytest.raises(WriteError, match="a model must not be replaced unasked"):
        claim(tmp_path, FAMILY, resume=True)


@pytest.mark.parametrize("ours", [unfinished, trained_model])
def test_replacing_by_auto_leaves_no_checkpoints(tmp_path, ours):
    ours(tmp_path)
    with claim_model_folder(tmp_path, AUTO, overwrite=True), replace_model(tmp_path, AUTO):
        auto_model(tmp_path)
    assert contents(tmp_path).keys() == {ABOUT, ARRAYS}
    assert not (tmp_path / CHECKPOINTS).exists()


TABLE = ("0123456789abcdef.json", "0123456789abcdef-0.npy", ".0123456789abcdef-1.npy.abcdefgh.part")


@pytest.mark.parametrize("kind", [AUTO, FAMILY])
def test_propagated_features_of_a_run_that_was_killed_early_do_not_matter(tmp_path, kind):
    write(tmp_path, *(f"{WORK}/{name}" for name in TABLE))
    with claim_model_folder(tmp_path, kind):
        pass


def test_folder_of_another_program_that_is_called_work_is_rejected(tmp_path):
    write(tmp_path, f"{WORK}/{TABLE[0]}", f"{WORK}/notes.txt")
    with (
        pytest.raises(WriteError, match=f"has {WORK}, which is not a file of it"),
        claim_model_folder(tmp_path, FAMILY),
    ):
        pass


def test_model_of_another_kind_leaves_no_propagated_features(tmp_path):
    trained_model(tmp_path)
    write(tmp_path, *(f"{WORK}/{name}" for name in TABLE))
    with replace_model(tmp_path, AUTO):
        auto_model(tmp_path)
    assert not (tmp_path / WORK).exists()
