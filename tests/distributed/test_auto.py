"""The default method by several processes: rows are divided, and the result is that of one process up to rounding.

Covers graphprox.auto.exchange and graphprox.auto.consensus.

And what processes change in the other modules of graphprox.auto.
"""

from __future__ import annotations

import warnings
from functools import cache, partial

import numpy as np
import pytest
from sklearn.preprocessing import normalize

from auto.topic_graphs import topic_graph
from graphprox import AutoEmbedder, Graph, synthetic
from graphprox._utils.team import select_rows
from graphprox.auto import row_store
from graphprox.auto.consensus import agree_on_selection
from graphprox.auto.exchange import gather_rows, to_columns, to_rows
from graphprox.auto.outputs import PreparedGraph
from graphprox.auto.positions import Positions
from graphprox.auto.preparation import Preparation
from graphprox.auto.row_store import RowStore
from graphprox.auto.selection import Selection
from graphprox.errors import ParameterError, ProcessError

SIZES = pytest.mark.parametrize("size", [2, 3])

# -- exchange -------------------------------------------------------------------------------------------------------


def make_matrix(num_columns, dtype=np.float32):
    return np.random.default_rng(0).normal(size=(50, num_columns)).astype(dtype)


def exchange_both_ways(processes, num_columns, dtype):
    """Return whether columns are those of the matrix, and whether rows come back."""
    matrix = make_matrix(num_columns, dtype)
    own, share = processes.rows(50), processes.rows(num_columns)
    columns = to_columns(processes, matrix[own], 50)
    rows = to_rows(processes, columns, num_columns)
    return np.array_equal(columns, matrix[:, share]), np.array_equal(rows, matrix[own])


@SIZES
@pytest.mark.parametrize(("num_columns", "dtype"), [(10, np.float32), (7, np.float64), (2, np.float32)])
def test_rows_are_exchanged_for_columns_and_back(workers, size, num_columns, dtype):
    assert workers(size, exchange_both_ways, num_columns, dtype) == [(True, True)] * size


def collect(processes):
    matrix, chosen = make_matrix(4), np.array([49, 0, 25, 25, 17])
    own = matrix[processes.rows(50)]
    gathered = gather_rows(processes, own, np.empty_like(matrix))
    return np.array_equal(gathered, matrix), np.array_equal(select_rows(processes, own, chosen, 50), matrix[chosen])


@SIZES
def test_rows_of_all_processes_are_collected_in_each(workers, size):
    assert workers(size, collect) == [(True, True)] * size


def fill_store(processes, in_files, panel_bytes):
    """Return the own rows of doubled columns, which are computed some at a time."""
    before, row_store.PANEL_BYTES = row_store.PANEL_BYTES, panel_bytes
    try:
        store, matrix = RowStore(in_files, processes), make_matrix(100)
        own = store.own_rows(50)
        rows = store.fill(50, 100, lambda columns: 2 * store.read_columns(matrix[own], columns, 50), np.negative)
        return np.array_equal(rows, -2 * matrix[own])
    finally:
        row_store.PANEL_BYTES = before


@SIZES
@pytest.mark.parametrize("in_files", [False, True])
@pytest.mark.parametrize("panel_bytes", [0, 1 << 29])
def test_columns_are_computed_by_all_and_rows_kept_by_their_owners(workers, size, in_files, panel_bytes):
    assert workers(size, fill_store, in_files, panel_bytes) == [True] * size


# -- embedding ------------------------------------------------------------------------------------------------------


def dense_graph():
    return synthetic(nodes=420)


def directed_graph():
    """Return a graph with weights, of which some are zero, and isolated nodes."""
    graph = synthetic(nodes=280)
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 4, graph.num_entries).astype(np.float32)
    x = np.concatenate([graph.x, rng.normal(size=(3, 32))])
    return Graph(x, graph.edge_index, edge_weight=weight, directed=True)


def sparse_graph():
    return topic_graph(nodes=300)


def wide_graph():
    return topic_graph(nodes=100, words=150)


def graph_without_features():
    with warnings.catch_warnings(action="ignore"):
        return Graph(None, synthetic(nodes=420).edge_index, num_nodes=425)


GRAPHS = {
    make.__name__: make for make in (dense_graph, directed_graph, sparse_graph, wide_graph, graph_without_features)
}


def make_small_blocks(is_small):
    """Let rows be many blocks in files, or what they are by default."""
    sizes = {"ONE_BLOCK": 10, "BLOCK_ROWS": 97, "MEMORY_BYTES": 0, "PANEL_BYTES": 1 << 15}
    for name, size in sizes.items():
        setattr(row_store, name, size if is_small else DEFAULTS[name])


DEFAULTS = {name: getattr(row_store, name) for name in ("ONE_BLOCK", "BLOCK_ROWS", "MEMORY_BYTES", "PANEL_BYTES")}


def embed(_processes, name, keep="auto", is_small=False):
    """Return vectors and selection: in each process, those of all nodes."""
    make_small_blocks(is_small)
    try:
        fitted = AutoEmbedder(n_components=24, keep=keep).fit(GRAPHS[name]())
        return np.array(fitted.vectors_), fitted.selection_
    finally:
        make_small_blocks(False)


embed_alone = cache(partial(embed, None))


