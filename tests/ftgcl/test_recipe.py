"""Recipes: rules for several fields, TOML, changes, comparison, and registered extensions."""

from __future__ import annotations

import copy
import pickle
import tomllib

import numpy as np
import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st
from pydantic import StrictBool, ValidationError

from graphprox import FTGCL, ParameterError, ReadError, Recipe, WriteError
from graphprox._utils.options_model import PositiveFloat, PositiveInt
from graphprox._utils.toml import leaves, to_plain
from graphprox.ftgcl.base import ContrastiveEmbedder
from graphprox.ftgcl.fit import fit_recipe
from graphprox.ftgcl.recipe_fields import field_names
from graphprox.ftgcl.recipe_tables import AugmentationOptions, HeadOptions, ViewsOptions
from graphprox.methods import METHODS
from graphprox.nn.convolution import glorot
from graphprox.nn.encoders.base import ENCODERS, Encoder, EncoderOptions, register_encoder
from graphprox.nn.encoders.gat import GATOptions
from graphprox.nn.objectives.base import OBJECTIVES, ObjectiveOptions, register_objective
from graphprox.nn.objectives.channel import ChannelOptions
from graphprox.views import VIEWS, ViewOptions, register_view
from graphprox.views.search.engines import AUTO, ENGINES

LIGHT = {"light": {"drop_edges": 0.2, "mask_features": 0.3}}
FAMILY = [kind for kind in METHODS.values() if issubclass(kind, ContrastiveEmbedder)]

# -- rules for several fields ---------------------------------------------------------------------------------------

PAIRS = 'pairs must be one or more pairs of sources, such as [["graph", "feature"]]; got'
SOURCES = (
    f"pairs must consist of sources, each one of {', '.join(['graph', *VIEWS])}, alone or with an augmentation as in "
    "'graph+light'; got"
)
RULES = [
    ("pairs = []", f"{PAIRS} []"),
    ("pairs = 'graph'", f"{PAIRS} 'graph'"),
    ("pairs = ['graph', 'feature']", f"{PAIRS} ['graph', 'feature']"),
    ("pairs = [['graph']]", f"{PAIRS} [['graph']]"),
    ("pairs = [['graph', 1]]", f"{PAIRS} [['graph', 1]]"),
    ("pairs = [['graph', 'shape']]", f"{SOURCES} 'shape'"),
    ("pairs = [['graph', 'feature+']]", f"{SOURCES} 'feature+'"),
    ("pairs = [['graph', 'graph+a+b']]", f"{SOURCES} 'graph+a+b'"),
    (
        "pairs = [['graph', 'graph']]",
        "pairs must consist of sources that differ or are augmented; got 'graph' twice",
    ),
    (
        "pairs = [['graph', 'graph+light']]",
        "pairs must name augmentations that the recipe defines; got 'graph+light': add [augmentations.light]",
    ),
    (
        "pairs = [['graph', 'graph+ligth']]\naugmentations.light.drop_edges = 0.1",
        "pairs must name augmentations that the recipe defines; got 'graph+ligth': did you mean 'light'?",
    ),
    (
        "augmentations.light.drop_edges = 0.1",
        "augmentations.light must be used in pairs; no source there ends in '+light': correct the name, or remove it",
    ),
    (
        "encoder = {name = 'gat', n_components = 256, heads = 3}",
        "encoder.heads must divide encoder.n_components; got 3 heads for 256 channels",
    ),
    (
        "encoder = {name = 'gat', heads = 4, hidden_channels = 6}",
        "encoder.heads must divide encoder.hidden_channels; got 4 heads for 6 channels",
    ),
    (
        "encoder = {hidden_channels = 128, jumping = 'max'}",
        "encoder.hidden_channels must equal encoder.n_components, which is 512, for encoder.jumping = 'max'; got 128",
    ),
    (
        "head = {num_layers = 1, out_channels = 1}",
        "head.out_channels must be at least 2 for objective.name = 'channel'; got 1",
    ),
    (
        "head.num_layers = 0\nencoder.n_components = 1",
        "encoder.n_components must be at least 2 for objective.name = 'channel'; got 1",
    ),
]


