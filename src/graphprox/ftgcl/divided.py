"""Training and embedding of a graph whose nodes are divided among several processes, for encoders that use edges."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from graphprox._utils.arrays import FloatArray
from graphprox._utils.outcome import raise_if_diverged
from graphprox._utils.team import row_keepers
from graphprox._utils.toml import leaves, to_plain
from graphprox.distributed.agreement import check_agreement
from graphprox.distributed.processes import Processes
from graphprox.errors import ParameterError
from graphprox.ftgcl.model import Model
from graphprox.ftgcl.recipe import Recipe
from graphprox.ftgcl.sources import Sources
from graphprox.ftgcl.trainer import FullBatch, Trainer
from graphprox.graph.checksum import graph_checksum
from graphprox.graph.graph import Graph
from graphprox.nn.encoders.base import ENCODERS
from graphprox.nn.objectives.base import OBJECTIVES
from graphprox.views.ranking import Ranking


class Divided(FullBatch):
    """How nodes are encoded: each process its own, all of them in one step.

    Parameters
    ----------
    processes : Processes
    """

    def __init__(self, processes: Processes) -> None:
        self.processes = processes

    def make_trainer(
        self, graph: Graph, rankings: Mapping[str, Ranking], recipe: Recipe, *, device: torch.device
    ) -> Trainer:
        """Return the trainer of a graph without labels."""
        return Trainer(graph, rankings, recipe, device=device, processes=self.processes)

    @torch.no_grad()
    def embed(self, model: Model, graph: Graph) -> FloatArray:
        """Return the vectors of all nodes, or those of this process inside of ``keep_own_rows``."""
        own = Sources(graph, {}, model, self.processes).embed_graph().cpu()
        remedy = f"lower learning_rate (now {model.recipe.optimizer.learning_rate:g})"
        vectors: FloatArray = raise_if_diverged(own.numpy(), remedy)
        return vectors if row_keepers().size > 1 else self.processes.gather_rows(own, graph.num_nodes).numpy()


def check_division(processes: Processes, graph: Graph, recipe: Recipe) -> None:
    """Raise unless several processes can train by a recipe, and have the same one and the same graph.

    Parameters
    ----------
    processes : Processes
    graph : Graph
    recipe : Recipe

    Raises
    ------
    ParameterError
    """
    objective, encoder = recipe.objective.name, recipe.encoder.name
    if recipe.epochs and OBJECTIVES.lookup(objective).sums is None:
        raise ParameterError(
            f"several processes need an objective that is a function of sums over nodes, such as channel; got "
            f"{objective}: set objective.name to another one, or start one process"
        )
    if not ENCODERS.lookup(encoder).completes_rows:
        raise ParameterError(
            f"several processes need an encoder that states completes_rows; got {encoder}: choose another one, or "
            "start one process"
        )
    check_agreement(processes, dict(leaves(to_plain(recipe))), graph_checksum(graph))
