"""Names that are stated again for the command line are those of what they stand for."""

from __future__ import annotations

from graphprox import METHODS
from graphprox._utils.defaults import AUTO, DEFAULT_METHOD, DEFAULT_TRAINED_METHOD


def test_default_method_is_registered():
    assert DEFAULT_METHOD in METHODS


def test_default_of_commands_that_select_settings_is_trained():
    assert "epochs" in METHODS[DEFAULT_TRAINED_METHOD].parameters()
    assert "epochs" not in METHODS[DEFAULT_METHOD].parameters()


def test_no_preset_has_the_name_that_selects_one():
    assert [name for name, kind in METHODS.items() if AUTO in kind.preset_names()] == []
