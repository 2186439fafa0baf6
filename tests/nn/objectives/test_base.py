from __future__ import annotations

import inspect
import pickle

import pytest
import torch

from graphprox._utils.options_model import PositiveFloat
from graphprox.errors import ParameterError
from graphprox.nn.objectives import OBJECTIVES, ObjectiveOptions, register_objective

BUILT_IN = ("channel", "node")


class DistanceOptions(ObjectiveOptions):
    """Options with an additional field and without a name."""

    power: PositiveFloat = 2.0


def distance(a, b, *, power):
    """Compute the mean distance of two views.

    A second paragraph.
    """
    return (a - b).abs().pow(power).mean()


def negative_product(a, b):
    return -(a * b).mean()


@pytest.fixture
def registered_objectives(monkeypatch):
    """Both objectives of this module, registered for one test."""
    monkeypatch.setattr(OBJECTIVES, "_entries", dict(OBJECTIVES.items()))
    assert register_objective("distance", options=DistanceOptions)(distance) is distance
    register_objective("product")(negative_product)
    return OBJECTIVES["distance"], OBJECTIVES["product"]


def test_built_in_objectives_are_registered():
    assert set(BUILT_IN) <= set(OBJECTIVES)


@pytest.mark.parametrize("name", BUILT_IN)
def test_default_name_of_options_is_that_of_the_objective(name):
    objective = OBJECTIVES[name]
    assert objective.name == objective.options().name == name
    assert objective.summary.startswith("Contrast each")


@pytest.mark.parametrize("name", BUILT_IN)
def test_options_and_function_have_the_same_defaults(name):
    objective = OBJECTIVES[name]
    parameters = inspect.signature(objective.function).parameters
    defaults = {field: parameters[field].default for field in objective.options.model_fields if field != "name"}
    assert objective.options().model_dump(exclude={"name"}) == defaults


def test_options_are_passed_to_the_function(registered_objectives):
    objective, _ = registered_objectives
    a, b = torch.zeros(2, 2), torch.full((2, 2), 3.0)
    assert objective(a, b, objective.options()).item() == 9
    assert objective(a, b, objective.options(power=1.0)).item() == 3


def test_registered_options_get_the_name_of_the_objective(registered_objectives):
    for name, objective in zip(("distance", "product"), registered_objectives, strict=True):
        assert objective.name == objective.options().name == name
    assert issubclass(registered_objectives[0].options, DistanceOptions)
    assert [objective.summary for objective in registered_objectives] == ["Compute the mean distance of two views.", ""]


def test_registered_options_can_be_pickled(registered_objectives):
    for objective in registered_objectives:
        options = objective.options()
        assert pickle.loads(pickle.dumps(options)) == options


def test_name_of_a_registered_objective_is_taken(registered_objectives):
    with pytest.raises(ParameterError, match=r"must be unique; 'channel' is taken by .*channel_contrast"):
        register_objective("channel")(negative_product)


def test_function_can_be_registered_again_under_its_name(registered_objectives):
    register_objective("distance", options=DistanceOptions)(distance)
    assert OBJECTIVES["distance"].function is distance


def test_unknown_objective_is_rejected():
    with pytest.raises(ParameterError, match="objective must be a known name; got 'chanel'"):
        OBJECTIVES.lookup("chanel")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperature": -1}, "objective.temperature must be a positive, finite number; got -1"),
        ({"positives_in_denominator": "no"}, "objective.positives_in_denominator must be true or false; got 'no'"),
    ],
)
@pytest.mark.parametrize("name", BUILT_IN)
def test_invalid_options_are_rejected(name, options, message):
    with pytest.raises(ParameterError) as error:
        OBJECTIVES[name].options(**options)
    assert str(error.value) == message


def test_intra_view_is_an_option_of_node_contrast_only():
    assert OBJECTIVES["node"].options(intra_view=True).intra_view
    with pytest.raises(ParameterError, match=r"recipe has no field 'objective\.intra_view'"):
        OBJECTIVES["channel"].options(intra_view=True)


def test_loss_follows_from_the_sums_of_disjoint_parts():
    a, b = torch.randn(2, 9, 4, generator=torch.Generator().manual_seed(0))
    channel = OBJECTIVES["channel"]
    options = channel.options(temperature=0.3, positives_in_denominator=True)
    parts = [channel.sums.statistics(a[rows], b[rows]) for rows in (slice(0, 2), slice(2, 2), slice(2, 9))]
    totals = tuple(sum(each) for each in zip(*parts, strict=True))
    torch.testing.assert_close(channel.loss_of(totals, options), channel(a, b, options))


def test_objective_that_is_no_function_of_sums_says_so():
    node = OBJECTIVES["node"]
    with pytest.raises(ParameterError, match=r"^an objective must be a function of sums over nodes; 'node' is not$"):
        node.loss_of((), node.options())
