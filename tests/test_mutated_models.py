"""Saved models and checkpoints with a valid checksum and invalid content: only errors with one sentence occur.

Covers graphprox.auto.saved_fields.
"""

from __future__ import annotations

import json
import shutil
import warnings
from itertools import islice

import numpy as np
import pytest
import torch
from safetensors.torch import load, save

from auto.topic_graphs import topic_graph
from graphprox import FTGCL, AutoEmbedder, Graph, GraphproxError, GraphproxWarning, load_embedder, synthetic
from graphprox.errors import DamagedCheckpointWarning
from graphprox.io.storage.model_files import ABOUT, ARRAYS, CHECKPOINTS, RECIPE, WEIGHTS
from graphprox.io.storage.verified import checksum, dump_with_checksum

REMOVED = object()
# Values of wrong types, sizes and magnitudes, of which any may take the place of any field.
VALUES = [
    REMOVED,
    None,
    True,
    -1,
    0,
    3,
    10**30,
    0.5,
    1e300,
    "",
    "x",
    "nan",
    "inf",
    [],
    [[1, 2], [3]],
    {},
    {"a": {"b": 1}},
]
SMALL = {"n_components": 4, "hidden_channels": 4, "head_channels": 4, "epochs": 4, "device": "cpu", "cache": False}


def words():
    return topic_graph(nodes=60)


def dense():
    return synthetic(nodes=140)


def without_features():
    edges = [(i, (i * 7 + j) % 50) for i in range(50) for j in (1, 2)]
    with warnings.catch_warnings(action="ignore", category=GraphproxWarning):
        return Graph(None, np.array(edges).T, num_nodes=50, node_ids=[f"node {i}" for i in range(50)])


MODELS = {
    "auto, words": (words, lambda graph: AutoEmbedder(n_components=20).fit(graph)),
    "auto, dense": (dense, lambda graph: AutoEmbedder(n_components=20, keep="graph").fit(graph)),
    "auto, no features": (without_features, lambda graph: AutoEmbedder(n_components=4).fit(graph)),
    "ft-gcl": (dense, lambda graph: FTGCL(**SMALL).fit(graph)),
}


@pytest.fixture(scope="module", params=MODELS)
def saved(request, tmp_path_factory):
    """A graph, and the folder of a model that was fitted on it."""
    make, fit = MODELS[request.param]
    graph, folder = make(), tmp_path_factory.mktemp("models") / "model"
    fit(graph).save(folder)
    return graph, folder


def fields(value, path=()):
    """List the paths of all fields of a description, of tables among them."""
    yield from ([path] if path else [])
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in items:
        yield from fields(each, (*path, name))


def changed(about, path, value):
    about = json.loads(json.dumps(about))
    place = about
    for name in path[:-1]:
        place = place[name]
    if value is REMOVED:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return about


# All values for all fields take minutes; in the shorter test each field gets a part of them.
EVERY = pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.slow)])


def some_mutations(about, every):
    for number, path in enumerate(fields(about)):
        for value in VALUES[number % every :: every]:
            yield f"{path} = {value!r}", dump_with_checksum(changed(about, path, value))


def use(folder, graph):
    """Load and transform; only errors that the user can correct may occur."""
    with warnings.catch_warnings(action="ignore", category=GraphproxWarning):
        try:
            vectors = load_embedder(folder, device="cpu").transform(graph)
        except GraphproxError as error:
            check_sentence(error)
            return None
    assert vectors.ndim == 2
    assert len(vectors) == graph.num_nodes
    assert np.isfinite(vectors).all()
    return vectors


def check_sentence(error):
    """Check that the command line would print one sentence, and exit with 2 if it is an error."""
    text = str(error)
    assert text
    assert "\n" not in text
    assert len(text) < 600
    assert getattr(error, "exit_code", 2) == 2


@EVERY
def test_every_field_of_a_description_can_be_wrong(saved, tmp_path, every):
    graph, original = saved
    folder = shutil.copytree(original, tmp_path / "model")
    about = json.loads((folder / ABOUT).read_text())
    del about["checksum"]
    rejected = 0
    for what, text in some_mutations(about, every):
        (folder / ABOUT).write_text(text)
        try:
            rejected += use(folder, graph) is None
        except Exception as error:
            error.add_note(what)
            raise
    assert rejected > 20


def seal(folder, name, content, key):
    """Write a file of a model, and its checksum to the description."""
    (folder / name).write_bytes(content)
    about = json.loads((folder / ABOUT).read_text())
    del about["checksum"]
    (folder / ABOUT).write_text(dump_with_checksum({**about, key: checksum(content)}))


def mutations(tensors):
    """List tensors of which one is missing, or has another shape, type or content."""
    for name, tensor in tensors.items():
        changes = {
            "missing": None,
            "empty": tensor[:0] if tensor.ndim else torch.zeros(0),
            "shorter": tensor[:-1] if tensor.ndim else torch.zeros(0),
            "longer": torch.cat([tensor, tensor]) if tensor.ndim else torch.zeros(2),
            "flat": tensor.reshape(-1)[:3],
            "deeper": tensor[None],
            "scalar": torch.tensor(1.0),
            "integers": tensor.to(torch.int64),
            "doubles": tensor.to(torch.float64),
            "truth values": tensor.to(torch.bool),
            "halves": tensor.to(torch.float16),
            "not a number": torch.full(tensor.shape, float("nan")).to(tensor.dtype),
            "infinite": torch.full(tensor.shape, float("inf")).to(tensor.dtype),
            "negative": -torch.ones_like(tensor) if tensor.dtype != torch.bool else tensor,
            "huge": torch.full_like(tensor, torch.finfo(tensor.dtype).max)
            if tensor.is_floating_point()
            else tensor * 2**40,
        }
        for what, change in changes.items():
            others = {each: value for each, value in tensors.items() if each != name}
            yield f"{name}: {what}", others if change is None else {**others, name: change.contiguous()}
    yield "none", {}
    yield "another", {**tensors, "another": torch.zeros(3)}


