"""Presets of the FT-GCL family, and the settings that papers print."""

from __future__ import annotations

import itertools
import re
from importlib.resources import files

import pytest

from graphprox import CATALOG, FGCL, FTGCL, FTGCLNL, FTGRACE, GRACE, PEGCL, TGCL, FTGCLPlus, UntrainedEncoder
from graphprox.ftgcl.presets import load_presets

# What each method contrasts, and by which objective.
FAMILY = {
    FGCL: ([("graph", "feature")], "channel"),
    TGCL: ([("graph", "topology")], "channel"),
    FTGCL: ([("graph", "feature"), ("graph", "topology")], "channel"),
    FTGCLPlus: (
        [("graph+light", "feature+light"), ("graph+light", "topology+light"), ("graph+light", "graph+light")],
        "channel",
    ),
    PEGCL: ([("graph", "feature"), ("graph", "neighborhood"), ("graph", "topology")], "channel"),
    FTGCLNL: ([("graph", "feature"), ("graph", "topology")], "node"),
    FTGRACE: ([("graph", "feature"), ("graph", "topology")], "node"),
    GRACE: ([("graph+first", "graph+second")], "node"),
    UntrainedEncoder: ([("graph", "feature"), ("graph", "topology")], "channel"),
}
CHANNEL_METHODS = (FGCL, TGCL, FTGCL, PEGCL, FTGCLPlus)
ALL_PRESETS = [(kind, preset) for kind in FAMILY for preset in kind.preset_names()]


def recipe_of(kind, preset="default"):
    return kind.from_preset(preset).recipe()


@pytest.mark.parametrize(("kind", "preset"), ALL_PRESETS, ids=lambda each: getattr(each, "__name__", each))
def test_no_preset_changes_what_a_method_is(kind, preset):
    recipe = recipe_of(kind, preset)
    pairs, objective = FAMILY[kind]
    assert (list(recipe.pairs), recipe.objective.name) == (pairs, objective)
    assert (recipe.method, recipe.schedule) == (kind.name, "alternate")
    is_grace = kind in (FTGRACE, GRACE)
    assert recipe.objective.positives_in_denominator == is_grace
    assert getattr(recipe.objective, "intra_view", False) == is_grace
    assert preset in ("default", "synthetic") or preset.removesuffix("-paper") in CATALOG
    assert kind is not UntrainedEncoder or recipe.epochs == 0


@pytest.mark.parametrize(
    ("kind", "differing"), [(FGCL, {"pairs"}), (PEGCL, {"pairs"}), (FTGCLNL, {"objective"}), (FTGCLPlus, {"pairs"})]
)
def test_methods_differ_from_ft_gcl_only_in_what_makes_them(kind, differing):
    def of(table):
        return {name.partition(".")[0] for name in table}

    found = of(recipe_of(FTGCL, "PubMed").differences(recipe_of(kind, "PubMed"))) - {"method", "views"}
    assert found == differing | ({"augmentations"} if kind is FTGCLPlus else set())


@pytest.mark.parametrize("preset", GRACE.preset_names())
def test_ft_grace_differs_from_grace_only_in_its_views(preset):
    grace, ours = recipe_of(GRACE, preset), recipe_of(FTGRACE, preset)
    differing = {name.split(".")[0] for name in grace.differences(ours)}
    assert differing == {"method", "pairs", "augmentations", "views"}
    assert grace.views == ours.views  # only the tables of the views that are used


def test_presets_of_a_later_group_take_precedence():
    merged = load_presets("ft-gcl", "t-gcl")
    assert merged["Cora"] == {**load_presets("ft-gcl")["Cora"], **load_presets("t-gcl")["Cora"]}
    assert merged["Texas"] == load_presets("ft-gcl")["Texas"]
    with pytest.raises(TypeError):
        merged["mine"] = {}


# -- settings in print ----------------------------------------------------------------------------------------------

