"""The training loop, Algorithm 2 of the paper: sample k, encode two sources, contrast them, take a step."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.optim import Adam

from graphprox._utils.arrays import FloatArray
from graphprox._utils.memory import keep_freed_memory
from graphprox.distributed.collectives import all_reduce_sum
from graphprox.distributed.processes import Processes
from graphprox.errors import ParameterError, TrainingError
from graphprox.ftgcl.checkpoint import START_AGAIN, Checkpoint, Checkpoints
from graphprox.ftgcl.interruption import Interrupted, StopSignal, catch_stop_signals
from graphprox.ftgcl.model import Model
from graphprox.ftgcl.recipe import Recipe
from graphprox.ftgcl.source_names import GRAPH, split_source
from graphprox.ftgcl.sources import Sources
from graphprox.graph.checksum import graph_checksum
from graphprox.graph.graph import Graph
from graphprox.io.storage.files import make_writable_folder
from graphprox.nn.objectives.base import OBJECTIVES
from graphprox.views.ranking import Ranking

MOMENTS = ("step", "exp_avg", "exp_avg_sq")  # of Adam, for each parameter
EPOCH_STREAM = 1  # epoch n is seeded by (random_state, this, n), so that every epoch can be reproduced on its own


@dataclass(frozen=True)
class EpochLog:
    """Log of one epoch.

    Attributes
    ----------
    epoch : int
        Number of the epoch, from 1.
    pairs : tuple of pairs of str
        Sources that were contrasted.
    k : dict
        Number of neighbors in each view.
    loss : float
    seconds : float
    """

    epoch: int
    pairs: tuple[tuple[str, str], ...]
    k: dict[str, int]
    loss: float
    seconds: float


Callback = Callable[[EpochLog], None]


class Trainer:
    """A model, its optimizer, and the step of an epoch.

    Parameters
    ----------
    graph : Graph
        Graph without labels.
    rankings : mapping of str to Ranking
        Rankings of the views that the recipe needs.
    recipe : Recipe
    device : torch.device
    processes : Processes, optional
        The processes among which the nodes are divided; each has the same model.

    Attributes
    ----------
    model : Model
    losses : list of float
        Loss of each epoch so far.
    """

    def __init__(
        self,
        graph: Graph,
        rankings: Mapping[str, Ranking],
        recipe: Recipe,
        *,
        device: torch.device,
        processes: Processes | None = None,
    ) -> None:
        weighted = graph.edge_weight is not None
        self.recipe = recipe
        self.model = Model(recipe, num_features=graph.num_features, weighted=weighted).to(device)
        self.model.find_directions(graph)
        self.sources = Sources(graph, rankings, self.model, processes)
        self.processes = processes
        self.optimizer = Adam(
            self.model.parameters(),
            lr=recipe.optimizer.learning_rate,
            weight_decay=recipe.optimizer.weight_decay,
            fused=device.type in ("cpu", "cuda"),
        )
        self.objective = OBJECTIVES.lookup(recipe.objective.name)
        self.losses: list[float] = []

    def step(self) -> EpochLog:
        """Train for one epoch, which is one full-batch step.

        Returns
        -------
        EpochLog

        Raises
        ------
        TrainingError
            If the loss is not finite.
        """
        start = time.perf_counter()
        number = len(self.losses)
        rng = np.random.default_rng([self.recipe.random_state, EPOCH_STREAM, number])
        pairs, position = self._pairs(number), rng.random()
        self.optimizer.zero_grad()
        value = self._compute_gradient(pairs, position, rng)
        if not math.isfinite(value):
            raise TrainingError(self._describe_divergence(number + 1, pairs, value))
        self.optimizer.step()
        self.losses.append(value)
        k = {view: self.sources.k_of(view, position) for view in _views(pairs)}
        return EpochLog(number + 1, pairs, k, value, time.perf_counter() - start)

    def _compute_gradient(self, pairs: tuple[tuple[str, str], ...], position: float, rng: np.random.Generator) -> float:
        """Compute the gradient of the weights, and return the loss."""
        loss = self._loss(pairs, position, rng)
        value = float(loss.detach())
        if math.isfinite(value):
            loss.backward()  # type: ignore[no-untyped-call]
            if self.processes is not None:
                self.processes.sum_gradients(self.model.parameters())
        return value

    def _pairs(self, number: int) -> tuple[tuple[str, str], ...]:
        pairs = self.recipe.pairs
        return pairs if self.recipe.schedule == "sum" else (pairs[number % len(pairs)],)

    def _loss(self, pairs: tuple[tuple[str, str], ...], position: float, rng: np.random.Generator) -> Tensor:
        sources, encoded = self.sources, dict[str, Tensor]()
        shared = self.model.encoder.project(sources.features) if sources.share_projection(pairs, position) else None

        def encode(source: str) -> Tensor:
            # An augmented source is sampled again each time; a plain one is the same throughout the epoch.
            if source not in encoded or "+" in source:
                encoded[source] = sources.encode(source, position, shared, rng)
            return encoded[source]

        losses = [self._contrast(encode(a), encode(b)) for a, b in pairs]
        return torch.stack(losses).sum()

    def _contrast(self, a: Tensor, b: Tensor) -> Tensor:
        if self.processes is None or self.objective.sums is None:
            return self.objective(a, b, self.recipe.objective)
        sums = all_reduce_sum(self.processes, self.objective.sums.statistics(a, b))
        return self.objective.loss_of(sums, self.recipe.objective)

    def _describe_divergence(self, number: int, pairs: tuple[tuple[str, str], ...], value: float) -> str:
        contrasted = " and ".join(f"{a} against {b}" for a, b in pairs)
        temperature = getattr(self.recipe.objective, "temperature", None)
        remedy = "" if temperature is None else f" or raise temperature (now {temperature:g})"
        return (
            f"training diverged: the loss must be finite; it became {value} in epoch {number} ({contrasted}): lower "
            f"learning_rate (now {self.recipe.optimizer.learning_rate:g}){remedy}"
        )

    # -- checkpoints --------------------------------------------------------------------------------------------------

    def state(self) -> Checkpoint:
        """Return everything that the next epoch depends on."""
        tensors = {f"model.{name}": tensor for name, tensor in self.model.state_dict().items()}
        for name, parameter in self.model.named_parameters():
            for key, moment in self.optimizer.state[parameter].items():
                tensors[f"{key}.{name}"] = moment
        return Checkpoint(len(self.losses), tensors, self.losses)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Continue from a checkpoint."""
        weights = {name.removeprefix("model."): tensor for name, tensor in checkpoint.tensors.items()}
        self.model.load_state_dict({name: weights[name] for name in self.model.state_dict()})
        for name, parameter in self.model.named_parameters():
            for key in MOMENTS:
                if f"{key}.{name}" in checkpoint.tensors:
                    moment = checkpoint.tensors[f"{key}.{name}"]
                    self.optimizer.state[parameter][key] = moment.to(parameter.device)
        self.losses = list(checkpoint.losses)

    def copy_state(self, processes: Processes) -> None:
        """Continue from the state of the first process."""
        named, state = dict(self.model.named_parameters()), self.optimizer.state
        own = {"losses": self.losses, "moments": [name for name, each in named.items() if state[each]]}
        first = json.loads(processes.broadcast_text(json.dumps(own)) or "")
        self.losses = first["losses"]
        for name in first["moments"]:
            parameter = named[name]
            for key in MOMENTS:
                state[parameter].setdefault(
                    key, torch.zeros(()) if key == "step" else torch.zeros_like(parameter, requires_grad=False)
                )
        moments = (state[named[name]][key] for name in first["moments"] for key in MOMENTS)
        processes.broadcast(chain(self.model.state_dict().values(), moments))


