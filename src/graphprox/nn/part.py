"""The part of a graph whose rows are in this process: by default all of it.

An encoder that propagates along edges needs the rows that they come from. Before it does, it asks the part to complete
its rows, which costs nothing if there are no others.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor


class Part:
    """Consecutive rows of the nodes of a graph; this class stands for all rows, and subclasses for some.

    Attributes
    ----------
    first : int
        Position of the first of the rows among the completed ones.
    is_whole : bool
        Whether there are no other rows.
    max_columns : int or None
        How many columns are completed at a time; None means all. The rows of other parts are often several times as
        many as those of this one, so that all their columns would take more memory than everything else.
    """

    first: int = 0
    is_whole: bool = True
    max_columns: int | None = None

    def complete(self, rows: Tensor) -> Tensor:
        """Return the rows and, in the order of the nodes, those of other parts that edges of this one come from.

        Parameters
        ----------
        rows : Tensor of shape (num_rows, channels)

        Returns
        -------
        Tensor of shape (num_completed, channels)
            Differentiable in ``rows``, here and in the other parts. All parts have to be completed at the same time.
        """
        return rows

    def collect(self, completed: Tensor) -> Tensor:
        """Return the sums over all parts of what completed rows stand for: the transpose of :meth:`complete`.

        Parameters
        ----------
        completed : Tensor of shape (num_completed, channels)

        Returns
        -------
        Tensor of shape (num_rows, channels)
            Without a gradient.
        """
        return completed

    def map_columns(self, function: Callable[[Tensor], Tensor], rows: Tensor) -> Tensor:
        """Apply a function to some columns at a time, and put its results side by side.

        Parameters
        ----------
        function : callable
            Returns as many columns as it is called with. All parts call it as often.
        rows : Tensor of shape (num_rows, channels)

        Returns
        -------
        Tensor of shape (num_results, channels)
            Without a gradient.
        """
        channels = rows.shape[1]
        if self.max_columns is None or channels <= self.max_columns:
            return function(rows)
        first, *others = (slice(start, start + self.max_columns) for start in range(0, channels, self.max_columns))
        block = function(rows[:, first].contiguous())
        result = block.new_empty(len(block), channels)
        result[:, first] = block
        for columns in others:
            result[:, columns] = function(rows[:, columns].contiguous())
        return result

    def total(self, value: float) -> float:
        """Return the sum of a number over all parts."""
        return value


WHOLE = Part()
