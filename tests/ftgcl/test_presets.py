"""Presets of the FT-GCL family, and the settings of papers."""

from __future__ import annotations

import itertools

import pytest

from graphprox import CATALOG, FGCL, FTGCL, FTGCLNL, FTGRACE, GRACE, PEGCL, TGCL, FTGCLPlus, ParameterError
from graphprox.ftgcl.base import ContrastiveEmbedder
from graphprox.ftgcl.presets import load_presets
from graphprox.methods import METHODS

FAMILY = [kind for kind in METHODS.values() if issubclass(kind, ContrastiveEmbedder)]
CHANNEL_METHODS = (FGCL, TGCL, FTGCL, PEGCL, FTGCLPlus)
ALL_PRESETS = [(kind, preset) for kind in FAMILY for preset in kind.preset_names()]


def recipe_of(kind, preset="default"):
    return kind.from_preset(preset).recipe()


@pytest.mark.parametrize(("kind", "preset"), ALL_PRESETS, ids=lambda each: getattr(each, "__name__", each))
def test_presets_change_neither_the_sources_nor_the_objective_of_a_method(kind, preset):
    recipe, default = recipe_of(kind, preset), recipe_of(kind)
    for name in ("method", "pairs", "schedule"):
        assert getattr(recipe, name) == getattr(default, name)
    assert set(recipe.augmentations) == set(default.augmentations)
    assert {**recipe.objective.model_dump(), "temperature": None} == {
        **default.objective.model_dump(),
        "temperature": None,
    }


@pytest.mark.parametrize("kind", FAMILY)
def test_presets_are_those_of_data_sets(kind):
    names = {name.removesuffix("-paper").removesuffix("-convolution") for name in kind.preset_names()}
    assert names <= {"default", "synthetic", "large", *CATALOG}


@pytest.mark.parametrize(
    ("kind", "preset", "differing"),
    [
        (FGCL, "Cora", {"pairs"}),
        (PEGCL, "Cora", {"pairs"}),
        (FTGCLNL, "Cora", {"objective"}),
        (FGCL, "PubMed", {"pairs"}),
        (PEGCL, "PubMed", {"pairs"}),
        (FTGCLNL, "PubMed", {"objective"}),
        (FTGCLPlus, "PubMed", {"pairs", "augmentations"}),
    ],
)
def test_variants_differ_from_ft_gcl_only_in_their_defining_fields(kind, preset, differing):
    differences = recipe_of(FTGCL, preset).differences(recipe_of(kind, preset))
    assert {name.partition(".")[0] for name in differences} - {"method", "views"} == differing


@pytest.mark.parametrize("preset", [name for name in FTGCL.preset_names() if name.endswith("-convolution")])
def test_presets_by_diffusion_have_a_counterpart_by_graph_convolutions(preset):
    diffusion, convolution = recipe_of(FTGCL, preset.removesuffix("-convolution")), recipe_of(FTGCL, preset)
    assert (diffusion.encoder.name, diffusion.encoder.num_layers, diffusion.head.num_layers) == ("diffusion", 1, 0)
    assert convolution.encoder.name != "diffusion"
    assert convolution.encoder == recipe_of(FTGCLPlus, preset.removesuffix("-convolution")).encoder


@pytest.mark.parametrize("preset", GRACE.preset_names())
def test_ft_grace_differs_from_grace_only_in_its_views(preset):
    grace, ours = recipe_of(GRACE, preset), recipe_of(FTGRACE, preset)
    differing = {name.split(".")[0] for name in grace.differences(ours)}
    assert differing == {"method", "pairs", "augmentations", "views"}
    assert grace.views == ours.views  # only the tables of the views that are used


def test_presets_of_a_later_group_take_precedence():
    merged = load_presets("ft-gcl", "t-gcl")
    assert merged["Cora"] == {**load_presets("ft-gcl")["Cora"], **load_presets("t-gcl")["Cora"]}
    assert load_presets("convolution", "ft-gcl")["Texas"] == load_presets("convolution")["Texas"]
    with pytest.raises(TypeError):
        merged["mine"] = {}


# -- settings of papers ---------------------------------------------------------------------------------------------

# The paper's table: k_max, the sizes of encoder and head, learning rate, temperature, weight decay, activation.
PUBLISHED = {
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
PUBLISHED["Cornell-2021"] = PUBLISHED["Cornell"]
DISASSORTATIVE = {"Texas", "Wisconsin", "Cornell", "Cornell-2021", "Actor"}


def test_every_data_set_of_the_paper_has_a_preset_with_its_settings():
    assert {name.removesuffix("-paper") for name in FTGCL.preset_names() if name.endswith("-paper")} == set(PUBLISHED)


@pytest.mark.parametrize(("dataset", "kind"), list(itertools.product(PUBLISHED, CHANNEL_METHODS)))
def test_paper_presets_have_the_settings_of_the_paper(dataset, kind):
    recipe = recipe_of(kind, f"{dataset}-paper")
    assert (
        recipe.views.k_max,
        {recipe.encoder.n_components, recipe.head.out_channels},
        recipe.optimizer.learning_rate,
        recipe.objective.temperature,
        recipe.optimizer.weight_decay,
        recipe.encoder.activation,
    ) == PUBLISHED[dataset]
    assert recipe.encoder.name == ("sage" if dataset in DISASSORTATIVE else "gat")
    assert 0 < recipe.epochs <= 200


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


def test_encoder_that_is_named_has_the_settings_of_a_convolution():
    named = FTGCL.from_preset("Cora", encoder="gat").recipe()
    assert named == FTGCL.from_preset("Cora-convolution").recipe()
    assert FTGCL.from_preset("Cora", encoder="diffusion").recipe() == FTGCL.from_preset("Cora").recipe()


def test_presets_by_convolutions_have_the_epochs_of_the_method():
    for name in ("Cora", "CiteSeer", "ACM", "DBLP"):
        recipe = TGCL.from_preset(f"{name}-convolution").recipe()
        assert recipe.epochs == 10
        assert recipe.encoder.name in ("gat", "gcn")


@pytest.mark.parametrize("kind", FAMILY)
def test_large_graphs_have_a_preset_if_their_nodes_can_be_encoded_in_chunks(kind):
    assert ("large" in kind.preset_names()) == (kind in CHANNEL_METHODS)
    if kind in CHANNEL_METHODS:
        recipe = recipe_of(kind, "large")
        assert recipe.chunk_size == 65_536
        assert all(low == high for low, high in map(recipe.views.k_range, recipe.required_views))


def test_preset_for_large_graphs_has_no_chunks_for_an_encoder_that_needs_all_nodes():
    assert FTGCL.from_preset("large").recipe().chunk_size is not None
    assert FTGCL.from_preset("large", encoder="gat").recipe().chunk_size is None
    with pytest.raises(ParameterError, match="chunk_size needs an encoder that works on the features of single nodes"):
        FTGCL.from_preset("large", encoder="gat", overrides={"chunk_size": 100})
