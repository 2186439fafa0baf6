"""Views: the topology descriptor against GraKeL, both views against scikit-learn's search, and scaling.

Real graphs are read from the directory in GRAPHPROX_DATA; without it, their rows are skipped.
"""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.measure import Measured, measure

Row = dict[str, object]
SMALL, LARGE = 10**5, 10**6
# The default: nodes share features with about twenty others, as in real graphs; with 0, all are equally distant.
STYLE = 0.9


def run() -> Iterator[Row]:
    if os.environ.get("GRAPHPROX_DATA"):
        yield against_grakel("Cora")
        for name in ("PubMed", "CoauthorCS"):
            yield against_scikit_learn(name)
        yield against_sparse_dot_topn("CoauthorCS")
        yield against_faiss("CoauthorCS")
    yield against_pynndescent(STYLE, "nodes in circles", num_listed=11)
    # Many more neighbors than needed, as its recall is low otherwise.
    yield against_pynndescent(0.0, "nothing but noise", num_listed=31)
    yield from in_blocks()
    yield from scaling()


# -- the topology descriptor against GraKeL -------------------------------------------------------------------------


def describe_topology(name: str) -> float:
    """Return the seconds of the descriptor, without loading the graph."""
    from graphprox import load
    from graphprox.views import topology_descriptor

    graph = load(name).graph
    return _time(lambda: topology_descriptor(graph, np.random.default_rng(0)), warm=True)


def compare_with_grakel(name: str) -> float:
    """Return the seconds of GraKeL for the kernel of the same subgraphs with 200 of them."""
    from grakel import Graph as GrakelGraph
    from grakel import WeisfeilerLehman

    from graphprox import load
    from graphprox.views import sample_subgraph

    graph = load(name).graph
    subgraphs = []
    for node in range(graph.num_nodes):
        nodes, edges = sample_subgraph(graph, node, np.random.default_rng(0))
        degree = np.bincount(edges.ravel(), minlength=len(nodes))
        both_ways = np.concatenate([edges, edges[::-1]], axis=1).T.tolist()
        labels = dict(enumerate(degree.tolist()))
        subgraphs.append(GrakelGraph({tuple(edge): 1 for edge in both_ways}, node_labels=labels) if both_ways else None)
    nonempty = [each for each in subgraphs if each is not None]
    landmarks = np.random.default_rng(1).choice(len(nonempty), 200, replace=False)
    kernel = WeisfeilerLehman(n_iter=3)
    return _time(lambda: kernel.fit([nonempty[i] for i in landmarks]).transform(nonempty))


def _time(call: Any, *, warm: bool = False) -> float:
    if warm:
        call()  # load compiled code from its cache
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def against_grakel(name: str) -> Row:
    ours, grakel = measure(describe_topology, name), measure(compare_with_grakel, name, repeat=1)
    mine, theirs = _measured_seconds(ours), _measured_seconds(grakel)
    return {
        "what": f"topology descriptor, {name}",
        "seconds": f"{mine:.2f}",
        "reference": f"GraKeL's WL kernel, same subgraphs, m = 200: {theirs:.2f} s",
        "ratio": f"{theirs / mine:.0f} x faster",
        "peak memory": f"{ours.peak_mb:,.0f} MB (GraKeL: {grakel.peak_mb:,.0f} MB)",
    }


def _measured_seconds(measured: Measured) -> float:
    """Return the seconds that the call itself measured, if it did more than what is compared."""
    if measured.result is None:
        return measured.seconds
    return float(measured.result)


# -- both views against scikit-learn's search on the features alone -------------------------------------------------


def rank_both(name: str) -> float:
    from graphprox import load
    from graphprox.views import rank_view

    graph = load(name).graph
    return _time(lambda: [rank_view(graph, view, cache=False) for view in ("feature", "topology")], warm=True)


