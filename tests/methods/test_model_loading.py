"""`load_embedder`: models of every kind, and one sentence for folders without one."""

from __future__ import annotations

import json

import numpy as np
import pytest

from graphprox import FGCL, AutoEmbedder, ParameterError, ReadError, load_embedder, synthetic
from graphprox.io.storage.model_files import ABOUT, ARRAYS, CHECKPOINTS, METRICS, RECIPE, WEIGHTS
from graphprox.io.storage.verified import dump_with_checksum

SMALL = {"n_components": 4, "hidden_channels": 4, "head_channels": 4, "epochs": 1, "device": "cpu", "cache": False}
MAKE = {"auto": lambda: AutoEmbedder(n_components=4), "f-gcl": lambda: FGCL(**SMALL)}
FILES = {"auto": {ABOUT, ARRAYS}, "f-gcl": {ABOUT, RECIPE, WEIGHTS, METRICS}}


@pytest.fixture(scope="module")
def graph():
    return synthetic(nodes=140)


@pytest.fixture(scope="module")
def fitted(graph):
    return {name: make().fit(graph) for name, make in MAKE.items()}


def names(folder):
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("name", MAKE)
def test_embedder_of_either_kind_is_loaded(fitted, graph, tmp_path, name):
    fitted[name].save(tmp_path)
    loaded = load_embedder(str(tmp_path), device="cpu")
    assert type(loaded) is type(fitted[name])
    assert np.array_equal(loaded.transform(graph), fitted[name].transform(graph))


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", bytes(range(256))])
@pytest.mark.parametrize(("name", "remedy"), [("auto", "fit the embedder again"), ("f-gcl", "train the model again")])
def test_damaged_description_is_reported_in_the_words_of_its_kind(fitted, tmp_path, name, remedy, damage):
    fitted[name].save(tmp_path)
    (tmp_path / ABOUT).write_bytes(damage)
    with pytest.raises(ReadError) as refused:
        load_embedder(tmp_path)
    assert str(refused.value).startswith(f"{tmp_path / ABOUT} is damaged: ")
    assert str(refused.value).endswith(f": {remedy}")
    assert ("FT-GCL" in str(refused.value)) is False


def is_same_json(one, other):
    try:
        return json.loads(one) == json.loads(other)
    except ValueError:
        return False


@pytest.mark.parametrize("name", MAKE)
def test_every_changed_bit_of_a_description_is_reported(fitted, tmp_path, name):
    fitted[name].save(tmp_path)
    whole = (tmp_path / ABOUT).read_bytes()
    for place in range(0, len(whole), 7):
        changed = whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
        if is_same_json(whole, changed):  # the last digit of a number that is rounded to the same
            continue
        (tmp_path / ABOUT).write_bytes(changed)
        with pytest.raises(ReadError, match=r"about.json (is damaged: |must have format \d; it has \d, of another)"):
            load_embedder(tmp_path)


def test_folder_without_a_model_is_one_sentence(tmp_path):
    for place in (tmp_path, tmp_path / "missing"):
        with pytest.raises(ReadError, match=r"must be the folder of a model; it has no about.json: call save of"):
            load_embedder(place)
    (tmp_path / ABOUT).write_text('{"author": "someone"}')
    with pytest.raises(ReadError, match=r"about.json must describe a model of graphprox; it is damaged, or of another"):
        load_embedder(tmp_path)


def test_model_of_a_method_that_is_not_installed_is_rejected(tmp_path):
    (tmp_path / ABOUT).write_text(dump_with_checksum({"format": 1, "method": "plugin"}))
    with pytest.raises(ParameterError, match=r"has one of plugin: install the package that defines it$"):
        load_embedder(tmp_path)


def test_device_of_a_method_that_runs_on_the_cpu_is_rejected(fitted, tmp_path):
    fitted["auto"].save(tmp_path)
    with pytest.raises(ParameterError, match=r"^device must be auto or cpu for a model of auto; got 'cuda': leave it"):
        load_embedder(tmp_path, device="cuda")


@pytest.mark.parametrize(("older", "newer"), [("auto", "f-gcl"), ("f-gcl", "auto")])
def test_model_of_the_other_kind_leaves_no_file_behind(fitted, graph, tmp_path, older, newer):
    fitted[older].save(tmp_path)
    assert names(tmp_path) == FILES[older]
    fitted[newer].save(tmp_path, overwrite=True)
    assert names(tmp_path) == FILES[newer]
    assert np.array_equal(load_embedder(tmp_path).transform(graph), fitted[newer].transform(graph))


def test_checkpoints_of_a_model_are_replaced_too(fitted, graph, tmp_path):
    FGCL(**SMALL, checkpoint_dir=tmp_path).fit(graph)
    assert names(tmp_path) == {*FILES["f-gcl"], CHECKPOINTS}
    fitted["auto"].save(tmp_path, overwrite=True)
    assert names(tmp_path) == FILES["auto"]
    FGCL(**SMALL, checkpoint_dir=tmp_path, overwrite=True).fit(graph)
    assert names(tmp_path) == {*FILES["f-gcl"], CHECKPOINTS}
