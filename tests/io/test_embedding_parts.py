"""Folder of parts: a file for each process, written together, and nothing of other programs replaced."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest

from graphprox import Embedding, write_embedding
from graphprox.errors import WriteError
from graphprox.io.embedding_writer import check_writable

EMBEDDING = Embedding(np.arange(10, dtype=np.float32).reshape(5, 2), np.array([4, 3, 2, 1, 0]))


def test_name_without_ending_is_a_folder_of_parquet_files(tmp_path):
    (file,) = write_embedding(tmp_path / "new" / "vectors", EMBEDDING)
    assert file == tmp_path / "new" / "vectors" / "part-00000.parquet"
    table = pq.read_table(file.parent)
    assert table["id"].to_pylist() == [4, 3, 2, 1, 0]
    np.testing.assert_array_equal(np.stack(table["vector"].to_pylist()), EMBEDDING.vectors)


def test_parts_of_an_older_embedding_are_replaced(tmp_path):
    for number in range(3):
        (tmp_path / f"part-{number:05d}.parquet").write_text("older")
    write_embedding(tmp_path, EMBEDDING)
    assert [path.name for path in tmp_path.iterdir()] == ["part-00000.parquet"]
    assert pq.read_table(tmp_path).num_rows == 5


def test_folder_with_other_files_is_not_used(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    for check in (check_writable, lambda path: write_embedding(path, EMBEDDING)):
        with pytest.raises(WriteError, match=r"must be new, empty, or that of an older one; .* has notes\.txt: name "):
            check(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
