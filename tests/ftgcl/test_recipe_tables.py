"""Rules for single fields of a recipe, and their error messages."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest

from graphprox import ParameterError, Recipe
from graphprox._utils import options_model
from graphprox._utils.options_model import Options
from graphprox.ftgcl.recipe_tables import AugmentationOptions, HeadOptions, OptimizerOptions, ViewsOptions
from graphprox.nn.encoders.base import ENCODERS
from graphprox.nn.encoders.gat import GATOptions
from graphprox.nn.objectives.base import OBJECTIVES
from graphprox.views import VIEWS

POSITIVE = "must be a positive integer; got"
PROBABILITY = "must be a number in [0, 1); got"
NAME = "method must be a name in lower case, on one line, such as 'ft-gcl'; got"
RULES = [
    # types, as strict as those of TOML
    ("encoder.n_components = -5", f"encoder.n_components {POSITIVE} -5"),
    ("encoder.n_components = 256.0", f"encoder.n_components {POSITIVE} 256.0"),
    ("encoder.n_components = true", f"encoder.n_components {POSITIVE} True"),
    ("encoder.n_components = '256'", f"encoder.n_components {POSITIVE} '256'"),
    ("augmentations.a.drop_edges = false", f"augmentations.a.drop_edges {PROBABILITY} False"),
    ("encoder.residual = 1", "encoder.residual must be true or false; got 1"),
    ("encoder = 3", "encoder must be a table; got 3"),
    ("objective = 3", "objective must be a table; got 3"),
    ("views = 3", "views must be a table; got 3"),
    ("views.topology = 3", "views.topology must be a table; got 3"),
    ("encoder.n_components.x = 3", f"encoder.n_components {POSITIVE} {{'x': 3}}"),
    # ranges
    ("epochs = -1", "epochs must be a non-negative integer; got -1"),
    ("random_state = -1", "random_state must be a non-negative integer below 2^63; got -1"),
    (f"random_state = {2**63}", f"random_state must be a non-negative integer below 2^63; got {2**63}"),
    ("encoder.hidden_channels = 0", f"encoder.hidden_channels {POSITIVE} 0"),
    ("encoder.num_layers = 0", f"encoder.num_layers {POSITIVE} 0"),
    ("encoder = {name = 'gat', heads = 0}", f"encoder.heads {POSITIVE} 0"),
    ("head.num_layers = 3", "head.num_layers must be an integer between 0 and 2; got 3"),
    ("head.out_channels = 0", f"head.out_channels {POSITIVE} 0"),
    ("objective.temperature = 0", "objective.temperature must be a positive, finite number; got 0"),
    ("objective.temperature = inf", "objective.temperature must be a positive, finite number; got inf"),
    ("objective.temperature = nan", "objective.temperature must be a positive, finite number; got nan"),
    ("optimizer.learning_rate = 0.0", "optimizer.learning_rate must be a positive, finite number; got 0.0"),
    ("optimizer.weight_decay = -1", "optimizer.weight_decay must be a non-negative, finite number; got -1"),
    ("views.k_min = 0", "views.k_min must be an integer between 1 and 1,000; got 0"),
    ("views.k_max = 1001", "views.k_max must be an integer between 1 and 1,000; got 1001"),
    ("views.feature.k_max = 0", "views.feature.k_max must be an integer between 1 and 1,000; got 0"),
    ("views.topology.num_walks = 0", "views.topology.num_walks must be an integer between 1 and 1,000,000; got 0"),
    ("views.topology.iterations = 1001", "views.topology.iterations must be an integer between 0 and 1,000; got 1001"),
    ("views.topology.p = 0", "views.topology.p must be a number between 1e-06 and 1e+06; got 0"),
    ("augmentations.light.drop_edges = 1.0", f"augmentations.light.drop_edges {PROBABILITY} 1.0"),
    ("augmentations.light = 0.2", "augmentations.light must be a table; got 0.2"),
    ("augmentations = 0.2", "augmentations must be a table; got 0.2"),
    # choices and names
    ("encoder.name = 'gta'", "encoder must be a known name; got 'gta': did you mean 'gat'?"),
    ("encoder.name = 3", f"encoder must be a known name; got 3: valid names are {', '.join(ENCODERS)}"),
    ("encoder.name = ['gat']", "encoder must be a known name; got ['gat']: did you mean 'gat'?"),
    ("objective.name = 'edge'", "objective must be a known name; got 'edge': valid names are channel, node"),
    ("encoder.activation = 'tanh'", "encoder.activation must be one of relu, elu, prelu, none; got 'tanh'"),
    ("encoder.jumping = 'lstm'", "encoder.jumping must be one of last, concat, max; got 'lstm'"),
    ("views.engine = 'annoy'", "views.engine must be one of auto, exact, descent, hnsw, ivf, lsh; got 'annoy'"),
    ("views.topology.subgraphs = 'hops'", "views.topology.subgraphs must be one of walks, egonet; got 'hops'"),
    ("schedule = 'both'", "schedule must be one of alternate, sum; got 'both'"),
    ("normalize = 'columns'", "normalize must be one of rows, none; got 'columns'"),
    ("method = 'FT-GCL'", f"{NAME} 'FT-GCL'"),
    ("method = ''", f"{NAME} ''"),
    ('method = "a\\nb"', f"{NAME} 'a\\nb'"),
    ("method = 3", f"{NAME} 3"),
    (
        "augmentations.Light = {}",
        "a name in augmentations must consist of lower-case letters, digits and hyphens; got 'Light'",
    ),
    # unknown fields
    ("encoder.n_component = 3", "recipe has no field 'encoder.n_component'; did you mean 'encoder.n_components'?"),
    ("encodr.n_components = 3", "recipe has no field 'encodr'; did you mean 'encoder'?"),
    ("temperature = 0.5", "recipe has no field 'temperature'; did you mean 'objective.temperature'?"),
    ("encoder.epochs = 5", "recipe has no field 'encoder.epochs'; did you mean 'epochs'?"),
    ("kmax = 5", "recipe has no field 'kmax'; did you mean 'views.k_max'?"),
    ("head.zzz = 5", "recipe has no field 'head.zzz'; valid names are head.num_layers, head.out_channels"),
    ("views.topology.walk = 5", "recipe has no field 'views.topology.walk'; did you mean 'views.topology.num_walks'?"),
    ("views.topolgy.k_max = 5", "recipe has no field 'views.topolgy'; did you mean 'views.topology'?"),
    (
        "views = {topology = {k_max = 5}, zzz = 1}",
        "recipe has no field 'views.zzz'; valid names are views.k_min, views.k_max, views.undirected, views.engine, "
        "views.feature, views.neighborhood, views.topology",
    ),
    (
        "objective.intra_view = true",
        "recipe has no field 'objective.intra_view' for objective.name = 'channel'; valid names are objective.name, "
        "objective.temperature, objective.positives_in_denominator",
    ),
    (
        "augmentations.light.dropedges = 0.1",
        "recipe has no field 'augmentations.light.dropedges'; did you mean 'augmentations.light.drop_edges'?",
    ),
]  # fmt: skip


# As written by version 0.1.
RENAMED = [
    ("turns = [['graph', 'feature']]", "turns", "pairs"),
    ("steps = 5", "steps", "epochs"),
    ("seed = 5", "seed", "random_state"),
    ("corruptions.light.drop_edges = 0.1", "corruptions", "augmentations"),
    ("topology.walks = 5", "topology", "views.topology"),
    ("encoder.kind = 'gat'", "encoder.kind", "encoder.name"),
    ("encoder.width = 64", "encoder.width", "encoder.n_components"),
    ("encoder.hidden = 64", "encoder.hidden", "encoder.hidden_channels"),
    ("encoder.layers = 1", "encoder.layers", "encoder.num_layers"),
    ("head.width = 64", "head.width", "head.out_channels"),
    ("head.layers = 1", "head.layers", "head.num_layers"),
    ("objective.contrast = 'node'", "objective.contrast", "objective.name"),
    ("views.k_feature = [1, 5]", "views.k_feature", "views.feature.k_min and views.feature.k_max"),
    ("views.binary = true", "views.binary", "views.feature.binary"),
    ("views.both_directions = true", "views.both_directions", "views.undirected"),
]


@pytest.mark.parametrize(("text", "old", "new"), RENAMED, ids=[old for _, old, _ in RENAMED])
def test_field_of_version_0_1_is_rejected_with_its_new_name(text, old, new):
    with pytest.raises(ParameterError) as refused:
        Recipe.from_toml(text, source="my.toml")
    assert str(refused.value) == f"in my.toml, recipe has no field '{old}'; it was renamed to {new} in version 0.2"


@pytest.mark.parametrize(("text", "message"), RULES, ids=[text for text, _ in RULES])
def test_invalid_field_is_rejected_with_its_rule(text, message):
    with pytest.raises(ParameterError) as refused:
        Recipe(**tomllib.loads(text))
    assert str(refused.value) == message


def test_long_value_is_shortened_in_the_message():
    with pytest.raises(ParameterError) as refused:
        Recipe(method="A" * 10_000)
    assert str(refused.value).endswith("A…")
    assert len(str(refused.value)) < 200


def test_options_outside_of_a_recipe_have_the_same_messages():
    with pytest.raises(ParameterError, match=r"^encoder.n_components must be a positive integer; got -5$"):
        GATOptions(n_components=-5)
    with pytest.raises(ParameterError, match=r"^recipe has no field 'head.out_chanels'; did you mean 'head.out_cha"):
        HeadOptions(out_chanels=5)
    with pytest.raises(ParameterError, match=r"^encoder must be a table; got HeadOptions"):
        Recipe(encoder=HeadOptions())


def test_numpy_scalars_and_integers_for_floats_are_accepted():
    recipe = Recipe(
        random_state=np.int64(3),
        head={"num_layers": np.int64(1)},
        optimizer={"weight_decay": 0},
        objective={"temperature": np.float32(0.5)},
    )
    assert recipe == Recipe.from_toml(
        "random_state = 3\nhead.num_layers = 1\noptimizer.weight_decay = 0.0\nobjective.temperature = 0.5"
    )
    values = recipe.random_state, recipe.head.num_layers, recipe.optimizer.weight_decay, recipe.objective.temperature
    assert [type(value) for value in values] == [int, int, float, float]
    with pytest.raises(ParameterError, match="random_state must be a non-negative integer"):
        Recipe(random_state=np.bool_(True))


TABLES: list[type[Options]] = [
    HeadOptions,
    OptimizerOptions,
    AugmentationOptions,
    *(view.options for view in VIEWS.values()),
    *(encoder.Options for encoder in ENCODERS.values()),
    *(objective.options for objective in OBJECTIVES.values()),
]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: f"{table.prefix}{table.__name__}")
def test_every_field_has_a_rule(table):
    assert "a table" not in {options_model.field_rule(table, name) for name in table.model_fields}


# -- views ----------------------------------------------------------------------------------------------------------


def test_range_of_a_view_takes_precedence_over_the_common_one():
    views = ViewsOptions(k_min=2, k_max=8, topology={"k_min": 1, "k_max": 20}, feature={"k_max": 5})
    assert [views.k_range(view) for view in ("feature", "topology", "neighborhood")] == [(2, 5), (1, 20), (2, 8)]


def test_options_of_a_view_that_equal_the_defaults_are_omitted():
    assert ViewsOptions(feature={}) == ViewsOptions(feature={"binary": False}) == ViewsOptions()
    assert hash(ViewsOptions(feature={})) == hash(ViewsOptions())
    assert ViewsOptions().options_of("topology") == VIEWS["topology"].options()
    assert ViewsOptions(feature={"binary": True}).to_table(["topology"]).keys() >= {"feature", "topology"}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"k_min": 5, "k_max": 3}, "views.k_min must be at most views.k_max, which is 3; got 5"),
        ({"feature": {"k_min": 11}}, "views.feature.k_min must be at most its k_max, which is 10; got 11"),
        ({"k_min": 5, "feature": {"k_max": 2}}, "views.feature.k_min must be at most its k_max, which is 2; got 5"),
        (
            {"topology": {"k_min": 5, "k_max": 1}},
            "views.topology.k_min must be at most views.topology.k_max, which is 1; got 5",
        ),
    ],
)
def test_empty_range_of_k_is_rejected(fields, message):
    with pytest.raises(ParameterError) as refused:
        ViewsOptions(**fields)
    assert str(refused.value) == message


def test_options_of_an_unknown_view_are_rejected():
    with pytest.raises(ParameterError, match="view must be a known name; got 'shape'"):
        ViewsOptions().options_of("shape")


def test_samples_of_edges_need_edges_that_are_dropped():
    with pytest.raises(ParameterError) as error:
        Recipe(pairs=[["graph+light", "feature"]], augmentations={"light": {"mask_features": 0.1, "edge_samples": 4}})
    assert str(error.value) == (
        "augmentations.light.edge_samples needs augmentations.light.drop_edges above 0, or all samples are the same; "
        "got drop_edges = 0 and edge_samples = 4: leave edge_samples out"
    )
