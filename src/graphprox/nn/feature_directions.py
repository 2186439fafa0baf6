"""Leading singular directions of features, onto which a model with fewer columns projects them.

The right singular vectors are the eigenvectors of XᵀX, a sum over nodes: it is added up in blocks of rows, so that
neither a copy of the features nor another matrix of all nodes is in memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh

from graphprox._utils.allocation import check_memory
from graphprox._utils.arrays import Features, FloatArray
from graphprox.errors import ParameterError
from graphprox.nn.features import ROWS_PER_BLOCK, absolute_row_sums, normalize_rows

ARRAYS = 3  # of num_features squared: the sum, the product of a block, and the workspace of the solver


def leading_directions(x: Features, count: int, *, normalize: str = "none") -> FloatArray:
    """Return the right singular vectors of features that belong to the largest singular values.

    Parameters
    ----------
    x : ndarray or csr_array of shape (num_nodes, num_features)
    count : int
        At most ``num_features``.
    normalize : {"none", "rows"}, default="none"
        As for :meth:`~graphprox.nn.features.FeatureMatrix.of`.

    Returns
    -------
    ndarray of shape (num_features, count)
        Orthonormal columns, the most important first. The largest entry of each is positive.

    Examples
    --------
    >>> leading_directions(np.array([[3.0, 0.0], [0.0, 1.0], [3.0, 0.0]], np.float32), 1).tolist()
    [[1.0], [0.0]]
    """
    size = x.shape[1]
    check_memory(ARRAYS * 8 * size**2, f"the products of {size:,} columns of features", error=ParameterError)
    total = np.zeros((size, size))
    for low in range(0, x.shape[0], ROWS_PER_BLOCK):
        block: Any = x[low : low + ROWS_PER_BLOCK]
        scaled: Any = normalize_rows(block, absolute_row_sums(block)) if normalize == "rows" else block
        scaled = scaled.astype(np.float64)
        product = scaled.T @ scaled
        total += product.toarray() if hasattr(product, "toarray") else product
    _, vectors = eigh(total, subset_by_index=[size - count, size - 1])
    vectors = vectors[:, ::-1]
    # An eigenvector has no sign of its own.
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(count)])
    directions: FloatArray = np.ascontiguousarray(vectors * signs, np.float32)
    return directions
