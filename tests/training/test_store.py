"""A model comes back from its folder as it went in, or the file that is damaged is named."""

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
from graphprox.checksum import graph_checksum
from graphprox.training.checkpoint import described, sealed
from graphprox.training.model import Model
from graphprox.training.store import (
    ABOUT,
    CHECKPOINTS,
    FILES,
    FORMAT,
    METRICS,
    RECIPE,
    WEIGHTS,
    Metrics,
    Origin,
    discard_model,
    load_model,
    origin_of,
    prepared,
    save_model,
)
from graphprox.training.trainer import Step


@pytest.fixture
def model(graph, recipe):
    return Model(recipe, features=graph.num_features)


@pytest.fixture
def folder(model, graph, tmp_path):
    """A folder that holds the model."""
    save_model(tmp_path / "model", model, Origin.of(graph))
    return tmp_path / "model"


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


# -- there and back -------------------------------------------------------------------------------------------------


def test_a_model_comes_back_as_it_was(folder, model, graph):
    loaded = load_model(folder)
    assert (loaded.recipe, loaded.features, loaded.weighted) == (model.recipe, model.features, model.weighted)
    assert loaded.embed(graph).tobytes() == model.embed(graph).tobytes()
    for name, tensor in model.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], tensor)


def test_a_model_is_saved_in_the_same_bytes_each_time(folder, graph, tmp_path):
    save_model(tmp_path / "again", load_model(str(folder)), Origin.of(graph))
    assert contents(tmp_path / "again") == contents(folder)
    assert origin_of(folder) == Origin.of(graph)


def test_it_is_told_where_a_model_comes_from(folder, graph, recipe):
    assert contents(folder).keys() == {RECIPE, WEIGHTS, ABOUT}
    assert (folder / RECIPE).read_text() == recipe.to_toml()
    about = json.loads((folder / ABOUT).read_text())
    assert about["graph"] == graph_checksum(graph)
    assert (about["nodes"], about["edges"], about["features"]) == (140, graph.num_edges, 32)
    assert (about["directed"], about["weighted"], about["device"]) == (False, False, "cpu")
    assert about["versions"].keys() == {"python", "graphprox", "torch", "numpy", "scipy", "safetensors"}
    assert about["weights"] == hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()


def test_another_model_takes_the_place_of_the_older(folder, graph, recipe):
    other = recipe.merged({"seed": 9, "encoder": {"width": 12}})
    save_model(folder, Model(other, features=graph.num_features), Origin.of(graph))
    assert load_model(folder).recipe == other
    assert contents(folder).keys() == {RECIPE, WEIGHTS, ABOUT}


def test_a_name_for_people_may_have_any_letters(graph, small, tmp_path):
    named = small.merged({"method": "größer 図"})
    save_model(tmp_path, Model(named, features=graph.num_features), Origin.of(graph))
    assert load_model(tmp_path).recipe.method == "größer 図"


@pytest.mark.parametrize("kind", ["gat", "sage", "gcn", "gin", "mlp"])
def test_models_with_and_without_weights_embed_graphs_without_and_with(graph, small, tmp_path, kind):
    weighted = Graph(graph.x, graph.edges_once(), edge_weight=np.linspace(0.5, 3, graph.num_edges))
    recipe = small.merged({"encoder": {"kind": kind}})
    for knows, own in ((True, weighted), (False, graph)):
        save_model(tmp_path, Model(recipe, features=graph.num_features, weighted=knows), Origin.of(own))
        loaded = load_model(tmp_path)
        assert loaded.weighted is knows
        assert loaded.embed(graph).shape == (140, 8)
        if knows:
            assert loaded.embed(weighted).shape == (140, 8)
        else:
            with pytest.warns(IgnoredInputWarning):
                assert np.array_equal(loaded.embed(weighted), loaded.embed(graph))


def test_a_loaded_model_embeds_other_graphs_with_the_same_features_only(folder, graph):
    loaded = load_model(folder)
    assert len(loaded.embed(graphprox.synthetic(nodes=200, seed=2))) == 200
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
    ids=["empty", "half", "without its end", "flipped bit", "more", "anything"],
)
def test_a_damaged_file_is_named(folder, name, damage):
    (folder / name).write_bytes(damage((folder / name).read_bytes()))
    with pytest.raises(ReadError) as refused:
        load_model(folder)
    assert str(refused.value).startswith(f"{folder / name} is damaged: ")


@pytest.mark.parametrize("name", [RECIPE, WEIGHTS])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(ReadError, match=f"{name} is damaged: No such file"):
        load_model(folder)


def test_a_recipe_that_somebody_changed_is_no_longer_that_of_the_model(folder):
    text = (folder / RECIPE).read_text()
    (folder / RECIPE).write_text(text.replace('normalize = "rows"', 'normalize = "none"'))
    with pytest.raises(ReadError, match=r"recipe.toml is damaged: its content does not have the checksum"):
        load_model(folder)


def test_a_folder_that_holds_no_model_is_refused(tmp_path):
    for name in ("missing", "empty", "file"):
        place = tmp_path / name
        if name == "empty":
            place.mkdir()
        if name == "file":
            place.write_text("no folder")
        with pytest.raises(ReadError, match=f"{name} must be a folder that holds a model; it has no about.json"):
            load_model(place)


