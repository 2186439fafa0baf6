"""An output that is an input is rejected, by whatever name."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphprox import WriteError
from graphprox.io.storage.overlaps import check_outputs


@pytest.fixture
def edges(tmp_path):
    (tmp_path / "data").mkdir()
    path = tmp_path / "data" / "edges.csv"
    path.write_text("a,b\n")
    return path


def test_other_files_are_outputs(edges, tmp_path):
    (edges.parent / "older.csv").write_text("older")
    check_outputs([edges.parent / "older.csv", tmp_path / "new.csv"], [edges], folders=[tmp_path / "model"])
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["data", "edges.csv", "older.csv"]
    assert [(edges.parent / name).read_text() for name in ("edges.csv", "older.csv")] == ["a,b\n", "older"]


@pytest.mark.parametrize("how", ["same", "dots", "symlink", "hard link", "linked folder", "relative"])
def test_input_is_rejected_by_every_name(edges, tmp_path, monkeypatch, how):
    monkeypatch.chdir(tmp_path)
    out = {
        "same": edges,
        "dots": edges.parent / ".." / "data" / "edges.csv",
        "symlink": tmp_path / "symlink.csv",
        "hard link": tmp_path / "hard.csv",
        "linked folder": tmp_path / "linked" / "edges.csv",
        "relative": Path("data/edges.csv"),
    }[how]
    if how == "symlink":
        out.symlink_to(edges)
    elif how == "hard link":
        out.hardlink_to(edges)
    elif how == "linked folder":
        out.parent.symlink_to(edges.parent)
    with pytest.raises(WriteError, match=r"an output must not be an input; .* is read.*: name another file$"):
        check_outputs([tmp_path / "fine.csv", out], [tmp_path / "missing.csv", edges])


def test_file_of_an_input_folder_is_rejected(edges):
    with pytest.raises(WriteError, match=r"an output must not be an input; .*edges\.csv is read: name"):
        check_outputs([edges], [edges.parent])


def test_folder_with_an_input_in_it_is_rejected(edges, tmp_path):
    for folder in (edges.parent, tmp_path):
        with pytest.raises(
            WriteError, match=r"an output folder must not have an input in it; .* has .*edges\.csv: name"
        ):
            check_outputs([], [edges], folders=[folder])
    with pytest.raises(WriteError, match="an output must not be an input"):
        check_outputs([], [edges.parent], folders=[edges.parent])


def test_outputs_differ_from_each_other(tmp_path):
    with pytest.raises(WriteError, match=r"outputs must differ from each other; .*emb is given twice"):
        check_outputs([tmp_path / "emb"], folders=[tmp_path / "emb"])


def test_names_that_cannot_exist_are_no_inputs(tmp_path):
    check_outputs([tmp_path / "v.csv"], [Path("n" * 300), Path("a\0b"), Path("missing/e.csv")])
    assert [*tmp_path.iterdir()] == []
