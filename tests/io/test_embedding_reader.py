"""Embeddings of every format are read exactly, or refused with a reason.

Covers graphprox.io.word2vec and graphprox.io.tables.list_columns.
"""

from __future__ import annotations

import gzip
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from graphprox import AssumedInputWarning, GraphproxError, ReadError, write_embedding
from graphprox.io.embedding_reader import read_embedding

VECTORS = np.array([[1, -0.1], [3e-20, 4.5], [0, 16777216]], np.float32)
ENDINGS = (".parquet", ".npz", ".npy", ".csv", ".txt", ".w2v", ".tsv")


@st.composite
def embeddings(draw):
    """Vectors with ids that every format contains."""
    bits = draw(st.sampled_from([32, 64]))
    floats = st.floats(width=bits, allow_nan=False, allow_infinity=False)
    shape = st.tuples(st.integers(1, 8), st.integers(1, 5))
    vectors = draw(arrays(f"f{bits // 8}", shape, elements=floats)) + 0.0  # no -0, which is an integer in text
    letters = st.characters(exclude_categories=["C", "Z"])
    words = st.text(letters, min_size=1, max_size=6).map(lambda word: "x" + word)
    kind = st.integers(-(2**63), 2**63 - 1) if draw(st.booleans()) else words
    return vectors, draw(st.lists(kind, min_size=len(vectors), max_size=len(vectors), unique=True))


def content(embedding):
    """The ids, their type, and the vectors of an embedding."""
    return embedding.ids.tolist(), embedding.ids.dtype, embedding.vectors.tolist()


def expected(vectors, ids):
    """The content of an embedding of these vectors and ids."""
    return list(ids), np.dtype(object if isinstance(ids[0], str) else np.int64), np.asarray(vectors).tolist()


# -- files of graphprox ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
@given(given=embeddings())
@settings(max_examples=60)
def test_round_trip(ending, given):
    vectors, ids = given
    with TemporaryDirectory() as folder:
        path = Path(folder, f"vectors{ending}")
        written = write_embedding(path, vectors, ids)
        back = read_embedding(path)
        assert back.ids.tolist() == ([*range(len(ids))] if ending == ".npy" else ids)
        if vectors.dtype == np.float32 or ending in (".parquet", ".npz", ".npy"):
            assert back.vectors.dtype == vectors.dtype
            assert np.array_equal(back.vectors, vectors)
        # Text has no types, but no digit is lost.
        before = [each.read_bytes() for each in written]
        del back  # it may be a memory map of the file that is written again
        again = read_embedding(path)
        write_embedding(Path(folder, f"vectors2{ending}"), again.vectors, ids if ending == ".npy" else again.ids)
        after = [Path(folder, each.name.replace("vectors", "vectors2")).read_bytes() for each in written]
        assert after == before


def test_float32_is_used_if_no_digit_is_lost(write):
    assert read_embedding(write("a.csv", "id,0\na,0.1\nb,0.12345679\n")).vectors.dtype == np.float32
    double = read_embedding(write("b.csv", "id,0\na,0.1\nb,0.123456789012\n")).vectors
    assert (double.dtype, double.tolist()) == (np.float64, [[0.1], [0.123456789012]])


@pytest.mark.parametrize("ids", [['5" disk', "a,b", "c\td"], ["two\nlines", "'", "id"], [" led", "007", "#tag"]])
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_ids_with_special_characters_round_trip_in_quoted_formats(tmp_path, ids, ending):
    write_embedding(tmp_path / f"v{ending}", VECTORS, ids)
    assert content(read_embedding(tmp_path / f"v{ending}")) == expected(VECTORS, ids)


@pytest.mark.parametrize("ids", [['5"', '"a"', "b'c"], ["#tag", "%", "nan"], ["007", "7", "8"], ["NA", "-0", "1e5"]])
@pytest.mark.parametrize("ending", [".txt", ".tsv"])
def test_quotes_and_hashes_are_ordinary_characters_in_unquoted_formats(tmp_path, ids, ending):
    write_embedding(tmp_path / f"v{ending}", VECTORS, ids)
    assert content(read_embedding(tmp_path / f"v{ending}")) == expected(VECTORS, ids)


