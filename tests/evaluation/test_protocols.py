"""Protocols: splits and probes by name."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from graphprox import Dataset, GraphError, NodeSplit, ParameterError, load, random_split, synthetic
from graphprox._utils.defaults import ProtocolName
from graphprox.evaluation import PROTOCOLS, get_protocol
from graphprox.evaluation.dgi_probe import DGIProbe
from graphprox.evaluation.grace_probe import GRACEProbe, grace_split
from graphprox.evaluation.probe import LinearProbe


def parts(splits):
    return [[getattr(split, part).tolist() for part in ("train", "val", "test")] for split in splits]


@pytest.fixture(scope="module")
def dataset():
    graph = synthetic(nodes=200)
    return Dataset("two", graph, {"public": (NodeSplit([0, 1], [2], [3]), NodeSplit([3], [1], [0, 2]))})


def test_names_on_the_command_line_are_those_of_the_protocols():
    assert get_args(ProtocolName) == tuple(PROTOCOLS)


def test_each_protocol_has_the_probe_of_its_origin():
    kinds = {name: type(protocol.probe) for name, protocol in PROTOCOLS.items()}
    assert kinds == {"random": LinearProbe, "public": LinearProbe, "grace": GRACEProbe, "dgi": DGIProbe}


def test_random_splits_have_consecutive_seeds(dataset):
    found = PROTOCOLS["random"].splits(dataset, n_splits=3, random_state=7)
    assert parts(found) == parts(random_split(dataset.graph, random_state=seed) for seed in (7, 8, 9))
    assert len(PROTOCOLS["random"].splits(dataset.graph)) == 10


def test_grace_splits_have_the_training_nodes_of_random_splits(dataset):
    found = PROTOCOLS["grace"].splits(dataset, n_splits=2)
    assert parts(found) == parts(grace_split(dataset.graph, random_state=seed) for seed in (0, 1))
    expected = [split.train for split in PROTOCOLS["random"].splits(dataset, n_splits=2)]
    assert np.array_equal([split.train for split in found], expected)


@pytest.mark.parametrize("name", ["public", "dgi"])
def test_all_published_splits_are_used(dataset, name):
    found = PROTOCOLS[name].splits(dataset, n_splits=1, random_state=5)
    assert found == list(dataset.splits["public"])


@pytest.mark.parametrize(("name", "count"), [("Cora", 1), ("Texas", 10), ("Actor", 10)])
def test_benchmarks_have_their_published_splits(data, name, count):
    assert len(PROTOCOLS["public"].splits(load(name, data=data))) == count


def test_published_splits_need_a_data_set_that_has_some(dataset):
    with pytest.raises(ParameterError, match="synthetic has none: use the protocol random or grace"):
        PROTOCOLS["public"].splits(load("synthetic"))
    with pytest.raises(ParameterError, match="the graph has none"):
        PROTOCOLS["public"].splits(dataset.graph)
    without_validation = Dataset("ACM", dataset.graph, {"train20": (NodeSplit([0], [], [1]),), "train40": ()})
    with pytest.raises(ParameterError, match="ACM has only train20, train40, without validation nodes"):
        PROTOCOLS["public"].splits(without_validation)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_labels_are_required(dataset, name):
    with pytest.raises(GraphError, match="needs a graph with labels; bare has none"):
        PROTOCOLS[name].splits(Dataset("bare", dataset.graph.without_labels()))


@pytest.mark.parametrize("name", ["random", "grace"])
@pytest.mark.parametrize("n_splits", [0, -1, 2.5])
def test_n_splits_must_be_a_positive_integer(dataset, name, n_splits):
    with pytest.raises(ParameterError, match="n_splits must be a positive integer"):
        PROTOCOLS[name].splits(dataset, n_splits=n_splits)


@pytest.mark.parametrize("name", ["random", "grace"])
def test_n_splits_may_be_an_integer_of_numpy(dataset, name):
    found, known = (PROTOCOLS[name].splits(dataset, n_splits=size) for size in (np.int64(2), 2))
    assert [split.test.tolist() for split in found] == [split.test.tolist() for split in known]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("compat", "it is now called 'grace'"),
        ("descent", "it is now called 'dgi'"),
        ("rnadom", "did you mean 'random'?"),
        ("x", "valid names are random, public, grace, dgi"),
    ],
)
def test_an_unknown_protocol_is_an_error_that_names_the_right_one(name, hint):
    assert get_protocol("dgi") is PROTOCOLS["dgi"]
    with pytest.raises(ParameterError) as error:
        get_protocol(name)
    assert str(error.value) == f"protocol must be one of random, public, grace, dgi; got {name!r}: {hint}"
