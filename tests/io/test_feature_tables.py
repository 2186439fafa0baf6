"""Tables of features with columns of any kind, read from text and Parquet."""

from __future__ import annotations

import datetime
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from graphprox import AssumedInputWarning, Graph, GraphError, IgnoredInputWarning, ParameterError, ReadError, read_graph
from graphprox.preprocessing import Preprocessor, TableEncoder

EDGES = "source,target\nann,bob\nbob,cy\ncy,dan\n"
PEOPLE = """id,age,city,member,joined
ann,31,Paris,yes,2024-01-31
bob,NA,Rome,no,2023-05-06
cy,52,Paris,no,
dan,40,,yes,2021-01-01
"""
NAMES = ("age", "age is missing", "city=Paris", "city=Rome", "city is missing", "member", "joined")


@pytest.fixture
def edges(write):
    return write("edges.csv", EDGES)


def test_columns_of_a_text_file_may_be_of_any_kind(edges, write):
    graph = read_graph(edges, features=write("people.csv", PEOPLE))
    assert graph.feature_names[:7] == NAMES
    assert graph.x[:, :6].tolist() == [
        [31, 0, 1, 0, 0, 1],
        [41, 1, 0, 1, 0, 0],
        [52, 0, 1, 0, 0, 0],
        [40, 0, 0, 0, 1, 1],
    ]
    assert graph.ids.tolist() == ["ann", "bob", "cy", "dan"]
    assert graph.table.columns.column_names == ["age", "city", "member", "joined"]


def test_parquet_gives_the_same_features_as_text(edges, write, tmp_path):
    table = pd.DataFrame(
        {
            "id": ["ann", "bob", "cy", "dan"],
            "age": [31, None, 52, 40],
            "city": pd.Series(["Paris", "Rome", "Paris", None], dtype="category"),
            "member": [True, False, False, True],
            "joined": [datetime.date(2024, 1, 31), datetime.date(2023, 5, 6), None, datetime.date(2021, 1, 1)],
        }
    )
    table.to_parquet(tmp_path / "people.parquet")
    stored = read_graph(edges, features=tmp_path / "people.parquet")
    text = read_graph(edges, features=write("people.csv", PEOPLE))
    assert stored.feature_names == text.feature_names
    assert np.array_equal(stored.x, text.x)


def test_numbers_without_missing_ones_are_read_as_before(edges, write):
    graph = read_graph(edges, features=write("x.csv", "id,a,b\nann,1,2\nbob,3,0.1\ncy,5,6\ndan,7,8\n"))
    assert graph.x.tolist() == np.array([[1, 2], [3, 0.1], [5, 6], [7, 8]], np.float32).tolist()
    assert (graph.feature_names, graph.table) == (("a", "b"), None)
    bare_edges = write("bare_edges.csv", EDGES.partition("\n")[2])
    bare = read_graph(bare_edges, features=write("bare.csv", "ann,1,2\nbob,3,0.1\ncy,5,6\ndan,7,8\n"), header=False)
    assert np.array_equal(bare.x, graph.x)
    assert bare.feature_names is None


def test_columns_without_a_header_are_named_by_their_number(write):
    edges = write("bare_edges.csv", EDGES.partition("\n")[2])
    path = write("x.csv", "ann,1,red\nbob,3,blue\ncy,5,red\ndan,7,blue\n")
    assert read_graph(edges, features=path, header=False).feature_names == ("column 2", "column 3=blue", "column 3=red")


@pytest.mark.parametrize("cell", ["", "NA", "n/a", "null", "None", "NaN"])
def test_a_missing_number_is_the_mean_and_has_a_mark(edges, write, cell):
    graph = read_graph(edges, features=write("x.csv", f"id,a\nann,1\nbob,{cell}\ncy,5\ndan,6\n"))
    assert graph.x.tolist() == [[1, 0], [4, 1], [5, 0], [6, 0]]


