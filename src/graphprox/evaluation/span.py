"""Span: training rows in as few coordinates as they span, which is all that a linear probe ever weighs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphprox.arrays import IntArray
from graphprox.evaluation.inputs import Floats, Rows, dense

NEGLIGIBLE = 1e-12  # of the largest eigenvalue: directions in which the training rows do not differ


@dataclass(frozen=True, eq=False)
class Span:
    """Training rows in few coordinates, (training nodes, rank), and the way back to the columns of the embedding.

    A probe's penalty keeps its weights among the training rows: what stands at right angles to all of them is never
    weighed, and to leave it out changes nothing. A few hundred rows then have a few hundred coordinates, however many
    columns there are, and sparse rows in thousands of columns become dense ones in hundreds.

    >>> span = Span.of(np.array([[3.0, 0.0, 4.0], [0.0, 0.0, 0.0]]), np.array([0]), centred=False)
    >>> abs(span.coordinates).round(6).tolist(), abs(span.weights(np.ones((1, 1)))).round(6).tolist()
    ([[5.0]], [[0.6, 0.0, 0.8]])
    """

    coordinates: Floats
    mean: Floats  # (columns,) of the training rows, if they are centred; it is taken from each row
    fitting: Rows  # the training rows themselves
    basis: Floats | None  # (training nodes, rank), from products with training rows to coordinates; None: all columns

    @classmethod
    def of(cls, rows: Rows, train: IntArray, *, centred: bool) -> Span:
        """The span of some rows. Centred, it serves a probe whose intercept has no penalty: to it a shift is free."""
        fitting = rows[train]
        mean = np.asarray(fitting.mean(axis=0)).ravel() if centred else np.zeros(rows.shape[1])
        if len(train) >= rows.shape[1]:
            return cls(dense(fitting) - mean, mean, fitting, None)
        products = dense(fitting @ fitting.T)
        if centred:
            shift = products.mean(axis=1)
            products = products - shift - shift[:, None] + shift.mean()
        eigenvalues, directions = np.linalg.eigh(products)
        kept = eigenvalues > NEGLIGIBLE * max(eigenvalues[-1], np.finfo(np.float64).tiny)
        if not kept.any():  # rows that do not differ at all: a coordinate in which each stands at 0
            nothing = np.zeros((len(train), 1))
            return cls(nothing, mean, fitting, nothing)
        scale = np.sqrt(eigenvalues[kept])
        return cls(directions[:, kept] * scale, mean, fitting, directions[:, kept] / scale)

    def located(self, rows: Rows) -> Floats:
        """Any rows in these coordinates, (rows, rank)."""
        return self.scores(rows, np.eye(self.coordinates.shape[1]))

    def weights(self, along: Floats) -> Floats:
        """Weights along the coordinates, (classes, rank), as weights of the columns, (classes, columns)."""
        if self.basis is None:
            return along
        # Centred, each column of the basis sums to 0, so that the mean need not be taken from the rows.
        weights: Floats = (self.fitting.T @ (self.basis @ along.T)).T
        return weights

    def scores(self, rows: Rows, along: Floats) -> Floats:
        """What weights along the coordinates give each of any rows, (rows, classes)."""
        weights = self.weights(along)
        scores: Floats = rows @ weights.T - weights @ self.mean
        return scores
