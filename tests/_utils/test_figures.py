"""Figures are written reproducibly, and matplotlib is optional."""

from __future__ import annotations

import sys

import pytest

from graphprox import WriteError
from graphprox._utils.figures import check_figure, new_figure, save_figure, write_figure


def draw():
    figure = new_figure(2, 1)
    figure.subplots().plot([0, 1], [1, 0])
    return figure


def test_equal_figures_give_equal_files(tmp_path):
    first, second = (save_figure(draw(), tmp_path, name) for name in ("one", "two"))
    assert [path.name for path in first] == ["one.png", "one.svg"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


@pytest.mark.parametrize(("name", "begins"), [("one.png", b"\x89PNG"), ("one.SVG", b"<?xml"), ("one.pdf", b"%PDF")])
def test_one_file_is_written(tmp_path, name, begins):
    assert write_figure(draw(), tmp_path / name) == tmp_path / name
    assert [path.name for path in tmp_path.iterdir()] == [name]
    written = (tmp_path / name).read_bytes()
    assert written.startswith(begins)
    assert write_figure(draw(), tmp_path / name).read_bytes() == written


def test_other_endings_are_rejected_before_and_while_writing(tmp_path):
    for write in (check_figure, lambda path: write_figure(draw(), path)):
        with pytest.raises(WriteError, match=r"^the ending .* must be one of .png, .svg, .pdf; got 'one.gif'$"):
            write(tmp_path / "one.gif")


def test_folder_is_made_when_a_figure_is_checked(tmp_path):
    check_figure(tmp_path / "new" / "one.png")
    assert (tmp_path / "new").is_dir()
    (tmp_path / "new" / "two.png").mkdir()
    with pytest.raises(WriteError, match="must be a file; it is a directory"):
        check_figure(tmp_path / "new" / "two.png")


def test_missing_matplotlib_is_an_error_that_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(WriteError, match=r"pip install 'graphprox\[plots\]'"):
        new_figure(2, 1)
