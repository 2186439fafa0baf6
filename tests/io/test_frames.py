"""Graphs of DataFrames equal those of the same tables in files."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from graphprox import (
    AssumedInputWarning,
    AutoEmbedder,
    Graph,
    GraphError,
    IgnoredInputWarning,
    ParameterError,
    embed,
    read_graph,
)
from graphprox.graph.validation import check_graph

EDGES = pd.DataFrame({"source": ["ann", "bob", "cy"], "target": ["bob", "cy", "dan"], "weight": [1.0, 2, 3]})
USERS = pd.DataFrame(
    {"user_id": ["dan", "ann", "bob", "cy"], "age": [52, 31, None, 40], "city": ["Rome", "Oslo", "Rome", None]}
)
TEAMS = pd.DataFrame({"user_id": ["ann", "cy"], "team": ["red", "blue"]})
KINDS = {"pandas": lambda frame: frame, "polars": pl.from_pandas, "pyarrow": lambda frame: pa.Table.from_pandas(frame)}


class Stream:
    """A table of another library, which has nothing but Arrow's stream."""

    def __init__(self, frame):
        self.table = pa.Table.from_pandas(frame)

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("convert", [*KINDS.values(), Stream], ids=[*KINDS, "stream"])
def test_tables_give_the_graph_of_files(tmp_path, convert):
    frames = {"edges": EDGES, "features": USERS, "labels": TEAMS}
    for name, frame in frames.items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    graph = Graph.from_frames(*map(convert, frames.values()), directed=True)
    known = read_graph(
        tmp_path / "edges.csv", features=tmp_path / "features.csv", labels=tmp_path / "labels.csv", directed=True
    )
    assert graph.ids.tolist() == known.ids.tolist() == ["dan", "ann", "bob", "cy"]
    assert graph.feature_names == known.feature_names
    assert graph.class_names == known.class_names
    for name in ("x", "edge_index", "edge_weight", "y"):
        assert np.array_equal(getattr(graph, name), getattr(known, name))


@pytest.mark.parametrize("convert", KINDS.values(), ids=KINDS)
def test_columns_may_be_named(convert):
    sales = convert(pd.DataFrame({"day": [1, 2], "price": [2.5, 1.0], "buyer": ["a", "b"], "seller": ["b", "c"]}))
    people = convert(pd.DataFrame({"age": [3, 4, 5], "code": ["a", "b", "c"]}))
    kinds = convert(pd.DataFrame({"code": ["a", "b", "c"], "kind": ["x", "y", "x"], "size": [1, 2, 3]}))
    with pytest.warns(IgnoredInputWarning):
        graph = Graph.from_frames(
            sales, people, kinds, source="seller", target=3, weight="price", id="code", label="kind", directed=True
        )
    assert graph.ids[graph.edge_index].tolist() == [["b", "c"], ["a", "b"]]
    assert (graph.edge_weight.tolist(), graph.x.ravel().tolist(), graph.y.tolist()) == ([2.5, 1], [3, 4, 5], [0, 1, 0])


