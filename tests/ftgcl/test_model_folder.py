"""The folder of a model: a loaded model equals the saved one, and damaged files are named."""

from __future__ import annotations

import hashlib
import json
import os
import pickle

import numpy as np
import pytest
import torch

import graphprox
from graphprox import Graph, IgnoredInputWarning, ParameterError, ReadError, WriteError
from graphprox.ftgcl.model import Model
from graphprox.ftgcl.model_folder import (
    FORMAT,
    MetricsFile,
    Origin,
    load_model,
    read_metrics,
    read_origin,
    remove_model,
    save_model,
)
from graphprox.ftgcl.trainer import EpochLog
from graphprox.graph.checksum import graph_checksum
from graphprox.io.storage.model_files import ABOUT, CHECKPOINTS, METRICS, RECIPE, WEIGHTS
from graphprox.io.storage.verified import dump_with_checksum, read_with_checksum
from graphprox.nn.encoders.base import ENCODERS


@pytest.fixture
def model(graph, recipe):
    return Model(recipe, num_features=graph.num_features)


@pytest.fixture
def folder(model, graph, tmp_path):
    """The folder of the model."""
    save_model(tmp_path / "model", model, Origin.of(graph))
    return tmp_path / "model"


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


# -- saving and loading ---------------------------------------------------------------------------------------------


def test_loaded_model_equals_the_saved_one(folder, model, graph):
    loaded = load_model(folder)
    assert (loaded.recipe, loaded.num_features, loaded.weighted) == (model.recipe, model.num_features, model.weighted)
    assert loaded.embed(graph).tobytes() == model.embed(graph).tobytes()
    for name, tensor in model.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], tensor)


def test_model_is_saved_to_the_same_bytes_each_time(folder, graph, tmp_path):
    save_model(tmp_path / "again", load_model(str(folder)), Origin.of(graph))
    assert contents(tmp_path / "again") == contents(folder)
    assert read_origin(folder) == Origin.of(graph)


def test_description_names_the_graph_and_the_versions(folder, graph, recipe):
    assert contents(folder).keys() == {RECIPE, WEIGHTS, ABOUT}
    assert (folder / RECIPE).read_text() == recipe.to_toml()
    about = json.loads((folder / ABOUT).read_text())
    assert about["graph"] == graph_checksum(graph)
    assert (about["nodes"], about["edges"], about["num_features"]) == (140, graph.num_edges, 32)
    assert (about["directed"], about["weighted"], about["device"]) == (False, False, "cpu")
    assert about["versions"].keys() == {"python", "graphprox", "torch", "numpy", "scipy", "safetensors"}
    assert about["weights"] == hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()


def test_saving_replaces_an_older_model(folder, graph, recipe):
    other = recipe.merged({"random_state": 9, "encoder": {"n_components": 12}})
    save_model(folder, Model(other, num_features=graph.num_features), Origin.of(graph), overwrite=True)
    assert load_model(folder).recipe == other
    assert contents(folder).keys() == {RECIPE, WEIGHTS, ABOUT}


def test_name_of_the_method_can_have_any_letters(graph, small, tmp_path):
    named = small.merged({"method": "größer 図"})
    save_model(tmp_path, Model(named, num_features=graph.num_features), Origin.of(graph))
    assert load_model(tmp_path).recipe.method == "größer 図"


@pytest.mark.parametrize("encoder", ENCODERS)
def test_models_with_and_without_edge_weights_embed_graphs_with_and_without(graph, small, tmp_path, encoder):
    weighted = Graph(graph.x, graph.edges_once(), edge_weight=np.linspace(0.5, 3, graph.num_edges))
    recipe = small.merged({"encoder": {"name": encoder}})
    for is_weighted, own in ((True, weighted), (False, graph)):
        model = Model(recipe, num_features=graph.num_features, weighted=is_weighted)
        save_model(tmp_path, model, Origin.of(own), overwrite=True)
        loaded = load_model(tmp_path)
        assert loaded.weighted is is_weighted
        assert loaded.embed(graph).shape == (140, 8)
        if is_weighted:
            assert loaded.embed(weighted).shape == (140, 8)
        else:
            with pytest.warns(IgnoredInputWarning):
                assert np.array_equal(loaded.embed(weighted), loaded.embed(graph))


