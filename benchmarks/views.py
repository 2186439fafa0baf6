"""Proximity views: the topology descriptor against GraKeL, both views against scikit-learn's search, and growth.

Real graphs come from the directory that GRAPHPROX_DATA names; without it their rows are left out.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.measure import Measured, measure

Row = dict[str, object]
SMALL, LARGE = 10**5, 10**6
# The default: nodes have something in common with some twenty others, as real ones do; without, all are equally far.
STYLE = 0.9


def run() -> Iterator[Row]:
    if os.environ.get("GRAPHPROX_DATA"):
        yield against_grakel("Cora")
        for name in ("PubMed", "CoauthorCS"):
            yield against_scikit_learn(name)
        yield against_sparse_dot_topn("CoauthorCS")
        yield against_faiss("CoauthorCS")
    yield against_pynndescent(STYLE, "nodes in circles")
    yield against_pynndescent(0.0, "nothing but noise")
    yield from growth()


# -- the topology descriptor against GraKeL ---------------------------------------------------------------------------


def describe_topology(name: str) -> float:
    """The descriptor's seconds, without loading the graph."""
    from graphprox import load
    from graphprox.proximity import topology

    graph = load(name).graph
    return _seconds(lambda: topology(graph, np.random.default_rng(0)), warm=True)


def compare_with_grakel(name: str) -> float:
    """GraKeL's seconds for the kernel of the same subgraphs with 200 of them."""
    from grakel import Graph as GrakelGraph
    from grakel import WeisfeilerLehman

    from graphprox import load
    from graphprox.proximity import sampled_subgraph

    graph = load(name).graph
    given = []
    for node in range(graph.num_nodes):
        nodes, edges = sampled_subgraph(graph, node, np.random.default_rng(0))
        degree = np.bincount(edges.ravel(), minlength=len(nodes))
        both_ways = np.concatenate([edges, edges[::-1]], axis=1).T.tolist()
        labels = dict(enumerate(degree.tolist()))
        given.append(GrakelGraph({tuple(edge): 1 for edge in both_ways}, node_labels=labels) if both_ways else None)
    kept = [each for each in given if each is not None]
    chosen = np.random.default_rng(1).choice(len(kept), 200, replace=False)
    kernel = WeisfeilerLehman(n_iter=3)
    return _seconds(lambda: kernel.fit([kept[i] for i in chosen]).transform(kept))


def _seconds(call: Any, *, warm: bool = False) -> float:
    if warm:
        call()  # compiled code is loaded from its cache
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def against_grakel(name: str) -> Row:
    ours, grakel = measure(describe_topology, name), measure(compare_with_grakel, name, repeat=1)
    mine, theirs = _told(ours), _told(grakel)
    return {
        "what": f"topology descriptor, {name}",
        "seconds": f"{mine:.2f}",
        "reference": f"GraKeL's WL kernel, same subgraphs, m = 200: {theirs:.2f} s",
        "ratio": f"{theirs / mine:.0f} x faster",
        "peak memory": f"{ours.peak_mb:,.0f} MB (GraKeL: {grakel.peak_mb:,.0f} MB)",
    }


def _told(measured: Measured) -> float:
    """The seconds that the call itself told, where it did more than what is compared."""
    if measured.result is None:
        return measured.seconds
    return float(measured.result)


# -- both views against scikit-learn's search on the features alone ---------------------------------------------------


def rank_both(name: str) -> float:
    from graphprox import load
    from graphprox.proximity import rank_view

    graph = load(name).graph
    return _seconds(lambda: [rank_view(graph, view, cache=False) for view in ("feature", "topology")], warm=True)


def search_with_scikit_learn(name: str) -> float:
    from sklearn.neighbors import NearestNeighbors

    from graphprox import load

    x = load(name).graph.x

    def search() -> None:
        NearestNeighbors(n_neighbors=11, metric="cosine", algorithm="brute", n_jobs=-1).fit(x).kneighbors(x)

    return _seconds(search)


def against_scikit_learn(name: str) -> Row:
    ours, theirs = measure(rank_both, name), measure(search_with_scikit_learn, name, repeat=2)
    reference = "scikit-learn's brute-force cosine search on the features alone"
    return _compared(f"feature and topology view, {name}", ours, theirs, reference)


