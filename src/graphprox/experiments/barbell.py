"""The paper's figure of a barbell graph: nodes of equal local structure coincide in the topology space."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np

from graphprox.arrays import FloatArray, IntArray
from graphprox.experiments.figures import new_figure, save_figure
from graphprox.graph import Graph
from graphprox.proximity.topology import topology

CLIQUE, BRIDGE = 6, 2


def barbell() -> Graph:
    """The barbell B(6, 2): two cliques of six nodes, joined by a path over two more."""
    made = nx.barbell_graph(CLIQUE, BRIDGE)
    return Graph(np.eye(len(made), dtype=np.float32), np.array(made.edges).T)


def structure_classes(representations: FloatArray) -> IntArray:
    """A number for each distinct row: nodes of the same number have the same local structure, (nodes,)."""
    return np.unique(representations, axis=0, return_inverse=True)[1].astype(np.int64)


def in_the_plane(representations: FloatArray) -> FloatArray:
    """The two directions in which the rows differ most, (nodes, 2); equal rows stay equal."""
    distinct, place = np.unique(representations, axis=0, return_inverse=True)
    centred = distinct - representations.mean(axis=0)
    _, _, directions = np.linalg.svd(representations - representations.mean(axis=0), full_matrices=False)
    plane: FloatArray = (centred @ directions[:2].T)[place].astype(np.float32)
    return plane


def draw_barbell(folder: Path, *, seed: int = 0) -> list[Path]:
    """Draw the graph beside its topology space, coloured by local structure, as PNG and SVG in ``folder``."""
    figure = new_figure(8, 3.6, layout="constrained")
    graph = barbell()
    representations = topology(graph, np.random.default_rng(seed), subgraphs="egonet", hops=1, exact=True)
    classes, plane = structure_classes(representations), in_the_plane(representations)
    left, right = figure.subplots(1, 2)
    drawn = graph.to_networkx()
    place = nx.kamada_kawai_layout(drawn)
    nx.draw_networkx(drawn, place, ax=left, node_color=classes, cmap="viridis", with_labels=True, font_color="white")
    left.set_axis_off()
    left.set_title("the barbell graph B(6, 2)")
    right.scatter(plane[:, 0], plane[:, 1], c=classes, cmap="viridis", s=120, alpha=0.5)
    for each in np.unique(classes):
        nodes = np.flatnonzero(classes == each)
        right.annotate(
            ", ".join(map(str, nodes)), plane[nodes[0]], xytext=(0, 9), textcoords="offset points", ha="center"
        )
    right.set_title("topology space: equal structure coincides")
    right.margins(x=0.5, y=0.3)
    return save_figure(figure, folder, "barbell")
