"""The disk space of a training run by a recipe: checkpoints, propagated features, rankings of views."""

from __future__ import annotations

import torch

from graphprox.forecast.disk import DiskUses
from graphprox.forecast.work import FLOAT
from graphprox.ftgcl.checkpoint import NUM_KEPT
from graphprox.ftgcl.model import Model
from graphprox.ftgcl.recipe import Recipe
from graphprox.ftgcl.recipe_tables import AugmentationOptions
from graphprox.ftgcl.row_sources import NO_HOPS
from graphprox.ftgcl.source_names import GRAPH, split_source
from graphprox.ftgcl.training_costs import choose_chunk_size
from graphprox.graph.graph import Graph
from graphprox.nn.encoders.base import ENCODERS

MODEL, WORK, RANKINGS = "the model and its checkpoints", "propagated features", "rankings of views"
STATES = 3  # of a weight in a checkpoint: itself, and two moments
RANKED = 8  # bytes of a neighbor and its similarity


def training_disk_use(graph: Graph, recipe: Recipe, *, checkpoint_every: int, cache: bool) -> DiskUses:
    """Return how many bytes files take at the same time, at most.

    Parameters
    ----------
    graph : Graph
    recipe : Recipe
    checkpoint_every : int
        Number of epochs between checkpoints.
    cache : bool
        Whether rankings are cached.

    Returns
    -------
    mapping of str to mapping
        Bytes of the model, of propagated features, and of rankings.
    """
    model = make_empty_model(graph, recipe)
    weights = FLOAT * sum(tensor.numel() for tensor in model.state_dict().values())
    # The last two, and one that is being written.
    checkpoints = min(NUM_KEPT + 1, -(-recipe.epochs // checkpoint_every))
    views = recipe.required_views if recipe.epochs else ()
    ranked = sum(recipe.views.k_range(view)[1] for view in views)
    return {
        "model": {
            MODEL: weights * (1 + STATES * checkpoints),
            WORK: _propagated(graph, recipe, model.in_channels),
        },
        "cache": {RANKINGS: RANKED * graph.num_nodes * ranked * cache},
    }


def make_empty_model(graph: Graph, recipe: Recipe) -> Model:
    """Return a model for a graph whose weights take no memory."""
    with torch.device("meta"):
        return Model(recipe, num_features=graph.num_features, weighted=graph.edge_weight is not None)


def _propagated(graph: Graph, recipe: Recipe, in_channels: int) -> int:
    """Return the bytes of the tables of a training in chunks, one for each source with each k and sample."""
    diffusion = ENCODERS.lookup(recipe.encoder.name).feature_diffusion(recipe.encoder)
    if choose_chunk_size(graph, recipe) is None or diffusion in (None, NO_HOPS):
        return 0
    choices = {GRAPH: 1}  # of which the embedding is made
    for source in (each for pair in recipe.pairs for each in pair):
        base, name = split_source(source)
        augmentation = AugmentationOptions() if name is None else recipe.augmentations[name]
        low, high = recipe.views.k_range(base) if base in recipe.required_views else (0, 0)
        is_sampled = augmentation.drop_edges > 0
        choices[source if is_sampled else base] = (high - low + 1) * (augmentation.edge_samples or 1)
    tables = sum(each * (1 - (1 - 1 / each) ** recipe.epochs) for each in choices.values())
    return int(FLOAT * graph.num_nodes * (in_channels + 1) * max(tables, 1))
