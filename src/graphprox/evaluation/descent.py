"""The probe of the code of DGI, CCA-SSG, GraphMAE and others: one linear layer, trained by Adam and stopped in time.

It is kept apart from :mod:`graphprox.evaluation.probe` so that figures of papers that used it have something to be
held against. It takes rows as they are, and so the length of a row counts.
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

STEPS = 300
LEARNING_RATE = 1e-2
WEIGHT_DECAY = 1e-4


def descent_probe(embedding: RowsLike, y: ArrayLike, split: NodeSplit) -> Score:
    """Learn classes from the training nodes by so many steps of Adam, and count on the test nodes.

    Of all steps it takes the one after which most validation nodes are told right, the first of several; test nodes
    play no part in any choice. The layer starts at zero, so that nothing is drawn.

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

    classes, targets = np.unique(train.labels, return_inverse=True)
    rows, truth = torch.tensor(train.rows), torch.tensor(targets)
    weight = torch.zeros(rows.shape[1], len(classes), dtype=rows.dtype, requires_grad=True)
    bias = torch.zeros(len(classes), dtype=rows.dtype, requires_grad=True)
    optimizer = torch.optim.Adam([weight, bias], lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    best, highest = None, -1.0
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(torch.addmm(bias, rows, weight), truth)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        layer = _Layer(weight.detach().numpy(), bias.detach().numpy(), classes)
        right = float(np.mean(layer.classes_of(validation.rows) == validation.labels))
        if right > highest:
            best, highest = layer._replace(weight=layer.weight.copy(), bias=layer.bias.copy()), right
    assert best is not None  # noqa: S101 - no share is below 0
    return best, highest
