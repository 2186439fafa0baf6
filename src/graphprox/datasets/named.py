"""Load data sets by name."""

from __future__ import annotations

import difflib
import inspect
import pickle
import zipfile
import zlib
from pathlib import Path
from typing import Any

from graphprox.datasets.catalog import CATALOG
from graphprox.datasets.dataset import Dataset
from graphprox.datasets.pyg import PREFIX, load_pyg
from graphprox.datasets.source import get_raw_folder
from graphprox.datasets.synthetic_graph import synthetic
from graphprox.errors import DatasetError, GraphproxError, ParameterError

SYNTHETIC = "synthetic"

# What readers raise if a file is missing, incomplete or damaged.
_DAMAGE = (
    OSError,
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    StopIteration,
    EOFError,
    pickle.UnpicklingError,
    zipfile.BadZipFile,
    zlib.error,
)


def is_dataset_name(spec: str) -> bool:
    """Check whether a string is the name of a data set, available or not.

    Parameters
    ----------
    spec : str
        A name or a path.

    Returns
    -------
    bool
    """
    return spec in CATALOG or spec.partition(":")[0] == SYNTHETIC or spec.startswith(PREFIX)


def load_dataset(name: str, *, data: str | Path | None = None, trust_pickles: bool = False) -> Dataset:
    """Load a data set by name.

    Parameters
    ----------
    name : str
        A name in `CATALOG`; ``pyg:CLASS:NAME`` for any other data set of PyG; or ``synthetic``, optionally with
        parameters of `synthetic` as in ``synthetic:nodes=300,seed=1``.
    data : str or Path, default=None
        Directory of data sets; ``GRAPHPROX_DATA`` if None. Files that are not there are downloaded to the cache.
    trust_pickles : bool, default=False
        Whether pickles are loaded that could run code; only for ``pyg:``.

    Returns
    -------
    Dataset

    Raises
    ------
    DatasetError
        If the name is unknown, or the files are neither available nor downloadable.

    Examples
    --------
    >>> load_dataset("synthetic:nodes=300,seed=1").graph.num_nodes
    300
    """
    if name.startswith(PREFIX):
        return load_pyg(name, data, trust_pickles=trust_pickles)
    if trust_pickles:
        raise ParameterError(f"trust_pickles can only be set for a data set of pyg:; {name!r} has no pickles to trust")
    if name.partition(":")[0] == SYNTHETIC:
        return Dataset(name, synthetic(**_parse_parameters(name)))
    if name not in CATALOG:
        raise DatasetError(f"{name!r} is not a data set; {suggest_dataset(name)}")
    entry = CATALOG[name]
    folder = get_raw_folder(entry, data)
    try:
        graph, splits = entry.read(folder)
    except GraphproxError:
        raise
    except _DAMAGE as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        if isinstance(error, KeyError):
            reason += " is missing"
        raise DatasetError(f"the files of {name} in {folder} are incomplete or damaged: {reason}") from error
    return Dataset(name, graph, splits)


def suggest_dataset(name: str) -> str:
    """Suggest the data set with the most similar name, or the command that lists all of them.

    Parameters
    ----------
    name : str
        An unknown name.

    Returns
    -------
    str
    """
    by_lower = {known.lower(): known for known in [*CATALOG, SYNTHETIC]}
    near = difflib.get_close_matches(name.lower(), by_lower, n=1)
    return f"did you mean {by_lower[near[0]]}?" if near else "`graphprox datasets` lists them"


def _parse_parameters(name: str) -> dict[str, Any]:
    """Parse the parameters of a name such as ``synthetic:nodes=1000,noise=0.5``."""
    defaults = {each.name: each.default for each in inspect.signature(synthetic).parameters.values()}
    defaults["seed"] = defaults.pop("random_state")
    parameters: dict[str, Any] = {}
    for part in filter(None, name.partition(":")[2].split(",")):
        key, _, value = part.partition("=")
        if key not in defaults:
            raise DatasetError(f"synthetic takes the parameters {', '.join(defaults)}; got {key!r}")
        try:
            parameters[key] = type(defaults[key])(value)
        except ValueError:
            kind = "an integer" if isinstance(defaults[key], int) else "a number"
            raise DatasetError(f"the parameter {key} of synthetic must be {kind}; got {value!r}") from None
    if "seed" in parameters:
        if parameters["seed"] < 0:
            raise DatasetError(f"the parameter seed of synthetic must be non-negative; got {parameters['seed']}")
        parameters["random_state"] = parameters.pop("seed")
    return parameters