def _views(pairs: tuple[tuple[str, str], ...]) -> list[str]:
    bases = [split_source(source)[0] for pair in pairs for source in pair]
    return [base for base in dict.fromkeys(bases) if base != GRAPH]


class FullBatch:
    """How nodes are encoded: all together, in training and when the graph is embedded."""

    def make_trainer(
        self, graph: Graph, rankings: Mapping[str, Ranking], recipe: Recipe, *, device: torch.device
    ) -> Trainer:
        """Return the trainer of a graph without labels."""
        return Trainer(graph, rankings, recipe, device=device)

    def embed(self, model: Model, graph: Graph) -> FloatArray:
        """Return the vectors of a graph, of shape (num_nodes, n_components)."""
        return model.embed(graph)


FULL_BATCH = FullBatch()


# -- the loop -------------------------------------------------------------------------------------------------------


def train(
    graph: Graph,
    rankings: Mapping[str, Ranking],
    recipe: Recipe,
    *,
    device: torch.device | None = None,
    checkpoints: Path | None = None,
    checkpoint_every: int = 20,
    resume: bool = False,
    callbacks: Iterable[Callback] = (),
    batches: FullBatch = FULL_BATCH,
) -> tuple[Model, list[float]]:
    """Train a model; labels are ignored.

    Parameters
    ----------
    graph : Graph
    rankings : mapping of str to Ranking
        Rankings of the views that the recipe needs.
    recipe : Recipe
    device : torch.device, optional
        The CPU by default.
    checkpoints : Path, optional
        Folder for checkpoints. One is written every ``checkpoint_every`` epochs, at the end, and on Ctrl-C or
        SIGTERM.
    checkpoint_every : int, default=20
    resume : bool, default=False
        Whether to continue from the newest checkpoint; the result is bit-identical to an uninterrupted run.
    callbacks : iterable of callable
        Called with an `EpochLog` after each epoch.
    batches : FullBatch
        Whether nodes are encoded all together or in chunks.

    Returns
    -------
    model : Model
    losses : list of float
        Loss of each epoch.
    """
    _check_checkpointing(checkpoints, every=checkpoint_every, resume=resume)
    graph = graph.without_labels()
    trainer = batches.make_trainer(graph, rankings, recipe, device=device or torch.device("cpu"))
    saved = None if checkpoints is None else Checkpoints(checkpoints, recipe, graph_checksum(graph))
    processes = trainer.processes
    is_first = processes is None or processes.is_first
    if saved is not None and is_first:
        _restore(trainer, saved, resume=resume)
    if processes is not None:
        trainer.copy_state(processes)
    callbacks = list(callbacks)
    with keep_freed_memory(), _stop_signals(saved) as signal:
        while len(trainer.losses) < recipe.epochs:
            log = trainer.step()
            for callback in callbacks:
                callback(log)
            is_last = log.epoch == recipe.epochs
            if saved is not None and (is_last or log.epoch % checkpoint_every == 0 or _stopped(signal, processes)):
                if is_first:
                    saved.save(trainer.state())
                # Only after the epoch is saved: a signal may arrive at any time.
                if not is_last and (number := _stopped(signal, processes)):
                    raise Interrupted(
                        f"stopped after epoch {log.epoch} of {recipe.epochs}: set resume=True to continue from there",
                        code=128 + number,
                    )
    return trainer.model, trainer.losses


