"""Edge lists round-trip in every format, and ignored columns are reported.

Covers graphprox.io.tables.text and graphprox.io.tables.table.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from graphprox import (
    AssumedInputWarning,
    GraphproxError,
    IgnoredInputWarning,
    ReadError,
    StructuralFeaturesWarning,
    read_graph,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::graphprox.StructuralFeaturesWarning"),
    pytest.mark.filterwarnings("ignore:weights are read from column 3"),
    pytest.mark.filterwarnings("ignore:all weights in"),
]

INTEGER = re.compile(r"\s*-?\d+\s*", re.ASCII)
INTEGERS = st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 20)
# A line that begins with a lone # is a comment, and no id is empty.
STRINGS = (
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6)
    .filter(str.strip)
    .filter(lambda text: not re.match(r"\s*[#%]([\s#%]|$)", text))
)
LIKE_NUMBERS = ["007", "7", "00", "-0", "+1", "1.0", "1e5", "0x1F", "-", "nan", "NA", "null"]
LIKE_CELLS = ["a,b", "a;b", "a\tb", "two\nlines", 'say "hi"', "'", " led", "end ", "#tag", "\u2028", "x\x85y", "日本"]
AWKWARD = st.sampled_from(LIKE_NUMBERS + LIKE_CELLS)
WORDS = st.text(st.characters(categories=["L"]), min_size=1, max_size=5)
WEIGHTS = st.floats(0, 1e6, width=32).filter(lambda weight: weight == 0 or weight > 1e-30)


@st.composite
def edges_between(draw, ids):
    """A list of edges, no pair twice, with weights or without."""
    nodes = draw(st.lists(ids, min_size=2, max_size=8, unique=True))
    node = st.sampled_from(nodes)
    pairs = draw(st.lists(st.tuples(node, node), min_size=1, max_size=12, unique_by=frozenset))
    assume(len({end for pair in pairs for end in pair}) > 1)
    weights = draw(st.none() | st.lists(WEIGHTS, min_size=len(pairs), max_size=len(pairs)))
    return pairs, weights


def to_edge_set(pairs, weights):
    ends = [frozenset(pair) for pair in pairs]
    return set(ends) if weights is None else set(zip(ends, weights, strict=True))


def are_strings(pairs):
    """Return whether some id does not look like an integer, so that all ids are strings."""
    return any(isinstance(end, str) and not INTEGER.fullmatch(end) for pair in pairs for end in pair)


def frame(pairs, weights):
    table = pd.DataFrame(pairs, columns=["source", "target"])
    return table if weights is None else table.assign(weight=np.array(weights, np.float64))


def by_csv(path, pairs, weights, *, delimiter, header):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerows([["source", "target"] + ["weight"] * (weights is not None)] * header)
    writer.writerows([*pair, *([] if weights is None else [repr(weights[i])])] for i, pair in enumerate(pairs))
    data = text.getvalue().encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def by_pandas(path, pairs, weights, *, header):
    frame(pairs, weights).to_csv(path, index=False, header=header, sep="\t" if ".tsv" in path.name else ",")


def read_back(name, write, **options):
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        write(path)
        return read_graph(path, **options)


@given(edges=edges_between(STRINGS | AWKWARD) | edges_between(INTEGERS), header=st.booleans(), data=st.data())
def test_text_round_trip(read_edge_set, edges, header, data):
    assume(isinstance(edges[0][0][0], int) or are_strings(edges[0]))
    name, delimiter = data.draw(st.sampled_from([("e.csv", ","), ("e.tsv", "\t"), ("e.csv.gz", ",")]))
    graph = read_back(name, lambda path: by_csv(path, *edges, delimiter=delimiter, header=header), header=header)
    assert read_edge_set(graph) == to_edge_set(*edges)


@given(
    edges=edges_between(WORDS.map("n{}".format)) | edges_between(INTEGERS),
    header=st.booleans(),
    name=st.sampled_from(["e.csv", "e.tsv.gz"]),
)
def test_pandas_files_round_trip_and_the_header_is_detected(read_edge_set, edges, header, name):
    graph = read_back(name, lambda path: by_pandas(path, *edges, header=header))
    assert read_edge_set(graph) == to_edge_set(*edges)


@given(edges=edges_between(STRINGS | AWKWARD) | edges_between(INTEGERS))
def test_parquet_round_trip(read_edge_set, edges):
    graph = read_back("e.parquet", lambda path: frame(*edges).to_parquet(path))
    assert read_edge_set(graph) == to_edge_set(*edges)
    assert graph.node_ids is None or [*graph.ids] == sorted(graph.ids)


@given(
    edges=edges_between(
        st.text(st.characters(categories=["L", "N", "P", "S"], exclude_characters='#%",;'), min_size=1)
    ),
    spaces=st.sampled_from([" ", "\t", "  "]),
)
@settings(max_examples=50)
def test_white_space_separates_cells_and_comments_are_skipped(read_edge_set, edges, spaces):
    pairs, weights = edges
    assume(are_strings(pairs))

    def write(path):
        lines = ["# a comment", "% another"]
        for i, pair in enumerate(pairs):
            lines += [spaces.join([*pair, *([] if weights is None else [repr(weights[i])])]), "#half way", ""]
        path.write_text("\n".join(lines), encoding="utf-8")

    assert read_edge_set(read_back("e.edgelist", write, header=False)) == to_edge_set(*edges)


@pytest.mark.parametrize("data", [False, True, ["weight"]])
def test_networkx_edge_lists_equal_networkx(tmp_path, read_edge_set, data):
    made = nx.les_miserables_graph() if data == ["weight"] else nx.karate_club_graph()
    if data == ["weight"]:
        made = nx.relabel_nodes(made, {node: node.replace(" ", "_") for node in made})
    else:
        made = nx.Graph(made.edges())
    path = tmp_path / "graph.edgelist"
    nx.write_edgelist(made, path, data=data)
    graph = read_graph(path)
    known = nx.read_edgelist(path, data=[("weight", float)] if data == ["weight"] else True)
    ends = [frozenset(map(int, pair)) if data != ["weight"] else frozenset(pair) for pair in known.edges()]
    weights = [known[a][b]["weight"] for a, b in known.edges()] if data == ["weight"] else None
    assert read_edge_set(graph) == (set(ends) if weights is None else set(zip(ends, weights, strict=True)))


def test_networkx_attributes_are_rejected_with_advice(tmp_path):
    nx.write_edgelist(nx.Graph([("a", "b", {"weight": 2})]), tmp_path / "e.edgelist")
    with pytest.warns(IgnoredInputWarning), pytest.raises(ReadError, match=r"in braces.*data=\['weight'\]"):
        read_graph(tmp_path / "e.edgelist")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("crlf.csv", "source,target\r\nann,bob\r\nbob,eve\r\n"),
        ("old_mac.csv", "source,target\rann,bob\rbob,eve\r"),
        ("bom.csv", "\ufeffsource,target\nann,bob\nbob,eve\n"),
        ("bom_without_header.csv", "\ufeffann,bob\nbob,eve\n"),
        ("blank_lines.csv", "\n\nsource,target\nann,bob\n\nbob,eve\n\n  \n\n"),
        ("no_newline_at_end.csv", "ann,bob\nbob,eve"),
        ("quoted.csv", '"source","target"\n"ann","bob"\n"bob","eve"\n'),
        ("semicolons.csv", "source;target\nann;bob\nbob;eve\n"),
        ("tabs.csv", "ann\tbob\nbob\teve\n"),
        ("commas.txt", "ann,bob\nbob,eve\n"),
        ("commas.edges", "ann,bob\nbob,eve\n"),
        ("aligned.txt", "  ann   bob  \n  bob   eve\n"),
        ("comment.csv", "# who knows whom\nann,bob\nbob,eve\n"),
        ("commented_header.csv", "#source,target\nann,bob\nbob,eve\n"),
        ("snap.txt", "# Directed graph\n# FromNodeId\tToNodeId\nann\tbob\nbob\teve\n"),
        ("konect.edges", "% sym unweighted\nann bob\nbob eve\n"),
        ("capital.CSV", "Source,Target\nann,bob\nbob,eve\n"),
        ("quoted_comma.csv", '"ann";"bob"\n"bob";"eve"\n'),
        ("late_comment.txt", "ann bob\n# half way\nbob eve\n"),
    ],
)
def test_equivalent_files_give_the_same_edges(write, read_edge_set, name, content):
    assert read_edge_set(read_graph(write(name, content))) == {frozenset({"ann", "bob"}), frozenset({"bob", "eve"})}


def test_spaces_after_commas_do_not_turn_numbers_into_strings(write):
    assert read_graph(write("e.csv", "source, target\n3, 12\n 12, -7\n")).ids.tolist() == [-7, 3, 12]


@pytest.mark.parametrize("late", ["007,8", "x,8", "NA,8", "+5,8", "-08,8", '"09",8'])
def test_a_late_string_id_makes_all_ids_strings(write, late):
    rows = "".join(f"{i},{i + 1}\n" for i in range(20_000))
    graph = read_graph(write("e.csv", rows + late + "\n"))
    assert late.split(",")[0].strip('"') in graph.ids
    assert isinstance(graph.ids[0], str)


def test_a_ragged_row_after_a_late_string_id_is_reported(write):
    rows = [f"{i},{i + 1}" for i in range(300_000)]
    rows[100_000], rows[250_000] = "x,1", "5,6,7"  # in different blocks
    with pytest.raises(ReadError, match="line 250001 has 3: '5,6,7'"):
        read_graph(write("e.csv", "\n".join(rows)))


def test_late_uneven_spaces_are_handled(write):
    rows = "".join(f"{i} {i + 1}\n" for i in range(20_000))
    assert read_graph(write("e.txt", rows + "5   20000\n")).num_edges == 20_001


def test_zero_padded_weights_do_not_change_the_type_of_ids(write):
    graph = read_graph(write("e.csv", "1,2,007\n2,3,0.5\n"))
    assert graph.ids.tolist() == [1, 2, 3]
    assert graph.edge_weight.tolist() == [7, 7, 0.5, 0.5]


def test_edges_are_directed_on_request(write, read_edge_set):
    path = write("e.csv", "a,b\nb,a\nb,c\n")
    assert read_edge_set(read_graph(path, directed=True)) == {("a", "b"), ("b", "a"), ("b", "c")}
    assert read_edge_set(read_graph(path)) == {frozenset("ab"), frozenset("bc")}


def test_weights_of_duplicate_edges_are_added(write):
    graph = read_graph(write("e.csv", "source,target,weight\na,b,1\na,b,2\nb,c,5\n"))
    assert graph.edge_weight.tolist() == [3, 3, 5, 5]
    assert graph.duplicates == 1


@pytest.mark.parametrize(
    ("content", "named"),
    [("source,target,year\na,b,1\n", "'year'"), ("a,b,1,x,y\nb,c,2,x,y\n", "columns 4, 5"),
     ("source,target,kind,Weight\na,b,k,2\n", "'kind'")],
)  # fmt: skip
def test_ignored_columns_are_named_in_a_warning(write, content, named):
    with pytest.warns(IgnoredInputWarning, match=named) as caught:
        read_graph(write("e.csv", content))
    assert len([each for each in caught if each.category is IgnoredInputWarning]) == 1


def test_the_weight_column_is_found_by_its_name(write):
    with pytest.warns(IgnoredInputWarning, match="'kind'"):
        graph = read_graph(write("e.csv", "source,target,kind,Weight\na,b,k,2\n"))
    assert graph.edge_weight.tolist() == [2, 2]


def test_a_plain_edge_list_only_warns_about_missing_features(write, recwarn):
    read_graph(write("e.csv", "source,target,weight\na,b,1\n"))
    assert {each.category for each in recwarn} <= {StructuralFeaturesWarning}


def test_weights_that_are_all_zero_are_reported(write):
    zeros = "source,target,weight\na,b,0\nb,c,0.0\n"
    with pytest.warns(AssumedInputWarning, match=r"all weights in column .* are 0, and edges of weight 0 join nothing"):
        assert read_graph(write("e.csv", zeros)).edge_weight.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("", r"every edge must have a weight; column .* in .* is empty: write a number, or remove the row"),
        ("1e308", r"edge weights must be at most 3\.4e\+38, the largest float32 number; got 1e\+308 between b and c"),
        ("-1", r"must be finite and non-negative; column .* in .* contains -1"),
    ],
)
def test_a_weight_that_is_none_is_rejected_with_a_remedy(write, cell, message):
    with pytest.raises(GraphproxError, match=message):
        read_graph(write("e.csv", f"source,target,weight\na,b,1\nb,c,{cell}\n"))
