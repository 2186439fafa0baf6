"""The named benchmark graphs, their public splits, and the embedded default."""

from graphprox.datasets.catalogue import CATALOGUE, Entry
from graphprox.datasets.dataset import Dataset
from graphprox.datasets.named import load_dataset
from graphprox.datasets.synthetic import synthetic

__all__ = ["CATALOGUE", "Dataset", "Entry", "load_dataset", "synthetic"]