@pytest.mark.parametrize(("text", "message"), RULES, ids=[text for text, _ in RULES])
def test_contradictory_fields_are_rejected_with_their_rule(text, message):
    with pytest.raises(ParameterError) as refused:
        Recipe(**tomllib.loads(text))
    assert str(refused.value) == message


def test_only_the_first_of_several_errors_is_reported():
    with pytest.raises(ParameterError) as refused:
        Recipe.from_toml("epochs = -1\nencoder.n_components = -5\nzzz = 1", source="my.toml")
    assert str(refused.value) == "in my.toml, epochs must be a non-negative integer; got -1"


@pytest.mark.parametrize(
    "text",
    [
        "epochs = 0",
        f"random_state = {2**63 - 1}",
        "views = {k_min = 1000, k_max = 1000}",
        "views = {k_min = 3, k_max = 3, feature = {k_min = 7, k_max = 7}}",
        "pairs = [['graph+a', 'graph+a']]\naugmentations.a.drop_edges = 0",
        "pairs = [['feature', 'topology+a-1']]\naugmentations.a-1 = {}",
        "encoder = {name = 'gat', heads = 4, hidden_channels = 64}",
        "encoder = {hidden_channels = 512, jumping = 'max'}",
        "objective = {name = 'node', intra_view = true}",
        "objective.name = 'node'\nhead = {num_layers = 1, out_channels = 1}",
        "head = {num_layers = 0, out_channels = 1}",
        "objective.temperature = 1",
        "views.topology = {p = 0.01, q = 8, iterations = 0}",
        "method = 'mine, the 2nd'",
    ],
)
def test_boundary_values_are_accepted(text):
    assert Recipe.from_toml(text).differences(Recipe())


# -- immutability ---------------------------------------------------------------------------------------------------


def test_recipe_is_immutable():
    recipe = Recipe(pairs=[["graph", "graph+light"]], augmentations=LIGHT)
    with pytest.raises(ValidationError):
        recipe.epochs = 5
    with pytest.raises(ValidationError):
        recipe.encoder.n_components = 5
    with pytest.raises(TypeError):
        recipe.augmentations["heavy"] = AugmentationOptions()
    given = {"light": AugmentationOptions()}
    recipe = Recipe(pairs=[["graph", "graph+light"]], augmentations=given)
    given.clear()
    assert list(recipe.augmentations) == ["light"]


def test_equal_recipes_have_equal_hashes_and_texts():
    pairs = [["graph+a", "graph+b"]]
    one = Recipe(pairs=pairs, augmentations={"a": {}, "b": {"drop_edges": 0.0}})
    other = Recipe(pairs=pairs, augmentations={"b": {}, "a": {"drop_edges": -0.0}})
    assert one == other
    assert len({one, other, Recipe()}) == 2
    assert one.to_toml() == other.to_toml()
    assert Recipe(augmentations=one.augmentations, pairs=one.pairs) == one


def test_recipe_can_be_copied_and_pickled():
    recipe = Recipe(
        pairs=[["graph", "graph+light"], ["graph", "feature"]], augmentations=LIGHT, views={"feature": {"k_max": 3}}
    )
    assert pickle.loads(pickle.dumps(recipe)) == recipe == copy.deepcopy(recipe)
    assert "'light': AugmentationOptions(drop_edges=0.2, mask_features=0.3, edge_samples=None)" in repr(recipe)


def test_names_of_encoders_and_objectives_are_case_insensitive():
    recipe = Recipe(encoder={"name": "GAT", "heads": 2}, objective={"name": "Node"})
    assert recipe == Recipe(encoder={"name": "gat", "heads": 2}, objective={"name": "node"})


# -- text and files -------------------------------------------------------------------------------------------------


