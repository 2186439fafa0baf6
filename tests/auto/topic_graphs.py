"""Graphs of documents: bags of words about clear topics, whose edges follow the topic or are rewired at random."""

from __future__ import annotations

import networkx as nx
import numpy as np
import scipy.sparse as sp

from graphprox import Graph

NUM_TOPICS = 6


def topic_graph(*, nodes: int = 300, words: int = 120, seed: int = 0) -> Graph:
    """Return a graph whose edges join documents of the same topic; most words of a document are of its topic."""
    rng = np.random.default_rng(seed)
    y = np.sort(rng.integers(NUM_TOPICS, size=nodes))
    topic_of_word = np.arange(words) % NUM_TOPICS
    x = rng.random((nodes, words)) < np.where(y[:, None] == topic_of_word, 0.4, 0.02)
    x[np.arange(nodes), rng.integers(words, size=nodes)] = True  # no document is empty
    same = np.equal.outer(y, y)
    edges = np.argwhere(np.triu(rng.random((nodes, nodes)) < np.where(same, 0.08, 0.001), 1)).T
    return Graph(sp.csr_array(x.astype(np.float32)), edges, y=y)


def rewire(graph: Graph, *, seed: int = 0) -> Graph:
    """Return the graph with its edges between other nodes: degrees are kept, topics do not matter."""
    source, target = graph.edges_once()
    target = np.random.default_rng(seed).permutation(target)
    return Graph(graph.x, [source, target], y=graph.y)


def block_model(
    *, blocks: int = 8, size: int = 30, between: float = 0.005, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Return edges and blocks of a stochastic block model; ``between`` is the probability of edges between blocks."""
    probabilities = np.full((blocks, blocks), between) + 0.4 * np.eye(blocks)
    graph = nx.stochastic_block_model([size] * blocks, probabilities, seed=seed)
    return np.array(graph.edges).T, np.repeat(np.arange(blocks), size)