def search_with_scikit_learn(name: str) -> float:
    from sklearn.neighbors import NearestNeighbors

    from graphprox import load

    x = load(name).graph.x

    def search() -> None:
        NearestNeighbors(n_neighbors=11, metric="cosine", algorithm="brute", n_jobs=-1).fit(x).kneighbors(x)

    return _time(search)


def against_scikit_learn(name: str) -> Row:
    ours, theirs = measure(rank_both, name), measure(search_with_scikit_learn, name, repeat=2)
    reference = "scikit-learn's brute-force cosine search on the features alone"
    return _compare(f"feature and topology view, {name}", ours, theirs, reference)


# -- the search against libraries -----------------------------------------------------------------------------------


def rank_features(name: str) -> float:
    from graphprox import load
    from graphprox.views import rank

    x = load(name).graph.x
    return _time(lambda: rank(x, engine="exact"), warm=True)


def search_with_sparse_dot_topn(name: str) -> float:
    from sklearn.preprocessing import normalize
    from sparse_dot_topn import sp_matmul_topn

    from graphprox import load

    unit = sp.csr_matrix(normalize(load(name).graph.x))
    transposed = unit.T.tocsr()
    return _time(lambda: sp_matmul_topn(unit, transposed, top_n=11, sort=True, n_threads=os.cpu_count()))


def against_sparse_dot_topn(name: str) -> Row:
    ours, theirs = measure(rank_features, name), measure(search_with_sparse_dot_topn, name)
    return _compare(f"exact search, features of {name}", ours, theirs, "sparse_dot_topn, ties by position")


def rank_vectors(name: str) -> float:
    from graphprox.views import rank

    vectors = _topology_vectors(name)
    return _time(lambda: rank(vectors, engine="exact"), warm=True)


def search_with_faiss(name: str) -> float:
    import faiss

    vectors = _topology_vectors(name)
    faiss.normalize_L2(vectors)

    def search() -> None:
        index = faiss.IndexFlatIP(vectors.shape[1])
        index.add(vectors)
        index.search(vectors, 11)

    return _time(search)


def _topology_vectors(name: str) -> Any:
    from graphprox import load
    from graphprox.views import topology_descriptor

    return np.array(topology_descriptor(load(name).graph, np.random.default_rng(0)))


def against_faiss(name: str) -> Row:
    ours, theirs = measure(rank_vectors, name), measure(search_with_faiss, name)
    return _compare(f"exact search, topology vectors of {name}", ours, theirs, "faiss Flat, ties by position")


def rank_approximately(nodes: int, style: float) -> dict[str, float]:
    from graphprox.views import rank

    x = _synthetic_features(nodes, style)
    with warnings.catch_warnings(action="ignore"):  # of low recall, which the table shows
        rank(x[:2000], engine="descent")  # load compiled code
        start = time.perf_counter()
        ranking = rank(x, engine="descent")
    return {"seconds": time.perf_counter() - start, "recall": ranking.recall}


def search_with_pynndescent(nodes: int, style: float, num_listed: int) -> dict[str, float]:
    from pynndescent import NNDescent

    from graphprox.views import rank

    x = _synthetic_features(nodes, style)

    def search(rows: Any) -> Any:
        with warnings.catch_warnings(action="ignore"):
            return NNDescent(rows, metric="cosine", n_neighbors=num_listed, n_jobs=-1, random_state=0).neighbor_graph

    search(x[:2000])  # compiles
    start = time.perf_counter()
    listed, _ = search(x)
    seconds = time.perf_counter() - start
    sample = np.random.default_rng(0).choice(nodes, 1000, replace=False)
    true = rank(x, engine="exact").neighbors
    hits = sum(len(set(listed[node, :11]) & set(true[node])) for node in sample)
    return {"seconds": seconds, "recall": hits / (10 * len(sample))}


def _synthetic_features(nodes: int, style: float) -> Any:
    from graphprox import synthetic

    return np.array(synthetic(nodes=nodes, edges_per_node=10, features=100, style=style).x)