def train_with_snapshots(
    graph: Graph,
    rankings: Mapping[str, Ranking],
    recipe: Recipe,
    epochs: Iterable[int],
    *,
    device: torch.device | None = None,
    batches: FullBatch = FULL_BATCH,
) -> Iterator[tuple[list[float], FloatArray]]:
    """Train once, and yield the losses so far and the vectors after each given number of epochs.

    Parameters
    ----------
    graph : Graph
    rankings : mapping of str to Ranking
    recipe : Recipe
    epochs : iterable of int
        Numbers of epochs after which to yield, in any order.
    device : torch.device, optional
    batches : FullBatch

    Yields
    ------
    losses : list of float
    vectors : ndarray of shape (num_nodes, n_components)
    """
    graph = graph.without_labels()
    trainer = batches.make_trainer(graph, rankings, recipe, device=device or torch.device("cpu"))
    for number in sorted(epochs):
        with keep_freed_memory():
            while len(trainer.losses) < number:
                trainer.step()
        yield list(trainer.losses), batches.embed(trainer.model, graph)


def _check_checkpointing(checkpoints: Path | None, *, every: int, resume: bool) -> None:
    if every < 1:
        raise ParameterError(f"checkpoint_every must be a positive integer; got {every}")
    if resume and checkpoints is None:
        raise ParameterError("resume needs a folder with checkpoints; got none: set checkpoint_dir")


def _restore(trainer: Trainer, saved: Checkpoints, *, resume: bool) -> None:
    make_writable_folder(saved.folder)
    if not resume:
        saved.clear()
        return
    saved.remove_partial()
    shapes = {name: tensor.shape for name, tensor in trainer.model.state_dict().items()}
    if (checkpoint := saved.newest(shapes)) is not None:
        if checkpoint.epoch > trainer.recipe.epochs:
            raise ParameterError(
                f"epochs must be at least {checkpoint.epoch} to continue the training in {saved.folder}; "
                f"got {trainer.recipe.epochs}: {START_AGAIN}"
            )
        trainer.restore(checkpoint)


def _stop_signals(saved: Checkpoints | None) -> AbstractContextManager[StopSignal]:
    """Wait for the end of an epoch only if it can be saved."""
    return nullcontext(StopSignal()) if saved is None else catch_stop_signals()


def _stopped(signal: StopSignal, processes: Processes | None) -> int:
    """Return the signal that this process has received, or any of several, which stop after the same epoch; or 0."""
    return (signal.number or 0) if processes is None else processes.any_number(signal.number or 0)
