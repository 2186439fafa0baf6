"""graphprox methods, compare, and embed by any method."""

from __future__ import annotations

import json

import numpy as np
import pytest

from graphprox.methods.registry import METHODS


def test_methods_are_listed(run):
    code, printed, _ = run("methods", "--json")
    listed = json.loads(printed)
    assert code == 0
    assert [each["name"] for each in listed] == list(METHODS)
    assert listed[0].keys() == {"name", "title", "group", "uses", "paper", "summary", "presets"}
    code, printed, _ = run("methods")
    assert code == 0
    assert all(name in printed for name in METHODS)


def test_methods_are_compared_on_a_graph_of_ones_own(run, tmp_path, no_data):
    edges, features, labels = (tmp_path / name for name in ("edges.csv", "features.csv", "labels.csv"))
    rng = np.random.default_rng(0)
    classes = np.arange(40) % 2
    pairs = [(a, b) for a in range(40) for b in range(a) if rng.random() < (0.3 if classes[a] == classes[b] else 0.05)]
    edges.write_text("source,target\n" + "".join(f"{a},{b}\n" for a, b in pairs))
    features.write_text("id,x,y\n" + "".join(f"{node},{classes[node] + rng.normal():.3f},1\n" for node in range(40)))
    labels.write_text("id,class\n" + "".join(f"{node},{'ab'[classes[node]]}\n" for node in range(40)))
    given = ("compare", edges, "--features", features, "--out", tmp_path / "out", "--methods", "raw,smoothed")
    code, printed, _ = run(*given, "--labels", labels, "--splits", 2, "--json")
    assert code == 0
    said = json.loads(printed)
    assert [each["method"] for each in said["methods"]] == ["raw", "smoothed"]
    assert all(0 < each["accuracy"] <= 1 for each in said["methods"])
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"compare.png", "compare.svg"}
    code, printed, _ = run(*given)
    assert code == 0
    assert "accuracy" not in printed
    assert "Smoothed features" in printed


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--methods", "raw,dgj"], "did you mean 'dgi'"),
        (["--protocol", "rndom"], "did you mean 'random'"),
        (["--methods", "raw", "--protocol", "public"], "public splits need a data set that has some"),
    ],
)
def test_what_cannot_be_compared_is_told(run, tmp_path, no_data, options, said):
    code, _, told = run("compare", "synthetic:nodes=140", "--out", tmp_path / "out", *options)
    assert code == 2
    assert said in told


def test_embed_takes_any_method(run, tmp_path, no_data):
    out = tmp_path / "emb.npy"
    given = ("embed", "synthetic:nodes=140", "--out", out, "--method", "dgi", "--set", "epochs=2", "--set", "width=4")
    code, printed, _ = run(*given, "--json")
    assert code == 0
    assert (json.loads(printed)["method"], np.load(out).shape) == ("dgi", (140, 4))
    one = np.load(out)
    assert run(*given, "--seed", 0)[0] == 0
    assert np.array_equal(np.load(out), one)
    assert run("embed", "synthetic:nodes=140", "--out", out, "--method", "raw")[0] == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--method", "dgi", "--steps", "5"], "--steps is for methods that are trained by a recipe"),
        (["--method", "dgi", "--model", "kept"], "--model is for methods that are trained by a recipe"),
        (["--method", "dgi", "--set", "widht=4"], "did you mean 'width'"),
        (["--method", "gcn"], "gcn learns classes from labels"),
    ],
)
def test_what_a_method_does_not_take_is_told(run, tmp_path, no_data, options, said):
    code, _, told = run("embed", "synthetic", "--out", tmp_path / "emb.npy", *options)
    assert code == 2
    assert said in told
    assert not (tmp_path / "emb.npy").exists()
