"""Columns are chosen by what the user names, by their names, and by position, in text and in Parquet.

Covers graphprox._utils.column_names, graphprox.io.tables.edge_columns and graphprox.io.tables.node_columns.
"""

from __future__ import annotations

import gzip
import io
import warnings
import zipfile

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from graphprox import (
    AssumedInputWarning,
    GraphproxWarning,
    IgnoredInputWarning,
    ParameterError,
    ReadError,
    load,
    read_graph,
)
from graphprox._utils.column_names import find_ends, is_entity_id, is_label, is_node_id

pytestmark = pytest.mark.filterwarnings("ignore::graphprox.StructuralFeaturesWarning")


@pytest.fixture(params=["csv", "parquet"])
def put(request, tmp_path):
    """Function that writes a table, given as CSV, in each format."""

    def put(name, text):
        path = tmp_path / f"{name}.{request.param}"
        if request.param == "csv":
            path.write_text(text)
        else:
            pd.read_csv(io.StringIO(text)).to_parquet(path)
        return path

    return put


@pytest.mark.parametrize(
    ("names", "ends"),
    [
        ("source target", (0, 1)),
        ("date weight target source", (3, 2)),
        ("dst src", (1, 0)),
        ("to_user_id from_user_id", (1, 0)),
        ("ToNodeId FromNodeId", (1, 0)),
        ("followee follower", (1, 0)),
        ("source_name source_id target_name target_id", (1, 3)),
        ("when person1 person2", (1, 2)),
        ("start_station end_station", (0, 1)),
        ("v u", (1, 0)),
        ("citing cited", (0, 1)),
        ("customer_id product_id", None),
        ("a b", None),
        ("source price", None),
        ("from_date to_date", None),
        ("date source_ip target_ip", (1, 2)),
        ("src_port dst_port ip_dst ip_src", (3, 2)),
        ("to_currency rate from_currency", (2, 0)),
        ("source_wallet target_bank", None),
        ("score1 score2", None),
    ],
)
def test_ends_of_edges_are_known_by_name(names, ends):
    assert find_ends(names.split()) == ends


@pytest.mark.parametrize(
    "name", ["user_id", "User ID", "userId", "UserID", "userid", "user-id", "USER_ID", "customer no"]
)
def test_ids_are_known_in_every_spelling(name):
    assert is_entity_id(name)


def test_names_of_nodes_and_labels_are_known():
    assert all(map(is_node_id, ["id", "ID", "Node ID", "node", "nodeId"]))
    assert not any(map(is_node_id, ["user_id", "idea", "grid", "company_id", ""]))
    assert all(map(is_label, ["label", "Class", "true_label", "y"]))
    assert not any(map(is_label, ["city", "yes", "label_id", ""]))


# -- edges ----------------------------------------------------------------------------------------------------------


def test_ends_and_weights_are_found_wherever_they_stand(put, read_edge_set):
    path = put("e", "date,weight,target,source\n2024-01-02,3,bob,ann\n2024-01-03,1,cy,bob\n")
    with pytest.warns(
        IgnoredInputWarning, match=r"'date' .* ignored: edges join columns 'source' and 'target', .*'weight'"
    ):
        graph = read_graph(path, directed=True)
    assert read_edge_set(graph) == {(("ann", "bob"), 3.0), (("bob", "cy"), 1.0)}


def test_another_order_is_stated(put, read_edge_set):
    with pytest.warns(AssumedInputWarning, match="edges join columns 'follower' and 'followee'"):
        graph = read_graph(put("e", "followee,follower\nann,bob\nbob,cy\n"), directed=True)
    assert read_edge_set(graph) == {("bob", "ann"), ("cy", "bob")}


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("customer_id,product_id,price\n17,A3,9.9\n18,A3,1.5\n", {"17", "18", "A3"}),
        ("price,customer_id,product_id\n9.9,17,A3\n1.5,18,A3\n", {"17", "18", "A3"}),
        ("id,customer_id,product_id\n7,17,A3\n3,18,A3\n", {"17", "18", "A3"}),
        ("order_id,customer_id,product_id\n501,17,A3\n502,18,A3\n", {"17", "18", "A3"}),
    ],
)
def test_columns_named_as_ids_are_taken_and_stated(put, text, ids):
    with pytest.warns(
        IgnoredInputWarning, match="ignored: edges join columns 'customer_id' and 'product_id', without weights"
    ):
        assert set(read_graph(put("e", text)).ids) == ids