@st.composite
def recipes(draw):
    """Recipes with any valid values of the built-in fields."""

    def fields(**strategies):
        return draw(st.fixed_dictionaries({}, optional=strategies))

    def k_range():
        low, high = sorted(draw(st.tuples(st.integers(1, 1000), st.integers(1, 1000))))
        return {"k_min": low, "k_max": high}

    share = st.floats(0, 1, exclude_max=True) | st.just(0)
    positive = st.floats(0, exclude_min=True, allow_infinity=False)
    bias = st.floats(1e-6, 1e6)
    amount = st.integers(1, 1_000_000)
    encoder = draw(st.sampled_from(["gat", "sage", "gcn", "gin", "mlp"]))
    heads = draw(st.integers(1, 8)) if encoder == "gat" else 1
    objective = draw(st.sampled_from(["channel", "node"]))
    jumping = draw(st.sampled_from(["last", "concat", "max"]))
    n_components = heads * draw(st.integers(2, 999))
    hidden_channels = n_components if jumping == "max" else heads * draw(st.integers(1, 999))

    names = st.text("abc019-", min_size=1)
    augmented = draw(st.lists(st.tuples(st.sampled_from(["graph", *VIEWS]), names), max_size=3))
    sources = ["graph", *VIEWS, *("+".join(each) for each in augmented)]
    pair = st.tuples(st.sampled_from(sources), st.sampled_from(sources))
    pairs = draw(st.lists(pair.filter(lambda each: each[0] != each[1] or "+" in each[0]), min_size=1, max_size=4))
    pairs += [["graph", "+".join(each)] for each in augmented]
    printable = st.characters(exclude_categories=["C", "Z", "Lu", "Lt"], include_characters=" \"\\'#=[")
    method = st.text(printable, min_size=1).filter(lambda each: each == each.strip() == each.lower())
    return Recipe(
        pairs=pairs,
        **fields(
            method=method.filter(str.isprintable),
            schedule=st.sampled_from(["alternate", "sum"]),
            epochs=st.integers(0),
            random_state=st.integers(0, 2**63 - 1),
            normalize=st.sampled_from(["rows", "none"]),
        ),
        views={
            **k_range(),
            **fields(undirected=st.booleans(), engine=st.sampled_from([AUTO, *ENGINES])),
            "feature": {**k_range(), **fields(binary=st.booleans())} if draw(st.booleans()) else {},
            "topology": {
                **(k_range() if draw(st.booleans()) else {}),
                **fields(subgraphs=st.sampled_from(["walks", "egonet"]), num_walks=amount, walk_length=amount),
                **fields(p=bias, q=bias, hops=amount, num_landmarks=amount, normalize=st.booleans()),
                **fields(iterations=st.integers(0, 1000)),
            },
        },
        encoder={
            "name": encoder,
            "n_components": n_components,
            "jumping": jumping,
            **({"heads": heads} if encoder == "gat" else {}),
            **fields(hidden_channels=st.just(hidden_channels), num_layers=st.integers(1, 9), residual=st.booleans()),
            **fields(activation=st.sampled_from(["relu", "elu", "prelu", "none"])),
        },
        head=fields(num_layers=st.integers(0, 2), out_channels=st.integers(2, 4096)),
        objective={
            "name": objective,
            **fields(temperature=positive, positives_in_denominator=st.booleans()),
            **(fields(intra_view=st.booleans()) if objective == "node" else {}),
        },
        optimizer=fields(learning_rate=positive, weight_decay=positive | st.just(0) | st.just(-0.0)),
        augmentations={name: fields(drop_edges=share, mask_features=share) for _, name in augmented},
    )


@given(recipes())
def test_recipe_is_the_same_after_a_round_trip_through_toml(recipe):
    text = recipe.to_toml()
    again = Recipe.from_toml(text)
    assert again == recipe
    assert hash(again) == hash(recipe)
    assert again.to_toml() == text
    assert recipe.differences(again) == []
    assert tomllib.loads(tomli_w.dumps(tomllib.loads(text))) == tomllib.loads(text)


