"""The embedded default: a graph whose classes show only when edges, features and local structure are combined.

People of seven classes, in three families; each family is told apart in its own way:

    readers (2 classes)   all use the same words and stand in the graph alike: only whom they link to tells arts from
                          science, above all the popular writers, to whom most links of readers and writers go
    writers (2 classes)   link to popular writers of both topics alike: their own, noisy words tell arts from science
    groups (3 classes)    all use the same words and link to anybody outside: nothing but the shape of the near graph,
                          a clique, a star or a ring of six, tells them apart

A logistic regression that learns from a tenth of the default graph's nodes is right for 55 to 61 % of the others when
it sees one of the three, for 80 to 83 % with two, for 93 % with all: tests/datasets/test_synthetic.py measures it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from graphprox.arrays import FloatArray, IntArray, frozen
from graphprox.errors import ParameterError
from graphprox.graph import Graph

CLASS_NAMES = (
    "arts readers",
    "science readers",
    "arts writers",
    "science writers",
    "clique members",
    "star members",
    "ring members",
)
FREE_CLASSES = 4  # readers and writers, who draw their links freely; the rest are groups
VOCABULARY = np.array([0, 0, 1, 2, 3, 3, 3])  # of each class: readers share theirs, and so do the groups
NUM_VOCABULARIES = 4
MIN_NODES = 140  # twenty in a class: three groups, and five popular writers of each topic

GROUP_SIZE = 6
# Links that leave the group, of each member of a clique, a star, a ring: 1/6, 2/3 (the centre: 2/7) and 1/3 of its
# links. A mean over neighbours sees the shape by this dilution and by nothing else; with one link each, features
# smoothed twice tell stars from rings at 62 %, with two at 86 %. A star's leaf then has the degree of a
# ring's member, too: degree alone is no shape.
OUTSIDE_LINKS = np.array([1, 2, 1])

# The first of their class are popular. That most writers are not keeps their topic from the edges: links from readers,
# which would tell it, go to the popular.
POPULAR_SHARE = 0.25
# Of the links of a reader or writer: to one of its own family and not to a popular writer. Enough that neighbours speak
# for a writer's topic, or a mean over them would drown it; the price is that edges alone tell about four writers of
# five (at 0.25 three of four, at 0.5 nine of ten), where words tell nearly all.
FELLOW_SHARE = 0.4
# Of the pairs that readers and popular writers can form: links are drawn until all differ, which must not take long.
MAX_DENSITY = 0.75

CIRCLE_SIZE = 20
MAX_NOISE = 1000
ROWS_AT_ONCE = 1 << 16
STREAM = 1741  # any number


def synthetic(
    *,
    nodes: int = 840,
    edges_per_node: float = 4.0,
    features: int = 32,
    homophily: float = 0.95,
    noise: float = 0.7,
    style: float = 0.9,
    seed: int = 0,
) -> Graph:
    """An undirected graph of seven classes that only edges, features and local structure together tell apart.

    ``nodes`` are shared out evenly among the classes, in random order. ``edges_per_node`` is the number of edges over
    the number of nodes: the groups take what their shape needs, readers and writers the rest. ``features`` is the
    number of words; how much a node uses each is dense and never negative. ``homophily`` is the share of the links
    that go where the class says, in so far as it says anything: at 0.5 readers link to both topics alike. ``noise``
    is the standard deviation of the use of a word, where it being one's own or not makes a difference of 1. ``style``
    is how much of it, as a correlation, a node has in common with its circle, some twenty nodes of the same words: at
    0 chance alone makes one of a million nearer than another, and no approximate search finds the nearest. The
    same arguments give the same bytes.

    >>> graph = synthetic()
    >>> graph
    Graph(840 nodes, 3360 edges, 32 features, 7 classes)
    >>> [graph.class_names[each] for each in graph.y[:3]]
    ['ring members', 'arts writers', 'arts writers']
    """
    _check(nodes=nodes, features=features, homophily=homophily, noise=noise, style=style, seed=seed)
    # A stream of its own: default_rng(seed).permutation(nodes), as a split would draw it, must not undo the shuffle.
    rng = np.random.default_rng([seed, STREAM])
    layout = _layout(nodes)
    place = rng.permutation(nodes)  # where each node ends up, so that its position tells nothing
    edges = place[_edges(layout, edges_per_node, homophily=homophily, rng=rng)]
    y = np.empty(nodes, np.int64)
    y[place] = layout.y
    x = _words(VOCABULARY[y], features=features, noise=noise, style=style, rng=rng)
    return Graph(frozen(x), edges, y=frozen(y), class_names=CLASS_NAMES)


# -- the rules ------------------------------------------------------------------------------------------------------


def _check(*, nodes: int, features: int, homophily: float, noise: float, style: float, seed: int) -> None:
    _check_whole("nodes", nodes, least=MIN_NODES, why="so that every class has its groups")
    _check_whole("features", features, least=NUM_VOCABULARIES, why="a word for each kind of speaker")
    _check_whole("seed", seed, least=0, why="as numpy's generators ask")
    if not 0 <= homophily <= 1:
        raise ParameterError(f"homophily must lie in 0..1, as it is a share of links; got {homophily}")
    if not 0 <= noise <= MAX_NOISE:
        raise ParameterError(f"noise must lie in 0..{MAX_NOISE}, as it is a standard deviation; got {noise}")
    if not 0 <= style <= 1:
        raise ParameterError(f"style must lie in 0..1, as it is a correlation; got {style}")


def _check_whole(name: str, value: int, *, least: int, why: str) -> None:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise ParameterError(f"{name} must be a whole number of at least {least}, {why}; got {value!r}")


def _num_free_edges(layout: _Layout, edges_per_node: float) -> int:
    """How many edges readers and writers draw, once the groups have what their shape needs."""
    nodes, free = len(layout.y), layout.num_free
    taken = layout.group_edges.shape[1] + int(layout.size[FREE_CLASSES:] @ OUTSIDE_LINKS)
    # Each free node draws at least one link, or it could be left alone; and leaves enough pairs to draw from.
    most_drawn = MAX_DENSITY * layout.popular.min() / (1 - FELLOW_SHARE)
    least, most = (taken + free) / nodes, (taken + free * most_drawn) / nodes
    if not least <= edges_per_node <= most:
        raise ParameterError(
            f"edges_per_node must lie in {_up(least):.2f}..{_down(most):.2f} for {nodes} nodes; got {edges_per_node}"
        )
    return int(round(nodes * edges_per_node) - taken)


def _up(value: float) -> float:
    return float(np.ceil(value * 100) / 100)


def _down(value: float) -> float:
    return float(np.floor(value * 100) / 100)


# -- who there is, class by class before the shuffle -----------------------------------------------------------------


@dataclass(frozen=True)
class _Layout:
    """The nodes in the order of their classes, and what does not depend on chance."""

    y: IntArray  # (nodes,) rising
    start: IntArray  # (classes,) the first node of each
    size: IntArray  # (classes,)
    popular: IntArray  # (2,) how many of the writers of each topic are popular: the first of their class
    group_edges: IntArray  # (2, edges) inside cliques, stars and rings

    @property
    def num_free(self) -> int:
        return int(self.start[FREE_CLASSES])


def _layout(nodes: int) -> _Layout:
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
    """The position of each of ``count`` nodes in its group, and the size of that group: GROUP_SIZE or little more."""
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


# -- what is drawn ---------------------------------------------------------------------------------------------------


def _edges(layout: _Layout, edges_per_node: float, *, homophily: float, rng: Generator) -> IntArray:
    """All edges, each once, (2, edges)."""
    count = _num_free_edges(layout, edges_per_node)
    outside = _outside_edges(layout, rng)
    free = _free_edges(layout, count, homophily=homophily, rng=rng)
    return np.concatenate([layout.group_edges, outside, free], axis=1)


def _outside_edges(layout: _Layout, rng: Generator) -> IntArray:
    """The links of the groups' members to any readers or writers, the two of a star's member to different ones."""
    member = np.arange(layout.num_free, len(layout.y))
    first = rng.integers(layout.num_free, size=len(member))
    twice = OUTSIDE_LINKS[layout.y[member] - FREE_CLASSES] == 2
    second = (first + rng.integers(1, layout.num_free, size=len(member))) % layout.num_free
    return np.concatenate([np.stack([member, first]), np.stack([member, second])[:, twice]], axis=1)


def _free_edges(layout: _Layout, count: int, *, homophily: float, rng: Generator) -> IntArray:
    """Exactly ``count`` different links of readers and writers, (2, count)."""
    num_free = layout.num_free
    # All draw equally often, at least once each: nobody is left alone, and how much one links tells nothing.
    source = np.resize(rng.permutation(num_free), count)
    keys = np.empty(0, np.int64)
    while len(source):
        target = _targets(source, layout, homophily=homophily, rng=rng)
        new = np.minimum(source, target) * num_free + np.maximum(source, target)
        keys = _each_once(np.concatenate([keys, new]))
        source = rng.integers(num_free, size=count - len(keys))  # in place of those drawn twice
    return np.stack(np.divmod(keys, num_free))


def _each_once(keys: IntArray) -> IntArray:
    """The keys, sorted, each once: np.unique, which hashes first, takes many times as long over ten million."""
    keys.sort()
    return keys[np.diff(keys, prepend=-1) > 0]


def _targets(source: IntArray, layout: _Layout, *, homophily: float, rng: Generator) -> IntArray:
    """Whom each source links to: a fellow of its family or a popular writer, of its own topic or of the other."""
    topic = layout.y[source] % 2
    writer = layout.y[source] >= 2
    fellow = rng.random(len(source), dtype=np.float32) < FELLOW_SHARE
    # A writer links to popular writers of both topics alike, or the edges would tell its topic.
    kept = np.where(writer & ~fellow, np.float32(0.5), np.float32(homophily))
    topic ^= rng.random(len(source), dtype=np.float32) >= kept
    pool = np.where(fellow & ~writer, topic, 2 + topic)
    size = np.where(fellow, layout.size[pool], layout.popular[topic])
    return _one_of(layout.start[pool], size, source, rng)


def _one_of(start: IntArray, size: IntArray, source: IntArray, rng: Generator) -> IntArray:
    """A node of ``start..start + size - 1`` for each source, never the source itself."""
    place = source - start
    within = (place >= 0) & (place < size)
    step = (rng.random(len(source)) * (size - within)).astype(np.int64)
    return start + np.where(within, (place + 1 + step) % size, step)


def _words(vocabulary: IntArray, *, features: int, noise: float, style: float, rng: Generator) -> FloatArray:
    """How much each node uses each word, (nodes, features): its own by 1 more than the others', and never below 0."""
    x = rng.standard_normal((len(vocabulary), features), dtype=np.float32)
    circles = max(1, len(vocabulary) // (NUM_VOCABULARIES * CIRCLE_SIZE))
    circle = vocabulary * circles + rng.integers(circles, size=len(vocabulary))
    common = rng.standard_normal((NUM_VOCABULARIES * circles, features), dtype=np.float32) * np.float32(style**0.5)
    own = (np.arange(features) % NUM_VOCABULARIES == np.arange(NUM_VOCABULARIES)[:, None]).astype(np.float32)
    for first in range(0, len(x), ROWS_AT_ONCE):  # in parts, or a second matrix of the size of x would be needed
        rows = slice(first, first + ROWS_AT_ONCE)
        x[rows] *= np.float32((1 - style) ** 0.5)
        x[rows] += common[circle[rows]]
        x[rows] *= np.float32(noise)
        x[rows] += own[vocabulary[rows]]
        np.maximum(x[rows], 0, out=x[rows])
    return x
