"""Accuracy on validation nodes, step by step."""

from __future__ import annotations

import pytest

from graphprox import GraphError, Recipe, random_split, synthetic
from graphprox.evaluation.probe import probe
from graphprox.experiments.curve import curve
from graphprox.training.fitting import fit

RECIPE = Recipe(encoder={"width": 16}, head={"width": 16}, views={"k_max": 3})


def test_a_mark_is_a_training_of_that_many_steps(no_data):
    graph = synthetic()
    split = random_split(graph, seed=7)
    marks = list(curve(graph, RECIPE, [split], [4, 0]))
    assert [mark.steps for mark in marks] == [0, 4]
    assert marks[0].loss is None
    fitted = fit(graph, RECIPE.merged({"steps": 4}))
    assert marks[1].loss == fitted.losses[-1]
    assert marks[1].accuracy == probe(fitted.embedding, graph.y, split).validation_accuracy


def test_labels_are_needed():
    with pytest.raises(GraphError, match="must have labels"):
        next(curve(synthetic(nodes=140).without_labels(), RECIPE, [], [0]))