def test_one_word_among_numbers_is_reported_with_its_place(edges, write):
    path = write("x.csv", "id,a,b\nann,1,2\nbob,3,thre\ncy,5,6\n\ndan,7,8\n")
    words = (
        r"numbers must contain nothing else; column 'b' in line 3 of .*x\.csv contains 'thre': .* leave it empty, or "
    )
    with pytest.raises(ReadError, match=f"{words}set kinds={{'b': 'category'}}$"):
        read_graph(edges, features=path)


def test_a_column_without_a_name_is_named_as_in_messages(edges, write):
    path = write("x.csv", "ann,1\nbob,thre\ncy,5\ndan,7\n")
    graph = read_graph(edges, features=path, kinds={"column 2": "category"})
    assert graph.feature_names == ("column 2=1", "column 2=5", "column 2=7", "column 2=thre")


def test_text_and_other_types_are_rejected(edges, write, tmp_path):
    rows = "".join(
        f"{name},{name} writes long sentences about many different things\n" for name in ["ann", "bob", "cy", "dan"]
    )
    with pytest.raises(GraphError, match="'about' contains text"):
        read_graph(edges, features=write("x.csv", f"id,about\n{rows}"))
    pd.DataFrame({"id": ["ann", "bob"], "a": [{"b": 1}, {"b": 2}]}).to_parquet(tmp_path / "x.parquet")
    with pytest.raises(GraphError, match="column 'a' must contain numbers, categories or dates; it contains struct"):
        read_graph(edges, features=tmp_path / "x.parquet")


def test_rows_of_another_graph_are_encoded_as_those_of_the_first(edges, write):
    first = read_graph(edges, features=write("people.csv", PEOPLE))
    other = """id,joined,city,age,member
ann,2020-02-29,Paris,12,no
bob,,Oslo,13,no
cy,2020-02-29,Rome,,no
dan,,Rome,1,no
"""
    with pytest.warns(IgnoredInputWarning, match="'city' has 'Oslo'"):
        graph = read_graph(edges, features=write("other.csv", other), encoder=first.table.encoder)
    assert graph.feature_names == first.feature_names
    assert graph.x[:, :6].tolist() == [
        [12, 0, 1, 0, 0, 0],
        [13, 0, 0, 0, 0, 0],
        [41, 1, 0, 1, 0, 0],
        [1, 0, 0, 1, 0, 0],
    ]


def test_numbers_are_found_by_their_names(edges, write):
    path = write("x.csv", "id,b,a\nann,2,1\nbob,4,3\ncy,6,5\ndan,8,7\n")
    graph = read_graph(edges, features=path, encoder=TableEncoder.of_numbers(["a", "b"], np.zeros(2)))
    assert graph.x.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]
    assert graph.table is None


def test_rows_of_features_are_joined_with_the_nodes_of_a_complete_graph(write, tmp_path):
    np.savez(tmp_path / "g.npz", edge_index=[[0, 1], [1, 2]], num_nodes=3)
    path = write("x.csv", "id,color\n2,red\n1,blue\n0,blue\n")
    graph = read_graph(tmp_path / "g.npz", features=path)
    assert graph.x.tolist() == [[1, 0], [1, 0], [0, 1]]
    assert graph.table.columns.column("color").to_pylist() == ["blue", "blue", "red"]


# -- kinds of columns ------------------------------------------------------------------------------------------------

FOUR = ["ann", "bob", "cy", "dan"]


def read_frame(edges, frame):
    pairs = pd.read_csv(edges)
    return Graph.from_frames(pairs, frame)


@pytest.mark.parametrize("reader", ["parquet", "frame"])
def test_categories_stay_categories_even_if_they_are_numbers(edges, tmp_path, reader):
    frame = pd.DataFrame(
        {"id": FOUR, "plan": pd.Categorical([1, 2, 1, 3]), "team": pd.Categorical(["1", "2", "2", "1"])}
    )
    frame.to_parquet(tmp_path / "x.parquet")
    graph = read_graph(edges, features=tmp_path / "x.parquet") if reader == "parquet" else read_frame(edges, frame)
    assert graph.feature_names == ("plan=1", "plan=2", "plan=3", "team=1", "team=2")


