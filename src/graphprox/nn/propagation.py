"""Diffusion: a polynomial of the propagation matrix, applied to every channel.

    diffuse(h) = c_0 h + c_1 Â h + c_2 Â² h + ... + c_K Â^K h

Personalized PageRank and the heat kernel differ in their coefficients alone. The sum is evaluated by Horner's rule, so
that each hop is one pass over the edges and needs no memory beyond two matrices. The gradient is the same polynomial of
the transposed matrix, and nothing is stored for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray
from scipy.special import gammaln
from torch import Tensor
from torch.autograd import Function

from graphprox._utils.arrays import FloatArray
from graphprox._utils.numba_helpers import Int32Array, njit_fast, run_in_parallel
from graphprox.errors import ParameterError
from graphprox.nn.convolution import Edges


def pagerank_coefficients(alpha: float, hops: int) -> tuple[float, ...]:
    """Return the coefficients of personalized PageRank after some power iterations.

    Parameters
    ----------
    alpha : float
        Teleport probability: the weight of a node's own row.
    hops : int
        Number of power iterations.

    Returns
    -------
    tuple of float
        ``hops + 1`` coefficients that sum to 1.

    References
    ----------
    Gasteiger et al., Predict then Propagate: Graph Neural Networks meet Personalized PageRank, ICLR 2019.

    Examples
    --------
    >>> pagerank_coefficients(0.5, 2)
    (0.5, 0.25, 0.25)
    """
    if not 0 <= alpha <= 1:
        raise ParameterError(f"alpha must be between 0 and 1; got {alpha}")
    return (*(alpha * (1 - alpha) ** hop for hop in range(hops)), (1 - alpha) ** hops)


def heat_coefficients(time: float, hops: int) -> tuple[float, ...]:
    """Return the coefficients of the heat kernel exp(-time (I - Â)), truncated and scaled to sum 1.

    Parameters
    ----------
    time : float
        Diffusion time: the mean number of hops, before truncation.
    hops : int
        Highest power of the propagation matrix.

    Returns
    -------
    tuple of float
        ``hops + 1`` coefficients that sum to 1.

    References
    ----------
    Gasteiger et al., Diffusion Improves Graph Learning, NeurIPS 2019.

    Examples
    --------
    >>> [round(each, 3) for each in heat_coefficients(1.0, 2)]
    [0.4, 0.4, 0.2]
    """
    if not 0 < time < np.inf:
        raise ParameterError(f"time must be positive and finite; got {time}")
    powers = np.arange(hops + 1)
    logarithms = powers * np.log(time) - gammaln(powers + 1)  # of time^k / k!, which may overflow
    weights = np.exp(logarithms - logarithms.max())
    return tuple((weights / weights.sum()).tolist())


def diffuse(edges: Edges, h: Tensor, coefficients: Sequence[float]) -> Tensor:
    """Apply a polynomial of the propagation matrix to every column of ``h``.

    Parameters
    ----------
    edges : Edges
        Entries of the propagation matrix Â.
    h : Tensor of shape (num_nodes, channels)
    coefficients : sequence of float
        Coefficient of each power of Â, from 0 on.

    Returns
    -------
    Tensor of shape (num_nodes, channels)
        Differentiable in ``h``.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> edges = Edges.of(sp.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]], np.float32)))
    >>> diffuse(edges, torch.tensor([[1.0], [0.0]]), pagerank_coefficients(0.5, 1)).tolist()
    [[0.5], [0.5]]
    """
    if not coefficients:
        raise ParameterError("coefficients must contain at least one number; got none")
    if not edges.part.is_whole:
        return _diffuse_part(edges, h, coefficients)
    result: Tensor = _Diffusion.apply(edges, h, tuple(coefficients))  # type: ignore[no-untyped-call]
    return result


def diffuse_array(matrix: sp.csr_array, h: FloatArray, coefficients: Sequence[float]) -> FloatArray:
    """Apply a polynomial of a sparse matrix to every column of an array, with little memory beyond three such arrays.

    Parameters
    ----------
    matrix : csr_array of shape (num_nodes, num_nodes)
    h : ndarray of shape (num_nodes, channels)
    coefficients : sequence of float
        Coefficient of each power of the matrix, from 0 on.

    Returns
    -------
    ndarray of shape (num_nodes, channels)

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> matrix = sp.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]], np.float32))
    >>> diffuse_array(matrix, np.array([[1.0], [0.0]], np.float32), pagerank_coefficients(0.5, 1)).tolist()
    [[0.5], [0.5]]
    """
    values = matrix.data.astype(h.dtype, copy=False)
    return _evaluate_rows(matrix.indptr, matrix.indices, values, h, tuple(coefficients))


def _diffuse_part(edges: Edges, h: Tensor, coefficients: Sequence[float]) -> Tensor:
    """Evaluate the polynomial on the rows of a part, which are completed before each hop."""
    *others, last = coefficients
    z = last * h
    for coefficient in reversed(others):
        z = edges.matmul(z).add(h, alpha=coefficient)
    return z


class _Diffusion(Function):
    @staticmethod
    def forward(ctx: Any, edges: Edges, h: Tensor, coefficients: tuple[float, ...]) -> Tensor:
        ctx.edges, ctx.coefficients = edges, coefficients
        return _evaluate(edges, h, coefficients, transposed=False)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Any, ...]:
        return None, _evaluate(ctx.edges, gradients[0], ctx.coefficients, transposed=True), None


def _evaluate(edges: Edges, h: Tensor, coefficients: tuple[float, ...], *, transposed: bool) -> Tensor:
    """Evaluate the polynomial of the matrix, or of its transpose, by Horner's rule."""
    if h.device.type == "cpu":
        return torch.from_numpy(evaluate_polynomial(edges, h.detach().numpy(), coefficients, transposed=transposed))
    *others, last = coefficients
    multiply = edges.pattern.transposed_matmul if transposed else edges.pattern.matmul
    z = last * h
    for coefficient in reversed(others):
        z = multiply(edges.values, z).add_(h, alpha=coefficient)
    return z