# The paper's table: k_max, the sizes of encoder and head, learning rate, temperature, weight decay, activation.
PRINTED = {
    "Cora": (8, {512, 256}, 5e-4, 0.2, 5e-5, "prelu"),
    "CiteSeer": (5, {512, 64}, 5e-4, 0.2, 5e-3, "elu"),
    "PubMed": (10, {512, 128}, 5e-3, 0.9, 5e-4, "elu"),
    "DBLP": (10, {512, 64}, 5e-4, 0.4, 5e-5, "prelu"),
    "WikiCS": (10, {256, 128}, 5e-4, 0.2, 5e-4, "elu"),
    "ACM": (10, {512, 64}, 1e-3, 0.7, 5e-4, "relu"),
    "CoauthorCS": (10, {512}, 5e-4, 0.1, 1e-4, "elu"),
    "Texas": (10, {64, 128}, 1e-3, 0.2, 5e-4, "relu"),
    "Wisconsin": (10, {64, 128}, 1e-3, 0.2, 5e-4, "relu"),
    "Cornell": (10, {128}, 1e-3, 0.2, 5e-4, "relu"),
    "Actor": (10, {128, 64}, 1e-2, 0.2, 5e-5, "relu"),
}
PRINTED["Cornell-2021"] = PRINTED["Cornell"]
DISASSORTATIVE = {"Texas", "Wisconsin", "Cornell", "Cornell-2021", "Actor"}


def test_every_data_set_of_the_paper_has_its_printed_settings():
    assert {name.removesuffix("-paper") for name in FTGCL.preset_names() if name.endswith("-paper")} == set(PRINTED)


@pytest.mark.parametrize(("dataset", "kind"), list(itertools.product(PRINTED, CHANNEL_METHODS)))
def test_presets_have_the_settings_that_the_paper_prints(dataset, kind):
    recipe = recipe_of(kind, f"{dataset}-paper")
    assert (
        recipe.views.k_max,
        {recipe.encoder.n_components, recipe.head.out_channels},
        recipe.optimizer.learning_rate,
        recipe.objective.temperature,
        recipe.optimizer.weight_decay,
        recipe.encoder.activation,
    ) == PRINTED[dataset]
    assert recipe.encoder.name == ("sage" if dataset in DISASSORTATIVE else "gat")
    assert 0 < recipe.epochs <= 200


# The printed size of the encoder, d', where it differs from that of the head.
PRINTED_ENCODER = {"Cora": 256, "CiteSeer": 64, "PubMed": 128, "DBLP": 64, "WikiCS": 128, "ACM": 64}
PRINTED_ENCODER |= {"Texas": 128, "Wisconsin": 128, "Actor": 64}


def test_comments_say_which_sizes_are_exchanged():
    text = files("graphprox.ftgcl").joinpath("printed.toml").read_text(encoding="utf-8")
    comments = {name: how for how, name in re.findall(r"# Sizes (exchanged|as printed).*\n\[(\w+)\]", text)}
    assert set(comments) == set(PRINTED) - {"Cornell-2021"}
    for name, printed in PRINTED_ENCODER.items():
        is_printed = recipe_of(FTGCL, f"{name}-paper").encoder.n_components == printed
        assert is_printed == (comments[name] == "as printed")


# Size, learning rate, activation, edges dropped, features masked, temperature, epochs. The authors train longer on the
# last two (1,500 and 1,000 epochs), which would take hours.
GRACE_SETTINGS = {
    "Cora": (128, 5e-4, "relu", (0.2, 0.4), (0.3, 0.4), 0.4, 200),
    "CiteSeer": (256, 1e-3, "prelu", (0.2, 0), (0.3, 0.2), 0.9, 200),
    "PubMed": (256, 1e-3, "relu", (0.4, 0.1), (0, 0.2), 0.7, 30),
    "DBLP": (256, 1e-3, "relu", (0.1, 0.4), (0.1, 0), 0.7, 40),
}


@pytest.mark.parametrize("dataset", GRACE_SETTINGS)
def test_grace_has_the_settings_of_its_authors(dataset):
    recipe = recipe_of(GRACE, dataset)
    encoder, augmentations = recipe.encoder, [recipe.augmentations[name] for name in ("first", "second")]
    assert (
        encoder.n_components,
        recipe.optimizer.learning_rate,
        encoder.activation,
        tuple(each.drop_edges for each in augmentations),
        tuple(each.mask_features for each in augmentations),
        recipe.objective.temperature,
        recipe.epochs,
    ) == GRACE_SETTINGS[dataset]
    assert (encoder.name, encoder.num_layers, encoder.hidden_channels) == ("gcn", 2, 2 * encoder.n_components)
    assert (recipe.head.num_layers, recipe.head.out_channels) == (2, encoder.n_components)
    assert recipe.optimizer.weight_decay == 1e-5