def test_a_weight_stored_as_a_category_is_a_number():
    edges = pd.DataFrame({"source": [0, 1], "target": [1, 2], "weight": pd.Categorical([2, 3])})
    users = pd.DataFrame({"id": [0, 1, 2], "age": [30, 40, 51]})
    assert sorted(set(Graph.from_frames(edges, users).edge_weight.tolist())) == [2, 3]


def test_lists_of_numbers_may_stand_beside_other_kinds(edges):
    frame = pd.DataFrame({"id": FOUR, "vector": [[1.0, 2], [3, 4], [5, 6], [7, 8]], "city": ["x", "y", "x", "y"]})
    assert read_frame(edges, frame).feature_names == ("vector[0]", "vector[1]", "city=x", "city=y")


def test_booleans_are_the_same_in_text_parquet_and_frames(edges, write, tmp_path):
    frame = pd.DataFrame({"id": FOUR, "age": [30, 40, 50, 61], "member": [True, False, False, True]})
    frame.to_parquet(tmp_path / "x.parquet")
    text = read_graph(edges, features=write("x.csv", frame.to_csv(index=False)))
    stored = read_graph(edges, features=tmp_path / "x.parquet")
    fitted = Preprocessor.fit(stored)
    expected = fitted.transform(stored)
    assert expected.x[:, 1].tolist() == [1, 0, 0, 1]
    for graph in (text, read_frame(edges, frame)):
        assert graph.table.encoder == stored.table.encoder
        assert np.array_equal(fitted.transform(graph).x, expected.x)


# -- missing cells and scales ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["words", "components", "table"])
@pytest.mark.parametrize("missing", ["cell", "row"])
def test_one_missing_cell_or_row_does_not_change_the_scaling(kind, missing):
    generator = np.random.default_rng(0)
    x = {
        "words": (generator.random((40, 6)) < 0.3).astype(float),
        "components": generator.normal(size=(40, 6)) / np.arange(1, 7) ** 2,
        "table": generator.normal([40, 50_000, 0.5, 3, 3, 3], [10, 9_000, 0.1, 1, 1, 1], size=(40, 6)),
    }[kind]
    frame = pd.DataFrame(x, columns=list("abcdef")).rename_axis("id").reset_index()
    pairs = pd.DataFrame({"source": range(40), "target": np.roll(np.arange(40), 1)})
    graph = Graph.from_frames(pairs, frame)
    if missing == "cell":
        frame.loc[39, "a"] = None
        other = Graph.from_frames(pairs, frame)
    else:
        with pytest.warns(AssumedInputWarning, match="no row"):
            other = Graph.from_frames(pairs, frame[:39])
    assert other.num_features == graph.num_features + 1
    expected, found = Preprocessor.fit(graph).scaling, Preprocessor.fit(other).scaling
    assert (expected is None) == (found is None) == (kind != "table")
    if found is not None:
        quantities = [i for i, name in enumerate(other.feature_names) if "missing" not in name]
        assert np.allclose(found.factors[quantities], expected.factors, rtol=0.05)
        assert found.factors[~other.table.encoder.is_quantity].tolist() == [1]


def test_a_node_without_a_row_has_one_mark_which_a_model_keeps(edges, write):
    people = write("x.csv", "id,age,city\nann,30,Rome\nbob,,Oslo\ncy,50,Rome\n")
    with pytest.warns(AssumedInputWarning, match="1 node has no row"):
        graph = read_graph(edges, features=people)
    assert graph.feature_names == ("age", "age is missing", "city=Oslo", "city=Rome", "row is missing")
    assert graph.x[:, [1, 4]].tolist() == [[0, 0], [1, 0], [0, 0], [1, 1]]
    fitted = Preprocessor.fit(graph)
    stored = Preprocessor.from_dict(fitted.to_dict(), num_features=5)
    complete = read_graph(
        edges, features=write("y.csv", "id,age,city\nann,30,Rome\nbob,1,Oslo\ncy,5,Rome\ndan,2,Rome\n")
    )
    assert stored.encode(complete).x[:, 4].tolist() == [0, 0, 0, 0]


