"""The folder of a fitted model: which kind of model is in it, and which files are those of that kind.

every model          about.json, which has the checksums of the other files and of itself
auto                 arrays.safetensors; stages/ until a long run ends
the FT-GCL family    recipe.toml, weights.safetensors, metrics.jsonl, checkpoints/; work/ until training ends
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from graphprox.errors import ReadError, WriteError
from graphprox.io.storage.files import TEMPORARY, reason
from graphprox.io.storage.verified import checksum_of_description

ABOUT = "about.json"
ARRAYS = "arrays.safetensors"
RECIPE, WEIGHTS, METRICS, CHECKPOINTS = "recipe.toml", "weights.safetensors", "metrics.jsonl", "checkpoints"
WORK = "work"
STAGES, RUN = "stages", "run.json"

AUTO = "auto"
FAMILY = "ft-gcl"  # whose descriptions do not record a method: the recipe does

# Files of a kind in addition to its description: those that every model has, and all that it may have.
REQUIRED: Mapping[str, tuple[str, ...]] = MappingProxyType({AUTO: (ARRAYS,), FAMILY: (RECIPE, WEIGHTS)})
FILES: Mapping[str, tuple[str, ...]] = MappingProxyType({AUTO: (ARRAYS,), FAMILY: (RECIPE, WEIGHTS, METRICS)})
_CHECKPOINT = re.compile(r"epoch-(\d{8,})\.(json|safetensors)")
_PARTIAL_CHECKPOINT = re.compile(rf"\.{_CHECKPOINT.pattern}\.[a-z0-9_]{{8}}{re.escape(TEMPORARY)}")
_WORK_FILE = re.compile(r"[0-9a-f]{16}(-\d+\.npy|\.json)")
_PARTIAL_WORK_FILE = re.compile(rf"\.{_WORK_FILE.pattern}\.[a-z0-9_]{{8}}{re.escape(TEMPORARY)}")
_RUN = re.compile(re.escape(RUN))
_PARTIAL_RUN = re.compile(rf"\.{_RUN.pattern}\.[a-z0-9_]{{8}}{re.escape(TEMPORARY)}")


def check_has_model(folder: Path) -> None:
    """Raise a `ReadError` if a folder has no description of a model.

    Parameters
    ----------
    folder : Path
    """
    if not (folder / ABOUT).is_file():
        raise ReadError(f"{folder} must be the folder of a model; it has no {ABOUT}: call save of a fitted embedder")


def recorded_method(folder: Path) -> str | None:
    """Return the method of the model in a folder, by its description.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    str or None
        ``"ft-gcl"`` for all models of that family, whose recipe has the method; None if the description is missing or
        damaged.
    """
    try:
        about = json.loads((folder / ABOUT).read_text())
        is_intact = about.pop("checksum") == checksum_of_description(about)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    method = about.get("method", FAMILY)
    return method if is_intact and isinstance(method, str) else None


def model_kind(folder: Path) -> str | None:
    """Return which kind of model a folder has: by its description, or by its other files if that is damaged.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    str or None
        ``"auto"``, ``"ft-gcl"`` for all of that family, or another method that the description records. None if there
        is no description, or a damaged one and the files of none or of several kinds.
    """
    if not (folder / ABOUT).is_file():
        return None
    if (method := recorded_method(folder)) is not None:
        return method
    found = [kind for kind, names in REQUIRED.items() if all((folder / name).is_file() for name in names)]
    return found[0] if len(found) == 1 else None


@contextmanager
def replace_model(folder: Path, kind: str) -> Iterator[None]:
    """Remove the files of a model of another kind, after one of this kind was written in the ``with`` block.

    Parameters
    ----------
    folder : Path
    kind : {"auto", "ft-gcl"}
        Kind of the new model.

    Yields
    ------
    None

    Raises
    ------
    WriteError
        If a file cannot be removed. If the block raises, nothing is removed.
    """
    older = model_kind(folder)
    yield
    # Only files of what was there: a folder may have a recipe of its own.
    if older != kind:
        remove_files(model_files(folder, older))
    # Those of a run are needed until its output is written, too.
    remove_files(stage_files(folder / STAGES) if kind == FAMILY else training_files(folder))


def model_files(folder: Path, kind: str | None) -> list[Path]:
    """List the files that models of a kind write, except for the description, as far as they exist.

    Parameters
    ----------
    folder : Path
    kind : str or None

    Returns
    -------
    list of Path
    """
    named = [folder / name for name in FILES.get(kind or "", ()) if (folder / name).exists()]
    if kind != FAMILY:
        return named
    return [*named, *checkpoint_files(folder / CHECKPOINTS), *work_files(folder / WORK)]


def training_files(folder: Path) -> list[Path]:
    """List the files that a training run has written before its end, if it has saved a checkpoint.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    list of Path
    """
    checkpoints, work = checkpoint_files(folder / CHECKPOINTS), work_files(folder / WORK)
    metrics = folder / METRICS
    return [*checkpoints, *work, *([metrics] if checkpoints and metrics.exists() else [])]


def checkpoint_files(folder: Path) -> list[Path]:
    """List the checkpoints in a folder and partial ones of a killed process, but no files of other programs.

    Parameters
    ----------
    folder : Path
        The folder of checkpoints.

    Returns
    -------
    list of Path
    """
    return _find_files(folder, _CHECKPOINT, _PARTIAL_CHECKPOINT)


def work_files(folder: Path) -> list[Path]:
    """List the files that training needs only while it runs, and partial ones of a killed process.

    Parameters
    ----------
    folder : Path
        The folder of these files.

    Returns
    -------
    list of Path
    """
    return _find_files(folder, _WORK_FILE, _PARTIAL_WORK_FILE)


def stage_files(folder: Path) -> list[Path]:
    """List the files of the finished stages of a run of auto, and partial ones of a killed process.

    Parameters
    ----------
    folder : Path
        The folder of these files.

    Returns
    -------
    list of Path
    """
    return _find_files(folder, _RUN, _PARTIAL_RUN, _WORK_FILE, _PARTIAL_WORK_FILE)


def has_stages(folder: Path) -> bool:
    """Return whether the folder of a model has finished stages of a run of auto.

    Parameters
    ----------
    folder : Path
    """
    return any(each.suffix == ".json" and each.name != RUN for each in stage_files(folder / STAGES))


def _find_files(folder: Path, *names: re.Pattern[str]) -> list[Path]:
    found = folder.iterdir() if folder.is_dir() else ()
    return sorted(path for path in found if any(name.fullmatch(path.name) for name in names))


def checkpoint_epochs(folder: Path) -> list[int]:
    """Return the epochs that have a checkpoint, the newest first.

    Parameters
    ----------
    folder : Path
        The folder of checkpoints.

    Returns
    -------
    list of int
    """
    found = [_CHECKPOINT.fullmatch(path.name) for path in checkpoint_files(folder) if path.suffix == ".json"]
    return sorted((int(match[1]) for match in found if match), reverse=True)


def remove_files(paths: Iterable[Path]) -> None:
    """Remove files, and folders of checkpoints, stages or a running training in which nothing else is.

    Parameters
    ----------
    paths : iterable of Path
    """
    paths = list(paths)
    for path in paths:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise WriteError(f"{path} cannot be removed: {reason(error)}") from None
    for folder in {path.parent for path in paths if path.parent.name in (CHECKPOINTS, WORK, STAGES)}:
        if not any(folder.iterdir()):
            folder.rmdir()
