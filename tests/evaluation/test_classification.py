"""Node classification by a graph and an embedding."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from graphprox import Dataset, Embedding, GraphError, NodeSplit, ParameterError, random_split
from graphprox._utils.progress import report_progress
from graphprox.evaluation import PROTOCOLS, ClassificationScores, classify
from graphprox.evaluation.dgi_probe import DGIProbe
from graphprox.evaluation.protocols import Protocol


def test_scores_are_those_of_the_probe_on_each_split(graph, embedding):
    protocol = PROTOCOLS["random"]
    scores = classify(graph, embedding, n_splits=3, random_state=5)
    splits = protocol.splits(graph, 3, 5)
    assert scores.splits == tuple(protocol.probe.evaluate(embedding, graph.y, split) for split in splits)
    assert classify(graph, embedding, splits=splits) == scores


def test_published_splits_of_a_data_set_are_used(graph, embedding):
    split = random_split(graph, random_state=9)
    dataset = Dataset("a graph", graph, {"public": (split,)})
    assert classify(dataset, embedding, protocol="public") == classify(graph, embedding, splits=[split])


def test_the_protocol_selects_the_probe(graph, embedding):
    own = Protocol("own", "", DGIProbe(epochs=5), None)
    split = random_split(graph, random_state=0)
    scores = classify(graph, embedding, protocol=own, splits=[split])
    assert scores.splits == (DGIProbe(epochs=5).evaluate(embedding, graph.y, split),)


def test_an_embedding_is_aligned_by_ids(graph, embedding, order):
    shuffled = Embedding(embedding[order], ids=graph.ids[order])
    assert classify(graph, shuffled, n_splits=1) == classify(graph, embedding, n_splits=1)


def test_sparse_embeddings_are_accepted(graph):
    rows = np.where(graph.x > 1, graph.x, 0)
    sparse, dense = classify(graph, sp.csr_array(rows), n_splits=1), classify(graph, rows, n_splits=1)
    assert sparse.mean == pytest.approx(dense.mean, abs=0.005)


def test_values_per_split_are_summarized(graph, embedding):
    scores = classify(graph, embedding, n_splits=2)
    assert scores.mean == np.mean([split.accuracy for split in scores.splits])
    assert scores.std == np.std([split.accuracy for split in scores.splits])
    values = scores.to_dict()
    assert values["accuracy"] == scores.accuracy.tolist()
    assert values["macro_f1"] == scores.macro_f1.tolist()
    assert values["val_accuracy"] == scores.val_accuracy.tolist()
    assert values["c"] == [split.c for split in scores.splits]
    assert repr(scores).startswith(f"accuracy {100 * scores.mean:.2f} ± {100 * scores.std:.2f} %, macro F1 ")
    assert repr(scores).endswith(" over 2 splits")
    one = ClassificationScores(scores.splits[:1])
    assert "±" not in repr(one)
    assert repr(one).endswith(" over 1 split")


def test_progress_is_reported_for_each_split(graph, embedding):
    calls = []
    with report_progress(lambda *stage: calls.append(stage)):
        classify(graph, embedding, n_splits=2)
    assert calls == [("splits", 0, 2), ("splits", 1, 2)]


def test_invalid_arguments_are_rejected(graph, embedding):
    with pytest.raises(GraphError, match="needs a graph with labels"):
        classify(graph.without_labels(), embedding)
    with pytest.raises(GraphError, match="must have labels"):
        classify(graph.without_labels(), embedding, splits=[NodeSplit([0], [1], [2])])
    with pytest.raises(ParameterError, match="one row per node"):
        classify(graph, embedding[1:])
    with pytest.raises(ParameterError, match="splits must have at least one split"):
        classify(graph, embedding, splits=[])
    with pytest.raises(ParameterError, match="protocol must be one of"):
        classify(graph, embedding, protocol="none")
    with pytest.raises(ParameterError, match="random_state must be"):
        classify(graph, embedding, random_state=-1)
