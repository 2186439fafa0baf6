"""load_dataset: a data set by its name."""

from __future__ import annotations

import difflib
import inspect
import pickle
from pathlib import Path
from typing import Any

from graphprox.datasets.catalogue import CATALOGUE
from graphprox.datasets.dataset import Dataset
from graphprox.datasets.pyg import PREFIX, load_pyg
from graphprox.datasets.source import raw_folder
from graphprox.datasets.synthetic import synthetic
from graphprox.errors import DatasetError, GraphproxError

SYNTHETIC = "synthetic"


def is_dataset_name(spec: str) -> bool:
    """Whether the words name a data set, be it at hand or not."""
    return spec in CATALOGUE or spec.partition(":")[0] == SYNTHETIC or spec.startswith(PREFIX)


def load_dataset(name: str, *, data: str | Path | None = None) -> Dataset:
    """Load a data set by its name; its files come from ``data``, from GRAPHPROX_DATA, or by download.

    A name is one of `CATALOGUE`, ``pyg:CLASS:NAME`` for any other of PyG's, or ``synthetic``, which may carry
    parameters of `synthetic`.

    >>> load_dataset("synthetic:nodes=300,seed=1").graph.num_nodes
    300
    """
    if name.startswith(PREFIX):
        return load_pyg(name, data)
    if name.partition(":")[0] == SYNTHETIC:
        return Dataset(name, synthetic(**_parameters(name)))
    if name not in CATALOGUE:
        raise DatasetError(f"{name!r} is not a data set; {did_you_mean(name)}")
    entry = CATALOGUE[name]
    folder = raw_folder(entry, data)
    try:
        graph, splits = entry.read(folder)
    except GraphproxError:
        raise
    except (OSError, ValueError, LookupError, StopIteration, EOFError, pickle.UnpicklingError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DatasetError(f"the files of {name} in {folder} are incomplete or damaged: {reason}") from error
    return Dataset(name, graph, splits)


def did_you_mean(name: str) -> str:
    """A question that names the nearest data set; where none is near, what lists them all."""
    by_lower = {known.lower(): known for known in [*CATALOGUE, SYNTHETIC]}
    near = difflib.get_close_matches(name.lower(), by_lower, n=1)
    return f"did you mean {by_lower[near[0]]}?" if near else "`graphprox datasets` lists them"


def _parameters(spec: str) -> dict[str, Any]:
    """The parameters of ``synthetic:nodes=1000,noise=0.5``."""
    defaults = {name: each.default for name, each in inspect.signature(synthetic).parameters.items()}
    parameters: dict[str, Any] = {}
    for part in filter(None, spec.partition(":")[2].split(",")):
        name, _, value = part.partition("=")
        if name not in defaults:
            raise DatasetError(f"synthetic takes the parameters {', '.join(defaults)}; got {name!r}")
        try:
            parameters[name] = type(defaults[name])(value)
        except ValueError:
            kind = "a whole number" if isinstance(defaults[name], int) else "a number"
            raise DatasetError(f"the parameter {name} of synthetic must be {kind}; got {value!r}") from None
    return parameters
