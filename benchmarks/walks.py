"""DeepWalk against gensim's word2vec on walks in plain Python, on one thread, and against a lower bound.

The reference trains on a share of the walks of PubMed and its seconds are extrapolated, as all walks take many minutes.
On Cora both use all walks, and the accuracy of both is shown. Set the share by
``python -m benchmarks.walks --share 0.5``.

Real graphs are read from the directory in GRAPHPROX_DATA; without it, nothing is measured.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import random
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.measure import Measured, measure

Row = dict[str, object]
SHARE = 0.1
WALKS, LENGTH, WINDOW, N_COMPONENTS, NEGATIVES, EPOCHS = 10, 80, 10, 128, 5, 1
SEED, SPLITS = 0, 10


def run(share: float = SHARE) -> Iterator[Row]:
    if not os.environ.get("GRAPHPROX_DATA"):
        return
    if importlib.util.find_spec("gensim") is None:
        sys.exit("the benchmark of walks needs gensim, which is not installed: pip install 'graphprox[bench]'")
    yield compare_accuracy("Cora")
    ours = measure(run_deepwalk, "PubMed", False, repeat=2)
    theirs = measure(run_gensim, "PubMed", False, share, repeat=1)
    yield from against_gensim("PubMed", ours, theirs, share)
    yield against_floor("PubMed", ours)


# -- measurements ---------------------------------------------------------------------------------------------------


def run_deepwalk(name: str, with_accuracy: bool) -> dict[str, float]:
    """Return the seconds of walks and of training on one thread, and the accuracy on request."""
    import numba

    from graphprox import load, synthetic
    from graphprox.methods._skipgram import train_skip_gram
    from graphprox.views.local_structure.walks import random_walks

    numba.config.NUMBA_NUM_THREADS = 1

    def embed(graph: Any, figures: dict[str, float]) -> Any:
        rng, start = np.random.default_rng(SEED), time.perf_counter()
        walks = random_walks(graph, rng, num_walks=WALKS, walk_length=LENGTH - 1).reshape(-1, LENGTH)
        figures["walks"] = time.perf_counter() - start
        options = {"n_components": N_COMPONENTS, "window_size": WINDOW, "num_negatives": NEGATIVES, "epochs": EPOCHS}
        vectors = train_skip_gram(walks, rng, num_nodes=graph.num_nodes, **options)
        figures["training"] = time.perf_counter() - start - figures["walks"]
        return vectors

    embed(synthetic(nodes=140), {})  # load compiled code
    figures: dict[str, float] = {}
    graph = load(name).graph
    vectors = embed(graph, figures)
    if with_accuracy:
        figures["accuracy"] = _accuracy(vectors, graph)
    return figures


def run_gensim(name: str, with_accuracy: bool, share: float) -> dict[str, float]:
    """Return the same figures for a share of the walks, with seconds extrapolated to all of them."""
    import networkx as nx
    from gensim.models import Word2Vec

    from graphprox import load

    graph = load(name).graph
    plain = nx.empty_graph(graph.num_nodes)
    plain.add_edges_from(graph.edges_once().T.tolist())
    start = time.perf_counter()
    walks = _walk_in_python(plain, round(share * WALKS * graph.num_nodes))
    walked = time.perf_counter()
    model = Word2Vec(
        walks,
        vector_size=N_COMPONENTS,
        window=WINDOW,
        negative=NEGATIVES,
        epochs=EPOCHS,
        sg=1,
        hs=0,
        sample=0,
        min_count=0,
        workers=1,
        seed=SEED,
    )
    figures = {"walks": (walked - start) / share, "training": (time.perf_counter() - walked) / share}
    if with_accuracy:
        figures["accuracy"] = _accuracy(np.stack([model.wv[str(node)] for node in range(graph.num_nodes)]), graph)
    return figures


def _walk_in_python(graph: Any, count: int) -> list[list[str]]:
    """Return walks from every node, in a new order in each pass, as lists of strings for word2vec."""
    neighbors = {node: list(graph.neighbors(node)) for node in graph}
    rng, starts = random.Random(SEED), list(neighbors)
    walks: list[list[str]] = []
    while len(walks) < count:
        rng.shuffle(starts)
        for start in starts[: count - len(walks)]:
            walk = [start]
            while len(walk) < LENGTH and neighbors[walk[-1]]:
                walk.append(rng.choice(neighbors[walk[-1]]))
            walks.append(list(map(str, walk)))
    return walks


def _accuracy(vectors: Any, graph: Any) -> float:
    """Return the mean accuracy of a linear probe over random splits."""
    from graphprox import random_split
    from graphprox.evaluation.probe import LinearProbe

    splits = [random_split(graph, random_state=seed, stream="legacy") for seed in range(SPLITS)]
    return float(np.mean([LinearProbe().evaluate(vectors, graph.y, split).accuracy for split in splits]))


def multiply_and_add(name: str) -> float:
    """Return the seconds of as many multiply-adds as the training makes, by sgemm."""
    from threadpoolctl import threadpool_limits

    from graphprox import load

    # A window spans (WINDOW + 1) / 2 nodes on either side on average, fewer at the ends of a walk. A target is
    # multiplied with the source, and each is added to the other.
    reach = np.arange(1, WINDOW + 1)
    pairs_per_walk = 2 * (LENGTH * reach - reach * (reach + 1) / 2).mean()
    pairs = load(name).graph.num_nodes * WALKS * EPOCHS * pairs_per_walk
    needed, size = pairs * (1 + NEGATIVES) * N_COMPONENTS * 3, 1024
    a = np.ones((size, size), np.float32)
    with threadpool_limits(1):
        a @ a
        start = time.perf_counter()
        for _ in range(20):
            a @ a
        return float((time.perf_counter() - start) / 20 * needed / size**3)


# -- rows -----------------------------------------------------------------------------------------------------------


def compare_accuracy(name: str) -> Row:
    ours, theirs = measure(run_deepwalk, name, True, repeat=1), measure(run_gensim, name, True, 1, repeat=1)
    return {
        "what": f"DeepWalk, {name}",
        "seconds": f"{_total(ours):.1f}, accuracy {ours.result['accuracy']:.1%}",
        "reference": f"walks in Python, gensim: {_total(theirs):.1f} s, accuracy {theirs.result['accuracy']:.1%}",
        "ratio": f"{_total(theirs) / _total(ours):.1f} x faster",
        "peak memory": f"{ours.peak_mb:,.0f} MB (reference: {theirs.peak_mb:,.0f} MB)",
    }


def against_gensim(name: str, ours: Measured, theirs: Measured, share: float) -> Iterator[Row]:
    stages = {
        "walks": ("walks", "in plain Python over networkx"),
        "training": ("skip-gram", "gensim's word2vec"),
    }
    part = "" if share == 1 else f", from {share:.0%} of the walks"
    for stage, (title, reference) in stages.items():
        mine, other = ours.result[stage], theirs.result[stage]
        yield {
            "what": f"DeepWalk, {title}, {name}",
            "seconds": f"{mine:.1f}",
            "reference": f"{reference}: {other:.0f} s{part}",
            "ratio": f"{other / mine:.1f} x faster",
            "peak memory": "",
        }
    yield {
        "what": f"DeepWalk, {name}",
        "seconds": f"{_total(ours):.1f}",
        "reference": f"walks in Python, gensim: {_total(theirs):.0f} s{part}",
        "ratio": f"{_total(theirs) / _total(ours):.1f} x faster",
        "peak memory": f"{ours.peak_mb:,.0f} MB (reference{part}: {theirs.peak_mb:,.0f} MB)",
    }


def against_floor(name: str, ours: Measured) -> Row:
    floor = measure(multiply_and_add, name)
    return {
        "what": f"DeepWalk, skip-gram, {name}",
        "seconds": f"{ours.result['training']:.1f}",
        "reference": f"its floor, as many multiplications and additions by sgemm: {floor.result:.1f} s",
        "ratio": f"{ours.result['training'] / floor.result:.1f} x the floor",
        "peak memory": "",
    }


def _total(measured: Measured) -> float:
    return float(measured.result["walks"] + measured.result["training"])


def _share(text: str) -> float:
    share = float(text)
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f"a share must be above 0 and at most 1; got {text}")
    return share


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="DeepWalk against gensim")
    parser.add_argument("--share", type=_share, default=SHARE, help="of PubMed's walks for the reference")
    for row in run(parser.parse_args().share):
        print(" | ".join(map(str, row.values())), flush=True)
