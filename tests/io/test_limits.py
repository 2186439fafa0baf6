"""Small files that ask for terabytes are rejected in one sentence, with little memory and in little time.

Covers graphprox.io.limits, graphprox.io.tables.parquet_sizes and graphprox._utils.allocation.
"""

from __future__ import annotations

import gzip
import io
import multiprocessing
import warnings
import zipfile
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import torch
from torch_geometric.data import Data

from graphprox import Graph, GraphError, ParameterError, ReadError, StructuralFeaturesWarning, read_graph, synthetic
from graphprox._utils.allocation import check_memory
from graphprox.io.attributes import read_features
from graphprox.io.limits import MAX_LINE, LimitedFile, get_limit
from graphprox.io.tables.parquet_sizes import _read_parts
from measuring import measure

GB = 10**9
MAX_MEMORY, MAX_SECONDS = 1 * GB, 10
EDGES = "0,1\n1,2\n"


# -- making bombs ---------------------------------------------------------------------------------------------------


def write_gzip(path, begin, block, repeats, end=b""):
    """Write a gzip file of many equal blocks; a compressed block is appended again and again."""
    with path.open("wb") as file:
        compressor = zlib.compressobj(9, zlib.DEFLATED, 31)
        file.write(compressor.compress(begin))
        file.write(compressor.flush(zlib.Z_FULL_FLUSH))
        compressed = compressor.compress(block) + compressor.flush(zlib.Z_FULL_FLUSH)
        for _ in range(repeats):  # the checksum at the end is wrong, but nothing reads so far
            file.write(compressed)
        file.write(end)


def npy_header(shape, kind="<f4"):
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": kind, "fortran_order": False, "shape": shape})
    return buffer.getvalue()


def write_npz(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)


def write_zeros_npz(path, name, header, size):
    """Write an array of zeros, a block at a time."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(f"{name}.npy", "w", force_zip64=True) as member,
    ):
        member.write(header)
        for _ in range(size // 2**24 + 1):
            member.write(bytes(2**24))


def repeated(value, count, kind):
    """Return a column in which one value is repeated."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), pa.array([value], kind))


def write_parquet(path, **columns):
    pa.parquet.write_table(pa.table(columns), path, compression="zstd")


def graphml(body, head=""):
    return f'<?xml version="1.0"?>{head}<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{body}</graphml>'


def entities():
    levels = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 12))
    return graphml("<graph><node id='&e11;'/></graph>", f'<!DOCTYPE graphml [<!ENTITY e0 "aaaaaaaaaa">{levels}]>')