@EVERY
def test_every_tensor_of_a_model_can_be_wrong(saved, tmp_path, every):
    graph, original = saved
    folder = shutil.copytree(original, tmp_path / "model")
    name, key = (ARRAYS, "arrays") if (folder / ARRAYS).exists() else (WEIGHTS, "weights")
    rejected = 0
    for what, tensors in islice(mutations(load((folder / name).read_bytes())), 0, None, every):
        seal(folder, name, save(tensors), key)
        try:
            rejected += use(folder, graph) is None
        except Exception as error:
            error.add_note(what)
            raise
    assert rejected > 10


def test_every_line_of_a_recipe_can_be_wrong(tmp_path):
    graph = dense()
    FTGCL(**SMALL).fit(graph).save(tmp_path / "model")
    lines, rejected = (tmp_path / "model" / RECIPE).read_text().splitlines(), 0
    for number, line in enumerate(lines):
        name = line.partition("=")[0]
        for new in ["", f"{name}= -1", f"{name}= 'x'", f"{name}= nan", f"{name}= [[1]]", f"{name}= {10**20}", "["]:
            text = "\n".join([*lines[:number], new, *lines[number + 1 :]]) + "\n"
            seal(tmp_path / "model", RECIPE, text.encode(), "recipe")
            try:
                rejected += use(tmp_path / "model", graph) is None
            except Exception as error:
                error.add_note(f"{line!r} -> {new!r}")
                raise
    assert rejected > 4 * len(lines)
    seal(tmp_path / "model", RECIPE, b"\xff\xfe", "recipe")
    assert use(tmp_path / "model", graph) is None


# -- checkpoints ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A graph, a folder with a checkpoint after four epochs, and the vectors after five epochs without a break."""
    graph, folder = dense(), tmp_path_factory.mktemp("checkpoints") / "model"
    FTGCL(**SMALL, checkpoint_dir=folder, checkpoint_every=4).fit(graph)
    return graph, folder, FTGCL(**{**SMALL, "epochs": 5}).fit_transform(graph)


def resume(graph, original, place, **files):
    """Resume from a copy of a folder with another checkpoint.

    Returns the vectors, None after an error that the user can correct, and whether the checkpoint was found damaged.
    """
    folder = shutil.copytree(original, place)
    for suffix, content in files.items():
        (folder / CHECKPOINTS / f"epoch-00000004.{suffix}").write_bytes(content)
    try:
        with warnings.catch_warnings(record=True, action="always", category=GraphproxWarning) as caught:
            vectors = FTGCL(**{**SMALL, "epochs": 5}, checkpoint_dir=folder, resume=True).fit_transform(graph)
    except GraphproxError as error:
        check_sentence(error)
        return None, False
    finally:
        shutil.rmtree(folder)
    damages = [each.message for each in caught if issubclass(each.category, DamagedCheckpointWarning)]
    for message in damages:
        check_sentence(message)
    assert np.isfinite(vectors).all()
    return vectors, bool(damages)


def describe(folder):
    about = json.loads((folder / CHECKPOINTS / "epoch-00000004.json").read_text())
    del about["checksum"]
    return about


def is_same_type(mutated, tensors):
    """Whether tensors differ in numbers alone, which a valid checksum vouches for."""
    return all(
        name in mutated and (mutated[name].shape, mutated[name].dtype) == (tensor.shape, tensor.dtype)
        for name, tensor in tensors.items()
    )


def test_a_resumed_run_gives_the_vectors_of_one_without_a_break(trained, tmp_path):
    graph, folder, known = trained
    vectors, is_damaged = resume(graph, folder, tmp_path / "copy")
    assert (vectors.tobytes(), is_damaged) == (known.tobytes(), False)


@EVERY
def test_every_field_of_a_checkpoint_can_be_wrong(trained, tmp_path, every):
    graph, folder, known = trained
    for what, text in some_mutations(describe(folder), every):
        try:
            vectors, is_damaged = resume(graph, folder, tmp_path / "copy", json=text.encode())
            assert vectors is None or (is_damaged and np.array_equal(vectors, known))
        except BaseException as error:
            error.add_note(what)
            raise


@pytest.mark.parametrize("every", [13, pytest.param(1, marks=pytest.mark.slow)])
def test_every_tensor_of_a_checkpoint_can_be_wrong(trained, tmp_path, every):
    graph, folder, known = trained
    about, original = describe(folder), (folder / CHECKPOINTS / "epoch-00000004.safetensors").read_bytes()
    tensors, rejected = load(original), 0
    for what, mutated in islice(mutations(tensors), 0, None, every):
        content = save(mutated)
        description = dump_with_checksum({**about, "sha256": checksum(content)}).encode()
        try:
            vectors, is_damaged = resume(graph, folder, tmp_path / "copy", json=description, safetensors=content)
            if is_damaged:
                assert np.array_equal(vectors, known)
            elif vectors is not None:
                assert is_same_type(mutated, tensors) or np.array_equal(vectors, known)
        except BaseException as error:
            error.add_note(what)
            raise
        rejected += vectors is None or is_damaged
    assert rejected > 10


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "NaN", "[]", '"x"', "3", "null", '{"format": {}}'])
def test_description_that_is_no_table_is_damaged(saved, tmp_path, text):
    graph, original = saved
    folder = shutil.copytree(original, tmp_path / "model")
    (folder / ABOUT).write_text(text)
    assert use(folder, graph) is None
