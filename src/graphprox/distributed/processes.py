"""The processes that work on one graph: how they join, what each owns, and the operations that they do together.

Each operation is called by all processes, in the same order. They exchange tensors and texts, never pickles.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from itertools import pairwise
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

# Its functions hold the group of all processes that exists when it is imported, as default argument, and optimizers
# import it. A group that is held is not shut down with the others, and its threads can abort a process that ends.
import torch.distributed.nn.functional
from numpy.typing import NDArray
from torch import Tensor
from torch.distributed.distributed_c10d import PrefixStore, Store
from torch.distributed.rendezvous import rendezvous

from graphprox._utils.memory import is_out_of_memory
from graphprox._utils.team import Team, current_team, share_work
from graphprox.distributed.failures import Failures
from graphprox.distributed.launch import Launch
from graphprox.distributed.meeting import meet
from graphprox.errors import ProcessError


class Processes(Team):
    """A group of processes, of which this is one.

    Parameters
    ----------
    launch : Launch
    failures : Failures

    Attributes
    ----------
    rank, size : int
        Number of this process, and of all.
    bytes_sent : int
        What this process has sent to others in the operations so far.
    """

    def __init__(self, launch: Launch, failures: Failures) -> None:
        self.launch, self.failures = launch, failures
        self.rank, self.size = launch.rank, launch.size
        self.bytes_sent = 0

    @property
    def is_first(self) -> bool:
        """Whether it is the process that prints, and writes files."""
        return self.launch.is_first

    # -- rows ---------------------------------------------------------------------------------------------------------

    def all_rows(self, num_rows: int) -> list[slice]:
        """Return the contiguous rows of each process; some have none if there are more processes than rows."""
        bounds = [num_rows * rank // self.size for rank in range(self.size + 1)]
        return [slice(*each) for each in pairwise(bounds)]

    # -- sums ---------------------------------------------------------------------------------------------------------

    def sum_(self, tensor: Tensor) -> Tensor:
        """Replace a tensor by its sum over all processes, the same bytes in each; without a gradient."""
        with self._explained():
            dist.all_reduce(tensor)
        self.bytes_sent += 2 * (self.size - 1) * _num_bytes(tensor) // self.size  # of a ring
        return tensor

    def sum_gradients(self, parameters: Iterable[Tensor]) -> None:
        """Replace the gradients of parameters by their sums over all processes, in one operation.

        A process without rows may lack a gradient that others have.
        """
        with_gradient = list(parameters)
        flat = torch.cat([_flat_gradient(each) for each in with_gradient])
        has_gradient = flat.new_tensor([each.grad is not None for each in with_gradient])
        self.sum_(flat := torch.cat([flat, has_gradient]))
        *gradients, counts = torch.split(flat, [*(each.numel() for each in with_gradient), len(with_gradient)])
        for parameter, gradient, count in zip(with_gradient, gradients, counts.tolist(), strict=True):
            parameter.grad = gradient.view_as(parameter).clone() if count else None

    def any(self, flag: bool) -> bool:
        """Return whether a flag is set in any process."""
        return bool(self.any_number(int(flag)))

    def any_number(self, number: int) -> int:
        """Return the number of the first process in which it is not 0, or 0."""
        numbers = torch.zeros(self.size, dtype=torch.int64)
        numbers[self.rank] = number
        return next((each for each in self.sum_(numbers).tolist() if each), 0)

    # -- copies -------------------------------------------------------------------------------------------------------

    def broadcast(self, tensors: Iterable[Tensor], *, source: int = 0) -> None:
        """Replace tensors by those of one process."""
        for tensor in tensors:
            contiguous = tensor.detach().contiguous()
            with self._explained():
                dist.broadcast(contiguous, src=source)
            if contiguous.data_ptr() != tensor.data_ptr():
                tensor.detach().copy_(contiguous)
            self.bytes_sent += _num_bytes(tensor) * (self.size - 1) * (self.rank == source)

    def broadcast_text(self, text: str | None) -> str | None:
        """Return the text of the first process, which may be None."""
        content = b"" if text is None else text.encode()
        length = torch.tensor([-1 if text is None else len(content)])
        self.broadcast([length])
        if length < 0:
            return None
        buffer = _to_tensor(content if self.is_first else bytes(int(length)))
        self.broadcast([buffer])
        return buffer.numpy().tobytes().decode()

    def gather_texts(self, text: str) -> list[str]:
        """Return the texts of all processes, in the order of their ranks."""
        content = text.encode()
        lengths = torch.zeros(self.size, dtype=torch.int64)
        lengths[self.rank] = len(content)
        self.sum_(lengths)
        bounds = [0, *lengths.cumsum(0).tolist()]
        buffer = torch.zeros(bounds[-1], dtype=torch.uint8)
        for rank in range(self.size):
            part = buffer[bounds[rank] : bounds[rank + 1]]
            if rank == self.rank:
                part.copy_(_to_tensor(content))
            self.broadcast([part], source=rank)
        joined = buffer.numpy().tobytes()
        return [joined[begin:end].decode() for begin, end in pairwise(bounds)]

    def gather_rows(self, rows: Tensor, num_rows: int) -> Tensor:
        """Return the rows of all processes, in each of them.

        Parameters
        ----------
        rows : Tensor of shape (own rows, ...)
        num_rows : int
            Number of rows of all processes together.

        Returns
        -------
        Tensor of shape (num_rows, ...)
        """
        everything = rows.new_empty(num_rows, *rows.shape[1:])
        everything[self.rows(num_rows)] = rows
        for rank, own in enumerate(self.all_rows(num_rows)):
            self.broadcast([everything[own]], source=rank)
        return everything

    def copy_rows(self, array: NDArray[Any], owned: Sequence[slice]) -> None:
        """Copy the rows of an array that other processes have computed; see :meth:`Team.copy_rows`."""
        tensor = _share_memory(array)
        for rank, rows in enumerate(owned):
            self.broadcast([tensor[rows]], source=rank)

    def add_up(self, array: NDArray[Any]) -> None:
        """Replace an array by its sum over all processes; see :meth:`Team.add_up`."""
        self.sum_(_share_memory(array))

    def copy_first(self, array: NDArray[Any]) -> None:
        """Replace an array by that of the first process; see :meth:`Team.copy_first`."""
        self.broadcast([_share_memory(array)])

    def exchange_array(self, array: NDArray[Any], sent: Sequence[int], received: Sequence[int]) -> NDArray[Any]:
        """Send parts of an array to all processes; see :meth:`Team.exchange_array`."""
        return self.exchange(torch.from_numpy(array), sent, received).numpy()

    def exchange(self, rows: Tensor, sent: Sequence[int], received: Sequence[int]) -> Tensor:
        """Send the first rows to process 0, the next ones to process 1, and so on; without a gradient.

        Parameters
        ----------
        rows : Tensor of shape (sum of sent, ...)
        sent, received : sequence of int
            Number of rows to and from each process.

        Returns
        -------
        Tensor of shape (sum of received, ...)
            Rows from process 0, then those from process 1, and so on.
        """
        arrived = rows.new_empty(sum(received), *rows.shape[1:])
        with self._explained():
            dist.all_to_all_single(arrived, rows.contiguous(), list(received), list(sent))
        self.bytes_sent += (sum(sent) - sent[self.rank]) * _num_bytes(rows[:1])
        return arrived

    def wait(self) -> None:
        """Wait until all processes have come here."""
        self.sum_(torch.zeros(1))

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn the error of an operation into one that says which process has failed, and why."""
        try:
            yield
        except RuntimeError as error:
            if is_out_of_memory(error):
                raise
            raise self.failures.explain(error) from None


