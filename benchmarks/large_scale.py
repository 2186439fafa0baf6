"""A graph of ten million nodes and a hundred million edges from the command line: hours, and 60 GB of disk."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import scale

NODES = 10**7


def run() -> Iterator[scale.Row]:
    """Yield one row; the reference is the same with a tenth of the nodes."""
    reference = scale.run_command(NODES // 10, "auto")
    yield scale.describe(
        f"embed synthetic, {NODES:,} nodes, {NODES * scale.EDGES_PER_NODE:,} edges, {scale.FEATURES} features",
        scale.run_command(NODES, "auto"),
        f"the same with {NODES // 10:,} nodes",
        reference,
    )
