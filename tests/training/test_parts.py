from __future__ import annotations

import inspect
import tomllib

import numpy as np
import pytest

from graphprox.errors import ParameterError
from graphprox.proximity.engines import AUTO, ENGINES
from graphprox.proximity.topology import topology
from graphprox.training import Recipe, parts
from graphprox.training.parts import Corruption, Encoder, Head, Part, Topology, Views

# -- the rules for one field, each with its sentence ------------------------------------------------------------------

WHOLE_FROM_1 = "must be a whole number of 1 or more; got"
K_RANGE = "must be the least k and the most in 1..1,000, such as [1, 5]; got"
PROBABILITY = "must be a number in [0, 1); got"
RULES = [
    # types, as strict as those of TOML
    ("encoder.width = -5", f"encoder.width {WHOLE_FROM_1} -5"),
    ("encoder.width = 256.0", f"encoder.width {WHOLE_FROM_1} 256.0"),
    ("encoder.width = true", f"encoder.width {WHOLE_FROM_1} True"),
    ("encoder.width = '256'", f"encoder.width {WHOLE_FROM_1} '256'"),
    ("corruptions.a.drop_edges = false", f"corruptions.a.drop_edges {PROBABILITY} False"),
    ("encoder.residual = 1", "encoder.residual must be true or false; got 1"),
    ("encoder = 3", "encoder must be a table; got 3"),
    ("encoder.width.x = 3", f"encoder.width {WHOLE_FROM_1} {{'x': 3}}"),
    # ranges
    ("steps = -1", "steps must be a whole number of 0 or more; got -1"),
    ("seed = -1", "seed must be a whole number of 0 or more, below 2^63; got -1"),
    (f"seed = {2**63}", f"seed must be a whole number of 0 or more, below 2^63; got {2**63}"),
    ("encoder.hidden = 0", f"encoder.hidden {WHOLE_FROM_1} 0"),
    ("encoder.layers = 0", f"encoder.layers {WHOLE_FROM_1} 0"),
    ("encoder.heads = 0", f"encoder.heads {WHOLE_FROM_1} 0"),
    ("head.layers = 3", "head.layers must be a whole number in 0..2; got 3"),
    ("head.width = 0", f"head.width {WHOLE_FROM_1} 0"),
    ("objective.temperature = 0", "objective.temperature must be a finite number above 0; got 0"),
    ("objective.temperature = inf", "objective.temperature must be a finite number above 0; got inf"),
    ("objective.temperature = nan", "objective.temperature must be a finite number above 0; got nan"),
    ("optimizer.learning_rate = 0.0", "optimizer.learning_rate must be a finite number above 0; got 0.0"),
    ("optimizer.weight_decay = -1", "optimizer.weight_decay must be a finite number of 0 or more; got -1"),
    ("views.k_min = 0", "views.k_min must be a whole number in 1..1,000; got 0"),
    ("views.k_max = 1001", "views.k_max must be a whole number in 1..1,000; got 1001"),
    ("views.k_feature = [1, 2, 3]", f"views.k_feature {K_RANGE} [1, 2, 3]"),
    ("views.k_topology = [0, 2]", f"views.k_topology {K_RANGE} [0, 2]"),
    ("topology.walks = 0", "topology.walks must be a whole number in 1..1,000,000; got 0"),
    ("topology.iterations = 1001", "topology.iterations must be a whole number in 0..1,000; got 1001"),
    ("topology.p = 0", "topology.p must be a number in 1e-06..1e+06; got 0"),
    ("corruptions.light.drop_edges = 1.0", f"corruptions.light.drop_edges {PROBABILITY} 1.0"),
    ("corruptions.light = 0.2", "corruptions.light must be a table; got 0.2"),
    ("corruptions = 0.2", "corruptions must be a table; got 0.2"),
    # choices and names
    ("encoder.kind = 'gta'", "encoder.kind must be one of gat, sage, gcn, gin, mlp; got 'gta'"),
    ("encoder.activation = 'tanh'", "encoder.activation must be one of relu, elu, prelu, none; got 'tanh'"),
    ("encoder.jumping = 'lstm'", "encoder.jumping must be one of last, concat, max; got 'lstm'"),
    ("objective.contrast = 'edge'", "objective.contrast must be one of channel, node; got 'edge'"),
    ("views.engine = 'annoy'", "views.engine must be one of auto, exact, descent, hnsw, ivf, lsh; got 'annoy'"),
    ("topology.subgraphs = 'hops'", "topology.subgraphs must be one of walks, egonet; got 'hops'"),
    ("schedule = 'both'", "schedule must be one of alternate, sum; got 'both'"),
    ("normalize = 'columns'", "normalize must be one of rows, none; got 'columns'"),
    ("method = 'FT-GCL'", "method must be a name in lower case, on one line, such as 'ft-gcl'; got 'FT-GCL'"),
    ("method = ''", "method must be a name in lower case, on one line, such as 'ft-gcl'; got ''"),
    ('method = "a\\nb"', "method must be a name in lower case, on one line, such as 'ft-gcl'; got 'a\\nb'"),
    ("method = 3", "method must be a name in lower case, on one line, such as 'ft-gcl'; got 3"),
    ("corruptions.Light = {}", "a name in corruptions must be lower-case letters, digits and hyphens; got 'Light'"),
    # names that are no fields
    ("encoder.widht = 3", "recipe has no field 'encoder.widht'; did you mean 'encoder.width'?"),
    ("encodr.width = 3", "recipe has no field 'encodr'; did you mean 'encoder'?"),
    ("temperature = 0.5", "recipe has no field 'temperature'; did you mean 'objective.temperature'?"),
    ("encoder.steps = 5", "recipe has no field 'encoder.steps'; did you mean 'steps'?"),
    ("kmax = 5", "recipe has no field 'kmax'; did you mean 'views.k_max'?"),
    ("head.zzz = 5", "recipe has no field 'head.zzz'; there are head.layers, head.width"),
    ("head.widths = 1", "recipe has no field 'head.widths'; did you mean 'head.width'?"),
    (
        "corruptions.light.dropedges = 0.1",
        "recipe has no field 'corruptions.light.dropedges'; did you mean 'corruptions.light.drop_edges'?",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "sentence"), RULES, ids=[text for text, _ in RULES])
