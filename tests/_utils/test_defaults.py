"""Names that are stated again for the command line are those of what they stand for."""

from __future__ import annotations

from graphprox import METHODS
from graphprox._utils.defaults import AUTO, DEFAULT_METHOD


def test_default_method_is_registered():
    assert DEFAULT_METHOD in METHODS


def test_no_preset_has_the_name_that_selects_one():
    assert [name for name, kind in METHODS.items() if AUTO in kind.preset_names()] == []