# -- notations of numbers --------------------------------------------------------------------------------------------


def test_codes_with_zeros_in_front_are_categories_in_text_and_parquet(edges, write, tmp_path):
    frame = pd.DataFrame({"id": FOUR, "age": [30, 40, 50, 61], "zip": ["01234", "99999", "01234", "99999"]})
    frame.to_parquet(tmp_path / "x.parquet")
    for path in (tmp_path / "x.parquet", write("x.csv", frame.to_csv(index=False))):
        assert read_graph(edges, features=path).feature_names == ("age", "zip=01234", "zip=99999")
    small = write("y.csv", "id,age,size\nann,-0.5,1e-07\nbob,0,0.5\ncy,0,00.5\ndan,1,0\n")
    assert read_graph(edges, features=small).feature_names == ("age", "size")


@pytest.mark.parametrize(
    "text",
    ['id,height\nann,"1,5"\nbob,"1,75"\ncy,2\ndan,"1,6"\n', "id;height\nann;1,500\nbob;1,750\ncy;2\ndan;1,600\n"],
    ids=["commas between cells", "thousands"],
)
def test_an_ambiguous_comma_is_an_error_that_names_the_cell(edges, write, text):
    with pytest.raises(
        ReadError, match=r"decimal point .*; column 'height' in line 2 of .* contains '1,50?0?': write 1\.5"
    ):
        read_graph(edges, features=write("x.csv", text))


# -- kinds that the user gives --------------------------------------------------------------------------------------

USERS = pd.DataFrame(
    {
        "age": [31, 25, 40, 52],
        "user_id": FOUR,
        "zip": [75001, 69001, 75001, 13001],
        "about": [f"{name} writes long sentences about many different things" for name in FOUR],
    }
)
KINDS = {"zip": "category", "about": "ignored"}
ENCODED = ("age", "zip=13001", "zip=69001", "zip=75001")


def read_users(edges, folder, reader, frame=USERS, kinds=KINDS):
    if reader == "frame":
        return Graph.from_frames(pd.read_csv(edges), frame, kinds=kinds)
    path = folder / f"users.{reader}"
    write = {"csv": frame.to_csv, "tsv": frame.to_csv, "parquet": frame.to_parquet}[reader]
    write(path, index=False, **({"sep": "\t"} if reader == "tsv" else {}))
    return read_graph(edges, features=path, kinds=kinds)


@pytest.mark.parametrize("reader", ["csv", "tsv", "parquet", "frame"])
@pytest.mark.filterwarnings("ignore:ids are read")
def test_kinds_are_the_same_however_a_table_is_read(edges, tmp_path, reader):
    graph = read_users(edges, tmp_path, reader)
    assert graph.feature_names == ENCODED
    assert graph.x[:, 1:].tolist() == [[0, 0, 1], [0, 1, 0], [0, 0, 1], [1, 0, 0]]
    by_number = read_users(edges, tmp_path, reader, kinds={3: "category", "4": "ignored"})
    assert np.array_equal(by_number.x, graph.x)
    assert by_number.table.encoder == graph.table.encoder


@pytest.mark.parametrize("reader", ["csv", "parquet", "frame"])
@pytest.mark.filterwarnings("ignore:ids are read")
def test_an_ignored_column_may_contain_anything(edges, tmp_path, reader):
    known = read_users(edges, tmp_path, reader, USERS[["age", "user_id"]], kinds={})
    for cells in (["a", "b", "c", "d"], [1.5, None, 1, 2], [None] * 4, [[1], [2, 3], None, []], [{"a": 1}] * 4):
        if reader == "csv" and isinstance(cells[0], list | dict):
            continue
        frame = USERS[["age", "user_id"]].assign(odd=cells)
        graph = read_users(edges, tmp_path, reader, frame, kinds={"odd": "ignored"})
        assert np.array_equal(graph.x, known.x)
        assert graph.feature_names == known.feature_names
        assert graph.table.encoder.ignored == ("odd",)


