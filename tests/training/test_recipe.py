from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import tomllib

import numpy as np
import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from graphprox.errors import ParameterError, ReadError, WriteError
from graphprox.proximity import VIEWS
from graphprox.proximity.engines import AUTO, ENGINES
from graphprox.training import Recipe
from graphprox.training.parts import Corruption, Encoder, Head, Objective, Part, Views
from graphprox.training.recipe import VIEWS as KNOWN_VIEWS
from graphprox.training.recipe import parts_of_source
from graphprox.training.tables import leaves, plain

LIGHT = {"light": {"drop_edges": 0.2, "mask_features": 0.3}}

# -- the rules for fields together, each with its sentence ------------------------------------------------------------

PAIRS = 'turns must be one or more pairs of sources, such as [["graph", "feature"]]; got'
SOURCES = (
    "turns must pair sources, each one of graph, feature, topology, neighbourhood, alone or with a corruption as in "
    "'graph+light'; got"
)
RULES = [
    # turns
    ("turns = []", f"{PAIRS} []"),
    ("turns = 'graph'", f"{PAIRS} 'graph'"),
    ("turns = ['graph', 'feature']", f"{PAIRS} ['graph', 'feature']"),
    ("turns = [['graph']]", f"{PAIRS} [['graph']]"),
    ("turns = [['graph', 1]]", f"{PAIRS} [['graph', 1]]"),
    ("turns = [['graph', 'shape']]", f"{SOURCES} 'shape'"),
    ("turns = [['graph', 'feature+']]", f"{SOURCES} 'feature+'"),
    ("turns = [['graph', 'graph+a+b']]", f"{SOURCES} 'graph+a+b'"),
    ("turns = [['graph', 'graph']]", "turns must pair sources that differ, or are corrupted; got 'graph' twice"),
    (
        "turns = [['graph', 'graph+light']]",
        "turns must name corruptions that the recipe defines; got 'graph+light': add [corruptions.light]",
    ),
    (
        "turns = [['graph', 'graph+ligth']]\ncorruptions.light.drop_edges = 0.1",
        "turns must name corruptions that the recipe defines; got 'graph+ligth': did you mean 'light'?",
    ),
    (
        "corruptions.light.drop_edges = 0.1",
        "corruptions.light must be used in turns; no source there ends in '+light': correct the name, or leave it out",
    ),
    # fields together
    ("views = {k_min = 5, k_max = 3}", "views.k_min must be at most views.k_max, which is 3; got 5"),
    ("views.k_neighbourhood = [5, 1]", "views.k_neighbourhood must be a range, its least k first; got [5, 1]"),
    ("encoder = {kind = 'gcn', heads = 2}", "encoder.heads must be 1 unless encoder.kind is 'gat'; got 2"),
    ("encoder.heads = 3", "encoder.heads must divide encoder.width without rest; got 3 heads for 256"),
    ("encoder = {heads = 4, hidden = 6}", "encoder.heads must divide encoder.hidden without rest; got 4 heads for 6"),
    (
        "encoder = {hidden = 128, jumping = 'max'}",
        "encoder.hidden must equal encoder.width, which is 256, for encoder.jumping = 'max'; got 128",
    ),
    ("objective.intra_view = true", "objective.intra_view must be false unless objective.contrast is 'node'; got true"),
    ("head.width = 1", "head.width must be 2 or more for objective.contrast = 'channel'; got 1"),
    ("head.layers = 0\nencoder.width = 1", "encoder.width must be 2 or more for objective.contrast = 'channel'; got 1"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "sentence"), RULES, ids=[text for text, _ in RULES])
def test_each_rule_has_its_sentence(text, sentence):
    with pytest.raises(ParameterError) as refused:
        Recipe(**tomllib.loads(text))
    assert str(refused.value) == sentence


def test_only_the_first_of_several_errors_is_told():
    with pytest.raises(ParameterError) as refused:
        Recipe.from_toml("steps = -1\nencoder.width = -5\nzzz = 1", source="my.toml")
    assert str(refused.value) == "in my.toml, steps must be a whole number of 0 or more; got -1"


