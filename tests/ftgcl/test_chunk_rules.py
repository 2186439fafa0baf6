from __future__ import annotations

import pytest

from graphprox.ftgcl.chunk_rules import obstacle_to_chunks
from graphprox.ftgcl.recipe import Recipe

LINEAR = {"name": "diffusion", "num_layers": 1, "activation": "none"}


@pytest.mark.parametrize("encoder", [LINEAR, {**LINEAR, "num_layers": 3}, {"name": "mlp"}])
def test_encoders_of_rows_have_no_obstacle(encoder):
    assert obstacle_to_chunks(Recipe(encoder=encoder)) is None


@pytest.mark.parametrize(
    "encoder",
    [
        {"name": "gcn"},
        {"name": "gat"},
        {"name": "sage"},
        {"name": "gin"},
        {"name": "diffusion", "activation": "relu"},
        {**LINEAR, "num_layers": 2, "jumping": "max"},
    ],
)
def test_encoders_that_need_edges_between_layers_are_an_obstacle(encoder):
    assert obstacle_to_chunks(Recipe(encoder=encoder)).startswith("an encoder that works on the features of single")


def test_edges_that_each_epoch_drops_are_an_obstacle_and_samples_are_not():
    pairs = [["graph+light", "feature"]]
    every_epoch = Recipe(encoder=LINEAR, pairs=pairs, augmentations={"light": {"drop_edges": 0.4}})
    assert obstacle_to_chunks(every_epoch) == (
        "dropped edges that are sampled before training; got augmentations.light.drop_edges = 0.4 without samples: set "
        "augmentations.light.edge_samples, such as to 4"
    )
    sampled = every_epoch.merged({"augmentations": {"light": {"edge_samples": 4}}})
    assert obstacle_to_chunks(sampled) is None


def test_contrast_of_nodes_is_an_obstacle():
    obstacle = obstacle_to_chunks(Recipe(encoder=LINEAR, objective={"name": "node"}))
    assert obstacle.startswith("an objective that is a function of sums over nodes; got objective.name = 'node'")