# -- the search against libraries -------------------------------------------------------------------------------------


def rank_features(name: str) -> float:
    from graphprox import load
    from graphprox.proximity import rank

    x = load(name).graph.x
    return _seconds(lambda: rank(x, engine="exact"), warm=True)


def search_with_sparse_dot_topn(name: str) -> float:
    from sklearn.preprocessing import normalize
    from sparse_dot_topn import sp_matmul_topn

    from graphprox import load

    unit = sp.csr_matrix(normalize(load(name).graph.x))
    turned = unit.T.tocsr()
    return _seconds(lambda: sp_matmul_topn(unit, turned, top_n=11, sort=True, n_threads=os.cpu_count()))


def against_sparse_dot_topn(name: str) -> Row:
    ours, theirs = measure(rank_features, name), measure(search_with_sparse_dot_topn, name)
    return _compared(f"exact search, features of {name}", ours, theirs, "sparse_dot_topn, ties by position")


def rank_vectors(name: str) -> float:
    from graphprox.proximity import rank

    vectors = _topology_vectors(name)
    return _seconds(lambda: rank(vectors, engine="exact"), warm=True)


def search_with_faiss(name: str) -> float:
    import faiss

    vectors = _topology_vectors(name)
    faiss.normalize_L2(vectors)

    def search() -> None:
        index = faiss.IndexFlatIP(vectors.shape[1])
        index.add(vectors)
        index.search(vectors, 11)

    return _seconds(search)


def _topology_vectors(name: str) -> Any:
    from graphprox import load
    from graphprox.proximity import topology

    return np.array(topology(load(name).graph, np.random.default_rng(0)))


def against_faiss(name: str) -> Row:
    ours, theirs = measure(rank_vectors, name), measure(search_with_faiss, name)
    return _compared(f"exact search, topology vectors of {name}", ours, theirs, "faiss Flat, ties by position")


def rank_approximately(nodes: int, style: float) -> dict[str, float]:
    from graphprox.proximity import rank

    x = _synthetic_features(nodes, style)
    with warnings.catch_warnings(action="ignore"):  # of low recall, which the table tells
        rank(x[:2000], engine="descent")  # compiled code is loaded
        began = time.perf_counter()
        ranking = rank(x, engine="descent")
    return {"seconds": time.perf_counter() - began, "recall": ranking.recall}


def search_with_pynndescent(nodes: int, style: float) -> dict[str, float]:
    from pynndescent import NNDescent

    from graphprox.proximity import rank

    x = _synthetic_features(nodes, style)

    def search(rows: Any) -> Any:
        with warnings.catch_warnings(action="ignore"):
            return NNDescent(rows, metric="cosine", n_neighbors=11, n_jobs=-1, random_state=0).neighbor_graph

    search(x[:2000])  # compiles
    began = time.perf_counter()
    listed, _ = search(x)
    seconds = time.perf_counter() - began
    sample = np.random.default_rng(0).choice(nodes, 1000, replace=False)
    true = rank(x, engine="exact").neighbors
    hits = sum(len(set(listed[node]) & set(true[node])) for node in sample)
    return {"seconds": seconds, "recall": hits / (10 * len(sample))}


def _synthetic_features(nodes: int, style: float) -> Any:
    from graphprox import synthetic

    return np.array(synthetic(nodes=nodes, edges_per_node=10, features=100, style=style).x)


def against_pynndescent(style: float, kind: str) -> Row:
    ours, theirs = (measure(each, SMALL, style, repeat=1) for each in (rank_approximately, search_with_pynndescent))
    mine, other = ours.result, theirs.result
    return {
        "what": f"approximate search, {SMALL:,} x 100 dense, {kind}",
        "seconds": f"{mine['seconds']:.1f}, recall {mine['recall']:.3f}",
        "reference": f"pynndescent, compiled before: {other['seconds']:.1f} s, recall {other['recall']:.3f}",
        "ratio": f"{mine['seconds'] / other['seconds']:.2f} x the time",
        "peak memory": f"{ours.peak_mb:,.0f} MB (pynndescent: {theirs.peak_mb:,.0f} MB)",
    }