@pytest.mark.parametrize(
    "text",
    [
        "steps = 0",
        f"seed = {2**63 - 1}",
        "views = {k_min = 1000, k_max = 1000}",
        "views = {k_min = 3, k_max = 3, k_feature = [7, 7]}",
        "turns = [['graph+a', 'graph+a']]\ncorruptions.a.drop_edges = 0",
        "turns = [['feature', 'topology+a-1']]\ncorruptions.a-1 = {}",
        "encoder = {heads = 4, hidden = 64}",
        "encoder = {hidden = 256, jumping = 'max'}",
        "objective = {contrast = 'node', intra_view = true}",
        "objective.contrast = 'node'\nhead.width = 1",
        "head = {layers = 0, width = 1}",
        "objective.temperature = 1",
        "topology = {p = 0.01, q = 8, iterations = 0}",
        "method = 'mine, the 2nd'",
    ],
)
def test_what_is_at_the_edge_of_a_rule_is_allowed(text):
    assert Recipe.from_toml(text).differences(Recipe())


# -- a value ----------------------------------------------------------------------------------------------------------


def test_a_recipe_cannot_be_changed():
    recipe = Recipe(turns=[["graph", "graph+light"]], corruptions=LIGHT)
    with pytest.raises(ValidationError):
        recipe.steps = 5
    with pytest.raises(ValidationError):
        recipe.encoder.width = 5
    with pytest.raises(TypeError):
        recipe.corruptions["heavy"] = Corruption()
    given = {"light": Corruption()}
    recipe = Recipe(turns=[["graph", "graph+light"]], corruptions=given)
    given.clear()
    assert list(recipe.corruptions) == ["light"]
    assert len(recipe.corruptions) == 1


def test_equal_recipes_are_one_key():
    turns = [["graph+a", "graph+b"]]
    one = Recipe(turns=turns, corruptions={"a": {}, "b": {"drop_edges": 0.0}})
    other = Recipe(turns=turns, corruptions={"b": {}, "a": {"drop_edges": -0.0}})
    assert one == other
    assert len({one, other, Recipe()}) == 2
    assert one.to_toml() == other.to_toml()
    assert Recipe(corruptions=one.corruptions, turns=one.turns) == one


def test_a_recipe_goes_to_other_processes_and_to_json():
    recipe = Recipe(turns=[["graph", "graph+light"]], corruptions=LIGHT)
    assert pickle.loads(pickle.dumps(recipe)) == recipe == copy.deepcopy(recipe)
    assert recipe.model_dump()["corruptions"] == LIGHT
    assert Recipe.model_validate_json(recipe.model_dump_json()) == recipe
    assert "'light': Corruption(drop_edges=0.2, mask_features=0.3)" in repr(recipe)


# -- text and files ---------------------------------------------------------------------------------------------------


