"""Validation accuracy during training."""

from __future__ import annotations

import pytest

from graphprox import FTGCL, Dataset, GraphError, ParameterError, random_split, synthetic
from graphprox.evaluation import classify
from graphprox.methods import method
from graphprox.model_selection import training_curve


def small(**parameters):
    return FTGCL(n_components=16, head_channels=16, k_max=3, **parameters)


def test_a_point_equals_a_training_run_of_that_many_epochs(no_data):
    graph = synthetic()
    split = random_split(graph, random_state=7)
    points = list(training_curve(graph, small(random_state=2), [4, 0], [split]))
    assert [point.epochs for point in points] == [0, 4]
    assert points[0].loss is None
    fitted = small(epochs=4, random_state=2).fit(graph)
    assert points[1].loss == fitted.loss_curve_[-1]
    assert points[1].accuracy == classify(graph, fitted.vectors_, splits=[split]).val_accuracy.mean()
    assert points[1].std == 0


def test_the_name_of_a_data_set_selects_the_preset(no_data):
    graph, splits = synthetic(), [random_split(synthetic(), random_state=7)]
    named = list(training_curve(Dataset("synthetic", graph), FTGCL(n_components=16), [1], splits))
    assert named == list(training_curve(graph, FTGCL(n_components=16, preset="synthetic"), [1], splits))
    assert named != list(training_curve(graph, FTGCL(n_components=16), [1], splits))


def test_labels_are_required():
    with pytest.raises(GraphError, match="must have labels"):
        next(training_curve(synthetic(nodes=140).without_labels(), small(), [0]))


def test_only_methods_of_the_family_have_a_curve():
    with pytest.raises(ParameterError, match="needs a method of the FT-GCL family; got DGI: tune its epochs instead"):
        next(training_curve(synthetic(nodes=140), method("dgi"), [0]))