@pytest.mark.parametrize("ending", [".csv", ".txt", ".tsv"])
def test_text_may_be_gzipped(tmp_path, ending):
    for path in write_embedding(tmp_path / f"v{ending}", VECTORS, ["a", "b", "c"]):
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
        path.unlink()
    assert content(read_embedding(tmp_path / f"v{ending}.gz")) == expected(VECTORS, ["a", "b", "c"])


def test_endings_are_case_insensitive_and_paths_may_be_strings(tmp_path):
    write_embedding(tmp_path / "v.TSV", VECTORS, [5, 3, 4])
    assert content(read_embedding(f"{tmp_path}/v.TSV")) == expected(VECTORS, [5, 3, 4])


@pytest.mark.slow
def test_a_row_may_be_longer_than_a_parser_block(tmp_path):
    wide = np.random.default_rng(0).normal(size=(2, 100_000)).astype(np.float32)
    write_embedding(tmp_path / "v.txt", wide)
    assert (tmp_path / "v.txt").stat().st_size > 2 << 20
    assert content(read_embedding(tmp_path / "v.txt")) == expected(wide, [0, 1])


# -- files of others ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("ann,1,-0.1\nbob,3e-20,4.5\ncy,0,16777216\n", ["ann", "bob", "cy"]),
        ("word,one,two\nann,1,-0.1\nbob,3e-20,4.5\ncy,0,16777216\n", ["ann", "bob", "cy"]),
        ("7,1,-0.1\n-3,3e-20,4.5\n4,0,16777216\n", [7, -3, 4]),
        ("id;a;b\n7;1;-0.1\n5;3e-20;4.5\n4;0;16777216\n", [7, 5, 4]),
        ("node\ta\tb\r\n7\t+1.\t-.1\r\n5\t3e-20\t4.5\r\n4\t0\t16777216\r\n", [7, 5, 4]),
        ("1.0,-0.1\n3e-20,4.5\n0,16777216\n", [0, 1, 2]),
        ("a,b\n1.0,-0.1\n3e-20,4.5\n0,16777216\n", [0, 1, 2]),
        (pd.DataFrame(VECTORS).to_csv(index=False), [0, 1, 2]),
        (pd.DataFrame(VECTORS).to_csv(index=False, header=False), [0, 1, 2]),
        (pd.DataFrame(VECTORS).to_csv(), [0, 1, 2]),
        (pd.DataFrame(VECTORS, index=["a", "b", "c"]).to_csv(), ["a", "b", "c"]),
        (pd.DataFrame(VECTORS, index=[5, 3, 4]).to_csv(header=False), [5, 3, 4]),
        ("007,1,-0.1\n012,3e-20,4.5\n013,0,16777216\n", ["007", "012", "013"]),
        ("id,a,b\n0.5,1,-0.1\n1.5,3e-20,4.5\n2.5,0,16777216\n", ["0.5", "1.5", "2.5"]),
    ],
)
def test_csv_of_other_programs(write, text, ids):
    assert content(read_embedding(write("v.csv", text))) == expected(VECTORS, ids)


def test_a_single_column_of_numbers_has_no_ids(write):
    assert content(read_embedding(write("v.csv", "3\n3\n0\n"))) == expected([[3], [3], [0]], [0, 1, 2])


@pytest.mark.parametrize(
    ("table", "ids"),
    [
        (pd.DataFrame(VECTORS), [0, 1, 2]),
        (pd.DataFrame(VECTORS, columns=["x", "y"]), [0, 1, 2]),
        (pd.DataFrame(VECTORS, index=["a", "b", "c"]), ["a", "b", "c"]),
        (pd.DataFrame(VECTORS, index=[5, 3, 4]), [5, 3, 4]),
        (pd.DataFrame(VECTORS).assign(id=[5, 3, 4]).set_index("id"), [5, 3, 4]),
        (pd.DataFrame({"id": [5.0, 3.0, 4.0], "x": VECTORS[:, 0], "y": VECTORS[:, 1]}), [5, 3, 4]),
        (pd.DataFrame({"name": ["a", "b", "c"], "embedding": list(VECTORS)}), ["a", "b", "c"]),
        (pd.DataFrame({"name": ["a", "b", "c"], "title": ["", "", ""], "vector": list(VECTORS)}), ["a", "b", "c"]),
        (pd.DataFrame({"embedding": list(VECTORS)}), [0, 1, 2]),
    ],
)
def test_parquet_of_other_programs(tmp_path, table, ids):
    table.columns = table.columns.astype(str)
    table.to_parquet(tmp_path / "v.pq")
    read = read_embedding(tmp_path / "v.pq")
    assert content(read) == expected(VECTORS, ids)
    assert read.vectors.dtype == np.float32


