"""The named benchmark graphs with their public splits, and the built-in synthetic graph."""

from graphprox.datasets.catalog import CATALOG, CatalogEntry
from graphprox.datasets.column_descriptions import ColumnDescription, describe_columns
from graphprox.datasets.dataset import Dataset
from graphprox.datasets.loading import load
from graphprox.datasets.named import load_dataset
from graphprox.datasets.synthetic_graph import synthetic

__all__ = [
    "CATALOG",
    "CatalogEntry",
    "ColumnDescription",
    "Dataset",
    "describe_columns",
    "load",
    "load_dataset",
    "synthetic",
]
