"""Node features in the form in which the first layer of a model multiplies them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from graphprox._utils.arrays import Features, FloatArray
from graphprox.errors import ParameterError
from graphprox.nn.sparse import SparsePattern, spmm

MAX_SPARSE_DENSITY = 0.05  # below this share of non-zero entries a sparse product is faster than a dense one
NORMALIZATIONS = ("rows", "none")
ROWS_PER_BLOCK = 2**16


@dataclass(frozen=True, eq=False)
class FeatureMatrix:
    """Feature matrix on a device, dense or sparse, whichever multiplies faster.

    Parameters
    ----------
    shape : tuple of int
        (num_nodes, num_features).
    dense : Tensor of shape (num_nodes, num_features) or None
        The features, if they are dense.
    pattern : SparsePattern or None
        Positions of the entries, if the features are sparse.
    values : Tensor of shape (num_entries,) or None
        Values of the entries, if the features are sparse.

    Examples
    --------
    >>> features = FeatureMatrix.of(np.eye(3, dtype=np.float32))
    >>> features.matmul(torch.ones(3, 2)).shape
    torch.Size([3, 2])
    """

    shape: tuple[int, int]
    dense: Tensor | None
    pattern: SparsePattern | None
    values: Tensor | None

    @classmethod
    def of(
        cls,
        x: Features,
        *,
        normalize: str = "none",
        device: torch.device | str = "cpu",
        sparse: bool | None = None,
    ) -> FeatureMatrix:
        """Create a feature matrix from an array.

        Parameters
        ----------
        x : ndarray or csr_array of shape (num_nodes, num_features)
            Features; they are copied.
        normalize : {"none", "rows"}, default="none"
            "rows" divides each row by the sum of its absolute values.
        device : device or str, default="cpu"
        sparse : bool, optional
            Whether the result is sparse; by default, if that multiplies faster.

        Returns
        -------
        FeatureMatrix
        """
        if normalize not in NORMALIZATIONS:
            raise ParameterError(f"normalize must be one of {', '.join(NORMALIZATIONS)}; got {normalize!r}")
        scaled = normalize_rows(x, absolute_row_sums(x)) if normalize == "rows" else x
        shape = (int(x.shape[0]), int(x.shape[1]))
        if is_sparse(x) if sparse is None else sparse:
            matrix = sp.csr_array(scaled)
            return cls(shape, None, SparsePattern.of(matrix, device), torch.tensor(matrix.data, device=device))
        full = scaled.toarray() if isinstance(scaled, sp.csr_array) else scaled
        return cls(shape, torch.tensor(full, device=device), None, None)

    def matmul(self, weight: Tensor) -> Tensor:
        """Multiply the features by a weight; the product is differentiable in the weight.

        Parameters
        ----------
        weight : Tensor of shape (num_features, channels)

        Returns
        -------
        Tensor of shape (num_nodes, channels)
        """
        if self.dense is not None:
            return self.dense @ weight
        assert self.pattern is not None  # noqa: S101 - either dense or sparse
        assert self.values is not None  # noqa: S101
        return spmm(self.pattern, self.values, weight)

    def to_dense(self) -> Tensor:
        """Return the features as a dense tensor, of shape (num_nodes, num_features)."""
        if self.pattern is None or self.values is None:
            return cast("Tensor", self.dense)
        places = self.pattern.rows.long(), self.pattern.columns.long()
        return self.values.new_zeros(self.shape).index_put_(places, self.values, accumulate=True)


def is_sparse(x: Features) -> bool:
    """Return whether features have so few non-zero entries that a sparse product is faster."""
    num_nonzero = x.nnz if isinstance(x, sp.csr_array) else np.count_nonzero(x)
    return bool(num_nonzero < MAX_SPARSE_DENSITY * x.shape[0] * x.shape[1])


def normalize_rows(x: Features, sums: NDArray[np.float64]) -> Features:
    """Divide the rows of features by some numbers, in double precision.

    Parameters
    ----------
    x : ndarray or csr_array of shape (num_nodes, num_features)
    sums : ndarray of shape (num_nodes,)
        From :func:`absolute_row_sums`, of the same rows and of all columns.

    Returns
    -------
    ndarray or csr_array of shape (num_nodes, num_features)

    Examples
    --------
    >>> x = np.array([[1, -3], [0, 0]], np.float32)
    >>> normalize_rows(x, absolute_row_sums(x)).tolist()
    [[0.25, -0.75], [0.0, 0.0]]
    """
    if isinstance(x, sp.csr_array):
        values = x.data / np.repeat(sums, np.diff(x.indptr))
        return sp.csr_array((values.astype(np.float32), x.indices, x.indptr), shape=x.shape)
    scaled: FloatArray = (x / sums[:, None]).astype(np.float32)
    return scaled


def absolute_row_sums(x: Features) -> NDArray[np.float64]:
    """Return the sum of the absolute values of each row, and 1 for rows of zeros, which stay zero.

    Parameters
    ----------
    x : ndarray or csr_array of shape (num_nodes, num_features)

    Returns
    -------
    ndarray of shape (num_nodes,)
    """
    sums = np.empty(x.shape[0])
    for low in range(0, x.shape[0], ROWS_PER_BLOCK):  # the absolute values of all rows would be a copy of the features
        magnitudes: Any = abs(x[low : low + ROWS_PER_BLOCK])
        sums[low : low + ROWS_PER_BLOCK] = magnitudes.sum(axis=1, dtype=np.float64)  # float32 may overflow
    sums[sums == 0] = 1
    return sums
