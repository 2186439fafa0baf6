"""A model kept in a folder: how it was made, its weights, its losses, and what it was made from.

    recipe.toml            every setting
    weights.safetensors    encoder and head
    metrics.jsonl          a line per step: turns, k, loss, seconds
    about.json             versions, the graph's checksum and size, the checksums of weights and recipe
    checkpoints/           the last two, to go on from

Nothing in it is ever unpickled.
"""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from pathlib import Path

import torch
from safetensors.torch import save as save_safetensors

import graphprox
from graphprox.checksum import graph_checksum
from graphprox.errors import ReadError, WriteError
from graphprox.graph import Graph
from graphprox.io.files import reason, sweep, writable_folder, written_whole
from graphprox.training.checkpoint import described, drop_checkpoints, sealed, unchanged, verified
from graphprox.training.model import Model
from graphprox.training.recipe import Recipe
from graphprox.training.trainer import Step

RECIPE, WEIGHTS, METRICS, ABOUT, CHECKPOINTS = (
    "recipe.toml",
    "weights.safetensors",
    "metrics.jsonl",
    "about.json",
    "checkpoints",
)
FILES = (RECIPE, WEIGHTS, METRICS, ABOUT)
FORMAT = 1


def prepared(folder: Path) -> Path:
    """The folder, known to be writable, and without what a killed process was about to write."""
    sweep(*(writable_folder(folder) / name for name in FILES))
    return folder


@dataclass(frozen=True)
class Origin:
    """What a model was trained on: the checksum of a graph, and what it was like."""

    graph: str
    nodes: int
    edges: int
    directed: bool

    @classmethod
    def of(cls, graph: Graph) -> Origin:
        """What is told of a graph."""
        return cls(graph_checksum(graph), graph.num_nodes, graph.num_edges, graph.directed)


def save_model(folder: Path, model: Model, origin: Origin) -> None:
    """Write recipe, weights and where they come from; all three or none."""
    writable_folder(folder)
    content = save_safetensors({name: tensor.contiguous() for name, tensor in model.state_dict().items()})
    settings = model.recipe.to_toml().encode()
    about = {
        "format": FORMAT,
        "weights": hashlib.sha256(content).hexdigest(),
        "recipe": hashlib.sha256(settings).hexdigest(),
        "features": model.features,
        "weighted": model.weighted,
        **asdict(origin),
        "device": model.device.type,
        "versions": {
            "python": platform.python_version(),
            "graphprox": graphprox.__version__,
            **{name: version(name) for name in ("torch", "numpy", "scipy", "safetensors")},
        },
    }
    with written_whole(folder / WEIGHTS, folder / RECIPE, folder / ABOUT) as (weights, recipe, described):
        weights.write_bytes(content)
        recipe.write_bytes(settings)
        described.write_text(sealed(about))


def origin_of(folder: str | Path) -> Origin:
    """What the model in a folder was trained on."""
    about = described(Path(folder) / ABOUT, FORMAT)
    return Origin(**{field.name: about[field.name] for field in fields(Origin)})


def load_model(folder: str | Path, *, device: torch.device | str = "cpu") -> Model:
    """Read what `save_model` wrote; whatever is missing or damaged is a `ReadError` that names it."""
    folder = Path(folder)
    if not (folder / ABOUT).is_file():
        raise ReadError(f"{folder} must be a folder that holds a model; it has no {ABOUT}: train one with --model")
    about = described(folder / ABOUT, FORMAT)
    recipe = Recipe.from_toml(unchanged(folder / RECIPE, about["recipe"]).decode(), folder / RECIPE)
    tensors = verified(folder / WEIGHTS, about["weights"])
    model = Model(recipe, features=about["features"], weighted=about["weighted"])
    try:
        model.load_state_dict(tensors)
    except RuntimeError as error:
        raise ReadError(f"{folder / WEIGHTS} does not fit {RECIPE}: {reason(error)}") from None
    return model.to(device)


def discard_model(folder: Path) -> None:
    """Remove what a training wrote to a folder, and the folder if nothing else is in it."""
    drop_checkpoints(folder / CHECKPOINTS)
    for name in FILES:
        (folder / name).unlink(missing_ok=True)
        sweep(folder / name)
    for each in (folder / CHECKPOINTS, folder):
        if each.is_dir() and not any(each.iterdir()):
            each.rmdir()


class Metrics:
    """The lines of metrics.jsonl, one per step, each on disk before the next step."""

    def __init__(self, path: Path, *, after: int = 0) -> None:
        """Go on after so many steps: later lines, of steps that are taken again, are dropped."""
        self.path = path
        kept = [step for step in steps_in(path) if step.step <= after]
        with written_whole(path) as (staged,):
            staged.write_text("".join(_line(step) for step in kept))

    def add(self, step: Step) -> None:
        """Append a step."""
        try:
            with self.path.open("a") as file:
                file.write(_line(step))
        except OSError as error:
            raise WriteError(f"{self.path} cannot be written: {reason(error)}") from None


def steps_in(path: Path) -> list[Step]:
    """The steps that a file of metrics tells of, as far as it is whole."""
    found = []
    for line in path.read_text(errors="replace").splitlines() if path.exists() else []:
        try:
            told = json.loads(line)
            turns = tuple((str(a), str(b)) for a, b in told["turns"])
            found.append(Step(int(told["step"]), turns, dict(told["k"]), float(told["loss"]), float(told["seconds"])))
        except (ValueError, KeyError, TypeError):  # where a killed process was writing
            break
    return found


def _line(step: Step) -> str:
    return json.dumps(asdict(step)) + "\n"
