"""A trained model in a folder.

    recipe.toml            every setting
    weights.safetensors    encoder and head
    metrics.jsonl          a line per epoch: pairs, k, loss, seconds
    about.json             versions, checksum and size of the graph, checksums of weights and recipe
    checkpoints/           the last two, to resume from
    work/                  propagated features, until training ends

No file in it is a pickle.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import torch
from pydantic import BaseModel, ConfigDict, NonNegativeInt, PositiveInt, ValidationError
from safetensors.torch import save as save_safetensors
from torch import Tensor

from graphprox.errors import ParameterError, ReadError, WriteError
from graphprox.ftgcl.checkpoint import remove_checkpoints
from graphprox.ftgcl.model import Model
from graphprox.ftgcl.recipe import Recipe
from graphprox.ftgcl.trainer import EpochLog
from graphprox.graph.checksum import graph_checksum
from graphprox.graph.graph import Graph
from graphprox.io.storage.files import atomic_write, reason, sweep
from graphprox.io.storage.model_claims import claim_model_folder
from graphprox.io.storage.model_files import (
    ABOUT,
    CHECKPOINTS,
    FAMILY,
    METRICS,
    RECIPE,
    WEIGHTS,
    WORK,
    check_has_model,
    recorded_method,
    remove_files,
    replace_model,
    work_files,
)
from graphprox.io.storage.verified import (
    add_remedy,
    checksum,
    dump_with_checksum,
    library_versions,
    load_verified_tensors,
    read_verified_bytes,
    read_with_checksum,
)
from graphprox.preprocessing.preprocessor import Preprocessor

FILES = (RECIPE, WEIGHTS, METRICS, ABOUT)
FORMAT = 2
_REMEDY = "train the model again"


@dataclass(frozen=True)
class Origin:
    """Description of the graph that a model was trained on.

    Attributes
    ----------
    graph : str
        Checksum of the graph.
    nodes, edges : int
        Its size.
    directed : bool
    """

    graph: str
    nodes: int
    edges: int
    directed: bool

    @classmethod
    def of(cls, graph: Graph) -> Origin:
        """Describe a graph."""
        return cls(graph_checksum(graph), graph.num_nodes, graph.num_edges, graph.directed)


def save_model(
    folder: Path, model: Model, origin: Origin, *, preprocessor: Preprocessor | None = None, overwrite: bool = False
) -> None:
    """Write recipe, weights and a description, atomically.

    Parameters
    ----------
    folder : Path
        Created if it does not exist.
    model : Model
    origin : Origin
        Graph that the model was trained on.
    preprocessor : Preprocessor, optional
        How its features were prepared.
    overwrite : bool, default=False
        Whether an older model in the folder is replaced, of whatever kind.
    """
    content = save_safetensors({name: tensor.contiguous() for name, tensor in model.state_dict().items()})
    settings = model.recipe.to_toml().encode()
    about = {
        "format": FORMAT,
        "weights": checksum(content),
        "recipe": checksum(settings),
        "num_features": model.num_features,
        "weighted": model.weighted,
        **asdict(origin),
        "features": (preprocessor or Preprocessor()).to_dict(),
        "device": model.device.type,
        "versions": library_versions("torch", "numpy", "scipy", "safetensors"),
    }
    paths = folder / WEIGHTS, folder / RECIPE, folder / ABOUT
    with (
        claim_model_folder(folder, FAMILY, overwrite=overwrite),
        replace_model(folder, FAMILY),
        atomic_write(*paths) as (weights, recipe, description),
    ):
        weights.write_bytes(content)
        recipe.write_bytes(settings)
        description.write_text(dump_with_checksum(about))


def read_origin(folder: str | Path) -> Origin:
    """Return the graph that the model in a folder was trained on."""
    with add_remedy(_REMEDY):
        about = read_with_checksum(Path(folder) / ABOUT, FORMAT)
        _check_fields(folder, about)
    return Origin(**{field.name: about[field.name] for field in fields(Origin)})


def read_preprocessor(folder: str | Path) -> Preprocessor:
    """Return how the features of the graph were prepared that the model in a folder was trained on."""
    path = Path(folder) / ABOUT
    with add_remedy(_REMEDY):
        about = read_with_checksum(path, FORMAT)
        try:
            return Preprocessor.from_dict(about.get("features"), num_features=about["num_features"])
        except ValueError as error:
            raise ReadError(f"{path} must describe features; {reason(error)}") from None


def load_model(folder: str | Path, *, device: torch.device | str = "cpu") -> Model:
    """Load a model that `save_model` has written.

    Parameters
    ----------
    folder : str or Path
    device : torch.device or str, default="cpu"

    Returns
    -------
    Model

    Raises
    ------
    ReadError
        If a file is missing or damaged; the message names it.
    """
    folder = Path(folder)
    check_has_model(folder)
    if (method := recorded_method(folder)) not in (FAMILY, None):
        raise ParameterError(
            f"a model must be of a method of the FT-GCL family; {folder} has one of {method}: call load of its class"
        )
    with add_remedy(_REMEDY):
        return _read_model(folder).to(device)


def _read_model(folder: Path) -> Model:
    about = read_with_checksum(folder / ABOUT, FORMAT)
    _check_fields(folder, about)
    text = read_verified_bytes(folder / RECIPE, about["recipe"]).decode(errors="replace")
    recipe = Recipe.from_toml(text, folder / RECIPE)
    tensors = load_verified_tensors(folder / WEIGHTS, about["weights"])
    try:
        _check_sizes(recipe, about["num_features"], tensors)
        model = Model(recipe, num_features=about["num_features"], weighted=about["weighted"])
        model.load_state_dict(tensors)
    except (RuntimeError, ValueError, TypeError) as error:
        raise ReadError(f"{folder / WEIGHTS} must fit {RECIPE}; it does not: {reason(error)}") from None
    return model


class _SavedFields(BaseModel):
    model_config = ConfigDict(strict=True)

    weights: str
    recipe: str
    num_features: PositiveInt
    weighted: bool
    graph: str
    nodes: NonNegativeInt
    edges: NonNegativeInt
    directed: bool


def _check_fields(folder: str | Path, about: Mapping[str, Any]) -> None:
    """Raise a `ReadError` if a description has a field of a wrong type: a checksum does not show that it has none."""
    try:
        _SavedFields.model_validate(about)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise ReadError(
            f"{Path(folder, ABOUT)} must describe a model of the FT-GCL family; it does not: "
            f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        ) from None


def _check_sizes(recipe: Recipe, num_features: int, tensors: Mapping[str, Tensor]) -> None:
    """Raise a ValueError if a recipe has sizes that the weights have not, before memory for them is allocated."""
    largest = max((size for tensor in tensors.values() for size in tensor.shape), default=0)
    encoder = recipe.encoder
    sizes = [num_features, encoder.n_components, encoder.hidden_channels or 0, encoder.num_layers - len(tensors)]
    if recipe.head.num_layers:
        sizes.append(recipe.head.out_channels)
    if max(sizes) > largest:
        raise ValueError(f"a size of {max(sizes)} is larger than any of the weights")


def remove_model(folder: Path) -> None:
    """Remove the files of a training run, and the folder if nothing else is in it."""
    remove_checkpoints(folder / CHECKPOINTS)
    remove_files(work_files(folder / WORK))
    for name in FILES:
        (folder / name).unlink(missing_ok=True)
        sweep(folder / name)
    for each in (folder / CHECKPOINTS, folder):
        if each.is_dir() and not any(each.iterdir()):
            each.rmdir()


class MetricsFile:
    """The file metrics.jsonl, to which a line is appended after each epoch.

    Parameters
    ----------
    path : Path
    after : int, default=0
        Epoch after which lines of an earlier run are removed, as these epochs are trained again.
    """

    def __init__(self, path: Path, *, after: int = 0) -> None:
        self.path = path
        self.write(path, [log for log in read_metrics(path) if log.epoch <= after])

    @staticmethod
    def write(path: Path, logs: Iterable[EpochLog]) -> None:
        """Write epochs to a file, atomically."""
        with atomic_write(path) as (staged,):
            staged.write_text("".join(_line(log) for log in logs))

    def append(self, log: EpochLog) -> None:
        """Append an epoch."""
        try:
            with self.path.open("a") as file:
                file.write(_line(log))
        except OSError as error:
            raise WriteError(f"{self.path} cannot be written: {reason(error)}") from None


def read_metrics(path: Path) -> list[EpochLog]:
    """Read the epochs in a metrics file, up to the first damaged line."""
    found = []
    for line in path.read_text(errors="replace").splitlines() if path.exists() else []:
        try:
            log = json.loads(line)
            pairs = tuple((str(a), str(b)) for a, b in log["pairs"])
            found.append(EpochLog(int(log["epoch"]), pairs, dict(log["k"]), float(log["loss"]), float(log["seconds"])))
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):  # a killed process was writing it
            break
    return found


def _line(log: EpochLog) -> str:
    return json.dumps(asdict(log), allow_nan=False) + "\n"
