"""Checkpoints: all that it takes to go on with a training, on disk, whole and checked.

A checkpoint is two files, ``step-N.safetensors`` with weights, moments and losses, and ``step-N.json`` with its
checksum and what it belongs to, under a seal. The last two are kept. Randomness needs no place in it: each step draws
from the seed and its own number.
"""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_safetensors
from safetensors.torch import save as save_safetensors
from torch import Tensor

from graphprox.errors import DamagedCheckpointWarning, ParameterError, ReadError, WriteError
from graphprox.io.files import reason, written_whole
from graphprox.training.recipe import Recipe

FORMAT = 1
KEPT = 2


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """The state after some steps: tensors by name, and the loss of each step."""

    step: int
    tensors: dict[str, Tensor]
    losses: list[float]


@dataclass(frozen=True)
class Checkpoints:
    """The checkpoints of one training: of one recipe, but for its number of steps, and of one graph."""

    folder: Path
    recipe: Recipe
    graph: str  # its checksum

    def save(self, checkpoint: Checkpoint) -> None:
        """Write a checkpoint, whole or not at all, and drop those that are no longer needed."""
        losses = torch.tensor(checkpoint.losses, dtype=torch.float64)
        content = save_safetensors({**checkpoint.tensors, "losses": losses})
        about = {
            "format": FORMAT,
            "step": checkpoint.step,
            "sha256": hashlib.sha256(content).hexdigest(),
            "graph": self.graph,
            "recipe": self.recipe.to_toml(),
        }
        path = self._path(checkpoint.step)
        with written_whole(path, path.with_suffix(".json")) as (tensors, described):
            tensors.write_bytes(content)
            described.write_text(sealed(about))
        # Those of later steps are damaged, or this would not be the newest.
        drop_checkpoints(self.folder, keep=[step for step in self._steps() if step <= checkpoint.step][:KEPT])

    def newest(self) -> Checkpoint | None:
        """The newest checkpoint that is whole; a warning names each that is not. None where there is none."""
        for step in self._steps():
            path = self._path(step)
            try:
                return self._read(path)
            except ReadError as error:
                warnings.warn(f"{error}: an older checkpoint is looked for", DamagedCheckpointWarning, stacklevel=2)
        return None

    def tidy(self) -> None:
        """Remove what a killed process left half-written."""
        drop_checkpoints(self.folder, keep=self._steps())

    def clear(self) -> None:
        """Remove all checkpoints: those of an earlier training, or of one that is done."""
        drop_checkpoints(self.folder)

    def _read(self, path: Path) -> Checkpoint:
        about = described(path.with_suffix(".json"), FORMAT)
        tensors = verified(path, about["sha256"])
        self._check_belongs(path, about)
        losses = tensors.pop("losses").tolist()
        return Checkpoint(about["step"], tensors, losses)

    def _check_belongs(self, path: Path, about: dict[str, Any]) -> None:
        """To go on with other settings, or on another graph, would be neither the one training nor the other."""
        if about["graph"] != self.graph:
            raise ParameterError(f"{path} is of another graph: give the same one, or leave out --resume to begin anew")
        theirs = Recipe.from_toml(about["recipe"], path.with_suffix(".json"))
        differing = [name for name in theirs.differences(self.recipe) if name != "steps"]
        if differing:
            raise ParameterError(
                f"{path} was trained by another recipe, which differs in {', '.join(differing)}: "
                "give the same settings, or leave out --resume to begin anew"
            )

    def _path(self, step: int) -> Path:
        return self.folder / f"{_name(step)}.safetensors"

    def _steps(self) -> list[int]:
        """The steps of which there is a checkpoint, the newest first."""
        found = [re.fullmatch(r"step-(\d+)\.json", path.name) for path in self.folder.glob("step-*.json")]
        return sorted((int(match[1]) for match in found if match), reverse=True)


def drop_checkpoints(folder: Path, *, keep: Collection[int] = ()) -> None:
    """Remove the checkpoints of all steps but some, and what a killed process was about to write."""
    kept = {f"{_name(step)}{ending}" for step in keep for ending in (".safetensors", ".json")}
    for path in [*folder.glob("step-*"), *folder.glob(".step-*.part")]:
        if path.name not in kept:
            _remove(path)


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise WriteError(f"{path} cannot be removed: {reason(error)}") from None


def _name(step: int) -> str:
    return f"step-{step:08d}"


# -- files whose damage is seen ------------------------------------------------------------------------------------


def sealed(about: Mapping[str, Any]) -> str:
    """A description as JSON with a checksum of itself."""
    return json.dumps({**about, "seal": _seal(about)}, indent=2) + "\n"


def described(path: Path, version: int) -> dict[str, Any]:
    """The description that `sealed` made, of a known version."""
    try:
        about: dict[str, Any] = json.loads(path.read_text())
        if about["format"] != version:
            raise ValueError(f"it has format {about['format']}, and this version knows {version}")
        if about.pop("seal") != _seal(about):
            raise ValueError("its content does not have the checksum that is its seal")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ReadError(f"{path} is damaged: {reason(error)}") from None
    return about


def _seal(about: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()


def unchanged(path: Path, checksum: str) -> bytes:
    """The content of a file, which must have the checksum."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ReadError(f"{path} is damaged: {reason(error)}") from None
    if hashlib.sha256(content).hexdigest() != checksum:
        raise ReadError(f"{path} is damaged: its content does not have the checksum that was noted beside it")
    return content


def verified(path: Path, checksum: str) -> dict[str, Tensor]:
    """The tensors of a file whose content has the checksum."""
    content = unchanged(path, checksum)
    try:
        # Copies, as what is read may lie at any address, and sums of aligned arrays round in their own way.
        return {name: tensor.clone() for name, tensor in load_safetensors(content).items()}
    except SafetensorError as error:
        raise ReadError(f"{path} is damaged: {reason(error)}") from None
