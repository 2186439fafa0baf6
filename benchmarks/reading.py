"""Reading a million-edge CSV into a Graph, against ``pandas.read_csv`` on the same file in the same run.

The reference only parses. Reading a Graph also numbers the nodes, sorts and merges the edges, and adds their reverse.
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import measure

EDGES, NODES = 1_000_000, 200_000


def read_with_graphprox(path: str) -> Any:
    from graphprox import read_graph

    with warnings.catch_warnings(action="ignore"):
        return read_graph(path)


def read_with_pandas(path: str) -> Any:
    import pandas as pd

    return pd.read_csv(path)


def _small(read: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "small.csv")
        path.write_text("source,target\n" + "".join(f"{i},{i + 1}\n" for i in range(100)))
        read(str(path))


# Imports and allocations on first use are not measured.
read_with_graphprox.warm_up = lambda: _small(read_with_graphprox)
read_with_pandas.warm_up = lambda: _small(read_with_pandas)


def write_edges(path: Path, *, strings: bool, weights: bool) -> int:
    """Write the file, and return the size of its parsed columns in bytes."""
    import pandas as pd

    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {name: rng.integers(0, NODES, EDGES) for name in ("source", "target")}
    if strings:
        columns = {name: [f"node-{number}" for number in numbers] for name, numbers in columns.items()}
    if weights:
        columns["weight"] = rng.random(EDGES).round(3)
    frame = pd.DataFrame(columns)
    frame.to_csv(path, index=False)
    if strings:
        return sum(int(frame[name].str.len().sum()) + 4 * EDGES for name in ("source", "target"))
    return frame.memory_usage(index=False).sum()


def run() -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    kinds = {
        "integer ids": {"strings": False, "weights": False},
        "integer ids, weights": {"strings": False, "weights": True},
        "string ids": {"strings": True, "weights": False},
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, kind in kinds.items():
            path = Path(folder, "edges.csv")
            parsed = write_edges(path, **kind) / 2**20
            ours, pandas = (measure(read, str(path)) for read in (read_with_graphprox, read_with_pandas))
            rows.append(
                {
                    "what": f"read 10^6 edges, {name}",
                    "seconds": f"{ours.seconds:.2f}",
                    "reference": f"pandas.read_csv, no graph made of it: {pandas.seconds:.2f} s",
                    "ratio": f"{ours.seconds / pandas.seconds:.1f} x the time",
                    "peak memory": f"{ours.peak_mb:.0f} MB, {ours.peak_mb / parsed:.1f} x the parsed {parsed:.0f} MB "
                    f"(pandas: {pandas.peak_mb:.0f} MB)",
                }
            )
    return rows