@pytest.mark.parametrize(
    "features",
    [
        pd.DataFrame({"age": [1, 2, 3]}, index=pd.Index(["a", "b", "c"], name="user_id")),
        pd.DataFrame({"age": [1, 2, 3]}, index=["a", "b", "c"]),
        pd.DataFrame({"user_id": ["a", "b", "c"], "age": [1, 2, 3]}, index=[7, 8, 9]),
        pd.DataFrame({"age": [1, 2, 3], "id": ["a", "b", "c"]}, index=["p", "q", "r"]),
    ],
    ids=["named index", "index of strings", "column", "column and index"],
)
@pytest.mark.filterwarnings("ignore::graphprox.AssumedInputWarning")
def test_ids_are_a_column_or_else_the_index(features):
    graph = Graph.from_frames(pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"]}), features)
    assert (graph.ids.tolist(), graph.x.ravel().tolist()) == (["a", "b", "c"], [1, 2, 3])


@pytest.mark.parametrize("index", [None, "user_id", "buyer"])
@pytest.mark.parametrize("name", [None, "team", "id"])
def test_labels_may_be_a_series_indexed_by_id(index, name):
    teams = pd.Series(["blue", "red"], index=pd.Index(["cy", "ann"], name=index), name=name)
    graph = Graph.from_frames(EDGES, USERS, teams)
    assert (graph.ids.tolist(), graph.y.tolist()) == (["dan", "ann", "bob", "cy"], [-1, 1, -1, 0])
    assert graph.class_names == ("blue", "red")
    assert np.array_equal(Graph.from_frames(EDGES, USERS, teams, id="user_id").y, graph.y)


def test_features_may_be_a_series_indexed_by_id():
    edges = pd.DataFrame({"source": [5, 6], "target": [6, 7]})
    graph = Graph.from_frames(edges, pd.Series([6, 7, 5], index=[5, 6, 7], name="steps"))
    assert (graph.ids.tolist(), graph.x.ravel().tolist(), graph.feature_names) == ([5, 6, 7], [6, 7, 5], ("steps",))


def test_an_index_of_several_levels_has_no_ids():
    teams = TEAMS.assign(year=2024).set_index(["user_id", "year"])["team"]
    with pytest.raises(GraphError, match="that of the labels has 2 levels: use a DataFrame"):
        Graph.from_frames(EDGES, USERS, teams)


def test_row_numbers_are_ids_of_a_frame_of_numbers():
    edges = pd.DataFrame({"source": [0, 1], "target": [1, 2]})
    graph = Graph.from_frames(edges, pd.DataFrame({"height": [1.5, 1.25, 1.75], "age": [3, 4, 5]}))
    assert (graph.node_ids, graph.x.tolist()) == (None, [[1.5, 3], [1.25, 4], [1.75, 5]])


def test_labels_may_be_a_column_of_the_features():
    users = USERS.assign(team=["red", "blue", "red", "blue"])
    graph = Graph.from_frames(EDGES, users, users, label="team")
    assert (graph.y.tolist(), graph.class_names) == ([1, 0, 1, 0], ("blue", "red"))
    assert not any("team" in name for name in graph.feature_names)


@pytest.mark.parametrize("convert", KINDS.values(), ids=KINDS)
def test_labels_are_no_feature_of_a_copy_of_their_table(convert):
    users = USERS.assign(Team=["red", "blue", "red", "blue"])
    for labels in (users.copy(), users[["user_id", "Team"]].rename(columns={"Team": "team"})):
        with pytest.warns(IgnoredInputWarning) as caught:
            graph = Graph.from_frames(EDGES, convert(users), convert(labels), label="team")
        stated = [str(each.message).lower() for each in caught]
        assert stated.count("column 'team' of the features is ignored: labels are in 'team'") == 1
        assert graph.y.tolist() == [1, 0, 1, 0]
        assert not any("team" in name.lower() for name in graph.feature_names)


def test_numbered_columns_of_features_and_labels_are_different():
    edges, ids = pd.DataFrame({"source": [0, 1], "target": [1, 2]}), pd.Index([0, 1, 2], name="id")
    features = pd.DataFrame([[1.0, 2], [3, 4], [5, 6]], ids)
    with warnings.catch_warnings(action="error"):
        graph = Graph.from_frames(edges, features, pd.DataFrame(["a", "b", "a"], ids))
    assert (graph.x.tolist(), graph.y.tolist()) == (features.to_numpy().tolist(), [0, 1, 0])


def test_an_index_that_is_left_out_is_named_as_the_alternative():
    edges = pd.DataFrame({"source": [5, 6], "target": [6, 7]})
    frame = pd.DataFrame({"steps": [6, 7, 5], "w": [1, 2, 3]}, index=[5, 6, 7])
    with pytest.warns(AssumedInputWarning, match=r"column 'steps' of the features: set id .*frame.rename_axis\('id'\)"):
        Graph.from_frames(edges, frame)
    with warnings.catch_warnings(action="error"):
        assert Graph.from_frames(edges, frame.rename_axis("id")).x.tolist() == [[6, 1], [7, 2], [5, 3]]


def test_vectors_may_stand_beside_other_columns():
    frame = pd.DataFrame({"id": ["a", "b"], "vec": [[1.0, 2], [3, 4]], "city": ["Rome", "Oslo"]})
    graph = Graph.from_frames(pd.DataFrame({"source": ["a"], "target": ["b"]}), frame)
    assert graph.feature_names == ("vec[0]", "vec[1]", "city=Oslo", "city=Rome")
    assert graph.x.tolist() == [[1, 2, 0, 1], [3, 4, 1, 0]]


def test_what_is_assumed_is_stated_as_for_files():
    with pytest.warns(AssumedInputWarning, match="edges join columns 'follower' and 'followee' of the edges"):
        Graph.from_frames(
            pd.DataFrame({"followee": ["a"], "follower": ["b"]}), pd.DataFrame({"id": ["a", "b"], "x": [1, 2]})
        )


@pytest.mark.parametrize(
    ("frames", "options", "error", "words"),
    [
        (("edges.csv",), {}, GraphError, "the edges must be a DataFrame of pandas or polars, .* got str"),
        ((pl.from_pandas(EDGES).lazy(),), {}, GraphError, r"got LazyFrame: call collect\(\) first"),
        ((EDGES[["source"]],), {}, GraphError, "the edges must have at least 2 columns of ids; it has 1"),
        ((EDGES[:0],), {}, GraphError, "a graph must have at least one edge; the edges lists none"),
        ((EDGES,), {"source": "sauce"}, ParameterError, "source must name a column of the edges; .*'source'"),
        ((EDGES, USERS), {"id": "user"}, ParameterError, "id must name a column of the features; .*'user_id'"),
        ((EDGES, [[1]]), {}, GraphError, "the features must be a DataFrame .* got list"),
        (
            (EDGES, pd.concat([USERS, USERS])),
            {},
            GraphError,
            r"the features have several for .* in row \d \(from 0\) and row \d \(from 0\): keep",
        ),
        ((EDGES, USERS, pd.concat([TEAMS, TEAMS])), {}, GraphError, "the labels have several for"),
        ((EDGES, USERS, USERS), {}, GraphError, "labels must be one column of the labels; it has several"),
        ((EDGES, USERS, USERS.copy()), {}, GraphError, "labels must be one column of the labels; it has several"),
        (
            (pd.DataFrame({"source": ["a", 1], "target": ["b", "c"]}),),
            {},
            GraphError,
            r"must have one type; 'source' of the edges has int, str: make all of them text, as by astype\(str\)$",
        ),
        ((EDGES.assign(weight=["x", "y", "z"]),), {}, GraphError, "weights must be numbers; column 'weight' .* 'x'"),
    ],
)
def test_invalid_tables_are_rejected(frames, options, error, words):
    with pytest.raises(error, match=words):
        Graph.from_frames(*frames, **options)


@pytest.mark.parametrize("convert", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("frame", [EDGES, USERS, pd.DataFrame({"source": [0, 1, 2], "target": [1, 2, 0]})])
def test_a_table_alone_is_rejected_with_advice(convert, frame):
    with pytest.raises(GraphError, match=r"by Graph.from_frames\(edges, features\); got \w+ alone, with the columns"):
        embed(convert(frame))


@pytest.mark.parametrize("convert", KINDS.values(), ids=KINDS)
def test_a_table_of_numbers_is_a_matrix_of_features(convert):
    frame = pd.DataFrame({"age": [1.0, 2, 3], "height": [1.5, 1.75, 2]})
    with warnings.catch_warnings(action="error"):
        assert check_graph(convert(frame)).x.tolist() == frame.to_numpy().tolist()


@pytest.mark.parametrize("convert", KINDS.values(), ids=KINDS)
def test_booleans_beside_numbers_are_features(convert):
    frame = pd.DataFrame({"is_new": [True, False, True], "height": [1.5, 1.75, 2]})
    graph = AutoEmbedder(n_components=2).fit(convert(frame)).embedding_
    assert graph.shape == (3, 2)
    assert check_graph(convert(frame)).x.tolist() == [[1, 1.5], [0, 1.75], [1, 2]]


@pytest.mark.parametrize("convert", KINDS.values(), ids=KINDS)
def test_features_of_a_graph_have_the_names_of_the_columns(convert):
    frame = pd.DataFrame({"age": [1.0, 2, 3], "height": [1.5, 1.75, 2]})
    assert Graph(convert(frame), [[0, 1], [1, 2]]).feature_names == ("age", "height")
    assert Graph(convert(frame), [[0, 1], [1, 2]], feature_names=["a", "b"]).feature_names == ("a", "b")
    assert Graph(frame.to_numpy(), [[0, 1], [1, 2]]).feature_names is None
    assert Graph(pd.DataFrame(frame.to_numpy()), [[0, 1], [1, 2]]).feature_names is None


def test_a_lazy_frame_is_rejected_with_advice():
    with pytest.raises(GraphError, match=r"got LazyFrame: call collect\(\) first"):
        check_graph(pl.from_pandas(EDGES).lazy())


def test_new_rows_are_read_as_those_of_the_fitted_table():
    pairs = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"]})
    users = pd.DataFrame({"id": ["a", "b", "c"], "age": [30, 40, 50], "code": ["x1", "7", "x1"]})
    encoder = Graph.from_frames(pairs, users).table.encoder
    new = pd.DataFrame({"id": ["d", "e"], "age": [35, 35], "code": ["7", "7"]})
    graph = Graph.from_frames(pd.DataFrame({"source": ["d"], "target": ["e"]}), new, encoder=encoder)
    assert graph.feature_names == ("age", "code=7", "code=x1")
    assert graph.x.tolist() == [[35, 1, 0], [35, 1, 0]]


def test_a_column_of_several_types_is_named_and_can_be_ignored():
    edges = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"]})
    users = pd.DataFrame({"id": ["a", "b", "c"], "m": [1, "two", None], "age": [1, 2, 4]})
    with pytest.raises(
        GraphError, match=r"'m' of the features has int, str: .* or set kinds={'m': 'ignored'} to leave"
    ):
        Graph.from_frames(edges, users)
    assert Graph.from_frames(edges, users, kinds={"m": "ignored"}).feature_names == ("age",)


def test_two_columns_of_one_name_are_rejected():
    users = pd.DataFrame([["a", 1, 2], ["b", 3, 5]], columns=["id", "age", "age"])
    with pytest.raises(GraphError, match="columns of the features must have different names; 'age' is the name of sev"):
        Graph.from_frames(pd.DataFrame({"source": ["a"], "target": ["b"]}), users)


def test_durations_are_rejected_with_a_remedy():
    edges = pd.DataFrame({"source": ["a"], "target": ["b"]})
    users = pd.DataFrame({"id": ["a", "b"], "stay": pd.to_timedelta([1, 2], unit="h"), "age": [1, 2]})
    with pytest.raises(GraphError, match=r"in seconds, as by dt.total_seconds\(\) .* set kinds={'stay': 'ignored'}"):
        Graph.from_frames(edges, users)
    assert Graph.from_frames(edges, users, kinds={"stay": "ignored"}).feature_names == ("age",)
