"""`save` and `load` of the default method: a loaded embedder transforms other graphs equally; errors are sentences."""

from __future__ import annotations

import os

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from graphprox import FTGCL, AutoEmbedder, Graph, ParameterError, ReadError, WriteError, synthetic
from graphprox.auto.storage import FORMAT
from graphprox.io.storage.model_files import ABOUT, ARRAYS
from graphprox.io.storage.verified import dump_with_checksum, read_with_checksum


@pytest.fixture
def fitted():
    return AutoEmbedder(n_components=8, random_state=3).fit(synthetic(nodes=140))


@pytest.fixture
def folder(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    return tmp_path / "model"


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# -- saving and loading ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keep", ["auto", "graph", "features", "both"])
def test_other_graphs_have_the_same_bytes(tmp_path, keep):
    other = synthetic(nodes=210, random_state=5)
    fitted = AutoEmbedder(n_components=8, keep=keep, random_state=3).fit(synthetic(nodes=140))
    fitted.save(str(tmp_path))
    assert AutoEmbedder.load(str(tmp_path)).transform(other).tobytes() == fitted.transform(other).tobytes()


def ring(ids, *, num_nodes, random_state):
    """Return a ring with chords, and without features."""
    nodes = np.arange(num_nodes)
    chords = np.random.default_rng(random_state).permutation(num_nodes)
    edges = np.concatenate([[nodes, np.roll(nodes, 1)], [nodes, chords]], axis=1)
    return Graph(None, edges, num_nodes=num_nodes, node_ids=None if ids is None else ids[:num_nodes])


NAMES = np.array(["", "größer", "図", *(f"node {number}" for number in range(97))], dtype=object)


@pytest.mark.filterwarnings("ignore::graphprox.errors.StructuralFeaturesWarning")
@pytest.mark.parametrize("ids", [None, np.arange(100) * 2**40 + 7, NAMES], ids=["no ids", "integers", "strings"])
def test_grown_graph_without_features_has_the_same_bytes(tmp_path, ids):
    fitted = AutoEmbedder(n_components=8).fit(ring(ids, num_nodes=60, random_state=0))
    fitted.save(tmp_path)
    grown = ring(ids, num_nodes=70, random_state=1)
    assert AutoEmbedder.load(tmp_path).transform(grown).tobytes() == fitted.transform(grown).tobytes()


def test_loaded_embedder_has_no_embedding_until_it_is_fitted_again(folder, fitted):
    loaded = AutoEmbedder.load(folder)
    assert repr(loaded) == "AutoEmbedder(n_components=8, random_state=3)"
    with pytest.raises(NotFittedError):
        loaded.embedding_  # noqa: B018 - a property
    assert loaded.fit(synthetic(nodes=140)).vectors_.tobytes() == fitted.vectors_.tobytes()


def test_any_random_state_is_saved_as_the_seed_that_was_used(tmp_path):
    graph = synthetic(nodes=140)
    fitted = AutoEmbedder(n_components=8, random_state=np.random.default_rng(1)).fit(graph)
    fitted.save(tmp_path)
    loaded = AutoEmbedder.load(tmp_path)
    assert loaded.transform(graph).tobytes() == fitted.vectors_.tobytes()
    assert loaded.fit(graph).vectors_.tobytes() == fitted.vectors_.tobytes()


def test_embedder_that_is_not_fitted_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        AutoEmbedder().save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


# -- errors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [ARRAYS, ABOUT])
@pytest.mark.parametrize(
    "damage",
    [
        lambda _: b"",
        lambda content: content[:200] + bytes([content[200] ^ 1]) + content[201:],
        lambda content: content + b" x",
        lambda _: bytes(range(256)),
    ],
    ids=["empty", "flipped bit", "longer", "noise"],
)
def test_damaged_file_is_named_with_what_to_do(folder, name, damage):
    (folder / name).write_bytes(damage((folder / name).read_bytes()))
    with pytest.raises(ReadError) as refused:
        AutoEmbedder.load(folder)
    assert str(refused.value).startswith(f"{folder / name} is damaged: ")
    assert str(refused.value).endswith(": fit the embedder again")


def rewrite_description(folder, **changes):
    """Change the description and its checksum, as in a deliberate attack."""
    about = read_with_checksum(folder / ABOUT, FORMAT)
    (folder / ABOUT).write_text(dump_with_checksum(about | changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"selection": {"choice": "edges", "scores": {}, "ratio": None}},
        {"selection": {"choice": "everything", "scores": {}, "ratio": None}},
        {"selection": {"choices": "graph"}},
        {"shape": 3},
    ],
)
def test_description_that_does_not_fit_the_arrays_is_rejected(folder, changes):
    rewrite_description(folder, **changes)
    words = r"(must fit about\.json|about\.json must describe a model of auto); it does not: .*: fit the embedder"
    with pytest.raises(ReadError, match=words):
        AutoEmbedder.load(folder)


def test_model_of_another_format_is_rejected(folder):
    rewrite_description(folder, format=FORMAT + 1)
    with pytest.raises(ReadError, match=rf"about.json must have format {FORMAT}; it has {FORMAT + 1}, of another"):
        AutoEmbedder.load(folder)


def test_folder_without_a_model_is_rejected(tmp_path):
    for place in (tmp_path, tmp_path / "missing"):
        with pytest.raises(ReadError, match=r"must be the folder of a model; it has no about.json: call save of"):
            AutoEmbedder.load(place)


def test_each_class_rejects_models_of_the_other(folder, fitted, tmp_path):
    FTGCL(n_components=8, epochs=1, cache=False).fit(synthetic(nodes=140)).save(tmp_path / "trained")
    with pytest.raises(ParameterError, match=r"^a model must be of auto; .*trained has one of ft-gcl: call load of"):
        AutoEmbedder.load(tmp_path / "trained")
    with pytest.raises(ParameterError, match=r"^a model must be of a method of the FT-GCL family; .* has one of auto:"):
        FTGCL.load(folder)
    fitted.save(tmp_path / "trained", overwrite=True)  # replaces the older model, whatever it was
    assert AutoEmbedder.load(tmp_path / "trained").n_features_in_ == 32


def test_full_disk_leaves_the_older_model(folder, monkeypatch):
    before, other = contents(folder), AutoEmbedder(n_components=4).fit(synthetic(nodes=140))

    def full(descriptor):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WriteError, match=r"arrays.safetensors cannot be written: No space left"):
        other.save(folder, overwrite=True)
    assert contents(folder) == before
