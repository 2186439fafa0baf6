"""Checkpoints: everything needed to resume a training run, on disk, verified by checksums.

A checkpoint consists of two files: ``epoch-N.safetensors`` with weights, moments and losses, and ``epoch-N.json`` with
its checksum, recipe and graph. The last two are kept. No random state is saved: the random numbers of an epoch depend
only on the random seed and the number of the epoch.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save as save_safetensors
from torch import Tensor

from graphprox._utils.stacklevel import warn
from graphprox.errors import DamagedCheckpointWarning, ParameterError, ReadError, WriteError
from graphprox.ftgcl.recipe import Recipe
from graphprox.io.storage.files import atomic_write, reason
from graphprox.io.storage.model_files import checkpoint_epochs, checkpoint_files
from graphprox.io.storage.verified import checksum, dump_with_checksum, load_verified_tensors, read_with_checksum

FORMAT = 2
NUM_KEPT = 2
START_AGAIN = "set overwrite=True in place of resume=True to start again"


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """State of a training run after some epochs.

    Attributes
    ----------
    epoch : int
        Number of epochs trained.
    tensors : dict of str to Tensor
        Weights and moments of the optimizer.
    losses : list of float
        Loss of each epoch.
    """

    epoch: int
    tensors: dict[str, Tensor]
    losses: list[float]


@dataclass(frozen=True)
class Checkpoints:
    """The checkpoints of one training run: of one graph, and of one recipe except for its number of epochs.

    Attributes
    ----------
    folder : Path
    recipe : Recipe
    graph : str
        Checksum of the graph.
    """

    folder: Path
    recipe: Recipe
    graph: str

    def save(self, checkpoint: Checkpoint) -> None:
        """Write a checkpoint atomically, and remove those that are no longer needed."""
        losses = torch.tensor(checkpoint.losses, dtype=torch.float64)
        content = save_safetensors({**checkpoint.tensors, "losses": losses})
        about = {
            "format": FORMAT,
            "epoch": checkpoint.epoch,
            "sha256": checksum(content),
            "graph": self.graph,
            "recipe": self.recipe.to_toml(),
        }
        path = self._path(checkpoint.epoch)
        with atomic_write(path, path.with_suffix(".json")) as (tensors, description):
            tensors.write_bytes(content)
            description.write_text(dump_with_checksum(about))
        # Checkpoints of later epochs are damaged, or this one would not be the newest.
        remove_checkpoints(
            self.folder, keep=[epoch for epoch in self._epochs() if epoch <= checkpoint.epoch][:NUM_KEPT]
        )

    def newest(self, shapes: Mapping[str, torch.Size] | None = None) -> Checkpoint | None:
        """Return the newest intact checkpoint, or None; a warning names each damaged one.

        Parameters
        ----------
        shapes : mapping of str to torch.Size, optional
            Shapes of the weights, which moments of the optimizer have as well.
        """
        for epoch in self._epochs():
            path = self._path(epoch)
            try:
                return self._read(path, epoch, shapes or {})
            except ReadError as error:
                warn(f"{error}: trying an older checkpoint", DamagedCheckpointWarning)
        return None

    def remove_partial(self) -> None:
        """Remove files that a killed process left behind."""
        remove_checkpoints(self.folder, keep=self._epochs())

    def clear(self) -> None:
        """Remove all checkpoints."""
        remove_checkpoints(self.folder)

    def _read(self, path: Path, epoch: int, shapes: Mapping[str, torch.Size]) -> Checkpoint:
        about = read_with_checksum(path.with_suffix(".json"), FORMAT)
        texts = [about.get(name) for name in ("sha256", "graph", "recipe")]
        if about.get("epoch") != epoch or not all(isinstance(text, str) for text in texts):
            raise ReadError(f"{path.with_suffix('.json')} is damaged: a field is missing, or has a wrong type")
        tensors = load_verified_tensors(path, about["sha256"])
        self._check_same_training(path, about)
        if not _are_tensors_of(epoch, tensors, shapes):
            raise ReadError(f"{path} is damaged: its tensors are not those of the recipe")
        losses = tensors.pop("losses").tolist()
        return Checkpoint(epoch, tensors, losses)

    def _check_same_training(self, path: Path, about: dict[str, Any]) -> None:
        if about["graph"] != self.graph:
            raise ParameterError(
                f"training must be resumed on the same graph; {path} is of another one: pass that graph, or "
                f"{START_AGAIN}"
            )
        theirs = Recipe.from_toml(about["recipe"], path.with_suffix(".json"))
        differing = [name for name in theirs.differences(self.recipe) if name != "epochs"]
        if differing:
            raise ParameterError(
                f"training must be resumed with the same settings; {path} differs in {', '.join(differing)}: "
                f"pass those settings, or {START_AGAIN}"
            )

    def _path(self, epoch: int) -> Path:
        return self.folder / f"{_name(epoch)}.safetensors"

    def _epochs(self) -> list[int]:
        return checkpoint_epochs(self.folder)


def _are_tensors_of(epoch: int, tensors: Mapping[str, Tensor], shapes: Mapping[str, torch.Size]) -> bool:
    """Return whether tensors are the losses, weights and moments after some epochs."""
    losses = tensors.get("losses")
    if losses is None or losses.shape != (epoch,) or not losses.is_floating_point():
        return False
    expected = {f"model.{name}": shape for name, shape in shapes.items()}
    for name, shape in shapes.items():
        moments = {f"step.{name}": torch.Size(), f"exp_avg.{name}": shape, f"exp_avg_sq.{name}": shape}
        if any(key in tensors for key in moments):  # a weight without a gradient has none
            expected |= moments
            if f"step.{name}" not in tensors or (tensors[f"step.{name}"] != epoch).any():
                return False
    return all(
        name in tensors and tensors[name].shape == shape and tensors[name].dtype == torch.float32
        for name, shape in expected.items()
    )


def remove_checkpoints(folder: Path, *, keep: Collection[int] = ()) -> None:
    """Remove all checkpoints but those of some epochs, and partial files of a killed process."""
    kept = {f"{_name(epoch)}{ending}" for epoch in keep for ending in (".safetensors", ".json")}
    for path in checkpoint_files(folder):
        if path.name not in kept:
            _remove(path)


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise WriteError(f"{path} cannot be removed: {reason(error)}") from None


def _name(epoch: int) -> str:
    return f"epoch-{epoch:08d}"
