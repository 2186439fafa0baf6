"""Collectives: the gradient of a sum over processes is that of one process, and exchanged rows return theirs."""

from __future__ import annotations

import numpy as np
import torch

from graphprox.distributed.collectives import all_reduce_sum, exchange_rows


def differentiate_loss(processes, x):
    """Differentiate a loss that is not linear in a sum over rows, of which each process has some."""
    weight = torch.ones(3, dtype=torch.float64, requires_grad=True)
    h = torch.from_numpy(x)[processes.rows(len(x))] * weight
    total, squares = all_reduce_sum(processes, [h.sum(0), (h * h).sum().reshape(1, 1)])
    loss = total.prod() + squares.sum() ** 2
    loss.backward()
    processes.sum_gradients([weight])
    return loss.item(), weight.grad.numpy()


def test_gradient_of_a_sum_over_processes_is_that_of_one(workers):
    x = np.random.default_rng(0).random((7, 3))
    weight = torch.ones(3, dtype=torch.float64, requires_grad=True)
    h = torch.from_numpy(x) * weight
    loss = h.sum(0).prod() + (h * h).sum() ** 2
    loss.backward()
    for found, gradient in workers(3, differentiate_loss, x):
        np.testing.assert_allclose(found, loss.item(), rtol=1e-13)
        np.testing.assert_allclose(gradient, weight.grad, rtol=1e-13)


def exchange_unevenly(processes, counts):
    """Send ``counts[r][s]`` rows from process r to s, each row with the numbers of both."""
    rank, size = processes.rank, processes.size
    sent, received = counts[rank], [row[rank] for row in counts]
    numbers = torch.repeat_interleave(torch.arange(size), torch.tensor(sent)).double()
    rows = torch.stack([torch.full_like(numbers, rank), numbers], 1).requires_grad_()
    arrived = exchange_rows(processes, rows, sent, received)
    (arrived * (1 + rank)).sum().backward()
    return arrived.detach().tolist(), rows.grad[:, 0].tolist(), processes.bytes_sent


def test_rows_and_their_gradients_are_exchanged_unevenly(workers):
    counts = [[1, 0, 2], [3, 0, 0], [0, 0, 0]]
    for rank, (arrived, gradient, num_bytes) in enumerate(workers(3, exchange_unevenly, counts)):
        assert arrived == [[source, rank] for source in range(3) for _ in range(counts[source][rank])]
        # The gradient of a row is the factor of the process that it was sent to.
        assert gradient == [1 + target for target in range(3) for _ in range(counts[rank][target])]
        forward = sum(counts[rank]) - counts[rank][rank]
        backward = sum(row[rank] for row in counts) - counts[rank][rank]
        assert num_bytes == 16 * (forward + backward)
