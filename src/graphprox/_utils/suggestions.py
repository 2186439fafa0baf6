"""Parts of error messages: shortened values, and the name that was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from graphprox._utils.arrays import NodeIds

MAX_REPR = 80  # characters of a value in a message
_MAX_CANDIDATES = 50_000  # comparing with more ids would take seconds


def shorten_repr(value: object) -> str:
    """Return the repr of a value, shortened if it is long.

    Parameters
    ----------
    value : object
        The value.

    Returns
    -------
    str

    Examples
    --------
    >>> shorten_repr("sage"), len(shorten_repr("sage" * 100))
    ("'sage'", 81)
    """
    text = repr(value)
    return text if len(text) <= MAX_REPR else f"{text[:MAX_REPR]}…"


def did_you_mean(given: str, known: Iterable[str], *, otherwise: str | None = None) -> str:
    """Suggest the most similar of some names, or list all of them if none is similar.

    Parameters
    ----------
    given : str
        An unknown name.
    known : iterable of str
        The known names.
    otherwise : str, optional
        Text to return instead of the list.

    Returns
    -------
    str

    Examples
    --------
    >>> did_you_mean("Encodr", ["encoder", "head"]), did_you_mean("x", ["encoder", "head"])
    ("did you mean 'encoder'?", 'valid names are encoder, head')
    """
    by_lower = {name.lower(): name for name in known}
    near = difflib.get_close_matches(given.lower(), by_lower, n=1)
    if near:
        return f"did you mean {by_lower[near[0]]!r}?"
    return f"valid names are {', '.join(by_lower.values())}" if otherwise is None else otherwise


def suggest_id(given: object, ids: NodeIds) -> str:
    """Suggest the most similar of many node ids, or describe the ids if none is similar.

    Parameters
    ----------
    given : object
        An unknown node id.
    ids : ndarray of shape (num_nodes,)
        The known ids, all integers or all strings.

    Returns
    -------
    str

    Examples
    --------
    >>> import numpy as np
    >>> suggest_id("anne", np.array(["ann", "bob"], object)), suggest_id("anne", np.array([3, 1, 2]))
    ("did you mean 'ann'?", 'its ids are integers in 1..3')
    """
    if ids.dtype != object:
        return f"its ids are integers in {ids.min()}..{ids.max()}"
    name = str(given).lower()
    by_lower = {each.lower(): each for each in ids[::-1].tolist()}
    candidates = [each for each in by_lower if abs(len(each) - len(name)) <= 2]
    candidates.sort(key=lambda each: each[:2] != name[:2])  # prefer ids with the same beginning
    near = difflib.get_close_matches(name, candidates[:_MAX_CANDIDATES], n=1)
    if near:
        return f"did you mean {by_lower[near[0]]!r}?"
    return f"its ids are strings such as {', '.join(map(repr, ids[:3].tolist()))}"
