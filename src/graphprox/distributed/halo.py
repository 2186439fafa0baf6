"""Exchange of rows along the edges of a graph that is divided among processes.

Each process owns consecutive nodes, and the edges to them. The nodes of other processes that these edges come from are
its halo. For each propagation, some columns of the halo's rows at a time are fetched from their owners, and not kept;
their gradients return the same way. What is fetched is planned once for a graph, or for a view with the most neighbors.

Completed rows are in the order of the nodes, so that sums over the neighbors of a node are those of one process, to the
last digit.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from torch import Tensor

from graphprox._utils.arrays import FloatArray, IntArray
from graphprox.distributed.collectives import exchange_rows
from graphprox.distributed.processes import Processes
from graphprox.nn.part import Part

# That are fetched at a time. Fewer take less memory, but each block of columns passes over all edges again.
MAX_COLUMNS = 64


class Halo(Part):
    """The nodes of a process, and those of other processes that edges to them come from.

    Parameters
    ----------
    processes : Processes
    edge_index : ndarray of shape (2, num_edges)
        Source and target of each edge. Those to nodes of other processes are ignored.
    num_nodes : int
        Number of nodes of the whole graph.

    Attributes
    ----------
    needed : ndarray of shape (num_needed,)
        Nodes of other processes that edges come from, ascending.
    sent, received : list of int
        Number of rows that are sent to, and received from, each process; this one sends itself its own rows.
    """

    is_whole = False
    max_columns = MAX_COLUMNS

    def __init__(self, processes: Processes, edge_index: IntArray, num_nodes: int) -> None:
        self._processes = processes
        self.rows = processes.rows(num_nodes)
        source, target = edge_index
        sources = np.unique(source[self._is_own(target)])
        self.needed: IntArray = sources[~self._is_own(sources)]
        self.first = int(np.searchsorted(self.needed, self.rows.start))
        completed = np.insert(self.needed, self.first, np.arange(self.rows.start, self.rows.stop))
        bounds = [each.start for each in processes.all_rows(num_nodes)] + [num_nodes]
        self.received: list[int] = np.diff(np.searchsorted(completed, bounds)).tolist()
        ones = [1] * processes.size
        self.sent: list[int] = processes.exchange(torch.tensor(self.received), ones, ones).tolist()
        asked = processes.exchange(torch.from_numpy(completed), self.received, self.sent)
        self._sent_rows = (asked - self.rows.start).int()

    @property
    def num_rows(self) -> int:
        """Number of nodes of this process."""
        return int(self.rows.stop - self.rows.start)

    def complete(self, rows: Tensor) -> Tensor:
        """Return the rows of this process, among those of its halo; see :meth:`Part.complete`."""
        chosen = rows.index_select(0, self._sent_rows.to(rows.device))
        # Own rows are exchanged, too, so that all arrive in their places and none is copied again.
        return exchange_rows(self._processes, chosen, self.sent, self.received)

    def collect(self, completed: Tensor) -> Tensor:
        """Return the sums of completed rows at their owners; see :meth:`Part.collect`."""
        arrived = self._processes.exchange(completed, self.received, self.sent)
        sums = arrived.new_zeros(self.num_rows, *arrived.shape[1:])
        return sums.index_add_(0, self._sent_rows.to(arrived.device), arrived)

    def total(self, value: float) -> float:
        """Return the sum of a number over all processes."""
        return float(self._processes.sum_(torch.tensor([value], dtype=torch.float64))[0])

    def in_neighbors(self, edge_index: IntArray, edge_weight: FloatArray | None) -> sp.csr_array:
        """Return the in-neighbors of the nodes of this process among the completed rows.

        Parameters
        ----------
        edge_index : ndarray of shape (2, num_edges)
            Some or all of the edges that the halo was made of. Those to nodes of other processes are ignored.
        edge_weight : ndarray of shape (num_edges,) or None
            Weights; None means ones.

        Returns
        -------
        csr_array of shape (num_rows, num_completed)
        """
        source, target = edge_index
        is_own = self._is_own(target)
        source, target = source[is_own], target[is_own] - self.rows.start
        weight = np.ones(len(source), np.float32) if edge_weight is None else edge_weight[is_own]
        place = np.searchsorted(self.needed, source)
        place += np.where(source >= self.rows.stop, self.num_rows, 0)
        column = np.where(self._is_own(source), source - self.rows.start + self.first, place)
        matrix = sp.csr_array((weight, (target, column)), shape=(self.num_rows, self.num_rows + len(self.needed)))
        matrix.sort_indices()
        return matrix

    def _is_own(self, nodes: IntArray) -> NDArray[np.bool_]:
        is_own: NDArray[np.bool_] = (nodes >= self.rows.start) & (nodes < self.rows.stop)
        return is_own
