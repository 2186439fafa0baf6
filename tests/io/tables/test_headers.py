"""Headers are distinguished from a first row of data."""

from __future__ import annotations

import warnings

import pytest

from graphprox import AssumedInputWarning, StructuralFeaturesWarning, read_graph
from graphprox.io.tables.headers import Header, detect_header

pytestmark = pytest.mark.filterwarnings("ignore::graphprox.StructuralFeaturesWarning")


def rows(text):
    return [line.split(",") for line in text.splitlines()]


@pytest.mark.parametrize(
    "text",
    [
        "source,target\nann,bob",
        "Source,Target,Weight\nann,bob,2",
        "source,target\n1,2",
        "from,to\nann,bob",
        "src_id,dst_id\nann,bob",
        "FromNodeId,ToNodeId\nann,bob",
        "node1,node2\nann,bob",
        "node_a,node_b\nann,bob",
        "u,v\nann,bob",
        "#source,target\nann,bob",
        "person,friend,since\nann,bob,1999",
        "paper,cites\n17,4",
        "source,target",
        "customer_id,product_id\nann,soap\nbob,soap",
        "User ID,Friend ID\nann,bob\nbob,eve",
        "userId,friendId\nann,bob",
        "customerid,productid\nann,soap",
        "customer_id,product_id",
        "user,friend\nann,bob\nbob,eve",
        "user,friend",
        "Customer,Product,since",
        "parent,child\nann,bob\neve,dan",
        "since,child,parent\nmay,bob,ann\njune,dan,eve",
        "date,weight,target,source\nmay,much,ann,bob",
        "follower,followee,since\nann,bob,2024-01-03\nbob,eve,2024-01-04",
        "member,buddy\nu1,u7\nu7,u3",
        "who,whom\nann@x.org,bob@x.org\nbob@x.org,eve@x.org",
        "member,knows\nann,bob\nbob,eve\neve,ann",
        ",member,knows\n0,ann,bob\n1,bob,eve\n2,eve,ann",
    ],
)
def test_column_names_of_edges_are_a_header(text):
    assert detect_header(rows(text), ids=2).present


@pytest.mark.parametrize(
    "text",
    [
        "ann,bob\nbob,eve",
        "ann,bob,1.5\nbob,eve,2",
        "ann,bob",
        "1,2\n3,4",
        "u,v\nv,w",
        "u,v,0.5\na,b,0.7",
        "to,be\nbe,or",
        "from,to\nto,go",
        "id,ego\nego,superego",
        "nan,inf\n1,2",
        "ann,bob,\neve,bob,3",
        "name,1\nbob,2",
        "user,friend\nfriend,foe",
        "parent,child\nchild,toy",
        "user,friend\nuser,foe",
        "user,friend,2",
        "ann,bob\neve,dan\ncy,joe\nkim,lee",
        "ann,bob\neve,dan\ncy,joe\ncy,lee\nkim,pat",
        "Q1,Q2\nQ3,Q4\nQ4,Q5\nQ5,Q3",
        "ann,bob\nbob,u2\nu3,u4",
    ],
)
def test_a_first_edge_is_not_a_header(text):
    assert not detect_header(rows(text), ids=2).present


@pytest.mark.parametrize(
    "text",
    [
        "id,age,height\nann,31,1.7",
        "id,0,1,2\nann,3,1,7",
        "id,1,2\nann,3,1",
        "node,label\nann,cat",
        ",label\nann,cat",
        ",0,1\nann,3,1",
        "Node ID,topic\n1,cat",
        "person,age\nann,31",
        "id\nann",
        "user_id,2019,2020\nann,3,4",
        "Customer ID,city\nann,Rome\nbob,Oslo",
        "member,joined\nann,2024-01-03\nbob,2024-01-04",
        "member,label\nann,cat\nbob,dog",
        "member,city\nann,Rome\nbob,Rome\neve,Oslo\ndan,Oslo",
    ],
)
def test_column_names_of_attributes_are_a_header(text):
    assert detect_header(rows(text), ids=1).present


