"""What the tests of training share: a small graph, recipes that train fast, and what a training comes to in bytes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import pytest
from safetensors.torch import save

import graphprox
from graphprox.training.fitting import ranked_views
from graphprox.training.recipe import Recipe
from graphprox.training.trainer import train


@pytest.fixture(scope="session")
def graph():
    return graphprox.synthetic(nodes=140)


SMALL = Recipe(
    steps=10,
    encoder={"width": 8, "hidden": 6},
    head={"width": 8},
    views={"k_max": 4},
    topology={"walks": 3, "length": 4, "landmarks": 20},
)
CORRUPTED = SMALL.merged(
    {
        "turns": [["graph+light", "feature"], ["topology+heavy", "graph+light"], ["graph", "feature"]],
        "schedule": "sum",
        "encoder": {"kind": "sage", "residual": True, "jumping": "concat"},
        "objective": {"contrast": "node", "intra_view": True},
        "corruptions": {"light": {"drop_edges": 0.2, "mask_features": 0.1}, "heavy": {"drop_edges": 0.5}},
    }
)


@pytest.fixture(scope="session")
def small():
    """FT-GCL, but for its size."""
    return SMALL


@pytest.fixture(scope="session")
def corrupted():
    """All that FT-GCL does not use: corruptions, the sum of turns, the contrast of nodes."""
    return CORRUPTED


@pytest.fixture(scope="session", params=[SMALL, CORRUPTED], ids=["ft-gcl", "corrupted"])
def recipe(request):
    return request.param


@pytest.fixture(scope="session")
def rankings(graph):
    """The rankings of all three views of the graph."""
    all_three = SMALL.merged({"turns": [["feature", "topology"], ["graph", "neighbourhood"]]})
    return ranked_views(graph, all_three, cache=False)


@dataclass(frozen=True)
class Outcome:
    """What a training comes to; equal outcomes are equal byte by byte."""

    weights: bytes
    embedding: bytes
    losses: tuple[float, ...]

    @classmethod
    def of(cls, model, losses, graph):
        return cls(save(model.state_dict()), model.embed(graph).tobytes(), tuple(losses))


@pytest.fixture(scope="session")
def outcome(graph, rankings):
    """Train on the graph and tell the outcome."""

    def outcome(recipe, **options):
        return Outcome.of(*train(graph, rankings, recipe, **options), graph)

    return outcome


@pytest.fixture(scope="session")
def undisturbed(outcome):
    """The outcome of a training that nothing happened to."""
    return cache(outcome)
