"""Registered encoders and their options.

Covers graphprox.nn._naming.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import torch
from torch import nn

from graphprox._utils.options_model import PositiveInt
from graphprox.errors import ParameterError
from graphprox.nn.encoders import ENCODERS, ConvolutionEncoder, Encoder, EncoderOptions, register_encoder
from graphprox.nn.encoders.gat import GATOptions
from graphprox.nn.encoders.gcn import GCNConv, GCNOptions
from graphprox.nn.features import FeatureMatrix

BUILT_IN = ("gat", "gcn", "gin", "mlp", "sage")


class SumOptions(EncoderOptions):
    """Options with an additional field and without a name."""

    hops: PositiveInt = 1


class SumEncoder(Encoder):
    """Encoder without convolutions: sums of linear projections over walks of some hops."""

    Options = SumOptions

    def __init__(self, in_channels, options, *, weighted=False, generator):
        super().__init__(in_channels, options, weighted=weighted, generator=generator)
        self.weight = nn.Parameter(torch.randn(in_channels, options.n_components, generator=generator))

    def project(self, features, kept=None):
        return features.matmul(self.weight if kept is None else self.weight * kept[:, None])

    def forward(self, projected, edges):
        for _ in range(self.options.hops):
            projected = edges.pattern.matmul(edges.values, projected)
        return projected


class PlainEncoder(ConvolutionEncoder):
    """Stack of convolutions without further options."""

    convolution = GCNConv


@pytest.fixture
def registered_encoders(monkeypatch):
    """Both encoders of this module, registered for one test."""
    monkeypatch.setattr(ENCODERS, "_entries", dict(ENCODERS.items()))
    for encoder in (SumEncoder, PlainEncoder):
        monkeypatch.setattr(encoder, "Options", encoder.Options)
    return register_encoder("sum")(SumEncoder), register_encoder("plain")(PlainEncoder)


# -- registry -------------------------------------------------------------------------------------------------------


def test_built_in_encoders_are_registered():
    assert set(BUILT_IN) <= set(ENCODERS)


@pytest.mark.parametrize("name", BUILT_IN)
def test_default_name_of_options_is_that_of_the_encoder(name):
    assert ENCODERS[name].Options().name == name
    with pytest.raises(ParameterError, match=f"encoder.name must be one of {name}; got 'other'"):
        ENCODERS[name].Options(name="other")


def test_unknown_encoder_is_rejected_with_a_suggestion():
    with pytest.raises(ParameterError, match="encoder must be a known name; got 'sagee'"):
        ENCODERS.lookup("sagee")


def test_registered_options_get_the_name_of_the_encoder(registered_encoders):
    for name, encoder in zip(("sum", "plain"), registered_encoders, strict=True):
        assert ENCODERS[name] is encoder
        assert encoder.Options().name == name
    assert issubclass(registered_encoders[0].Options, SumOptions)
    assert registered_encoders[0].Options(hops=3).hops == 3
    assert EncoderOptions().name == ""


def test_registered_options_can_be_pickled(registered_encoders):
    for encoder in registered_encoders:
        options = encoder.Options(n_components=4)
        assert pickle.loads(pickle.dumps(options)) == options


def test_name_of_a_registered_encoder_is_taken(registered_encoders):
    with pytest.raises(ParameterError, match="must be unique; 'gcn' is taken by"):
        register_encoder("gcn")(SumEncoder)


def test_encoder_needs_only_project_and_forward(registered_encoders):
    encoder_type = registered_encoders[0]
    options = encoder_type.Options(n_components=4, hops=2)
    encoder = encoder_type(3, options, generator=torch.Generator().manual_seed(0))
    assert encoder.n_components == 4
    edges = encoder.prepare_edges(np.array([[0, 1], [1, 2]]), np.array([2, 5], np.float32), num_nodes=3)
    x = np.eye(3, dtype=np.float32)
    embedding = encoder(encoder.project(FeatureMatrix.of(x)), edges)
    torch.testing.assert_close(embedding, torch.stack([torch.zeros(4), torch.zeros(4), 10 * encoder.weight[0]]))


# -- options --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 0}, "encoder.n_components must be a positive integer; got 0"),
        ({"hidden_channels": -1}, "encoder.hidden_channels must be a positive integer; got -1"),
        ({"num_layers": 1.5}, "encoder.num_layers must be a positive integer; got 1.5"),
        ({"activation": "tanh"}, "encoder.activation must be one of relu, elu, prelu, none; got 'tanh'"),
        ({"residual": 1}, "encoder.residual must be true or false; got 1"),
        ({"jumping": "mean"}, "encoder.jumping must be one of last, concat, max; got 'mean'"),
        (
            {"n_components": 8, "hidden_channels": 4, "jumping": "max"},
            "encoder.hidden_channels must equal encoder.n_components, which is 8, for encoder.jumping = 'max'; got 4",
        ),
    ],
)
def test_invalid_options_are_rejected(options, message):
    with pytest.raises(ParameterError) as error:
        GCNOptions(**options)
    assert str(error.value) == message


def test_heads_are_an_option_of_gat_only():
    assert GATOptions(heads=4).heads == 4
    with pytest.raises(ParameterError, match=r"recipe has no field 'encoder\.heads'"):
        GCNOptions(heads=4)


def test_max_jumping_accepts_equal_channels():
    for hidden_channels in (None, 8):
        assert GCNOptions(n_components=8, hidden_channels=hidden_channels, jumping="max").jumping == "max"


# -- residual connections and channels ------------------------------------------------------------------------------


def make_gcn(**options):
    options = GCNOptions(n_components=12, num_layers=3, **options)
    return ENCODERS["gcn"](5, options, generator=torch.Generator().manual_seed(0))


def test_shortcuts_have_weights_only_where_channels_differ():
    assert [*make_gcn(residual=True).shortcuts.parameters()] == []
    assert [each.shape for each in make_gcn(residual=True, hidden_channels=20).shortcuts.parameters()] == [(20, 12)]
    assert len(make_gcn(hidden_channels=20).shortcuts) == 0


def test_concatenated_layers_add_up_to_n_components():
    assert make_gcn(hidden_channels=20, jumping="concat").n_components == 52
    assert make_gcn(hidden_channels=20).n_components == 12


def test_hidden_layers_have_n_components_channels_by_default():
    default, explicit = make_gcn(), make_gcn(hidden_channels=12)
    assert [each.shape for each in default.parameters()] == [each.shape for each in explicit.parameters()]
    assert default.n_components == explicit.n_components == 12
