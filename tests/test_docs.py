"""The documentation is complete and consistent with the code."""

from __future__ import annotations

import html
import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
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
def documented_paths(site):
    """Return the paths of all objects in the API reference."""
    with (site / "objects.inv").open("rb") as file:
        return set(Inventory.parse_sphinx(file))


def public_packages() -> list[str]:
    """Return ``graphprox`` and the packages below it that are part of the Python interface."""
    found = [each.name for each in pkgutil.walk_packages(graphprox.__path__, "graphprox.") if each.ispkg]
    return ["graphprox", *(name for name in found if "._" not in name and name != WITHOUT_PYTHON_INTERFACE)]


@pytest.mark.parametrize("package", public_packages())
def test_every_public_name_is_in_the_api_reference(package, documented_paths):
    module = importlib.import_module(package)
    names = [name for name in getattr(module, "__all__", ()) if not inspect.ismodule(getattr(module, name))]
    assert [name for name in names if f"{package}.{name}" not in documented_paths] == []


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


@pytest.mark.parametrize("package", public_packages())
def test_docstrings_of_public_methods_describe_their_parameters(package):
    wrong = {}
    for name, versions in public_methods(package):
        parameters = signature_parameters(versions[0]) - {"self", "cls"}
        described = names_in_section(versions[0], griffe.DocstringSectionParameters)
        inherited = {each for version in versions for each in names_in_section(version)}
        wrong[name] = {"missing": parameters - inherited, "unknown": described - parameters}
    assert {name: each for name, each in wrong.items() if any(each.values())} == {}


@pytest.mark.parametrize("package", public_packages())
def test_docstrings_describe_what_functions_and_methods_return(package):
    module = importlib.import_module(package)
    objects = {name: getattr(module, name) for name in getattr(module, "__all__", ())}
    functions = [(name, [value]) for name, value in objects.items() if inspect.isfunction(value)]
    assert [
        name
        for name, versions in [*functions, *public_methods(package)]
        if returns_a_value(versions[0]) and not any(map(describes_result, versions))
    ] == []


def public_methods(package: str) -> Iterator[tuple[str, list[Callable[..., object]]]]:
    """Yield the public methods that the public classes define, each with those of base classes that it overrides."""
    module = importlib.import_module(package)
    for cls in filter(inspect.isclass, (getattr(module, name) for name in getattr(module, "__all__", ()))):
        for name in vars(cls).keys() - getattr(cls, "__dataclass_fields__", {}).keys():
            versions = [inspect.unwrap(getattr(base, name)) for base in cls.__mro__ if name in vars(base)]
            if not name.startswith("_") and (inspect.isfunction(versions[0]) or inspect.ismethod(versions[0])):
                yield f"{cls.__name__}.{name}", versions


def returns_a_value(function: Callable[..., object]) -> bool:
    return inspect.signature(function).return_annotation not in ("None", None, inspect.Signature.empty)


def describes_result(function: Callable[..., object]) -> bool:
    sections = griffe.Docstring(inspect.cleandoc(function.__doc__ or "")).parse("numpy", warnings=False)
    kinds = (griffe.DocstringSectionReturns, griffe.DocstringSectionYields)
    return any(isinstance(section, kinds) for section in sections)


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


def test_signatures_of_methods_are_those_of_the_classes(site):
    signatures = rendered_signatures(site)
    for method in METHODS.values():
        if method.__module__.startswith("graphprox."):
            parameters = inspect.signature(method).parameters
            stated = signatures[method.__name__]
            assert [name for name in parameters if not re.search(rf"\b{name}: [^=]+ = ", stated)] == [], method
    assert "epochs: int = 10000" in signatures["DGI"]
    assert "epochs: int = 60" in signatures["FTGCLPlus"]
    assert [name for name, each in signatures.items() if "= parameter(" in each] == []


def test_methods_of_the_family_describe_their_parameters(site):
    page = rendered_text(site / "reference" / "ftgcl" / "index.html")
    section = page.partition("graphprox.FTGCLPlus")[2].partition("Examples:")[0]
    described = section.partition("Parameters:")[2]
    assert re.search(r"epochs \(int, default: 60 \)", described)


def test_no_role_of_sphinx_is_shown(site):
    pages = [path for path in site.rglob("index.html") if re.search(r":[a-z]+:`", rendered_text(path))]
    assert pages == []


