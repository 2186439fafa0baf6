"""Warnings point at the first caller outside of the package."""

from __future__ import annotations

import warnings

import pytest

from graphprox._utils.stacklevel import find_stacklevel


def call_from(module, function):
    """Return a function of a module that calls another."""
    namespace = {"__name__": module, "function": function}
    exec(compile("def call(): return function()", f"<{module}>", "exec"), namespace)
    return namespace["call"]


@pytest.mark.parametrize("modules", [(), ("graphprox.graph",), ("graphprox.graph", "sklearn.base", "graphprox")])
def test_warning_points_past_all_internal_callers(modules):
    namespace = {"__name__": "graphprox.io", "warnings": warnings, "find_stacklevel": find_stacklevel}
    code = "def warn(): warnings.warn('here', stacklevel=find_stacklevel())"
    exec(compile(code, "<graphprox.io>", "exec"), namespace)
    warn = namespace["warn"]
    for module in modules:
        warn = call_from(module, warn)
    with pytest.warns(UserWarning, match="here") as caught:
        warn()
    assert [each.filename for each in caught] == [__file__]


def test_package_whose_name_only_begins_alike_is_outside():
    assert call_from("graphprox_extras", find_stacklevel)() == 1
