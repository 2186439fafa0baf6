"""Validation of node ids."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import ArrayLike

from graphprox._utils.arrays import NodeIds, to_array
from graphprox.errors import ParameterError


def is_id(node: object) -> bool:
    """Check whether a value can be a node id: an integer or a string.

    Parameters
    ----------
    node : object

    Returns
    -------
    bool
    """
    return isinstance(node, str | int | np.integer) and not isinstance(node, bool)


def check_ids(given: ArrayLike, num_nodes: int) -> NodeIds:
    """Validate node ids: unique, and all integers or all strings.

    Parameters
    ----------
    given : array-like of shape (num_nodes,)
    num_nodes : int

    Returns
    -------
    ndarray of shape (num_nodes,)
        int64, or str as objects.

    Raises
    ------
    ParameterError
        If they are not valid.
    """
    ids = to_array(given, "ids")
    if ids.dtype.kind in "US" and not isinstance(given, np.ndarray):
        ids = np.asarray(given, dtype=object)  # numpy turns the integers of a mixed list into strings
    if ids.shape != (num_nodes,):
        raise ParameterError(f"ids must name every row once; got shape {ids.shape} for {num_nodes} rows")
    if ids.dtype.kind in "iu":
        if ids.max() > np.iinfo(np.int64).max:
            raise ParameterError(f"integer ids must be less than 2^63; got {ids.max()}: use strings")
        ids = ids.astype(np.int64, copy=False)
    else:
        ids = ids.astype(object)
        invalid = [each for each in ids.tolist() if not isinstance(each, str)]
        if invalid:
            raise ParameterError(f"ids must be all integers below 2^63 or all strings; got {invalid[0]!r}")
    repeated = _find_duplicate(ids)
    if repeated is not None:
        raise ParameterError(f"ids must be unique; got {repeated!r} more than once")
    return ids


def _find_duplicate(ids: NodeIds) -> int | str | None:
    if ids.dtype != object and (np.diff(ids) == 1).all():  # consecutive, as most ids are
        return None
    value, count = Counter(ids.tolist()).most_common(1)[0]
    return value if count > 1 else None
