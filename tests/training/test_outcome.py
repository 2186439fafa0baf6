"""What a training may leave behind."""

import numpy as np
import pytest
import torch

from graphprox import Graph, Recipe, SameVectorsWarning, TrainingError
from graphprox.baselines.neural import as_embedding
from graphprox.training.fitting import fit
from graphprox.training.outcome import finite, told_apart

FINE = np.array([[1, 2, 3], [1, 2, 3], [1, 2, 4]], dtype=np.float32)  # one number tells one node from the others
SAME = np.tile(np.array([[1, -2, 3]], dtype=np.float32), (5, 1))


def test_what_is_as_it_should_be_is_handed_on():
    assert finite(FINE, "do this") is FINE
    assert told_apart(FINE) is FINE


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_refused(value):
    with pytest.raises(TrainingError, match=r"an embedding must be finite; .*: do this"):
        finite(np.array([[0, value], [1, 2]], dtype=np.float32), "do this")


@pytest.mark.parametrize("scale", [0, 1e-20, 1, 1e20])
def test_one_vector_for_all_nodes_is_told_of(scale):
    same = SAME * np.float32(scale)
    with pytest.warns(SameVectorsWarning, match=r"all 5 nodes have one: .* lower the learning rate or change the seed"):
        assert told_apart(same) is same


def test_rounding_tells_no_node_from_another():
    same = SAME.copy()
    same[2] = np.nextafter(same[2], np.float32(9))
    with pytest.warns(SameVectorsWarning):
        told_apart(same)


@pytest.mark.parametrize("scale", [1e-20, 1e20])
def test_small_and_large_numbers_tell_nodes_apart_as_well(scale):
    fine = FINE * np.float32(scale)
    assert told_apart(fine) is fine  # a warning would be an error


def test_one_node_has_no_other_to_be_told_from():
    one = FINE[:1]
    assert told_apart(one) is one


def test_methods_tell_of_it():
    with pytest.warns(SameVectorsWarning, match="all 4 nodes have one"):
        as_embedding(torch.ones(4, 2))
    with pytest.warns(SameVectorsWarning, match="all 30 nodes have one"):
        fit(Graph(np.zeros((30, 5)), [range(29), range(1, 30)]), Recipe(steps=0), device="cpu")
