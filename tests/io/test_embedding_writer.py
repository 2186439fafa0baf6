"""Written embeddings are read back exactly by the programs that the formats are for."""

from __future__ import annotations

import csv
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from graphprox import Graph, GraphproxError, ParameterError, WriteError, read_graph, write_embedding
from graphprox.io import embedding_writer as module
from graphprox.io.embedding_folder import part_tables
from graphprox.io.embedding_reader import read_embedding

VECTORS = np.array([[1, -0.1], [3e-20, 4.5], [0, 16777216]], np.float32)
ENDINGS = (".parquet", ".npz", ".npy", ".csv", ".txt", ".w2v", ".tsv")


@st.composite
def embeddings(draw):
    """Vectors with ids that every format can represent."""
    floats = st.floats(width=32, allow_nan=False, allow_infinity=False)
    vectors = draw(arrays(np.float32, st.tuples(st.integers(1, 8), st.integers(1, 5)), elements=floats))
    letters = st.characters(exclude_categories=["C", "Z"])
    words = st.text(letters, min_size=1, max_size=6).map(lambda word: "x" + word)
    kind = st.integers(-(2**63), 2**63 - 1) if draw(st.booleans()) else words
    return vectors, draw(st.lists(kind, min_size=len(vectors), max_size=len(vectors), unique=True))


# -- readers of others ----------------------------------------------------------------------------------------------


def by_word2vec(path):
    """As gensim's KeyedVectors.load_word2vec_format reads it."""
    with path.open(encoding="utf-8", newline="\n") as file:
        rows, columns = map(int, next(file).split())
        cells = [line.rstrip("\n").split(" ") for line in file]
    assert len(cells) == rows
    assert all(len(each) == columns + 1 for each in cells)
    return [each[0] for each in cells], np.array([each[1:] for each in cells], np.float32)


def by_projector(path):
    """Read two tables without headers, with corresponding rows."""
    metadata = path.with_name(f"{path.stem}.metadata.tsv").read_bytes().decode().split("\n")
    assert metadata.pop() == ""
    vectors = [row.split("\t") for row in path.read_text().splitlines()]
    return metadata, np.array(vectors, np.float32)


def by_lists(path):
    """As a vector store reads it: an id and a list of fixed size per row."""
    table = pyarrow.parquet.read_table(path)
    assert table.column_names == ["id", "vector"]
    assert pa.types.is_fixed_size_list(table.schema.types[1])
    return table["id"].to_pylist(), np.array(table["vector"].to_pylist())


def by_numpy(path):
    with np.load(path, allow_pickle=False) as arrays:
        assert arrays.files == ["ids", "vectors"]
        return arrays["ids"].tolist(), arrays["vectors"]


def by_pandas(path):
    by_text = {"dtype": str, "keep_default_na": False}
    table = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path, **by_text)
    assert list(table.columns) == ["id", *(str(i) for i in range(table.shape[1] - 1))]
    return table["id"].tolist(), table.drop(columns="id").to_numpy(np.float32)


READERS = {
    ".parquet": by_lists,
    ".npz": by_numpy,
    ".csv": by_pandas,
    ".txt": by_word2vec,
    ".w2v": by_word2vec,
    ".tsv": by_projector,
}
TYPED = (".parquet", ".npz")  # ids are integers or strings, as they were given


@pytest.mark.parametrize("ending", ENDINGS)
@given(given=embeddings())
@settings(max_examples=40)
def test_every_format_round_trips(ending, given):
    vectors, ids = given
    with TemporaryDirectory() as folder:
        path = Path(folder, f"vectors{ending}")
        written = write_embedding(path, vectors, ids)
        assert sorted(written) == sorted(Path(folder).iterdir())
        if ending == ".npy":
            back = np.load(path)
            assert back.dtype == np.float32
        else:
            names, back = READERS[ending](path)
            assert names == (ids if ending in TYPED else [str(each) for each in ids])
    assert np.array_equal(back, vectors)


def test_parquet_preserves_dtypes(tmp_path):
    for vectors, ids, names, lists in (
        (VECTORS, [1, 2, 3], "int64", "float"),
        (VECTORS.astype(np.float64), ["a", "b", "c"], "string", "double"),
    ):
        write_embedding(tmp_path / "v.parquet", vectors, ids)
        schema = pyarrow.parquet.read_schema(tmp_path / "v.parquet")
        kinds = [str(kind) for kind in schema.types]
        assert (schema.names, kinds) == (["id", "vector"], [names, f"fixed_size_list<element: {lists}>[2]"])
        write_embedding(tmp_path / "v.parquet", vectors, ids, layout="wide")
        schema = pyarrow.parquet.read_schema(tmp_path / "v.parquet")
        assert (schema.names, [str(kind) for kind in schema.types]) == (["id", "0", "1"], [names, lists, lists])


