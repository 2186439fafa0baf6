"""Smoke test of an installed graphprox without extras, run by ``make wheel-test`` outside the source tree.

Every module imports, every public name resolves, an embedding is computed and saved, and the command line runs.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import pkgutil
import subprocess
import sys
from pathlib import Path

import graphprox

PROGRAM = Path(sys.executable).with_name("graphprox")


def check_environment() -> None:
    """Check that the installed package is tested, with its declared dependencies only."""
    assert Path(graphprox.__file__).is_relative_to(sys.prefix), graphprox.__file__
    assert graphprox.__version__ == importlib.metadata.version("graphprox")
    for extra in ("matplotlib", "tensorboard", "pytest", "mkdocs", "gensim"):
        assert importlib.util.find_spec(extra) is None, f"{extra} is installed, so the environment is not empty"
    for outside in ("reproduction", "benchmarks", "tests"):
        assert importlib.util.find_spec(outside) is None, f"{outside} must not be part of the wheel"
    assert Path(graphprox.__file__).with_name("py.typed").exists()


def check_imports() -> None:
    """Every module imports, and every name of an ``__all__`` resolves."""
    names = [found.name for found in pkgutil.walk_packages(graphprox.__path__, "graphprox.")]
    modules = [importlib.import_module(name) for name in names if not name.endswith("__main__")]
    for module in (graphprox, *modules):
        for name in getattr(module, "__all__", ()):
            getattr(module, name)
    print(f"{len(modules)} modules import, {len(graphprox.__all__)} public names resolve")


def check_commands() -> None:
    """The commands that need no data run, and an embedding can be saved, read and searched."""
    for arguments in (
        ("--help",),
        ("methods",),
        ("datasets",),
        ("info", "synthetic"),
        ("embed", "synthetic", "--method", "deepwalk", "--out", "vectors.parquet"),
        ("embed", "synthetic", "--out", "auto.npy", "--model", "auto"),
        ("transform", "synthetic", "--model", "auto", "--out", "again.npy"),
        ("embed", "synthetic", "--method", "ft-gcl", "--out", "model.npy", "--model", "model"),
        ("transform", "synthetic", "--model", "model", "--out", "again.npy"),
        ("neighbors", "vectors.parquet", "0"),
    ):
        done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"graphprox {' '.join(arguments)}:\n{done.stdout}{done.stderr}"
    embedding = graphprox.read_embedding("vectors.parquet")
    assert embedding.vectors.shape[0] == graphprox.load("synthetic").graph.num_nodes
    print("the command line runs")


if __name__ == "__main__":
    check_environment()
    check_imports()
    check_commands()
