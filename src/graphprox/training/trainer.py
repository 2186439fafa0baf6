"""The loop: draw a view, encode both, contrast them, take a step. Algorithm 2 of the paper."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.optim import Adam

from graphprox.checksum import graph_checksum
from graphprox.errors import ParameterError, TrainingError
from graphprox.graph import Graph
from graphprox.io.files import writable_folder
from graphprox.memory import pages_kept
from graphprox.nn.objectives import OBJECTIVES
from graphprox.proximity.ranking import Ranking
from graphprox.training.checkpoint import Checkpoint, Checkpoints
from graphprox.training.interruption import Interrupted, Requests, stop_requests
from graphprox.training.model import Model
from graphprox.training.parts import Objective
from graphprox.training.recipe import GRAPH, Recipe, parts_of_source
from graphprox.training.sources import Sources

STEPS_STREAM = 1  # of random numbers: steps draw from (seed, this, their number), so that any can be made again


@dataclass(frozen=True)
class Step:
    """What one step was: its number from 1, what it contrasted, the k of each view, the loss, how long it took."""

    step: int
    turns: tuple[tuple[str, str], ...]
    k: dict[str, int]
    loss: float
    seconds: float


class Trainer:
    """A model, its optimizer, and the step that both take together."""

    def __init__(self, graph: Graph, rankings: Mapping[str, Ranking], recipe: Recipe, *, device: torch.device) -> None:
        weighted = graph.edge_weight is not None
        self.recipe = recipe
        self.model = Model(recipe, features=graph.num_features, weighted=weighted).to(device)
        self.sources = Sources(graph, rankings, self.model)
        self.optimizer = Adam(
            self.model.parameters(),
            lr=recipe.optimizer.learning_rate,
            weight_decay=recipe.optimizer.weight_decay,
            fused=device.type in ("cpu", "cuda"),
        )
        self.losses: list[float] = []

    def step(self) -> Step:
        """Take the next step."""
        began = time.perf_counter()
        number = len(self.losses)
        rng = np.random.default_rng([self.recipe.seed, STEPS_STREAM, number])
        turns, position = self._turns(number), rng.random()
        loss = self._loss(turns, position, rng)
        value = float(loss.detach())
        if not math.isfinite(value):
            raise TrainingError(self._astray(number + 1, turns, value))
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        self.losses.append(value)
        k = {view: self.sources.k_of(view, position) for view in _views(turns)}
        return Step(number + 1, turns, k, value, time.perf_counter() - began)

    def _turns(self, number: int) -> tuple[tuple[str, str], ...]:
        turns = self.recipe.turns
        return turns if self.recipe.schedule == "sum" else (turns[number % len(turns)],)

    def _loss(self, turns: tuple[tuple[str, str], ...], position: float, rng: np.random.Generator) -> Tensor:
        sources, encoded = self.sources, dict[str, Tensor]()
        shared = self.model.encoder.project(sources.features) if sources.share_projection(turns) else None

        def side(source: str) -> Tensor:
            # A corrupted source is drawn anew each time; a plain one is the same all through the step.
            if source not in encoded or "+" in source:
                encoded[source] = sources.encode(source, position, shared, rng)
            return encoded[source]

        return torch.stack([contrast(side(a), side(b), self.recipe.objective) for a, b in turns]).sum()

    def _astray(self, number: int, turns: tuple[tuple[str, str], ...], value: float) -> str:
        against = " and ".join(f"{a} against {b}" for a, b in turns)
        return (
            f"the loss must stay finite; it became {value} at step {number} ({against}): lower "
            f"optimizer.learning_rate (now {self.recipe.optimizer.learning_rate:g}) or raise objective.temperature "
            f"(now {self.recipe.objective.temperature:g})"
        )

    # -- what a checkpoint holds ------------------------------------------------------------------------------------

    def state(self) -> Checkpoint:
        """All that the next step depends on."""
        tensors = {f"model.{name}": tensor for name, tensor in self.model.state_dict().items()}
        for name, parameter in self.model.named_parameters():
            for key, moment in self.optimizer.state[parameter].items():
                tensors[f"{key}.{name}"] = moment
        return Checkpoint(len(self.losses), tensors, self.losses)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go back, or forward, to a state."""
        weights = {name.removeprefix("model."): tensor for name, tensor in checkpoint.tensors.items()}
        self.model.load_state_dict({name: weights[name] for name in self.model.state_dict()})
        for name, parameter in self.model.named_parameters():
            for key in ("step", "exp_avg", "exp_avg_sq"):
                if f"{key}.{name}" in checkpoint.tensors:
                    moment = checkpoint.tensors[f"{key}.{name}"]
                    self.optimizer.state[parameter][key] = moment.to(parameter.device)
        self.losses = list(checkpoint.losses)