@pytest.mark.parametrize(
    ("name", "layout", "words"),
    [
        ("v.csv", "wide", r"layout must be left out, except for a \.parquet file or a folder; got 'v.csv'"),
        ("v.npz", "list", r"layout must be left out, except for a \.parquet file or a folder; got 'v.npz'"),
        ("v.parquet", "long", "layout must be one of list, wide; got 'long'"),
    ],
)
def test_layouts_are_those_of_parquet(tmp_path, name, layout, words):
    with pytest.raises(ParameterError, match=words):
        write_embedding(tmp_path / name, VECTORS, layout=layout)
    assert list(tmp_path.iterdir()) == []


def test_ids_with_a_nul_are_not_written_to_csv(tmp_path):
    with pytest.raises(WriteError, match=r"^ids in a CSV file must not contain a NUL character; write \.parquet"):
        write_embedding(tmp_path / "emb.csv", np.eye(2), ids=["a", "b\0c"])
    assert not list(tmp_path.iterdir())


def test_npz_has_plain_arrays_and_equal_embeddings_have_equal_bytes(tmp_path):
    for name in ("a.npz", "b.npz"):
        write_embedding(tmp_path / name, VECTORS, np.array(["ä", "bob", ""], dtype=object))
    assert by_numpy(tmp_path / "a.npz")[0] == ["ä", "bob", ""]
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    with pytest.raises(WriteError, match=r"NUL character; write \.parquet instead"):
        write_embedding(tmp_path / "c.npz", VECTORS, ["a", "b\0", "c"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npz", "b.npz"]


@pytest.mark.parametrize("ids", [['5" disk', "a,b", "c\td"], ["two\nlines", "'", ""], [" led", "007", "#tag"]])
@pytest.mark.parametrize("ending", [".csv", ".parquet", ".npz"])
def test_ids_with_special_characters_round_trip_in_quoted_formats(tmp_path, ids, ending):
    write_embedding(tmp_path / f"v{ending}", VECTORS, ids)
    assert READERS[ending](tmp_path / f"v{ending}")[0] == ids
    if ending == ".csv":
        with (tmp_path / "v.csv").open(newline="") as file:
            assert [row[0] for row in csv.reader(file)] == ["id", *ids]


def test_quotes_in_ids_are_ordinary_characters_in_unquoted_formats(tmp_path):
    ids = ['5"', '"a"', "b'c"]
    for ending in (".txt", ".tsv"):
        write_embedding(tmp_path / f"v{ending}", VECTORS, ids)
        assert READERS[ending](tmp_path / f"v{ending}")[0] == ids


@pytest.mark.parametrize(
    ("ending", "name"),
    [(".txt", "New York"), (".w2v", "a\tb"), (".txt", "a\u00a0b"), (".txt", "a\u2028b"), (".txt", ""), (".tsv", "a\tb"),
     (".tsv", "a\nb"), (".tsv", "a\rb")],
)  # fmt: skip
def test_ids_that_a_format_cannot_represent_are_rejected(tmp_path, ending, name):
    with pytest.raises(WriteError, match=r"whitespace that ends a cell.*write \.parquet instead"):
        write_embedding(tmp_path / f"v{ending}", VECTORS, ["a", name, "c"])
    assert list(tmp_path.iterdir()) == []


def test_ids_default_to_row_numbers(tmp_path):
    write_embedding(tmp_path / "v.txt", VECTORS)
    assert by_word2vec(tmp_path / "v.txt")[0] == ["0", "1", "2"]


def test_the_ids_of_a_graph_are_written(tmp_path):
    graph = Graph(VECTORS, [[0, 1], [1, 2]], node_ids=["c", "a", "b"])
    write_embedding(tmp_path / "v.csv", graph.x, graph.ids)
    assert by_pandas(tmp_path / "v.csv")[0] == ["c", "a", "b"]


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".npz"])
@pytest.mark.parametrize("ids", [["007", "7", "x"], [5, -3, 0], ["id", "node", "name"]])
def test_written_embeddings_can_be_read_as_features(tmp_path, ending, ids):
    write_embedding(tmp_path / f"v{ending}", VECTORS, ids)
    pd.DataFrame({"source": ids[:2], "target": ids[1:]}).to_parquet(tmp_path / "e.parquet")
    graph = read_graph(tmp_path / "e.parquet", features=tmp_path / f"v{ending}")
    assert graph.ids.tolist() == ids
    assert np.array_equal(graph.x, VECTORS)