@pytest.mark.parametrize("reader", ["csv", "parquet", "frame"])
@pytest.mark.parametrize("kinds", [KINDS, {"zip": "ignored", "about": "ignored"}])
@pytest.mark.filterwarnings("ignore:ids are read")
def test_a_model_takes_new_rows_as_the_kinds_say(edges, tmp_path, reader, kinds):
    graph = read_users(edges, tmp_path, reader, kinds=kinds)
    encoder = Preprocessor.fit(graph).encoder
    path = tmp_path / "new.parquet"
    USERS.assign(zip=[69001, 69001, 69001, 69001], about=[[1], [2, 3], None, []]).to_parquet(path)
    for features in (path, USERS.drop(columns="about")):
        with warnings.catch_warnings(action="error"):
            warnings.filterwarnings("ignore", "ids are read")
            if isinstance(features, pd.DataFrame):
                other = Graph.from_frames(pd.read_csv(edges), features, encoder=encoder)
                assert np.array_equal(other.x, graph.x)
            else:
                other = read_graph(edges, features=features, encoder=encoder)
                assert other.feature_names == graph.feature_names
                assert other.x[:, 0].tolist() == [31, 25, 40, 52]


@pytest.mark.parametrize(
    "kinds", [KINDS, {"zip": "ignored", "about": "ignored"}, {"zip": "number", "about": "ignored"}]
)
@pytest.mark.filterwarnings("ignore:ids are read")
def test_nodes_without_a_row_leave_the_kinds_as_they_are(edges, write, kinds):
    more = write("more.csv", EDGES + "dan,eve\n")
    path = write("users.csv", USERS.to_csv(index=False))
    expected = read_graph(edges, features=path, kinds=kinds)
    with pytest.warns(AssumedInputWarning, match="1 node has no row") as caught:
        graph = read_graph(more, features=path, kinds=kinds)
    assert all("ids are read" in str(each.message) or "no row" in str(each.message) for each in caught)
    known = [graph.feature_names.index(name) for name in expected.feature_names]
    assert np.array_equal(graph.x[:4, known], expected.x)
    assert graph.table.encoder.ignored == expected.table.encoder.ignored


def test_kinds_of_columns_without_names_are_given_by_number(write):
    edges = write("e.csv", EDGES.partition("\n")[2])
    path = write("x.csv", "ann,1,7,3\nbob,3,8,2\ncy,5,7,9\ndan,7,9,4\n")
    graph = read_graph(edges, features=path, header=False, kinds={3: "category", "4": "ignored"})
    assert graph.feature_names == ("column 2", "column 3=7", "column 3=8", "column 3=9")
    numbers = read_graph(edges, features=path, header=False, kinds={3: "ignored"})
    assert (numbers.x.tolist(), numbers.table.encoder.ignored) == ([[1, 3], [3, 2], [5, 9], [7, 4]], ("column 3",))
    with warnings.catch_warnings(action="error"):
        again = read_graph(edges, features=path, header=False, encoder=Preprocessor.fit(numbers).encoder)
    assert np.array_equal(again.x, numbers.x)


def test_lists_of_numbers_may_be_ignored_and_are_numbers_otherwise(edges):
    frame = pd.DataFrame({"id": FOUR, "vector": [[1.0, 2], [3, 4], [5, 6], [7, 8]], "age": [31, 25, 40, 52]})
    pairs = pd.read_csv(edges)
    assert Graph.from_frames(pairs, frame, kinds={"vector": "ignored"}).feature_names == ("age",)
    given = Graph.from_frames(pairs, frame, kinds={"vector": "number"})
    assert np.array_equal(given.x, Graph.from_frames(pairs, frame).x)
    with pytest.raises(
        ParameterError, match="kinds must be 'number' or 'ignored' for a column of lists; got 'category'"
    ):
        Graph.from_frames(pairs, frame, kinds={"vector": "category"})


