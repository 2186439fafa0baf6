"""Span: training rows in the coordinates of the subspace that they span."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphprox._utils.arrays import IntArray
from graphprox.evaluation.inputs import Floats, Rows, to_dense

MIN_EIGENVALUE = 1e-12  # relative to the largest: directions in which the training rows do not vary


@dataclass(frozen=True, eq=False)
class Span:
    """Training rows in at most as many coordinates as there are rows, and the way back to columns.

    The weights of an l2-regularized linear model are a combination of its training rows, so that leaving out the
    orthogonal complement changes nothing. Whatever the size and sparsity of an embedding, a probe trained on a few
    hundred rows works with dense rows of a few hundred coordinates.

    Parameters
    ----------
    coordinates : ndarray of shape (n_train, rank)
        The training rows in the new coordinates.
    mean : ndarray of shape (n_components,)
        Subtracted from every row: the mean of the training rows if they are centered, zeros if not.
    train_rows : ndarray or csr_array of shape (n_train, n_components)
        The training rows themselves.
    basis : ndarray of shape (n_train, rank) or None
        Maps products with the training rows to coordinates; None if the coordinates are the columns.

    Examples
    --------
    >>> span = Span.from_rows(np.array([[3.0, 0.0, 4.0], [0.0, 0.0, 0.0]]), np.array([0]), center=False)
    >>> abs(span.coordinates).round(6).tolist(), abs(span.to_column_weights(np.ones((1, 1)))).round(6).tolist()
    ([[5.0]], [[0.6, 0.0, 0.8]])
    """

    coordinates: Floats
    mean: Floats
    train_rows: Rows
    basis: Floats | None

    @classmethod
    def from_rows(cls, rows: Rows, train: IntArray, *, center: bool) -> Span:
        """Compute the span of the training rows.

        Parameters
        ----------
        rows : ndarray or csr_array of shape (num_nodes, n_components)
        train : ndarray of shape (n_train,)
            Which of the rows are for training.
        center : bool
            Whether to subtract their mean, for a model whose intercept is not regularized.

        Returns
        -------
        Span
        """
        train_rows = rows[train]
        mean = np.asarray(train_rows.mean(axis=0)).ravel() if center else np.zeros(rows.shape[1])
        if len(train) >= rows.shape[1]:
            return cls(to_dense(train_rows) - mean, mean, train_rows, None)
        products = to_dense(train_rows @ train_rows.T)
        if center:
            shift = products.mean(axis=1)
            products = products - shift - shift[:, None] + shift.mean()
        eigenvalues, directions = np.linalg.eigh(products)
        kept = eigenvalues > MIN_EIGENVALUE * max(eigenvalues[-1], np.finfo(np.float64).tiny)
        if not kept.any():  # identical rows: one coordinate, which is 0 for all
            zeros = np.zeros((len(train), 1))
            return cls(zeros, mean, train_rows, zeros)
        scale = np.sqrt(eigenvalues[kept])
        return cls(directions[:, kept] * scale, mean, train_rows, directions[:, kept] / scale)

    def transform(self, rows: Rows) -> Floats:
        """Return rows in these coordinates.

        Parameters
        ----------
        rows : ndarray or csr_array of shape (n_rows, n_components)

        Returns
        -------
        ndarray of shape (n_rows, rank)
        """
        return self.decision_function(rows, np.eye(self.coordinates.shape[1]))

    def to_column_weights(self, weights: Floats) -> Floats:
        """Return weights of coordinates as weights of columns.

        Parameters
        ----------
        weights : ndarray of shape (n_classes, rank)

        Returns
        -------
        ndarray of shape (n_classes, n_components)
        """
        if self.basis is None:
            return weights
        # If centered, each column of the basis sums to 0, so that the mean need not be subtracted from the rows.
        columns: Floats = (self.train_rows.T @ (self.basis @ weights.T)).T
        return columns

    def decision_function(self, rows: Rows, weights: Floats) -> Floats:
        """Return the scores that a linear model without intercept gives to rows.

        Parameters
        ----------
        rows : ndarray or csr_array of shape (n_rows, n_components)
        weights : ndarray of shape (n_classes, rank)
            Weights of the coordinates.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
        """
        columns = self.to_column_weights(weights)
        scores: Floats = rows @ columns.T - columns @ self.mean
        return scores
