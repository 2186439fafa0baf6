"""Methods by name, and `embed`."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest

import graphprox
from graphprox import DGI, FTGCL, GCN, AutoEmbedder, Dataset, ParameterError, load, synthetic
from graphprox.methods import METHODS
from graphprox.methods.factory import make_embedder


def test_every_public_estimator_is_registered_once():
    classes = [value for name in graphprox.__all__ if isinstance(value := getattr(graphprox, name), type)]
    methods = [each for each in classes if each in METHODS.values()]
    assert sorted(each.name for each in methods) == sorted(METHODS)


@pytest.mark.parametrize("name", ["ft-gcl", "FT-GCL", "ft_gcl", "FT_GCL"])
def test_method_is_found_by_any_spelling(name):
    assert type(graphprox.method(name)) is FTGCL


def test_unknown_method_is_rejected_with_a_suggestion():
    with pytest.raises(ParameterError, match=r"^method must be a known name; got 'FT-GLC': did you mean 'ft-gcl'"):
        graphprox.method("FT-GLC")
    with pytest.raises(ParameterError, match=r"^method must be a known name; got 'x': valid names are .*dgi"):
        graphprox.method("x")


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("smoothed", {"step": 3}, "Smoothed features has no parameter 'step'; "),
        ("dgi", {"learning_rat": 3}, "DGI has no parameter 'learning_rat'; did you mean 'learning_rate'?"),
        ("dgi", {"preset": "Coraa"}, "DGI has no preset 'Coraa'; valid names are auto, default"),
        ("grace", {"preset": "citeser"}, "GRACE has no preset 'citeser'; did you mean 'CiteSeer'?"),
    ],
)
def test_unknown_parameter_or_preset_is_rejected(name, parameters, message):
    with pytest.raises(ParameterError, match=f"^{re.escape(message)}"):
        graphprox.method(name, **parameters)


def test_preset_is_that_of_the_data_set_or_the_default():
    default = graphprox.method("ft-gcl", preset="default")
    assert graphprox.method("ft-gcl", dataset="PubMed").settings() == FTGCL.from_preset("PubMed").settings()
    assert graphprox.method("ft-gcl", dataset="edges.csv").settings() == default.settings()
    assert graphprox.method("grace", dataset="Texas").settings() == graphprox.method("grace").settings()
    both = graphprox.method("ft-gcl", dataset="PubMed", preset="Cora")
    assert both.settings() == FTGCL.from_preset("Cora").settings()


def test_preset_without_a_data_set_is_resolved_by_fit():
    made = graphprox.method("gmi-mean")
    assert made.preset == "auto"
    assert made.resolve_preset(Dataset("CiteSeer", synthetic(nodes=140))).num_layers == 1


def test_parameter_takes_precedence_over_the_preset():
    made = graphprox.method("gmi-mean", dataset="CiteSeer", num_layers=2, n_components=8)
    assert (made.num_layers, made.n_components, made.preset) == (2, 8, "default")


def test_embed_by_name_equals_the_estimator():
    graph = synthetic(nodes=140)
    embedding = graphprox.embed(graph, "dgi", n_components=4, epochs=2, random_state=3)
    expected = DGI(n_components=4, epochs=2, random_state=3).fit(graph).embedding_
    assert np.array_equal(embedding.vectors, expected.vectors)
    assert np.array_equal(
        graphprox.embed(graph, DGI(n_components=4, epochs=2, random_state=3)).vectors, expected.vectors
    )


def test_embed_of_a_data_set_equals_the_fitted_estimator():
    dataset = load("synthetic:nodes=140")
    parameters = {"epochs": 2, "n_components": 8, "cache": False}
    embedding = graphprox.embed(dataset, "ft-gcl", **parameters)
    assert np.array_equal(embedding.vectors, FTGCL(**parameters).fit(dataset).vectors_)


def test_embed_without_a_method_is_the_default_one():
    graph = synthetic(nodes=140)
    embedding = graphprox.embed(graph, n_components=8)
    assert np.array_equal(embedding.vectors, AutoEmbedder(n_components=8).fit(graph).vectors_)


def test_embed_rejects_parameters_together_with_an_estimator():
    message = r"^parameters must be given to the estimator; got epochs together with DGI\(\)$"
    with pytest.raises(ParameterError, match=message):
        graphprox.embed(synthetic(nodes=140), DGI(), epochs=3)


def test_classifier_does_not_embed():
    with pytest.raises(ParameterError, match="must be one that makes embeddings; GCN classifies nodes"):
        graphprox.embed(synthetic(nodes=140), "gcn")
    with pytest.raises(ParameterError, match="must be one that makes embeddings"):
        make_embedder("gcn")
    assert isinstance(graphprox.method("gcn"), GCN)


def test_importing_graphprox_does_not_import_torch():
    code = "import sys, graphprox; print({'torch', 'sklearn', 'numba'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
