"""A graph that is sharded is the one that `read_graph` returns, array for array, however little is in memory.

Covers graphprox.io.sharding.build, graphprox.io.sharding.edge_stage and graphprox.io.sharding.feature_stage.
Covers graphprox.io.sharding.part_stage, graphprox.io.sharding.label_stage and graphprox.io.sharding.workspace.
Covers graphprox.io.sharding.feature_source, graphprox.io.sharding.feature_table and graphprox.io.sharding.numbering.
"""

from __future__ import annotations

import os
import re
import warnings
from dataclasses import fields

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from graphprox import Graph, read_graph
from graphprox.errors import GraphproxError
from graphprox.graph import graph_checksum
from graphprox.io.folder.graph_folder import GraphFolder
from graphprox.io.sharding import entries, id_merge
from graphprox.io.sharding.shard_tables import shard_graph
from graphprox.io.sharding.workspace import BlockSizes

TINY = BlockSizes(rows=3, ids=4, entries=4, values=5)


@pytest.fixture(autouse=True, scope="module")
def _tiny_buffers():
    """Let merges have blocks of a few ids, so that small graphs go through all of their steps."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(id_merge, "MIN_BUFFER", 2)
        patch.setattr(entries, "MIN_BUFFER", 2)
        patch.setattr(os, "fsync", lambda _: None)  # which takes most of the time
        yield


def assert_equal(found, expected):
    """Check that two graphs are equal, and their arrays of the same types."""
    for each in fields(Graph):
        a, b = getattr(found, each.name), getattr(expected, each.name)
        if each.name == "table":
            assert (None if a is None else a.encoder) == (None if b is None else b.encoder)
        elif isinstance(b, sp.csr_array):
            assert isinstance(a, sp.csr_array)
            assert a.shape == b.shape
            for name in ("data", "indices", "indptr"):
                np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
        elif isinstance(b, np.ndarray):
            np.testing.assert_array_equal(a, b)
            assert a.dtype == b.dtype, each.name
        else:
            assert a == b, each.name


def attempt(call, *arguments, **options):
    """Return the result of a call or its error, and what it warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call(*arguments, **options)
        except GraphproxError as error:
            result = error
    return result, sorted(str(each.message) for each in caught)


def shard_and_read(folder, edges, *, parts=1, sizes=TINY, **options):
    """Read files at once and in blocks, and check that the result is the same: a graph, or an error."""
    expected, warned = attempt(read_graph, edges, **options)
    found, warned_too = attempt(shard_graph, edges, folder, parts=parts, sizes=sizes, **options)
    if isinstance(expected, GraphproxError):
        assert isinstance(found, GraphproxError), expected
        # read_graph does not name the row of a cell if it reads a table again for nodes without features.
        assert without_examples(found).partition("; column ")[0] == without_examples(expected).partition("; column ")[0]
        assert not folder.exists()
        return None
    assert isinstance(found, GraphFolder), found
    graph, warned_last = attempt(found.to_graph)
    assert [*map(without_examples, [*warned_too, *warned_last])] == [*map(without_examples, warned)]
    assert_equal(graph, expected)
    if options.get("features") is not None:
        assert found.checksum == graph_checksum(expected)
    GraphFolder.open(folder).verify()
    return graph


def without_examples(message):
    """Leave out examples of ids, which are others where ids are sorted."""
    return re.sub(r"such as .*", "such as", str(message))


# -- edges ----------------------------------------------------------------------------------------------------------

INTEGERS = st.one_of(st.integers(0, 9), st.integers(-5, 5), st.sampled_from([10**6, 2**62, -(2**63)]))
STRINGS = st.sampled_from(["a", "b", "ab", "", "B", "é", "007", "7", "-1", "10", "9", "node 5", "z" * 30])


WEIGHTS = st.sampled_from([0, 0.5, 1, 2.25, 1e-3])


@st.composite
def edge_tables(draw):
    kind = draw(st.sampled_from([INTEGERS, STRINGS.filter(bool)]))
    size = draw(st.integers(1, 12))
    ends = [draw(st.lists(kind, min_size=size, max_size=size)) for _ in range(2)]
    weights = draw(st.one_of(st.none(), st.lists(WEIGHTS, min_size=size, max_size=size)))
    table = pa.table({"source": ends[0], "target": ends[1]})
    return table if weights is None else table.append_column("weight", pa.array(weights, pa.float64()))


@given(table=edge_tables(), directed=st.booleans(), parts=st.integers(1, 3), text=st.booleans())
@settings(max_examples=60)
def test_edges_become_the_same_graph(tmp_path_factory, table, directed, parts, text):
    folder = tmp_path_factory.mktemp("edges")
    path = folder / ("edges.csv" if text else "edges.parquet")
    if text:
        table.to_pandas().to_csv(path, index=False)
    else:
        pa.parquet.write_table(table, path, row_group_size=2)
    num_nodes = len({*table["source"].to_pylist(), *table["target"].to_pylist()})
    shard_and_read(folder / "G", path, directed=directed, parts=min(parts, num_nodes))


# -- features and labels --------------------------------------------------------------------------------------------

NODES = st.one_of(st.just(list(range(6))), st.just(["b", "a", "10", "9", "é", "c"]), st.just([5, 3, 9, -1, 7, 2**40]))


