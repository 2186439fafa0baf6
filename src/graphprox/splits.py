"""Splits: which nodes or edges are learned from, and which are held out to measure by.

A share of a number is rounded down, as is usual for 10/10/80: of 2708 nodes, 270 train, 270 validate and 2168 test.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphprox.arrays import IntArray, frozen
from graphprox.errors import GraphError, ParameterError
from graphprox.graph import UNKNOWN_LABEL, Graph

# -- nodes ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, init=False, eq=False, repr=False)
class NodeSplit:
    """Three disjoint sets of nodes: to train on, to choose by, to report on.

    Each is a sorted, read-only array of node numbers, (nodes of the part,); a part may be empty.

    >>> split = NodeSplit(train=[4, 0], validation=[1], test=[2, 3])
    >>> split
    NodeSplit(2 train, 1 validation, 2 test)
    >>> split.train.tolist()
    [0, 4]
    """

    train: IntArray
    validation: IntArray
    test: IntArray

    def __init__(self, train: ArrayLike, validation: ArrayLike, test: ArrayLike) -> None:
        given = {"train": train, "validation": validation, "test": test}
        parts = {name: _checked_nodes(name, nodes) for name, nodes in given.items()}
        for (name, part), (other_name, other) in combinations(parts.items(), 2):
            shared = np.intersect1d(part, other, assume_unique=True)
            if len(shared):
                raise ParameterError(
                    f"the parts of a split must be disjoint; got node {shared[0]} in both {name} and {other_name}"
                )
        for name, part in parts.items():
            object.__setattr__(self, name, part)

    @classmethod
    def from_masks(cls, train: ArrayLike, validation: ArrayLike, test: ArrayLike) -> NodeSplit:
        """The split that three boolean masks, (nodes,) each, describe; PyG keeps its public splits so.

        >>> NodeSplit.from_masks([True, False, False], [False, True, False], [False, False, True])
        NodeSplit(1 train, 1 validation, 1 test)
        """
        masks = {"train": np.asarray(train), "validation": np.asarray(validation), "test": np.asarray(test)}
        for name, mask in masks.items():
            if mask.dtype != np.bool_ or mask.ndim != 1:
                raise ParameterError(
                    f"{name} must be a mask, one boolean per node; got {mask.dtype} of shape {mask.shape}"
                )
        lengths = [len(mask) for mask in masks.values()]
        if len(set(lengths)) > 1:
            raise ParameterError(f"the masks of a split must be of one length, the number of nodes; got {lengths}")
        return cls(**{name: np.flatnonzero(mask) for name, mask in masks.items()})

    def training_view(self, graph: Graph) -> Graph:
        """The graph as a semi-supervised classifier may see it: labels of training nodes only, -1 for all others.

        >>> graph = Graph(x=[[1], [2], [3]], edge_index=[[0], [1]], y=[1, 0, 1])
        >>> NodeSplit(train=[0], validation=[1], test=[2]).training_view(graph).y.tolist()
        [1, -1, -1]
        """
        if graph.y is None:
            raise GraphError("a training view needs a graph with labels; got one without: give y")
        last = max((int(part[-1]) for part in (self.train, self.validation, self.test) if len(part)), default=-1)
        if last >= graph.num_nodes:
            raise ParameterError(
                f"a split must name nodes 0..{graph.num_nodes - 1} of the graph; got node {last}: "
                "was it made for another graph?"
            )
        seen = np.full(graph.num_nodes, UNKNOWN_LABEL, np.int64)
        seen[self.train] = graph.y[self.train]
        return graph.with_labels(seen, class_names=graph.class_names)

    def __repr__(self) -> str:
        return f"NodeSplit({len(self.train)} train, {len(self.validation)} validation, {len(self.test)} test)"


def random_split(
    graph: Graph, *, seed: int, train: float = 0.1, validation: float = 0.1, stratified: bool = False
) -> NodeSplit:
    """Draw a split of all nodes whose label is known, or of all nodes where the graph has no labels.

    ``train`` and ``validation`` are shares; the rest is for the test. The split depends on the seed and on which
    nodes there are to divide, on nothing else. With ``stratified`` the shares hold within each class, and a class
    of three nodes or more has at least one in each part; the split then depends on the labels too.

    >>> graph = Graph(x=[[1]] * 10, edge_index=[[0], [1]], y=[0, 1] * 5)
    >>> random_split(graph, seed=0, train=0.2, validation=0.3)
    NodeSplit(2 train, 3 validation, 5 test)
    >>> split = random_split(graph, seed=0, train=0.2, validation=0.2, stratified=True)
    >>> np.bincount(graph.y[split.train]).tolist(), np.bincount(graph.y[split.test]).tolist()
    ([1, 1], [3, 3])
    """
    _check_shares(train=train, validation=validation)
    nodes, classes = _nodes_to_divide(graph, stratified=stratified)
    drawn = _generator(seed).permutation(len(nodes))
    # A stable sort keeps the drawn order within each class, so that cutting each class is drawing from it.
    drawn = drawn[np.argsort(classes[drawn], kind="stable")]
    counts = np.unique(classes, return_counts=True)[1]
    sizes = _part_sizes(counts, train=train, validation=validation, least=int(stratified))
    _check_filled("nodes", **dict(zip(("train", "validation", "test"), sizes.sum(axis=0), strict=True)))
    # Class by class, its train, validation and test nodes follow one another.
    part = np.repeat(np.tile(np.arange(3), len(counts)), sizes.ravel())
    return NodeSplit(*(nodes[drawn[part == each]] for each in range(3)))


def _part_sizes(counts: IntArray, *, train: float, validation: float, least: int) -> IntArray:
    """How many nodes of each class go to train, validation and test, (classes, 3); where it can, ``least`` to each."""
    least_each = np.where(counts >= 3 * least, least, 0)
    to_train = np.clip(_share_of(counts, train), least_each, counts - 2 * least_each)
    to_validation = np.clip(_share_of(counts, validation), least_each, counts - to_train - least_each)
    return np.stack([to_train, to_validation, counts - to_train - to_validation], axis=1)


def _nodes_to_divide(graph: Graph, *, stratified: bool) -> tuple[IntArray, IntArray]:
    """The nodes that a split covers, and the class within which each is drawn: one for all unless stratified."""
    if graph.y is None:
        if stratified:
            raise ParameterError("stratified needs a graph with labels; got one without: leave it out, or give y")
        nodes = np.arange(graph.num_nodes)
    else:
        nodes = np.flatnonzero(graph.y != UNKNOWN_LABEL)
        if stratified:
            return nodes, graph.y[nodes]
    return nodes, np.zeros_like(nodes)


# -- edges ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class EdgeSplit:
    """A graph less some edges, and those edges, each part with as many pairs of nodes that no edge joins.

    ``graph`` has the nodes, ids and features of the whole graph, no labels, and the edges that were not held out.
    The pairs are (2, pairs of the part), read-only, sorted, each once and with source < target, also where
    the graph is directed. :func:`edge_split` makes it.
    """

    graph: Graph
    validation_edges: IntArray
    validation_non_edges: IntArray
    test_edges: IntArray
    test_non_edges: IntArray

    def __repr__(self) -> str:
        validation, test = self.validation_edges.shape[1], self.test_edges.shape[1]
        return f"EdgeSplit({self.graph!r}, {validation} validation, {test} test)"


def edge_split(graph: Graph, *, seed: int, validation: float = 0.05, test: float = 0.1) -> EdgeSplit:
    """Hold out edges to predict, and draw as many pairs to tell them from.

    ``validation`` and ``test`` are shares of the joined pairs: the unordered pairs of different nodes that an edge
    joins in either direction. Both directions leave together, so no held-out edge shows through its reverse;
    self-loops stay. Non-edges are drawn uniformly, without repeats, from the pairs that are joined in neither
    direction in the whole graph.

    >>> graph = Graph(x=[[1]] * 10, edge_index=[range(10), [*range(1, 10), 0]])
    >>> split = edge_split(graph, seed=0, validation=0.1, test=0.2)
    >>> split
    EdgeSplit(Graph(10 nodes, 7 edges, 1 features), 1 validation, 2 test)
    >>> split.test_edges.shape, split.test_non_edges.shape
    ((2, 2), (2, 2))
    """
    _check_shares(validation=validation, test=test)
    rng = _generator(seed)
    joins = graph.edge_index[0] != graph.edge_index[1]
    joined, pair_of_entry = np.unique(_pair_numbers(graph.edge_index[:, joins], graph.num_nodes), return_inverse=True)
    cut, held = _held_out_sizes(len(joined), validation=validation, test=test)
    order = rng.permutation(len(joined))[:held]
    is_kept = np.ones(len(joined), bool)
    is_kept[order] = False
    stays = np.ones(graph.num_entries, bool)
    stays[joins] = is_kept[pair_of_entry]
    edges = joined[order]
    non_edges = _draw_unjoined(joined, held, num_nodes=graph.num_nodes, rng=rng)
    return EdgeSplit(
        _with_entries(graph, stays),
        validation_edges=_pairs(edges[:cut], graph.num_nodes),
        validation_non_edges=_pairs(non_edges[:cut], graph.num_nodes),
        test_edges=_pairs(edges[cut:], graph.num_nodes),
        test_non_edges=_pairs(non_edges[cut:], graph.num_nodes),
    )


def _held_out_sizes(joined: int, *, validation: float, test: float) -> tuple[int, int]:
    """How many of the joined pairs are held out to validate, and how many in all."""
    cut = int(_share_of(joined, validation))
    held = cut + int(_share_of(joined, test))
    _check_filled("joined pairs", validation=cut, test=held - cut, train=joined - held)
    return cut, held


def _with_entries(graph: Graph, stays: NDArray[np.bool_]) -> Graph:
    """The graph without labels and with some of its entries, which stay sorted and merged as they were."""
    weight = None if graph.edge_weight is None else frozen(graph.edge_weight[stays])
    return graph.without_labels()._with(edge_index=frozen(graph.edge_index[:, stays]), edge_weight=weight)


def _draw_unjoined(joined: IntArray, size: int, *, num_nodes: int, rng: np.random.Generator) -> IntArray:
    """The numbers of ``size`` different pairs that are not among the joined ones, a sorted array; in drawn order."""
    unjoined = num_nodes * (num_nodes - 1) // 2 - len(joined)
    if unjoined < size:
        raise ParameterError(
            f"an edge split needs as many unjoined pairs as held-out edges, {size}; this graph has only {unjoined}: "
            "lower validation or test"
        )
    # The pair that comes after k unjoined ones is found, not tried for: the joined pairs that precede it are those
    # with at most k unjoined pairs before them. So a nearly complete graph costs no more than a sparse one.
    rank = rng.choice(unjoined, size, replace=False)
    found: IntArray = rank + np.searchsorted(joined - np.arange(len(joined)), rank, side="right")
    return found


# Unordered pairs of different nodes are numbered 0..N(N-1)/2 - 1 in their order: (0, 1), (0, 2), ..., (1, 2), ...


def _row_starts(low: IntArray, num_nodes: int) -> IntArray:
    """The number of the pair (low, low + 1)."""
    return low * (2 * num_nodes - low - 1) // 2


def _pair_numbers(pairs: IntArray, num_nodes: int) -> IntArray:
    """The number of each pair, given in either direction."""
    source, target = pairs
    low: IntArray = np.minimum(source, target)
    high: IntArray = np.maximum(source, target)
    return _row_starts(low, num_nodes) + high - low - 1


def _pairs(numbers: IntArray, num_nodes: int) -> IntArray:
    """The pairs with these numbers, (2, pairs), sorted and read-only."""
    numbers = np.sort(numbers)
    starts = _row_starts(np.arange(num_nodes), num_nodes)
    low = np.searchsorted(starts, numbers, side="right") - 1
    return frozen(np.stack([low, numbers - starts[low] + low + 1]))


# -- the rules, each in one place -----------------------------------------------------------------------------------


def _checked_nodes(name: str, given: ArrayLike) -> IntArray:
    listed = np.asarray(given)
    if listed.ndim != 1 or (listed.size and listed.dtype.kind not in "iu"):
        hint = ": see NodeSplit.from_masks" if listed.dtype == np.bool_ else ""
        raise ParameterError(
            f"{name} must list node numbers, which are integers; got {listed.dtype} of shape {listed.shape}{hint}"
        )
    nodes = np.sort(listed.astype(np.int64))
    if len(nodes) and nodes[0] < 0:
        raise ParameterError(f"{name} must list node numbers from 0; got {nodes[0]}")
    repeated = nodes[1:][nodes[1:] == nodes[:-1]]
    if len(repeated):
        raise ParameterError(f"{name} must list each node once; got node {repeated[0]} again")
    return frozen(nodes)


def _check_shares(**shares: Any) -> None:
    for name, share in shares.items():
        if not isinstance(share, Real) or not 0 < float(share) < 1:
            raise ParameterError(f"{name} must lie in (0, 1), a share of the whole; got {share!r}")
    if sum(shares.values()) >= 1:
        given = " + ".join(str(share) for share in shares.values())
        raise ParameterError(f"{' + '.join(shares)} must stay below 1, or nothing is left; got {given}")


def _share_of(count: IntArray | int, share: float) -> NDArray[Any]:
    # A hair more than the product, because 0.29 × 100 is 28.999999999999996 to a computer.
    return np.floor(np.asarray(count) * float(share) * (1 + 1e-12)).astype(np.int64)


def _check_filled(what: str, **sizes: int) -> None:
    for name, size in sizes.items():
        if size == 0:
            raise ParameterError(
                f"{name} must get at least one of the {what}; got none of {sum(sizes.values())}: "
                "change the shares, or take a larger graph"
            )


def _generator(seed: object) -> np.random.Generator:
    if not isinstance(seed, int | np.integer) or isinstance(seed, bool) or seed < 0:
        raise ParameterError(f"seed must be a whole number from 0; got {seed!r}")
    return np.random.default_rng(int(seed))
