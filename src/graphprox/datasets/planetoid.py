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
from graphprox.datasets.loader_guard import ALLOWED_GLOBALS, SPARSE_GLOBALS
from graphprox.errors import DatasetError
from graphprox.graph.graph import Graph
from graphprox.graph.splits import NodeSplit

_NUM_VAL_NODES = 500


class _ArrayUnpickler(pickle.Unpickler):
    """Unpickler that rejects everything but arrays, sparse matrices and lists."""

    advice: str

    def find_class(self, module: str, name: str) -> Any:
        try:
            return {**ALLOWED_GLOBALS, **SPARSE_GLOBALS}[module, name]
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
    ndarray, csr_matrix or defaultdict
    """
    with path.open("rb") as file, warnings.catch_warnings():
        # numpy warns about a dtype flag of old pickles.
        warnings.simplefilter("ignore")
        unpickler = _ArrayUnpickler(file, encoding="latin1")
        unpickler.advice = advice
        loaded = unpickler.load()
    if isinstance(loaded, sp.csr_matrix):
        # Without this check scipy would access memory outside of the matrix.
        loaded.check_format(full_check=True)
    return loaded


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