def test_roles_of_sphinx_become_links_or_code():
    extensions = griffe.load_extensions(str(ROOT / "docs" / "griffe_extension.py"))
    package = griffe.load("graphprox", search_paths=[ROOT / "src"], extensions=extensions)
    objects = list(documented_objects(package))
    assert len(objects) > 500
    assert [each.path for each in objects if re.search(r":[a-z]+:`", each.docstring.value)] == []
    described = package["methods.dgi.DGI"].docstring.value
    assert "see [`GraphMethod`][graphprox.methods.GraphMethod]." in described
    inherited = package["ftgcl.base.ContrastiveEmbedder.from_preset"].docstring.value
    assert "[`preset_names`][graphprox.methods.GraphMethod.preset_names]" in inherited
    assert "`EpochLog`" in package["ftgcl.estimators.FTGCL"].docstring.value


def rendered_text(page: Path) -> str:
    """Return the text of a page, without the source code that it shows, with single spaces."""
    text = re.sub(r'<details class="mkdocstrings-source">.*?</details>', "", page.read_text(), flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", text)).split())


def rendered_signatures(site: Path) -> dict[str, str]:
    """Return the signatures of classes and functions in the API reference, by name."""
    pages = [path.read_text() for path in (site / "reference").rglob("index.html")]
    blocks = [each for page in pages for each in re.findall(r"doc-signature.*?</div>", page, flags=re.DOTALL)]
    texts = [" ".join(html.unescape(re.sub(r"<[^>]*>", "", each.partition(">")[2])).split()) for each in blocks]
    return {text.partition("(")[0]: text for text in texts}


def documented_objects(parent: griffe.Object) -> Iterator[griffe.Object]:
    """Yield an object and all that it contains, as far as they have docstrings."""
    if parent.docstring is not None:
        yield parent
    for each in parent.members.values():
        if not each.is_alias:
            yield from documented_objects(each)


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


def test_architecture_lists_every_package_and_top_level_module():
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    modules = {path.stem for path in PACKAGE.glob("*.py") if not path.stem.startswith("__")}
    assert sorted(layers()) == sorted(packages | modules)


def test_packages_and_modules_import_only_those_above_them():
    order = layers()
    for path in PACKAGE.rglob("*.py"):
        own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if own not in order:  # graphprox itself imports all
            continue
        used = re.findall(r"^(?:from|import) graphprox\.(\w+)", path.read_text(), flags=re.MULTILINE)
        assert [name for name in used if name not in order[: order.index(own) + 1]] == [], path


def layers() -> list[str]:
    """Return the packages and modules in the order of docs/architecture.md: the first imports no other."""
    page = (ROOT / "docs" / "architecture.md").read_text()
    listing = page.partition("    src/graphprox/\n")[2].partition("    reproduction/")[0]
    return re.findall(r"^ {6}(\w+)(?:/|\.py) ", listing, flags=re.MULTILINE)


def test_architecture_names_the_files_that_share_a_name():
    page = (ROOT / "docs" / "architecture.md").read_text()
    exceptions = page.partition("No two files have the same name")[2].partition("## ")[0]
    names = Counter(path.name for folder in (PACKAGE, ROOT / "reproduction") for path in folder.rglob("*.py"))
    shared = {name for name, count in names.items() if count > 1 and not name.startswith("__")}
    assert shared == set(re.findall(r"`(?:\w+/)*(\w+\.py)`", exceptions))


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


def test_every_module_has_a_test_file_of_its_name_or_one_that_names_it():
    files = list((ROOT / "tests").rglob("test_*.py"))
    tested = {path.relative_to(ROOT / "tests").with_stem(path.stem.removeprefix("test_")) for path in files}
    lines = [line for path in files for line in re.findall(r"^Covers (.*)\.$", path.read_text(), flags=re.MULTILINE)]
    covered = {name for line in lines for name in re.split(r", | and ", line)}
    modules = {
        ".".join(path.relative_to(folder.parent).with_suffix("").parts): path.relative_to(start)
        for folder, start in ((PACKAGE, PACKAGE), (ROOT / "reproduction", ROOT))
        for path in folder.rglob("*.py")
        if path.name != "__init__.py"
    }
    untested = {name for name, path in modules.items() if path.with_stem(path.stem.lstrip("_")) not in tested}
    assert sorted(untested - covered) == []
    assert sorted(covered - set(modules)) == []
