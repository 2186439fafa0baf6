"""Scores as values: statistics over splits, names, and their printed form."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from graphprox.evaluation.scores import (
    ClassificationScores,
    ClusteringScores,
    LinkScores,
    SimilarityScores,
    SplitScore,
)

TWO = ClassificationScores((SplitScore(0.8, 0.75, 0.7, c=1.0), SplitScore(0.9, 0.85, 0.95)))


def test_mean_and_deviation_are_over_splits():
    assert TWO.n_splits == 2
    assert (TWO.mean, TWO.std) == (pytest.approx(0.85), pytest.approx(0.05))
    assert np.array_equal(TWO.macro_f1, [0.75, 0.85])
    assert np.array_equal(TWO.val_accuracy, [0.7, 0.95])


def test_scores_are_named():
    assert TWO.to_dict() == {
        "accuracy": [0.8, 0.9],
        "macro_f1": [0.75, 0.85],
        "val_accuracy": [0.7, 0.95],
        "c": [1.0, None],
    }
    assert SimilarityScores((5, 10), (0.9, 0.8)).to_dict() == {"sim@5": 0.9, "sim@10": 0.8}
    assert ClusteringScores(0.5, 0.4, 0.6).to_dict() == {"nmi": 0.5, "ari": 0.4, "accuracy": 0.6}
    links = LinkScores(*np.arange(8) / 8)
    assert list(links.to_dict().values()) == (np.arange(8) / 8).tolist()


def test_one_split_is_printed_without_a_deviation():
    one = ClassificationScores(TWO.splits[:1])
    assert repr(one) == "accuracy 80.00 %, macro F1 75.00 % over 1 split"


def test_unknown_number_of_neighbors_is_a_key_error():
    scores = SimilarityScores((5, 10), (0.9, 0.8))
    assert scores[10] == 0.8
    with pytest.raises(KeyError):
        scores[7]


def test_scores_are_immutable():
    with pytest.raises(FrozenInstanceError):
        TWO.splits = ()


def test_roc_auc_is_shown_only_where_all_splits_have_one():
    two = ClassificationScores((SplitScore(0.8, 0.7, 0.7, roc_auc=0.9), SplitScore(0.8, 0.7, 0.7, roc_auc=0.8)))
    assert str(two) == "accuracy 80.00 ± 0.00 %, macro F1 70.00 ± 0.00 %, ROC-AUC 85.00 ± 5.00 % over 2 splits"
    assert two.to_dict()["roc_auc"] == [0.9, 0.8]
    more = ClassificationScores((SplitScore(0.8, 0.7, 0.7, roc_auc=0.9), SplitScore(0.8, 0.7, 0.7)))
    assert more.roc_auc is None
    assert "roc_auc" not in more.to_dict()
