"""Array types, and helpers that make arrays read-only."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphprox.errors import GraphproxError, ParameterError

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float32]
NodeIds = NDArray[Any]  # int64, or object with only str
Features = FloatArray | sp.csr_array
MatrixLike = Any  # nested lists, an array, or a scipy sparse matrix of any format
SparseLike = Any  # a scipy sparse matrix or array of any format


def to_array(given: object, name: str, *, error: type[GraphproxError] = ParameterError) -> NDArray[Any]:
    """Convert an argument to an array, or raise an error of one sentence where numpy cannot.

    Parameters
    ----------
    given : array-like
    name : str
        Name of the argument.
    error : type, default=ParameterError
        Error to raise.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> to_array([[0, 1], [1]], "edge_index")
    Traceback (most recent call last):
    graphprox.errors.ParameterError: edge_index must be an array; got list, whose rows differ in length
    """
    try:
        return np.asarray(given)
    except (TypeError, ValueError, RuntimeError) as reason:
        kind = type(given).__name__
        shown = "whose rows differ in length" if "inhomogeneous" in str(reason) else " ".join(str(reason).split())
        raise error(f"{name} must be an array; got {kind}, {shown}") from None


def freeze(array: NDArray[Any], *, given: object = None) -> NDArray[Any]:
    """Make an array read-only, copying it if other code could still write to its memory.

    Parameters
    ----------
    array : ndarray
        The array. It is copied if it is a view of another object's memory, such as that of a tensor, or if it is
        ``given`` itself and writeable.
    given : object, default=None
        Object of the caller from which ``array`` was converted.

    Returns
    -------
    ndarray
        A read-only array.
    """
    if array.base is not None or (array is given and array.flags.writeable):
        array = array.copy()
    array.flags.writeable = False
    return array


def freeze_csr(matrix: Any) -> sp.csr_array:
    """Convert a sparse matrix to a read-only float32 CSR array without duplicates and stored zeros.

    Parameters
    ----------
    matrix : sparse matrix of shape (n_rows, num_columns)
        A sparse matrix of any format. It is not modified.

    Returns
    -------
    csr_array of shape (n_rows, num_columns)
    """
    own = [getattr(matrix, part, None) for part in ("data", "indices", "indptr")]
    csr = sp.csr_array(matrix, dtype=np.float32)
    # Without this check scipy would access memory outside of the matrix.
    csr.check_format(full_check=True)
    if not csr.has_canonical_format or (csr.nnz and not csr.data.all()):
        csr = csr.copy()
        csr.sum_duplicates()
        csr.eliminate_zeros()
    parts = (csr.data, csr.indices, csr.indptr)
    csr.data, csr.indices, csr.indptr = (freeze(part, given=given) for part, given in zip(parts, own, strict=True))
    return csr


class ReadOnlyArrays:
    """Base class of values whose arrays stay read-only in copies and after unpickling."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        for value in state.values():
            parts = (value.data, value.indices, value.indptr) if isinstance(value, sp.csr_array) else (value,)
            for array in parts:
                if isinstance(array, np.ndarray):
                    array.flags.writeable = False
        self.__dict__.update(state)