@given(recipes(), recipes())
def test_overriding_all_differences_gives_the_other_recipe(one, other):
    fields = dict(leaves(to_plain(other)))
    differing = one.differences(other)
    assert set(differing) == set(other.differences(one))
    assert (differing == []) == (one == other) == (one.fingerprint() == other.fingerprint())
    overridden = {name: fields[name] for name in differing if name in fields}
    removable = {name for name in differing if name not in fields and name.startswith(("views.", "encoder.hidden"))}
    if set(other.augmentations) >= set(one.augmentations) and removable <= {"encoder.hidden_channels"}:
        changed = one.with_overrides(overridden | dict.fromkeys(removable))
        assert changed == other


@pytest.mark.parametrize("kind", FAMILY, ids=lambda kind: kind.name)
def test_recipe_of_every_preset_is_the_same_after_a_round_trip_through_toml(kind):
    for preset in kind.preset_names():
        recipe = kind.from_preset(preset).recipe()
        again = Recipe.from_toml(recipe.to_toml())
        assert again == recipe
        assert again.fingerprint() == recipe.fingerprint()


def test_text_has_all_fields_of_what_the_recipe_uses():
    recipe = Recipe(pairs=[["feature", "graph+light"]], augmentations=LIGHT, views={"feature": {"k_max": 5}})
    text = recipe.to_toml()
    assert 'pairs = [["feature", "graph+light"]]\n' in text
    assert '\n\n[views]\nk_min = 1\nk_max = 10\nundirected = false\nengine = "auto"\n' in text
    assert "\n\n[views.feature]\nk_max = 5\nbinary = false\n" in text
    assert text.endswith("\n\n[augmentations.light]\ndrop_edges = 0.2\nmask_features = 0.3\n")
    written = {name.replace(".light.", ".*.") for name, _ in leaves(tomllib.loads(text))}
    assert written <= set(field_names())
    assert not [name for name in written if name.startswith("views.topology")]


def test_field_that_a_text_leaves_out_has_its_default():
    assert Recipe.from_toml("") == Recipe()
    assert Recipe.from_toml("[encoder]\nname = 'gat'\nn_components = 64").encoder == GATOptions(n_components=64)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("epochs 5", r"^my.toml must be TOML; it cannot be parsed: Expected '=' after a key .*line 1, column 8\)$"),
        ("epochs = 1\nepochs = 2", "^my.toml must be TOML; it cannot be parsed: Cannot overwrite a value"),
        ("epochs = " + "1" * 5000, "^my.toml must be TOML; it cannot be parsed: Exceeds the limit"),
        ("pairs = " + "[" * 100_000, "^my.toml must be TOML; it cannot be parsed: "),
    ],
    ids=["no TOML", "duplicate key", "long number", "deep nesting"],
)
def test_text_that_is_not_toml_is_rejected(text, message):
    with pytest.raises(ReadError, match=message):
        Recipe.from_toml(text, source="my.toml")


def test_written_recipe_is_read_back(tmp_path):
    path = tmp_path / "recipe.toml"
    recipe = Recipe(method='größe "2"', epochs=7)
    recipe.write(path)
    assert path.read_bytes() == recipe.to_toml().encode()
    assert Recipe.read(path) == Recipe.read(str(path)) == recipe
    assert [each.name for each in tmp_path.iterdir()] == ["recipe.toml"]


def test_error_in_a_file_names_the_file(tmp_path):
    path = tmp_path / "recipe.toml"
    path.write_text("[encoder]\nn_components = -5\n")
    with pytest.raises(ParameterError) as refused:
        Recipe.read(path)
    assert str(refused.value) == f"in {path}, encoder.n_components must be a positive integer; got -5"


def test_file_that_cannot_be_read_or_written_is_an_error(tmp_path):
    path = tmp_path / "recipe.toml"
    with pytest.raises(ReadError, match=r"recipe.toml does not exist: check the name"):
        Recipe.read(path)
    with pytest.raises(ReadError, match="it is a directory"):
        Recipe.read(tmp_path)
    path.write_bytes(b"method = '\xff'")
    with pytest.raises(ReadError, match=r"recipe.toml must be a text file in UTF-8; it cannot be read: 'utf-8' codec"):
        Recipe.read(path)
    with pytest.raises(WriteError, match="No such file"):
        Recipe().write(tmp_path / "missing" / "recipe.toml")