def evaluate_polynomial(
    edges: Edges, h: NDArray[Any], coefficients: tuple[float, ...], *, transposed: bool = False
) -> NDArray[Any]:
    """Apply a polynomial of the propagation matrix to every column of an array, by compiled code.

    Parameters
    ----------
    edges : Edges
    h : ndarray of shape (num_nodes, channels)
    coefficients : tuple of float
        Coefficient of each power of the matrix, from 0 on.
    transposed : bool, default=False
        Whether the matrix is transposed.

    Returns
    -------
    ndarray of shape (num_nodes, channels)
    """
    pattern, values = edges.pattern, edges.values.numpy().astype(h.dtype, copy=False)
    if transposed:
        starts, columns = pattern.transposed_starts.numpy(), pattern.transposed_columns.numpy()
        values = values[pattern.order.numpy()]
    else:
        starts, columns = pattern.starts.numpy(), pattern.columns.numpy()
    return _evaluate_rows(starts, columns, values, h, coefficients)


def _evaluate_rows(
    starts: NDArray[Any], columns: NDArray[Any], values: NDArray[Any], h: NDArray[Any], coefficients: Sequence[float]
) -> NDArray[Any]:
    h = np.ascontiguousarray(h)
    *others, last = np.array(coefficients, h.dtype)
    z: NDArray[Any] = last * h
    spare = np.empty_like(h)
    for coefficient in reversed(others):
        run_in_parallel(partial(_hop, starts, columns, values, z, coefficient, h, spare), len(h))
        z, spare = spare, z
    return z


# Adds whole rows of z by vector instructions. embedding_bag, which does so too, takes longer for long rows, and needs
# a second pass over both matrices for the node's own share.
@njit_fast
def _hop(
    starts: Int32Array,
    columns: Int32Array,
    values: NDArray[Any],
    z: NDArray[Any],
    coefficient: Any,
    h: NDArray[Any],
    out: NDArray[Any],
    begin: int,
    end: int,
) -> None:
    """Write Â z + coefficient * h into rows ``begin`` to ``end`` of ``out``."""
    for row in range(begin, end):
        for channel in range(z.shape[1]):
            out[row, channel] = coefficient * h[row, channel]
        for entry in range(starts[row], starts[row + 1]):
            value, neighbor = values[entry], columns[entry]
            for channel in range(z.shape[1]):
                out[row, channel] += value * z[neighbor, channel]
