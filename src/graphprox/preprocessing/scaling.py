"""Columns of features on a common scale: which matrices need it, and what is done to their columns.

Rows are compared by their cosine, and encoders divide them by their sum: a column of incomes beside ages and shares
would be all that counts. Columns of a table are therefore standardized. Counts, words and learned vectors are not:
there, differences of scale mean something.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphprox._utils.arrays import Features

ScaleName: TypeAlias = Literal["auto", "standard", "none"]
SCALES: tuple[ScaleName, ...] = get_args(ScaleName)

MAX_TABLE, TABLE_SPREAD = 50, 10.0  # columns of a small table, and factor by which their scales differ
WIDE_SPREAD, WIDE_MEAN = 100.0, 0.5  # of a table with more columns, which must be dense
FILLED, MIN_MEAN = 0.9, 0.25  # share of rows with a value, and mean of a column relative to its deviation
FAR_MEAN, FAR_ROWS = 2.0, 20  # mean relative to the deviation from which so many rows point in the same direction
_ROUNDING = 1e-14  # deviation of a constant column, relative to its mean
_BLOCK = 1 << 14  # rows or columns that are converted at a time


@dataclass(frozen=True, eq=False)
class Scaling:
    """What is subtracted from each column, and by what it is multiplied then.

    Parameters
    ----------
    center : ndarray of shape (num_features,)
    factors : ndarray of shape (num_features,)
    keeps_zero_rows : bool
        Whether a row of zeros stays one: without names of columns, it belongs to a node without features.

    Examples
    --------
    >>> x = np.array([[30, 52_000], [50, 31_000], [40, 40_000]], np.float32)
    >>> Scaling.fit(x).transform(x).std(axis=0).round(3).tolist()
    [1.0, 1.0]
    """

    center: NDArray[np.float64]
    factors: NDArray[np.float64]
    keeps_zero_rows: bool = True

    @classmethod
    def fit(
        cls,
        x: Features,
        *,
        how: ScaleName = "auto",
        is_quantity: NDArray[np.bool_] | None = None,
        is_mixed: bool = True,
        keeps_zero_rows: bool = True,
    ) -> Scaling | None:
        """Find out how columns are made comparable.

        Parameters
        ----------
        x : ndarray or csr_array of shape (num_nodes, num_features)
        how : {"auto", "standard", "none"}, default="auto"
            ``"standard"`` gives all columns the mean 0 and the deviation 1, ``"auto"`` those that need it. Columns of
            a sparse matrix get the deviation 1 and are not centered, except those of a table.
        is_quantity : ndarray of shape (num_features,), optional
            Which columns measure something in a unit of its own, where that is known.
        is_mixed : bool, default=True
            Whether the others are of another kind, rather than marks of missing numbers, beside which the numbers are
            judged as those of a matrix.
        keeps_zero_rows : bool, default=True

        Returns
        -------
        Scaling or None
            None if the features are used as they are.
        """
        chosen = _choose_columns(x, how, is_quantity, is_mixed=is_mixed)
        if not chosen.any():
            return None
        mean, deviation = column_moments(x)
        # Of a column that was constant, another value in another graph has no unit to be measured in.
        varies = chosen & (deviation > _ROUNDING * np.abs(mean))
        factors = np.divide(1.0, deviation, where=varies, out=np.where(chosen, 0.0, 1.0))
        # As in scikit-learn's StandardScaler(with_mean=False): centered, a sparse matrix would not fit into memory.
        is_centered = chosen
        if isinstance(x, sp.csr_array) and how == "standard" and not is_table(x):
            is_centered = np.zeros_like(chosen) if is_quantity is None else is_quantity
        return cls(np.where(is_centered, mean, 0.0), factors, keeps_zero_rows)

    def transform(self, x: Features) -> Features:
        """Return a matrix with the same columns, scaled.

        Parameters
        ----------
        x : ndarray or csr_array of shape (n_rows, num_features)

        Returns
        -------
        ndarray or csr_array of shape (n_rows, num_features)
            A sparse matrix stays one if most of its columns are not centered.
        """
        centered = np.flatnonzero(self.center)
        if isinstance(x, sp.csr_array) and 2 * len(centered) < x.shape[1]:
            return self._transform_sparse(x, centered)
        dense = x.toarray() if isinstance(x, sp.csr_array) else x
        scaled = np.empty(dense.shape, np.float32)
        for start in range(0, len(dense), _BLOCK):
            rows = dense[start : start + _BLOCK]
            with np.errstate(over="ignore"):
                scaled[start : start + _BLOCK] = (rows - self.center) * self.factors
            if self.keeps_zero_rows:
                scaled[start : start + _BLOCK][~rows.any(axis=1)] = 0
        return scaled

    def _transform_sparse(self, x: sp.csr_array, centered: NDArray[np.int64]) -> sp.csr_array:
        present = np.diff(x.indptr) > 0 if self.keeps_zero_rows else np.ones(x.shape[0], bool)
        rows = np.flatnonzero(present)
        shift = sp.csr_array(
            (
                np.tile(-self.center[centered], len(rows)),
                (np.repeat(rows, len(centered)), np.tile(centered, len(rows))),
            ),
            shape=x.shape,
        )
        scaled = sp.csr_array((x.astype(np.float64) + shift) @ sp.diags_array(self.factors))
        return scaled.astype(np.float32)

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can contain.

        Returns
        -------
        dict
        """
        return {
            "center": self.center.tolist(),
            "factors": self.factors.tolist(),
            "keeps_zero_rows": self.keeps_zero_rows,
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Scaling:
        """Return what `to_dict` has described.

        Parameters
        ----------
        stored : mapping

        Returns
        -------
        Scaling

        Raises
        ------
        ValueError
            If the description is not valid.
        """
        if not isinstance(stored, Mapping):
            raise ValueError("scaling must be a table of center, factors and keeps_zero_rows")
        if set(stored) != {"center", "factors", "keeps_zero_rows"} or not isinstance(stored["keeps_zero_rows"], bool):
            raise ValueError("scaling must have center, factors and keeps_zero_rows")
        arrays = {name: _to_numbers(name, stored[name]) for name in ("center", "factors")}
        if len(arrays["center"]) != len(arrays["factors"]):
            raise ValueError("center and factors must have a number for each column")
        return cls(**arrays, keeps_zero_rows=stored["keeps_zero_rows"])


def is_table(x: Features) -> bool:
    """Return whether the columns of a matrix look like those of a table, which have different units.

    Parameters
    ----------
    x : ndarray or csr_array of shape (num_nodes, num_features)

    Returns
    -------
    bool
        Whether most columns have a mean that is not small beside the deviation, unlike principal components and learned
        vectors; at least one column is nonzero in nine rows of ten; and the deviations of at most fifty columns differ
        by a factor of more than ten, or most means of twenty rows or more are at least twice the deviation. More than
        fifty columns must differ by a factor of a hundred, with half of them nonzero in nine rows of ten and means of
        half the deviation.

    Examples
    --------
    >>> is_table(np.array([[30.0, 52_000.0], [50.0, 31_000.0]])), is_table(np.eye(2))
    (True, False)
    """
    num_rows, num_columns = x.shape
    is_small = num_columns <= MAX_TABLE
    if not num_columns or not num_rows or (isinstance(x, sp.csr_array) and not is_small):
        return False
    dense: Any = x.toarray() if isinstance(x, sp.csr_array) else x
    # numpy makes booleans of all that it counts at a time.
    counts = [np.count_nonzero(dense[start : start + _BLOCK], axis=0) for start in range(0, num_rows, _BLOCK)]
    filled = np.sum(counts, axis=0) >= FILLED * num_rows
    if not filled.any() or (not is_small and 2 * filled.sum() < num_columns):
        return False
    mean, deviation = column_moments(dense)
    varies = deviation > 0
    if not varies.any():
        return False
    spread = deviation.max() / deviation[varies].min()
    typical = float(np.median(np.abs(mean[varies]) / deviation[varies]))
    if not is_small:
        return bool(spread > WIDE_SPREAD and typical >= WIDE_MEAN)
    is_far = typical >= FAR_MEAN and num_rows >= FAR_ROWS
    return bool(typical >= MIN_MEAN and (spread > TABLE_SPREAD or is_far))


def column_moments(x: Features) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and standard deviation of each column, computed in double precision.

    Parameters
    ----------
    x : ndarray or csr_array of shape (num_nodes, num_features)

    Returns
    -------
    tuple of two ndarrays of shape (num_features,)
    """
    parts = [(block.mean(axis=0), block.std(axis=0)) for block in _blocks(x)]
    return np.concatenate([mean for mean, _ in parts]), np.concatenate([deviation for _, deviation in parts])


def _blocks(x: Features) -> Iterator[NDArray[np.float64]]:
    """Yield a few columns at a time, dense and in double precision."""
    width = max(1, (_BLOCK << 6) // max(x.shape[0], 1))
    columns: Any = sp.csc_array(x) if isinstance(x, sp.csr_array) else x
    for start in range(0, x.shape[1], width):
        block = columns[:, start : start + width]
        yield np.asarray(block if isinstance(block, np.ndarray) else block.toarray(), dtype=np.float64)


def _choose_columns(
    x: Features, how: ScaleName, is_quantity: NDArray[np.bool_] | None, *, is_mixed: bool
) -> NDArray[np.bool_]:
    every = np.ones(x.shape[1], bool)
    if how == "none":
        return ~every
    if how == "standard":
        return every
    if is_quantity is None:
        return every if is_table(x) else ~every
    # Many columns of numbers beside other kinds may be counts or vectors, which are recognized as those of a matrix.
    is_judged = not is_mixed or is_quantity.sum() > MAX_TABLE
    return is_quantity & (not is_judged or is_table(_dense_columns(x, is_quantity)))


def _dense_columns(x: Features, chosen: NDArray[np.bool_]) -> Features:
    columns: Features = x[:, np.flatnonzero(chosen)]
    return columns


def _to_numbers(name: str, stored: Any) -> NDArray[np.float64]:
    if not isinstance(stored, list) or not all(type(each) in (int, float) for each in stored):
        raise ValueError(f"{name} must be a list of numbers")
    numbers = np.array(stored, np.float64)
    if not np.isfinite(numbers).all():
        raise ValueError(f"{name} must be finite")
    return numbers
