"""What a fitted method knows of its features: which columns they are, how they are encoded, and their scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from graphprox._utils.arrays import Features
from graphprox.preprocessing.scaling import SCALES, ScaleName, Scaling

if TYPE_CHECKING:
    from graphprox.graph.graph import Graph
    from graphprox.preprocessing.table_encoder import TableEncoder


@dataclass(frozen=True, eq=False)
class Preprocessor:
    """How the features of a graph are prepared for a method, the same way for every graph.

    Parameters
    ----------
    encoder : TableEncoder, optional
        What the columns of the fitted table contain; None if they have no names.
    scaling : Scaling, optional
        How columns are scaled; None if they are used as they are.
    scale : {"auto", "standard", "none"}, default="auto"
        How that was decided.
    degree_buckets : sequence of int, optional
        Buckets of the degree that are the features of a graph without any; see
        :func:`~graphprox.graph.structural.find_degree_buckets`.

    Examples
    --------
    >>> from graphprox import Graph
    >>> graph = Graph([[30, 52_000], [50, 31_000]], [[0], [1]], feature_names=["age", "income"])
    >>> Preprocessor.fit(graph).transform(graph).x.tolist()
    [[-1.0, 1.0], [1.0, -1.0]]
    """

    encoder: TableEncoder | None = None
    scaling: Scaling | None = None
    scale: ScaleName = "auto"
    degree_buckets: Sequence[int] | None = None

    @classmethod
    def fit(cls, graph: Graph, *, scale: ScaleName = "auto") -> Preprocessor:
        """Find out what is known of the features of a graph.

        Parameters
        ----------
        graph : Graph
        scale : {"auto", "standard", "none"}, default="auto"

        Returns
        -------
        Preprocessor

        Raises
        ------
        GraphError
            If no column of a table differs between nodes.
        """
        encoder = is_quantity = None
        is_mixed = False
        if graph.table is not None and graph.table.encoder is not None:
            encoder, columns = graph.table.encoder, graph.table.columns
            if not encoder.columns and columns is not None:
                encoder.fit(columns, kinds=graph.table.kinds)  # raises the error that says why
            if columns is not None:  # a table of numbers alone is judged as a matrix
                is_quantity, is_mixed = encoder.is_quantity, encoder.is_mixed
        elif graph.feature_names is not None:
            from graphprox.preprocessing.table_encoder import TableEncoder

            means = np.asarray(graph.x.mean(axis=0, dtype=np.float64)).ravel()
            encoder = TableEncoder.of_numbers(graph.feature_names, means)
        from graphprox.graph.structural import find_degree_buckets

        has_names = graph.feature_names is not None
        scaling = Scaling.fit(
            graph.x, how=scale, is_quantity=is_quantity, is_mixed=is_mixed, keeps_zero_rows=not has_names
        )
        return cls(encoder, scaling, scale, find_degree_buckets(graph))

    def transform(self, graph: Graph) -> Graph:
        """Return a graph with prepared features.

        Parameters
        ----------
        graph : Graph

        Returns
        -------
        Graph
        """
        return self.rescale(self.encode(graph))

    def encode(self, graph: Graph) -> Graph:
        """Return a graph with the columns of the fitted one, which are found by their names.

        Parameters
        ----------
        graph : Graph
            Features without names are taken as they are.

        Returns
        -------
        Graph

        Raises
        ------
        GraphError
            If a column is missing.
        """
        if self.encoder is None or graph.feature_names is None:
            return graph
        x = _encode(graph, self.encoder)
        return graph if x is graph.x else graph.with_features(x, feature_names=self.encoder.feature_names)

    def rescale(self, graph: Graph) -> Graph:
        """Return a graph with scaled features.

        Parameters
        ----------
        graph : Graph
            With the columns of the fitted one.

        Returns
        -------
        Graph
        """
        if self.scaling is None:
            return graph
        return graph.with_features(self.scaling.transform(graph.x), feature_names=graph.feature_names)

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can contain.

        Returns
        -------
        dict
        """
        return {
            "encoder": None if self.encoder is None else self.encoder.to_dict(),
            "scaling": None if self.scaling is None else self.scaling.to_dict(),
            "scale": self.scale,
            **({} if self.degree_buckets is None else {"degree_buckets": list(self.degree_buckets)}),
        }

    @classmethod
    def from_dict(cls, stored: Any, *, num_features: int) -> Preprocessor:
        """Return what `to_dict` has described.

        Parameters
        ----------
        stored : mapping or None
            None of a model that was saved before there was a description.
        num_features : int
            Number of columns that it must have.

        Returns
        -------
        Preprocessor

        Raises
        ------
        ValueError
            If the description is not valid.
        """
        from graphprox.preprocessing.table_encoder import TableEncoder

        if stored is None:
            return cls()
        if not isinstance(stored, Mapping) or set(stored) - {"degree_buckets"} != {"encoder", "scaling", "scale"}:
            raise ValueError("features must have an encoder, a scaling and a scale")
        if stored["scale"] not in SCALES:
            raise ValueError(f"scale must be one of {', '.join(SCALES)}; got {stored['scale']!r}")
        encoder = None if stored["encoder"] is None else TableEncoder.from_dict(stored["encoder"])
        scaling = None if stored["scaling"] is None else Scaling.from_dict(stored["scaling"])
        buckets = _check_degree_buckets(stored.get("degree_buckets"))
        found = [*([len(encoder.feature_names)] if encoder else []), *([len(scaling.center)] if scaling else [])]
        found += [] if buckets is None else [len(buckets)]
        if any(each != num_features for each in found):
            raise ValueError(f"features must have {num_features} columns; got {found[0]}")
        return cls(encoder, scaling, stored["scale"], buckets)


def _check_degree_buckets(stored: Any) -> list[int] | None:
    """Return degree buckets that JSON contained; raise a ValueError if they are not integers in increasing order."""
    if stored is None:
        return None
    if not isinstance(stored, list) or not stored or any(type(each) is not int for each in stored):
        raise ValueError("degree_buckets must be a list of integers")
    if any(high <= low for low, high in pairwise(stored)):
        raise ValueError("degree_buckets must increase")
    return stored


def _encode(graph: Graph, encoder: TableEncoder) -> Features:
    """Return the features of a graph in the columns of an encoder; its own matrix if it has these columns."""
    import pyarrow as pa

    from graphprox.preprocessing.encoded_table import encode_table

    if graph.table is not None and graph.table.columns is not None:
        return graph.x if graph.table.encoder == encoder else encode_table(graph.table.columns, encoder).x
    names = graph.feature_names or ()
    if names == encoder.feature_names:
        return graph.x
    if encoder.has_numbers_only:
        return encoder.select(graph.x, names)
    dense = graph.x if isinstance(graph.x, np.ndarray) else graph.x.toarray()
    return encode_table(pa.table({name: dense[:, i] for i, name in enumerate(names)}), encoder).x
