"""Features for a graph that has none, computed from its edges."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp

from graphprox._utils.arrays import IntArray, freeze_csr
from graphprox._utils.stacklevel import find_stacklevel
from graphprox.errors import StructuralFeaturesWarning

# Larger graphs get degree buckets: an identity matrix would have as many columns as the graph has nodes.
IDENTITY_LIMIT = 1000


def structural_features(edge_index: IntArray, *, num_nodes: int, directed: bool) -> sp.csr_array:
    """Compute features from the edges alone, with a `StructuralFeaturesWarning`.

    Parameters
    ----------
    edge_index : ndarray of shape (2, num_entries)
        Edges in canonical form.
    num_nodes : int
        Number of nodes.
    directed : bool
        Whether edges have a direction.

    Returns
    -------
    csr_array of shape (num_nodes, num_features)
        An identity matrix for up to ``IDENTITY_LIMIT`` nodes, otherwise the one-hot encoded bucket of each degree.
    """
    if num_nodes <= IDENTITY_LIMIT:
        kind, columns = "one-hot vectors of the nodes (an identity matrix)", np.arange(num_nodes)
    else:
        kind, columns = "one-hot degree buckets of the nodes", _degree_buckets(edge_index, num_nodes, directed)
    warnings.warn(
        f"the graph has no features; {kind} are used instead, which contain nothing beyond the edges: add features if "
        "there are some",
        StructuralFeaturesWarning,
        stacklevel=find_stacklevel(),
    )
    ones = np.ones(num_nodes, np.float32)
    shape = (num_nodes, int(columns.max()) + 1)
    return freeze_csr(sp.csr_array((ones, columns, np.arange(num_nodes + 1)), shape=shape))


def _degree_buckets(edge_index: IntArray, num_nodes: int, directed: bool) -> IntArray:
    """Return the bucket of each node's degree, two per octave, numbered without gaps."""
    source, target = edge_index
    degree = np.bincount(source, minlength=num_nodes)
    if directed:
        degree += np.bincount(target, minlength=num_nodes)
    loops = np.bincount(source[source == target], minlength=num_nodes)
    degree -= loops * (2 if directed else 1)
    bucket = np.floor(2 * np.log2(degree + 1)).astype(np.int64)
    return np.unique(bucket, return_inverse=True)[1].astype(np.int64)
