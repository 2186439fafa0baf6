"""The part of a graph whose rows are in this process: by default all of it.

An encoder that propagates along edges needs the rows that they come from. Before it does, it asks the part to complete
its rows, which costs nothing if there are no others.
"""

from __future__ import annotations

from torch import Tensor


class Part:
    """Consecutive rows of the nodes of a graph; this class stands for all rows, and subclasses for some.

    Attributes
    ----------
    first : int
        Position of the first of the rows among the completed ones.
    is_whole : bool
        Whether there are no other rows.
    """

    first: int = 0
    is_whole: bool = True

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

    def total(self, value: float) -> float:
        """Return the sum of a number over all parts."""
        return value


WHOLE = Part()
