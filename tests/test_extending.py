"""The files in docs/extending.md, installed as a package.

Covers graphprox.fields.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "extending.md").read_text()
FILES = dict(re.findall(r'^```\w+ title="([^"]+)"\n(.*?)^```$', PAGE, flags=re.MULTILINE | re.DOTALL))


def build_wheel(folder: Path) -> Path:
    """Build a wheel of the package in the page: its modules and its entry points."""
    path = folder / "graphprox_example-0.1-py3-none-any.whl"
    entry_points = FILES["pyproject.toml"].replace("project.entry-points.", "").replace('"', "")
    info = "graphprox_example-0.1.dist-info"
    members = {name: text for name, text in FILES.items() if name.endswith(".py")} | {
        "graphprox_example/__init__.py": "",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: graphprox-example\nVersion: 0.1\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": entry_points,
    }
    record = "".join(f"{name},,\n" for name in [*members, f"{info}/RECORD"])
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in {**members, f"{info}/RECORD": record}.items():
            archive.writestr(name, text)
    return path


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """An environment in which the package is installed together with graphprox."""
    folder = tmp_path_factory.mktemp("plugin")
    site = folder / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", site]
    subprocess.run([*pip, build_wheel(folder)], check=True, capture_output=True)
    paths = [str(site), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "XDG_CACHE_HOME": str(folder / "cache")}


def run(environment, *command, cwd=ROOT):
    done = subprocess.run(
        list(map(str, command)), env=environment, cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# One process runs several commands, as each would import torch again.
PROGRAM = """
import json, sys
from graphprox.cli import main
for arguments in json.loads(sys.argv[1]):
    sys.argv = ["graphprox", *arguments]
    try:
        main()
    except SystemExit as stopped:
        assert not stopped.code, arguments
"""
SETTINGS = [
    'pairs=[["graph","degree"]]',
    "views.degree.bins=4",
    "encoder=residual-mean",
    "objective.name=decorrelation",
]
EMBED = ["embed", "synthetic:nodes=140", "--out"]
COMMANDS = [
    ["methods", "principal"],
    [*EMBED, "a.npy", "--method", "principal", "--dim", "5"],
    [*EMBED, "b.npy", "--method", "ft-gcl", "--dim", "8", "--epochs", "3", "--model", "model"]
    + [part for each in SETTINGS for part in ("--set", each)],
]


@pytest.fixture(scope="module")
def commands(environment, tmp_path_factory):
    """The folder in which the commands have run, and what they printed."""
    folder = tmp_path_factory.mktemp("commands")
    return folder, run(environment, sys.executable, "-c", PROGRAM, json.dumps(COMMANDS), cwd=folder)


def test_page_shows_one_file_for_each_extension_point():
    assert len([name for name in FILES if name.endswith(".py")]) == 4
    assert set(re.findall(r'entry-points\."graphprox\.(\w+)"', FILES["pyproject.toml"])) == {
        "methods",
        "views",
        "encoders",
        "objectives",
    }


def test_method_of_another_package_embeds(commands):
    folder, printed = commands
    assert np.load(folder / "a.npy").shape == (140, 5)
    assert "Principal components" in printed


def test_view_encoder_and_objective_of_another_package_train(commands):
    folder, _ = commands
    assert np.load(folder / "b.npy").shape == (140, 8)
    recipe = (folder / "model" / "recipe.toml").read_text()
    assert all(f'"{name}"' in recipe for name in ("degree", "residual-mean", "decorrelation"))
    assert "bins = 4" in recipe


def test_files_of_the_page_pass_the_contract_tests(environment):
    pattern = "principal or degree or residual-mean or decorrelation or PrincipalComponents"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/contracts", "-k", pattern]
    summary = run(environment, *command).splitlines()[-1]
    assert int(re.search(r"(\d+) passed", summary)[1]) > 60, summary
    assert "failed" not in summary
