"""Parts of a fitted default method as arrays by name, and as facts that JSON can contain."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphprox._utils.arrays import FloatArray, IntArray, NodeIds
from graphprox.auto.combination import Combination
from graphprox.auto.positions import Positions
from graphprox.auto.preparation import Preparation
from graphprox.auto.selection import Selection
from graphprox.auto.stages import Packing

MEAN = "combination.mean."  # and the name of an output
NUMBERS = ("similar", "popularity", "max_neighbors", "num_zeros")  # of a combination

Arrays = Mapping[str, NDArray[Any]]

# -- features and positions -----------------------------------------------------------------------------------------


def pack_preparation(preparation: Preparation | None, prefix: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of a preparation, by names with a prefix; none of None."""
    if preparation is None:
        return {}
    given = {"weights": preparation.weights, "center": preparation.center}
    columns = {f"{prefix}{name}": each for name, each in given.items() if each is not None}
    size = np.array([preparation.counted, preparation.typical_size])
    return {**columns, f"{prefix}directions": preparation.directions, f"{prefix}size": size}


def unpack_preparation(arrays: Arrays, prefix: str) -> Preparation | None:
    """Return the preparation of such arrays; None if there are none with the prefix."""
    if f"{prefix}directions" not in arrays:
        return None
    counted, typical = arrays[f"{prefix}size"].tolist()
    weights, center = arrays.get(f"{prefix}weights"), arrays.get(f"{prefix}center")
    return Preparation(weights, center, arrays[f"{prefix}directions"], bool(counted), typical)


PREPARATION = Packing(
    lambda preparation: (pack_preparation(preparation, ""), {}), lambda arrays, _facts: unpack_preparation(arrays, "")
)


def pack_positions(positions: Positions | None) -> dict[str, NDArray[Any]]:
    """Return the arrays of positions, except for the ids of nodes."""
    if positions is None:
        return {}
    signatures = {} if positions.signatures is None else {"positions.signatures": positions.signatures}
    return {**pack_preparation(positions.preparation, "positions."), **signatures}


def unpack_positions(arrays: Arrays, ids: NodeIds) -> Positions | None:
    """Return the positions of such arrays; None if there are none."""
    preparation = unpack_preparation(arrays, "positions.")
    return None if preparation is None else Positions(ids, arrays.get("positions.signatures"), preparation)


def make_positions_packing(ids: NodeIds) -> Packing:
    """Return how the positions of a graph with these ids are stored."""
    return Packing(
        lambda positions: (pack_positions(positions), {}), lambda arrays, _facts: unpack_positions(arrays, ids)
    )


# -- selection and combination --------------------------------------------------------------------------------------

_NOT_FINITE = ("inf", "-inf", "nan")


def pack_selection(selection: Selection) -> dict[str, Any]:
    """Return the fields of a selection; numbers that are not finite, of which JSON has none, become strings."""
    return {each.name: _to_plain(getattr(selection, each.name)) for each in fields(Selection)}


def unpack_fields(recorded: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a selection as they were before `pack_selection`."""
    return {name: _from_plain(value) for name, value in recorded.items()}


SELECTION = Packing(
    lambda selection: ({}, pack_selection(selection)), lambda _arrays, facts: Selection(**unpack_fields(facts))
)


def _to_plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _to_plain(each) for name, each in value.items()}
    return str(float(value)) if isinstance(value, float) and not math.isfinite(value) else value


def _from_plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _from_plain(each) for name, each in value.items()}
    return float(value) if isinstance(value, str) and value in _NOT_FINITE else value


def pack_combination(combination: Combination) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return the arrays and the numbers of a combination."""
    means = {f"{MEAN}{name}": each for name, each in combination.means.items()}
    arrays = {**means, "combination.projection": combination.projection}
    return arrays, {
        "weights": dict(combination.weights),
        **{name: getattr(combination, name) for name in NUMBERS},
    }


def unpack_combination(arrays: Arrays, facts: Mapping[str, Any], random_state: int) -> Combination:
    """Return the combination of such arrays and numbers."""
    weights = {str(name): float(weight) for name, weight in facts["weights"].items()}
    means = {name: arrays[f"{MEAN}{name}"] for name in weights}
    numbers = {name: facts[name] for name in NUMBERS if name in facts}  # older models store zeros as directions
    return Combination(weights, means, arrays["combination.projection"], **numbers, random_state=random_state)


def make_projection_packing(random_state: int) -> Packing:
    """Return how a combination, the rows that result and the numbers of neighbors are stored."""

    def pack(parts: tuple[Combination, FloatArray, IntArray]) -> tuple[Arrays, dict[str, Any]]:
        combination, rows, num_neighbors = parts
        arrays, facts = pack_combination(combination)
        return {**arrays, "rows": rows, "num_neighbors": num_neighbors}, facts

    def unpack(arrays: Arrays, facts: Mapping[str, Any]) -> tuple[Combination, FloatArray, IntArray]:
        return unpack_combination(arrays, facts, random_state), arrays["rows"], arrays["num_neighbors"]

    return Packing(pack, unpack)