def test_integer_columns_named_by_their_position_are_not_ids(tmp_path):
    codes = np.array([[1, 0], [1, 1]], np.int8)
    pd.DataFrame(codes, columns=["0", "1"]).to_parquet(tmp_path / "v.parquet")
    assert content(read_embedding(tmp_path / "v.parquet")) == expected(codes, [0, 1])


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        (pa.list_(pa.float32()), np.float32),
        (pa.list_(pa.float64()), np.float64),
        (pa.large_list(pa.float32()), np.float32),
        (pa.list_(pa.float32(), 2), np.float32),
        (pa.list_(pa.float64(), 2), np.float64),
    ],
)
def test_lists_of_any_kind_are_vectors(tmp_path, kind, dtype):
    vectors = pa.array(VECTORS.tolist(), kind)
    pa.parquet.write_table(pa.table({"id": [3, 1, 2], "v": vectors}), tmp_path / "v.parquet", row_group_size=2)
    read = read_embedding(tmp_path / "v.parquet")
    assert content(read) == expected(VECTORS, [3, 1, 2])
    assert read.vectors.dtype == dtype


def test_a_table_of_a_vector_store_has_other_columns_in_any_order(tmp_path):
    lists = VECTORS.tolist()
    columns = {"vector": lists, "title": ["x", "y", "z"], "tags": [["t"], [], ["u"]], "id": ["a", "b", "c"]}
    pa.parquet.write_table(pa.table(columns), tmp_path / "v.parquet")
    assert content(read_embedding(tmp_path / "v.parquet")) == expected(VECTORS, ["a", "b", "c"])


def test_files_of_both_layouts_are_equal(tmp_path):
    write_embedding(tmp_path / "list.parquet", VECTORS, ["a", "b", "c"])
    write_embedding(tmp_path / "wide.parquet", VECTORS, ["a", "b", "c"], layout="wide")
    lists, wide = (content(read_embedding(tmp_path / f"{name}.parquet")) for name in ("list", "wide"))
    assert lists == wide == expected(VECTORS, ["a", "b", "c"])


@pytest.mark.parametrize("ending", ["txt", "w2v", "vec", "emb"])
@pytest.mark.parametrize("end", ["\n", " \n", "\r\n", " \r\n", "\n\n"])
def test_word2vec_of_other_programs(write, ending, end):
    text = end.join(["3 2", "</s> 1 -0.1", "b 3e-20 4.5", "c 0 16777216", ""])
    assert content(read_embedding(write(f"v.{ending}", text))) == expected(VECTORS, ["</s>", "b", "c"])


def test_the_first_of_several_metadata_columns_contains_the_ids(write):
    path = write("v.tsv", "1\t-0.1\n3e-20\t4.5\n0\t16777216\n")
    write("v.metadata.tsv", 'node\tclass\na"\tx\nb\ty\nc\tx')
    assert content(read_embedding(path)) == expected(VECTORS, ['a"', "b", "c"])


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        (np.asfortranarray, np.float32),
        (lambda array: array.astype(">f8"), np.float64),
        (lambda array: array.astype(np.longdouble), np.float64),
        (lambda array: array.clip(-9, 9).astype(np.int16), np.float32),
        (lambda array: array.clip(-9, 9).astype(np.float16), np.float32),
    ],
)
@pytest.mark.parametrize("ending", ["npy", "npz"])
def test_matrices_of_any_numeric_dtype(tmp_path, kind, dtype, ending):
    (np.save if ending == "npy" else np.savez)(tmp_path / f"v.{ending}", kind(VECTORS))
    read = read_embedding(tmp_path / f"v.{ending}")
    assert content(read) == expected(kind(VECTORS).astype(dtype), [0, 1, 2])
    assert read.vectors.dtype == dtype


