"""The documentation is complete and consistent with the code."""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import griffe
import pytest
from mkdocstrings import Inventory

import graphprox
from graphprox import CATALOG, METHODS
from graphprox.nn.encoders import ENCODERS
from graphprox.nn.objectives import OBJECTIVES
from graphprox.views import VIEWS

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "graphprox"
WITHOUT_PYTHON_INTERFACE = "graphprox.cli"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Build the site, with warnings as errors, and return its folder."""
    site = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", site],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return site


@pytest.fixture(scope="module")
def documented(site):
    """Return the paths of all objects in the API reference."""
    with (site / "objects.inv").open("rb") as file:
        return set(Inventory.parse_sphinx(file))


def public_packages() -> list[str]:
    """Return ``graphprox`` and the packages below it that are part of the Python interface."""
    found = [each.name for each in pkgutil.walk_packages(graphprox.__path__, "graphprox.") if each.ispkg]
    return ["graphprox", *(name for name in found if "._" not in name and name != WITHOUT_PYTHON_INTERFACE)]


@pytest.mark.parametrize("package", public_packages())
def test_every_public_name_is_in_the_api_reference(package, documented):
    module = importlib.import_module(package)
    names = [name for name in getattr(module, "__all__", ()) if not inspect.ismodule(getattr(module, name))]
    assert [name for name in names if f"{package}.{name}" not in documented] == []


@pytest.mark.parametrize("package", public_packages())
def test_every_public_class_and_function_has_a_docstring(package):
    module = importlib.import_module(package)
    objects = {name: getattr(module, name) for name in getattr(module, "__all__", ())}
    assert [
        name
        for name, value in objects.items()
        if (inspect.isclass(value) or inspect.isroutine(value)) and not inspect.getdoc(value)
    ] == []


@pytest.mark.parametrize("package", public_packages())
def test_docstrings_describe_the_parameters_of_the_signature(package):
    module = importlib.import_module(package)
    objects = {name: getattr(module, name) for name in getattr(module, "__all__", ())}
    wrong = {}
    for name, value in objects.items():
        if inspect.isroutine(value) or (inspect.isclass(value) and not issubclass(value, Exception)):
            parameters = signature_parameters(value)
            described = names_in_section(value, griffe.DocstringSectionParameters)
            inherited = {each for base in getattr(value, "__mro__", (value,)) for each in names_in_section(base)}
            wrong[name] = {"missing": parameters - inherited, "unknown": described - parameters}
    assert {name: each for name, each in wrong.items() if any(each.values())} == {}


def signature_parameters(value: Callable[..., object]) -> set[str]:
    """Return the names of the parameters of a function, or of the constructor of a class."""
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {name for name, each in inspect.signature(value).parameters.items() if each.kind not in kinds}


DESCRIPTIONS = (griffe.DocstringSectionParameters, griffe.DocstringSectionAttributes)


def names_in_section(value: object, kinds: type | tuple[type, ...] = DESCRIPTIONS) -> set[str]:
    """Return the names that sections of a docstring describe, without those that begin with an asterisk."""
    sections = griffe.Docstring(inspect.cleandoc(value.__doc__ or "")).parse("numpy", warnings=False)
    entries = [entry for section in sections if isinstance(section, kinds) for entry in section.value]
    names = {name for entry in entries for name in entry.name.split(", ")}
    return {name for name in names if not name.startswith("*")}


@pytest.mark.parametrize(
    ("page", "registry"), [("methods", METHODS), ("views", VIEWS), ("nn", ENCODERS), ("nn", OBJECTIVES)]
)
def test_tables_of_the_reference_list_everything_registered(page, registry, site):
    rows = re.findall(r"<tr>\s*<td><code>([^<]+)</code></td>", (site / "reference" / page / "index.html").read_text())
    assert set(registry) <= set(rows)


def test_table_of_datasets_matches_the_catalog():
    table = (ROOT / "docs" / "data.md").read_text()
    for entry in CATALOG.values():
        counts = (
            entry.name,
            f"{entry.nodes:,}",
            f"{entry.edges:,}",
            f"{entry.features:,}",
            entry.classes,
            entry.splits,
        )
        assert "| " + " | ".join(map(str, counts)) + " |" in table


def test_architecture_lists_every_package():
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert set(layers()) == packages


def test_packages_import_only_those_above_them():
    order = layers()
    for path in PACKAGE.glob("*/**/*.py"):
        own = path.relative_to(PACKAGE).parts[0]
        used = re.findall(r"^(?:from|import) graphprox\.(\w+)", path.read_text(), flags=re.MULTILINE)
        above = order[: order.index(own) + 1]
        assert [name for name in used if name in order and name not in above] == [], path


def layers() -> list[str]:
    """Return the packages in the order in which docs/architecture.md lists them: the first imports no other."""
    page = (ROOT / "docs" / "architecture.md").read_text()
    listing = page.partition("    src/graphprox/\n")[2].partition("    reproduction/")[0]
    return re.findall(r"^ {6}(\w+)/", listing, flags=re.MULTILINE)


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "RELEASING.md",
        *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")),
    ],
)
def test_links_lead_to_existing_files(page):
    text = (ROOT / page).read_text()
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if not link.startswith(("http", "#"))]
    missing = [link for link in links if not (ROOT / page).parent.joinpath(link.partition("#")[0]).exists()]
    assert missing == []


def test_makefile_has_the_targets_that_ci_runs():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    used = set(re.findall(r"^make ([a-z-]+)$", (ROOT / ".ci" / "run").read_text(), flags=re.MULTILINE))
    assert {"lint", "docs", "demo", "test", "wheel-test"} <= used <= targets
