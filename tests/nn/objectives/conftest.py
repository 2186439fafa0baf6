"""Fixtures of the tests of objectives: random views, comparison of gradients, and a record of tensor operations."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode


@pytest.fixture(scope="session")
def sample_views():
    """Function that samples two correlated views, of shape (num_nodes, channels) each."""

    def sample_views(num_nodes, channels, seed=0, dtype=torch.float64):
        generator = torch.Generator().manual_seed(seed)
        a, noise = torch.randn(2, num_nodes, channels, generator=generator, dtype=torch.float64)
        return tuple(view.to(dtype).requires_grad_() for view in (a, a + noise))

    return sample_views


@pytest.fixture(scope="session")
def assert_same():
    """Function that compares the values of two losses and their gradients by both views."""

    def assert_same(actual, expected, a, b):
        assert actual.item() == pytest.approx(expected.item(), rel=1e-10, abs=1e-10)
        gradients = (torch.autograd.grad(loss, (a, b)) for loss in (actual, expected))
        for mine, other in zip(*gradients, strict=True):
            torch.testing.assert_close(mine, other, rtol=1e-8, atol=1e-10)

    return assert_same


@pytest.fixture(scope="session")
def assert_finite():
    """Function that checks a loss and its gradients for finite values, and returns the gradients."""

    def assert_finite(loss, *views):
        gradients = torch.autograd.grad(loss, views)
        assert loss.isfinite()
        assert all(each.isfinite().all() for each in gradients)
        return gradients

    return assert_finite


class OperationRecord(TorchDispatchMode):
    """Number of matrix products, and every tensor that is allocated."""

    def __init__(self) -> None:
        super().__init__()
        self.products, self.tensors = 0, []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        self.products += "mm" in func.__name__
        self.tensors += [each for each in torch.utils._pytree.tree_leaves(result) if isinstance(each, Tensor)]
        return result

    def find_storages(self, *, min_bytes: int) -> set[int]:
        """Return the addresses of distinct tensors of at least this size."""
        storages = (each.untyped_storage() for each in self.tensors)
        return {storage.data_ptr() for storage in storages if storage.nbytes() >= min_bytes}


@pytest.fixture
def record():
    """Record of operations, a context manager."""
    return OperationRecord()
