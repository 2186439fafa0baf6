"""The largest arrays of methods whose time is not forecast: what they need of memory at least."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from graphprox.forecast.work import FLOAT, Costs, Size

ADAM_COPIES = 4  # of each weight in training: its gradient and two moments come with it
INDEX = 8  # bytes


def count_arrays(*, rows: float = 0, weights: float = 0, entries: float = 0, others: float = 0) -> Costs:
    """Return the costs of a method that counts its largest arrays.

    Parameters
    ----------
    rows : float, default=0
        Number of floats that belong to nodes: vectors, layers.
    weights : float, default=0
        Number of trained weights; each is held with its gradient and two moments of Adam.
    entries : float, default=0
        Bytes that belong to edges, walks or pairs of nodes.
    others : float, default=0
        Bytes of all else.

    Returns
    -------
    Costs

    Examples
    --------
    >>> sum(count_arrays(rows=100, weights=10).memory.values())
    560.0
    """
    memory = {"rows": FLOAT * rows, "weights": FLOAT * ADAM_COPIES * weights, "entries": entries, "others": others}
    return Costs(None, {}, {name: float(amount) for name, amount in memory.items()})


def count_weights(channels: Iterable[int]) -> float:
    """Return the number of weights of dense layers.

    Parameters
    ----------
    channels : iterable of int
        Number of features, then the size of each layer.

    Examples
    --------
    >>> count_weights([100, 20, 5])
    2100.0
    """
    return float(sum(float(one) * other for one, other in pairwise(channels)))


def count_layers(
    size: Size, channels: Sequence[int], *, passes: float = 1, rows: float = 0, weights: float = 0, others: float = 0
) -> Costs:
    """Return the costs of training layers on all nodes, whose outputs are kept for the gradient.

    Parameters
    ----------
    size : Size
    channels : sequence of int
        Size of each layer.
    passes : float, default=1
        Number of times that all layers are computed for a step.
    rows, weights, others : float, default=0
        What comes in addition; see `count_arrays`.

    Returns
    -------
    Costs
    """
    return count_arrays(
        rows=passes * size.nodes * float(sum(channels)) + rows,
        weights=count_weights([size.columns, *channels]) + weights,
        entries=(INDEX + FLOAT) * float(size.entries + size.nodes),
        others=FLOAT * size.nonzero + others,
    )