@pytest.mark.parametrize(
    "named",
    [{"source": "seller", "target": "buyer", "weight": "price"}, {"source": "3", "target": 1, "weight": 2},
     {"source": " Seller", "target": "BUYER", "weight": "Price"}],
)  # fmt: skip
def test_named_columns_are_taken(put, read_edge_set, named):
    path = put("e", "buyer,price,seller\nann,2.5,bob\nbob,1,cy\n")
    with warnings.catch_warnings(action="error"):
        warnings.filterwarnings("ignore", "the graph has no features")
        graph = read_graph(path, directed=True, **named)
    assert read_edge_set(graph) == {(("bob", "ann"), 2.5), (("cy", "bob"), 1.0)}


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("id,name,manager_id\n2,ann,1\n3,bob,2\n4,cy,2\n", "'id' and 'manager_id'"),
        ("id,name,manager\n2,ann,bob\n3,bob,cy\n4,cy,dee\n", "'name' and 'manager'"),
        ("id,name,department_id,reports_to\n2,ann,8,1\n3,bob,8,2\n4,cy,9,2\n", "'id' and 'reports_to'"),
        ("id,employee_id,manager_id\n1,e2,e1\n2,e3,e2\n3,e4,e2\n", "'employee_id' and 'manager_id'"),
        ("employee_id,name,manager_id\n2,ann,1\n3,bob,2\n4,cy,2\n", "'employee_id' and 'manager_id'"),
        ("customer_id,city,product_id\nc2,Rome,p1\nc3,Oslo,p2\n", "'customer_id' and 'product_id'"),
        ("user_id,phone,friend_id\n2,555,1\n3,556,2\n", "'user_id' and 'friend_id'"),
        ("user_id,phone_number,friend_id\n2,555,1\n3,556,2\n", "'user_id' and 'friend_id'"),
        ("user,name,friend\n1,Ann,2\n2,Bob,3\n", "'user' and 'friend'"),
        ("date,source_ip,target_ip\n2024-01-01,10.0.0.1,10.0.0.2\n2024-01-02,10.0.0.2,10.0.0.3\n",
         "'source_ip' and 'target_ip'"),
    ],
)  # fmt: skip
def test_ids_are_ends_of_edges_before_attributes(put, text, ends):
    with pytest.warns(
        IgnoredInputWarning,
        match=f"edges join columns {ends}, without weights: set source, target or weight to take other columns",
    ):
        assert read_graph(put("e", text)).num_edges == text.count("\n") - 1


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("source,target,weight,note\na,b,1,x\n", "'weight': set source and target to take other columns"),
        ("source,target,note\na,b,x\n", "without weights: set source, target or weight to take other columns"),
    ],
)
def test_columns_are_ignored_in_silence_once_others_are_named(put, text, hint):
    path = put("e", text)
    with pytest.warns(IgnoredInputWarning, match=f"{hint}, or to confirm these$"):
        read_graph(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error", IgnoredInputWarning)
        read_graph(path, source="source", target="target")
        read_graph(path, target="target")


def test_weights_without_a_header_are_stated(write):
    path = write("e.txt", "1 2 3\n2 3 100000000\n")
    with pytest.warns(AssumedInputWarning, match=r"weights are read from column 3 of .*: set weight=3 to confirm it"):
        assert read_graph(path, directed=True).edge_weight.tolist() == [3, 1e8]
    with warnings.catch_warnings(action="error"):
        warnings.filterwarnings("ignore", "the graph has no features")
        assert read_graph(path, directed=True, weight=3).edge_weight.tolist() == [3, 1e8]


def test_times_without_a_header_are_no_weights(write):
    path = write("e.txt", "1 2 1082040961\n2 3 1082155839\n1 2 1082414391\n")
    with pytest.warns(IgnoredInputWarning, match=r"column 3 of .* seems to contain times: set weight=3 to take it"):
        assert read_graph(path).edge_weight is None
    assert read_graph(path, weight=3, directed=True).edge_weight.tolist() == pytest.approx([2164455352, 1082155839])


def test_columns_without_names_are_given_by_number(write, read_edge_set):
    path = write("e.txt", "7 1 2\n8 2 3\n")
    assert read_edge_set(read_graph(path, source=2, target="3")) == {frozenset({1, 2}), frozenset({2, 3})}


def test_a_third_column_of_words_is_no_weight(write):
    with pytest.warns(IgnoredInputWarning, match=r"column 3 of .* is ignored"):
        assert read_graph(write("e.csv", "ann,bob,likes\nbob,eve,likes\n")).edge_weight is None


def test_late_words_in_an_ignored_column_do_not_matter(write):
    rows = "".join(f"{i},{i + 1},0.5,{i}\n" for i in range(150_000))
    with pytest.warns(IgnoredInputWarning, match="'note'"):
        graph = read_graph(write("e.csv", "source,target,weight,note\n" + rows + "7,9,1.5,late\n"))
    assert graph.num_edges == 150_001


# -- features and labels --------------------------------------------------------------------------------------------

USERS = "age,user_id,height\n31,ann,1.7\n25,bob,1.8\n31,cy,1.9\n"


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        (USERS, "'user_id'"),
        ("size,id,age\n1,ann,1\n2,bob,2\n2,cy,3\n", "'id'"),
        ("user_id,age,company_id\nann,3,1\nbob,4,1\ncy,5,2\n", None),
        ("user,age,company_id\nann,3,1\nbob,4,7\ncy,5,2\n", None),
        ("name,user_id,age\n11,ann,3\n12,bob,4\n13,cy,5\n", "'user_id'"),
        ("age,company_id,member_id\n3,1,ann\n4,1,bob\n5,2,cy\n", "'member_id'"),
    ],
)
def test_ids_of_nodes_are_found_by_name(put, write, text, stated):
    edges = write("e.csv", "ann,bob\nbob,cy\n")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        graph = read_graph(edges, features=put("x", text))
    assert graph.ids.tolist() == ["ann", "bob", "cy"]
    assert graph.num_features == 2
    messages = [str(each.message) for each in caught if "ids are read" in str(each.message)]
    assert (len(messages), stated is None or stated in messages[0]) == (int(stated is not None), True)


