"""Amounts of memory and time, as people read them."""

from __future__ import annotations


def format_memory(num_bytes: float) -> str:
    """Return an amount of memory in MB or GB, with two digits at least.

    Parameters
    ----------
    num_bytes : float

    Returns
    -------
    str

    Examples
    --------
    >>> format_memory(851_000_000), format_memory(3_240_000_000), format_memory(24e9)
    ('851 MB', '3.2 GB', '24 GB')
    """
    if num_bytes < 0.9995e9:
        return f"{num_bytes / 1e6:.0f} MB"
    return f"{num_bytes / 1e9:.1f} GB" if num_bytes < 9.95e9 else f"{num_bytes / 1e9:,.0f} GB"


def to_megabytes(num_bytes: float | None) -> int | None:
    """Return an amount of memory in MB, millions of bytes, as `format_memory` does; None if it is not known.

    Parameters
    ----------
    num_bytes : float or None

    Returns
    -------
    int or None

    Examples
    --------
    >>> to_megabytes(851_400_000), to_megabytes(None)
    (851, None)
    """
    return None if num_bytes is None else round(num_bytes / 1e6)


def format_duration(seconds: float) -> str:
    """Return a duration in seconds, minutes or hours.

    Parameters
    ----------
    seconds : float

    Returns
    -------
    str

    Examples
    --------
    >>> format_duration(0.2), format_duration(42), format_duration(200), format_duration(7900)
    ('1 s', '42 s', '3 min 20 s', '2 h 12 min')
    """
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 10:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"
