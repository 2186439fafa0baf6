"""Text is the same in every encoding that Excel writes, and what is no text is rejected."""

from __future__ import annotations

import gzip
import tracemalloc
import warnings
from itertools import pairwise

import pytest

from graphprox import AssumedInputWarning, ParameterError, ReadError, load, read_graph
from graphprox.io.label_sets import read_label_sets
from graphprox.io.tables.encodings import assume_encoding, check_encoding, detect_encoding, open_text

ROWS = [("ann", "Köln", 1.75), ("bob", "Zürich", 1.5), ("cy", "Köln", 1.25), ("dan", "Málaga €", 2.0)]
EDGES = "source;target\r\nann;bob\r\nbob;cy\r\ncy;dan\r\n"
TEXT = "id;stadt;größe\r\n" + "".join(f"{node};{city};{str(size).replace('.', ',')}\r\n" for node, city, size in ROWS)
NAMES = ("stadt=Köln", "stadt=Málaga €", "stadt=Zürich", "größe")
WRITTEN = {
    "UTF-8": TEXT.encode(),
    "UTF-8 with a mark": TEXT.encode("utf-8-sig"),
    "UTF-16, little-endian": b"\xff\xfe" + TEXT.encode("utf-16-le"),
    "UTF-16, big-endian": b"\xfe\xff" + TEXT.encode("utf-16-be"),
    "Windows-1252": TEXT.encode("cp1252"),
    "line of Excel": ("sep=;\r\n" + TEXT).encode("utf-8-sig"),
    "line of Excel, UTF-16": ("SEP=;\n" + TEXT).encode("utf-16"),
    "quoted line of Excel, Windows-1252": ('"sep=;"\r\n\r\n' + TEXT).encode("cp1252"),
    "line of Excel with bars": ("sep=|\n" + TEXT.replace(";", "|").replace(",", ".")).encode(),
    "Unicode text of Excel": ("sep=\t\n" + TEXT.replace(";", "\t").replace(",", ".")).encode("utf-16"),
}


@pytest.fixture
def edges(write):
    return write("edges.csv", EDGES)


@pytest.mark.parametrize("ending", ["csv", "txt", "csv.gz"])
@pytest.mark.parametrize("kind", WRITTEN)
def test_a_table_is_the_same_however_excel_writes_it(edges, write, kind, ending):
    content = WRITTEN[kind]
    path = write(f"x.{ending}", gzip.compress(content) if ending.endswith("gz") else content)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        graph = read_graph(edges, features=path)
    assert graph.ids.tolist() == [node for node, *_ in ROWS]
    assert graph.feature_names == NAMES
    assert graph.x[:, 3].tolist() == [size for *_, size in ROWS]
    assert graph.x[:, 0].tolist() == [1, 0, 1, 0]
    stated = f"{path} is not UTF-8, and is read as Windows-1252: set encoding to read it as another"
    assert [str(each.message) for each in caught] == [stated] * ("Windows" in kind)


@pytest.mark.parametrize("encoding", ["cp1252", "Windows-1252", "utf-16", "utf-8", "cp1140", "UTF_8_SIG"])
def test_an_encoding_may_be_named(write, encoding):
    edges = write("e.csv", EDGES.encode(encoding))
    features = write("x.csv", TEXT.encode(encoding))
    options = {"labels": features, "label": "stadt", "kinds": {"größe": "number"}}
    with warnings.catch_warnings(action="error"):
        graph = load(edges, features=features, **options, encoding=encoding).graph
    assert graph.class_names == ("Köln", "Málaga €", "Zürich")
    assert graph.feature_names == ("größe",)
    groups = write("groups.csv", "id;team\nann;Köln\nbob;Zürich\n".encode(encoding))
    assert read_label_sets(groups, encoding=encoding).names == ("Köln", "Zürich")


def test_an_encoding_that_is_named_is_not_detected(edges, write):
    path = write("x.csv", "id;stadt\nann;Łódź\nbob;Łódź\ncy;Kraków\ndan;Łódź\n".encode("cp1250"))
    assert read_graph(edges, features=path, encoding="cp1250").feature_names == ("stadt=Kraków", "stadt=Łódź")
    with pytest.warns(AssumedInputWarning, match="read as Windows-1252"):
        assert read_graph(edges, features=path).feature_names == ("stadt=Kraków", "stadt=£ódŸ")
    with pytest.raises(ReadError, match=r"x\.csv must be text in UTF-8, as its name indicates; it contains something"):
        read_graph(edges, features=path, encoding="utf-8")
    with pytest.raises(ReadError, match=r"must be text in utf-16; it contains something else: set another encoding"):
        read_graph(edges, features=path, encoding="utf-16")


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("table", ["edges", "features", "labels"])
def test_words_of_windows_may_come_late_in_any_table(write, table, late):
    count = 20_000 if late else 10  # beyond what a layout is detected by
    names = [f"n{i}" for i in range(count)] + ["zoë"]
    edges = "source,target,note\n" + "".join(f"{a},{b},x\n" for a, b in pairwise(names))
    features = "id,town,size\n" + "".join(f"{name},{'ab'[i % 2]},{i}\n" for i, name in enumerate(names))
    labels = "id,team\n" + "".join(f"{name},{'xy'[i % 2]}\n" for i, name in enumerate(names))
    contents = {"edges": edges, "features": features, "labels": labels}
    paths = {
        name: write(f"{name}.csv", text.encode("cp1252" if name == table else "utf-8"))
        for name, text in contents.items()
    }
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        graph = read_graph(paths["edges"], features=paths["features"], labels=paths["labels"])
    messages = [str(each.message) for each in caught]
    assert len(messages) == 2
    assert sum(f"{table}.csv is not UTF-8" in each for each in messages) == 1
    assert sum("column 'note'" in each for each in messages) == 1
    assert (graph.ids[-1], graph.num_nodes, graph.num_features) == ("zoë", count + 1, 3)