def test_ids_have_the_name_of_a_column_of_the_edges(put, write):
    edges = write("e.csv", "customer_id,merchant_id\n1,7\n2,8\n")
    table = put("x", "account_id,customer_id,value\n2,1,0.5\n1,2,1.5\n8,7,2.5\n7,8,3.5\n")
    with pytest.warns(AssumedInputWarning, match="'account_id' is named as a code") as caught:
        graph = read_graph(edges, features=table)
    assert len(caught) == 1
    assert graph.feature_names == ("account_id", "value")
    assert graph.x[graph.ids.tolist().index(1)].tolist() == [2, 0.5]


def test_of_several_columns_of_ids_the_one_that_is_taken_is_stated(put, write):
    table = put("x", "account_id,customer_id,value\n1,2,0.5\n2,1,1.5\n")
    with pytest.warns(AssumedInputWarning, match=r"from column 'account_id' of .*, not from 'customer_id': set id"):
        read_graph(write("e.csv", "1,2\n"), features=table)


def test_the_id_column_may_be_named(put, write):
    edges, path = write("e.csv", "1,2\n2,3\n"), put("x", "id,age,code\n7,31,1\n8,25,2\n9,40,3\n")
    for name in ("code", 3):
        graph = read_graph(edges, features=path, id=name)
        assert (graph.ids.tolist(), graph.x.tolist()) == ([1, 2, 3], [[7, 31], [8, 25], [9, 40]])


