"""The fitted default method in a folder.

    arrays.safetensors    weights and directions of the features, means and projection of the outputs, known nodes
    about.json            settings, selection, versions, checksum of the arrays

No file in it is a pickle. The vectors of the fitted graph are not stored: an embedding has files of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save as save_safetensors

from graphprox._utils.arrays import NodeIds
from graphprox.auto.combination import Combination
from graphprox.auto.outputs import OUTPUTS
from graphprox.auto.packing import (
    pack_combination,
    pack_positions,
    pack_preparation,
    pack_selection,
    unpack_combination,
    unpack_fields,
    unpack_positions,
    unpack_preparation,
)
from graphprox.auto.positions import Positions
from graphprox.auto.preparation import Preparation
from graphprox.auto.saved_fields import check_arrays, check_fields, check_parts, check_selection
from graphprox.auto.selection import Selection
from graphprox.errors import ParameterError, ReadError
from graphprox.io.storage.files import atomic_write, reason
from graphprox.io.storage.model_claims import claim_model_folder
from graphprox.io.storage.model_files import ABOUT, ARRAYS, AUTO, check_has_model, recorded_method, replace_model
from graphprox.io.storage.verified import (
    add_remedy,
    checksum,
    dump_with_checksum,
    library_versions,
    load_verified_tensors,
    read_with_checksum,
)
from graphprox.preprocessing.preprocessor import Preprocessor

FORMAT = 2


@dataclass(frozen=True)
class Facts:
    """What is known of a fitted embedder in addition to its arrays and its selection.

    Attributes
    ----------
    settings : mapping of str to object
        Parameters that the result depends on.
    random_state : int
        Random seed that was used.
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
    random_state: int
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
    preparation : Preparation or None
        None if the fitted graph has no features.
    positions : Positions or None
        None if they are not kept.
    combination : Combination
    preprocessor : Preprocessor
        How features are encoded and scaled before.
    """

    facts: Facts
    selection: Selection
    preparation: Preparation | None
    positions: Positions | None
    combination: Combination
    preprocessor: Preprocessor = field(default_factory=Preprocessor)


def save_fitted(folder: str | Path, parts: FittedParts, *, overwrite: bool = False) -> None:
    """Write a fitted embedder to a folder, atomically.

    Parameters
    ----------
    folder : str or Path
        Created if it does not exist.
    parts : FittedParts
    overwrite : bool, default=False
        Whether an older model in the folder is replaced, of whatever kind.
    """
    folder = Path(folder)
    content = save_safetensors({name: np.ascontiguousarray(each) for name, each in _to_arrays(parts).items()})
    about = {
        "format": FORMAT,
        "method": AUTO,
        "arrays": checksum(content),
        **asdict(parts.facts),
        "features": parts.preprocessor.to_dict(),
        "selection": pack_selection(parts.selection),
        **pack_combination(parts.combination)[1],
        "versions": library_versions("torch", "numpy", "scipy", "scikit-learn", "safetensors"),
    }
    paths = folder / ARRAYS, folder / ABOUT
    with (
        claim_model_folder(folder, AUTO, overwrite=overwrite),
        replace_model(folder, AUTO),
        atomic_write(*paths) as (arrays, description),
    ):
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
    if (method := recorded_method(folder)) not in (AUTO, None):
        raise ParameterError(f"a model must be of {AUTO}; {folder} has one of {method}: call load of its class")
    with add_remedy("fit the embedder again"):
        about = read_with_checksum(folder / ABOUT, FORMAT)
        try:
            check_fields(about)
        except ValueError as error:
            raise ReadError(f"{folder / ABOUT} must describe a model of {AUTO}; it does not: {reason(error)}") from None
        tensors = load_verified_tensors(folder / ARRAYS, about["arrays"])
        try:
            return _to_parts(about, {name: each.numpy() for name, each in tensors.items()})
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise ReadError(f"{folder / ARRAYS} must fit {ABOUT}; it does not: {reason(error)}") from None


def _to_parts(about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> FittedParts:
    check_arrays(arrays)
    facts = Facts(**{each.name: about[each.name] for each in fields(Facts)})
    num_nodes, n_components = facts.shape
    recorded = unpack_fields(about["selection"])
    check_selection(recorded)
    selection = Selection(**recorded)
    if unknown := [name for name in about["weights"] if name not in OUTPUTS]:
        raise ValueError(f"{unknown[0]!r} is no registered output; import the module that registers it")
    parts = FittedParts(
        replace(facts, shape=(num_nodes, n_components)),
        selection,
        unpack_preparation(arrays, "preparation."),
        unpack_positions(arrays, _to_ids(arrays)),
        unpack_combination(arrays, about, facts.random_state),
        Preprocessor.from_dict(about.get("features"), num_features=facts.num_features),
    )
    check_parts(parts.facts.shape, facts.num_features, selection, parts.preparation, parts.positions, parts.combination)
    return parts


def _to_arrays(parts: FittedParts) -> dict[str, NDArray[Any]]:
    ids = {} if parts.positions is None else _from_ids(parts.positions.ids)
    return {
        **pack_preparation(parts.preparation, "preparation."),
        **pack_combination(parts.combination)[0],
        **pack_positions(parts.positions),
        **ids,
    }


# -- ids: safetensors has no strings --------------------------------------------------------------------------------


def _from_ids(ids: NodeIds) -> dict[str, NDArray[Any]]:
    if ids.dtype != object:
        return {"ids.numbers": ids.astype(np.int64)}
    names = [each.encode("utf-8", "surrogatepass") for each in ids.tolist()]
    return {
        "ids.text": np.frombuffer(b"".join(names), np.uint8),
        "ids.lengths": np.array([len(each) for each in names], np.int64),
    }


def _to_ids(arrays: Mapping[str, NDArray[Any]]) -> NodeIds:
    if "ids.text" not in arrays:
        return arrays.get("ids.numbers", np.empty(0, np.int64))  # without positions, there are none
    text, lengths = arrays["ids.text"].tobytes(), arrays["ids.lengths"]
    if (lengths < 0).any() or (lengths > len(text)).any() or lengths.sum() != len(text):
        raise ValueError("ids.lengths has wrong numbers")
    ends = np.cumsum(lengths)
    names = [text[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]
    return np.array([each.decode("utf-8", "surrogatepass") for each in names], dtype=object)
