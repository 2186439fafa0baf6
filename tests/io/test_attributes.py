"""Features and labels of every format equal those read by pandas, scipy and scikit-learn."""

from __future__ import annotations

import gzip
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from graphprox import GraphError, ReadError, read_graph
from graphprox.io.attributes import encode_labels, read_features, read_labels

EDGES = "0,1\n1,2\n2,3\n"
FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)


def dense(x):
    return x.toarray() if sp.issparse(x) else np.asarray(x)


@pytest.fixture
def edges(write):
    return write("edges.csv", EDGES)


@pytest.fixture
def words():
    """A bag of words: sparse, one row per node, in random order."""
    return sp.random_array((4, 30), density=0.05, random_state=np.random.default_rng(3), dtype=np.float32)


# -- features -------------------------------------------------------------------------------------------------------


@given(
    x=arrays(np.float32, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=FLOATS),
    name=st.sampled_from(["x.csv", "x.tsv", "x.csv.gz", "x.parquet", "x.npy", "x.npz"]),
    order=st.randoms(use_true_random=False),
)
@settings(max_examples=60)
def test_features_round_trip_exactly(x, name, order):
    ids = [f"n{i}" for i in range(len(x))]
    order.shuffle(ids)
    table = pd.DataFrame(x).set_axis([f"f{i}" for i in range(x.shape[1])], axis=1)
    table.insert(0, "id", ids)
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        match path.suffix:
            case ".parquet":
                table.to_parquet(path)
            case ".npy":
                np.save(path, x)
            case ".npz":
                np.savez(path, x=x, ids=ids)
            case _:
                table.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
        features = read_features(path)
    assert np.array_equal(dense(getattr(features.x, "x", features.x)), x)
    assert features.ids.to_pylist() == (ids if path.suffix != ".npy" else [*range(len(x))])


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr"])
@pytest.mark.parametrize("container", ["array", "matrix"])
def test_a_sparse_matrix_of_scipy_stays_sparse(tmp_path, edges, words, kind, container):
    sp.save_npz(tmp_path / "x.npz", getattr(sp, f"{kind}_{container}")(words))
    graph = read_graph(edges, features=tmp_path / "x.npz")
    assert graph.has_sparse_features
    assert np.array_equal(graph.x.toarray(), sp.load_npz(tmp_path / "x.npz").toarray())


def test_a_table_of_mostly_zeros_becomes_sparse(edges, tmp_path, words):
    table = pd.DataFrame(words.toarray())
    table.to_csv(tmp_path / "x.csv")
    graph = read_graph(edges, features=tmp_path / "x.csv")
    assert graph.has_sparse_features
    assert np.array_equal(graph.x.toarray(), words.toarray())


@pytest.mark.parametrize("name", ["x", "features", "attr_matrix", "anything"])
def test_an_array_is_found_by_its_name_or_as_the_only_one(edges, tmp_path, name):
    np.savez_compressed(tmp_path / "x.npz", **{name: np.arange(8).reshape(4, 2)})
    assert read_graph(edges, features=tmp_path / "x.npz").x.tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]]


def test_an_unnamed_array_is_found(edges, tmp_path):
    np.savez(tmp_path / "x.npz", np.eye(4))
    assert np.array_equal(read_graph(edges, features=tmp_path / "x.npz").x, np.eye(4))


@pytest.mark.parametrize("name", ["x.svmlight", "x.libsvm", "x.svm", "x.svmlight.gz"])
def test_svmlight_equals_scikit_learn(edges, tmp_path, words, name):
    plain = tmp_path / "plain.svmlight"
    dump_svmlight_file(words.tocsr(), [3, 1, 1, 2], str(plain), zero_based=False, comment="a bag of words")
    (tmp_path / name).write_bytes(gzip.compress(plain.read_bytes()) if name.endswith("gz") else plain.read_bytes())
    known, targets = load_svmlight_file(str(plain), dtype=np.float32)
    graph = read_graph(edges, features=tmp_path / name, labels=tmp_path / name)
    assert np.array_equal(graph.x.toarray(), known.toarray())
    assert graph.y.tolist() == targets.tolist()


def test_svmlight_minus_one_is_a_class(edges, write):
    path = write("xy.svm", "+1 1:1\n-1 2:1\n1 1:2\n-1 1:3\n")
    graph = read_graph(edges, features=path, labels=path)
    assert (graph.y.tolist(), graph.class_names) == ([1, 0, 1, 0], ("-1", "1"))


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (np.float32(1), "a row per node; it contains a single value"),
        (np.ones(4), "must be a matrix, one row per node"),
        (np.ones((4, 2, 2)), "must be a matrix, one row per node"),
        (np.array([["a"], ["b"], ["c"], ["d"]]), "must be a valid matrix of numbers"),
        (np.ones((4, 0)), "at least one column"),
        (np.array([[1.0], [2], [np.nan], [3]]), "finite.*NaN.*node 2"),
        (np.array([[1.0], [2], [3], [-np.inf]]), "finite.*-inf.*node 3"),
        (np.array([[1.0], [1e39], [3], [4]]), "finite.*inf.*node 1"),
    ],
)
def test_an_array_must_be_a_matrix_of_numbers(edges, tmp_path, x, words):
    np.save(tmp_path / "x.npy", x)
    with pytest.raises((ReadError, GraphError), match=words):
        read_graph(edges, features=tmp_path / "x.npy")