def test_labels_may_have_further_columns(put, write):
    edges, path = (
        write("e.csv", "ann,bob\nbob,cy\n"),
        put("y", "city,user_id,team\nRome,ann,red\nOslo,cy,blue\nRome,bob,red\n"),
    )
    with pytest.warns(GraphproxWarning) as caught:
        graph = read_graph(edges, labels=path, label="team")
    assert (graph.y.tolist(), graph.class_names) == ([1, 1, 0], ("blue", "red"))
    assert any("'city' of" in str(each.message) and "labels are in 'team'" in str(each.message) for each in caught)


def test_the_column_of_labels_is_found_by_its_name(put, write):
    with pytest.warns(IgnoredInputWarning, match=r"'age' of .* ignored: labels are in 'label'"):
        graph = read_graph(write("e.csv", "ann,bob\n"), labels=put("y", "id,age,label\nann,3,red\nbob,4,blue\n"))
    assert graph.class_names == ("blue", "red")


def test_several_columns_need_the_name_of_the_label(put, write):
    with pytest.raises(
        ReadError, match=r"labels must be one column of .*; it has several, 'age', 'team': set label to select one"
    ):
        read_graph(write("e.csv", "ann,bob\n"), labels=put("y", "id,age,team\nann,3,red\nbob,4,blue\n"))


def test_an_unnamed_index_is_no_feature(tmp_path, write):
    pd.DataFrame({"user_id": ["ann", "bob"], "age": [3, 4]}, index=[5, 6]).to_csv(tmp_path / "x.csv")
    graph = read_graph(write("e.csv", "ann,bob\n"), features=tmp_path / "x.csv")
    assert (graph.ids.tolist(), graph.x.tolist()) == (["ann", "bob"], [[3], [4]])


def test_labels_may_be_a_column_of_the_features_and_are_no_feature_then(put, write):
    path = put("users", "age,user_id,team\n3,ann,red\n4,bob,blue\n3,cy,red\n")
    with pytest.warns(AssumedInputWarning) as caught:
        graph = read_graph(write("e.csv", "ann,bob\nbob,cy\n"), features=path, labels=path, label="team")
    assert (graph.x.tolist(), graph.y.tolist(), graph.class_names) == ([[3], [4], [3]], [1, 0, 1], ("blue", "red"))
    assert len(caught) == 1


@pytest.mark.parametrize("kind", ["absolute path", "link", "copy"])
def test_labels_of_the_same_table_by_another_path_are_no_feature(put, write, tmp_path, monkeypatch, kind):
    path = put("users", "user_id,age,team\nann,3,red\nbob,4,blue\ncy,3,red\n")
    edges, other = write("e.csv", "ann,bob\nbob,cy\n"), tmp_path / f"other{path.suffix}"
    monkeypatch.chdir(tmp_path)
    if kind == "link":
        other.symlink_to(path)
    elif kind == "copy":
        other.write_bytes(path.read_bytes())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        labels = path if kind == "absolute path" else other
        graph = read_graph(edges, features=path.name, labels=labels, label="team")
    assert (graph.feature_names, graph.y.tolist()) == (("age",), [1, 0, 1])
    left_out = [str(each.message) for each in caught if "'team' of" in str(each.message)]
    assert len(left_out) == len(caught) - (kind == "copy") == (kind == "copy")


@pytest.mark.parametrize("name", ["label", "Class", "true_label", "y", "target", "paper label"])
def test_a_feature_that_is_named_as_the_label_is_stated(put, write, name):
    path = put("users", f"user_id,age,{name}\nann,3,red\nbob,4,blue\ncy,3,red\n")
    edges = write("e.csv", "ann,bob\nbob,cy\n")
    with pytest.warns(
        AssumedInputWarning, match=f"column '{name}' of .* is used as a feature: set kinds={{'{name}': 'ignored'}} to"
    ) as caught:
        read_graph(edges, features=path)
    assert len(caught) == 1
    with warnings.catch_warnings(action="error"):
        assert read_graph(edges, features=path, labels=path, label=name).feature_names == ("age",)
        assert read_graph(edges, features=path, kinds={name: "ignored"}).feature_names == ("age",)
        assert read_graph(edges, features=path, kinds={name: "category"}).num_features == 3


