"""What each process holds of a graph, its views and its features: the rows of its own nodes, and files for the rest."""

from __future__ import annotations

import numpy as np
import pytest

from graphprox import synthetic
from graphprox._utils.mapped import is_mapped
from graphprox.ftgcl import sources as sources_module
from graphprox.ftgcl.fit import rank_views
from graphprox.ftgcl.model import Model
from graphprox.ftgcl.recipe import Recipe
from graphprox.ftgcl.sources import Sources
from graphprox.io.folder.graph_folder import GraphFolder
from graphprox.views import ranking as ranking_module

SMALL = {"num_walks": 3, "walk_length": 4, "num_landmarks": 20}
BASES = {"graph": 0, "feature": 4, "topology": 3}


def make_recipe(*, undirected=False):
    pairs = [["graph+light", "feature+light"], ["graph", "topology"]]
    return Recipe(
        pairs=pairs,
        encoder={"name": "sage", "n_components": 8},
        views={"k_max": 4, "undirected": undirected, "topology": SMALL},
        augmentations={"light": {"drop_edges": 0.3}},
    )


def make_sources(processes, graph, recipe):
    rankings = rank_views(graph, recipe, cache=False)
    return Sources(graph, rankings, Model(recipe, num_features=graph.num_features), processes)


def list_held(processes, folder):
    """Return what is in files, and the number of rows of what is not."""
    graph = GraphFolder.open(folder).to_graph()
    sources = make_sources(processes, graph, make_recipe())
    rankings = sources._rankings.values()
    arrays = [graph.edge_index, graph.x, *(array for each in rankings for array in (each.neighbors, each.similarities))]
    edges = sources._edges("feature", 4)
    halo = sources._halos["feature"]
    return [is_mapped(each) for each in arrays], len(edges.pattern.starts) - 1, len(halo.needed) + halo.num_rows


@pytest.mark.parametrize("size", [2, 3])
def test_graph_and_rankings_are_in_files_and_edges_those_to_own_nodes(workers, tmp_path, size):
    graph = synthetic(nodes=140)
    GraphFolder.create(tmp_path / "graph", graph, num_parts=size)
    for rank, (are_mapped, num_rows, num_completed) in enumerate(workers(size, list_held, tmp_path / "graph")):
        assert all(are_mapped)
        assert num_rows == 140 * (rank + 1) // size - 140 * rank // size
        assert num_rows < num_completed <= 140


def test_one_process_holds_what_it_reads_in_memory(tmp_path):
    GraphFolder.create(tmp_path / "graph", synthetic(nodes=140), num_parts=2)
    graph = GraphFolder.open(tmp_path / "graph").to_graph()
    rankings = rank_views(graph, make_recipe(), cache=False)
    assert not any(map(is_mapped, [graph.edge_index, graph.x, *(each.neighbors for each in rankings.values())]))


def select_edges(processes, undirected):
    """Return the edges that a process selects in small blocks, all of them and after some were dropped."""
    before = sources_module.EDGES_PER_BLOCK, ranking_module.BLOCK_ROWS
    sources_module.EDGES_PER_BLOCK, ranking_module.BLOCK_ROWS = 100, 16
    try:
        sources = make_sources(processes, synthetic(nodes=140), make_recipe(undirected=undirected))
        selected = {base: sources._edge_index(base, k)[0] for base, k in BASES.items()}
        rng = np.random.default_rng(0)
        dropped = {base: sources._keep_edges(base, BASES[base.partition("+")[0]], rng)[0] for base in LIGHT}
        return {**selected, **dropped}
    finally:
        sources_module.EDGES_PER_BLOCK, ranking_module.BLOCK_ROWS = before


LIGHT = ("graph+light", "feature+light")


@pytest.mark.parametrize("undirected", [False, True])
def test_each_process_selects_the_edges_to_its_nodes_and_drops_those_of_one_process(workers, undirected):
    expected = select_edges(None, undirected)
    for rank, found in enumerate(workers(3, select_edges, undirected)):
        own = range(140 * rank // 3, 140 * (rank + 1) // 3)
        for base, index in found.items():
            is_own = np.isin(expected[base][1], own)
            assert 0 < is_own.sum() < len(is_own)
            np.testing.assert_array_equal(index, expected[base][:, is_own])
