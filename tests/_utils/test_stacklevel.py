"""Warnings point at the first caller outside of the package."""

from __future__ import annotations

from functools import partial

import pytest

from graphprox._utils.stacklevel import find_stacklevel, warn
from graphprox.errors import IgnoredInputWarning


def call_from(module, function):
    """Return a function of a module that calls another."""
    namespace = {"__name__": module, "function": function}
    exec(compile("def call(): return function()", f"<{module}>", "exec"), namespace)
    return namespace["call"]


@pytest.mark.parametrize("modules", [(), ("graphprox.graph",), ("graphprox.graph", "sklearn.base", "graphprox")])
def test_warning_points_past_all_internal_callers(modules):
    raise_warning = call_from("graphprox.io", partial(warn, "here", IgnoredInputWarning))
    for module in modules:
        raise_warning = call_from(module, raise_warning)
    with pytest.warns(IgnoredInputWarning, match="here") as caught:
        raise_warning()
    assert [each.filename for each in caught] == [__file__]


def test_package_whose_name_only_begins_alike_is_outside():
    assert call_from("graphprox_extras", find_stacklevel)() == 1