# -- changes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("overrides", "changed"),
    [
        (["encoder.n_components=512", "epochs = 5"], {"epochs": 5}),
        (["encoder.name=sage"], {"encoder": {"name": "sage"}}),
        (['encoder.name="sage"', "encoder.n_components=64"], {"encoder": {"name": "sage", "n_components": 64}}),
        (["encoder={name='sage', num_layers=1}"], {"encoder": {"name": "sage", "num_layers": 1}}),
        (['pairs=[["graph", "topology"]]'], {"pairs": [["graph", "topology"]]}),
        (["method=mine, the 2nd"], {"method": "mine, the 2nd"}),
        (["encoder.residual=true", "epochs=1_000"], {"encoder": {"residual": True}, "epochs": 1000}),
        (["objective.temperature=7e-1"], {"objective": {"temperature": 0.7}}),
        (["views.feature.k_max=5"], {"views": {"feature": {"k_max": 5}}}),
        (["views.topology={num_walks=5}"], {"views": {"topology": {"num_walks": 5}}}),
        (["epochs=5", "epochs=6"], {"epochs": 6}),
        ("epochs=6", {"epochs": 6}),
        ({"epochs": np.int64(6)}, {"epochs": 6}),
        ({"head.out_channels": 64, "head": {"num_layers": 2}}, {"head": {"out_channels": 64, "num_layers": 2}}),
        (
            ["augmentations.light.drop_edges=0.2", "pairs=[['graph','graph+light']]"],
            {"augmentations": {"light": {"drop_edges": 0.2}}, "pairs": [["graph", "graph+light"]]},
        ),
        ([], {}),
        ({}, {}),
    ],
)  # fmt: skip
def test_overrides_change_the_fields_that_they_name(overrides, changed):
    assert Recipe().with_overrides(overrides) == Recipe(**changed)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("epochs", "a setting must be NAME=VALUE, such as n_components=256; got 'epochs'"),
        ("encoder.n_components=12x", "encoder.n_components must be a positive integer; got '12x'"),
        ("encoder.residual=True", "encoder.residual must be true or false; got 'True'"),
        ("head.out_chanels=3", "recipe has no field 'head.out_chanels'; did you mean 'head.out_channels'?"),
        ("epochs.x=3", "epochs must be a non-negative integer; got {'x': 3}"),
        ("steps=3", "recipe has no field 'steps'; it was renamed to epochs in version 0.2"),
    ],
)
def test_invalid_override_is_rejected(override, message):
    with pytest.raises(ParameterError) as refused:
        Recipe().with_overrides([override])
    assert str(refused.value) == message


def test_override_of_none_restores_the_default():
    recipe = Recipe(encoder={"hidden_channels": 64}, views={"feature": {"k_max": 2}})
    restored = recipe.with_overrides({"encoder.hidden_channels": None}).merged({"views": {"feature": {"k_max": None}}})
    assert restored == Recipe()


def test_merging_keeps_fields_that_are_not_named():
    recipe = Recipe(epochs=5, encoder={"n_components": 64, "num_layers": 3})
    merged = recipe.merged({"encoder": {"num_layers": 1}, "views": {}, "head": HeadOptions(num_layers=1)})
    assert merged == Recipe(epochs=5, encoder={"n_components": 64, "num_layers": 1}, head={"num_layers": 1})
    assert recipe.encoder.num_layers == 3
    with pytest.raises(ParameterError, match="recipe has no field '1'"):
        recipe.merged({1: 2})


def test_another_encoder_keeps_the_options_that_it_has():
    gat = Recipe(encoder={"name": "gat", "heads": 4, "n_components": 64, "residual": True})
    assert gat.merged({"encoder": {"name": "sage"}}) == Recipe(
        encoder={"name": "sage", "n_components": 64, "residual": True}
    )
    again = gat.with_overrides(["encoder.name=sage", "encoder.name=gat"])
    assert again == gat
    assert gat.with_overrides(["encoder.name=GAT"]) == gat
    with pytest.raises(ParameterError, match=r"has no field 'encoder\.heads' for encoder\.name = 'sage'"):
        gat.merged({"encoder": {"name": "sage", "heads": 2}})