@pytest.mark.parametrize(
    ("contents", "words"),
    [
        ({"x": np.eye(4), "ids": np.arange(3)}, "each of its 4 rows once"),
        ({"x": np.eye(4), "ids": np.arange(4.0)}, "integers or strings.*float64"),
        ({"x": np.eye(4), "ids": np.array([0, 1, 2, 2**63], np.uint64)}, "less than 2\\^63"),
        ({"x": np.eye(4), "ids": [0, 1, 2, 2]}, "several for 2"),
        ({"a": np.eye(4), "b": np.eye(4)}, "named 'x' or 'features'; it contains a, b"),
        ({"ids": np.arange(4)}, "named 'x' or 'features'"),
    ],
)
def test_inconsistent_arrays_are_rejected(edges, tmp_path, contents, words):
    np.savez(tmp_path / "x.npz", **contents)
    with pytest.raises(ReadError, match=words):
        read_graph(edges, features=tmp_path / "x.npz")


# -- labels ---------------------------------------------------------------------------------------------------------

GIVEN = ["cat", "dog", "", "cat"]


@pytest.mark.parametrize("name", ["y.csv", "y.tsv", "y.csv.gz", "y.parquet", "y.npz", "y.npy"])
@pytest.mark.filterwarnings("ignore::graphprox.StructuralFeaturesWarning")
def test_labels_are_read_from_a_named_array(edges, tmp_path, name):
    path = tmp_path / name
    table = pd.DataFrame({"id": [0, 1, 2, 3], "label": GIVEN})
    match path.suffix:
        case ".parquet":
            table.sample(frac=1, random_state=0).to_parquet(path, index=False)
        case ".npz":
            np.savez(path, y=GIVEN[::-1], ids=[3, 2, 1, 0])
        case ".npy":
            np.save(path, np.array(GIVEN).astype("S"))
        case _:
            shuffled = table.sample(frac=1, random_state=0)
            shuffled.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    graph = read_graph(edges, labels=path)
    assert (graph.y.tolist(), graph.class_names) == ([0, 1, -1, 0], ("cat", "dog"))


@pytest.mark.parametrize(
    ("given", "y", "names"),
    [
        (["3", "0", "-1", None], [3, 0, -1, -1], None),
        (["01", "1", "2"], [0, 1, 2], ("01", "1", "2")),
        (["-2", "0"], [0, 1], ("-2", "0")),
        (["b", " ", None, "a"], [1, -1, -1, 0], ("a", "b")),
        (["9223372036854775808", "1"], [1, 0], ("1", "9223372036854775808")),
        (["1.0", "2.0"], [0, 1], ("1.0", "2.0")),
        ([None, None], [-1, -1], None),
    ],
)
def test_integer_labels_are_kept_and_names_are_encoded_in_sorted_order(given, y, names):
    numbers, found = encode_labels(pa.array(given, pa.string()))
    assert (numbers.tolist(), found) == (y, names)


@given(st.lists(st.text(min_size=1, max_size=4).filter(str.strip), min_size=1, max_size=8))
def test_names_are_encoded_like_pandas_categories(given):
    given = [f"class {name}" for name in given]
    numbers, names = encode_labels(pa.array(given))
    known = pd.Categorical(given, categories=sorted(set(given), key=str.encode))
    assert (numbers.tolist(), list(names)) == (known.codes.tolist(), known.categories.tolist())


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([0, 1, 0.5], "fractions"),
        ([0, 1, np.nan], "fractions or NaN"),
        ([0, 1, np.inf], "fractions or NaN"),
        (np.eye(3), "one class per node.*\\(3, 3\\)"),
        (np.int64(3), "a row per node"),
        (np.array([b"\xff", b"a", b"b"]), "utf-8"),
    ],
)
def test_invalid_labels_are_rejected(tmp_path, y, words):
    np.save(tmp_path / "y.npy", y)
    with pytest.raises(ReadError, match=words):
        read_labels(tmp_path / "y.npy")


def test_integer_labels_may_be_stored_as_floats(tmp_path):
    np.save(tmp_path / "y.npy", np.array([2.0, -1, 0]))
    assert read_labels(tmp_path / "y.npy").y.tolist() == [2, -1, 0]


def test_labels_with_several_columns_are_rejected(write):
    with pytest.raises(ReadError, match="an id and a label; it contains 3 cells"):
        read_labels(write("y.csv", "a,0,1\nb,1,0\n"))


@pytest.mark.parametrize("read", [read_features, read_labels])
def test_an_unknown_ending_is_rejected(write, read):
    with pytest.raises(ReadError, match=r"must be one of \.csv, .* got 'x\.xlsx'"):
        read(write("x.xlsx", "a"))


def test_labels_are_integers_of_64_bits(edges, write):
    with pytest.raises(ReadError, match=r"labels must be integers less than 2\^63; .* has 1e\+30"):
        read_graph(edges, labels=write("y.svmlight", "1 1:1\n1e30 1:2\n2 1:1\n1 1:1\n"))