def test_kinds_name_attributes_of_networkx_and_graphml(tmp_path):
    made = nx.path_graph(4)
    for node in made:
        made.nodes[node].update(zip=75001 + node % 2, age=30 + node * node, note=f"n{node}", vec=[1.0, node])
    kinds = {"zip": "category", "note": "ignored", "vec": "ignored"}
    graph = Graph.from_networkx(made, kinds=kinds)
    assert graph.feature_names == ("age", "zip=75001", "zip=75002")
    assert graph.table.encoder.ignored == ("note", "vec")
    for node in made:
        del made.nodes[node]["vec"]
    nx.write_graphml(made, tmp_path / "g.graphml")
    del kinds["vec"]
    assert np.array_equal(read_graph(tmp_path / "g.graphml", kinds=kinds).x, graph.x)
    with pytest.raises(ParameterError, match="kinds must name attributes of nodes; got 'zpi': did you mean 'zip'"):
        read_graph(tmp_path / "g.graphml", kinds={"zpi": "category"})


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        ({"zpi": "category"}, "kinds must name a column of .*; got 'zpi': did you mean 'zip'"),
        ({9: "category"}, "kinds must be a column of .*, by name or by number from 1 to 4; got 9"),
        ({"zip": "code"}, "kinds must be among number, .*, ignored; got 'code' for 'zip'"),
        ({"zip": "category", 3: "number"}, "kinds must name each column of .* once; got several for 'zip'"),
        ({"user_id": "ignored"}, "kinds must name features of .*; got 'user_id', which contains the ids"),
        (
            {"age": "ignored", "zip": "ignored", "about": "ignored"},
            "kinds must leave a feature of .*; got 'ignored' for",
        ),
        (
            {"about": "number"},
            "a column of numbers must contain nothing else; column .about. in line 2 of .* contains 'ann writes",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:ids are read", "ignore:column 'zip' is named as a code")
def test_kinds_that_cannot_be_taken_are_rejected(edges, write, kinds, words):
    with pytest.raises((ParameterError, ReadError), match=words):
        read_graph(edges, features=write("users.csv", USERS.to_csv(index=False)), kinds=kinds)


def test_kinds_of_labels_and_other_files_are_rejected(edges, write, tmp_path):
    users = write("u.csv", "id,age,team\nann,1,x\nbob,2,y\ncy,3,x\ndan,4,x\n")
    with pytest.raises(ParameterError, match=r"kinds must name features of .*; got 'team', which contains the labels"):
        read_graph(edges, features=users, labels=users, label="team", kinds={"team": "category"})
    np.save(tmp_path / "x.npy", np.eye(4))
    with pytest.raises(ParameterError, match=r"kinds can only be given with a table of features; .*x\.npy is a matrix"):
        read_graph(edges, features=tmp_path / "x.npy", kinds={"a": "number"})
    with pytest.raises(ParameterError, match="kinds can only be given with a table of features; got none"):
        read_graph(edges, kinds={"a": "number"})
    with pytest.raises(ParameterError, match="kinds can only be given with a table of features; got none"):
        Graph.from_frames(pd.read_csv(edges), kinds={"a": "number"})
    encoder = TableEncoder.of_numbers(["age"], np.zeros(1))
    for read in (read_graph, Graph.from_frames):
        pairs, table = (edges, users) if read is read_graph else (pd.read_csv(edges), pd.read_csv(users))
        with pytest.raises(ParameterError, match="kinds must not be given with an encoder"):
            read(pairs, features=table, kinds={"age": "number"}, encoder=encoder)


def test_a_copy_of_the_label_may_be_ignored_in_silence(edges, write):
    users = write("u.csv", "id,age,team\nann,1,x\nbob,2,y\ncy,3,x\ndan,4,x\n")
    labels = write("y.csv", "id,team\nann,x\nbob,y\n")
    with warnings.catch_warnings(action="error"):
        assert read_graph(edges, features=users, labels=labels, kinds={"team": "ignored"}).feature_names == ("age",)
