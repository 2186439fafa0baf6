"""Features for a graph that has none."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp

from graphprox.arrays import IntArray, frozen_csr
from graphprox.errors import StructuralFeaturesWarning

# Up to here every node gets a column of its own; beyond, a column per node would be as wide as the graph is large.
IDENTITY_LIMIT = 1000


def structural_features(edge_index: IntArray, *, num_nodes: int, directed: bool) -> sp.csr_array:
    """Features made of the edges alone, after a warning that says so: identity, or one-hot degree buckets."""
    if num_nodes <= IDENTITY_LIMIT:
        kind, columns = "columns of an identity matrix", np.arange(num_nodes)
    else:
        kind, columns = "one-hot degree buckets", _degree_buckets(edge_index, num_nodes, directed)
    warnings.warn(
        f"the graph has no features: {kind} stand in, so feature proximity says nothing of its own",
        StructuralFeaturesWarning,
        stacklevel=3,
    )
    ones = np.ones(num_nodes, np.float32)
    shape = (num_nodes, int(columns.max()) + 1)
    return frozen_csr(sp.csr_array((ones, columns, np.arange(num_nodes + 1)), shape=shape))


def _degree_buckets(edge_index: IntArray, num_nodes: int, directed: bool) -> IntArray:
    """The half octave of each node's degree, numbered without gaps, (nodes,)."""
    source, target = edge_index
    degree = np.bincount(source, minlength=num_nodes)
    if directed:
        degree += np.bincount(target, minlength=num_nodes)
    loops = np.bincount(source[source == target], minlength=num_nodes)
    degree -= loops * (2 if directed else 1)
    octave = np.floor(2 * np.log2(degree + 1)).astype(np.int64)
    return np.unique(octave, return_inverse=True)[1].astype(np.int64)