def test_another_objective_keeps_the_options_that_it_has():
    node = Recipe(objective={"name": "node", "temperature": 0.9, "intra_view": True, "positives_in_denominator": True})
    assert node.merged({"objective": {"name": "channel"}}).objective == ChannelOptions(
        temperature=0.9, positives_in_denominator=True
    )


# -- views and sources ----------------------------------------------------------------------------------------------


def test_required_views_are_those_of_the_pairs_in_their_order():
    pairs = [["graph+a", "topology+a"], ["graph", "graph+a"], ["feature", "topology"]]
    assert Recipe(pairs=pairs, augmentations={"a": {}}).required_views == ("topology", "feature")
    assert Recipe(pairs=[["graph+a", "graph+a"]], augmentations={"a": {}}).required_views == ()


# -- comparison -----------------------------------------------------------------------------------------------------


def test_fingerprint_depends_on_all_fields_but_those_excluded():
    short, long = Recipe(epochs=10), Recipe(epochs=20)
    assert len(short.fingerprint()) == 64
    assert short.fingerprint() != long.fingerprint()
    assert short.fingerprint(without=["epochs"]) == long.fingerprint(without=["epochs"])
    tables = Recipe(optimizer={"learning_rate": 1.0}).fingerprint(without=["optimizer"])
    assert tables == Recipe().fingerprint(without=["optimizer"]) != Recipe().fingerprint()
    with pytest.raises(ParameterError, match=r"^a recipe has no field 'epoch'; did you mean 'epochs'\?$"):
        short.fingerprint(without=["epoch"])


def test_differences_have_dotted_names():
    one = Recipe(
        pairs=[["feature", "graph+a"]],
        augmentations={"a": {"drop_edges": 0.1}},
        views=ViewsOptions(feature={"k_max": 2}),
    )
    other = Recipe(pairs=[["feature", "graph+b"]], augmentations={"b": {}}, objective={"temperature": 1})
    assert one.differences(one) == []
    assert one.differences(other) == [
        "pairs",
        "views.feature.k_max",
        "objective.temperature",
        "augmentations.a.drop_edges",
        "augmentations.a.mask_features",
        "augmentations.b.drop_edges",
        "augmentations.b.mask_features",
    ]


def test_options_of_a_view_that_is_not_used_make_no_difference_unless_they_are_set():
    feature = Recipe(pairs=[["graph", "feature"]])
    assert not [name for name in feature.differences(feature.merged({"epochs": 3})) if name.startswith("views")]
    assert "topology" not in feature.to_toml()
    assert "topology" in feature.merged({"views": {"topology": {"num_walks": 5}}}).to_toml()


# -- extensions -----------------------------------------------------------------------------------------------------


class DegreeOptions(ViewOptions):
    power: PositiveInt = 1


def degree_descriptor(graph, _rng, *, power=1):
    """Compare nodes by their degree."""
    degree = np.bincount(graph.edge_index[0], minlength=graph.num_nodes)
    return np.stack([degree**power, np.ones(graph.num_nodes)], axis=1).astype(np.float32)


class LinearOptions(EncoderOptions):
    bias: StrictBool = False


class LinearEncoder(Encoder):
    """One linear layer; edges are ignored."""

    Options = LinearOptions

    def __init__(self, in_channels, options, *, weighted=False, generator):
        super().__init__(in_channels, options, weighted=weighted, generator=generator)
        self.weight = glorot(in_channels, options.n_components, generator=generator)

    def project(self, features, kept=None):
        return features.matmul(self.weight if kept is None else self.weight * kept[:, None])

    def forward(self, projected, edges):
        return projected + int(self.options.bias)


class DistanceOptions(ObjectiveOptions):
    scale: PositiveFloat = 1.0


