"""A small graph, recipes that train fast, and the result of a training run as bytes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import pytest
from safetensors.torch import save

import graphprox
from graphprox.ftgcl.fit import rank_views
from graphprox.ftgcl.recipe import Recipe
from graphprox.ftgcl.trainer import train


@pytest.fixture(scope="session")
def graph():
    return graphprox.synthetic(nodes=140)


SMALL = Recipe(
    epochs=10,
    encoder={"name": "gat", "n_components": 8, "hidden_channels": 6},
    head={"num_layers": 2, "out_channels": 8},
    views={"k_max": 4, "topology": {"num_walks": 3, "walk_length": 4, "num_landmarks": 20}},
)
AUGMENTED = SMALL.merged(
    {
        "pairs": [["graph+light", "feature"], ["topology+heavy", "graph+light"], ["graph", "feature"]],
        "schedule": "sum",
        "encoder": {"name": "sage", "residual": True, "jumping": "concat"},
        "objective": {"name": "node", "intra_view": True},
        "augmentations": {"light": {"drop_edges": 0.2, "mask_features": 0.1}, "heavy": {"drop_edges": 0.5}},
    }
)


@pytest.fixture(scope="session")
def small():
    """A small recipe of FT-GCL with attention and a head."""
    return SMALL


@pytest.fixture(scope="session")
def augmented_recipe():
    """A recipe of what FT-GCL does not use: augmentations, the sum of pairs, the contrast of nodes."""
    return AUGMENTED


@pytest.fixture(scope="session", params=[SMALL, AUGMENTED], ids=["ft-gcl", "augmented"])
def recipe(request):
    return request.param


@pytest.fixture(scope="session")
def rankings(graph):
    """Rankings of three views of the graph."""
    three_views = SMALL.merged({"pairs": [["feature", "topology"], ["graph", "neighborhood"]]})
    return rank_views(graph, three_views, cache=False)


@dataclass(frozen=True)
class Trained:
    """The result of a training run, for comparison byte by byte."""

    weights: bytes
    vectors: bytes
    losses: tuple[float, ...]

    @classmethod
    def of(cls, model, losses, graph):
        return cls(save(model.state_dict()), model.embed(graph).tobytes(), tuple(losses))


@pytest.fixture(scope="session")
def run(graph, rankings):
    """Train on the graph."""

    def run(recipe, **options):
        return Trained.of(*train(graph, rankings, recipe, **options), graph)

    return run


@pytest.fixture(scope="session")
def uninterrupted(run):
    """The result of a training run without checkpoints and interruptions."""
    return cache(run)
