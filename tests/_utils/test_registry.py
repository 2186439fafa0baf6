"""Registries of built-in implementations and of those in other packages."""

from __future__ import annotations

import builtins
import sys
from importlib.metadata import EntryPoint, EntryPoints

import pytest

from graphprox import ParameterError
from graphprox._utils import registry as module
from graphprox._utils.registry import Registry
from graphprox.errors import GraphproxWarning


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A function that creates a package on the path from the sources of its modules."""

    def package(**modules):
        folder = tmp_path / "shapes"
        folder.mkdir()
        (folder / "__init__.py").write_text("")
        for name, text in modules.items():
            (folder / f"{name}.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        return Registry("shape", package="shapes", group="shapes")

    yield package
    for name in [name for name in sys.modules if name.startswith("shapes")]:
        del sys.modules[name]


@pytest.fixture
def plugins(monkeypatch):
    """Set the entry points that other packages declare."""
    requested = []

    def plugins(**values):
        def entry_points(*, group):
            requested.append(group)
            return EntryPoints(EntryPoint(name, value, group) for name, value in values.items())

        monkeypatch.setattr(module, "entry_points", entry_points)
        return requested

    return plugins


@pytest.fixture
def registry():
    """A registry whose package has no modules."""
    empty = Registry("shape", package=(), group="shapes")
    empty.add("circle", object())
    return empty


def square():
    pass


def another_square():
    pass


# -- names ----------------------------------------------------------------------------------------------------------


def test_registered_entry_is_found_by_any_spelling_of_its_name(registry):
    registry.add("big-square", square)
    for name in ("big-square", "Big-Square", "big_square", "BIG_SQUARE"):
        assert registry.lookup(name) is square
    assert registry["big-square"] is square
    assert "big-square" in registry
    assert "Big-Square" not in registry
    assert list(registry) == ["big-square", "circle"]
    assert len(registry) == 2
    assert repr(registry) == "Registry('shape', ['big-square', 'circle'])"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("circel", "shape must be a known name; got 'circel': did you mean 'circle'?"),
        ("zzz", "shape must be a known name; got 'zzz': valid names are circle"),
        (3, "shape must be a known name; got 3: valid names are circle"),
        (["circle"], "shape must be a known name; got ['circle']: did you mean 'circle'?"),
        (None, "shape must be a known name; got None: valid names are circle"),
    ],
)
def test_unknown_name_is_rejected_with_a_suggestion(registry, name, message):
    with pytest.raises(ParameterError) as refused:
        registry.lookup(name)
    assert str(refused.value) == message


def test_item_of_an_unknown_name_is_a_key_error(registry):
    with pytest.raises(KeyError):
        registry["zzz"]
    assert registry.get("zzz") is None


def test_taken_name_is_rejected(registry):
    registry.add("square", square)
    message = rf"names of registered shapes must be unique; 'square' is taken by {__name__}\.square: choose another"
    with pytest.raises(ParameterError, match=message):
        registry.add("square", another_square)
    assert registry["square"] is square


def test_reloaded_module_may_register_again(registry):
    registry.add("square", square)
    registry.add("square", square)
    registry.add("wrapped", object(), definition=square)
    registry.add("wrapped", object(), definition=square)
    assert list(registry) == ["circle", "square", "wrapped"]


# -- built-in modules -----------------------------------------------------------------------------------------------

MODULE = """
import builtins
builtins.shapes_under_test.add({name!r}, {name!r})
"""


@pytest.fixture
def reachable(monkeypatch):
    """Make a registry reachable from the modules of a test."""

    def reachable(registry):
        monkeypatch.setattr(builtins, "shapes_under_test", registry, raising=False)
        return registry

    return reachable


def test_modules_of_the_package_are_imported_on_first_use(package, plugins, reachable):
    plugins()
    registry = reachable(
        package(
            circle=MODULE.format(name="circle"),
            square=MODULE.format(name="square"),
            _private="raise AssertionError('imported')",
        )
    )
    assert "shapes.circle" not in sys.modules
    assert list(registry) == ["circle", "square"]
    assert "shapes._private" not in sys.modules


def test_modules_may_use_the_registry_while_it_is_loaded(package, plugins, reachable):
    plugins()
    nosy = "import builtins\nassert list(builtins.shapes_under_test) == ['circle']\n"
    registry = reachable(package(circle=MODULE.format(name="circle"), nosy=nosy))
    assert len(registry) == 1


def test_error_in_a_built_in_module_is_raised(package, plugins):
    plugins()
    registry = package(broken="raise ZeroDivisionError")
    with pytest.raises(ZeroDivisionError):
        registry.lookup("circle")


# -- other packages -------------------------------------------------------------------------------------------------


def test_entry_points_are_loaded_on_first_use_and_once(package, plugins, reachable):
    requested = plugins(square="shapes._plugin")
    registry = reachable(package(circle=MODULE.format(name="circle"), _plugin=MODULE.format(name="square")))
    assert requested == []
    assert list(registry) == ["circle", "square"]
    assert registry.lookup("square") == "square"
    assert len(registry) == 2
    assert requested == ["shapes"]


def test_plugin_that_fails_to_import_is_warned_about_and_skipped(package, plugins, reachable):
    plugins(broken="shapes._broken", missing="no_such_package", square="shapes._plugin")
    registry = reachable(package(_broken="raise ZeroDivisionError('oh')", _plugin=MODULE.format(name="square")))
    with pytest.warns(GraphproxWarning) as caught:
        assert list(registry) == ["square"]
    assert [str(each.message) for each in caught] == [
        "the shape 'broken' of another package could not be loaded: ZeroDivisionError: oh",
        "the shape 'missing' of another package could not be loaded: ModuleNotFoundError: "
        "No module named 'no_such_package'",
    ]


def test_plugin_cannot_take_the_name_of_a_built_in_entry(package, plugins, reachable):
    plugins(circle="shapes._plugin")
    built_in = "import builtins\ndef circle(): pass\nbuiltins.shapes_under_test.add('circle', circle)\n"
    plugin = "import builtins\ndef disc(): pass\nbuiltins.shapes_under_test.add('circle', disc)\n"
    registry = reachable(package(circle=built_in, _plugin=plugin))
    with pytest.warns(GraphproxWarning, match=r"'circle' is taken by shapes\.circle\.circle: choose another name"):
        assert registry.lookup("circle").__name__ == "circle"


def test_names_are_read_without_importing_what_is_registered(package, plugins):
    plugins(hexagon="elsewhere:hexagon")
    source = 'import not_installed\n\n\n@register_shape("{name}")\nclass Shape:\n    pass\n'
    shapes = package(**{name: source.format(name=name) for name in ("square", "circle")})
    assert shapes.peek() == ["circle", "hexagon", "square"]
    assert not any(name.startswith("shapes") for name in sys.modules)