@st.composite
def graphs_with_features(draw):
    """Edges between some nodes, a row of numbers for some or all, and labels of some and of unknown ones."""
    nodes = draw(NODES)
    size = draw(st.integers(1, 12))
    ends = [draw(st.lists(st.sampled_from(nodes), min_size=size, max_size=size)) for _ in range(2)]
    rows = draw(st.permutations(nodes))[: draw(st.integers(3, 6))]
    as_text = draw(st.booleans())  # ids of another type than those of the edges
    values = draw(st.lists(st.sampled_from([0, 0, 0, 1, -2.5, 3]), min_size=2 * len(rows), max_size=2 * len(rows)))
    labeled = [*draw(st.permutations(nodes))[: draw(st.integers(1, 6))], *draw(st.sampled_from([[], [99]]))]
    classes = draw(st.sampled_from([["x", "y", ""], ["1", "0", "-1"], ["1", " ", "x"]]))
    return {
        "edges": pa.table({"source": ends[0], "target": ends[1]}),
        "rows": [str(each) for each in rows] if as_text else rows,
        "x": np.array(values, np.float32).reshape(-1, 2),
        "labels": [str(each) for each in labeled] if not isinstance(nodes[0], int) or draw(st.booleans()) else labeled,
        "classes": [classes[i % 3] for i in range(len(labeled))],
    }


@given(parts=graphs_with_features(), kind=st.sampled_from(["csv", "parquet", "npz", "sparse"]))
@settings(max_examples=60)
def test_features_and_labels_become_the_same_graph(tmp_path_factory, parts, kind):
    folder = tmp_path_factory.mktemp("features")
    pa.parquet.write_table(parts["edges"], folder / "edges.parquet")
    features = folder / f"features.{'npz' if kind == 'sparse' else kind}"
    ids, x = parts["rows"], parts["x"]
    frame = pd.DataFrame({"id": ids, "a": x[:, 0], "b": x[:, 1]})
    if kind == "csv":
        frame.to_csv(features, index=False)
    elif kind == "parquet":
        frame.to_parquet(features)
    elif kind == "npz":
        np.savez(features, ids=np.array(ids), x=x)
    else:
        matrix = sp.csr_array(x)
        arrays = {name: getattr(matrix, name) for name in ("data", "indices", "indptr", "shape")}
        np.savez(features, ids=np.array(ids), **arrays)
    labels = folder / "labels.csv"
    pd.DataFrame({"id": parts["labels"], "label": parts["classes"]}).to_csv(labels, index=False)
    shard_and_read(folder / "G", folder / "edges.parquet", features=features, labels=labels, parts=2)


CELLS = {
    "number": ["1", "2.5", "-3", "0", "1e3", ""],
    "plain": ["1", "2.5", "-3", "0"],
    "zero": ["0", "0", "0", "0", "0", "0", "1"],
    "boolean": ["yes", "no", "Yes", "", "NA"],
    "category": ["Paris", "Rome", "Oslo", " Rome ", "", "n/a"],
    "code": ["007", "08", "1"],
    "constant": ["x"],
    "empty": ["", "NA", "null"],
    "date": ["2024-01-31", "1999-12-01", "", "2020-02-29 10:30"],
    "local date": ["31.1.2024", "1.2.2020", ""],
    "month": ["1/31/2024", "12/1/2020"],
    "mixed": ["1", "2", "3", "x"],
    "wrong date": ["2024-01-31", "2024-01-30", "2024-02-31", "x"],
    "comma": ["1,5", "2", "3"],
    "text": ["a long description of what a node is and does", "another long description of what it is", "x" * 60],
    "large": ["1e39", "1"],
}


@st.composite
def tables(draw):
    rows = draw(st.integers(2, 8))
    kinds = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=3))
    kinds = kinds if draw(st.booleans()) else [draw(st.sampled_from(["plain", "zero", "number"])) for _ in kinds]
    columns = {
        f"{kind} {i}": draw(st.lists(st.sampled_from(CELLS[kind]), min_size=rows, max_size=rows))
        for i, kind in enumerate(kinds)
    }
    return pd.DataFrame({"id": range(rows), **columns})


@given(
    table=tables(),
    kind=st.sampled_from(["csv", "csv", "text", "typed", "category"]),
    num_missing=st.integers(0, 2),
    header=st.booleans(),
)
@settings(max_examples=100)
def test_tables_become_the_same_features(tmp_path_factory, table, kind, num_missing, header):
    folder = tmp_path_factory.mktemp("tables")
    nodes = [*range(len(table)), *range(100, 100 + num_missing)]
    (folder / "edges.csv").write_text("".join(f"{a},{b}\n" for a, b in zip(nodes, [*nodes[1:], 0], strict=True)))
    path = folder / ("table.csv" if kind == "csv" else "table.parquet")
    if kind == "csv":
        table.to_csv(path, index=False, header=header)
        if not header:
            shard_and_read(folder / "G", folder / "edges.csv", features=path, header=False, parts=2)
            return
    elif kind == "text":
        table.to_parquet(path)
    else:
        convert = (lambda column: column.astype("category")) if kind == "category" else to_typed
        columns = {name: table[name] if name == "id" else convert(table[name]) for name in table}
        pd.DataFrame(columns).to_parquet(path, row_group_size=3)
    shard_and_read(folder / "G", folder / "edges.csv", features=path, parts=2)


def to_typed(column):
    """Convert text to what pandas would store: numbers, booleans or dates."""
    kind = column.name.rpartition(" ")[0]
    if kind in ("number", "plain", "zero", "large"):
        return pd.to_numeric(column)
    if kind == "boolean":
        return column.map({"yes": True, "Yes": True, "no": False}).astype("boolean")
    if kind == "date":
        return pd.to_datetime(column, format="mixed")
    return column