@pytest.mark.parametrize(
    ("contents", "ids"),
    [
        ({"embedding": VECTORS, "ids": np.array([5, 3, 4], np.int32)}, [5, 3, 4]),
        ({"embedding": VECTORS, "ids": np.array(["a", "b", "c"]), "y": np.ones(3)}, ["a", "b", "c"]),
        ({"anything": VECTORS, "ids": np.array([b"a", b"b", "ä".encode()])}, ["a", "b", "ä"]),
        ({"anything": VECTORS}, [0, 1, 2]),
    ],
)
def test_arrays_are_found_by_name(tmp_path, contents, ids):
    np.savez(tmp_path / "v.npz", **contents)
    assert content(read_embedding(tmp_path / "v.npz")) == expected(VECTORS, ids)


def test_ids_can_be_given_for_files_without_ids(tmp_path):
    write_embedding(tmp_path / "v.npy", VECTORS)
    assert content(read_embedding(tmp_path / "v.npy", ids=["a", "b", "c"])) == expected(VECTORS, ["a", "b", "c"])
    write_embedding(tmp_path / "v.csv", VECTORS, [0, 1, 2])
    assert content(read_embedding(tmp_path / "v.csv", ids=["a", "b", "c"])) == expected(VECTORS, [0, 1, 2])
    np.save(tmp_path / "scalar.npy", np.float32(3))
    with pytest.raises(ReadError, match="a matrix of numbers"):
        read_embedding(tmp_path / "scalar.npy", ids=["a", "b", "c"])
    with pytest.raises(ReadError, match=r"contains no ids.* each of the 2 given ids; it has 3"):
        read_embedding(tmp_path / "v.npy", ids=["a", "b"])


def test_an_npy_file_is_memory_mapped(tmp_path):
    write_embedding(tmp_path / "v.npy", VECTORS)
    vectors = read_embedding(tmp_path / "v.npy").vectors
    assert isinstance(vectors.base, np.memmap)
    assert type(vectors) is np.ndarray


# -- result ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_result_is_read_only(tmp_path, ending):
    write_embedding(tmp_path / f"v{ending}", VECTORS)
    read = read_embedding(tmp_path / f"v{ending}")
    with pytest.raises(ValueError, match="read-only"):
        read.vectors[0, 0] = 5
    with pytest.raises(ValueError, match="read-only"):
        read.ids[0] = 5


