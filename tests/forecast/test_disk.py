"""Forecasts of disk space are near to what files take, and too little space stops a command before any work.

Covers graphprox.auto.auto_disk, graphprox.ftgcl.training_disk and graphprox.io.embedding_sizes.
Covers graphprox.cli.disk_forecast.
"""

from __future__ import annotations

import weakref
from pathlib import Path

import numpy as np
import pytest

from auto.small_blocks import make_small_blocks
from auto.topic_graphs import topic_graph
from graphprox import FTGCL, AutoEmbedder, WriteError, synthetic
from graphprox.auto.row_store import RowStore
from graphprox.auto.stages import Stages, keep_stages
from graphprox.forecast import disk
from graphprox.forecast.disk import DiskUse, check_disk_uses, describe_disk_uses
from graphprox.io.embedding_sizes import embedding_bytes
from graphprox.io.embedding_writer import write_embedding

FACTOR = 1.5


def check_near(forecast, measured):
    assert measured / FACTOR <= forecast <= measured * FACTOR


def folder_size(folder):
    return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())


# -- forecast and measured ------------------------------------------------------------------------------------------


class LiveBytes:
    """Bytes of all arrays in files without names that exist at the same time."""

    def __init__(self):
        self.now = self.most = 0

    def add(self, rows):
        self.change(rows.nbytes)
        weakref.finalize(rows, self.change, -rows.nbytes)

    def change(self, size):
        self.now += size
        self.most = max(self.most, self.now)


@pytest.fixture
def measure(monkeypatch, tmp_path):
    """Fit auto in blocks; returns the largest sizes of rows, stages and the model."""
    make_small_blocks(monkeypatch)
    monkeypatch.setattr("graphprox.auto.row_store.PANEL_BYTES", 1 << 30)
    live, stored = LiveBytes(), [0]
    empty, write = RowStore.empty, Stages._write

    def count_rows(self, *shape):
        live.add(rows := empty(self, *shape))
        return rows

    def count_stages(self, *arguments):
        write(self, *arguments)
        stored.append(folder_size(self.folder))

    monkeypatch.setattr(RowStore, "empty", count_rows)
    monkeypatch.setattr(Stages, "_write", count_stages)

    def measure(embedder, graph, *, is_saved):
        with keep_stages(tmp_path if is_saved else None):
            embedder.fit(graph)
        if is_saved:
            embedder.save(tmp_path)
        return live.most, max(stored), folder_size(tmp_path)

    return measure


@pytest.mark.parametrize("is_saved", [True, False])
@pytest.mark.parametrize(
    ("keep", "half_bytes"), [("auto", 1 << 35), ("features", 1 << 35), ("balanced", 1 << 35), ("balanced", 0)]
)
def test_forecast_of_auto_is_near_to_what_its_files_take(measure, monkeypatch, keep, half_bytes, is_saved):
    monkeypatch.setattr("graphprox.auto.row_store.HALF_BYTES", half_bytes)
    graph = topic_graph(nodes=1001, words=300)
    embedder = AutoEmbedder(n_components=64, keep=keep)
    uses = embedder.disk_use(graph, is_saved=is_saved)
    rows, stages, model = measure(embedder, graph, is_saved=is_saved)
    check_near(uses["work"]["rows that memory does not hold"], rows)
    check_near(uses["model"]["finished stages"], stages)
    check_near(uses["model"]["the model"], model)


def test_small_graph_needs_no_space_but_that_of_its_model():
    uses = AutoEmbedder(n_components=8).disk_use(synthetic(nodes=140), is_saved=True)
    assert uses["work"] == {"rows that memory does not hold": 0}
    assert uses["model"]["finished stages"] == 0
    assert uses["model"]["the model"] > 0


@pytest.mark.parametrize("epochs", [1, 6])
def test_forecast_of_training_is_near_to_what_its_files_take(tmp_path, monkeypatch, epochs):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    graph, sizes = synthetic(nodes=2100), []
    embedder = FTGCL.from_preset(
        "large",
        n_components=16,
        epochs=epochs,
        checkpoint_every=2,
        chunk_size=500,
        checkpoint_dir=tmp_path / "model",
        callbacks=[lambda _: sizes.append(folder_size(tmp_path / "model" / "work"))],
    )
    uses = embedder.disk_use(graph)
    embedder.fit(graph)
    check_near(uses["model"]["propagated features"], max(sizes))
    check_near(uses["cache"]["rankings of views"], folder_size(tmp_path / "cache"))
    weights = (tmp_path / "model" / "weights.safetensors").stat().st_size
    assert weights < uses["model"]["the model and its checkpoints"] < 12 * weights
    assert embedder.count_components(graph) == embedder.vectors_.shape[1]


@pytest.mark.parametrize("name", ["v.parquet", "v.npz", "v.npy", "v.csv", "v.txt", "v.tsv", "v.duckdb", "v"])
@pytest.mark.parametrize("is_text", [False, True])
def test_forecast_of_an_embedding_is_near_to_its_file(tmp_path, name, is_text):
    rows = np.random.default_rng(0).normal(size=(20_000, 24)).astype(np.float32)
    ids = np.array([f"node {i}" if name != "v.txt" else f"n{i}" for i in range(len(rows))], dtype=object)
    ids = ids if is_text else np.arange(len(rows))
    write_embedding(tmp_path / name, rows / np.linalg.norm(rows, axis=1, keepdims=True), ids)
    check_near(embedding_bytes(tmp_path / name, ids, 24), folder_size(tmp_path))


# -- what is shown and refused --------------------------------------------------------------------------------------

USES = [
    DiskUse("the embedding", Path("out"), 1_000_000_000, "--out"),
    DiskUse("finished stages", Path("model"), 8_000_000_000, "--model"),
    DiskUse("rankings of views", Path("cache"), 500_000_000, "XDG_CACHE_HOME"),
]


@pytest.fixture
def two_disks(monkeypatch):
    """Let the cache be on another disk, and set what is free on both."""

    def free(first, second):
        monkeypatch.setattr(disk, "find_disk", lambda folder: folder.name == "cache")
        monkeypatch.setattr(disk, "free_disk_space", lambda folder: second if folder.name == "cache" else first)

    return free


def test_files_are_added_up_by_disk(two_disks):
    two_disks(9_000_000_000, None)
    assert describe_disk_uses(USES) == [
        "9.0 GB on the disk of out and model (1.0 GB for the embedding, 8.0 GB for finished stages); 9.0 GB are free",
        "500 MB on the disk of cache (500 MB for rankings of views)",
    ]
    check_disk_uses(USES, "auto")


def test_too_little_space_is_refused_with_what_to_do(two_disks):
    two_disks(8_900_000_000, 1)
    with pytest.raises(WriteError) as raised:
        check_disk_uses(USES, "auto")
    assert str(raised.value) == (
        "auto must not need more space than is free on a disk; it needs about 9.0 GB on that of out and model (1.0 GB "
        "for the embedding, 8.0 GB for finished stages), and 8.9 GB are free: name a folder on another disk by --model "
        "or --out, or free space"
    )