def cosines(rows):
    unit = normalize(rows)
    return unit @ unit.T


def assert_alike(results, expected):
    vectors, selection = expected
    for found, chosen in results:
        assert found.tobytes() == results[0][0].tobytes()
        assert chosen == results[0][1]
        assert chosen.weights == pytest.approx(selection.weights, abs=1e-4)
        assert (chosen.choice, chosen.scores) == (selection.choice, pytest.approx(selection.scores, abs=1e-4))
        np.testing.assert_allclose(cosines(found), cosines(vectors), atol=1e-4)
        np.testing.assert_allclose(np.abs(found), np.abs(vectors), atol=1e-3)


@pytest.mark.parametrize(
    ("name", "size"),
    [("dense_graph", 2), *((name, 3) for name in GRAPHS if name != "sparse_graph"), ("sparse_graph", 2)],
)
def test_vectors_and_selection_are_those_of_one_process(workers, name, size):
    assert_alike(workers(size, embed, name), embed_alone(name))


@pytest.mark.parametrize("keep", ["features", "graph"])
def test_every_output_is_that_of_one_process(workers, keep):
    assert_alike(workers(3, embed, "dense_graph", keep), embed_alone("dense_graph", keep))


@pytest.mark.parametrize("name", ["dense_graph", "graph_without_features"])
def test_many_blocks_in_files_are_divided_as_one_block(workers, name):
    assert_alike(workers(2, embed, name, "auto", True), embed_alone(name, "auto", True))


def test_same_number_of_processes_gives_the_same_bytes(workers):
    first, second = (workers(3, embed, "dense_graph")[0][0] for _ in range(2))
    assert first.tobytes() == second.tobytes()


# -- models ---------------------------------------------------------------------------------------------------------


def save_first(processes, folder):
    """Save the model in the first process; return its vectors and what each process transforms the graph to."""
    fitted = AutoEmbedder(n_components=24).fit(dense_graph())
    if processes.is_first:
        fitted.save(folder)
    return fitted.vectors_, fitted.transform(dense_graph())


def test_model_of_the_first_process_is_complete(workers, tmp_path):
    results = workers(2, save_first, tmp_path / "model")
    loaded = AutoEmbedder.load(tmp_path / "model").transform(dense_graph())
    for vectors, transformed in results:
        np.testing.assert_allclose(loaded, vectors, atol=1e-5)
        np.testing.assert_allclose(transformed, vectors, atol=1e-5)


# -- what is divided ------------------------------------------------------------------------------------------------


def measure_rows(processes):
    """Return the largest number of rows of an output, and of columns that are spread together, in this process."""
    shapes = []

    class Recorder(RowStore):
        def empty(self, num_rows, num_columns):
            shapes.append(num_rows)
            return super().empty(num_rows, num_columns)

        def read_columns(self, rows, columns, num_rows):
            read = super().read_columns(rows, columns, num_rows)
            assert read.shape == (num_rows, -(-(columns.stop - columns.start) // processes.size))
            return read

    graph = dense_graph()
    store = Recorder(team=processes)
    preparation = Preparation.fit(graph.x, random_state=0, team=processes)
    positions = Positions.fit(graph, has_features=True, random_state=0, store=store)
    prepared = PreparedGraph.of(graph, preparation, positions, random_state=0, store=store)
    rows = [prepared.compute(name) for name in ("own", "graph", "neighbors", "positions", "roles", "amount")]
    return max(shapes), {len(each) for each in rows}


def test_each_process_keeps_its_rows_of_outputs_and_spreads_its_share_of_columns(workers):
    assert workers(2, measure_rows) == [(210, {210})] * 2


# -- agreement ------------------------------------------------------------------------------------------------------


def disagree(processes, what):
    graph, seed = dense_graph(), 0
    if processes.rank == 1:
        seed = 1 if what == "random_state" else 0
        graph = synthetic(nodes=280) if what == "graph" else graph
    if what == "size":
        graph = Graph(np.eye(2), [[0], [1]])
    AutoEmbedder(n_components=8, random_state=seed).fit(graph)


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (
            "random_state",
            "all processes must have the same settings; random_state is 0 in process 0 and 1 in process 1",
        ),
        ("graph", "all processes must read the same graph; that of process 1 differs from that of process 0"),
        ("size", "a graph must have a node for each process; got 2 nodes for 3 processes: start fewer of them"),
    ],
)
def test_processes_that_would_embed_something_else_end_by_one_sentence(workers, what, message):
    for error in workers.run(3, disagree, what):
        assert isinstance(error, ParameterError)
        assert str(error).startswith(message)


def agree(processes, scores):
    return agree_on_selection(processes, Selection("both", {"own": scores[processes.rank]}, ratio=0.95))


def test_selection_is_that_of_the_first_process_if_others_differ_by_rounding(workers):
    assert workers(2, agree, [0.5, 0.5 + 1e-9]) == [Selection("both", {"own": 0.5}, ratio=0.95)] * 2


def test_other_selection_ends_all_processes_by_one_sentence(workers):
    for error in workers.run(2, agree, [0.5, 0.6]):
        assert isinstance(error, ProcessError)
        assert str(error).startswith(
            "all processes must come to the same selection; own is 0.5 in process 0 and 0.6 in "
        )