def contrast(a: Tensor, b: Tensor, objective: Objective) -> Tensor:
    """The loss that a recipe names, of two outputs (nodes, channels)."""
    options = objective.model_dump(exclude={"contrast"})
    if objective.contrast == "channel":  # which has one kind of negatives only
        del options["intra_view"]
    return OBJECTIVES[objective.contrast](a, b, **options)


def _views(turns: tuple[tuple[str, str], ...]) -> list[str]:
    bases = [parts_of_source(source)[0] for turn in turns for source in turn]
    return [base for base in dict.fromkeys(bases) if base != GRAPH]


# -- the loop ------------------------------------------------------------------------------------------------------


def train(
    graph: Graph,
    rankings: Mapping[str, Ranking],
    recipe: Recipe,
    *,
    device: torch.device | None = None,
    checkpoints: Path | None = None,
    every: int = 20,
    resume: bool = False,
    on_step: Callable[[Step], None] | None = None,
) -> tuple[Model, list[float]]:
    """Train a model by a recipe; returns it and the loss of each step.

    With a folder for ``checkpoints`` one is written there after ``every`` so many steps, at the end, and when Ctrl-C or
    SIGTERM asks to stop; ``resume`` goes on from the newest, to the same bytes as if nothing had happened. ``on_step``
    is called after each step. Labels play no part.
    """
    _check_keeping(checkpoints, every=every, resume=resume)
    graph = graph.without_labels()
    trainer = Trainer(graph, rankings, recipe, device=device or torch.device("cpu"))
    kept = None if checkpoints is None else Checkpoints(checkpoints, recipe, graph_checksum(graph))
    if kept is not None:
        _begin(trainer, kept, resume=resume)
    with pages_kept(), _stoppable(kept) as requests:
        while len(trainer.losses) < recipe.steps:
            taken = trainer.step()
            if on_step is not None:
                on_step(taken)
            done = taken.step == recipe.steps
            if kept is not None and (done or taken.step % every == 0 or requests.signal):
                kept.save(trainer.state())
                if requests.signal and not done:  # only where the step is kept: a signal may come at any moment
                    raise Interrupted(
                        f"stopped after step {taken.step} of {recipe.steps}: --resume goes on from there",
                        code=128 + requests.signal,
                    )
    return trainer.model, trainer.losses


def _check_keeping(checkpoints: Path | None, *, every: int, resume: bool) -> None:
    if every < 1:
        raise ParameterError(f"checkpoint_every must be a whole number of 1 or more; got {every}")
    if resume and checkpoints is None:
        raise ParameterError("resume needs a folder whose checkpoints it can go on from; got none")


def _begin(trainer: Trainer, kept: Checkpoints, *, resume: bool) -> None:
    writable_folder(kept.folder)
    if not resume:
        kept.clear()
        return
    kept.tidy()
    if (checkpoint := kept.newest()) is not None:
        if checkpoint.step > trainer.recipe.steps:
            raise ParameterError(
                f"steps must be {checkpoint.step} or more to go on with what is in {kept.folder}; "
                f"got {trainer.recipe.steps}: leave out --resume to begin anew"
            )
        trainer.restore(checkpoint)


def _stoppable(kept: Checkpoints | None) -> AbstractContextManager[Requests]:
    """Requests to stop are only waited for where something can be kept."""
    return nullcontext(Requests()) if kept is None else stop_requests()