@pytest.mark.parametrize(
    "text",
    [
        "ann,31,1.7\nbob,25,1.8",
        "u,0,1\nv,1,0",
        "id,0.5,1\nego,1,0",
        "ann,cat\nbob,dog",
        "ann,,\nbob,1,2",
        "ann,NA\nbob,2",
        ",0.5,1\nbob,2,3",
        "name,cat\nname,dog",
        "7,cat\n8,dog",
        "ann,cat\nbob,dog\neve,cat\ndan,dog",
    ],
)
def test_a_first_row_of_attributes_is_not_a_header(text):
    assert not detect_header(rows(text), ids=1).present


@pytest.mark.parametrize(
    ("text", "ids", "loose", "expected"),
    [
        ("user,friend\nann,bob\nbob,eve", 2, False, Header.ASSUMED_PRESENT),
        ("member,knows\nann,bob\nbob,eve\neve,ann", 2, False, Header.ASSUMED_PRESENT),
        ("member,knows\nann,bob\nbob,eve\neve,ann", 2, True, Header.ASSUMED_ABSENT),
        ("member,city\nann,Rome\nbob,Rome\neve,Oslo\ndan,Oslo", 1, False, Header.ASSUMED_PRESENT),
        ("customer_id,product_id\nann,soap\nbob,soap", 2, False, Header.PRESENT),
        ("source,target\nann,bob", 2, True, Header.PRESENT),
        ("ann,bob\nbob,eve", 2, False, Header.ABSENT),
        ("mother,child\nann,bob\neve,dan\ncy,joe\nkim,lee", 2, False, Header.ASSUMED_ABSENT),
        ("mother,child\nann,bob\neve,dan\ncy,joe\nkim,lee", 2, True, Header.ABSENT),
        ("member,knows\nann,bob", 2, False, Header.ASSUMED_ABSENT),
        ("ann,bob,friend\ncy,joe,friend", 2, False, Header.ABSENT),
        ("Q1,Q2\nQ3,Q4", 2, False, Header.ABSENT),
        ("fan,city\nann,Rome\nbob,Oslo", 1, False, Header.ASSUMED_ABSENT),
        ("ann,cat\nbob,cat", 1, False, Header.ABSENT),
    ],
)
def test_a_header_is_only_assumed_where_words_are_all_there_is(text, ids, loose, expected):
    assert detect_header(rows(text), ids=ids, loose=loose) is expected


@pytest.mark.parametrize(
    ("name", "text", "option", "assumed", "other"),
    [
        ("e.csv", "member,knows\nann,bob\nbob,eve\neve,ann\n", "header=False", 3, 5),
        ("e.txt", "member,knows\nann,bob\nbob,eve\neve,ann\n", "header=True", 5, 3),
        ("e.tsv", "mother\tknows\nann\tbob\neve\tdan\n", "header=True", 6, 4),
    ],
    ids=["csv", "txt", "sparse"],
)
def test_an_assumption_is_stated_with_the_option_that_changes_it(write, name, text, option, assumed, other):
    path = write(name, text)
    with pytest.warns(AssumedInputWarning, match=rf"the first row of .*, 'm.*,knows', is taken for .*: {option}"):
        assert read_graph(path).num_nodes == assumed
    with warnings.catch_warnings(action="error"):
        warnings.simplefilter("ignore", StructuralFeaturesWarning)
        assert {read_graph(path, header=header).num_nodes for header in (False, True)} == {assumed, other}
        assert read_graph(path, header=option == "header=True").num_nodes == other


def test_many_rows_give_even_a_loose_edge_list_a_header(write):
    rows = [f"{chr(97 + i % 26) * 3}\t{chr(97 + 7 * i % 26) * 3}" for i in range(60)]
    with pytest.warns(AssumedInputWarning, match="'who,mentions', is taken for a header: header=False"):
        graph = read_graph(write("e.txt", "\n".join(["who\tmentions", *rows])))
    assert "who" not in graph.ids


def test_a_named_column_is_in_a_header(write):
    path = write("e.csv", "ann,bob\neve,dan\nkim,lee\n")
    assert read_graph(path, header=False).num_nodes == 6
    assert read_graph(path, source="ann", target="bob").num_nodes == 4
