"""Speed and memory of generating a synthetic graph of a million nodes, against networkx per edge."""

from __future__ import annotations

from benchmarks.measure import measure

NODES, EDGES_PER_NODE, FEATURES = 10**6, 10, 100
REFERENCE_SHARE = 50  # networkx generates one fiftieth, as its dicts for the whole graph would fill the memory


def generate() -> None:
    from graphprox import synthetic

    synthetic(nodes=NODES, edges_per_node=EDGES_PER_NODE, features=FEATURES)


def generate_with_networkx() -> None:
    import networkx as nx

    nodes = NODES // REFERENCE_SHARE
    nx.gnm_random_graph(nodes, nodes * EDGES_PER_NODE, seed=0)


def run() -> list[dict[str, object]]:
    """Return one row; the ratio compares the numbers of edges generated per second."""
    ours, reference = measure(generate, repeat=1), measure(generate_with_networkx)
    ratio = reference.seconds * REFERENCE_SHARE / ours.seconds
    held = NODES * (4 * FEATURES + 32 * EDGES_PER_NODE) / 2**20
    return [
        {
            "what": f"make synthetic, {NODES:,} nodes, {NODES * EDGES_PER_NODE:,} edges, {FEATURES} features",
            "seconds": f"{ours.seconds:.1f}",
            "reference": f"networkx.gnm_random_graph, {NODES * EDGES_PER_NODE // REFERENCE_SHARE:,} edges alone: "
            f"{reference.seconds:.2f} s",
            "ratio": f"{ratio:.1f} x the edges a second",
            "peak memory": f"{ours.peak_mb:,.0f} MB, {ours.peak_mb / held:.1f} x the graph",
        }
    ]
