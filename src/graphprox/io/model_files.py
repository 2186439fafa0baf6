"""The folder of a fitted model: which kind of model is in it, and which files are those of that kind.

every model          about.json, which has the checksums of the other files and of itself
auto                 arrays.safetensors
the FT-GCL family    recipe.toml, weights.safetensors, metrics.jsonl, checkpoints/
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from graphprox.errors import ReadError, WriteError
from graphprox.io.files import reason
from graphprox.io.verified import checksum_of_description

ABOUT = "about.json"
ARRAYS = "arrays.safetensors"
RECIPE, WEIGHTS, METRICS, CHECKPOINTS = "recipe.toml", "weights.safetensors", "metrics.jsonl", "checkpoints"

AUTO = "auto"
FAMILY = "ft-gcl"  # whose descriptions do not record a method: the recipe does

# Files that every model of a kind has, and patterns of all that it may have, in addition to its description.
REQUIRED: Mapping[str, tuple[str, ...]] = MappingProxyType({AUTO: (ARRAYS,), FAMILY: (RECIPE, WEIGHTS)})
PATTERNS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        AUTO: (ARRAYS,),
        FAMILY: (RECIPE, WEIGHTS, METRICS, f"{CHECKPOINTS}/epoch-*", f"{CHECKPOINTS}/.epoch-*.part"),
    }
)


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
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return str(about.get("method", FAMILY)) if is_intact else None


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
    if older != kind:
        # Only files of a model that was there: a folder may have a recipe of its own.
        remove_files(folder, PATTERNS.get(older or "", ()))


def remove_files(folder: Path, patterns: tuple[str, ...]) -> None:
    """Remove files by patterns, and the folder of checkpoints if nothing else is in it.

    Parameters
    ----------
    folder : Path
    patterns : tuple of str
    """
    for path in [path for pattern in patterns for path in folder.glob(pattern)]:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise WriteError(f"{path} cannot be removed: {reason(error)}") from None
    checkpoints = folder / CHECKPOINTS
    if patterns and checkpoints.is_dir() and not any(checkpoints.iterdir()):
        checkpoints.rmdir()
