"""How large the file of an embedding will be."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from graphprox._utils.arrays import NodeIds

FLOAT = 4
# Bytes of a component as text, and of one in a database or in Parquet pages.
TEXT, DATABASE, BINARY = 12.0, 4.6, 4.0
TEXT_ENDINGS = (".csv", ".txt", ".w2v", ".tsv")
OVERHEAD = 4_096
SAMPLE = 1_000  # ids whose length is measured


def embedding_bytes(path: Path, ids: NodeIds, n_components: int) -> int:
    """Return about how many bytes `write_embedding` will write.

    Parameters
    ----------
    path : Path
    ids : ndarray of shape (num_nodes,)
    n_components : int

    Returns
    -------
    int

    Examples
    --------
    >>> embedding_bytes(Path("v.npy"), np.arange(1_000_000), 256)
    1024004096
    """
    ending = path.suffix.lower()
    is_text = ending in TEXT_ENDINGS
    component = TEXT if is_text else DATABASE if ending in (".duckdb", ".db") else BINARY
    per_id = 0.0 if ending == ".npy" else _id_bytes(ids, is_text=is_text, is_padded=ending == ".npz")
    return int(len(ids) * (n_components * component + per_id)) + OVERHEAD


def _id_bytes(ids: NodeIds, *, is_text: bool, is_padded: bool) -> float:
    """Return the bytes of an id: 8 of a number, those of a string, of which an npz file pads all to the longest."""
    sample = ids[:: max(len(ids) // SAMPLE, 1)].tolist()
    if ids.dtype.kind in "iu" and not is_text:
        return float(np.dtype(np.int64).itemsize)
    lengths = [len(str(each)) for each in sample] or [0]
    return float(FLOAT * max(lengths) if is_padded else sum(lengths) / len(lengths) + FLOAT)
