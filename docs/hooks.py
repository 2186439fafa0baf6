"""Hooks of the documentation site: they generate what pages would otherwise repeat from the code.

- ``<!-- api: graph -->`` is replaced by an entry for every public name that is defined below ``graphprox.graph``:
  those in ``graphprox.__all__``, under the name users import, and those in the ``__all__`` of the package and its
  subpackages.
- ``<!-- table: methods -->`` is replaced by a table of everything that is registered; see `TABLES`.
- Links to files that are not part of the site lead to GitHub.
"""

from __future__ import annotations

import inspect
import logging
import re
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import griffe
from griffe_extension import public_paths  # mkdocs finds modules next to its hooks

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
log = logging.getLogger("mkdocs.hooks.graphprox")
sys.path.insert(0, str(ROOT / "src"))  # the tables are those of this source tree


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Expand the comments of a page, and link to GitHub what is not part of the site."""
    markdown = _expand("api", lambda areas: _entries(areas.split()), markdown)
    markdown = _expand("table", lambda name: TABLES[name](), markdown)
    folder = Path(page.file.abs_src_path).parent
    return re.sub(
        r"(?<=\]\()(\.\./[^)\s]+)(?=\))", lambda match: _to_github(match[1], folder, config.repo_url), markdown
    )


def _expand(kind: str, expand: Any, markdown: str) -> str:
    return re.sub(rf"^<!-- {kind}: (.+) -->$", lambda match: expand(match[1]), markdown, flags=re.MULTILINE)


def _to_github(link: str, folder: Path, repository: str) -> str:
    """Return the address on GitHub of a file outside the docs; other links, and links to no file, are not changed."""
    target = (folder / link.partition("#")[0]).resolve()
    if not target.exists() or target.is_relative_to(DOCS) or not target.is_relative_to(ROOT):
        return link
    kind = "tree" if target.is_dir() else "blob"
    return f"{repository}/{kind}/main/{target.relative_to(ROOT)}"


# -- the API reference ----------------------------------------------------------------------------------------------


def _entries(areas: list[str]) -> str:
    """Return one mkdocstrings directive for every public name of the areas, which are modules or packages."""
    found = {
        path
        for canonical, path in _public_paths().items()
        if any(each.startswith(f"graphprox.{area}.") for area in areas for each in (canonical, path))
    }
    if not found:
        log.warning("no public name is defined in %s", ", ".join(areas))
    return "\n\n".join(f"::: {path}" for path in sorted(found, key=_order))


def _order(path: str) -> tuple[int, str]:
    """Sort names of the package itself first."""
    return path.count("."), path.lower()


@cache
def _public_paths() -> dict[str, str]:
    return public_paths(griffe.load("graphprox", search_paths=[ROOT / "src"], resolve_aliases=True))


# -- tables of the registries ---------------------------------------------------------------------------------------


def _methods() -> str:
    from graphprox.methods import InductiveEmbedder, NodeClassifier
    from graphprox.methods.factory import methods_by_group

    def kind(method: type) -> str:
        if issubclass(method, NodeClassifier):
            return "classifier"
        return "inductive" if issubclass(method, InductiveEmbedder) else "transductive"

    rows = [
        (
            f"`{each.name}`",
            _link(each),
            each.info.group,
            each.info.uses,
            kind(each),
            each.info.summary,
            each.info.paper,
        )
        for each in methods_by_group()
    ]
    return _table(("name", "class", "group", "reads", "kind", "summary", "published in"), rows)


def _family() -> str:
    from graphprox import METHODS, ContrastiveEmbedder

    rows = []
    for name, each in METHODS.items():
        if issubclass(each, ContrastiveEmbedder) and not each.forced_fields:
            recipe = each(preset="default").recipe()
            pairs = ", ".join(" – ".join(pair) for pair in recipe.pairs)
            rows.append((f"`{name}`", _link(each), pairs, f"`{recipe.objective.name}`", each.info.summary))
    return _table(("name", "class", "pairs", "objective", "summary"), rows)


def _views() -> str:
    from graphprox.views import VIEWS

    rows = [
        (f"`{name}`", view.summary, _defaults(view.options().descriptor_options()))
        for name, view in sorted(VIEWS.items())
    ]
    return _table(("name", "summary", "options and defaults, in addition to `k_min` and `k_max`"), rows)


def _encoders() -> str:
    from graphprox.nn.encoders import ENCODERS, EncoderOptions

    rows = [
        (
            f"`{name}`",
            _describe_layer(each),
            _defaults(_own_fields(each.Options, EncoderOptions)),
        )
        for name, each in sorted(ENCODERS.items())
    ]
    return _table(("name", "layer", "further options and defaults"), rows)


def _objectives() -> str:
    from graphprox.nn.objectives import OBJECTIVES, ObjectiveOptions

    rows = [
        (f"`{name}`", each.summary, _defaults(_own_fields(each.options, ObjectiveOptions)))
        for name, each in sorted(OBJECTIVES.items())
    ]
    return _table(("name", "summary", "options and defaults"), rows)


TABLES = {
    "methods": _methods,
    "family": _family,
    "views": _views,
    "encoders": _encoders,
    "objectives": _objectives,
}


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [list(header), *map(list, rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _link(method: type) -> str:
    return f"[`{method.__name__}`][graphprox.{method.__name__}]"


def _own_fields(options: Any, base: Any) -> dict[str, Any]:
    made = options()
    return {name: getattr(made, name) for name in options.model_fields if name not in base.model_fields}


def _defaults(fields: dict[str, Any]) -> str:
    return ", ".join(f"`{name}={value!r}`" for name, value in fields.items()) or "none"


def _describe_layer(encoder: object) -> str:
    layer = getattr(encoder, "convolution", encoder)
    return (inspect.getdoc(layer) or "").partition("\n")[0].replace("``", "`")
