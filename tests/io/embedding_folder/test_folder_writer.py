"""Embedding folders: parts of a bounded number of rows, which other programs read as one table.

Covers graphprox.io.embedding_folder.part_tables.
"""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from graphprox import Embedding, ParameterError, WriteError, read_embedding, write_embedding
from graphprox._utils.team import Team, share_work
from graphprox.auto.row_store import read_only
from graphprox.io.embedding_folder import folder_writer, part_tables

EMBEDDING = Embedding(np.arange(60, dtype=np.float32).reshape(30, 2), np.arange(30)[::-1].copy())


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(folder_writer, "ROWS_PER_PART", 8)
    monkeypatch.setattr(part_tables, "ROWS_PER_GROUP", 3)


def test_name_without_ending_is_a_folder_of_parts_in_the_order_of_the_nodes(tmp_path):
    files = write_embedding(f"{tmp_path}/new/vectors/", EMBEDDING)
    assert files == [tmp_path / "new" / "vectors" / f"part-0000{i}.parquet" for i in range(4)]
    assert [pq.read_metadata(file).num_rows for file in files] == [7, 8, 7, 8]
    assert [pq.read_metadata(file).num_row_groups for file in files] == [3, 3, 3, 3]
    table = pq.read_table(files[0].parent)  # skips the description
    assert table["id"].to_pylist() == EMBEDDING.ids.tolist()
    np.testing.assert_array_equal(np.stack(table["vector"].to_pylist()), EMBEDDING.vectors)
    assert len(pd.read_parquet(files[0].parent)) == 30
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["vectors"]


@pytest.mark.parametrize("layout", ["list", "wide"])
def test_duckdb_reads_all_parts_by_a_pattern(tmp_path, layout):
    duckdb = pytest.importorskip("duckdb")
    EMBEDDING.save(tmp_path / "vectors", layout=layout)
    first = "vector[1]" if layout == "list" else '"0"'
    rows = duckdb.sql(f"SELECT id, {first} FROM '{tmp_path}/vectors/*.parquet' ORDER BY id DESC").fetchall()
    assert rows == list(zip(EMBEDDING.ids.tolist(), EMBEDDING.vectors[:, 0].tolist(), strict=True))


def test_description_lists_sizes_and_checksums(tmp_path):
    write_embedding(tmp_path / "v", EMBEDDING.vectors.astype(np.float64), [f"n{i}" for i in range(30)])
    about = json.loads((tmp_path / "v" / "_embedding.json").read_text())
    assert {key: about[key] for key in ("num_nodes", "n_components", "dtype", "layout")} == {
        "num_nodes": 30, "n_components": 2, "dtype": "float64", "layout": "list",
    }  # fmt: skip
    assert sum(part["rows"] for part in about["parts"]) == 30
    assert about["versions"]["graphprox"]
    assert all(part["file"]["size"] == (tmp_path / "v" / part["name"]).stat().st_size for part in about["parts"])


def test_memory_map_is_written_in_blocks_whose_pages_are_released(tmp_path, monkeypatch):
    vectors = np.memmap(tmp_path / "rows", np.float32, "w+", shape=(30, 4))
    vectors[:] = np.random.default_rng(0).random((30, 4))
    mapped = Embedding(read_only(vectors))
    assert np.shares_memory(mapped.vectors, vectors)  # not copied
    released, copied = [], []
    make_table = part_tables.make_table

    def count_rows(rows, *rest):
        copied.append(len(rows))
        return make_table(rows, *rest)

    monkeypatch.setattr(part_tables, "release_pages", lambda block: released.append(np.shares_memory(block, vectors)))
    monkeypatch.setattr(part_tables, "make_table", count_rows)
    mapped.save(tmp_path / "v")
    assert (released, max(copied)) == ([True] * 12, 3)
    np.testing.assert_array_equal(read_embedding(tmp_path / "v").vectors, vectors)


@pytest.mark.parametrize("name", ["v.parquet/", "runs/v.1/"])
def test_slash_after_an_ending_is_rejected(tmp_path, name):
    with pytest.raises(ParameterError, match=r"must have a name without an ending; got '.*/': leave out '\.[p1]"):
        write_embedding(f"{tmp_path}/{name}", EMBEDDING)
    assert list(tmp_path.iterdir()) == []


def test_failure_leaves_nothing(tmp_path, monkeypatch):
    def fail(path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folder_writer, "flush_file", fail)
    with pytest.raises(WriteError, match="v cannot be written: No space left on device; no partial folder is left"):
        EMBEDDING.save(tmp_path / "v")
    assert list(tmp_path.iterdir()) == []


class BlindTeam(Team):
    """A team of two, of which this is the second process, on a machine of its own."""

    rank, size = 1, 2

    def all_rows(self, num_rows):
        return [slice(0, 0), slice(0, num_rows)]


@pytest.mark.parametrize("write", [EMBEDDING.save, folder_writer.check_is_shared_folder])
def test_folder_that_processes_do_not_share_is_rejected(tmp_path, write):
    with (
        share_work(BlindTeam()),
        pytest.raises(WriteError, match=r"must be on a file system that all of them share; .*v is not: name such"),
    ):
        write(tmp_path / "v")
    assert list(tmp_path.iterdir()) == []
