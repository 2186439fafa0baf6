"""Helpers that the contrastive objectives share."""

from __future__ import annotations

import math
from numbers import Real

import torch
from torch import Tensor

from graphprox.errors import ParameterError


def inverse_norms(squares: Tensor) -> Tensor:
    """Return 1 / norm for each squared norm, and 0 with gradient 0 where the norm vanishes."""
    # Smaller squares have lost digits to underflow, and their reciprocal might overflow in the gradient.
    info = torch.finfo(squares.dtype)
    is_positive = squares > info.tiny / info.eps
    # Not rsqrt, whose gradient contains a third power. Zeros never reach the root, whose slope is infinite there.
    return torch.where(is_positive, squares, 1).sqrt().reciprocal() * is_positive


def check_views(a: Tensor, b: Tensor) -> None:
    """Raise unless two views are matrices of the same shape and floating-point type."""
    if a.ndim != 2 or a.shape != b.shape:
        raise ParameterError(
            "two views must be matrices of the same shape (num_nodes, channels); "
            f"got {tuple(a.shape)} and {tuple(b.shape)}: encode all nodes in both views"
        )
    if a.dtype != b.dtype or not a.is_floating_point():
        raise ParameterError(f"two views must have the same floating-point type; got {a.dtype} and {b.dtype}")


def check_temperature(temperature: object) -> None:
    """Raise unless a temperature is a positive, finite number."""
    if not isinstance(temperature, Real) or not 0 < float(temperature) < math.inf:
        raise ParameterError(f"temperature must be a positive, finite number; got {temperature!r}")


def check_count(kind: str, count: int, *, positives_in_denominator: bool) -> None:
    """Raise unless there are enough channels or nodes to contrast."""
    if count == 0:
        raise ParameterError(f"{kind} contrast needs at least one {kind}; got none")
    if count == 1 and not positives_in_denominator:
        raise ParameterError(
            f"{kind} contrast needs at least two {kind}s, or its denominator is empty; "
            "got one: set positives_in_denominator"
        )