def distance(a, b, *, scale=1.0):
    """Mean squared distance."""
    return scale * (a - b).square().mean()


@pytest.fixture
def extensions(monkeypatch):
    """A view, an encoder and an objective of another package, registered for the time of a test."""
    for registry in (VIEWS, ENCODERS, OBJECTIVES):
        assert len(registry)  # loads the built-in ones
        monkeypatch.setattr(registry, "_entries", dict(registry._entries))
        monkeypatch.setattr(registry, "_origins", dict(registry._origins))
    monkeypatch.setattr(LinearEncoder, "Options", LinearOptions)
    register_view("degree", options=DegreeOptions)(degree_descriptor)
    register_encoder("linear")(LinearEncoder)
    register_objective("distance", options=DistanceOptions)(distance)


EXTENDED = {
    "pairs": [["graph", "degree"], ["graph+a", "feature"]],
    "views": {"degree": {"power": 2, "k_max": 3}},
    "encoder": {"name": "linear", "n_components": 6, "bias": True},
    "objective": {"name": "distance", "scale": 2.0},
    "augmentations": {"a": {"mask_features": 0.5}},
    "epochs": 2,
}


@pytest.mark.usefixtures("extensions")
def test_recipe_accepts_registered_extensions_and_their_options(graph):
    recipe = Recipe(**EXTENDED)
    assert recipe.views.options_of("degree").power == 2
    assert recipe.encoder.bias is True
    assert recipe.objective.scale == 2.0
    assert Recipe.from_toml(recipe.to_toml()) == recipe
    assert Recipe().merged(EXTENDED) == recipe
    assert {"views.degree.power", "encoder.bias", "objective.scale"} <= set(field_names())
    result = fit_recipe(graph, recipe, cache=False)
    assert result.vectors.shape == (graph.num_nodes, 6)
    assert list(result.rankings) == ["degree", "feature"]
    assert result.losses[0] == 0 < result.losses[1]  # without edges a view equals its graph, except for masked features


@pytest.mark.usefixtures("extensions")
@pytest.mark.filterwarnings("ignore::graphprox.CollapsedEmbeddingWarning")  # two epochs change little
def test_estimator_trains_with_registered_extensions(graph):
    overrides = {"pairs": [["graph", "degree"]], "objective.name": "distance", "encoder.bias": True}
    embedder = FTGCL(encoder="linear", n_components=6, epochs=2, overrides=overrides, cache=False).fit(graph)
    assert embedder.recipe_.encoder == LinearEncoder.Options(n_components=6, bias=True)
    assert list(embedder.rankings_) == ["degree"]
    assert not hasattr(embedder.recipe_.objective, "temperature")
    assert FTGCL.from_recipe(embedder.recipe_).recipe() == embedder.recipe_


@pytest.mark.usefixtures("extensions")
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"views": {"degree": {"power": 0}}}, "views.degree.power must be a positive integer; got 0"),
        ({"views": {"degree": {"pwer": 1}}}, "recipe has no field 'views.degree.pwer'; did you mean 'views.degree.po"),
        ({"encoder": {"name": "linear", "bias": 1}}, "encoder.bias must be true or false; got 1"),
        ({"objective": {"name": "distance", "scale": 0}}, "objective.scale must be a positive, finite number; got 0"),
        ({"objective": {"name": "distanc"}}, "objective must be a known name; got 'distanc': did you mean 'dist"),
    ],
)
def test_invalid_option_of_an_extension_is_rejected(fields, message):
    with pytest.raises(ParameterError) as refused:
        Recipe(**fields)
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize("field", ["chunk_size", "max_features"])
def test_fields_of_large_graphs_are_in_the_text_only_if_they_are_given(field):
    linear = Recipe(encoder={"name": "mlp"})
    assert field not in linear.to_toml()  # or the hashes of earlier recipes would change
    given = linear.merged({field: 100})
    assert f"{field} = 100" in given.to_toml()
    assert Recipe.from_toml(given.to_toml()) == given
    assert given.merged({field: None}) == linear
