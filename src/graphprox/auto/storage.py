"""The fitted default method in a folder.

    arrays.safetensors    weights and directions of the features, means and projection of the outputs, ids of nodes
    about.json            settings, selection, versions, checksum of the arrays

No file in it is a pickle. The vectors of the fitted graph are not stored: an embedding has files of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save as save_safetensors

from graphprox._utils.arrays import NodeIds
from graphprox.auto.combination import Combination
from graphprox.auto.preparation import Preparation
from graphprox.auto.selection import Selection
from graphprox.errors import ParameterError, ReadError
from graphprox.io.files import atomic_write, make_writable_folder, reason
from graphprox.io.verified import (
    ABOUT,
    add_remedy,
    check_has_model,
    checksum,
    dump_with_checksum,
    library_versions,
    load_verified_tensors,
    read_with_checksum,
    recorded_method,
)

ARRAYS = "arrays.safetensors"
FORMAT = 1
METHOD = "auto"
_MEAN = "combination.mean."  # and the name of an output


@dataclass(frozen=True)
class Facts:
    """What is known of a fitted embedder in addition to its arrays and its selection.

    Attributes
    ----------
    settings : mapping of str to object
        Parameters that the result depends on.
    seed : int
    num_features : int
        Number of features of the fitted graph.
    shape : tuple of int
        Shape of its vectors.
    seconds : float
        Time that fitting took.
    peak_memory : int or None
        Peak memory of the process in bytes.
    """

    settings: Mapping[str, Any]
    seed: int
    num_features: int
    shape: tuple[int, int]
    seconds: float
    peak_memory: int | None


@dataclass(frozen=True, eq=False)
class FittedParts:
    """All that is needed to embed other graphs.

    Attributes
    ----------
    facts : Facts
    selection : Selection
    preparation : Preparation
    combination : Combination
    known_ids : ndarray of shape (num_nodes,) or None
        Ids of the nodes of a fitted graph without features.
    """

    facts: Facts
    selection: Selection
    preparation: Preparation
    combination: Combination
    known_ids: NodeIds | None


def save_fitted(folder: str | Path, parts: FittedParts) -> None:
    """Write a fitted embedder to a folder, atomically.

    Parameters
    ----------
    folder : str or Path
        Created if it does not exist; an older model in it is replaced.
    parts : FittedParts
    """
    folder = make_writable_folder(Path(folder))
    content = save_safetensors({name: np.ascontiguousarray(each) for name, each in _to_arrays(parts).items()})
    choice = parts.selection
    about = {
        "format": FORMAT,
        "method": METHOD,
        "arrays": checksum(content),
        **asdict(parts.facts),
        "selection": {"choice": choice.choice, "scores": dict(choice.scores), "ratio": choice.ratio},
        "weights": dict(parts.combination.weights),
        "versions": library_versions("torch", "numpy", "scipy", "scikit-learn", "safetensors"),
    }
    with atomic_write(folder / ARRAYS, folder / ABOUT) as (arrays, description):
        arrays.write_bytes(content)
        description.write_text(dump_with_checksum(about))


def load_fitted(folder: str | Path) -> FittedParts:
    """Read an embedder that `save_fitted` has written.

    Parameters
    ----------
    folder : str or Path

    Returns
    -------
    FittedParts

    Raises
    ------
    ReadError
        If a file is missing or damaged; the message names it.
    ParameterError
        If the model is of another method.
    """
    folder = Path(folder)
    check_has_model(folder)
    if (method := recorded_method(folder)) not in (METHOD, None):
        raise ParameterError(f"a model must be of {METHOD}; {folder} has one of {method}: call load of its class")
    with add_remedy("fit the embedder again"):
        about = read_with_checksum(folder / ABOUT, FORMAT)
        tensors = load_verified_tensors(folder / ARRAYS, about["arrays"])
        try:
            return _to_parts(about, {name: each.numpy() for name, each in tensors.items()})
        except (KeyError, TypeError, ValueError) as error:
            raise ReadError(f"{folder / ARRAYS} must fit {ABOUT}; it does not: {reason(error)}") from None


def _to_parts(about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> FittedParts:
    facts = Facts(**{each.name: about[each.name] for each in fields(Facts)})
    num_nodes, n_components = facts.shape
    selection = Selection(**about["selection"])
    weights = {str(name): float(weight) for name, weight in about["weights"].items()}
    if list(selection.weights) != list(weights):
        raise ValueError(f"{selection.choice!r} keeps {', '.join(selection.weights)} in this version of graphprox")
    means = {name: arrays[f"{_MEAN}{name}"] for name in weights}
    return FittedParts(
        replace(facts, shape=(num_nodes, n_components)),
        selection,
        Preparation(arrays.get("preparation.weights"), arrays["preparation.directions"]),
        Combination(weights, means, arrays["combination.projection"]),
        _to_ids(arrays),
    )


def _to_arrays(parts: FittedParts) -> dict[str, NDArray[Any]]:
    preparation, combination = parts.preparation, parts.combination
    weights = {} if preparation.weights is None else {"preparation.weights": preparation.weights}
    return {
        **weights,
        "preparation.directions": preparation.directions,
        **{f"{_MEAN}{name}": each for name, each in combination.means.items()},
        "combination.projection": combination.projection,
        **_from_ids(parts.known_ids),
    }


# -- ids: safetensors has no strings --------------------------------------------------------------------------------


def _from_ids(ids: NodeIds | None) -> dict[str, NDArray[Any]]:
    if ids is None:
        return {}
    if ids.dtype != object:
        return {"ids.numbers": ids.astype(np.int64)}
    names = [each.encode("utf-8", "surrogatepass") for each in ids.tolist()]
    return {
        "ids.text": np.frombuffer(b"".join(names), np.uint8),
        "ids.lengths": np.array([len(each) for each in names], np.int64),
    }


def _to_ids(arrays: Mapping[str, NDArray[Any]]) -> NodeIds | None:
    if "ids.text" not in arrays:
        return arrays.get("ids.numbers")
    text, ends = arrays["ids.text"].tobytes(), np.cumsum(arrays["ids.lengths"])
    names = [text[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]
    return np.array([each.decode("utf-8", "surrogatepass") for each in names], dtype=object)
