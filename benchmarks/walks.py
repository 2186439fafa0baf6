"""DeepWalk against gensim's word2vec, fed by walks in plain Python over networkx, on one thread; and against its floor.

The reference reads a share of the walks of PubMed, and its seconds are scaled up: whole, it takes many minutes. On Cora
both read all walks, and the accuracy of both is told. Another share: ``python -m benchmarks.walks --share 0.5``.

Real graphs come from the directory that GRAPHPROX_DATA names; without it there is nothing to measure.
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
WALKS, LENGTH, WINDOW, WIDTH, NEGATIVES, EPOCHS = 10, 80, 10, 128, 5, 1
SEED, SPLITS = 0, 10


def run(share: float = SHARE) -> Iterator[Row]:
    if not os.environ.get("GRAPHPROX_DATA"):
        return
    if importlib.util.find_spec("gensim") is None:
        sys.exit("the benchmark of walks needs gensim, which is not installed: pip install 'graphprox[bench]'")
    yield quality("Cora")
    ours = measure(our_deepwalk, "PubMed", False, repeat=2)
    theirs = measure(deepwalk_with_gensim, "PubMed", False, share, repeat=1)
    yield from against_gensim("PubMed", ours, theirs, share)
    yield against_floor("PubMed", ours)


# -- what is measured -------------------------------------------------------------------------------------------------


def our_deepwalk(name: str, probed: bool) -> dict[str, float]:
    """Seconds of walks and of training on one thread, and the accuracy where it is asked for."""
    import numba

    from graphprox import load, synthetic
    from graphprox.baselines.skipgram import skip_gram
    from graphprox.proximity.walks import random_walks

    numba.config.NUMBA_NUM_THREADS = 1

    def embed(graph: Any, told: dict[str, float]) -> Any:
        rng, began = np.random.default_rng(SEED), time.perf_counter()
        walks = random_walks(graph, rng, walks=WALKS, length=LENGTH - 1).reshape(-1, LENGTH)
        told["walks"] = time.perf_counter() - began
        options = {"width": WIDTH, "window": WINDOW, "negatives": NEGATIVES, "epochs": EPOCHS}
        vectors = skip_gram(walks, rng, nodes=graph.num_nodes, **options)
        told["training"] = time.perf_counter() - began - told["walks"]
        return vectors

    embed(synthetic(nodes=140), {})  # compiled code is loaded
    told: dict[str, float] = {}
    graph = load(name).graph
    vectors = embed(graph, told)
    if probed:
        told["accuracy"] = _accuracy(vectors, graph)
    return told


def deepwalk_with_gensim(name: str, probed: bool, share: float) -> dict[str, float]:
    """The same of a share of the walks, the seconds scaled up to all."""
    import networkx as nx
    from gensim.models import Word2Vec

    from graphprox import load

    graph = load(name).graph
    linked = nx.empty_graph(graph.num_nodes)
    linked.add_edges_from(graph.edges_once().T.tolist())
    began = time.perf_counter()
    walks = _plain_walks(linked, round(share * WALKS * graph.num_nodes))
    walked = time.perf_counter()
    model = Word2Vec(
        walks,
        vector_size=WIDTH,
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
    told = {"walks": (walked - began) / share, "training": (time.perf_counter() - walked) / share}
    if probed:
        told["accuracy"] = _accuracy(np.stack([model.wv[str(node)] for node in range(graph.num_nodes)]), graph)
    return told


def _plain_walks(graph: Any, wanted: int) -> list[list[str]]:
    """Walks from every node in turn, in a new order every time, as word2vec takes them: lists of strings."""
    neighbours = {node: list(graph.neighbors(node)) for node in graph}
    drawn, starts = random.Random(SEED), list(neighbours)
    walks: list[list[str]] = []
    while len(walks) < wanted:
        drawn.shuffle(starts)
        for start in starts[: wanted - len(walks)]:
            walk = [start]
            while len(walk) < LENGTH and neighbours[walk[-1]]:
                walk.append(drawn.choice(neighbours[walk[-1]]))
            walks.append(list(map(str, walk)))
    return walks


def _accuracy(vectors: Any, graph: Any) -> float:
    """Of the probe, the mean over some random splits."""
    from graphprox import random_split
    from graphprox.evaluation.probe import probe

    splits = [random_split(graph, seed=seed) for seed in range(SPLITS)]
    return float(np.mean([probe(vectors, graph.y, split).accuracy for split in splits]))


def multiply_and_add(name: str) -> float:
    """Seconds of as many multiplications and additions as the training makes, in the fastest way there is: sgemm."""
    from threadpoolctl import threadpool_limits

    from graphprox import load

    # A window reaches (WINDOW + 1) / 2 nodes to either side, less where a walk begins or ends. A target is multiplied
    # with the source, and each is added to the other.
    reach = np.arange(1, WINDOW + 1)
    a_walk = 2 * (LENGTH * reach - reach * (reach + 1) / 2).mean()
    pairs = load(name).graph.num_nodes * WALKS * EPOCHS * a_walk
    needed, size = pairs * (1 + NEGATIVES) * WIDTH * 3, 1024
    a = np.ones((size, size), np.float32)
    with threadpool_limits(1):
        a @ a
        began = time.perf_counter()
        for _ in range(20):
            a @ a
        return float((time.perf_counter() - began) / 20 * needed / size**3)


# -- rows -------------------------------------------------------------------------------------------------------------


def quality(name: str) -> Row:
    ours, theirs = measure(our_deepwalk, name, True, repeat=1), measure(deepwalk_with_gensim, name, True, 1, repeat=1)
    return {
        "what": f"DeepWalk, {name}",
        "seconds": f"{_all(ours):.1f}, accuracy {ours.result['accuracy']:.1%}",
        "reference": f"walks in Python, gensim: {_all(theirs):.1f} s, accuracy {theirs.result['accuracy']:.1%}",
        "ratio": f"{_all(theirs) / _all(ours):.1f} x faster",
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
        "seconds": f"{_all(ours):.1f}",
        "reference": f"walks in Python, gensim: {_all(theirs):.0f} s{part}",
        "ratio": f"{_all(theirs) / _all(ours):.1f} x faster",
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


def _all(measured: Measured) -> float:
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
