"""Array types, and what makes a value of an array: nobody can write to it any more."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float32]
NodeIds = NDArray[Any]  # int64 numbers, or objects that are all str
Features = FloatArray | sp.csr_array
MatrixLike = Any  # rows of numbers: nested lists, an array, or a scipy sparse matrix of any format
SparseLike = Any  # a scipy sparse matrix or array of any format


def frozen(array: NDArray[Any], *, given: object = None) -> NDArray[Any]:
    """The array, read-only.

    It is copied where somebody could still write to it: where it is the array that was ``given``, or looks into the
    memory of another object, such as a tensor. What a conversion has just made, or is read-only, is taken as it is.
    """
    if array.base is not None or (array is given and array.flags.writeable):
        array = array.copy()
    array.flags.writeable = False
    return array


def frozen_csr(matrix: Any) -> sp.csr_array:
    """A sparse matrix as a read-only float32 CSR array without duplicates or stored zeros."""
    held = [getattr(matrix, part, None) for part in ("data", "indices", "indptr")]
    csr = sp.csr_array(matrix, dtype=np.float32)
    # Without this scipy would follow an index beyond the matrix into memory that is not its own.
    csr.check_format(full_check=True)
    if not csr.has_canonical_format or (csr.nnz and not csr.data.all()):
        csr = csr.copy()
        csr.sum_duplicates()
        csr.eliminate_zeros()
    parts = (csr.data, csr.indices, csr.indptr)
    csr.data, csr.indices, csr.indptr = (frozen(part, given=given) for part, given in zip(parts, held, strict=True))
    return csr