@st.composite
def recipes(draw):
    """Recipes of every shape that the rules allow."""

    def fields(**strategies):
        return draw(st.fixed_dictionaries({}, optional=strategies))

    share = st.floats(0, 1, exclude_max=True) | st.just(0)
    above_0 = st.floats(0, exclude_min=True, allow_infinity=False)
    bias = st.floats(1e-6, 1e6)
    amount = st.integers(1, 1_000_000)
    k_range = st.tuples(st.integers(1, 1000), st.integers(1, 1000)).map(sorted)
    kind = draw(st.sampled_from(["gat", "sage", "gcn", "gin", "mlp"]))
    heads = draw(st.integers(1, 8)) if kind == "gat" else 1
    contrast = draw(st.sampled_from(["channel", "node"]))
    jumping = draw(st.sampled_from(["last", "concat", "max"]))
    width = heads * draw(st.integers(2, 999))
    hidden = width if jumping == "max" else heads * draw(st.integers(1, 999))

    names = st.text("abc019-", min_size=1)
    corrupted = draw(st.lists(st.tuples(st.sampled_from(["graph", *VIEWS]), names), max_size=3))
    sources = ["graph", *VIEWS, *("+".join(each) for each in corrupted)]
    pair = st.tuples(st.sampled_from(sources), st.sampled_from(sources))
    turns = draw(st.lists(pair.filter(lambda each: each[0] != each[1] or "+" in each[0]), min_size=1, max_size=4))
    turns += [["graph", source] for source in sources[4:]]
    k_min, k_max = draw(k_range)
    printable = st.characters(exclude_categories=["C", "Z", "Lu", "Lt"], include_characters=" \"\\'#=[")
    method = st.text(printable, min_size=1).filter(lambda each: each == each.strip() == each.lower())
    return Recipe(
        turns=turns,
        **fields(
            method=method.filter(str.isprintable),
            schedule=st.sampled_from(["alternate", "sum"]),
            steps=st.integers(0),
            seed=st.integers(0, 2**63 - 1),
            normalize=st.sampled_from(["rows", "none"]),
        ),
        views={
            "k_min": k_min,
            "k_max": k_max,
            **fields(k_feature=k_range, k_topology=k_range, k_neighbourhood=k_range, binary=st.booleans()),
            **fields(both_directions=st.booleans(), engine=st.sampled_from([AUTO, *ENGINES])),
        },
        topology={
            **fields(subgraphs=st.sampled_from(["walks", "egonet"]), walks=amount, length=amount, p=bias, q=bias),
            **fields(hops=amount, iterations=st.integers(0, 1000), landmarks=amount, normalize=st.booleans()),
        },
        encoder={
            "kind": kind,
            "heads": heads,
            "width": width,
            "jumping": jumping,
            **fields(hidden=st.just(hidden), layers=st.integers(1, 9), residual=st.booleans()),
            **fields(activation=st.sampled_from(["relu", "elu", "prelu", "none"])),
        },
        head=fields(layers=st.integers(0, 2), width=st.integers(2, 4096)),
        objective={
            "contrast": contrast,
            **fields(temperature=above_0, positives_in_denominator=st.booleans()),
            **(fields(intra_view=st.booleans()) if contrast == "node" else {}),
        },
        optimizer=fields(learning_rate=above_0, weight_decay=above_0 | st.just(0) | st.just(-0.0)),
        corruptions={name: fields(drop_edges=share, mask_features=share) for _, name in corrupted},
    )


@given(recipes())
def test_a_recipe_comes_back_from_its_text_as_it_was(recipe):
    text = recipe.to_toml()
    again = Recipe.from_toml(text)
    assert again == recipe
    assert hash(again) == hash(recipe)
    assert again.to_toml() == text
    assert recipe.differences(again) == []
    # An independent writer of TOML says the same.
    assert tomllib.loads(tomli_w.dumps(tomllib.loads(text))) == tomllib.loads(text)


@given(recipes(), recipes())
def test_differences_are_what_overrides_can_mend(one, other):
    fields = dict(leaves(plain(other)))
    differ = one.differences(other)
    assert set(differ) == set(other.differences(one))
    assert (differ == []) == (one == other) == (one.fingerprint() == other.fingerprint())
    if set(other.corruptions) >= set(one.corruptions):  # nothing has to be taken away
        changes = {name: fields.get(name) for name in differ}
        assert one.with_overrides(changes) == other


def test_the_text_is_complete_and_fit_to_be_read_by_people():
    recipe = Recipe(turns=[["graph", "graph+light"]], corruptions=LIGHT, views={"k_feature": [1, 5]})
    text = recipe.to_toml()
    assert 'turns = [["graph", "graph+light"]]\n' in text
    assert "\n\n[views]\nk_min = 1\nk_max = 10\nk_feature = [1, 5]\nbinary = false\n" in text
    assert text.endswith("\n\n[corruptions.light]\ndrop_edges = 0.2\nmask_features = 0.3\n")
    written = {name.replace(".light.", ".*.") for name, _ in leaves(tomllib.loads(text))}
    tables = {name for name, value in tomllib.loads(text).items() if isinstance(value, dict)}
    left_out = {"views.k_topology", "views.k_neighbourhood", "encoder.hidden"}
    assert written == set(Part.known) - tables - left_out


