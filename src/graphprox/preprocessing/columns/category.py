"""Columns of categories, such as a city or a profession."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from graphprox._utils.arrays import FloatArray
from graphprox.errors import GraphError
from graphprox.preprocessing.columns.base import ColumnEncoder
from graphprox.preprocessing.table_cells import clean_text

MAX_CATEGORIES = 50  # columns of one column; the last of them is that of all other categories
RARE_SHARE = 0.005  # of the rows, below which a category is one of the others
OTHER = "(other)"
MAX_DISTINCT, MIN_ROWS = 0.9, 20  # share of distinct values from which, in that many rows, they name nodes
MIN_TEXT_LENGTH = 40  # mean number of characters of a text
_NUM_UNSEEN = 3  # examples in a warning


class CategoryColumn(ColumnEncoder):
    """A column of categories: each becomes a column of zeros and ones, and rare ones share one.

    Parameters
    ----------
    name : str
    categories : tuple of str
        Categories with a column of their own, sorted.
    rare : tuple of str
        Those that share a column, sorted.
    has_missing : bool
    """

    type: Literal["category"] = "category"
    categories: tuple[str, ...]
    rare: tuple[str, ...] = ()

    @classmethod
    def fit(cls, name: str, column: pa.Array) -> CategoryColumn:
        """Count the categories of a column.

        A category of fewer than 0.5 % of the rows is rare, and so are all but the 49 most frequent ones.
        """
        text = to_names(column)
        counts = pc.value_counts(text.drop_null())
        return cls.of_counts(
            name,
            counts.field("values"),
            counts.field("counts").to_numpy(),
            len(column),
            has_missing=text.null_count > 0,
        )

    @classmethod
    def of_counts(
        cls, name: str, values: pa.Array, sizes: NDArray[np.int64], num_rows: int, *, has_missing: bool
    ) -> CategoryColumn:
        """Return a column of which the number of rows of each category is known.

        Parameters
        ----------
        name : str
        values : pyarrow.Array of str
            The categories, each once.
        sizes : ndarray of shape (n_categories,)
            Number of rows of each.
        num_rows : int
            Number of all rows.
        has_missing : bool
            Whether some rows have none.
        """
        order = pc.sort_indices(values).to_numpy()
        values, sizes = values.take(pa.array(order)), sizes[order]
        is_rare = sizes < RARE_SHARE * num_rows
        if is_rare.any() or len(sizes) > MAX_CATEGORIES:
            # As in scikit-learn, the last of several categories of the same size are kept.
            is_rare[np.argsort(sizes, kind="stable")[: max(0, len(sizes) - MAX_CATEGORIES + 1)]] = True
        names = np.array(values.to_pylist(), dtype=object)
        return cls(
            name=name,
            categories=tuple(names[~is_rare]),
            rare=tuple(names[is_rare]),
            has_missing=has_missing,
        )

    @property
    def value_names(self) -> tuple[str, ...]:
        """The name of the column with each category."""
        names = (*self.categories, OTHER) if self.rare else self.categories
        return tuple(f"{self.name}={each}" for each in names)

    def encode(self, column: pa.Array) -> FloatArray:
        """Return a one in the column of each category; only zeros for a missing one, and for one that is not known."""
        codes = self._codes(to_names(column))
        values = np.zeros((len(column), len(self.value_names)), np.float32)
        rows = np.flatnonzero(codes >= 0)
        values[rows, np.minimum(codes[rows], len(self.categories))] = 1
        return values

    def find_missing(self, column: pa.Array) -> NDArray[np.bool_]:
        """Return which cells are missing."""
        missing: NDArray[np.bool_] = clean_text(column).is_null().to_numpy(zero_copy_only=False)
        return missing

    def find_unseen(self, column: pa.Array) -> Sequence[str]:
        """Return some categories that the column did not have when it was fitted."""
        unseen = pc.unique(to_names(column)).drop_null()
        unseen = unseen.filter(pc.invert(pc.is_in(unseen, self._known())))
        return [str(each) for each in unseen[:_NUM_UNSEEN].to_pylist()]

    def _known(self) -> pa.Array:
        return pa.array([*self.categories, *self.rare], pa.string())

    def _codes(self, text: pa.Array) -> NDArray[np.int64]:
        found = pc.fill_null(pc.index_in(text, value_set=self._known(), skip_nulls=True), -1)
        codes: NDArray[np.int64] = found.to_numpy(zero_copy_only=False).astype(np.int64)
        return codes


def to_names(column: pa.Array) -> pa.Array:
    """Return categories as text, null where they are missing.

    Parameters
    ----------
    column : pyarrow.Array
    """
    # pandas writes integers as 75001.0 if one of them is missing.
    return pc.replace_substring_regex(clean_text(column), r"^([+-]?\d+)\.0$", r"\1")


def reject_text(name: str, text: pa.Array) -> None:
    """Raise a `GraphError` if a column contains text, rather than categories.

    Parameters
    ----------
    name : str
    text : pyarrow.Array of str
        Cells that are not missing.
    """
    if len(text) < 2 or pc.count_distinct(text).as_py() < 2:
        return
    is_long = pc.mean(pc.utf8_length(text)).as_py() >= MIN_TEXT_LENGTH
    if is_long and pc.count_distinct(text).as_py() > len(text) / 2:
        raise text_error(name, text[0].as_py())


def text_error(name: str, example: str) -> GraphError:
    """Return the error about a column of text.

    Parameters
    ----------
    name : str
    example : str
        A cell of it.
    """
    return GraphError(
        f"a column of features must contain numbers, categories or dates; {name!r} contains text, such as "
        f"{example[:40]!r}: set kinds={{{name!r}: 'ignored'}} to leave it out, or embed it by a language model and "
        "pass its vectors"
    )


def names_nodes(text: pa.Array) -> bool:
    """Return whether nearly all cells of a column differ, as ids and names do.

    Parameters
    ----------
    text : pyarrow.Array of str
        Cells that are not missing.
    """
    return len(text) >= MIN_ROWS and pc.count_distinct(text).as_py() >= MAX_DISTINCT * len(text)
