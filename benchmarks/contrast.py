"""Channel contrast against node contrast for growing graphs, and each against a plain implementation.

A loss is measured forward and backward. Its memory includes the two views, their gradients and intermediate results.
The benchmark takes minutes, mostly for node contrast of the largest graph, and writes docs/figures/contrast.svg.
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
# A loss is repeated until this many seconds or runs.
MIN_SECONDS, MAX_RUNS = 1.0, 20
FIGURE = Path(__file__).parents[1] / "docs" / "figures" / "contrast.svg"


def run(sizes: Sequence[int] = SIZES, figure: Path = FIGURE) -> Iterator[Row]:
    yield compare_with_plain("channel contrast", time_channel, time_plain_channel, nodes=2_708, channels=512)
    yield compare_with_plain("node contrast", time_node, time_plain_node, nodes=5_000, channels=CHANNELS)
    measured = {}
    for nodes in sizes:
        measured[nodes] = measure(time_channel, nodes, CHANNELS), measure(time_node, nodes, CHANNELS, repeat=1)
        yield _compare(nodes, *measured[nodes])
    plot(measured, figure)


# -- measurements ---------------------------------------------------------------------------------------------------


def time_channel(nodes: int, channels: int) -> float:
    from graphprox.nn.objectives.channel import channel_contrast

    return _time_loss(lambda a, b: channel_contrast(a, b, temperature=TEMPERATURE), nodes, channels)


def time_node(nodes: int, channels: int) -> float:
    from graphprox.nn.objectives.node import node_contrast

    return _time_loss(
        lambda a, b: node_contrast(a, b, temperature=TEMPERATURE, positives_in_denominator=True), nodes, channels
    )


def time_plain_channel(nodes: int, channels: int) -> float:
    import torch
    from torch.nn.functional import normalize

    def loss(a: Any, b: Any) -> Any:
        similarities = normalize(a, dim=0).T @ normalize(b, dim=0) / TEMPERATURE
        negatives = similarities.masked_fill(torch.eye(channels, dtype=torch.bool), -math.inf)
        return (negatives.logsumexp(1) + negatives.logsumexp(0) - 2 * similarities.diagonal()).mean()

    return _time_loss(loss, nodes, channels)


def time_plain_node(nodes: int, channels: int) -> float:
    from torch.nn.functional import normalize

    def loss(a: Any, b: Any) -> Any:
        similarities = normalize(a) @ normalize(b).T / TEMPERATURE
        return (similarities.logsumexp(1) + similarities.logsumexp(0) - 2 * similarities.diagonal()).mean()

    return _time_loss(loss, nodes, channels)


def _time_loss(loss: Callable[[Any, Any], Any], nodes: int, channels: int) -> float:
    """Return the best time of the loss forward and backward, for two views that are sampled beforehand."""
    import torch

    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randn(nodes, channels, generator=generator).requires_grad_() for _ in range(2))
    seconds: list[float] = []
    while sum(seconds) < MIN_SECONDS and len(seconds) < MAX_RUNS:
        a.grad = b.grad = None
        start = time.perf_counter()
        loss(a, b).backward()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


# What torch loads and allocates on first use is not measured.
time_channel.warm_up = lambda: time_channel(100, 8)
time_node.warm_up = lambda: time_node(100, 8)
time_plain_channel.warm_up = lambda: time_plain_channel(100, 8)
time_plain_node.warm_up = lambda: time_plain_node(100, 8)


# -- rows -----------------------------------------------------------------------------------------------------------


def compare_with_plain(
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
    time_plain_channel: "normalized copies of both views",
    time_plain_node: "the whole matrix of similarities",
}


def _compare(nodes: int, by_channel: Measured, by_node: Measured) -> Row:
    return {
        "what": f"channel contrast, {nodes:,} x {CHANNELS}",
        "seconds": f"{by_channel.result:.3f}",
        "reference": f"node contrast: {by_node.result:.2f} s",
        "ratio": f"{by_node.result / by_channel.result:,.0f} x faster",
        "peak memory": f"{by_channel.peak_mb:,.0f} MB (node contrast: {by_node.peak_mb:,.0f} MB)",
    }


# -- the figure -----------------------------------------------------------------------------------------------------


def plot(measured: dict[int, tuple[Measured, Measured]], path: Path) -> None:
    """Plot time and memory of both contrasts against the number of nodes."""
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

    nodes = list(measured)
    figure = Figure(figsize=(8, 3.4), layout="constrained")
    time_axes, memory_axes = figure.subplots(1, 2)
    for place, (name, marker) in enumerate((("node contrast", "s"), ("channel contrast", "o"))):
        both = [pair[1 - place] for pair in measured.values()]
        time_axes.plot(nodes, [each.result for each in both], marker=marker, label=name)
        memory_axes.plot(nodes, [each.peak_mb for each in both], marker=marker, label=name)
    time_axes.set(title="loss and gradient, seconds (logarithmic)", xlabel="nodes")
    memory_axes.set(title="peak memory, MB (logarithmic)", xlabel="nodes")
    for axes in (time_axes, memory_axes):
        axes.set(xscale="log", yscale="log")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        axes.grid(alpha=0.3)
    time_axes.legend()
    # Equal measurements give an identical file, without random ids and date.
    with mpl.rc_context({"svg.hashsalt": "graphprox"}):
        figure.savefig(path, format="svg", metadata={"Date": None})