def test_what_a_text_leaves_out_has_its_default():
    assert Recipe.from_toml("") == Recipe()
    assert Recipe.from_toml("[encoder]\nwidth = 64").encoder == Encoder(width=64)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "steps 5",
            r"^my.toml must be TOML; it cannot be read as such: Expected '=' after a key .*line 1, column 7\)$",
        ),
        ("steps = 1\nsteps = 2", "^my.toml must be TOML; it cannot be read as such: Cannot overwrite a value"),
        ("steps = " + "1" * 5000, "^my.toml must be TOML; it cannot be read as such: Exceeds the limit"),
        ("turns = " + "[" * 100_000, "^my.toml must be TOML; it cannot be read as such: "),
    ],
    ids=["no TOML", "twice", "a long number", "deep"],
)
def test_a_text_that_is_no_toml(text, words):
    with pytest.raises(ReadError, match=words):
        Recipe.from_toml(text, source="my.toml")


def test_files(tmp_path):
    path = tmp_path / "recipe.toml"
    recipe = Recipe(method='größe "2"', steps=7)
    recipe.write(path)
    assert path.read_bytes() == recipe.to_toml().encode()
    assert Recipe.read(path) == Recipe.read(str(path)) == recipe
    assert [each.name for each in tmp_path.iterdir()] == ["recipe.toml"]

    path.write_text("[encoder]\nwidth = -5\n")
    with pytest.raises(ParameterError) as refused:
        Recipe.read(path)
    assert str(refused.value) == f"in {path}, encoder.width must be a whole number of 1 or more; got -5"


def test_files_that_cannot_be_read_or_written(tmp_path):
    path = tmp_path / "recipe.toml"
    with pytest.raises(ReadError, match=r"recipe.toml does not exist: check the name"):
        Recipe.read(path)
    with pytest.raises(ReadError, match="it is a directory"):
        Recipe.read(tmp_path)
    path.write_bytes(b"method = '\xff'")
    with pytest.raises(
        ReadError, match=r"recipe.toml must be a text in UTF-8; it cannot be read as such: 'utf-8' codec"
    ):
        Recipe.read(path)
    with pytest.raises(WriteError, match="No such file"):
        Recipe().write(tmp_path / "missing" / "recipe.toml")


# -- other recipes from one -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("overrides", "changed"),
    [
        (["encoder.width=256", "steps = 5"], {"steps": 5}),
        (["encoder.kind=sage"], {"encoder": {"kind": "sage"}}),
        (['encoder.kind="sage"', "encoder.width=64"], {"encoder": {"kind": "sage", "width": 64}}),
        (["encoder={kind='sage', layers=1}"], {"encoder": {"kind": "sage", "layers": 1}}),
        (['turns=[["graph", "topology"]]'], {"turns": [["graph", "topology"]]}),
        (["method=mine, the 2nd"], {"method": "mine, the 2nd"}),
        (["encoder.residual=true", "steps=1_000"], {"encoder": {"residual": True}, "steps": 1000}),
        (["objective.temperature=5e-1"], {"objective": {"temperature": 0.5}}),
        (["views.k_feature=[1,5]"], {"views": {"k_feature": [1, 5]}}),
        (["steps=5", "steps=6"], {"steps": 6}),
        ("steps=6", {"steps": 6}),
        ({"steps": np.int64(6)}, {"steps": 6}),
        ({"encoder.width": 64, "encoder": {"layers": 3}}, {"encoder": {"width": 64, "layers": 3}}),
        (
            ["corruptions.light.drop_edges=0.2", "turns=[['graph','graph+light']]"],
            {"corruptions": {"light": {"drop_edges": 0.2}}, "turns": [["graph", "graph+light"]]},
        ),
        ([], {}),
        ({}, {}),
    ],
)  # fmt: skip
def test_overrides(overrides, changed):
    assert Recipe().with_overrides(overrides) == Recipe(**changed)


@pytest.mark.parametrize(
    ("override", "sentence"),
    [
        ("encoder.width", "an override must be FIELD=VALUE, such as encoder.width=256; got 'encoder.width'"),
        ("encoder.width=12x", "encoder.width must be a whole number of 1 or more; got '12x'"),
        ("encoder.residual=True", "encoder.residual must be true or false; got 'True'"),
        ("encoder.widht=3", "recipe has no field 'encoder.widht'; did you mean 'encoder.width'?"),
        ("steps.x=3", "steps must be a whole number of 0 or more; got {'x': 3}"),
    ],
)
def test_overrides_that_cannot_be(override, sentence):
    with pytest.raises(ParameterError) as refused:
        Recipe().with_overrides([override])
    assert str(refused.value) == sentence


