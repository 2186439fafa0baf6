"""Channel contrast against node contrast as the graph grows, and each against the plain way to write it.

A loss is measured forward and backward. Its memory is that of the two views, their gradients and what lies between.
The whole takes minutes, most of them for node contrast of the largest graph, and draws docs/figures/contrast.svg.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import Measured, measure

Row = dict[str, object]
SIZES = (2_708, 5_000, 10_000, 20_000, 50_000, 100_000)
CHANNELS, TEMPERATURE = 256, 0.2
# What takes as long as this is measured once, what is faster several times.
SECONDS_ENOUGH, RUNS_ENOUGH = 1.0, 20
FIGURE = Path(__file__).parents[1] / "docs" / "figures" / "contrast.svg"


def run(sizes: Sequence[int] = SIZES, figure: Path = FIGURE) -> Iterator[Row]:
    yield against_plain("channel contrast", channel, channel_of_normalised_copies, nodes=2_708, channels=512)
    yield against_plain("node contrast", node, node_of_whole_matrix, nodes=5_000, channels=CHANNELS)
    measured = {}
    for nodes in sizes:
        measured[nodes] = measure(channel, nodes, CHANNELS), measure(node, nodes, CHANNELS, repeat=1)
        yield _compared(nodes, *measured[nodes])
    draw(measured, figure)


# -- what is measured -------------------------------------------------------------------------------------------------


def channel(nodes: int, channels: int) -> float:
    from graphprox.nn.objectives import channel_contrast

    return _seconds(lambda a, b: channel_contrast(a, b, temperature=TEMPERATURE), nodes, channels)


def node(nodes: int, channels: int) -> float:
    from graphprox.nn.objectives import node_contrast

    return _seconds(lambda a, b: node_contrast(a, b, temperature=TEMPERATURE), nodes, channels)


def channel_of_normalised_copies(nodes: int, channels: int) -> float:
    import torch
    from torch.nn.functional import normalize

    def loss(a: Any, b: Any) -> Any:
        similarities = normalize(a, dim=0).T @ normalize(b, dim=0) / TEMPERATURE
        negatives = similarities.masked_fill(torch.eye(channels, dtype=torch.bool), -math.inf)
        return (negatives.logsumexp(1) + negatives.logsumexp(0) - 2 * similarities.diagonal()).mean()

    return _seconds(loss, nodes, channels)


def node_of_whole_matrix(nodes: int, channels: int) -> float:
    from torch.nn.functional import normalize

    def loss(a: Any, b: Any) -> Any:
        similarities = normalize(a) @ normalize(b).T / TEMPERATURE
        return (similarities.logsumexp(1) + similarities.logsumexp(0) - 2 * similarities.diagonal()).mean()

    return _seconds(loss, nodes, channels)


def _seconds(loss: Callable[[Any, Any], Any], nodes: int, channels: int) -> float:
    """The best seconds of the loss forward and backward, of two views that are drawn before."""
    import torch

    rng = torch.Generator().manual_seed(0)
    a, b = (torch.randn(nodes, channels, generator=rng).requires_grad_() for _ in range(2))
    taken: list[float] = []
    while sum(taken) < SECONDS_ENOUGH and len(taken) < RUNS_ENOUGH:
        a.grad = b.grad = None
        began = time.perf_counter()
        loss(a, b).backward()
        taken.append(time.perf_counter() - began)
    return min(taken)


# What torch loads and allocates on first use does not count.
channel.warm_up = lambda: channel(100, 8)
node.warm_up = lambda: node(100, 8)
channel_of_normalised_copies.warm_up = lambda: channel_of_normalised_copies(100, 8)
node_of_whole_matrix.warm_up = lambda: node_of_whole_matrix(100, 8)


# -- rows -------------------------------------------------------------------------------------------------------------


def against_plain(
    what: str, ours: Callable[..., float], plain: Callable[..., float], *, nodes: int, channels: int
) -> Row:
    mine, other = measure(ours, nodes, channels), measure(plain, nodes, channels)
    return {
        "what": f"{what}, {nodes:,} x {channels}",
        "seconds": f"{mine.result:.3f}",
        "reference": f"{PLAIN[plain]}, by autograd: {other.result:.3f} s",
        "ratio": f"{mine.result / other.result:.2f} x the time",
        "peak memory": f"{mine.peak_mb:,.0f} MB (reference: {other.peak_mb:,.0f} MB)",
    }


PLAIN = {
    channel_of_normalised_copies: "normalised copies of both views",
    node_of_whole_matrix: "the whole matrix of similarities",
}


def _compared(nodes: int, by_channel: Measured, by_node: Measured) -> Row:
    return {
        "what": f"channel contrast, {nodes:,} x {CHANNELS}",
        "seconds": f"{by_channel.result:.3f}",
        "reference": f"node contrast: {by_node.result:.2f} s",
        "ratio": f"{by_node.result / by_channel.result:,.0f} x faster",
        "peak memory": f"{by_channel.peak_mb:,.0f} MB (node contrast: {by_node.peak_mb:,.0f} MB)",
    }


# -- the figure -------------------------------------------------------------------------------------------------------


def draw(measured: dict[int, tuple[Measured, Measured]], path: Path) -> None:
    """Draw time and memory of both contrasts against the number of nodes."""
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

    nodes = list(measured)
    figure = Figure(figsize=(8, 3.4), layout="constrained")
    of_time, of_memory = figure.subplots(1, 2)
    for place, (name, marker) in enumerate((("node contrast", "s"), ("channel contrast", "o"))):
        both = [pair[1 - place] for pair in measured.values()]
        of_time.plot(nodes, [each.result for each in both], marker=marker, label=name)
        of_memory.plot(nodes, [each.peak_mb for each in both], marker=marker, label=name)
    of_time.set(title="loss and gradient, seconds", xlabel="nodes")
    of_memory.set(title="peak memory, MB", xlabel="nodes")
    for axes in (of_time, of_memory):
        axes.set(xscale="log", yscale="log")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        axes.grid(alpha=0.3)
    of_time.legend()
    # The same measurements give the same file: no random ids, no date.
    with mpl.rc_context({"svg.hashsalt": "graphprox"}):
        figure.savefig(path, format="svg", metadata={"Date": None})