def test_bytes_of_columns_that_are_not_read_do_not_matter(edges, write):
    head = "id,size,note\n" + "ann,1,x\n" * 0
    rows = "".join(f"n{i},{i},x\n" for i in range(20_000))
    path = write("x.csv", (head + "ann,1,x\nbob,2,x\ncy,3,x\ndan,4,x\n" + rows + "zoe,1,é\n").encode("latin-1"))
    with warnings.catch_warnings(action="error"):
        assert read_graph(edges, features=path, kinds={"note": "ignored"}).feature_names == ("size",)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"id,a\n\x81,1\n", "must be text in UTF-8, as its name indicates; it contains something else"),
        (b"id,a\n\xe9,1\nb\0,2\n", "must be text in UTF-8, as its name indicates; it contains something else"),
        (b"id,a\n\xe9\x07,1\n", "must be text in UTF-8, as its name indicates; it contains something else"),
        ("id,a\né,1\nè,2\n".encode() + b"\xff,3\n", "1 character is damaged: correct what is damaged, or set encod"),
        ("id,a\né,1\nè,2\nü,".encode() + b"\xc3", "as most of it is; 1 character is damaged"),
        (b"\xff\xfei\0d\0,\0a", "must be text in utf-16; it contains something else: set another encoding"),
        (b"\xff\xfe\0\xd8\0\0", "must be text in utf-16"),
    ],
)  # fmt: skip
def test_what_is_no_text_is_rejected(edges, write, content, words):
    with pytest.raises(ReadError, match=words):
        read_graph(edges, features=write("x.csv", content))


@pytest.mark.parametrize(
    "name",
    ["utf9", "", "base64", "rot13", "zip", "idna", "punycode", "unicode_escape", "undefined", "a\0b", "x" * 999, "é"],
)
def test_an_unknown_encoding_is_rejected(edges, name):
    with pytest.raises(ParameterError, match=r"encoding must be one of text that Python knows, such as utf-8, .*; got"):
        read_graph(edges, encoding=name)


def test_encodings_have_the_names_of_python():
    assert [check_encoding(name) for name in ("UTF8", "utf-8-sig", "Latin-1", "CP1252", None)] == [
        *("utf-8", "utf-8", "iso8859-1", "cp1252", None)
    ]


def test_a_data_set_and_a_query_have_no_encoding():
    with pytest.raises(ParameterError, match="encoding can only be given with a file"):
        load("synthetic", encoding="cp1252")
    with pytest.raises(ParameterError, match="encoding can only be given with a file; the graph is a query"):
        load("SELECT 1 AS source, 2 AS target", encoding="cp1252")


def test_a_file_is_transcoded_a_block_at_a_time(write):
    path = write("x.csv", ("é" * 999 + "\n").encode("utf-16") + ("é" * 999 + "\n").encode("utf-16-le") * 20_000)
    assert detect_encoding(path) == "utf-16"
    tracemalloc.start()
    with open_text(path, encoding="utf-16") as file:
        total = sum(map(len, iter(lambda: file.read(1 << 16), b"")))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert total == 20_001 * (2 * 999 + 1)
    assert peak < 2**23
    with open_text(path, encoding="utf-16") as file:
        assert file.readline() == ("é" * 999 + "\n").encode()


def test_lines_are_limited_in_every_encoding(edges, write, monkeypatch):
    monkeypatch.setenv("GRAPHPROX_MAX_LINE", "100000")
    for encoding in ("utf-8", "utf-16", "cp1252"):
        path = write("x.csv", ("id,a\nann," + "é" * 3_000_000 + "\n").encode(encoding))
        with pytest.raises(ReadError, match="a line must have at most 100,000 bytes"):
            read_graph(edges, features=path)


def test_an_encoding_is_assumed_of_the_whole_file(write):
    with pytest.warns(AssumedInputWarning):
        assert assume_encoding(write("x.csv", b"a\n" * 300_000 + b"\xe9\n")) == "cp1252"
    with pytest.raises(ReadError, match="must be text in UTF-8"):
        assume_encoding(write("x.csv", b"a\n" * 300_000 + b"\xe9\n\x81\n"))