def test_a_model_of_a_later_format_is_refused(folder):
    about = described(folder / ABOUT, FORMAT)
    (folder / ABOUT).write_text(sealed({**about, "format": 7}))
    with pytest.raises(ReadError, match=r"about.json is damaged: it has format 7, and this version knows 1"):
        load_model(folder)


def resealed(folder, **fields):
    """Change the description, with a new seal, as only somebody who means to would."""
    about = described(folder / ABOUT, FORMAT)
    (folder / ABOUT).write_text(sealed(about | fields))


@pytest.mark.parametrize("features", [31, 1])
def test_weights_that_do_not_fit_the_recipe_are_refused(folder, features):
    resealed(folder, features=features)
    with pytest.raises(ReadError, match=r"weights.safetensors does not fit recipe.toml: "):
        load_model(folder)


class Trap:
    def __reduce__(self):
        return os.mkdir, ("SPRUNG",)


@pytest.mark.parametrize("dump", [pickle.dumps, None], ids=["pickle", "torch.save"])
def test_a_pickle_is_never_loaded(folder, dump, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if dump is None:
        torch.save({"encoder": Trap()}, folder / WEIGHTS)
    else:
        (folder / WEIGHTS).write_bytes(dump(Trap()))
    with pytest.raises(ReadError, match=r"weights.safetensors is damaged: .*checksum"):
        load_model(folder)
    resealed(folder, weights=hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest())
    with pytest.raises(ReadError, match=r"weights.safetensors is damaged: .*header"):
        load_model(folder)
    assert not (tmp_path / "SPRUNG").exists()


# -- writing --------------------------------------------------------------------------------------------------------


def test_where_nothing_can_be_written_the_older_model_stays(folder, graph, recipe, monkeypatch):
    before = contents(folder)

    def full(descriptor):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WriteError, match=r"weights.safetensors cannot be written: No space left"):
        save_model(folder, Model(recipe.merged({"seed": 3}), features=graph.num_features), Origin.of(graph))
    assert contents(folder) == before


def test_a_folder_is_made_and_swept_of_what_a_killed_process_left(tmp_path):
    folder = tmp_path / "a" / "b"
    assert prepared(folder) == folder
    for name in FILES:
        (folder / f".{name}.x1y2.part").write_text("half")
    (folder / ".somebody.else.part").write_text("whole")
    (folder / WEIGHTS).write_text("whole")
    prepared(folder)
    assert contents(folder) == {".somebody.else.part": b"whole", WEIGHTS: b"whole"}


def test_a_discarded_model_leaves_what_is_not_its_own(folder, tmp_path):
    (folder / CHECKPOINTS).mkdir()
    for name in ("step-00000003.json", "step-00000003.safetensors", ".step-00000003.json.x1.part"):
        (folder / CHECKPOINTS / name).write_text("older")
    (folder / METRICS).write_text("")
    (folder / f".{METRICS}.x1.part").write_text("half")
    (folder / "notes.txt").write_text("mine")
    discard_model(folder)
    assert contents(folder) == {"notes.txt": b"mine"}
    (folder / "notes.txt").unlink()
    discard_model(folder)
    assert not folder.exists()
    discard_model(folder)


# -- metrics --------------------------------------------------------------------------------------------------------


def step(number):
    return Step(number, (("graph", "feature"),), {"feature": number}, 0.1 * number, 0.01)


def steps_in(path):
    return [json.loads(line)["step"] for line in path.read_text().splitlines()]


def test_a_line_tells_all_of_a_step(tmp_path):
    Metrics(tmp_path / METRICS).add(step(1))
    (line,) = (tmp_path / METRICS).read_text().splitlines()
    assert json.loads(line) == {
        "step": 1,
        "turns": [["graph", "feature"]],
        "k": {"feature": 1},
        "loss": 0.1,
        "seconds": 0.01,
    }


@pytest.mark.parametrize("after", [0, 2, 4, 9])
def test_steps_that_are_taken_again_are_dropped(tmp_path, after):
    path = tmp_path / METRICS
    metrics = Metrics(path)
    for number in range(1, 5):
        metrics.add(step(number))
    Metrics(path, after=after).add(step(after + 1))
    assert steps_in(path) == [*range(1, min(after, 4) + 1), after + 1]


@pytest.mark.parametrize("left", ['{"step": 4, "tur', "\0\0\0\0", "\xff", '"', "{"])
def test_a_line_that_a_killed_process_was_writing_is_dropped(tmp_path, left):
    path = tmp_path / METRICS
    metrics = Metrics(path)
    for number in range(1, 4):
        metrics.add(step(number))
    path.write_bytes(path.read_bytes() + left.encode("latin-1"))
    Metrics(path, after=8).add(step(9))
    assert steps_in(path) == [1, 2, 3, 9]


def test_metrics_that_cannot_be_written_are_a_write_error(tmp_path):
    metrics = Metrics(tmp_path / METRICS)
    (tmp_path / METRICS).unlink()
    (tmp_path / METRICS).mkdir()
    with pytest.raises(WriteError, match=r"metrics.jsonl cannot be written: Is a directory"):
        metrics.add(step(1))
