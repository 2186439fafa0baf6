"""Check that an array would fit into memory, before it is allocated."""

from __future__ import annotations

from graphprox._utils.amounts import format_memory
from graphprox._utils.memory import available_memory, current_memory
from graphprox.errors import GraphproxError


def check_memory(wanted: int, what: str, *, error: type[GraphproxError]) -> None:
    """Raise an error if there is not enough memory for what is about to be allocated.

    Parameters
    ----------
    wanted : int
        Number of bytes.
    what : str
        What needs them, for the message.
    error : type
        Error to raise.

    Examples
    --------
    >>> from graphprox import GraphError
    >>> check_memory(10**18, "the graph", error=GraphError)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    graphprox.errors.GraphError: the graph must fit into memory; it needs 1,000,000,000 GB, and ... are available
    """
    available = available_memory()
    free = None if available is None else max(available - current_memory(), 0)
    if free is not None and wanted > free:
        raise error(
            f"{what} must fit into memory; it needs {format_memory(wanted)}, and {format_memory(free)} are available"
        )
