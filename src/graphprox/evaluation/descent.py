"""The probe of the code of DGI, CCA-SSG, GraphMAE and others: one linear layer, trained by Adam and stopped in time.

It is kept apart from :mod:`graphprox.evaluation.probe` so that figures of papers that used it have something to be
held against. It takes rows as they are, and so the length of a row counts. Those codes differ in how long they train
and in how much the weights decay, some by data set; here validation nodes choose among all they take.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from graphprox.arrays import IntArray
from graphprox.evaluation.inputs import (
    Floats,
    Rows,
    RowsLike,
    check_split,
    checked_labels,
    checked_rows,
    dense,
    one_thread,
)
from graphprox.evaluation.probe import Score, counted
from graphprox.splits import NodeSplit

STEPS = 2000  # CCA-SSG's; DGI takes 100, MVGRL and GraphMAE take 300
LEARNING_RATE = 1e-2
WEIGHT_DECAYS = (0.0, 1e-4, 1e-2)


def descent_probe(embedding: RowsLike, y: ArrayLike, split: NodeSplit) -> Score:
    """Learn classes from the training nodes by steps of Adam, and count on the test nodes.

    Of all steps with all decays of weights it takes the one after which most validation nodes are told right, and of
    several the one with the least cross-entropy there; test nodes play no part in any choice. The layer starts at zero,
    so that nothing is drawn.

    >>> from graphprox import random_split, synthetic
    >>> graph = synthetic()
    >>> score = descent_probe(graph.x, graph.y, random_split(graph, seed=0))
    >>> 0.4 < score.accuracy < 0.7
    True
    """
    rows = checked_rows(embedding)
    labels = checked_labels(y, rows=rows.shape[0])
    check_split(labels, split, parts=("train", "validation", "test"))
    with one_thread():
        layer, right = _best_on_validation(*(_part(rows, labels, nodes) for nodes in (split.train, split.validation)))
    asked = _part(rows, labels, split.test)
    return Score(*counted(layer.classes_of(asked.rows), asked.labels), validation_accuracy=right)


class _Part(NamedTuple):
    rows: Floats
    labels: IntArray


def _part(rows: Rows, labels: IntArray, nodes: IntArray) -> _Part:
    return _Part(dense(rows[nodes]), labels[nodes])


class _Layer(NamedTuple):
    weight: Floats  # (width, classes)
    bias: Floats
    classes: IntArray

    def classes_of(self, rows: Floats) -> IntArray:
        found: IntArray = self.classes[(rows @ self.weight + self.bias).argmax(axis=1)]
        return found


def _best_on_validation(train: _Part, validation: _Part) -> tuple[_Layer, float]:
    """The layer after its best step, and the share of the validation nodes that it tells right."""
    import torch  # here, as the other probes do without
    from torch.nn.functional import cross_entropy

    classes, targets = np.unique(train.labels, return_inverse=True)
    known = np.isin(validation.labels, classes)  # a class that no training node has is never told right
    asked = torch.tensor(np.searchsorted(classes, validation.labels[known]))
    rows, truth, others = torch.tensor(train.rows), torch.tensor(targets), torch.tensor(validation.rows[known])
    best, highest = None, (-1.0, 0.0)
    for decay in WEIGHT_DECAYS:
        weight = torch.zeros(rows.shape[1], len(classes), dtype=rows.dtype, requires_grad=True)
        bias = torch.zeros(len(classes), dtype=rows.dtype, requires_grad=True)
        optimizer = torch.optim.Adam([weight, bias], lr=LEARNING_RATE, weight_decay=decay)
        for _ in range(STEPS):
            optimizer.zero_grad()
            cross_entropy(torch.addmm(bias, rows, weight), truth).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            with torch.no_grad():
                scores = torch.addmm(bias, others, weight)
                right = float((scores.argmax(1) == asked).sum()) / len(known)
                found = (right, -float(cross_entropy(scores, asked)) if len(asked) else 0.0)
            if found > highest:
                best, highest = _Layer(weight.detach().numpy().copy(), bias.detach().numpy().copy(), classes), found
    assert best is not None  # noqa: S101 - no share is below 0
    return best, highest[0]