def test_each_rule_has_its_sentence(text, sentence):
    with pytest.raises(ParameterError) as refused:
        Recipe(**tomllib.loads(text))
    assert str(refused.value) == sentence


def test_a_long_value_is_cut():
    with pytest.raises(ParameterError) as refused:
        Recipe(method="A" * 10_000)
    assert str(refused.value).endswith("A…")
    assert len(str(refused.value)) < 200


def test_a_part_by_itself_says_the_same():
    with pytest.raises(ParameterError, match=r"^encoder.width must be a whole number of 1 or more; got -5$"):
        Encoder(width=-5)
    with pytest.raises(ParameterError, match=r"^recipe has no field 'head.widht'; did you mean 'head.width'\?$"):
        Head(widht=5)
    with pytest.raises(ParameterError, match=r"^encoder must be a table; got Head"):
        Recipe(encoder=Head())


def test_whole_numbers_may_stand_for_others_and_numpys_for_pythons():
    recipe = Recipe(seed=np.int64(3), optimizer={"weight_decay": 0}, objective={"temperature": np.float32(0.5)})
    assert recipe == Recipe.from_toml("seed = 3\noptimizer.weight_decay = 0.0\nobjective.temperature = 0.5")
    assert [type(each) for each in (recipe.seed, recipe.optimizer.weight_decay, recipe.objective.temperature)] == [
        int,
        float,
        float,
    ]
    with pytest.raises(ParameterError, match="seed must be a whole number"):
        Recipe(seed=np.bool_(True))


def test_every_field_has_its_rule():
    for part in (
        Recipe,
        *(type(each) for each in vars(Recipe()).values() if isinstance(each, Part)),
        Corruption,
    ):
        assert {parts._rule(part, name) for name in part.model_fields} - {"a table"}
        assert part is Recipe or "a table" not in {parts._rule(part, name) for name in part.model_fields}


# -- as elsewhere in the house ----------------------------------------------------------------------------------------


def test_topology_has_the_options_and_the_defaults_of_the_descriptor():
    options = {
        name: each.default
        for name, each in inspect.signature(topology).parameters.items()
        if each.kind is each.KEYWORD_ONLY and name not in {"exact", "tolerance", "progress"}
    }
    assert Topology().model_dump() == options


def test_engines_are_those_that_there_are():
    for engine in (AUTO, *ENGINES):
        assert Views(engine=engine).engine == engine
    assert parts._rule(Views, "engine") == f"one of {', '.join([AUTO, *ENGINES])}"