def _compared(what: str, ours: Measured, theirs: Measured, reference: str) -> Row:
    return {
        "what": what,
        "seconds": f"{_told(ours):.1f}",
        "reference": f"{reference}: {_told(theirs):.1f} s",
        "ratio": f"{_told(ours) / _told(theirs):.2f} x the time",
        "peak memory": f"{ours.peak_mb:,.0f} MB (reference: {theirs.peak_mb:,.0f} MB)",
    }


# -- growth -----------------------------------------------------------------------------------------------------------


def rank_synthetic(nodes: int) -> dict[str, float]:
    """Seconds by stage and recall of both views of the synthetic graph."""
    from graphprox import synthetic
    from graphprox.proximity import rank, topology

    graph = synthetic(nodes=nodes, edges_per_node=10, features=100).without_labels()
    told: dict[str, float] = {}
    began = time.perf_counter()
    feature = rank(graph.x)
    told["feature search"] = time.perf_counter() - began
    began = time.perf_counter()
    vectors = topology(graph, np.random.default_rng(0))
    told["topology descriptor"] = time.perf_counter() - began
    began = time.perf_counter()
    structure = rank(vectors)
    told["topology search"] = time.perf_counter() - began
    return {**told, "feature recall": feature.recall, "topology recall": structure.recall}


def growth() -> Iterator[Row]:
    small, large = measure(rank_synthetic, SMALL, repeat=1), measure(rank_synthetic, LARGE, repeat=1)
    stages = [name for name in small.result if not name.endswith("recall")]
    for name in stages:
        yield _grown(name, small.result[name], large.result[name], "")
    recalls = ", ".join(f"{name} {large.result[name]:.3f}" for name in large.result if name.endswith("recall"))
    totals = [sum(each.result[name] for name in stages) for each in (small, large)]
    yield _grown("both views", *totals, f"{large.peak_mb:,.0f} MB; {recalls}")
    yield from floors(large.result)


# What a stage at a million nodes cannot do without: the steps of the walks, each of which reads a neighbour anywhere in
# the graph; and a look at each of the 25 rows that are listed for a row, 10 of which are kept.
STEPS, ENTRIES = LARGE * 30 * 10, 2 * 10 * LARGE
LISTED, ROWS_AT_ONCE = 25 * LARGE, 10**5


def read_at_random() -> float:
    """Seconds for as many reads of four bytes as the walks make, one thread, positions drawn beforehand."""
    entries, at_once = np.zeros(ENTRIES, np.int32), 10**7
    positions = np.random.default_rng(0).integers(ENTRIES, size=at_once)
    return _seconds(lambda: [entries.take(positions) for _ in range(STEPS // at_once)])


def gather_at_random(columns: int) -> float:
    """Seconds for as many reads of whole rows as the search must make at least, one thread."""
    rows = np.zeros((LARGE, columns), np.float32)
    chosen = np.random.default_rng(0).integers(LARGE, size=ROWS_AT_ONCE)
    return _seconds(lambda: [rows.take(chosen, axis=0) for _ in range(LISTED // ROWS_AT_ONCE)])


def floors(measured: dict[str, float]) -> Iterator[Row]:
    needed = {
        "topology descriptor": (f"{STEPS:,} random reads of 4 bytes", (read_at_random,)),
        "feature search": (f"{LISTED:,} random reads of 400 bytes", (gather_at_random, 100)),
        "topology search": (f"{LISTED:,} random reads of 800 bytes", (gather_at_random, 200)),
    }
    for name, (reads, call) in needed.items():
        floor = _told(measure(*call, repeat=1))
        yield {
            "what": f"{name}, synthetic of {LARGE:,} nodes",
            "seconds": f"{measured[name]:.0f}",
            "reference": f"its floor, {reads} by one thread: {floor:.1f} s",
            "ratio": f"{measured[name] / floor:.0f} x the floor",
            "peak memory": "",
        }


def _grown(name: str, small: float, large: float, memory: str) -> Row:
    return {
        "what": f"{name}, synthetic of {LARGE:,} nodes",
        "seconds": f"{large:.0f}",
        "reference": f"the same with {SMALL:,} nodes: {small:.1f} s",
        "ratio": f"{large / small:.1f} x the time",
        "peak memory": memory,
    }