LINE = 2**24 * b"a"
SLOW = ("a string of Parquet", "many columns of edges")  # to make
BOMBS = {
    "a line in gz": ("g.csv.gz", None, lambda path: write_gzip(path, b"", LINE, 360)),
    "a late line in gz": ("g.csv.gz", None, lambda path: write_gzip(path, b"a,b\n" * 99_999, LINE, 360)),
    "a quoted line in gz": ("g.csv.gz", None, lambda path: write_gzip(path, b'a,b\n"', LINE, 360)),
    "blank lines in gz": ("g.csv.gz", None, lambda path: write_gzip(path, b"", b"\n" * 2**24, 360)),
    "a line of UTF-16 in gz": ("g.csv.gz", None, lambda path: write_gzip(path, b"\xff\xfe", b"a\0" * 2**23, 360)),
    "blank lines of UTF-16 in gz": ("g.csv.gz", None, lambda path: write_gzip(path, b"\xff\xfe", b"\n\0" * 2**23, 360)),
    "a line of Windows in gz": ("g.csv.gz", None, lambda path: write_gzip(path, b"\xe9,b\n", LINE, 360)),
    "comments in gz": ("g.txt.gz", None, lambda path: write_gzip(path, b"", b"# a\n" * 2**22, 360)),
    "features in gz": ("x.csv.gz", "--features", lambda path: write_gzip(path, b"id,f\n0,", b"1" * 2**24, 360)),
    "svmlight in gz": ("x.svmlight.gz", "--features", lambda path: write_gzip(path, b"1 1:", b"1" * 2**24, 360)),
    "GraphML in gz": (
        "g.graphml.gz",
        None,
        lambda path: write_gzip(path, graphml("<graph>").encode()[:-10], b"<a/>\n" * 2**20, 2000),
    ),
    "many columns": ("x.csv", "--features", lambda path: path.write_text("0" + ",1" * 10**7 + "\n1" + ",1" * 10**7)),
    "many columns of edges": ("g.csv", None, lambda path: path.write_text("0" + ",1" * 10**7 + "\n")),
    "a node number in npz": ("g.npz", None, lambda path: np.savez(path, edge_index=[[0], [10**9]])),
    "a node number of int64": ("g.npz", None, lambda path: np.savez(path, edge_index=[[0], [2**62]])),
    "num_nodes in npz": ("g.npz", None, lambda path: np.savez(path, edge_index=[[0], [1]], num_nodes=10**9)),
    "a node number in pt": (
        "g.pt",
        None,
        lambda path: torch.save({"edge_index": torch.tensor([[0], [10**9]])}, path),
    ),
    "num_nodes in pt": (
        "g.pt",
        None,
        lambda path: torch.save(Data(edge_index=torch.tensor([[0], [1]]), num_nodes=10**9), path),
    ),
    "a repeated tensor in pt": (
        "g.pt",
        None,
        lambda path: torch.save({"edge_index": torch.zeros(1, 1).long().expand(2, 10**10)}, path),
    ),
    "a shape in npy": ("x.npy", "--features", lambda path: path.write_bytes(npy_header((10**9, 10**6)) + bytes(80))),
    "a shape in npz": ("g.npz", None, lambda path: write_npz(path, edge_index=npy_header((2, 10**12), "<i8"))),
    "a shape of features": ("x.npz", "--features", lambda path: write_npz(path, x=npy_header((10**6, 10**6)))),
    "zeros in npz": (
        "x.npz",
        "--features",
        lambda path: write_zeros_npz(path, "x", npy_header((3, GB // 10)), 6 * GB // 5),
    ),
    "an id in npz": (
        "x.npz",
        "--features",
        lambda path: write_npz(path, x=npy_header((1, 1)) + bytes(4), ids=npy_header((1,), f"<U{GB // 2}") + bytes(80)),
    ),
    "a coo matrix in npz": (
        "g.npz",
        None,
        lambda path: np.savez(path, data=[1.0], row=[0], col=[1], shape=[10**10, 10**10], format=b"coo"),
    ),
    "a csc matrix in npz": (
        "x.npz",
        "--features",
        lambda path: np.savez(path, data=[1.0], indices=[0], indptr=[0, 1], shape=[10**11, 1], format=b"csc"),
    ),
    "columns of a sparse matrix": (
        "x.npz",
        "--features",
        lambda path: np.savez(path, data=[1.0] * 3, indices=[0, 1, 2**40], indptr=[0, 1, 2, 3], shape=[3, 2**41]),
    ),
    "a column of svmlight": (
        "x.svmlight",
        "--features",
        lambda path: path.write_text("1 1:1\n0 2147483648:1\n1 2:1\n"),
    ),
    "a column of 10^18": ("x.svmlight", "--features", lambda path: path.write_text(f"1 1:1\n0 {10**18}:1\n1 2:1\n")),
    "rows of Parquet": (
        "g.parquet",
        None,
        lambda path: write_parquet(path, a=repeated(0, 2 * 10**8, pa.int64()), b=repeated(1, 2 * 10**8, pa.int64())),
    ),
    "strings of Parquet": (
        "g.parquet",
        None,
        lambda path: write_parquet(
            path, a=repeated("x" * 10**6, 10**5, pa.string()), b=repeated("y", 10**5, pa.string())
        ),
    ),
    "a string of Parquet": (
        "x.parquet",
        "--features",
        lambda path: write_parquet(path, id=pa.array(["x" * 2**30], pa.large_string()), f=[1.0]),
    ),
    "entities of GraphML": ("g.graphml", None, lambda path: path.write_text(entities())),
    "nested GraphML": ("g.graphml", None, lambda path: path.write_text(graphml("<graph>" * 10**6))),
    "synthetic": ("synthetic:nodes=1000000000000", None, None),
    "synthetic features": ("synthetic:features=1000000000000", None, None),
}

# Forked from a process that has imported everything, as only the reading is to be measured.
PRELOADED = ["graphprox.cli", "sklearn.datasets", "networkx", "pyarrow.parquet", "torch_geometric.data", "measuring"]


@pytest.fixture(scope="module")
def run_measured():
    """Function that runs the program in a process of its own.

    It returns the exit code, the messages, the bytes of memory and the seconds that it took.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)

    def run_measured(*arguments):
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=measure, args=(sender, list(map(str, arguments))))
        process.start()
        found = receiver.recv() if receiver.poll(60) else None
        process.kill()
        process.join()
        assert found is not None
        return found

    return run_measured


@pytest.mark.parametrize(
    "case", [pytest.param(each, marks=pytest.mark.slow) if each in SLOW else each for each in BOMBS]
)
def test_a_bomb_is_rejected_with_little_memory_and_time(tmp_path, run_measured, case):
    name, option, write = BOMBS[case]
    path = name
    if write is not None:
        path = tmp_path / name
        write(path)
        assert path.stat().st_size < 64 * 2**20
    edges = tmp_path / "edges.csv"
    edges.write_text(EDGES)
    code, message, memory, seconds = run_measured("info", *([path] if option is None else [edges, option, path]))
    assert code == 2, message
    assert message.splitlines()[-1].startswith("error: ")
    assert "Traceback" not in message
    assert memory < MAX_MEMORY
    assert seconds < MAX_SECONDS


# -- what is still read ---------------------------------------------------------------------------------------------


def test_a_wide_table_is_read(tmp_path):
    row = ",".join(["1.25"] * 100_000)
    (tmp_path / "x.csv").write_text(f"0,{row}\n1,{row}\n2,{row}\n")
    (tmp_path / "edges.csv").write_text(EDGES)
    assert read_graph(tmp_path / "edges.csv", features=tmp_path / "x.csv").num_features == 100_000


def test_a_compressed_edge_list_may_expand_to_many_times_its_size(tmp_path):
    path = tmp_path / "edges.csv.gz"
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(b"0,1\n1,2\n" * 2**22)
    assert path.stat().st_size * 200 < 2**25
    with warnings.catch_warnings(action="ignore", category=StructuralFeaturesWarning):
        assert read_graph(path).num_edges == 2


def test_comments_between_rows_are_skipped_a_block_at_a_time(tmp_path):
    path = tmp_path / "edges.txt"
    path.write_bytes(b"0  1\n" + b"# a comment\n" * 300_000 + b"1 2\n" + b"\t2   0 \n" * 200_000 + b"3 4")
    with warnings.catch_warnings(action="ignore", category=StructuralFeaturesWarning):
        graph = read_graph(path)
    assert (graph.num_nodes, graph.num_edges, graph.duplicates) == (5, 4, 199_999)


def test_compressed_arrays_may_expand_up_to_a_ratio(tmp_path):
    np.savez_compressed(tmp_path / "x.npz", x=np.random.default_rng(0).random((2000, 500)) < 0.1)
    assert read_features(tmp_path / "x.npz").x.shape == (2000, 500)


# -- limits ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "content", "words"),
    [
        ("GRAPHPROX_MAX_LINE", "20", "a," + "b" * 30 + "\nb,c\n", "a line must have at most 20 bytes"),
        ("GRAPHPROX_MAX_COLUMNS", "3", "0,1,1,1\n1,2,3,4\n", "a table must have at most 3 columns; .* has 4"),
    ],
)
def test_a_limit_is_set_by_an_environment_variable(tmp_path, monkeypatch, name, value, content, words):
    path = tmp_path / "g.csv"
    path.write_text(content)
    monkeypatch.setenv(name, value)
    with pytest.raises(ReadError, match=words) as caught:
        read_graph(path)
    assert name in str(caught.value)
    monkeypatch.setenv(name, "1000")
    with warnings.catch_warnings(action="ignore"):
        read_graph(path)


@pytest.mark.parametrize("value", ["0", "-1", "many", "1e9", "9" * 30, "²"])
def test_a_limit_must_be_a_positive_integer(monkeypatch, value):
    monkeypatch.setenv("GRAPHPROX_MAX_LINE", value)
    with pytest.raises(ReadError, match="GRAPHPROX_MAX_LINE must be a positive integer"):
        get_limit(MAX_LINE)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_lines_are_measured_across_blocks(tmp_path, monkeypatch, end):
    monkeypatch.setenv("GRAPHPROX_MAX_LINE", "10")
    content = end.join([b"a" * 10] * 5)
    for size in (1, 3, 7, 100, -1):
        file = LimitedFile(io.BytesIO(content), tmp_path)
        assert b"".join(iter(lambda file=file, size=size: file.read(size), b"")) == content
        broken = LimitedFile(io.BytesIO(content.replace(end, b"", 1)), tmp_path)
        with pytest.raises(ReadError, match="at most 10 bytes"):
            b"".join(iter(lambda file=broken, size=size: file.read(size), b""))


def test_what_does_not_fit_into_memory_is_rejected():
    check_memory(1, "it", error=GraphError)
    with pytest.raises(GraphError, match=r"it must fit into memory; it needs 1,000,000,000 GB, and .* are available"):
        check_memory(10**18, "it", error=GraphError)
    with pytest.raises(ParameterError, match="synthetic with 1,000,000,000,000 nodes must fit into memory"):
        synthetic(nodes=10**12)
    with pytest.raises(GraphError, match="a graph of 1,000,000,000,000 nodes must fit into memory"):
        Graph(None, [[0], [1]], num_nodes=10**12)


# -- Parquet --------------------------------------------------------------------------------------------------------


def test_the_footer_of_parquet_states_what_pyarrow_reads(tmp_path):
    path = tmp_path / "t.parquet"
    columns = {"id": ["a", "b", None], "x": [1.0, 2.0, 3.0], "v": [[1], [2, 3], []]}
    pa.parquet.write_table(pa.table(columns), path, row_group_size=2)
    metadata = pa.parquet.read_metadata(path)
    stated = [
        (tuple(part.path_in_schema.split(".")), part.num_values, part.total_uncompressed_size)
        for group in range(metadata.num_row_groups)
        for part in map(metadata.row_group(group).column, range(metadata.num_columns))
    ]
    assert [(part["path"], part["values"], part["bytes"]) for part in _read_parts(path)] == stated


def test_a_footer_that_is_damaged_is_left_to_pyarrow(tmp_path):
    path = tmp_path / "t.parquet"
    pa.parquet.write_table(pa.table({"id": [1, 2]}), path)
    whole = path.read_bytes()
    random = np.random.default_rng(0)
    for _ in range(500):
        broken = bytearray(whole)
        broken[random.integers(len(whole) // 4, len(whole))] = random.integers(256)
        path.write_bytes(broken)
        for part in _read_parts(path):
            assert part["values"] >= 0


@pytest.mark.filterwarnings("ignore::graphprox.StructuralFeaturesWarning")
def test_a_line_that_is_longer_than_a_block_is_read_up_to_the_limit(monkeypatch, tmp_path):
    path = tmp_path / "long.csv"
    long = "a" * (5 << 20)
    path.write_text(f"source,target\n{long},b\nb,c\n")
    assert sorted(map(len, read_graph(path).ids)) == [1, 1, len(long)]
    monkeypatch.setenv("GRAPHPROX_MAX_LINE", str(4 << 20))
    with pytest.raises(ReadError, match=r"a line must have at most 4,194,304 bytes; .*set GRAPHPROX_MAX_LINE"):
        read_graph(path)


@pytest.mark.parametrize("rows", [0, 100_000])
def test_a_line_beyond_the_limit_is_rejected_wherever_it_is(monkeypatch, tmp_path, rows):
    monkeypatch.setenv("GRAPHPROX_MAX_LINE", str(3 << 20))
    path = tmp_path / "long.csv"
    path.write_text("source,target\n" + "a,b\n" * rows + "a" * (4 << 20))
    with pytest.raises(ReadError, match=r"a line must have at most 3,145,728 bytes; .*set GRAPHPROX_MAX_LINE"):
        read_graph(path)
    monkeypatch.setenv("GRAPHPROX_MAX_LINE", str(5 << 20))
    with pytest.raises(ReadError, match=r"must (have|begin with) (2|two|ids)"):
        read_graph(path)
