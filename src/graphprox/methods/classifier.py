"""The base class of semi-supervised methods: classifiers of nodes that are fitted on a graph and a split."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from graphprox._utils.progress import Progress
from graphprox._utils.random import check_seed, make_generator
from graphprox.errors import GraphError, ParameterError
from graphprox.graph.conversion import to_numpy
from graphprox.graph.graph import UNKNOWN_LABEL, Graph
from graphprox.graph.splits import NodeSplit
from graphprox.graph.validation import GraphLike, check_graph, is_matrix
from graphprox.methods.base import GraphMethod, graph_without_edges
from graphprox.methods.memory_check import check_fits_memory

if TYPE_CHECKING:
    from torch import Tensor

    from graphprox.methods._supervised import SupervisedTask

VAL_SHARE = 0.1  # of the labeled nodes, held out to stop early where a classifier is given labels and no split


class NodeClassifier(ClassifierMixin, GraphMethod):  # type: ignore[misc]
    """Base class of semi-supervised methods, which learn classes from the labels of training nodes.

    Labels of validation nodes select the epoch; labels of test nodes are ignored. Subclasses implement
    ``_fit(task, seed, progress)`` and ``_decision_function(graph)``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Classes seen among training and validation nodes: class numbers, as in ``y`` of the graph, or the labels that
        were given as an array.
    settings_ : dict
        The settings that were used, with those of the preset.
    """

    classes_: NDArray[Any]
    __metadata_request__fit: ClassVar = {"graph": UNUSED, "split": UNUSED}
    __metadata_request__predict: ClassVar = {"graph": UNUSED}
    __metadata_request__predict_proba: ClassVar = {"graph": UNUSED}
    __metadata_request__score: ClassVar = {"graph": UNUSED, "split": UNUSED}

    def fit(self, graph: GraphLike, split: NodeSplit | ArrayLike | None = None) -> Self:
        """Learn classes from the training nodes of a graph.

        Parameters
        ----------
        graph : Graph, Dataset, Data, networkx.Graph, tuple, sparse or dense matrix
            A graph; with a `NodeSplit` it must have labels.
        split : NodeSplit or array-like of shape (num_nodes,)
            Which nodes to train on and to validate with. An array gives the labels themselves, -1 for an unlabeled
            node; a tenth of the labeled nodes, at random, is then used for validation.

        Returns
        -------
        self
        """
        from graphprox.methods._supervised import SupervisedTask

        method = self.resolve_preset(graph)
        method.check_parameters()
        seed = check_seed(self.random_state)
        checked = self._check_graph(graph, fitting=True)
        check_fits_memory(method, checked)
        if isinstance(split, NodeSplit):
            classes, parts = None, split
        else:
            checked, classes, parts = split_labels(checked, split, seed)
        task = SupervisedTask.of(checked, parts)
        method._fit(task, seed, self._progress())
        self._copy_fitted(method)
        self.classes_ = task.classes if classes is None else classes[task.classes]
        self.settings_ = method.settings()
        return self

    def predict(self, graph: GraphLike) -> NDArray[Any]:
        """Predict the class of every node.

        Parameters
        ----------
        graph : Graph, Dataset, Data, networkx.Graph, tuple, sparse or dense matrix
            The graph fitted on, or another with the same features where the method is inductive.

        Returns
        -------
        ndarray of shape (num_nodes,)
            Of ``classes_``: class numbers if it was fitted with a `NodeSplit`, whose names, if the graph has some, are
            ``[graph.class_names[each] for each in predicted]``; labels such as names if it was fitted with those.
        """
        scores = self._scores(graph)
        found: NDArray[Any] = self.classes_[scores.argmax(1).numpy()]
        return found

    def predict_proba(self, graph: GraphLike) -> NDArray[Any]:
        """Predict the probability of each class for every node.

        Parameters
        ----------
        graph : Graph, Dataset, Data, networkx.Graph, tuple, sparse or dense matrix

        Returns
        -------
        ndarray of shape (num_nodes, n_classes)
        """
        probabilities: NDArray[Any] = self._scores(graph).double().softmax(1).numpy()
        return probabilities

    def score(self, graph: GraphLike, split: NodeSplit | ArrayLike) -> float:
        """Return the accuracy on the test nodes of a split.

        Parameters
        ----------
        graph : Graph, Dataset, Data, networkx.Graph, tuple, sparse or dense matrix
        split : NodeSplit or array-like of shape (num_nodes,)
            Accuracy is that on the test nodes; an array gives the labels, and counts all that are known.

        Returns
        -------
        float
        """
        predicted = self.predict(graph)
        if isinstance(split, NodeSplit):
            labels, nodes = check_graph(graph).y, split.test
            if labels is None:
                raise GraphError("score needs a graph with labels; got one without: give y")
            if len(nodes) and nodes[-1] >= len(labels):
                raise ParameterError(
                    f"a split must contain nodes 0 to {len(labels) - 1} of the graph; got node {nodes[-1]}"
                )
        else:
            labels = column_or_1d(split)
            nodes = np.arange(len(labels))
            if len(labels) != len(predicted):
                raise ParameterError(
                    f"labels must have one entry per node; got {len(labels)} for {len(predicted)} nodes"
                )
        known = nodes[labels[nodes] != UNKNOWN_LABEL] if labels.dtype.kind in "iuf" else nodes
        if len(known) == 0:
            raise GraphError("score needs test nodes with known labels; got none")
        return float(np.mean(predicted[known] == labels[known]))

    @abstractmethod
    def _fit(self, task: SupervisedTask, seed: int, progress: Progress | None) -> None:
        """Train on a task, and keep what `_decision_function` needs as fitted attributes."""

    @abstractmethod
    def _decision_function(self, graph: Graph) -> Tensor:
        """Return the score of every node for every class, (num_nodes, n_classes)."""

    def _scores(self, graph: GraphLike) -> Tensor:
        import torch

        check_is_fitted(self, "classes_")
        graph = to_numpy(graph)
        if is_matrix(graph):
            x = self._check_features(graph, fitting=False)
            checked, count = self.preprocessor_.rescale(graph_without_edges(x)), x.shape[0]
        else:
            checked = self._check_graph(graph, fitting=False)
            count = checked.num_nodes
        with torch.no_grad():
            return self._decision_function(checked.without_labels())[:count]


def split_labels(graph: Graph, labels: ArrayLike | None, random_state: int) -> tuple[Graph, NDArray[Any], NodeSplit]:
    """Return a graph with labels as numbers, the classes they stand for, and a split of the labeled nodes."""
    if labels is None:
        # The checks of scikit-learn look for the words in brackets.
        raise ParameterError(
            "split must be a NodeSplit, as random_split makes, or an array of labels; got None (y should be a 1d array)"
        )
    given = column_or_1d(check_array(labels, ensure_2d=False, dtype=None, input_name="y"), warn=True)
    if given.dtype.kind == "b":
        raise ParameterError(
            "labels must be classes; got booleans, which look like a mask: pass NodeSplit.from_masks(train, val, test)"
        )
    check_classification_targets(given)
    if len(given) != graph.num_nodes:
        raise ParameterError(
            f"labels must have one entry per node, -1 where unknown; got {len(given)} for {graph.num_nodes} nodes"
        )
    known = given != UNKNOWN_LABEL if given.dtype.kind in "iuf" else np.ones(len(given), bool)
    classes, codes = np.unique(given[known], return_inverse=True)
    if len(classes) < 2:
        raise GraphError(f"a classifier needs nodes of at least two classes; got {len(classes)}")
    y = np.full(graph.num_nodes, UNKNOWN_LABEL, np.int64)
    y[known] = codes
    nodes = make_generator(random_state, "split_labels").permutation(np.flatnonzero(known))
    # The first node of every class is a training node, so that no class is missing there.
    is_first = np.zeros(len(nodes), bool)
    is_first[np.unique(y[nodes], return_index=True)[1]] = True
    order = np.concatenate([nodes[~is_first], nodes[is_first]])
    num_val = max(1, int(VAL_SHARE * len(nodes)))
    return graph.with_labels(y), classes, NodeSplit(train=order[num_val:], val=order[:num_val], test=[])