def against_pynndescent(style: float, kind: str, num_listed: int) -> Row:
    ours = measure(rank_approximately, SMALL, style)
    theirs = measure(search_with_pynndescent, SMALL, style, num_listed)
    mine, other = ours.result, theirs.result
    reference = f"pynndescent, {num_listed - 1} neighbors, compiled before"
    return {
        "what": f"approximate search, {SMALL:,} x 100 dense, {kind}",
        "seconds": f"{mine['seconds']:.1f}, recall {mine['recall']:.3f}",
        "reference": f"{reference}: {other['seconds']:.1f} s, recall {other['recall']:.3f}",
        "ratio": f"{mine['seconds'] / other['seconds']:.2f} x the time",
        "peak memory": f"{ours.peak_mb:,.0f} MB (pynndescent: {theirs.peak_mb:,.0f} MB)",
    }


# -- a matrix in a file ---------------------------------------------------------------------------------------------

WIDE = 256  # columns


def rank_file(path: str) -> dict[str, float]:
    """Return the seconds and the recall of the search in a memory map, and the bytes of memory that it needs.

    Pages of the file are not counted, as the system can take them back.
    """
    from graphprox.views import rank

    matrix = np.load(path, mmap_mode="r")
    rank(np.asarray(matrix[:2000]), engine="descent", k_max=20)  # load compiled code
    before, used, ended = _anonymous_memory(), [0], threading.Event()

    def watch() -> None:
        while not ended.wait(0.05):
            used.append(_anonymous_memory())

    thread = threading.Thread(target=watch)
    thread.start()
    start = time.perf_counter()
    try:
        ranking = rank(matrix, engine="descent", k_max=20)
    finally:
        ended.set()
        thread.join()
    seconds = time.perf_counter() - start
    result = ranking.neighbors.nbytes + ranking.similarities.nbytes
    return {"seconds": seconds, "recall": ranking.recall, "bytes": max(used) - before - result, "file": matrix.nbytes}


def _anonymous_memory() -> int:
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("RssAnon")).split()[1]) * 1024


