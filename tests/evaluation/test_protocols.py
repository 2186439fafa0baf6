"""Protocols by name."""

from __future__ import annotations

import numpy as np
import pytest

from graphprox import Dataset, GraphError, NodeSplit, ParameterError, load, random_split, synthetic
from graphprox.evaluation.compat import compat_probe, compat_split
from graphprox.evaluation.descent import descent_probe
from graphprox.evaluation.probe import probe
from graphprox.evaluation.protocols import PROTOCOLS


def same(splits, others):
    parts = ("train", "validation", "test")
    return len(splits) == len(others) and all(
        np.array_equal(getattr(a, part), getattr(b, part))
        for a, b in zip(splits, others, strict=True)
        for part in parts
    )


@pytest.fixture(scope="module")
def dataset():
    graph = synthetic(nodes=200)
    return Dataset("two", graph, {"public": (NodeSplit([0, 1], [2], [3]), NodeSplit([3], [1], [0, 2]))})


def test_there_are_four():
    assert list(PROTOCOLS) == ["random", "public", "compat", "descent"]
    assert all(name == each.name and each.about for name, each in PROTOCOLS.items())
    assert [each.probe for each in PROTOCOLS.values()] == [probe, probe, compat_probe, descent_probe]


def test_random_splits_go_by_seed(dataset):
    found = PROTOCOLS["random"].splits(dataset, count=3, first_seed=7)
    assert same(found, [random_split(dataset.graph, seed=seed) for seed in (7, 8, 9)])
    assert len(PROTOCOLS["random"].splits(dataset)) == 10


def test_compat_splits_have_the_training_nodes_of_random_ones(dataset):
    found = PROTOCOLS["compat"].splits(dataset, count=2)
    assert same(found, [compat_split(dataset.graph, seed=seed) for seed in (0, 1)])
    trained_on = [each.train for each in PROTOCOLS["random"].splits(dataset, count=2)]
    assert np.array_equal([each.train for each in found], trained_on)


def test_public_splits_come_as_they_are_and_all(dataset):
    assert same(PROTOCOLS["public"].splits(dataset, count=1, first_seed=5), dataset.splits["public"])


@pytest.mark.parametrize(("name", "count"), [("Cora", 1), ("Texas", 10), ("Actor", 10)])
def test_published_splits_are_found(data, name, count):
    assert len(PROTOCOLS["public"].splits(load(name, data=data))) == count


def test_a_data_set_without_public_splits_says_so(dataset):
    with pytest.raises(ParameterError, match="synthetic has none: use the protocol random or compat"):
        PROTOCOLS["public"].splits(load("synthetic"))
    nobody = Dataset("ACM", dataset.graph, {"train20": (NodeSplit([0], [], [1]),), "train40": ()})
    with pytest.raises(ParameterError, match="ACM has only train20, train40, without validation nodes"):
        PROTOCOLS["public"].splits(nobody)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_labels_and_a_count_are_needed(dataset, name):
    with pytest.raises(GraphError, match="needs a graph with labels; bare has none"):
        PROTOCOLS[name].splits(Dataset("bare", dataset.graph.without_labels()))
    for count in (0, -1, 2.5):
        if PROTOCOLS[name].draw is not None:
            with pytest.raises(ParameterError, match="count must be a whole number from 1"):
                PROTOCOLS[name].splits(dataset, count=count)