def test_an_override_of_none_takes_a_field_away():
    recipe = Recipe(encoder=Encoder(hidden=64), views=Views(k_feature=(1, 2)))
    assert recipe.with_overrides({"encoder.hidden": None}).merged({"views": {"k_feature": None}}) == Recipe()


def test_merging_leaves_what_it_does_not_name():
    recipe = Recipe(steps=5, encoder=Encoder(width=64, layers=3))
    merged = recipe.merged({"encoder": {"layers": 1}, "views": {}, "head": Head(layers=0)})
    assert merged == Recipe(steps=5, encoder=Encoder(width=64, layers=1), head=Head(layers=0))
    assert recipe.encoder.layers == 3
    with pytest.raises(ParameterError, match="recipe has no field '1'"):
        recipe.merged({1: 2})


# -- what training asks -----------------------------------------------------------------------------------------------


def test_views_needed_are_the_bases_in_the_order_of_their_turns():
    turns = [["graph+a", "topology+a"], ["graph", "graph+a"], ["feature", "topology"]]
    assert Recipe(turns=turns, corruptions={"a": {}}).views_needed == ("topology", "feature")
    assert Recipe(turns=[["graph+a", "graph+a"]], corruptions={"a": {}}).views_needed == ()


def test_a_view_may_have_a_range_of_its_own():
    recipe = Recipe(views=Views(k_min=2, k_max=8, k_topology=(1, 20)))
    assert [recipe.k_range(view) for view in VIEWS] == [(2, 8), (1, 20), (2, 8)]
    with pytest.raises(ParameterError, match="a view must be one of feature, topology, neighbourhood; got 'graph'"):
        recipe.k_range("graph")


def test_sources_have_a_base_and_perhaps_a_corruption():
    assert parts_of_source("graph") == ("graph", None)
    assert parts_of_source("feature+light") == ("feature", "light")


def test_a_fingerprint_is_of_all_that_counts():
    one, longer = Recipe(steps=10), Recipe(steps=20)
    assert len(one.fingerprint()) == 64
    assert one.fingerprint() != longer.fingerprint()
    assert one.fingerprint(without=["steps"]) == longer.fingerprint(without=("steps", "method")[:1])
    tables = Recipe(optimizer={"learning_rate": 1.0}).fingerprint(without=["optimizer"])
    assert tables == Recipe().fingerprint(without=["optimizer"]) != Recipe().fingerprint()
    with pytest.raises(ParameterError, match=r"^a recipe has no field 'step'; did you mean 'steps'\?$"):
        one.fingerprint(without=["step"])


def test_a_fingerprint_stays_what_it_is():
    """Runs on disk are known by it: if this changes, they are not found again."""
    assert Recipe().fingerprint() == "0aae9145515f635ed65d3b3a63695145c34142af3fe0522451b5acc4e00379af"


def test_differences_are_named_by_dots():
    one = Recipe(turns=[["graph", "graph+a"]], corruptions={"a": {"drop_edges": 0.1}}, views=Views(k_feature=(1, 2)))
    other = Recipe(turns=[["graph", "graph+b"]], corruptions={"b": {}}, objective=Objective(temperature=1))
    assert one.differences(one) == []
    assert one.differences(other) == [
        "turns",
        "views.k_feature",
        "objective.temperature",
        "corruptions.a.drop_edges",
        "corruptions.a.mask_features",
        "corruptions.b.drop_edges",
        "corruptions.b.mask_features",
    ]


# -- as elsewhere in the house ----------------------------------------------------------------------------------------


def test_views_are_those_that_there_are():
    assert tuple(VIEWS) == KNOWN_VIEWS


@pytest.mark.parametrize("name", ["graphprox.training", "graphprox.training.recipe"])
def test_a_recipe_needs_no_torch(name):
    """Torch and numba take seconds to import: the command line reads recipes without."""
    code = f"import sys, {name}; sys.exit(bool({{'torch', 'numba', 'sklearn'}} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