def _write_rows(path: str, nodes: int) -> None:
    """Write rows around a center for every twenty of them."""
    rng = np.random.default_rng(0)
    centers = rng.standard_normal((nodes // 20, WIDE), dtype=np.float32)
    rows = np.lib.format.open_memmap(path, "w+", np.float32, (nodes, WIDE))
    for first in range(0, nodes, 10**5):
        block = rows[first : first + 10**5]
        block[:] = centers[rng.integers(nodes // 20, size=len(block))]
        block += 0.7 * rng.standard_normal(block.shape, dtype=np.float32)


def in_blocks() -> Iterator[Row]:
    if not Path("/proc/self/status").exists():
        return
    with TemporaryDirectory() as folder:
        path = str(Path(folder, "rows.npy"))
        _write_rows(path, LARGE)
        found = measure(rank_file, path, repeat=1).result
    yield {
        "what": f"approximate search in a memory map, {LARGE:,} x {WIDE}, k = 20",
        "seconds": f"{found['seconds']:.0f}, recall {found['recall']:.3f}",
        "reference": f"the file: {found['file'] / 2**20:,.0f} MB",
        "ratio": f"{found['bytes'] / found['file']:.2f} x the size",
        "peak memory": f"{found['bytes'] / 2**20:,.0f} MB beyond the result",
    }


def _compare(what: str, ours: Measured, theirs: Measured, reference: str) -> Row:
    return {
        "what": what,
        "seconds": f"{_measured_seconds(ours):.1f}",
        "reference": f"{reference}: {_measured_seconds(theirs):.1f} s",
        "ratio": f"{_measured_seconds(ours) / _measured_seconds(theirs):.2f} x the time",
        "peak memory": f"{ours.peak_mb:,.0f} MB (reference: {theirs.peak_mb:,.0f} MB)",
    }


# -- scaling --------------------------------------------------------------------------------------------------------


def rank_synthetic(nodes: int) -> dict[str, float]:
    """Return seconds by stage and the recall of both views of the synthetic graph."""
    from graphprox import synthetic
    from graphprox.views import rank, topology_descriptor

    graph = synthetic(nodes=nodes, edges_per_node=10, features=100).without_labels()
    seconds: dict[str, float] = {}
    start = time.perf_counter()
    feature = rank(graph.x)
    seconds["feature search"] = time.perf_counter() - start
    start = time.perf_counter()
    vectors = topology_descriptor(graph, np.random.default_rng(0))
    seconds["topology descriptor"] = time.perf_counter() - start
    start = time.perf_counter()
    topology = rank(vectors)
    seconds["topology search"] = time.perf_counter() - start
    return {**seconds, "feature recall": feature.recall, "topology recall": topology.recall}


def scaling() -> Iterator[Row]:
    small, large = measure(rank_synthetic, SMALL, repeat=1), measure(rank_synthetic, LARGE, repeat=1)
    stages = [name for name in small.result if not name.endswith("recall")]
    for name in stages:
        yield _scale_row(name, small.result[name], large.result[name], "")
    recalls = ", ".join(f"{name} {large.result[name]:.3f}" for name in large.result if name.endswith("recall"))
    totals = [sum(each.result[name] for name in stages) for each in (small, large)]
    yield _scale_row("both views", *totals, f"{large.peak_mb:,.0f} MB; {recalls}")
    yield from floors(large.result)


# The minimal work of a stage at a million nodes: a random read for each step of the walks, and a read of each of the 25
# rows that are proposed for a row, 10 of which are kept.
STEPS, ENTRIES = LARGE * 30 * 10, 2 * 10 * LARGE
PROPOSED, BLOCK_ROWS = 25 * LARGE, 10**5


def read_at_random() -> float:
    """Return the seconds of as many 4-byte reads as the walks make, on one thread, at positions sampled beforehand."""
    entries, block = np.zeros(ENTRIES, np.int32), 10**7
    positions = np.random.default_rng(0).integers(ENTRIES, size=block)
    return _time(lambda: [entries.take(positions) for _ in range(STEPS // block)])


def gather_at_random(columns: int) -> float:
    """Return the seconds of the minimum number of row reads of the search, on one thread."""
    rows = np.zeros((LARGE, columns), np.float32)
    chosen = np.random.default_rng(0).integers(LARGE, size=BLOCK_ROWS)
    return _time(lambda: [rows.take(chosen, axis=0) for _ in range(PROPOSED // BLOCK_ROWS)])


def floors(measured: dict[str, float]) -> Iterator[Row]:
    needed = {
        "topology descriptor": (f"{STEPS:,} random reads of 4 bytes", (read_at_random,)),
        "feature search": (f"{PROPOSED:,} random reads of 400 bytes", (gather_at_random, 100)),
        "topology search": (f"{PROPOSED:,} random reads of 800 bytes", (gather_at_random, 200)),
    }
    for name, (reads, call) in needed.items():
        floor = _measured_seconds(measure(*call, repeat=1))
        yield {
            "what": f"{name}, synthetic of {LARGE:,} nodes",
            "seconds": f"{measured[name]:.0f}",
            "reference": f"its floor, {reads} by one thread: {floor:.1f} s",
            "ratio": f"{measured[name] / floor:.0f} x the floor",
            "peak memory": "",
        }


def _scale_row(name: str, small: float, large: float, memory: str) -> Row:
    return {
        "what": f"{name}, synthetic of {LARGE:,} nodes",
        "seconds": f"{large:.0f}",
        "reference": f"the same with {SMALL:,} nodes: {small:.1f} s",
        "ratio": f"{large / small:.1f} x the time",
        "peak memory": memory,
    }