def test_loaded_model_embeds_other_graphs_with_the_same_features_only(folder, graph):
    loaded = load_model(folder)
    assert len(loaded.embed(graphprox.synthetic(nodes=200, random_state=2))) == 200
    with pytest.raises(ParameterError, match="32 features that the model was trained on; got 20"):
        loaded.embed(graph.with_features(graph.x[:, :20]))


# -- damage ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [RECIPE, WEIGHTS, ABOUT])
@pytest.mark.parametrize(
    "damage",
    [
        lambda _: b"",
        lambda content: content[: len(content) // 2],
        lambda content: content[:-2],
        lambda content: content[:200] + bytes([content[200] ^ 1]) + content[201:],
        lambda content: content + b" x",
        lambda _: bytes(range(256)),
    ],
    ids=["empty", "half", "without its end", "flipped bit", "longer", "noise"],
)
def test_damaged_file_is_named(folder, name, damage):
    (folder / name).write_bytes(damage((folder / name).read_bytes()))
    with pytest.raises(ReadError) as refused:
        load_model(folder)
    assert str(refused.value).startswith(f"{folder / name} is damaged: ")


@pytest.mark.parametrize("name", [RECIPE, WEIGHTS])
def test_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(ReadError, match=f"{name} is damaged: No such file"):
        load_model(folder)


def test_edited_recipe_is_rejected(folder):
    text = (folder / RECIPE).read_text()
    (folder / RECIPE).write_text(text.replace('normalize = "rows"', 'normalize = "none"'))
    with pytest.raises(ReadError, match=r"recipe.toml is damaged: its content does not match the recorded checksum"):
        load_model(folder)


def test_folder_without_a_model_is_rejected(tmp_path):
    for name in ("missing", "empty", "file"):
        place = tmp_path / name
        if name == "empty":
            place.mkdir()
        if name == "file":
            place.write_text("a file")
        with pytest.raises(ReadError, match=f"{name} must be the folder of a model; it has no about.json"):
            load_model(place)


@pytest.mark.parametrize("version", [1, 7])
def test_model_of_another_format_is_rejected(folder, version):
    about = read_with_checksum(folder / ABOUT, FORMAT)
    (folder / ABOUT).write_text(json.dumps({**about, "format": version, "seal": "of that version"}))
    with pytest.raises(
        ReadError, match=rf"about.json must have format 2; it has {version}, of another version of graphprox"
    ):
        load_model(folder)


def rewrite_description(folder, **fields):
    """Change the description and its checksum, as in a deliberate attack."""
    about = read_with_checksum(folder / ABOUT, FORMAT)
    (folder / ABOUT).write_text(dump_with_checksum(about | fields))


@pytest.mark.parametrize("features", [31, 1])
def test_weights_that_do_not_fit_the_recipe_are_rejected(folder, features):
    rewrite_description(folder, num_features=features)
    with pytest.raises(ReadError, match=r"weights.safetensors must fit recipe.toml; .*: train the model again$"):
        load_model(folder)


class Trap:
    """Creates a directory when it is unpickled."""

    def __reduce__(self):
        return os.mkdir, ("SPRUNG",)


@pytest.mark.parametrize("dump", [pickle.dumps, None], ids=["pickle", "torch.save"])
def test_pickle_is_never_loaded(folder, dump, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if dump is None:
        torch.save({"encoder": Trap()}, folder / WEIGHTS)
    else:
        (folder / WEIGHTS).write_bytes(dump(Trap()))
    with pytest.raises(ReadError, match=r"weights.safetensors is damaged: .*checksum"):
        load_model(folder)
    rewrite_description(folder, weights=hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest())
    with pytest.raises(ReadError, match=r"weights.safetensors is damaged: .*header"):
        load_model(folder)
    assert not (tmp_path / "SPRUNG").exists()


# -- writing --------------------------------------------------------------------------------------------------------


def test_full_disk_leaves_the_older_model(folder, graph, recipe, monkeypatch):
    before = contents(folder)

    def full(descriptor):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    other = Model(recipe.merged({"random_state": 3}), num_features=graph.num_features)
    with pytest.raises(WriteError, match=r"weights.safetensors cannot be written: No space left"):
        save_model(folder, other, Origin.of(graph), overwrite=True)
    assert contents(folder) == before


def test_partial_files_of_a_killed_process_are_removed(folder, model, graph):
    before = contents(folder)
    for name in (WEIGHTS, RECIPE, ABOUT):
        (folder / f".{name}.x1y2z3_4.part").write_text("half")
    (folder / ".somebody.else.part").write_text("complete")
    save_model(folder, model, Origin.of(graph), overwrite=True)
    assert contents(folder) == {**before, ".somebody.else.part": b"complete"}


def test_removing_a_model_leaves_other_files(folder, tmp_path):
    (folder / CHECKPOINTS).mkdir()
    for name in ("epoch-00000003.json", "epoch-00000003.safetensors", ".epoch-00000003.json.x1y2z3_4.part"):
        (folder / CHECKPOINTS / name).write_text("older")
    (folder / METRICS).write_text("")
    (folder / f".{METRICS}.x1y2z3_4.part").write_text("half")
    (folder / "notes.txt").write_text("mine")
    remove_model(folder)
    assert contents(folder) == {"notes.txt": b"mine"}
    (folder / "notes.txt").unlink()
    remove_model(folder)
    assert not folder.exists()
    remove_model(folder)


# -- metrics --------------------------------------------------------------------------------------------------------


def log(epoch):
    return EpochLog(epoch, (("graph", "feature"),), {"feature": epoch}, 0.1 * epoch, 0.01)


def epochs(path):
    return [json.loads(line)["epoch"] for line in path.read_text().splitlines()]


def test_line_has_all_fields_of_an_epoch(tmp_path):
    MetricsFile(tmp_path / METRICS).append(log(1))
    assert read_metrics(tmp_path / METRICS) == [log(1)]
    (line,) = (tmp_path / METRICS).read_text().splitlines()
    assert json.loads(line) == {
        "epoch": 1,
        "pairs": [["graph", "feature"]],
        "k": {"feature": 1},
        "loss": 0.1,
        "seconds": 0.01,
    }


@pytest.mark.parametrize("after", [0, 2, 4, 9])
def test_epochs_that_are_trained_again_are_dropped(tmp_path, after):
    path = tmp_path / METRICS
    metrics = MetricsFile(path)
    for number in range(1, 5):
        metrics.append(log(number))
    MetricsFile(path, after=after).append(log(after + 1))
    assert epochs(path) == [*range(1, min(after, 4) + 1), after + 1]


@pytest.mark.parametrize("left", ['{"epoch": 4, "pai', "\0\0\0\0", "\xff", '"', "{"])
def test_partial_line_of_a_killed_process_is_dropped(tmp_path, left):
    path = tmp_path / METRICS
    metrics = MetricsFile(path)
    for number in range(1, 4):
        metrics.append(log(number))
    path.write_bytes(path.read_bytes() + left.encode("latin-1"))
    MetricsFile(path, after=8).append(log(9))
    assert epochs(path) == [1, 2, 3, 9]


def test_metrics_that_cannot_be_written_are_an_error(tmp_path):
    metrics = MetricsFile(tmp_path / METRICS)
    (tmp_path / METRICS).unlink()
    (tmp_path / METRICS).mkdir()
    with pytest.raises(WriteError, match=r"metrics.jsonl cannot be written: Is a directory"):
        metrics.append(log(1))
