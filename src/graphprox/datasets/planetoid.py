"""Reader of the Planetoid files: Cora, CiteSeer, PubMed.

They are published as Python pickles, which could run any code. They are therefore read by an unpickler that only
accepts arrays, sparse matrices and lists. PyG's reader loads any pickle, and makes the features dense.
"""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphprox._utils.arrays import IntArray
from graphprox.datasets.dataset import Splits
from graphprox.datasets.loader_guard import ALLOWED_GLOBALS
from graphprox.errors import DatasetError
from graphprox.graph.graph import Graph
from graphprox.graph.splits import NodeSplit

_NUM_VAL_NODES = 500
_MATRICES = {
    ("scipy.sparse.csr", "csr_matrix"),
    ("scipy.sparse._csr", "csr_matrix"),
}  # by Python 2, and of a current copy


def _make_matrix_class() -> type:
    """Return a class that only stores the state of a pickled matrix.

    A pickle can set any attribute of an object of scipy, also one in place of a method that checks it. The class is a
    new one for each file, so that none can change what another one reads.
    """

    class Matrix:
        __slots__ = ("state",)

        def __setstate__(self, state: Any) -> None:
            self.state = state

    return Matrix


class _ArrayUnpickler(pickle.Unpickler):
    """Unpickler that rejects everything but arrays, sparse matrices and lists."""

    advice: str
    matrix_class: type

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _MATRICES:
            return self.matrix_class
        try:
            return ALLOWED_GLOBALS[module, name]
        except KeyError:
            raise DatasetError(
                f"a Planetoid file must contain only arrays and lists; it contains {module}.{name}, which could run "
                f"code, and is rejected: {self.advice}"
            ) from None


def load_planetoid(path: Path, *, advice: str = "download it again") -> Any:
    """Unpickle a file that contains only arrays, sparse matrices and lists.

    Parameters
    ----------
    path : Path
        A file of Planetoid.
    advice : str
        What to do if it contains anything else, for the error message.

    Returns
    -------
    ndarray, csr_array or defaultdict
    """
    with path.open("rb") as file, warnings.catch_warnings():
        # numpy warns about a dtype flag of old pickles.
        warnings.simplefilter("ignore")
        unpickler = _ArrayUnpickler(file, encoding="latin1")
        unpickler.advice, unpickler.matrix_class = advice, _make_matrix_class()
        loaded = unpickler.load()
    return _to_csr(getattr(loaded, "state", None)) if type(loaded) is unpickler.matrix_class else loaded


def _to_csr(state: Any) -> sp.csr_array:
    """Return a checked matrix; scipy would access memory outside of one whose indices are wrong."""
    if type(state) is not dict:
        raise DatasetError(f"a pickled matrix must consist of arrays; it has {type(state).__name__}")
    parts: tuple[Any, ...] = tuple(state.get(name) for name in ("data", "indices", "indptr", "_shape"))
    data, indices, indptr, shape = parts
    for part, kinds in zip((data, indices, indptr), ("fiub", "iu", "iu"), strict=True):
        if type(part) is not np.ndarray or part.dtype.kind not in kinds or part.ndim != 1 or not part.dtype.isnative:
            raise DatasetError("the values and indices of a pickled matrix must be arrays of numbers; one is not")
    if type(shape) is not tuple or len(shape) != 2 or any(type(each) is not int or each < 0 for each in shape):
        raise DatasetError("the shape of a pickled matrix must be two sizes; it is not")
    matrix: sp.csr_array = sp.csr_array((data, indices, indptr), shape=shape)
    matrix.check_format(full_check=True)
    return matrix


def read_planetoid(raw: Path) -> tuple[Graph, Splits]:
    """Read a graph and its public split; self-loops are removed, as in PyG.

    Parameters
    ----------
    raw : Path
        Folder of the raw files.

    Returns
    -------
    graph : Graph
        The graph.
    splits : dict
        The public split.
    """
    prefix = next(raw.glob("ind.*.graph")).name.removesuffix(".graph")
    y, tx, ty, allx, ally, graph = (
        load_planetoid(raw / f"{prefix}.{part}") for part in ("y", "tx", "ty", "allx", "ally", "graph")
    )
    test = np.loadtxt(raw / f"{prefix}.test.index", dtype=np.int64)
    index = _to_edge_index(graph)
    loaded = Graph(
        _reorder(allx, tx, test),
        index[:, index[0] != index[1]],
        y=np.asarray(_reorder(sp.csr_array(ally), sp.csr_array(ty), test).toarray().argmax(axis=1), np.int64),
    )
    train = np.arange(len(y))
    split = NodeSplit(train, np.arange(len(y), len(y) + _NUM_VAL_NODES), np.sort(test))
    return loaded, {"public": (split,)}


def _to_edge_index(graph: dict[int, list[int]]) -> IntArray:
    source = np.repeat(list(graph), [len(targets) for targets in graph.values()])
    target = np.concatenate([np.asarray(targets, np.int64) for targets in graph.values()])
    return np.stack([source, target])


def _reorder(known: Any, tested: Any, test: NDArray[np.int64]) -> sp.csr_array:
    """Return the rows of all nodes: first ``known``, then ``tested`` at the positions of the test nodes.

    CiteSeer has isolated test nodes that are missing in the list; their rows are zero.
    """
    rows = int(test.max()) + 1
    place = sp.csr_array((np.ones(len(test)), (test, np.arange(len(test)))), shape=(rows, len(test)))
    upper = sp.csr_array((rows - known.shape[0], known.shape[1]))
    return sp.csr_array(sp.vstack([sp.csr_array(known), upper], format="csr") + place @ sp.csr_array(tested))
