"""The base classes of all methods, tested on small methods that are defined here.

Covers graphprox.methods.registration.
"""

from __future__ import annotations

import pickle
from copy import copy, deepcopy

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone

from graphprox import DGI, FTGCL, GMI, Dataset, GraphError, ParameterError, synthetic
from graphprox.methods import (
    METHODS,
    GraphEmbedder,
    MethodInfo,
    register_method,
)

INFO = {"group": "floor", "summary": "for tests"}


# -- declaring a method ---------------------------------------------------------------------------------------------


def test_declared_parameters_are_keywords_of_the_constructor(scaled_method):
    made = scaled_method(factor=4, label="x")
    assert (made.factor, made.times, made.label) == (4, 1, "x")
    assert made.get_params()["label"] == "x"
    assert repr(made) == "Scaled(factor=4, label='x')"
    with pytest.raises(TypeError):
        scaled_method(4)
    with pytest.raises(TypeError):
        scaled_method(unknown=4)


def test_registered_method_has_its_name(scaled_method, registry):
    assert scaled_method.name == "scaled"
    assert registry.lookup("Scaled") is scaled_method


def test_name_of_a_method_must_be_unique(registry):
    with pytest.raises(ParameterError, match=r"names of registered methods must be unique; 'dgi' is taken by"):

        @register_method("dgi")
        class Another(GraphEmbedder):
            info = MethodInfo(title="Another", uses="A", **INFO)


def test_settings_are_the_parameters_that_the_result_depends_on(scaled_method):
    assert scaled_method(factor=3).settings() == {
        "factor": 3,
        "times": 1,
        "sign": "plus",
        "is_wide": False,
        "extra": None,
    }


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"factor": 0.1}, "factor must be a finite number between 0.5 and 10; got 0.1"),
        ({"factor": 11}, "factor must be a finite number between 0.5 and 10; got 11"),
        ({"factor": "2"}, "factor must be a finite number between 0.5 and 10; got '2'"),
        ({"factor": float("nan")}, "factor must be a finite number between 0.5 and 10; got nan"),
        ({"factor": True}, "factor must be a finite number between 0.5 and 10; got True"),
        ({"times": 0}, "times must be a positive integer; got 0"),
        ({"times": 1.0}, "times must be a positive integer; got 1.0"),
        ({"times": True}, "times must be a positive integer; got True"),
        ({"times": None}, "times must be a positive integer; got None"),
        ({"sign": "times"}, "sign must be one of plus, minus; got 'times'"),
        ({"sign": ["plus"]}, "sign must be one of plus, minus; got ['plus']"),
        ({"is_wide": 1}, "is_wide must be true or false; got 1"),
        ({"extra": -1}, "extra must be a non-negative integer; got -1"),
        ({"extra": "x"}, "extra must be a non-negative integer; got 'x'"),
        ({"verbose": "yes"}, "verbose must be true or false; got 'yes'"),
        ({"random_state": -1}, "random_state must be a non-negative integer below 2^63"),
        ({"preset": "Texsa"}, "Scaled has no preset 'Texsa'; did you mean 'Texas'?"),
    ],
)
def test_invalid_value_is_rejected_by_fit_and_not_by_the_constructor(scaled_method, graph, parameters, message):
    made = scaled_method(**parameters)
    with pytest.raises(ParameterError) as refused:
        made.fit(graph)
    assert str(refused.value).startswith(message)


def test_integers_are_accepted_for_floats_and_numpy_scalars_for_both(scaled_method, graph):
    for factor, times in ((2, 1), (np.float32(2), np.int64(1)), (np.int64(2), np.uint8(1))):
        assert np.array_equal(scaled_method(factor=factor, times=times).fit_transform(graph), 2 * graph.x)


# -- presets --------------------------------------------------------------------------------------------------------


def test_preset_replaces_defaults_only(scaled_method):
    assert scaled_method.preset_names() == ("default", "Texas")
    changed = scaled_method(preset="Texas", factor=5).resolve_preset()
    assert (changed.factor, changed.times, changed.preset) == (5, 2, "default")
    explicit = scaled_method.from_preset("Texas", factor=2.0)
    assert (explicit.factor, explicit.times) == (2.0, 2)


@pytest.mark.parametrize("copied", [clone, copy, deepcopy, lambda made: pickle.loads(pickle.dumps(made))])
def test_copy_keeps_which_parameters_were_given(copied):
    given, left = GMI(num_layers=2), GMI()
    citeseer = Dataset("CiteSeer", synthetic(nodes=140))
    assert given.get_params() == left.get_params()
    for made, num_layers in ((given, 2), (left, 1)):
        assert copied(made).resolve_preset(citeseer).num_layers == num_layers
        assert repr(copied(made)) == repr(made)


def test_repr_shows_the_parameters_that_were_given(scaled_method):
    assert repr(scaled_method()) == "Scaled()"
    assert repr(scaled_method(times=1).set_params(factor=2.0)) == "Scaled(factor=2.0, times=1)"
    made = scaled_method()
    made.factor = 3
    assert repr(made) == "Scaled(factor=3)"
    with config_context(print_changed_only=False):
        assert "sign='plus'" in repr(made)


def test_renamed_parameter_is_rejected_with_its_present_name():
    sentence = r"^DGI has no parameter 'width'; it was renamed to 'n_components' in version 0.2$"
    for rejects in (DGI, DGI.from_preset, DGI().set_params):
        with pytest.raises(ParameterError, match=sentence):
            rejects(width=8)
    with pytest.raises(ParameterError, match=r"was renamed to 'epochs' in version 0.2"):
        FTGCL(steps=5)
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        DGI(colour=5)


@pytest.mark.parametrize("name", [name for name in METHODS if "learning_rate" in METHODS[name].parameters()])
def test_learning_rate_of_zero_is_rejected(name):
    with pytest.raises(ParameterError, match=r"^learning_rate must be a finite number above 0; got 0$"):
        METHODS[name](learning_rate=0).check_parameters()


def test_fit_with_a_preset_does_not_change_the_given_parameters(scaled_method, graph):
    made = scaled_method().fit(Dataset("Texas", graph))
    assert np.array_equal(made.vectors_, 9 * graph.x)
    assert (made.factor, made.times) == (2.0, 1)
    assert made.settings_ == scaled_method.from_preset("Texas").settings()
    assert np.array_equal(made.transform(graph), 9 * graph.x)
    assert np.array_equal(made.fit_transform(Dataset("Ohio", graph)), 2 * graph.x)
    assert np.array_equal(scaled_method(preset="default").fit_transform(Dataset("Texas", graph)), 2 * graph.x)


# -- features ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
def test_features_that_are_not_finite_are_rejected_and_the_node_is_named(scaled_method, value):
    features = np.ones((4, 2))
    features[2, 1] = value
    shown = "NaN" if np.isnan(value) else "inf"
    message = rf"^features must be finite float32 numbers; got {shown} in the row of node 2: replace or remove it$"
    for data in (features, (features, [[0, 1], [1, 2]])):
        with pytest.raises(GraphError, match=message):
            scaled_method().fit(data)
    with pytest.raises(GraphError, match=message):
        scaled_method().fit(np.ones((4, 2))).transform(features)