@pytest.mark.parametrize("names", ["x,y", "age,category", "age,ticket_class", "age,yes"])
def test_other_features_are_not_stated(put, write, names):
    path = put("users", f"user_id,{names}\nann,3,1\nbob,4,2\ncy,3,1\n")
    with warnings.catch_warnings(action="error"):
        assert read_graph(write("e.csv", "ann,bob\nbob,cy\n"), features=path).num_features == 2


@pytest.mark.parametrize(
    ("name", "is_stated"),
    [("steps", True), ("age", True), ("year", True), ("id", False), ("node", False), ("user", False), ("index", False),
     ("name", False), ("paper_id", False), ("Unnamed: 0", False)],
)  # fmt: skip
def test_a_first_column_that_is_not_named_as_ids_is_stated(put, write, name, is_stated):
    edges, path = write("e.csv", "7,8\n8,9\n"), put("x", f"{name},w\n7,1.5\n8,2.5\n9,3.5\n")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert read_graph(edges, features=path).ids.tolist() == [7, 8, 9]
    words = f"ids are read from column {name!r} of {path}: set id to take another column"
    assert [str(each.message) for each in caught] == [words] * is_stated
    with warnings.catch_warnings(action="error"):
        read_graph(edges, features=path, id=1)


def test_words_in_the_first_column_are_ids(put, write):
    with warnings.catch_warnings(action="error"):
        path = put("x", "iban,w\na7,1.5\na8,2.5\na9,3.5\n")
        assert read_graph(write("e.csv", "a7,a8\na8,a9\n"), features=path).num_features == 1


def test_equal_ids_of_different_kinds_of_nodes_are_counted(put, write):
    path = put("e", "customer_id,product_id\n1,7\n2,1\n3,2\n")
    with pytest.warns(
        AssumedInputWarning, match="2 ids of .* in both 'customer_id' and 'product_id', such as 1, .*c1 and p1"
    ):
        assert read_graph(path).num_nodes == 4
    with warnings.catch_warnings(action="error"):
        warnings.filterwarnings("ignore", "the graph has no features")
        read_graph(put("f", "user_id,friend_id\n1,7\n2,1\n3,2\n"))
        read_graph(put("g", "customer_id,product_id\nc1,p7\nc2,p1\n"))


@pytest.mark.parametrize("name", ["g.cites", "g.dat", "g.edges.gz"])
def test_common_endings_of_edge_lists_are_read(write, name):
    text = b"1 2\n2 3\n"
    assert read_graph(write(name, gzip.compress(text) if name.endswith("gz") else text)).num_edges == 2


# -- other files ----------------------------------------------------------------------------------------------------


def test_attributes_of_graphml_may_be_named(tmp_path):
    made = nx.Graph()
    made.add_node("a", team="red", size=1.0)
    made.add_node("b", team="blue", size=2.0)
    made.add_edge("a", "b", cost=2.5)
    nx.write_graphml(made, tmp_path / "g.graphml")
    graph = read_graph(tmp_path / "g.graphml", label="team", weight="cost")
    assert (graph.class_names, graph.edge_weight.tolist()) == (("blue", "red"), [2.5, 2.5])
    for role, name, hint in (("label", "teem", "team"), ("weight", "cots", "cost")):
        with pytest.raises(
            ParameterError, match=rf"{role} must name an attribute .* got '{name}': did you mean '{hint}'"
        ):
            read_graph(tmp_path / "g.graphml", **{role: name})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"source": "sauce"}, "source must name a column of .* got 'sauce': did you mean 'source'"),
        ({"source": "source", "target": "source"}, "source and target must be different columns .* 'source' for both"),
        ({"target": 5}, "target must be a column of .*, by name or by number from 1 to 4; got 5"),
        ({"target": 0}, "from 1 to 4; got 0"),
        ({"weight": "source"}, "weight must be another column .* than source and target; got 'source'"),
        ({"weight": "kind"}, "weights must be numbers; column 'kind' in line 2 of .* contains 'k'"),
        ({"id": "x"}, "id can only be given with features or labels"),
        ({"ids": False}, "ids can only be given with features or labels"),
        ({"label": "x"}, "label can only be given with a table of labels"),
    ],
)
@pytest.mark.filterwarnings("ignore::graphprox.IgnoredInputWarning")
def test_invalid_columns_are_rejected(write, options, words):
    path = write("e.csv", "source,target,kind,n\na,b,k,2\nb,c,k,3\n")
    with pytest.raises((ParameterError, ReadError), match=words):
        read_graph(path, **options)


