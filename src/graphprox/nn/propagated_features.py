"""Features that are propagated once, before training, instead of their projection in every epoch.

Diffusion P is linear. If nothing but a linear layer precedes it, both orders give the same embedding:

    P (X W + 1 bᵀ) = (P X) W + (P 1) bᵀ

On the left, every epoch multiplies the features and passes over the edges once for each hop. On the right, P X and P 1
are computed once; every epoch multiplies P X, which is dense even if X is sparse. Which of them is cheaper depends on
the number of features, of edges and of hops: :func:`estimate_costs` tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from graphprox._utils.arrays import Features, FloatArray
from graphprox.nn.convolution import Edges
from graphprox.nn.features import ROWS_PER_BLOCK, FeatureMatrix, absolute_row_sums, normalize_rows
from graphprox.nn.propagation import diffuse

# How many operations of a dense product take as long as one of a hop, and as one of a product of sparse features. With
# one thread and 512 channels, a hop took 4 to 5 on Cora and CiteSeer, whose rows fit into the cache, and 14 on PubMed
# and CoauthorCS; sparse features took 1 to 3. These are compromises, closer to the graphs on which an epoch takes long.
HOP_OPERATION = 10
SPARSE_OPERATION = 3
PASSES = 2  # forward and backward, which take as many operations


@dataclass(frozen=True, eq=False)
class PropagatedFeatures:
    """Features after propagation along the edges of a graph or of a view.

    Parameters
    ----------
    features : FeatureMatrix of shape (num_nodes, num_features)
        P X, which is dense.
    ones : Tensor of shape (num_nodes, 1)
        P 1, by which a bias that is added before propagation is multiplied.
    """

    features: FeatureMatrix
    ones: Tensor

    def to(self, dtype: torch.dtype) -> PropagatedFeatures:
        """Return them in another floating-point type.

        Parameters
        ----------
        dtype : torch.dtype

        Returns
        -------
        PropagatedFeatures
        """
        if self.ones.dtype == dtype:
            return self
        x = self.features
        dense, values = (None if each is None else each.to(dtype) for each in (x.dense, x.values))
        return PropagatedFeatures(FeatureMatrix(x.shape, dense, x.pattern, values), self.ones.to(dtype))


class PropagationCosts(NamedTuple):
    """Operations of an epoch, forward and backward, in units of a floating-point operation of a dense product.

    Attributes
    ----------
    propagated : float
        With propagated features: their product with the weight, and the share of the epoch in computing them.
    projected : float
        Without: the share of the source in the product of the features with the weight, and the hops.
    """

    propagated: float
    projected: float


def estimate_costs(
    features: FeatureMatrix, edges: Edges, *, hops: int, channels: int, uses: float, sharing: int = 1
) -> PropagationCosts:
    """Estimate what an epoch costs with propagated features, and without.

    A product of a dense matrix with a weight takes 2 · num_nodes · num_features · channels operations, a product of a
    sparse one 2 · num_entries · channels, and so does a hop. As these read memory at random, their operations count
    ``SPARSE_OPERATION`` and ``HOP_OPERATION`` times. Biases and other work in proportion to the output are left out.

    Parameters
    ----------
    features : FeatureMatrix of shape (num_nodes, num_features)
    edges : Edges
    hops : int
    channels : int
        Number of columns of the weight.
    uses : float
        Number of epochs for which propagated features are used.
    sharing : int, default=1
        Number of sources that share one product of the features with the weight; propagated features differ between
        sources.

    Returns
    -------
    PropagationCosts

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> features = FeatureMatrix.of(np.ones((100, 8), np.float32))
    >>> edges = Edges.of(sp.eye_array(100, format="csr", dtype=np.float32))
    >>> costs = estimate_costs(features, edges, hops=10, channels=64, uses=20)
    >>> costs.propagated < costs.projected
    True
    """
    num_nodes, num_features = features.shape
    hop = 2 * edges.pattern.num_entries * HOP_OPERATION  # of one column
    dense_product = 2 * num_nodes * num_features * channels
    product = (
        dense_product if features.pattern is None else 2 * features.pattern.num_entries * channels * SPARSE_OPERATION
    )
    # Costs of parts add up, so that all parts decide alike.
    return PropagationCosts(
        propagated=edges.part.total(PASSES * dense_product + hops * hop * num_features / uses),  # without a gradient
        projected=edges.part.total(PASSES * (product / sharing + hops * hop * channels)),
    )


def propagate_columns(
    x: Features, diffuse: Callable[[FloatArray], FloatArray], *, normalize: str, width: int
) -> Iterator[FloatArray]:
    """Yield the diffused features and, as the last column, the diffused ones: some columns at a time.

    Parameters
    ----------
    x : ndarray or csr_array of shape (num_nodes, num_features)
    diffuse : callable
        Diffuses every column of an array of shape (num_nodes, columns).
    normalize : {"none", "rows"}
        As :meth:`FeatureMatrix.of` does.
    width : int
        Largest number of columns at a time. Only arrays of this many columns are in memory.

    Yields
    ------
    ndarray of shape (num_nodes, columns)

    Examples
    --------
    >>> x = np.array([[4.0], [2.0]], np.float32)
    >>> [block.tolist() for block in propagate_columns(x, np.flipud, normalize="none", width=1)]
    [[[2.0], [4.0]], [[1.0], [1.0]]]
    """
    num_nodes, num_features = x.shape
    sums = absolute_row_sums(x) if normalize == "rows" else None
    columns: Any = x.tocsc() if isinstance(x, sp.csr_array) else x
    for low in range(0, num_features + 1, width):
        high = min(low + width, num_features + 1)
        block = np.ones((num_nodes, high - low), np.float32)
        chosen: Any = columns[:, low : min(high, num_features)]
        chosen = chosen.tocsr() if isinstance(x, sp.csr_array) else chosen
        for rows in (slice(each, each + ROWS_PER_BLOCK) for each in range(0, num_nodes, ROWS_PER_BLOCK)):
            scaled = chosen[rows] if sums is None else normalize_rows(chosen[rows], sums[rows])
            block[rows, : chosen.shape[1]] = scaled.toarray() if isinstance(scaled, sp.csr_array) else scaled
        yield diffuse(block)


@torch.no_grad()
def propagate_features(features: FeatureMatrix, edges: Edges, coefficients: Sequence[float]) -> PropagatedFeatures:
    """Diffuse all features, and the ones that a bias is multiplied by.

    Parameters
    ----------
    features : FeatureMatrix of shape (num_nodes, num_features)
    edges : Edges
        Entries of the propagation matrix.
    coefficients : sequence of float
        Coefficient of each number of hops, from 0 on.

    Returns
    -------
    PropagatedFeatures

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> edges = Edges.of(sp.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]], np.float32)))
    >>> propagated = propagate_features(FeatureMatrix.of(np.array([[4.0], [2.0]], np.float32)), edges, [0.0, 1.0])
    >>> propagated.features.dense.tolist(), propagated.ones.tolist()
    ([[2.0], [4.0]], [[1.0], [1.0]])
    """
    x = features.to_dense()
    dense, ones = (diffuse(edges, each, coefficients) for each in (x, x.new_ones(len(x), 1)))
    return PropagatedFeatures(FeatureMatrix(features.shape, dense, None, None), ones)