# -- invalid files --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("v", "1", r"one of \.parquet, .*; got 'v'"),
        ("v.xlsx", "1", r"one of \.parquet, .*; got 'v.xlsx'"),
        ("v.csv", "", "it is empty"),
        ("v.csv", "id,0,1\n", "a matrix of numbers"),
        ("v.csv", "id\na\nb\n", "it contains the id alone"),
        ("v.csv", "id,0,1\na,1,2\nb,3\n", "must have 3 cells, as the first has; line 3 has 2"),
        (
            "v.csv",
            "id,0,1\na,1,2\nb,3,x\n",
            r"vectors must be numbers; column '1' in line 3 of .*v\.csv contains 'x': .* embed writes",
        ),
        ("v.csv", "id,0,1\na,1,2\nb,3,\n", "finite; node 'b' has nan in component 1"),
        ("v.csv", "id,0,1\na,1,2\nb,3,1e999\n", "finite; node 'b' has inf in component 1"),
        ("v.csv", "id,0,1\na,1,true\nb,3,false\n", "vectors must be numbers; column 3 of .* contains bool"),
        ("v.csv", "id,0,1\na,1,2\na,3,4\n", "must be unique; got 'a' more than once"),
        ("v.csv", "id,0\n9223372036854775808,1\n", "less than 2.63"),
        ("v.csv", "0.5,1\n,2\n", "line 2 of .* lacks one: correct it, or name an embedding, as graphprox embed writes"),
        ("v.txt", "a 1 2\nb 3 4\n", "must begin with the numbers of nodes and components.*it begins with 'a 1 2'"),
        ("v.txt", "2 2 2\na 1 2\nb 3 4\n", "must begin with the numbers of nodes and components"),
        ("v.txt", "9" * 5000 + " 2\n", "must begin with the numbers of nodes and components"),
        ("v.txt", "0 2\n", "must begin with the numbers of nodes and components"),
        ("v.txt", "3 2\na 1 2\nb 3 4\n", "must contain 3 nodes, as its first line states; it contains 2"),
        ("v.txt", "1 2\na 1 2\nb 3 4\n", "must contain 1 nodes, as its first line states; it contains 2"),
        ("v.txt", "2 999999999999\na 1 2\nb 3 4\n", "an id and 999999999999 numbers.*the first has 3 cells: 'a 1 2'"),
        ("v.txt", "2 2\na 1 2\nb 3\n", "an id and 2 numbers, one space between.*Row #3: Expected 3 columns, got 2"),
        ("v.txt", "2 2\na 1 2\nb 3 x\n", "Row #3: .*invalid value 'x'"),
        ("v.txt", "2 2\na 1 2 \nb 3 4 5\n", "an id and 2 numbers"),
        ("v.txt", "2 2\na 1 2\nb  4\n", "finite; node 'b' has nan in component 0"),
        ("v.txt", "2 2\na 1 2\nb 3 inf\n", "finite; node 'b' has inf in component 1"),
        ("v.txt", "2 2\na 1 2\na 3 4\n", "must be unique; got 'a'"),
        ("v.txt", "2 2\na 1 2\n 3 4\n", r"every node must have an id; node 1 of .*v\.txt has an empty one"),
        ("v.txt", "2 1\n1 1\n9223372036854775808 4\n", "less than 2.63; .* has 9223372036854775808"),
        ("v.txt", "2 2\n", "the first has 0 cells"),
        ("v.txt", b"1 1\n\xff\xfe 1\n", "invalid UTF8"),
        ("v.tsv", "1\t2\n3\t4\n", r"in v\.metadata\.tsv .*there is no such file"),
        ("v.npy", b"\x93NUMPY but then nothing", "npy file"),
        ("v.npy", b"PK\x03\x04", r"name it \.npz"),
        ("v.npz", b"\x93NUMPY", r"name it \.npy"),
        ("v.parquet", b"PAR1 and nothing more", "valid Parquet file"),
        ("v.csv.gz", b"no gzip at all", "valid gzip file"),
        ("v.txt.gz", b"no gzip at all", "valid gzip file"),
        ("v.txt.gz", gzip.compress(b"1 1\na 1\n" * 50, mtime=0)[:-10], "complete gzip file"),
    ],
)
def test_invalid_files_are_rejected_with_a_reason(write, name, content, words):
    with pytest.raises(ReadError, match=words) as rejected:
        read_embedding(write(name, content))
    assert "\n" not in str(rejected.value)


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ("", "it is empty"),
        ("a\n", r"v\.metadata\.tsv must name each of the 2 rows of v\.tsv; it has 1"),
        ("a\nb\nc\n", "it has 3"),
        ("a\nb\n\n", "it has 3"),
        ("a\n\n", "every node must have an id; node 1"),
        ("a\na\n", "must be unique"),
        (b"a\n\xff\n", "text in UTF-8"),
    ],
)
def test_inconsistent_metadata_is_rejected(write, metadata, words):
    path = write("v.tsv", "1\t2\n3\t4\n")
    write("v.metadata.tsv", metadata)
    with pytest.raises(ReadError, match=words):
        read_embedding(path)


def test_projector_vectors_must_be_numbers(write):
    write("v.metadata.tsv", "a\nb\n")
    for text, words in (("1\tx\n3\t4\n", "column 2 in line 1 .* contains 'x'"), ("1\t2\n3\n", "line 2 has 1")):
        with pytest.raises(ReadError, match=words):
            read_embedding(write("v.tsv", text))


