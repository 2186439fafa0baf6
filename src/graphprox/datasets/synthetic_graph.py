"""The built-in graph, whose classes require edges, features and local structure together.

It models people of seven classes in three families. Each family is classified by a different proximity:

    readers (2 classes)   have the same words and the same structure: only their neighbors distinguish arts from
                          science, above all the popular writers, to whom most edges of readers and writers lead
    writers (2 classes)   are linked to popular writers of both topics equally: their own noisy words distinguish
                          arts from science
    groups (3 classes)    have the same words and random neighbors outside: only the shape of the group, a clique, a
                          star or a ring of six, distinguishes them

A logistic regression trained on 10 % of the nodes of the default graph has an accuracy of 55 to 61 % with one of the
three, 80 to 83 % with two, and 93 % with all of them; tests/datasets/test_synthetic_graph.py measures it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from graphprox._utils.allocation import check_memory
from graphprox._utils.arrays import FloatArray, IntArray, freeze
from graphprox._utils.checks import is_integer
from graphprox._utils.random import RandomState, check_seed
from graphprox.errors import ParameterError
from graphprox.graph.graph import Graph

CLASS_NAMES = (
    "arts readers",
    "science readers",
    "arts writers",
    "science writers",
    "clique members",
    "star members",
    "ring members",
)
FREE_CLASSES = 4  # readers and writers, whose edges are random; the others are groups
VOCABULARY = np.array([0, 0, 1, 2, 3, 3, 3])  # of each class: both classes of readers share one, and so do the groups
NUM_VOCABULARIES = 4
MIN_NODES = 140  # twenty per class: three groups, and five popular writers of each topic

GROUP_SIZE = 6
# Edges to other families of each member of a clique, a star and a ring: 1/6, 2/3 (of the center 2/7) and 1/3 of its
# edges. A mean over neighbors only reflects the shape by this dilution: with one edge each, features smoothed twice
# separate stars from rings with an accuracy of 62 %, with two edges of 86 %. Leaves of a star then also have the
# degree of ring members, so that the degree alone does not reveal the shape.
OUTSIDE_LINKS = np.array([1, 2, 1])

# Share of popular writers. Edges of readers, which would reveal the topic of a writer, lead to popular writers; as most
# writers are not popular, edges do not reveal their topic.
POPULAR_SHARE = 0.25
# Share of the edges of a reader or writer that lead to its own family and not to a popular writer. It is large enough
# that a mean over neighbors preserves a writer's topic. The price is that edges alone classify about four of five
# writers (three of four at 0.25, nine of ten at 0.5), and words nearly all.
FELLOW_SHARE = 0.4
# Maximum share of the pairs of readers and popular writers, as edges are sampled by rejection of duplicates.
MAX_DENSITY = 0.75

CIRCLE_SIZE = 20
MAX_NOISE = 1000
ROWS_PER_BLOCK = 1 << 16
STREAM = 1741  # an arbitrary number


def synthetic(
    *,
    nodes: int = 840,
    edges_per_node: float = 4.0,
    features: int = 32,
    homophily: float = 0.95,
    noise: float = 0.7,
    style: float = 0.9,
    random_state: RandomState = 0,
) -> Graph:
    """Generate an undirected graph whose seven classes require edges, features and local structure together.

    Parameters
    ----------
    nodes : int, default=840
        Number of nodes, at least 140. All classes have the same size; the order is random.
    edges_per_node : float, default=4.0
        Number of edges divided by the number of nodes.
    features : int, default=32
        Number of features, at least 4. They are dense and non-negative.
    homophily : float, default=0.95
        Share of the edges that follow the class; at 0.5 readers are linked to both topics equally.
    noise : float, default=0.7
        Standard deviation of the features, whose class means differ by 1.
    style : float, default=0.9
        Correlation of the noise within circles of about twenty nodes of the same vocabulary. At 0, the nearest of a
        million nodes are arbitrary, and approximate searches fail.
    random_state : int, RandomState, Generator or None, default=0
        Random seed: the same integer and parameters give the same graph.

    Returns
    -------
    Graph

    Raises
    ------
    ParameterError
        If a parameter is out of range.

    Examples
    --------
    >>> graph = synthetic()
    >>> graph
    Graph(840 nodes, 3360 edges, 32 features, 7 classes)
    >>> [graph.class_names[each] for each in graph.y[:3]]
    ['ring members', 'arts writers', 'arts writers']
    """
    _check(nodes=nodes, features=features, homophily=homophily, noise=noise, style=style)
    _check_size(nodes=nodes, features=features, edges_per_node=edges_per_node)
    # A separate stream: a legacy split uses default_rng(seed).permutation(nodes), which must not undo the shuffle.
    rng = np.random.default_rng([check_seed(random_state), STREAM])
    layout = _make_layout(nodes)
    place = rng.permutation(nodes)  # new position of each node, so that it does not reveal the class
    edges = place[_make_edges(layout, edges_per_node, homophily=homophily, rng=rng)]
    y = np.empty(nodes, np.int64)
    y[place] = layout.y
    x = _make_features(VOCABULARY[y], features=features, noise=noise, style=style, rng=rng)
    return Graph(freeze(x), edges, y=freeze(y), class_names=CLASS_NAMES)


# -- validation -----------------------------------------------------------------------------------------------------


def _check(*, nodes: int, features: int, homophily: float, noise: float, style: float) -> None:
    _check_integer("nodes", nodes, min_value=MIN_NODES)
    _check_integer("features", features, min_value=NUM_VOCABULARIES)
    if not 0 <= homophily <= 1:
        raise ParameterError(f"homophily must be between 0 and 1; got {homophily}")
    if not 0 <= noise <= MAX_NOISE:
        raise ParameterError(f"noise must be between 0 and {MAX_NOISE}; got {noise}")
    if not 0 <= style <= 1:
        raise ParameterError(f"style must be between 0 and 1; got {style}")


def _check_size(*, nodes: int, features: int, edges_per_node: float) -> None:
    """Check that the graph would fit into memory."""
    edges = edges_per_node if 0 < edges_per_node < math.inf else 0.0  # others are rejected later
    # float32 features; keys, sources and targets of edges in both directions, while they are sorted.
    wanted = int(nodes) * (4 * int(features) + math.ceil(100 * edges) + 100)
    check_memory(wanted, f"synthetic with {nodes:,} nodes", error=ParameterError)


def _check_integer(name: str, value: int, *, min_value: int) -> None:
    if not is_integer(value) or value < min_value:
        raise ParameterError(f"{name} must be an integer of at least {min_value}; got {value!r}")


def _num_free_edges(layout: _Layout, edges_per_node: float) -> int:
    """Return the number of edges of readers and writers, which are those not used by the groups."""
    nodes, free = len(layout.y), layout.num_free
    taken = layout.group_edges.shape[1] + int(layout.size[FREE_CLASSES:] @ OUTSIDE_LINKS)
    # Every reader and writer needs an edge, and sampling needs enough unused pairs.
    max_per_node = MAX_DENSITY * layout.popular.min() / (1 - FELLOW_SHARE)
    low, high = (taken + free) / nodes, (taken + free * max_per_node) / nodes
    if not low <= edges_per_node <= high:
        raise ParameterError(
            f"edges_per_node must be between {_up(low):.2f} and {_down(high):.2f} for {nodes} nodes; "
            f"got {edges_per_node}"
        )
    return int(round(nodes * edges_per_node) - taken)


def _up(value: float) -> float:
    return float(np.ceil(value * 100) / 100)


def _down(value: float) -> float:
    return float(np.floor(value * 100) / 100)


# -- deterministic part, sorted by class ----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Layout:
    """The nodes sorted by class, and the edges that are not random."""

    y: IntArray  # (nodes,) sorted
    start: IntArray  # (classes,) the first node of each
    size: IntArray  # (classes,)
    popular: IntArray  # (2,) number of popular writers of each topic, the first of their class
    group_edges: IntArray  # (2, edges) inside cliques, stars and rings

    @property
    def num_free(self) -> int:
        return int(self.start[FREE_CLASSES])


def _make_layout(nodes: int) -> _Layout:
    y = np.arange(nodes) * len(CLASS_NAMES) // nodes
    size = np.bincount(y)
    start = np.cumsum(size) - size
    shapes = (_clique, _star, _ring)
    inside = [
        shape(*_groups(int(size[each]))) + start[each]
        for each, shape in zip(range(FREE_CLASSES, len(CLASS_NAMES)), shapes, strict=True)
    ]
    return _Layout(y, start, size, (size[2:4] * POPULAR_SHARE).astype(np.int64), np.concatenate(inside, axis=1))


def _groups(count: int) -> tuple[IntArray, IntArray]:
    """Return the position of each node in its group, and the size of the group, at least GROUP_SIZE."""
    group = np.arange(count) * (count // GROUP_SIZE) // count
    size = np.bincount(group)
    return np.arange(count) - (np.cumsum(size) - size)[group], size[group]


def _clique(position: IntArray, size: IntArray) -> IntArray:
    later = [np.flatnonzero(position + step < size) for step in range(1, int(size.max()))]
    return np.concatenate([np.stack([node, node + step]) for step, node in enumerate(later, start=1)], axis=1)


def _star(position: IntArray, _size: IntArray) -> IntArray:
    leaf = np.flatnonzero(position)
    return np.stack([leaf - position[leaf], leaf])


def _ring(position: IntArray, size: IntArray) -> IntArray:
    node = np.arange(len(position))
    return np.stack([node, node - position + (position + 1) % size])


# -- random part ----------------------------------------------------------------------------------------------------


def _make_edges(layout: _Layout, edges_per_node: float, *, homophily: float, rng: Generator) -> IntArray:
    """Return all edges once, (2, edges)."""
    count = _num_free_edges(layout, edges_per_node)
    outside = _sample_outside_edges(layout, rng)
    free = _sample_free_edges(layout, count, homophily=homophily, rng=rng)
    return np.concatenate([layout.group_edges, outside, free], axis=1)


def _sample_outside_edges(layout: _Layout, rng: Generator) -> IntArray:
    """Sample edges from group members to readers or writers, two different ones for members of a star."""
    member = np.arange(layout.num_free, len(layout.y))
    first = rng.integers(layout.num_free, size=len(member))
    twice = OUTSIDE_LINKS[layout.y[member] - FREE_CLASSES] == 2
    second = (first + rng.integers(1, layout.num_free, size=len(member))) % layout.num_free
    return np.concatenate([np.stack([member, first]), np.stack([member, second])[:, twice]], axis=1)


def _sample_free_edges(layout: _Layout, count: int, *, homophily: float, rng: Generator) -> IntArray:
    """Sample exactly ``count`` distinct edges of readers and writers, (2, count)."""
    num_free = layout.num_free
    # All are sources equally often and at least once: no node is isolated, and the degree does not reveal the class.
    source = np.resize(rng.permutation(num_free), count)
    keys = np.empty(0, np.int64)
    while len(source):
        target = _sample_targets(source, layout, homophily=homophily, rng=rng)
        new = np.minimum(source, target) * num_free + np.maximum(source, target)
        keys = _unique(np.concatenate([keys, new]))
        source = rng.integers(num_free, size=count - len(keys))  # to replace duplicates
    return np.stack(np.divmod(keys, num_free))


def _unique(keys: IntArray) -> IntArray:
    """Sort the keys and remove duplicates; np.unique is many times slower for ten million keys."""
    keys.sort()
    return keys[np.diff(keys, prepend=-1) > 0]


def _sample_targets(source: IntArray, layout: _Layout, *, homophily: float, rng: Generator) -> IntArray:
    """Sample the target of each source: of its family or a popular writer, of its own topic or the other."""
    topic = layout.y[source] % 2
    writer = layout.y[source] >= 2
    fellow = rng.random(len(source), dtype=np.float32) < FELLOW_SHARE
    # Writers are linked to popular writers of both topics equally, or the edges would reveal their topic.
    same_topic = np.where(writer & ~fellow, np.float32(0.5), np.float32(homophily))
    topic ^= rng.random(len(source), dtype=np.float32) >= same_topic
    pool = np.where(fellow & ~writer, topic, 2 + topic)
    size = np.where(fellow, layout.size[pool], layout.popular[topic])
    return _sample_node(layout.start[pool], size, source, rng)


def _sample_node(start: IntArray, size: IntArray, source: IntArray, rng: Generator) -> IntArray:
    """Sample a node in ``start..start + size - 1`` for each source, other than the source."""
    place = source - start
    within = (place >= 0) & (place < size)
    step = (rng.random(len(source)) * (size - within)).astype(np.int64)
    return start + np.where(within, (place + 1 + step) % size, step)


def _make_features(vocabulary: IntArray, *, features: int, noise: float, style: float, rng: Generator) -> FloatArray:
    """Sample the features, (nodes, features): mean 1 for words of the vocabulary and 0 for others, clipped at 0."""
    x = rng.standard_normal((len(vocabulary), features), dtype=np.float32)
    circles = max(1, len(vocabulary) // (NUM_VOCABULARIES * CIRCLE_SIZE))
    circle = vocabulary * circles + rng.integers(circles, size=len(vocabulary))
    common = rng.standard_normal((NUM_VOCABULARIES * circles, features), dtype=np.float32) * np.float32(style**0.5)
    own = (np.arange(features) % NUM_VOCABULARIES == np.arange(NUM_VOCABULARIES)[:, None]).astype(np.float32)
    for first in range(0, len(x), ROWS_PER_BLOCK):  # in blocks, to avoid a second matrix of the size of x
        rows = slice(first, first + ROWS_PER_BLOCK)
        x[rows] *= np.float32((1 - style) ** 0.5)
        x[rows] += common[circle[rows]]
        x[rows] *= np.float32(noise)
        x[rows] += own[vocabulary[rows]]
        np.maximum(x[rows], 0, out=x[rows])
    return x
