"""Extension of griffe, which reads the source of the API reference without importing it.

- Constructors and docstrings of methods are those of the imported classes: `register_method` completes both.
- Roles of Sphinx in docstrings become links to public objects; the names of others become code.
"""

from __future__ import annotations

import ast
import inspect
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import griffe

log = logging.getLogger("mkdocs.hooks.graphprox")
ROLE = re.compile(r":(?:py:)?[a-z]+:`(~?)([\w.]+)`")


class ReferenceExtension(griffe.Extension):
    """Complete the classes and the docstrings of graphprox."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Run when all modules of a package are loaded."""
        if pkg.path == "graphprox":
            for imported in _methods():
                _complete_method(
                    pkg[f"{imported.__module__}.{imported.__qualname__}".removeprefix("graphprox.")], imported
                )
            _link_roles(pkg)


# -- methods --------------------------------------------------------------------------------------------------------


def _methods() -> set[type]:
    """Return the registered methods of graphprox and their base classes."""
    from graphprox.methods import METHODS, GraphMethod

    classes = {base for method in METHODS.values() for base in method.__mro__ if issubclass(base, GraphMethod)}
    return {each for each in classes if each.__module__.startswith("graphprox.")}


def _complete_method(cls: griffe.Class, imported: type) -> None:
    parameters = [griffe.Parameter("self", kind=griffe.ParameterKind.positional_or_keyword)]
    for name, each in inspect.signature(imported).parameters.items():
        declared = cls.all_members[name].annotation  # has links, in contrast to the text that the signature has
        kind = griffe.ParameterKind.keyword_only
        parameters.append(griffe.Parameter(name, annotation=declared, kind=kind, default=repr(each.default)))
    cls.set_member("__init__", griffe.Function("__init__", parameters=griffe.Parameters(*parameters), parent=cls))
    if cls.docstring is not None:
        cls.docstring.value = inspect.cleandoc(imported.__doc__ or "")


# -- links ----------------------------------------------------------------------------------------------------------


def _link_roles(package: griffe.Module) -> None:
    public = public_paths(package)
    names = {path.rpartition(".")[2]: path for path in public.values()}

    def link(scope: griffe.Object, short: str, name: str) -> str:
        text = f"`{name.rpartition('.')[2] if short else name}`"
        target = _find(scope, name, names)
        path = None if target is None else _public_path(target, public)
        return text if path is None else f"[{text}][{path}]"

    for each in _objects(package):
        if each.docstring is not None:
            each.docstring.value = ROLE.sub(
                lambda match, scope=each: link(scope, match[1], match[2]), each.docstring.value
            )


def _objects(parent: griffe.Object) -> Iterator[griffe.Object]:
    """Yield an object and all that it contains, without what it imports."""
    yield parent
    for each in parent.members.values():
        if not each.is_alias:
            yield from _objects(each)


def _find(scope: griffe.Object, name: str, public_names: dict[str, str]) -> Any:
    """Return the object that a docstring names: by its full path, as seen from there, or by its public name."""
    first, _, rest = name.partition(".")
    package = scope.package
    if first == package.name:
        return _member(package, rest)
    while scope is not None:
        found = _member(scope, name)
        if found is not None:
            return found
        scope = scope.parent
    if first not in public_names:
        return None
    path = public_names[first].removeprefix(f"{package.name}.")
    return _member(package, f"{path}.{rest}" if rest else path)


def _member(parent: Any, path: str) -> Any:
    """Return the object at a path below another, which may be inherited, or None."""
    try:
        for name in path.split("."):
            parent = parent.all_members[name]
            parent = parent.final_target if parent.is_alias else parent
    except (KeyError, griffe.AliasResolutionError):
        return None
    return parent


def _public_path(target: griffe.Object, public: dict[str, str]) -> str | None:
    """Return the path under which the reference documents an object or a member of a class, or None."""
    if target.canonical_path in public:
        return public[target.canonical_path]
    parent = target.parent
    if target.docstring is None or parent is None or parent.canonical_path not in public:
        return None
    return f"{public[parent.canonical_path]}.{target.name}"


# -- public names ---------------------------------------------------------------------------------------------------


def public_paths(package: griffe.Module) -> dict[str, str]:
    """Return the path under which each public object is documented, the shortest one, by its canonical path."""
    paths: dict[str, str] = {}
    for module in _packages(package):
        for name in _exports(module):
            target = module.members.get(name)
            try:
                if target is None or target.is_module:
                    continue
                paths.setdefault(target.canonical_path, target.path)
            except griffe.AliasResolutionError as error:
                log.warning("%s.%s cannot be resolved: %s", module.path, name, error)
    return paths


def _exports(module: Any) -> list[str]:
    """Return the names of ``__all__``; for a module with lazy imports, those that its stub imports, as ``X as X``."""
    stub = Path(module.filepath).with_suffix(".pyi")
    if not stub.exists():
        return [str(name) for name in module.exports or ()]
    imports = [node for node in ast.parse(stub.read_text()).body if isinstance(node, ast.ImportFrom)]
    return [each.name for node in imports for each in node.names if each.asname == each.name]


def _packages(module: Any) -> Iterator[Any]:
    """Yield a module and the public modules below it, outermost first; the command line has no Python interface."""
    level = [module]
    while level:
        yield from level
        level = [
            each
            for parent in level
            for each in parent.modules.values()
            if not each.is_alias and not each.name.startswith("_") and each.path != "graphprox.cli"
        ]