def _num_bytes(tensor: Tensor) -> int:
    return tensor.numel() * tensor.element_size()


def _share_memory(array: NDArray[Any]) -> Tensor:
    # Gloo has no unsigned integers of 64 bits, and copies and sums have the same bits for signed ones.
    return torch.from_numpy(array.view(np.int64) if array.dtype == np.uint64 else array)


def _to_tensor(content: bytes) -> Tensor:
    return torch.frombuffer(bytearray(content), dtype=torch.uint8) if content else torch.zeros(0, dtype=torch.uint8)


def _flat_gradient(parameter: Tensor) -> Tensor:
    gradient = parameter.grad
    return parameter.detach().new_zeros(parameter.numel()) if gradient is None else gradient.reshape(-1)


# -- joining --------------------------------------------------------------------------------------------------------


def current_processes() -> Processes | None:
    """Return the processes that this one has joined; None if it works alone.

    Returns
    -------
    Processes or None

    Examples
    --------
    >>> current_processes() is None
    True
    """
    team = current_team()
    return team if isinstance(team, Processes) else None


@contextmanager
def join_processes(launch: Launch, *, store: Store | None = None) -> Iterator[Processes]:
    """Join the other processes: what is trained inside the block is trained by all of them together.

    Parameters
    ----------
    launch : Launch
        From :func:`~graphprox.distributed.launch.find_launch`.
    store : Store, optional
        Key-value store that all processes can reach; by default that of torchrun.

    Yields
    ------
    Processes

    Raises
    ------
    ProcessError
        If other processes do not join, end before this one, or do not answer.
    """
    processes = _join(launch, store)
    try:
        with share_work(processes):
            yield processes
        processes.wait()
    except BaseException as error:
        processes.failures.record(error)
        raise
    finally:
        dist.destroy_process_group()


def _join(launch: Launch, store: Store | None) -> Processes:
    timeout = timedelta(seconds=launch.timeout)
    has_gpus = torch.cuda.is_available()
    if has_gpus:
        torch.cuda.set_device(launch.local_rank % torch.cuda.device_count())
    try:
        if store is None:
            store, _, _ = next(rendezvous("env://", timeout=timeout))
        store = PrefixStore(meet(store, launch), store)
        dist.init_process_group(
            "cpu:gloo,cuda:nccl" if has_gpus else "gloo",
            store=PrefixStore("group", store),
            rank=launch.rank,
            world_size=launch.size,
            timeout=timeout,
        )
    except (RuntimeError, ValueError) as error:
        if dist.is_initialized():
            dist.destroy_process_group()
        raise ProcessError(
            f"all {launch.size} processes must join within {launch.timeout:g} s; process {launch.rank} has not reached "
            f"the others ({_first_sentence(error)}): check that all are started, and that their machines reach each "
            "other"
        ) from None
    return Processes(launch, Failures(store, launch))


def _first_sentence(error: Exception) -> str:
    return " ".join(str(error).split()).partition(". ")[0][:200]
