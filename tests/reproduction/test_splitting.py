"""Splits of the reproduction are those that its records were made with."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from graphprox import load, synthetic
from graphprox.evaluation.protocols import PROTOCOLS
from reproduction.splitting import recorded_protocol

# Of the splits 0 to 9 of Cora, as the first records were made.
TRAINING_NODES = "7a1ccc87b9b6304a56ec573f2f002ca1cf8768240e3f9d2c8af79a5396722892"


@pytest.mark.parametrize("protocol", ["random", "grace"])
def test_random_splits_are_those_of_the_seed_itself(protocol):
    graph = synthetic()
    for seed, split in enumerate(recorded_protocol(protocol).splits(graph, n_splits=3)):
        order = np.random.default_rng(seed).permutation(graph.num_nodes)
        assert split.train.tolist() == sorted(order[:84])
        assert split.val.tolist() == (sorted(order[84:168]) if protocol == "random" else [])


@pytest.mark.parametrize("protocol", ["public", "dgi"])
def test_protocols_with_published_splits_are_unchanged(protocol):
    assert recorded_protocol(protocol) is PROTOCOLS[protocol]


def test_splits_of_cora_are_those_of_the_records(data):
    splits = recorded_protocol("random").splits(load("Cora", data=data), n_splits=10)
    assert hashlib.sha256(np.stack([each.train for each in splits]).tobytes()).hexdigest() == TRAINING_NODES