@pytest.mark.parametrize(
    ("contents", "words"),
    [
        ({"a": VECTORS, "b": VECTORS}, "an array 'vectors', or a single one; it contains a, b"),
        ({"ids": np.arange(3)}, "an array 'vectors'"),
        ({"embedding": VECTORS[0]}, "a matrix of numbers"),
        ({"embedding": VECTORS, "ids": np.arange(2)}, "every row once"),
        ({"embedding": VECTORS, "ids": np.ones(3)}, "all strings; got 1.0"),
        ({"embedding": VECTORS, "ids": np.array([b"a", b"b", b"\xff"])}, "valid npz file"),
    ],
)
def test_invalid_arrays_are_rejected(tmp_path, contents, words):
    np.savez(tmp_path / "v.npz", **contents)
    with pytest.raises(ReadError, match=words):
        read_embedding(tmp_path / "v.npz")


def test_pickles_are_never_loaded(tmp_path):
    np.save(tmp_path / "v.npy", np.array([[object()]]), allow_pickle=True)
    with pytest.raises(ReadError, match="pickled objects, which could run code"):
        read_embedding(tmp_path / "v.npy")
    np.savez(tmp_path / "v.npz", allow_pickle=True, embedding=np.array([[object()]]))
    with pytest.warns(UserWarning, match="never loaded"), pytest.raises(ReadError, match="pickled objects"):
        read_embedding(tmp_path / "v.npz")


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"id": ["a", "a"], "0": [1.0, 2.0]}, "must be unique"),
        ({"id": ["a", "b"], "0": [1.0, None]}, "node 'b' has nan"),
        ({"id": ["a", None], "0": [1.0, 2.0]}, "lacks one"),
        ({"id": ["a", "b"], "0": ["x", "y"]}, "column '0' in row 0 .* contains 'x'"),
        ({"id": ["a", "b"]}, "the id alone"),
        ({"x": [0.5, 1.5], "n": [1, 2]}, "column 'x' .* contains fractions"),
        ({"id": ["a", "b"], "v": [[1.0, 2.0], [3.0]]}, "same length; 'v' has 2 numbers in row 0 .* and 1 in row 1 "),
        ({"id": ["a", "b"], "v": [[1.0], None]}, "every row must have a vector; 'v' is null in row 1 "),
        ({"id": ["a", "b"], "v": [[1.0, 2.0], [3.0, None]]}, "no missing numbers; 'v' has one in row 1 "),
        ({"id": ["a", "b"], "v": [[], []]}, "at least one number; .* are empty"),
        ({"id": ["a", "b"], "v": [["x"], ["y"]]}, "must be numbers; 'v' .* lists of string"),
        ({"id": ["a", "b"], "v": [[[1.0]], [[1.0]]]}, "vectors must be numbers; .* contains list"),
        (
            {"id": ["a"], "v": [[1.0]], "w": [[1.0]]},
            "must be named 'vector'; .* has the lists v, w",
        ),
    ],
)
def test_invalid_parquet_files_are_rejected(tmp_path, columns, words):
    pa.parquet.write_table(pa.table(columns), tmp_path / "v.parquet")
    with pytest.raises(ReadError, match=words):
        read_embedding(tmp_path / "v.parquet")


@pytest.mark.parametrize("ending", [*ENDINGS, ".csv.gz", ".txt.gz"])
@given(data=st.data())
@settings(max_examples=60)
def test_damaged_files_are_read_or_rejected_with_a_read_error(ending, data):
    """Truncated or changed bytes raise an error of one sentence, unless they give another number."""
    with TemporaryDirectory() as folder:
        path = Path(folder, f"v{ending.removesuffix('.gz')}")
        write_embedding(path, VECTORS, ["a", "b", "c"])
        content = bytearray(path.read_bytes())
        if ending.endswith(".gz"):
            path, content = path.with_name(path.name + ".gz"), bytearray(gzip.compress(content, mtime=0))
        at = data.draw(st.integers(0, len(content) - 1))
        if data.draw(st.booleans()):
            content = content[:at]
        else:
            content[at] = data.draw(st.integers(0, 255))
        path.write_bytes(content)
        message = ""
        with warnings.catch_warnings(action="ignore", category=AssumedInputWarning):  # of the encoding
            try:
                read_embedding(path)
            except GraphproxError as error:
                message = str(error)
    assert "\n" not in message
