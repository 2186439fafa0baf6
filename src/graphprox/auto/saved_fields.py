"""Fields and arrays of a saved embedder: their types, ranges and shapes.

A checksum shows that a file is as it was written. It does not show that what was written is a model: another program
may have written it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from graphprox.auto.combination import Combination
from graphprox.auto.criteria.base import RATIOS
from graphprox.auto.positions import Positions
from graphprox.auto.preparation import Preparation
from graphprox.auto.selection import EDGES, Selection

MAX_ENTRY = 1e15  # of an array, whose square is finite in single precision
_Count = Annotated[int, Field(ge=0, lt=2**48)]
_Weight = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]


class _SavedSelection(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    choice: str
    scores: dict[str, float]
    ratio: float | None
    given: bool
    meaning: str


class _SavedFields(BaseModel):
    model_config = ConfigDict(strict=True)

    arrays: str
    settings: dict[str, Any]
    random_state: Annotated[int, Field(ge=0, lt=2**63)]
    num_features: _Count
    shape: Annotated[list[_Count], Field(min_length=2, max_length=2)]
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    peak_memory: _Count | None
    weights: Annotated[dict[str, _Weight], Field(min_length=1)]
    similar: _Weight
    popularity: _Weight
    max_neighbors: _Count
    num_zeros: _Count = 0


def check_fields(about: Mapping[str, Any]) -> None:
    """Raise a ValueError if a description has a field of a wrong type or outside of its range.

    Parameters
    ----------
    about : mapping of str to object
    """
    try:
        _SavedFields.model_validate(about)
    except ValidationError as error:
        raise ValueError(_first_sentence(error)) from None


def check_selection(selection: Mapping[str, Any]) -> None:
    """Raise a ValueError if a recorded selection is not one.

    Parameters
    ----------
    selection : mapping of str to object
    """
    try:
        choice = _SavedSelection.model_validate(selection).choice
    except ValidationError as error:
        raise ValueError(f"selection.{_first_sentence(error)}") from None
    if choice not in (*RATIOS, EDGES):
        raise ValueError(f"selection.choice is {choice[:40]!r}")


def _first_sentence(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


# -- arrays ---------------------------------------------------------------------------------------------------------


def check_arrays(arrays: Mapping[str, NDArray[Any]]) -> None:
    """Raise a ValueError if an array has other than finite numbers of usual size.

    Parameters
    ----------
    arrays : mapping of str to ndarray
    """
    for name, array in arrays.items():
        if name.startswith("ids."):
            is_valid = array.ndim == 1 and array.dtype == (np.uint8 if name == "ids.text" else np.int64)
        elif name == "positions.signatures":
            is_valid = array.ndim == 1 and array.dtype.kind in "fiu"
        else:
            is_float = array.dtype in (np.float32, np.float64)
            is_valid = is_float and bool((np.abs(array) <= MAX_ENTRY).all())  # which is false for NaN
        if not is_valid:
            raise ValueError(f"{name} has wrong numbers")


def check_parts(
    shape: tuple[int, int],
    num_features: int,
    selection: Selection,
    preparation: Preparation | None,
    positions: Positions | None,
    combination: Combination,
) -> None:
    """Raise a ValueError if parts of an embedder do not fit each other.

    Parameters
    ----------
    shape : tuple of int
        Shape of the vectors of the fitted graph.
    num_features : int
    selection : Selection
    preparation : Preparation or None
    positions : Positions or None
    combination : Combination
    """
    if (selection.choice == EDGES) != (preparation is None):
        raise ValueError(f"the choice is {selection.choice!r}")
    if ("positions" in combination.weights) != (positions is not None):
        raise ValueError("positions are kept without their arrays, or not kept")
    if preparation is not None:
        _check_preparation("preparation", preparation, num_features)
    if positions is not None:
        num_nodes = len(positions.ids)
        if num_nodes != shape[0] or len(set(positions.ids.tolist())) != num_nodes:
            raise ValueError("ids are not those of the fitted graph")
        if positions.signatures is not None and len(positions.signatures) != num_nodes:
            raise ValueError("positions.signatures has a wrong shape")
        if (positions.signatures is None) != (preparation is None):
            raise ValueError("positions.signatures are of a graph with features, and are missing or not needed")
        _check_preparation("positions", positions.preparation, num_nodes)
    projection, means = combination.projection, combination.means.values()
    if any(mean.ndim != 1 for mean in means) or projection.ndim != 2 or sum(map(len, means)) != len(projection):
        raise ValueError("combination.projection has a wrong shape")
    if combination.n_components != shape[1] or projection.shape[1] < 1:
        raise ValueError("combination.projection has a wrong number of columns")
    if combination.popularity > 0 and combination.max_neighbors < 1:
        raise ValueError("max_neighbors: must be positive")


def _check_preparation(name: str, preparation: Preparation, num_columns: int) -> None:
    directions = preparation.directions
    if directions.ndim != 2 or len(directions) != num_columns or directions.shape[1] < 1:
        raise ValueError(f"{name}.directions has a wrong shape")
    for given in (preparation.weights, preparation.center):
        if given is not None and given.shape != (num_columns,):
            raise ValueError(f"{name}.weights or {name}.center has a wrong shape")
    if not preparation.typical_size > 0:
        raise ValueError(f"{name}.size must be positive")
