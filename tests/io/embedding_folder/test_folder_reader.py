"""Embedding folders are read back exactly, and one that is not complete is not read.

Covers graphprox.io.embedding_folder.embedding_description.
"""

from __future__ import annotations

import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest

from graphprox import Embedding, ReadError, read_embedding
from graphprox._utils.mapped import is_mapped
from graphprox.auto import row_store
from graphprox.io.embedding_folder import embedding_description, folder_reader, folder_writer
from graphprox.io.folder.description import describe_file

VECTORS = np.random.default_rng(0).random((20, 3))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(folder_writer, "ROWS_PER_PART", 6)
    monkeypatch.setattr(folder_reader, "_ROWS_PER_BATCH", 4)
    Embedding(VECTORS.astype(np.float32)).save(tmp_path / "v")
    return tmp_path / "v"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", ["list", "wide"])
@pytest.mark.parametrize("ids", [[*range(20, 0, -1)], [f"n{i}" for i in range(20)]])
def test_folder_round_trips(folder, dtype, layout, ids):
    given = Embedding(VECTORS.astype(dtype), ids)
    given.save(folder, layout=layout, overwrite=True)
    found = Embedding.load(folder)
    assert found.vectors.dtype == dtype
    np.testing.assert_array_equal(found.vectors, given.vectors)
    assert found.ids.tolist() == ids


def test_folder_may_have_any_name_and_files_beside_its_parts(folder):
    renamed = folder.rename(folder.with_name("v.2"))
    (renamed / "notes.txt").write_text("mine")
    np.testing.assert_array_equal(read_embedding(renamed).vectors, VECTORS.astype(np.float32))


def test_vectors_that_memory_does_not_hold_are_mapped(folder, monkeypatch):
    monkeypatch.setattr(row_store, "MEMORY_BYTES", 100)
    found = read_embedding(folder)
    assert is_mapped(found.vectors)
    assert not found.vectors.flags.writeable
    np.testing.assert_array_equal(found.vectors, VECTORS.astype(np.float32))
    assert found.nearest(3, k=2).nodes.tolist() == Embedding(VECTORS).nearest(3, k=2).nodes.tolist()


def remove_part(folder):
    (folder / "part-00002.parquet").unlink()


def add_part(folder):
    shutil.copy(folder / "part-00001.parquet", folder / "part-00007.parquet")


def overwrite_part(folder):
    Embedding(np.zeros((20, 3), np.float32)).save(folder.with_name("other"))
    path = folder.with_name("other") / "part-00000.parquet"
    content = bytearray((folder / path.name).read_bytes())
    content[: path.stat().st_size // 2] = path.read_bytes()[: path.stat().st_size // 2]
    (folder / path.name).write_bytes(content)


def truncate_part(folder):
    path = folder / "part-00001.parquet"
    path.write_bytes(path.read_bytes()[:-9])


def remove_description(folder):
    (folder / "_embedding.json").unlink()


def damage_description(folder):
    path = folder / "_embedding.json"
    path.write_text(path.read_text().replace('"num_nodes": 20', '"num_nodes": 21'))


def describe_again(folder, **changes):
    """Write a description that has the right checksums, of another content."""
    about = embedding_description.read_description(folder)
    parts = [part.model_copy(update={"file": describe_file(folder / part.name)}) for part in about.parts]
    embedding_description.write_description(folder, about.model_copy(update={"parts": tuple(parts), **changes}))


def claim_more_components(folder):
    describe_again(folder, n_components=4)


def shorten_part(folder):
    path = folder / "part-00001.parquet"
    pq.write_table(pq.read_table(path).slice(0, 2), path)
    describe_again(folder)


def rename_columns(folder):
    path = folder / "part-00001.parquet"
    pq.write_table(pq.read_table(path).rename_columns(["node", "vector"]), path)
    describe_again(folder)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (remove_part, r"must have all 4 parts of its embedding; it has no part-00002\.parquet: copy the whole folder"),
        (add_part, r"must have no Parquet files but the 4 parts of its embedding; it has part-00007\.parquet: move it"),
        (overwrite_part, r"part-00000\.parquet is damaged: its content does not match the recorded checksum"),
        (truncate_part, r"part-00001\.parquet is damaged: it has [\d,]+ of [\d,]+ bytes"),
        (
            remove_description,
            r"must have a file _embedding\.json, as graphprox embed writes it; .*v has none",
        ),
        (damage_description, r"_embedding\.json is damaged: its content does not match its checksum"),
        (claim_more_components, r"part-00000\.parquet is damaged: it must have vectors of 4 float32 numbers"),
        (shorten_part, r"part-00001\.parquet is damaged: it must have 5 rows"),
        (rename_columns, r"part-00001\.parquet is damaged: it must have the columns id, vector"),
    ],
)
def test_incomplete_folder_is_rejected(folder, change, words):
    change(folder)
    with pytest.raises(ReadError, match=words):
        read_embedding(folder)


def test_every_node_is_in_one_part(folder):
    about = embedding_description.read_description(folder)
    embedding_description.write_description(folder, about.model_copy(update={"num_nodes": 21}))
    with pytest.raises(ReadError, match=r"must describe an embedding; it does not: its parts must have all nodes$"):
        read_embedding(folder)
