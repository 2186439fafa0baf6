"""load: whatever a user calls a graph — a name, or a file."""

from __future__ import annotations

import os
from pathlib import Path

from graphprox.datasets.dataset import Dataset
from graphprox.datasets.named import did_you_mean, is_dataset_name, load_dataset
from graphprox.errors import DatasetError, ParameterError
from graphprox.io import read_graph
from graphprox.io.files import ending


def load(
    graph: str | Path,
    *,
    data: str | Path | None = None,
    features: str | Path | None = None,
    labels: str | Path | None = None,
    directed: bool | None = None,
    header: bool | None = None,
) -> Dataset:
    """Load a data set by its name, as `load_dataset` does, or a graph from files, as `read_graph` does.

    >>> load("synthetic").graph.num_classes
    7
    """
    if isinstance(graph, str) and is_dataset_name(graph):
        for_files = {"features": features, "labels": labels, "directed": directed, "header": header}
        given = [name for name, value in for_files.items() if value is not None]
        if given:
            raise ParameterError(f"{', '.join(given)} must go with a file; {graph!r} is a data set, which has its own")
        return load_dataset(graph, data=data)
    path = Path(graph)
    if not os.path.exists(path) and not ending(path) and len(path.parts) == 1:  # noqa: PTH110 - never raises
        raise DatasetError(f"{str(graph)!r} is neither a data set nor a file; {did_you_mean(str(graph))}")
    read = read_graph(path, features=features, labels=labels, directed=directed, header=header)
    return Dataset(str(path), read)
