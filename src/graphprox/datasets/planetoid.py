"""Planetoid's files: Cora, CiteSeer, PubMed.

They are Python pickles, as published. A pickle can run any code, so they are read by an unpickler that knows arrays,
sparse matrices and lists, and refuses all else. PyG's reader loads any pickle, and makes the words dense.
"""

from __future__ import annotations

import pickle
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphprox.arrays import IntArray
from graphprox.datasets.dataset import Splits
from graphprox.errors import DatasetError
from graphprox.graph import Graph
from graphprox.splits import NodeSplit

_reconstruct = np.empty(0).__reduce__()[0]  # what numpy itself calls to unpickle an array
# The published files are of Python 2 and of 2016; the second spelling is that of a copy made today.
_KNOWN: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("numpy.core.multiarray", "_reconstruct"): _reconstruct,
    ("numpy._core.multiarray", "_reconstruct"): _reconstruct,
    ("scipy.sparse.csr", "csr_matrix"): sp.csr_matrix,
    ("scipy.sparse._csr", "csr_matrix"): sp.csr_matrix,
    ("collections", "defaultdict"): defaultdict,
    ("__builtin__", "list"): list,
    ("builtins", "list"): list,
}
_VALIDATION_NODES = 500


class _ArrayUnpickler(pickle.Unpickler):
    """Loads arrays, sparse matrices and lists; anything else is refused, so no code of the file's choice can run."""

    def find_class(self, module: str, name: str) -> Any:
        try:
            return _KNOWN[module, name]
        except KeyError:
            raise DatasetError(
                f"a Planetoid file must hold arrays and lists alone; it asks for {module}.{name}, which could run "
                "code, and is refused: download it again"
            ) from None


def _load(path: Path) -> Any:
    with path.open("rb") as file, warnings.catch_warnings():
        # The pickles of 2016 spell a flag of dtypes in a way that numpy now warns of.
        warnings.simplefilter("ignore")
        return _ArrayUnpickler(file, encoding="latin1").load()


def read_planetoid(raw: Path) -> tuple[Graph, Splits]:
    """The graph and its public split, with self-loops left out as PyG does."""
    prefix = next(raw.glob("ind.*.graph")).name.removesuffix(".graph")
    y, tx, ty, allx, ally, graph = (
        _load(raw / f"{prefix}.{part}") for part in ("y", "tx", "ty", "allx", "ally", "graph")
    )
    test = np.loadtxt(raw / f"{prefix}.test.index", dtype=np.int64)
    index = _edges(graph)
    kept = index[:, index[0] != index[1]]
    made = Graph(
        _in_order(allx, tx, test),
        kept,
        y=np.asarray(_in_order(sp.csr_array(ally), sp.csr_array(ty), test).toarray().argmax(axis=1), np.int64),
    )
    train = np.arange(len(y))
    split = NodeSplit(train, np.arange(len(y), len(y) + _VALIDATION_NODES), np.sort(test))
    return made, {"public": (split,)}


def _edges(graph: dict[int, list[int]]) -> IntArray:
    source = np.repeat(list(graph), [len(targets) for targets in graph.values()])
    target = np.concatenate([np.asarray(targets, np.int64) for targets in graph.values()])
    return np.stack([source, target])


def _in_order(known: Any, tested: Any, test: NDArray[np.int64]) -> sp.csr_array:
    """The rows of all nodes: ``known`` ones first, then the ``tested`` ones where the list of test nodes says.

    CiteSeer has test nodes that the list leaves out: they are isolated, and their rows are zero.
    """
    rows = int(test.max()) + 1
    place = sp.csr_array((np.ones(len(test)), (test, np.arange(len(test)))), shape=(rows, len(test)))
    upper = sp.csr_array((rows - known.shape[0], known.shape[1]))
    return sp.csr_array(sp.vstack([sp.csr_array(known), upper], format="csr") + place @ sp.csr_array(tested))
