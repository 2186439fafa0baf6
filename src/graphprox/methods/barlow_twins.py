"""Graph Barlow Twins: make the cross-correlation of the channels of two augmented copies the identity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from torch import Tensor

from graphprox._utils.arrays import FloatArray
from graphprox._utils.progress import Progress
from graphprox.forecast import Costs
from graphprox.forecast.largest_arrays import count_layers
from graphprox.forecast.work import FLOAT, Size
from graphprox.graph.graph import Graph
from graphprox.methods import MethodInfo, register_method
from graphprox.methods._augmentation import (
    COAUTHOR_CS,
    AugmentedPairEmbedder,
    Augmenter,
    batch_norm_prelu,
    standardize,
)
from graphprox.methods._neural import GCNLayers, fork_rng, minimize


@register_method("barlow-twins")
class BarlowTwins(AugmentedPairEmbedder):
    """Graph Barlow Twins: makes the cross-correlation of the channels of two augmented copies the identity.

    Parameters
    ----------
    n_components : int, default=256
        Size of the embedding.
    hidden_channels : int, default=512
        Size of the hidden layer of the encoder.
    epochs : int, default=100
        Number of epochs; each is one full-batch step.
    warmup_ratio : float, default=0.1
        Share of the epochs in which the learning rate rises.
    learning_rate : float, default=1e-3
        Highest learning rate; it decays to 0 by a cosine.
    weight_decay : float, default=1e-5
    drop_edge_rate_1, drop_edge_rate_2 : float, default=0.3 and 0.4
        Probability that an edge is dropped from the first and from the second copy.
    drop_feature_rate_1, drop_feature_rate_2 : float, default=0.3 and 0.2
        Probability that a feature is dropped from the first and from the second copy.
    preset : str, default="auto"
        Settings for a data set, such as ``"Cora"``, or ``"default"``; ``"auto"`` uses those of the `Dataset` that is
        passed to ``fit``.
    scale : {"auto", "standard", "none"}, default="auto"
        Whether columns of features are standardized: those of a table, whose units differ; all of them; or none.
    random_state : int, RandomState, Generator or None, default=0
        Random seed.
    verbose : bool, default=False
        Whether to print progress on stderr.

    Attributes
    ----------
    embedding_ : Embedding
    vectors_ : ndarray of shape (num_nodes, n_components)
    encoder_ : Module
        The trained encoder.

    References
    ----------
    Bielak et al., Graph Barlow Twins, Knowledge-Based Systems 2022.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> embedder = BarlowTwins(n_components=8, hidden_channels=16, epochs=2).fit(synthetic(nodes=140))
    >>> embedder.vectors_.shape, embedder.transform(synthetic(nodes=210)).shape
    ((140, 8), (210, 8))
    """

    info = MethodInfo(
        title="Graph Barlow Twins",
        group="contrast",
        uses="AX",
        summary="makes the cross-correlation of the channels of two augmented copies the identity",
        paper="Bielak et al., Graph Barlow Twins, Knowledge-Based Systems 2022",
    )
    # Epochs were selected by validation accuracy, in percent:
    # graphprox tune DATASET --method barlow-twins --over epochs=... --splits 20
    #
    #                10    25    50    100   300
    #   Cora               83.7  84.3  84.4
    #   CiteSeer     70.8  71.9  71.1  70.8
    #   PubMed                         85.5  86.0
    #   DBLP               82.9  83.6  83.9  84.1
    #   ACM          90.4  90.6  90.5  90.2
    #   BlogCatalog        75.2  75.2  74.7  72.8
    #   Texas        56.4  55.0  54.7  54.2  54.7
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "CiteSeer": {"epochs": 25},
        "PubMed": {"epochs": 300},
        "DBLP": {"epochs": 300},
        "BlogCatalog": {"epochs": 50},
        "CoauthorCS": COAUTHOR_CS,
    }

    def _memory_costs(self, graph: Graph) -> Costs:
        channels = [self.hidden_channels, self.n_components]
        return count_layers(Size.of(graph), channels, passes=2, others=2 * FLOAT * self.n_components**2)

    def _fit(self, graph: Graph, seed: int, progress: Progress | None) -> FloatArray:
        with fork_rng(seed) as generator:
            tensors = self._to_tensors(graph, self.settings())
            channels = [tensors.features.shape[1], self.hidden_channels, self.n_components]
            encoder = GCNLayers(channels, generator=generator, activation=batch_norm_prelu)
            augmenter = Augmenter(graph, tensors, seed)

            def loss() -> Tensor:
                first, second = self._augment(augmenter)
                return barlow_twins_loss(encoder(tensors.features, *first), encoder(tensors.features, *second))

            minimize(
                encoder,
                loss,
                epochs=self.epochs,
                learning_rate=self._learning_rate,
                weight_decay=self.weight_decay,
                decoupled=True,
                progress=progress,
            )
        return self._keep_encoder(encoder, tensors)


def barlow_twins_loss(a: Tensor, b: Tensor) -> Tensor:
    """Return the squared distance of the cross-correlation of channels from the identity.

    Off-diagonal entries are divided by the number of channels, as there are many more of them.

    Parameters
    ----------
    a, b : Tensor of shape (num_nodes, channels)

    Returns
    -------
    Tensor of shape ()
    """
    num_nodes, channels = a.shape
    correlations = standardize(a).T @ standardize(b) / num_nodes
    diagonal = correlations.diagonal()
    off_diagonal = correlations.square().sum() - diagonal.square().sum()
    return (1 - diagonal).square().sum() + off_diagonal / channels