@pytest.mark.filterwarnings("ignore::graphprox.IgnoredInputWarning")
def test_one_end_may_be_named_if_the_other_is_known(write):
    path = write("e.csv", "source,target,kind\na,b,k\nb,c,k\n")
    assert read_graph(path, source="kind").ids.tolist() == ["b", "c", "k"]


def test_one_end_alone_is_rejected_if_the_other_has_no_name(write):
    with pytest.raises(ParameterError, match=r"must be given together, as no other column of .* is named 'target'"):
        read_graph(write("e.csv", "buyer,seller\na,b\nb,c\n"), source="seller")


def test_names_of_a_table_without_header_are_rejected(write):
    with pytest.raises(ParameterError, match=r"source must be a number from 1 to 2, as .* has no header; got 'x'"):
        read_graph(write("e.csv", "1,2\n2,3\n"), source="x", target=1)


def test_a_name_that_occurs_twice_is_rejected(write):
    with pytest.raises(ParameterError, match="2 are named 'user': give a number"):
        read_graph(write("e.csv", "user,user,n\na,b,1\n"), source="user", target="n")


def test_columns_of_a_complete_graph_are_rejected(tmp_path):
    np.savez(tmp_path / "g.npz", edge_index=[[0], [1]], x=np.eye(2))
    with pytest.raises(ParameterError, match=r"weight can only be given with a table of edges; .* is a complete graph"):
        read_graph(tmp_path / "g.npz", weight="w")


def test_columns_of_a_data_set_are_rejected():
    with pytest.raises(ParameterError, match="source, ids can only be given with a file"):
        load("synthetic", source="a", ids=False)


# -- rows without ids -----------------------------------------------------------------------------------------------


def test_rows_without_ids_belong_to_nodes_by_their_number(write):
    edges = write("g.edge", "0 2\n2 1\n")
    for text in ("1\t0\n0\t1\n5\t5\n", "1 0\n0 1\n5 5\n", "1,0\n0,1\n5,5\n", "1  0\n0  1 \n5 5\n"):
        graph = read_graph(edges, features=write("g.feature", text), labels=write("g.label", "3\n0\n3\n"), ids=False)
        assert graph.node_ids is None
        assert (graph.x.tolist(), graph.y.tolist()) == ([[1, 0], [0, 1], [5, 5]], [3, 0, 3])


def test_rows_without_ids_may_have_a_header(write):
    edges, path = write("e.csv", "0,1\n"), write("x.csv", "age,height\n3,1.7\n4,1.8\n")
    labels = write("y.csv", "label\ncat\ndog\n")
    graph = read_graph(edges, features=path, labels=labels, ids=False)
    assert (graph.x.shape, graph.class_names) == ((2, 2), ("cat", "dog"))


def test_an_id_column_of_rows_without_ids_is_rejected(write):
    with pytest.raises(ParameterError, match="id must not be given if rows have no ids; got 'a' and ids=False"):
        read_graph(write("e.csv", "0,1\n"), features=write("x.csv", "a,b\n1,2\n3,4\n"), id="a", ids=False)


def test_text_files_of_uai_give_the_data_set(data, tmp_path):
    archive = data / "AM-GCN" / "uai.zip"
    if not archive.exists():
        pytest.skip("the data of AM-GCN is missing")
    with zipfile.ZipFile(archive) as files:
        files.extractall(tmp_path, [f"uai/uai.{ending}" for ending in ("edge", "feature", "label")])
    folder = tmp_path / "uai"
    graph = read_graph(folder / "uai.edge", features=folder / "uai.feature", labels=folder / "uai.label", ids=False)
    known = load("UAI", data=data).graph
    assert graph.node_ids is None
    assert np.array_equal(graph.edge_index, known.edge_index)
    assert np.array_equal(graph.x, known.x.toarray())
    assert np.array_equal(graph.y, known.y)
