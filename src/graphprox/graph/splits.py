"""Splits of nodes and edges into training, validation and test parts.

Shares are rounded down: with 10/10/80, 2708 nodes are split into 270 for training, 270 for validation and 2168 for
testing.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphprox._utils.arrays import IntArray, ReadOnlyArrays, freeze, to_array
from graphprox._utils.random import RandomState, Stream, make_generator
from graphprox.errors import ParameterError
from graphprox.graph.graph import UNKNOWN_LABEL, Graph
from graphprox.graph.validation import GraphLike, check_graph

VAL_EDGES, TEST_EDGES = 0.05, 0.1  # shares of the edges that are held out for link prediction by default

# -- nodes ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, init=False, eq=False, repr=False)
class NodeSplit(ReadOnlyArrays):
    """Three disjoint sets of nodes.

    Parameters
    ----------
    train : array-like of shape (n_train,)
        Node numbers of the training part.
    val : array-like of shape (n_val,)
        Node numbers of the validation part, by which settings are selected.
    test : array-like of shape (n_test,)
        Node numbers of the test part, on which scores are reported.

    Attributes
    ----------
    train, val, test : ndarray
        The parts, sorted and read-only. A part may be empty.

    Examples
    --------
    >>> split = NodeSplit(train=[4, 0], val=[1], test=[2, 3])
    >>> split
    NodeSplit(2 train, 1 val, 2 test)
    >>> split.train.tolist()
    [0, 4]
    """

    train: IntArray
    val: IntArray
    test: IntArray

    def __init__(self, train: ArrayLike, val: ArrayLike, test: ArrayLike) -> None:
        parts = {name: _check_nodes(name, nodes) for name, nodes in (("train", train), ("val", val), ("test", test))}
        for (name, part), (other_name, other) in combinations(parts.items(), 2):
            shared = np.intersect1d(part, other, assume_unique=True)
            if len(shared):
                raise ParameterError(
                    f"the parts of a split must be disjoint; got node {shared[0]} in both {name} and {other_name}"
                )
        for name, part in parts.items():
            object.__setattr__(self, name, part)

    @classmethod
    def from_masks(cls, train: ArrayLike, val: ArrayLike, test: ArrayLike) -> NodeSplit:
        """Create a split from three boolean masks, as PyG stores its public splits.

        Parameters
        ----------
        train, val, test : array-like of shape (num_nodes,)
            Boolean masks.

        Returns
        -------
        NodeSplit

        Examples
        --------
        >>> NodeSplit.from_masks([True, False, False], [False, True, False], [False, False, True])
        NodeSplit(1 train, 1 val, 1 test)
        """
        masks = {name: to_array(mask, name) for name, mask in (("train", train), ("val", val), ("test", test))}
        for name, mask in masks.items():
            if mask.dtype != np.bool_ or mask.ndim != 1:
                raise ParameterError(
                    f"{name} must be a mask, one boolean per node; got {mask.dtype} of shape {mask.shape}"
                )
        lengths = [len(mask) for mask in masks.values()]
        if len(set(lengths)) > 1:
            raise ParameterError(f"the masks of a split must have the same length, the number of nodes; got {lengths}")
        return cls(**{name: np.flatnonzero(mask) for name, mask in masks.items()})

    def __repr__(self) -> str:
        return f"NodeSplit({len(self.train)} train, {len(self.val)} val, {len(self.test)} test)"


def random_split(
    graph: GraphLike,
    *,
    random_state: RandomState = 0,
    train: float = 0.1,
    val: float = 0.1,
    stratified: bool = False,
    stream: Stream = "own",
) -> NodeSplit:
    """Split the labeled nodes at random, or all nodes if the graph has no labels.

    Parameters
    ----------
    graph : Graph or Dataset
        The graph, or whatever else :func:`graphprox.check_graph` accepts. If it has labels, nodes without one are in
        no part.
    random_state : int, RandomState, Generator or None, default=0
        Random seed. The split depends only on it and on which nodes are labeled, and
        on the labels if ``stratified``.
    train : float, default=0.1
        Share of the training part.
    val : float, default=0.1
        Share of the validation part. The remaining nodes are the test part.
    stratified : bool, default=False
        Whether the shares hold within each class. A class of three or more nodes then has at least one in each part.
    stream : {"own", "legacy"}, default="own"
        Stream of random numbers. ``"own"`` is used by nothing else, so that a split is independent of labels or edges
        that were drawn from the same seed. ``"legacy"`` is ``numpy.random.default_rng(seed)``, and repeats the splits
        of version 0.1 and of the reproduction.

    Returns
    -------
    NodeSplit

    Examples
    --------
    >>> graph = Graph(x=[[1]] * 10, edge_index=[[0], [1]], y=[0, 1] * 5)
    >>> random_split(graph, random_state=0, train=0.2, val=0.3)
    NodeSplit(2 train, 3 val, 5 test)
    >>> split = random_split(graph, random_state=0, train=0.2, val=0.2, stratified=True)
    >>> np.bincount(graph.y[split.train]).tolist(), np.bincount(graph.y[split.test]).tolist()
    ([1, 1], [3, 3])
    """
    _check_shares(train=train, val=val)
    graph = check_graph(graph)
    nodes, strata = _find_strata(graph, stratified=stratified)
    order = make_generator(random_state, "random_split", stream=stream).permutation(len(nodes))
    # A stable sort keeps the random order within each stratum, so each can be cut into consecutive parts.
    order = order[np.argsort(strata[order], kind="stable")]
    counts = np.unique(strata, return_counts=True)[1]
    sizes = _part_sizes(counts, train=train, val=val, min_size=int(stratified))
    _check_not_empty("nodes", **dict(zip(("train", "val", "test"), sizes.sum(axis=0), strict=True)))
    part = np.repeat(np.tile(np.arange(3), len(counts)), sizes.ravel())
    return NodeSplit(*(nodes[order[part == each]] for each in range(3)))


def _part_sizes(counts: IntArray, *, train: float, val: float, min_size: int) -> IntArray:
    """Return the sizes of the parts of each stratum, (n_strata, 3), at least ``min_size`` where possible."""
    min_each = np.where(counts >= 3 * min_size, min_size, 0)
    n_train = np.clip(_round_share(counts, train), min_each, counts - 2 * min_each)
    n_val = np.clip(_round_share(counts, val), min_each, counts - n_train - min_each)
    return np.stack([n_train, n_val, counts - n_train - n_val], axis=1)


def _find_strata(graph: Graph, *, stratified: bool) -> tuple[IntArray, IntArray]:
    """Return the nodes to split and the stratum of each: its class, or 0 unless stratified."""
    if graph.y is None:
        if stratified:
            raise ParameterError("stratified requires a graph with labels; got one without: omit it, or give y")
        nodes = np.arange(graph.num_nodes)
    else:
        nodes = np.flatnonzero(graph.y != UNKNOWN_LABEL)
        if stratified:
            return nodes, graph.y[nodes]
    return nodes, np.zeros_like(nodes)


# -- edges ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class EdgeSplit(ReadOnlyArrays):
    """Held-out edges, as many non-edges, and the graph without the held-out edges; see `edge_split`.

    Pairs of nodes are sorted, unique and read-only, with source < target even if the graph is directed.

    Attributes
    ----------
    graph : Graph
        The nodes, ids and features of the original graph and the edges that are not held out, without labels. Features
        that were computed from edges are computed again from those that remain.
    val_edges : ndarray of shape (2, n_val)
        Held-out edges of the validation part.
    val_non_edges : ndarray of shape (2, n_val)
        As many pairs of nodes without an edge.
    test_edges : ndarray of shape (2, n_test)
        Held-out edges of the test part.
    test_non_edges : ndarray of shape (2, n_test)
        As many pairs of nodes without an edge.
    """

    graph: Graph
    val_edges: IntArray
    val_non_edges: IntArray
    test_edges: IntArray
    test_non_edges: IntArray

    def __repr__(self) -> str:
        return f"EdgeSplit({self.graph!r}, {self.val_edges.shape[1]} val, {self.test_edges.shape[1]} test)"


def edge_split(
    graph: GraphLike,
    *,
    random_state: RandomState = 0,
    val: float = VAL_EDGES,
    test: float = TEST_EDGES,
    stream: Stream = "own",
) -> EdgeSplit:
    """Hold out edges for link prediction, and sample as many non-edges.

    Shares refer to adjacent pairs: the unordered pairs of distinct nodes with an edge in either direction. Both
    directions are held out together, so no held-out edge leaks through its reverse; self-loops are kept. Non-edges
    are sampled uniformly without replacement from the pairs that have no edge in either direction.

    Parameters
    ----------
    graph : Graph or Dataset
        The graph, or whatever else :func:`graphprox.check_graph` accepts.
    random_state : int, RandomState, Generator or None, default=0
        Random seed.
    val : float, default=0.05
        Share of the validation part.
    test : float, default=0.1
        Share of the test part.
    stream : {"own", "legacy"}, default="own"
        Stream of random numbers, as for :func:`random_split`.

    Returns
    -------
    EdgeSplit

    Examples
    --------
    >>> graph = Graph(x=[[1]] * 10, edge_index=[range(10), [*range(1, 10), 0]])
    >>> split = edge_split(graph, random_state=0, val=0.1, test=0.2)
    >>> split
    EdgeSplit(Graph(10 nodes, 7 edges, 1 features), 1 val, 2 test)
    >>> split.test_edges.shape, split.test_non_edges.shape
    ((2, 2), (2, 2))
    """
    _check_shares(val=val, test=test)
    graph = check_graph(graph)
    rng = make_generator(random_state, "edge_split", stream=stream)
    is_pair = graph.edge_index[0] != graph.edge_index[1]
    adjacent, pair_of_entry = np.unique(
        _encode_pairs(graph.edge_index[:, is_pair], graph.num_nodes), return_inverse=True
    )
    n_val, n_test = _held_out_sizes(len(adjacent), val=val, test=test)
    held_out = rng.permutation(len(adjacent))[: n_val + n_test]
    is_kept = np.ones(len(adjacent), bool)
    is_kept[held_out] = False
    keep = np.ones(graph.num_entries, bool)
    keep[is_pair] = is_kept[pair_of_entry]
    edges = adjacent[held_out]
    non_edges = _sample_non_edges(adjacent, n_val + n_test, num_nodes=graph.num_nodes, rng=rng)
    return EdgeSplit(
        _select_entries(graph, keep),
        val_edges=_decode_pairs(edges[:n_val], graph.num_nodes),
        val_non_edges=_decode_pairs(non_edges[:n_val], graph.num_nodes),
        test_edges=_decode_pairs(edges[n_val:], graph.num_nodes),
        test_non_edges=_decode_pairs(non_edges[n_val:], graph.num_nodes),
    )


def _held_out_sizes(num_pairs: int, *, val: float, test: float) -> tuple[int, int]:
    n_val, n_test = int(_round_share(num_pairs, val)), int(_round_share(num_pairs, test))
    _check_not_empty("adjacent pairs", val=n_val, test=n_test, train=num_pairs - n_val - n_test)
    return n_val, n_test


def _select_entries(graph: Graph, keep: NDArray[np.bool_]) -> Graph:
    """Return the graph without labels and with some of its entries, which stay in canonical form."""
    weight = None if graph.edge_weight is None else graph.edge_weight[keep]
    return graph.without_labels()._with_edges(graph.edge_index[:, keep], weight, directed=graph.directed)


def _sample_non_edges(adjacent: IntArray, size: int, *, num_nodes: int, rng: np.random.Generator) -> IntArray:
    """Sample the numbers of ``size`` pairs that are not in the sorted array ``adjacent``, without replacement."""
    num_non_edges = num_nodes * (num_nodes - 1) // 2 - len(adjacent)
    if num_non_edges < size:
        raise ParameterError(
            f"an edge split requires as many non-edges as held-out edges, {size}; this graph has only "
            f"{num_non_edges}: lower val or test"
        )
    # The k-th non-edge is computed instead of sampled by rejection: the adjacent pairs before it are those with at
    # most k non-edges before them. A nearly complete graph is therefore as fast as a sparse one.
    rank = rng.choice(num_non_edges, size, replace=False)
    pairs: IntArray = rank + np.searchsorted(adjacent - np.arange(len(adjacent)), rank, side="right")
    return pairs


# Unordered pairs of distinct nodes are numbered 0..N(N-1)/2 - 1 in the order (0, 1), (0, 2), ..., (1, 2), ...


def _row_starts(low: IntArray, num_nodes: int) -> IntArray:
    """Return the number of the pair (low, low + 1)."""
    return low * (2 * num_nodes - low - 1) // 2


def _encode_pairs(pairs: IntArray, num_nodes: int) -> IntArray:
    """Return the number of each pair, in either direction."""
    source, target = pairs
    low: IntArray = np.minimum(source, target)
    high: IntArray = np.maximum(source, target)
    return _row_starts(low, num_nodes) + high - low - 1


def _decode_pairs(numbers: IntArray, num_nodes: int) -> IntArray:
    """Return the pairs with these numbers, (2, num_pairs), sorted and read-only."""
    numbers = np.sort(numbers)
    starts = _row_starts(np.arange(num_nodes), num_nodes)
    low = np.searchsorted(starts, numbers, side="right") - 1
    return freeze(np.stack([low, numbers - starts[low] + low + 1]))


# -- validation -----------------------------------------------------------------------------------------------------


def _check_nodes(name: str, nodes: ArrayLike) -> IntArray:
    array = to_array(nodes, name)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        hint = ": see NodeSplit.from_masks" if array.dtype == np.bool_ else ""
        raise ParameterError(
            f"{name} must be a list of integer node numbers; got {array.dtype} of shape {array.shape}{hint}"
        )
    array = np.sort(array.astype(np.int64))
    if len(array) and array[0] < 0:
        raise ParameterError(f"{name} must contain node numbers >= 0; got {array[0]}")
    repeated = array[1:][array[1:] == array[:-1]]
    if len(repeated):
        raise ParameterError(f"{name} must list each node once; got node {repeated[0]} again")
    return freeze(array)


def _check_shares(**shares: Any) -> None:
    for name, share in shares.items():
        if not isinstance(share, Real) or not 0 < float(share) < 1:
            raise ParameterError(f"{name} must be a share between 0 and 1, both excluded; got {share!r}")
    if sum(shares.values()) >= 1:
        total = " + ".join(str(share) for share in shares.values())
        raise ParameterError(f"{' + '.join(shares)} must be less than 1; got {total}")


def _round_share(count: IntArray | int, share: float) -> NDArray[Any]:
    # The tolerance corrects products such as 0.29 * 100 = 28.999999999999996.
    return np.floor(np.asarray(count) * float(share) * (1 + 1e-12)).astype(np.int64)


def _check_not_empty(what: str, **sizes: int) -> None:
    for name, size in sizes.items():
        if size == 0:
            raise ParameterError(
                f"{name} must get at least one of the {what}; got none of {sum(sizes.values())}: "
                "change the shares, or use a larger graph"
            )
