"""Every method by its name, and what it takes to add one."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from graphprox import ParameterError, synthetic
from graphprox.baselines.base import ClassifyingBaseline, EmbeddingBaseline
from graphprox.methods.embedders import Classifier, Embedder
from graphprox.methods.family import FAMILY, recipe_for
from graphprox.methods.registry import BASELINES, METHODS, method_for, method_named
from graphprox.training.fitting import fit

ROOT = Path(__file__).resolve().parents[2]
GROUPS = {"floor", "walks and edges", "autoencoders", "contrast", "later peers", "semi-supervised", "FT-GCL"}


def test_the_table_holds_the_family_and_every_baseline():
    assert set(METHODS) == {*BASELINES, *FAMILY, "untrained"}
    for name, method in METHODS.items():
        assert method.name == name == name.lower()
        assert method.about.group in GROUPS
        assert set(method.about.uses) <= set("AXY")
        assert method.about.uses
        assert method.about.summary
        assert "\n" not in method.about.summary
        assert method.presets[0] == "default"


@pytest.mark.parametrize("name", METHODS)
def test_each_is_an_embedder_or_a_classifier(name):
    made = method_for(name)
    assert isinstance(made, Embedder) != isinstance(made, Classifier)
    assert isinstance(made, Classifier) == ("Y" in METHODS[name].about.uses)
    assert json.loads(json.dumps(made.settings)) is not None  # a record keeps them


@pytest.mark.parametrize("name", BASELINES)
def test_every_preset_of_a_baseline_is_made_of_settings_that_it_has(name):
    kind = BASELINES[name]
    assert issubclass(kind, EmbeddingBaseline | ClassifyingBaseline)
    for preset, settings in kind.presets.items():
        made = method_for(name, dataset=preset)
        assert made.settings == {**kind().settings, **settings}
    assert {each.name for each in fields(kind)} == set(kind().settings)


def test_the_method_of_a_name_is_found_however_it_is_written():
    assert method_named("FT_GCL").name == "ft-gcl"
    with pytest.raises(ParameterError, match="got 'smoothd': did you mean 'smoothed'"):
        method_named("smoothd")
    with pytest.raises(ParameterError, match="DGI has no preset 'Coraa'"):
        method_for("dgi", preset="Coraa")


@pytest.mark.parametrize(
    ("name", "given", "sentence"),
    [
        ("raw", {"steps": 3}, "Raw features has no setting 'steps'; there is nothing to set"),
        ("smoothed", {"step": 3}, "Smoothed features has no setting 'step'; did you mean 'steps'?"),
        ("smoothed", {"steps": -1}, "steps must be a whole number from 0; got -1"),
        ("smoothed", {"steps": True}, "steps must be a whole number from 0; got True"),
        ("dgi", {"learning_rate": "fast"}, "learning_rate must be a number from 0; got 'fast'"),
        ("dgi", {"learning_rate": float("nan")}, "learning_rate must be a number from 0; got nan"),
        ("dgi", {"width": 0}, "width must be a whole number from 1; got 0"),
    ],
)
def test_what_a_setting_may_not_be_is_said(name, given, sentence):
    with pytest.raises(ParameterError, match=re.escape(sentence)):
        method_for(name, overrides=given)


def test_an_untrained_encoder_is_a_training_of_no_steps(no_data):
    graph = synthetic(nodes=140)
    recipe = recipe_for("ft-gcl", overrides={"steps": 0, "seed": 5})
    made = method_for("untrained")
    assert isinstance(made, Embedder)
    assert np.array_equal(made.embed(graph, 5), fit(graph, recipe).embedding)


def test_a_method_is_added_by_one_file_and_one_line(tmp_path):
    """What docs/extending.md says is done as it says, in a copy of the package."""
    import shutil

    page = (ROOT / "docs" / "extending.md").read_text()
    file, line = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    path = re.match(r"# src/(\S+)\n", file)
    assert path is not None
    package = tmp_path / "graphprox"
    shutil.copytree(ROOT / "src" / "graphprox", package, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / path.group(1)).write_text(file)
    registry = package / "methods" / "registry.py"
    text = registry.read_text()
    kind = re.search(r": (\w+),", line).group(1)
    module = path.group(1).removesuffix(".py").replace("/", ".")
    text = text.replace("UNTRAINED = ", f"from {module} import {kind}\n\nUNTRAINED = ", 1)
    registry.write_text(text.replace("] = {\n", "] = {\n" + line, 1))
    script = "from graphprox.experiments.comparison import compare; from graphprox import load\n"
    script += "for each in compare(load('synthetic:nodes=140'), ['principal'], splits=2):\n"
    script += "    print(each.title, each.accuracy > 0.3)"
    environment = {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "numba"), "PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "Principal components True"), done.stderr
