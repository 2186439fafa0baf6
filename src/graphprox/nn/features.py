"""FeatureMatrix: the features of a graph as the first layer multiplies them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from graphprox.arrays import Features, FloatArray
from graphprox.errors import ParameterError
from graphprox.nn.sparse import Pattern, product

SPARSE_BELOW = 0.05  # the share of filled entries below which gathering rows beats a dense product
NORMALIZATIONS = ("rows", "none")


@dataclass(frozen=True, eq=False)
class FeatureMatrix:
    """Features on a device, dense or sparse, whichever multiplies faster.

    >>> features = FeatureMatrix.of(np.eye(3, dtype=np.float32))
    >>> features.times(torch.ones(3, 2)).shape
    torch.Size([3, 2])
    """

    shape: tuple[int, int]
    dense: Tensor | None
    pattern: Pattern | None
    values: Tensor | None

    @classmethod
    def of(cls, x: Features, *, normalize: str = "none", device: torch.device | str = "cpu") -> FeatureMatrix:
        """Take features to a device; ``normalize="rows"`` scales the absolute values of each row to the sum 1."""
        if normalize not in NORMALIZATIONS:
            raise ParameterError(f"normalize must be one of {', '.join(NORMALIZATIONS)}; got {normalize!r}")
        scaled = _rows_scaled(x) if normalize == "rows" else x
        filled = scaled.nnz if isinstance(scaled, sp.csr_array) else np.count_nonzero(scaled)
        shape = (int(x.shape[0]), int(x.shape[1]))
        if filled < SPARSE_BELOW * shape[0] * shape[1]:
            matrix = sp.csr_array(scaled)
            return cls(shape, None, Pattern.of(matrix, device), torch.tensor(matrix.data, device=device))
        full = scaled.toarray() if isinstance(scaled, sp.csr_array) else scaled
        return cls(shape, torch.tensor(full, device=device), None, None)

    def times(self, weight: Tensor) -> Tensor:
        """The features times a weight matrix (features, width), with its gradient."""
        if self.dense is not None:
            return self.dense @ weight
        assert self.pattern is not None  # noqa: S101 - one of the two is there
        assert self.values is not None  # noqa: S101
        return product(self.pattern, self.values, weight)


def _rows_scaled(x: Features) -> Features:
    magnitudes: Any = abs(x)
    sums = magnitudes.sum(axis=1, dtype=np.float64)  # of which float32 could be too small to hold it
    sums[sums == 0] = 1  # a row of zeros stays one
    if isinstance(x, sp.csr_array):
        values = x.data / np.repeat(sums, np.diff(x.indptr))
        return sp.csr_array((values.astype(np.float32), x.indices, x.indptr), shape=x.shape)
    scaled: FloatArray = (x / sums[:, None]).astype(np.float32)
    return scaled
