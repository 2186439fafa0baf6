"""Reader of the Planetoid files: Cora, CiteSeer, PubMed.

They are published as Python pickles, which could run any code. They are therefore read by an unpickler that only
accepts arrays, sparse matrices and lists. PyG's reader loads any pickle, and makes the features dense.
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

from graphprox._utils.arrays import IntArray
from graphprox.datasets.dataset import Splits
from graphprox.errors import DatasetError
from graphprox.graph.graph import Graph
from graphprox.graph.splits import NodeSplit

_reconstruct = np.empty(0).__reduce__()[0]  # which numpy calls to unpickle an array
# The published files were written by Python 2; the second names are those of a current copy.
_ALLOWED: dict[tuple[str, str], Any] = {
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
_NUM_VAL_NODES = 500


class _ArrayUnpickler(pickle.Unpickler):
    """Unpickler that rejects everything but arrays, sparse matrices and lists."""

    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ALLOWED[module, name]
        except KeyError:
            raise DatasetError(
                f"a Planetoid file must contain only arrays and lists; it contains {module}.{name}, which could run "
                "code, and is rejected: download it again"
            ) from None


def _load(path: Path) -> Any:
    with path.open("rb") as file, warnings.catch_warnings():
        # numpy warns about a dtype flag of old pickles.
        warnings.simplefilter("ignore")
        return _ArrayUnpickler(file, encoding="latin1").load()


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
        _load(raw / f"{prefix}.{part}") for part in ("y", "tx", "ty", "allx", "ally", "graph")
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
