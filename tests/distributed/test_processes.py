"""Processes: sums, copies and exchanges of rows, each the same as in one process, and errors that name the process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from graphprox.distributed.launch import Launch
from graphprox.distributed.processes import Processes, current_processes

SIZES = (1, 2, 3, 4)


@pytest.mark.parametrize("num_rows", [0, 1, 3, 10])
@pytest.mark.parametrize("size", SIZES)
def test_rows_of_all_processes_are_consecutive_and_differ_in_number_by_at_most_one(size, num_rows):
    owned = Processes(Launch(0, size), None).all_rows(num_rows)
    assert np.concatenate([np.arange(num_rows)[each] for each in owned]).tolist() == list(range(num_rows))
    lengths = [each.stop - each.start for each in owned]
    assert max(lengths) - min(lengths) <= 1


def join_and_return_rank(processes):
    return current_processes() is processes, processes.rank, processes.size, processes.is_first


def test_processes_know_their_ranks(workers):
    assert workers(3, join_and_return_rank) == [(True, rank, 3, rank == 0) for rank in range(3)]


def test_process_that_has_not_joined_works_alone():
    assert current_processes() is None


# -- sums -----------------------------------------------------------------------------------------------------------


def sum_of_ranks(processes):
    total = processes.sum_(torch.full((3,), float(processes.rank)))
    return total.tolist(), processes.any(processes.rank == 1), processes.any(False), processes.bytes_sent


@pytest.mark.parametrize("size", [2, 3])
def test_sums_are_those_over_all_processes(workers, size):
    ring = 2 * (size - 1) * 12 // size + 2 * (2 * (size - 1) * 8)
    assert workers(size, sum_of_ranks) == [([sum(range(size))] * 3, True, False, ring)] * size


def sum_gradients_of_some(processes):
    first, second, third = (nn.Parameter(torch.ones(2, 2)) for _ in range(3))
    first.grad = torch.full((2, 2), 1.0 + processes.rank)
    if processes.rank == 1:
        second.grad = torch.full((2, 2), 5.0)
    processes.sum_gradients([first, second, third])
    return first.grad.tolist(), second.grad.tolist(), third.grad


def test_gradients_are_added_up_and_stay_none_where_no_process_has_one(workers):
    assert workers(2, sum_gradients_of_some) == [([[3.0, 3.0]] * 2, [[5.0, 5.0]] * 2, None)] * 2


# -- copies ---------------------------------------------------------------------------------------------------------


def copy_from_first(processes):
    tensor = torch.full((2, 3), float(processes.rank))
    transposed = torch.full((2, 3), float(processes.rank)).T
    processes.broadcast([tensor, transposed, torch.zeros(0)])
    return tensor.sum().item(), transposed.sum().item()


def test_broadcast_copies_the_tensors_of_the_first_process(workers):
    assert workers(2, copy_from_first) == [(0.0, 0.0)] * 2


def exchange_texts(processes):
    own = None if processes.rank else "größe"
    return processes.broadcast_text(own), processes.broadcast_text(None), processes.gather_texts("ä" * processes.rank)


def test_texts_of_any_length_are_exchanged(workers):
    assert workers(3, exchange_texts) == [("größe", None, ["", "ä", "ää"])] * 3


def gather_squares(processes, num_rows):
    own = torch.arange(num_rows)[processes.rows(num_rows)]
    return processes.gather_rows((own**2)[:, None], num_rows)[:, 0].tolist()


@pytest.mark.parametrize("num_rows", [1, 7])
def test_rows_of_all_processes_are_gathered_in_their_order(workers, num_rows):
    assert workers(3, gather_squares, num_rows) == [[each**2 for each in range(num_rows)]] * 3


# -- the end --------------------------------------------------------------------------------------------------------

LEAVE = """
import os
from pathlib import Path
from torch.distributed import HashStore
from graphprox.distributed.launch import Launch
from graphprox.distributed.processes import join_processes

def count_threads():
    tasks = Path("/proc/self/task").iterdir()
    return sum("gloo" in (task / "comm").read_text() for task in tasks)

with join_processes(Launch(0, 1), store=HashStore()):
    import torch
    weight = torch.nn.Parameter(torch.ones(1))
    weight.grad = torch.ones(1)
    torch.optim.Adam([weight]).step()
    assert count_threads()
print(count_threads())
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the system does not list the threads of a process")
def test_no_thread_outlives_the_group():
    done = subprocess.run([sys.executable, "-c", LEAVE], capture_output=True, text=True, check=False)
    assert done.stdout == "0\n", done.stderr
