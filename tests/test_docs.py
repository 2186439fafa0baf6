"""The docs show the house as it is."""

from __future__ import annotations

import re
from pathlib import Path

import graphprox
from graphprox import CATALOGUE

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "graphprox"


def documented_modules() -> set[str]:
    """The files that the drawing of the rooms lists below src/graphprox, by their paths."""
    drawing = (
        (ROOT / "docs" / "architecture.md").read_text().partition("    src/graphprox/\n")[2].partition("    tests/")[0]
    )
    rooms: list[str] = []
    modules = set()
    for indent, name in re.findall(r"^ {4}( +)(\S+)", drawing, flags=re.MULTILINE):
        rooms = rooms[: len(indent) // 2 - 1]  # each room is two spaces further in than the one it lies in
        if name.endswith("/"):
            rooms.append(name)
        else:
            modules.add("".join(rooms) + name)
    return modules


def test_the_architecture_lists_every_module_and_no_other():
    modules = {str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"}
    assert documented_modules() == modules


def test_the_table_of_data_sets_is_the_catalogue():
    table = (ROOT / "docs" / "data.md").read_text()
    for entry in CATALOGUE.values():
        counts = (
            entry.name,
            f"{entry.nodes:,}",
            f"{entry.edges:,}",
            f"{entry.features:,}",
            entry.classes,
            entry.splits,
        )
        assert "| " + " | ".join(map(str, counts)) + " |" in table


def test_public_names_are_pinned():
    assert len(graphprox.__all__) == len(set(graphprox.__all__))
    assert set(graphprox.__all__) == {
        *(
            "CATALOGUE",
            "DamagedCheckpointWarning",
            "Dataset",
            "DatasetError",
            "EdgeSplit",
            "Embedding",
            "FGCL",
            "FTGCL",
        ),
        *("FTGCLNL", "FTGCLPlus", "FTGRACE", "GRACE", "Graph", "GraphEmbedder", "GraphError", "GraphproxError"),
        *(
            "GraphproxWarning",
            "IgnoredInputWarning",
            "LowRecallWarning",
            "NodeSplit",
            "PEGCL",
            "ParameterError",
            "ReadError",
        ),
        *("Recipe", "SameVectorsWarning", "Statistics", "StructuralFeaturesWarning", "TGCL", "TrainingError"),
        *("WriteError", "edge_homophily"),
        *("edge_split", "load", "load_dataset", "nearest", "random_split", "read_embedding", "read_graph"),
        *("recipe_for", "statistics", "synthetic", "write_embedding"),
    }


def test_every_public_name_says_what_it_is():
    assert all(getattr(graphprox, name).__doc__ for name in graphprox.__all__ if name != "CATALOGUE")


def test_modules_stand_below_those_they_use():
    """Imports point the way the data goes: from the graph outwards, never back."""
    rank = {"errors": 0, "arrays": 1, "edges": 2, "structural": 2, "graph": 3, "interop": 4, "splits": 4}
    rank |= {"memory": 0, "embedding": 2, "checksum": 4, "statistics": 5, "io": 5, "similarity": 5, "datasets": 6}
    rank |= {"proximity": 6, "loading": 7, "nn": 7, "evaluation": 7, "training": 8, "baselines": 9}
    rank |= {"methods": 10, "experiments": 11, "cli": 12, "__main__": 13}
    for path in PACKAGE.rglob("*.py"):
        own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if own == "__init__":
            continue
        top_level = re.findall(r"^from graphprox\.(\w+)", path.read_text(), flags=re.MULTILINE)
        assert all(rank[used] < rank[own] or used == own for used in top_level), path
