"""Figures are written reproducibly, and matplotlib is optional."""

from __future__ import annotations

import sys

import pytest

from graphprox import WriteError
from graphprox._utils.figures import new_figure, save_figure


def draw():
    figure = new_figure(2, 1)
    figure.subplots().plot([0, 1], [1, 0])
    return figure


def test_equal_figures_give_equal_files(tmp_path):
    first, second = (save_figure(draw(), tmp_path, name) for name in ("one", "two"))
    assert [path.name for path in first] == ["one.png", "one.svg"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_missing_matplotlib_is_an_error_that_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(WriteError, match=r"pip install 'graphprox\[plots\]'"):
        new_figure(2, 1)