def test_parquet_of_one_group_has_the_bytes_of_pyarrow(tmp_path):
    vectors, ids = np.random.default_rng(0).random((30, 4), np.float32), np.arange(30)
    write_embedding(tmp_path / "ours.parquet", vectors, ids)
    pa.parquet.write_table(part_tables.make_table(vectors, ids), tmp_path / "theirs.parquet", use_dictionary=False)
    assert (tmp_path / "ours.parquet").read_bytes() == (tmp_path / "theirs.parquet").read_bytes()


@pytest.mark.parametrize("words", [False, True])
def test_memory_map_is_written_in_groups_whose_pages_are_released(tmp_path, monkeypatch, words):
    released = []
    for each, size in ((module, "_ROWS_PER_GROUP"), (part_tables, "ROWS_PER_GROUP")):
        monkeypatch.setattr(each, size, 7)
        monkeypatch.setattr(each, "release_pages", released.append)
    vectors = np.memmap(tmp_path / "rows", np.float32, "w+", shape=(30, 4))
    vectors[:] = np.random.default_rng(0).random((30, 4))
    ids = np.array([f"n{i}" for i in range(30)], dtype=object) if words else np.arange(30)
    for name, options in (("emb.npy", {}), ("emb.parquet", {"layout": "wide"}), ("emb.parquet", {})):
        released.clear()
        write_embedding(tmp_path / name, vectors, ids, **options)
        found = read_embedding(tmp_path / name)
        assert len(released) == 5
        np.testing.assert_array_equal(found.vectors, vectors)
        assert found.ids.tolist() == (ids.tolist() if name == "emb.parquet" else list(range(30)))
    assert pa.parquet.ParquetFile(tmp_path / "emb.parquet").num_row_groups == 5


def test_rows_written_in_blocks_are_complete(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_ROWS_PER_BLOCK", 7)
    vectors = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    for ending in (".txt", ".tsv"):
        write_embedding(tmp_path / f"v{ending}", vectors)
        names, back = READERS[ending](tmp_path / f"v{ending}")
        assert names == [str(i) for i in range(50)]
        assert np.array_equal(back, vectors)


@pytest.mark.parametrize(
    "kind", [np.ndarray.tolist, torch.tensor, np.asfortranarray, lambda array: array.astype(">f4")]
)
@pytest.mark.parametrize("ending", ENDINGS)
def test_any_matrix_is_accepted(tmp_path, kind, ending):
    write_embedding(tmp_path / f"v{ending}", kind(VECTORS))
    back = np.load(tmp_path / "v.npy") if ending == ".npy" else READERS[ending](tmp_path / f"v{ending}")[1]
    assert np.array_equal(back, VECTORS)


@pytest.mark.parametrize(
    ("given", "ids"),
    [
        ([1, 2], None),
        (np.empty((0, 3)), None),
        (np.empty((3, 0)), None),
        ([["a"]], None),
        ([[1, 2], [3]], None),
        ([[1 + 1j]], None),
        (torch.ones(2, 2, requires_grad=True), None),
        (VECTORS, [1, 2]),
        (VECTORS, [[1], [2], [3]]),
        (VECTORS, "abc"),
        (VECTORS, ["a", "b", "\ud800"]),
    ],
)
def test_invalid_embeddings_are_rejected(tmp_path, given, ids):
    with pytest.raises(ParameterError):
        write_embedding(tmp_path / "v.csv", given, ids)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["v.doc", "v.xlsx", "v.csv.gz"])
def test_an_unknown_ending_is_rejected(tmp_path, name):
    with pytest.raises(GraphproxError, match=r"one of \.parquet, .*; got 'v"):
        write_embedding(tmp_path / name, VECTORS)


def test_endings_are_case_insensitive_and_paths_may_be_strings(tmp_path):
    assert write_embedding(f"{tmp_path}/v.TSV", VECTORS) == [tmp_path / "v.TSV", tmp_path / "v.metadata.tsv"]


def test_ids_of_the_projector_are_not_empty(tmp_path):
    with pytest.raises(WriteError, match="must not be empty"):
        write_embedding(tmp_path / "e.tsv", [[1.0], [2.0]], ids=["a", ""])


def test_a_device_is_rejected_by_its_path():
    with pytest.raises(WriteError, match=r"must be a regular file with one of the endings .*; got '/dev/null'"):
        module.check_writable(Path("/dev/null"))
