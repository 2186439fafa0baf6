"""A damaged folder of a model, and a damaged description of a table, are used or rejected."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pyarrow as pa
import pytest

from fuzz.damage import attempt, damage
from fuzz.examples import MIXED, TYPED
from graphprox import FTGCL, AutoEmbedder, Graph, load_embedder
from graphprox.preprocessing import TableEncoder

REPEATS = 8
SMALL = {"n_components": 4, "hidden_channels": 4, "head_channels": 4, "epochs": 2, "device": "cpu", "cache": False}
MODELS = {"auto": lambda: AutoEmbedder(n_components=4), "ft-gcl": lambda: FTGCL(**SMALL)}
# Values of wrong types, sizes and magnitudes, of which any may take the place of any field.
VALUES = [None, True, -1, 0, 3, 10**30, 0.5, 1e300, float("nan"), float("inf"), "", "x", "\ud800", "\0", [], [[1]], {}]


def users():
    """Return a table of forty nodes with columns of all kinds, and their graph."""
    table = pa.Table.from_pandas(TYPED.drop(columns="id"))
    table = pa.concat_tables([table] * REPEATS).add_column(0, "id", [list(range(5 * REPEATS))])
    nodes = np.arange(5 * REPEATS)
    edges = pa.table({"source": nodes, "target": (nodes * 3 + 1) % len(nodes)})
    return Graph.from_frames(edges, features=table), table


@pytest.fixture(scope="module", params=MODELS)
def saved(request, tmp_path_factory):
    graph, _ = users()
    folder = tmp_path_factory.mktemp("fuzz") / "model"
    MODELS[request.param]().fit(graph).save(folder)
    return graph, folder


def use(folder, graph):
    return load_embedder(folder, device="cpu").transform(graph)


@pytest.mark.parametrize("count", [25, pytest.param(400, marks=pytest.mark.slow)])
def test_bytes_of_every_file_of_a_model_can_be_wrong(saved, tmp_path, count):
    graph, original = saved
    folder = shutil.copytree(original, tmp_path / "model")
    expected = use(folder, graph)
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        content, rejected = path.read_bytes(), 0
        for case in range(count):
            path.write_bytes(damage(content, case))
            found = attempt(use, folder, graph)
            rejected += isinstance(found, Exception)
            if not isinstance(found, Exception):  # of a file that is not needed, or a change without effect
                assert np.array_equal(found, expected)
        path.write_bytes(content)
        assert rejected or path.suffix == ".jsonl", path
    assert np.array_equal(use(folder, graph), expected)


# -- descriptions of tables -----------------------------------------------------------------------------------------


def mutate(value, rng):
    """Return a copy of a description with one change somewhere in it."""
    if isinstance(value, dict | list) and value and rng.random() < 0.8:
        copy = value.copy()
        key = rng.choice(list(value)) if isinstance(value, dict) else int(rng.integers(len(value)))
        kind = rng.choice(["deeper", "deeper", "deeper", "remove", "repeat"])
        if kind == "deeper":
            copy[key] = mutate(value[key], rng)
        elif kind == "remove":
            del copy[key]
        elif isinstance(copy, list):
            copy.append(copy[key])
        else:
            copy[f"{key}2"] = copy[key]
        return copy
    return VALUES[rng.integers(len(VALUES))]


def transform(description, table):
    x = TableEncoder.from_dict(description).transform(table)
    return Graph(x, [[0], [1]]).x  # which rejects infinite ones


@pytest.mark.parametrize("count", [400, pytest.param(10_000, marks=pytest.mark.slow)])
def test_a_description_of_a_table_can_be_wrong(count):
    table = pa.Table.from_pandas(MIXED.drop(columns="id"), preserve_index=False)
    stored = TableEncoder.fit(table).to_dict()
    width = transform(stored, table).shape[1]
    rejected = 0
    for case in range(count):
        rng = np.random.default_rng(case)
        broken = mutate(json.loads(json.dumps(stored)), rng)
        # Whoever loads a model expects a ValueError.
        found = attempt(transform, broken, table, also=[ValueError])
        rejected += isinstance(found, Exception)
        if not isinstance(found, Exception):
            assert np.isfinite(found.sum(dtype=np.float64)), broken
            assert found.shape[1] <= 2 * width
    assert 0 < rejected < count
