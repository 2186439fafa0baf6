"""Scores: what each evaluation task returns. All are immutable, and all values are shares of 1."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SplitScore:
    """Scores of a probe, or of a classifier, on one split.

    Parameters
    ----------
    accuracy : float
        Share of the test nodes that are classified correctly.
    macro_f1 : float
        Mean over classes of the F1 score on the test nodes.
    val_accuracy : float
        Accuracy on the validation nodes, by which settings are selected.
    c : float, optional
        Inverse strength of the penalty that was selected, where the probe has one.
    roc_auc : float, optional
        Area under the ROC curve on the test nodes; only where there are exactly two classes.
    """

    accuracy: float
    macro_f1: float
    val_accuracy: float
    c: float | None = None
    roc_auc: float | None = None


@dataclass(frozen=True, repr=False)
class ClassificationScores:
    """Scores of a linear probe on one or more splits of the nodes.

    Parameters
    ----------
    splits : tuple of SplitScore
        Scores of each split, in the order of the splits.

    Examples
    --------
    >>> scores = ClassificationScores((SplitScore(0.8, 0.75, 0.7, c=1.0), SplitScore(0.9, 0.85, 0.9, c=10.0)))
    >>> scores
    accuracy 85.00 ± 5.00 %, macro F1 80.00 ± 5.00 % over 2 splits
    >>> scores.accuracy
    array([0.8, 0.9])
    >>> round(scores.mean, 6), round(scores.std, 6)
    (0.85, 0.05)
    """

    splits: tuple[SplitScore, ...]

    @property
    def n_splits(self) -> int:
        """Number of splits."""
        return len(self.splits)

    @property
    def accuracy(self) -> Floats:
        """Accuracy on the test nodes, ndarray of shape (n_splits,)."""
        return np.array([each.accuracy for each in self.splits])

    @property
    def macro_f1(self) -> Floats:
        """Macro F1 on the test nodes, ndarray of shape (n_splits,)."""
        return np.array([each.macro_f1 for each in self.splits])

    @property
    def val_accuracy(self) -> Floats:
        """Accuracy on the validation nodes, ndarray of shape (n_splits,)."""
        return np.array([each.val_accuracy for each in self.splits])

    @property
    def roc_auc(self) -> Floats | None:
        """Area under the ROC curve on the test nodes, ndarray of shape (n_splits,); None unless two classes exist."""
        values = [each.roc_auc for each in self.splits if each.roc_auc is not None]
        return np.array(values) if values and len(values) == len(self.splits) else None

    @property
    def mean(self) -> float:
        """Mean test accuracy over the splits."""
        return float(self.accuracy.mean())

    @property
    def std(self) -> float:
        """Standard deviation of the test accuracy over the splits."""
        return float(self.accuracy.std())

    def to_dict(self) -> dict[str, Any]:
        """Return all scores as plain values, for JSON.

        Returns
        -------
        dict of str to list of float
            Values of every score by its name, one per split; ``roc_auc`` only if there are exactly two classes.

        Examples
        --------
        >>> ClassificationScores((SplitScore(0.8, 0.75, 0.7, c=1.0),)).to_dict()["accuracy"]
        [0.8]
        """
        rows = [asdict(each) for each in self.splits]
        names = [name for name in SplitScore.__dataclass_fields__ if name != "roc_auc" or self.roc_auc is not None]
        return {name: [row[name] for row in rows] for name in names}

    def __repr__(self) -> str:
        count = f"{self.n_splits} split{'s' * (self.n_splits != 1)}"
        auc = "" if self.roc_auc is None else f", ROC-AUC {_percent(self.roc_auc)}"
        return f"accuracy {_percent(self.accuracy)}, macro F1 {_percent(self.macro_f1)}{auc} over {count}"


@dataclass(frozen=True)
class MultilabelSplitScore:
    """Scores of a multi-label classifier on one split.

    Parameters
    ----------
    micro_f1 : float
        F1 score of all labels of all test nodes together.
    macro_f1 : float
        Mean over classes of the F1 score on the test nodes.
    """

    micro_f1: float
    macro_f1: float


@dataclass(frozen=True, repr=False)
class MultilabelScores:
    """Scores of a multi-label classifier on one or more splits of the nodes.

    Parameters
    ----------
    splits : tuple of MultilabelSplitScore
        Scores of each split, in the order of the splits.

    Examples
    --------
    >>> MultilabelScores((MultilabelSplitScore(0.4, 0.25), MultilabelSplitScore(0.5, 0.35)))
    micro F1 45.00 ± 5.00 %, macro F1 30.00 ± 5.00 % over 2 splits
    """

    splits: tuple[MultilabelSplitScore, ...]

    @property
    def n_splits(self) -> int:
        """Number of splits."""
        return len(self.splits)

    @property
    def micro_f1(self) -> Floats:
        """Micro F1 on the test nodes, ndarray of shape (n_splits,)."""
        return np.array([each.micro_f1 for each in self.splits])

    @property
    def macro_f1(self) -> Floats:
        """Macro F1 on the test nodes, ndarray of shape (n_splits,)."""
        return np.array([each.macro_f1 for each in self.splits])

    def to_dict(self) -> dict[str, list[float]]:
        """Return all scores as plain values, for JSON.

        Returns
        -------
        dict of str to list of float
            Values of both scores by name, one per split.
        """
        return {"micro_f1": self.micro_f1.tolist(), "macro_f1": self.macro_f1.tolist()}

    def __repr__(self) -> str:
        count = f"{self.n_splits} split{'s' * (self.n_splits != 1)}"
        return f"micro F1 {_percent(self.micro_f1)}, macro F1 {_percent(self.macro_f1)} over {count}"


@dataclass(frozen=True, repr=False)
class LinkScores:
    """Scores of link prediction on the test and validation edges of one edge split.

    Pairs of nodes are ranked by the inner product of their vectors and, in the scores named ``cosine_*``, by its
    cosine.

    Parameters
    ----------
    auc, cosine_auc, val_auc, val_cosine_auc : float
        Area under the ROC curve.
    ap, cosine_ap, val_ap, val_cosine_ap : float
        Average precision.

    Examples
    --------
    >>> LinkScores(auc=0.7, ap=0.65, cosine_auc=0.8, cosine_ap=0.75,
    ...            val_auc=0.7, val_ap=0.65, val_cosine_auc=0.8, val_cosine_ap=0.75)
    AUC 70.00 %, AP 65.00 %, AUC by cosine 80.00 %, AP by cosine 75.00 %
    """

    auc: float
    ap: float
    cosine_auc: float
    cosine_ap: float
    val_auc: float
    val_ap: float
    val_cosine_auc: float
    val_cosine_ap: float

    def to_dict(self) -> dict[str, float]:
        """Return all scores as plain values, for JSON.

        Returns
        -------
        dict of str to float
            Scores by the names of the parameters.
        """
        return asdict(self)

    def __repr__(self) -> str:
        return _join(AUC=self.auc, AP=self.ap, AUC_by_cosine=self.cosine_auc, AP_by_cosine=self.cosine_ap)


@dataclass(frozen=True, repr=False)
class ClusteringScores:
    """Agreement of clusters with classes.

    Parameters
    ----------
    nmi : float
        Normalized mutual information.
    ari : float
        Adjusted Rand index.
    accuracy : float
        Accuracy under the best one-to-one assignment of clusters to classes.

    Examples
    --------
    >>> ClusteringScores(nmi=0.75, ari=0.66, accuracy=0.8)
    NMI 75.00 %, ARI 66.00 %, accuracy 80.00 %
    """

    nmi: float
    ari: float
    accuracy: float

    def to_dict(self) -> dict[str, float]:
        """Return all scores as plain values, for JSON.

        Returns
        -------
        dict of str to float
            Scores by the names of the parameters.
        """
        return asdict(self)

    def __repr__(self) -> str:
        return _join(NMI=self.nmi, ARI=self.ari, accuracy=self.accuracy)


@dataclass(frozen=True, repr=False)
class SimilarityScores:
    """Sim@k: the mean share of a node's k nearest neighbors that are of its class.

    Parameters
    ----------
    ks : tuple of int
        Numbers of neighbors.
    values : tuple of float
        Sim@k for each of ``ks``.

    Examples
    --------
    >>> scores = SimilarityScores(ks=(5, 10), values=(0.9, 0.86))
    >>> scores
    Sim@5 90.00 %, Sim@10 86.00 %
    >>> scores[10]
    0.86
    """

    ks: tuple[int, ...]
    values: tuple[float, ...]

    def __getitem__(self, k: int) -> float:
        return dict(zip(self.ks, self.values, strict=True))[k]

    def to_dict(self) -> dict[str, float]:
        """Return all scores as plain values, for JSON.

        Returns
        -------
        dict of str to float
            Scores by name, such as ``"sim@5"``.
        """
        return {f"sim@{k}": value for k, value in zip(self.ks, self.values, strict=True)}

    def __repr__(self) -> str:
        return _join(**{f"Sim@{k}": value for k, value in zip(self.ks, self.values, strict=True)})


def _percent(values: Floats) -> str:
    spread = f" ± {100 * values.std():.2f}" if len(values) > 1 else ""
    return f"{100 * values.mean():.2f}{spread} %"


def _join(**values: float) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {100 * value:.2f} %" for name, value in values.items())
