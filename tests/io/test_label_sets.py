"""Files of nodes with several labels each."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from graphprox import AssumedInputWarning, IgnoredInputWarning, ParameterError, ReadError, read_graph
from graphprox.io import read_label_sets
from graphprox.io.label_sets import find_separator

EXPECTED = [[1, 1, 0], [0, 1, 1], [0, 0, 0]]
IDS = np.array(["ann", "bob", "eve"])


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("id,group\nann,chess\nann,film\nbob,film\nbob,tea\nann,film\n", {}),
        ("ann,chess\nann,film\nbob,film\nbob,tea\n", {"header": False}),
        ("id,groups\nann,chess;film\nbob,tea; film\neve,\n", {"separator": ";"}),
        ("id,groups\nann,chess | film\nbob,tea|film|\n", {"separator": "|"}),
        ("group,who\nchess,ann\nfilm,ann\nfilm,bob\ntea,bob\n", {"id": "who", "label": 1}),
    ],
)
def test_a_node_has_the_labels_of_all_its_rows_and_cells(tmp_path, text, options):
    path = tmp_path / "groups.csv"
    path.write_text(text)
    groups = read_label_sets(path, **options)
    assert groups.names == ("chess", "film", "tea")
    assert groups.to_matrix(IDS).toarray().astype(int).tolist() == EXPECTED


def test_parquet_and_integer_ids_are_read(tmp_path):
    path = tmp_path / "groups.parquet"
    pq.write_table(pa.table({"id": [2, 0, 2], "group": ["a", "b", "b"]}), path)
    assert read_label_sets(path).to_matrix(np.arange(3)).toarray().astype(int).tolist() == [[0, 1], [0, 0], [1, 1]]


@pytest.mark.parametrize(
    ("text", "options", "error", "message"),
    [
        ("id,group\nann,\nbob,\n", {}, ReadError, "must contain labels"),
        ("id,these,more\nann,x,y\n", {}, ReadError, "labels must be one column of .*; it has several, 'these', 'more'"),
        ("id,group\nann,x\n", {"separator": " "}, ParameterError, "separator of labels must be"),
    ],
)
def test_other_files_are_rejected(tmp_path, text, options, error, message):
    path = tmp_path / "groups.csv"
    path.write_text(text)
    with pytest.raises(error, match=message):
        read_label_sets(path, **options)


def test_another_ending_and_labels_of_unknown_nodes_alone_are_rejected(tmp_path):
    with pytest.raises(ReadError, match="several labels per node must be one of"):
        read_label_sets(tmp_path / "groups.npy")
    path = tmp_path / "groups.csv"
    path.write_text("id,group\nzoe,x\nyan,x\n")
    with pytest.raises(ReadError, match="nodes such as 'zoe', and the ids of the graph are such as 'ann': set id"):
        read_label_sets(path).to_matrix(IDS)


def test_labels_of_unknown_nodes_are_ignored_with_a_warning(tmp_path):
    path = tmp_path / "groups.csv"
    path.write_text("id,group\nann,x\nzoe,x\nbob,y\n")
    with pytest.warns(IgnoredInputWarning, match="1 of 3 labels of .* no node of the graph .* such as that of 'zoe'"):
        matrix = read_label_sets(path).to_matrix(IDS)
    assert matrix.toarray().astype(int).tolist() == [[1, 0], [0, 1], [0, 0]]


def test_a_graph_with_several_labels_per_node_names_the_task_for_them(tmp_path):
    (tmp_path / "edges.csv").write_text("ann,bob\n")
    (tmp_path / "groups.csv").write_text("id,group\nann,x\nann,y\n")
    with pytest.raises(
        ReadError, match=r"one label; .* several for 'ann' in line 2 and line 3: .* evaluate --task multilabel"
    ):
        read_graph(tmp_path / "edges.csv", labels=tmp_path / "groups.csv")


@pytest.mark.parametrize("separator", [";", "|", ","])
def test_cells_that_are_made_of_recurring_labels_have_a_separator(separator):
    cells = [f"t{i % 3}{separator}{'even' if i % 2 else 'odd'}" for i in range(12)]
    assert find_separator([*cells, None, "", "t1"]) == separator


@pytest.mark.parametrize(
    "cells",
    [
        ["Paris, France", "Lyon, France", "Rome, Italy"],
        ["a", "b", "a;b", "c"],
        ["Doe, John", "Roe, Jane", "Poe, Ann"],
        ["a;b", "a;b"],
        ["t1", "t2"],
        [],
    ],
)
def test_other_cells_have_no_separator(cells):
    assert find_separator(cells) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,groups\nann,chess|film\nbob,tea|film\neve,tea|chess\n", r"set separator='\|' to read several"),
        ("id,groups\nann,chess\nbob,film\n", "each is read as one label: leave it out"),
    ],
)
def test_a_separator_that_no_cell_contains_is_reported(tmp_path, text, words):
    path = tmp_path / "groups.csv"
    path.write_text(text)
    with pytest.warns(AssumedInputWarning, match=f"no cell of .* contains the separator .;., .*{words}"):
        read_label_sets(path, separator=";")


def test_a_separator_that_was_forgotten_is_proposed(tmp_path):
    path = tmp_path / "groups.csv"
    path.write_text("id,groups\nann,chess;film\nbob,tea;film\neve,tea;chess\n")
    with pytest.warns(AssumedInputWarning, match="set separator=';' to read several"):
        assert len(read_label_sets(path).names) == 3
