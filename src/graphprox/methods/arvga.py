"""ARVGA: a variational graph autoencoder with an adversarial regularization of its vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from graphprox._utils.arrays import FloatArray
from graphprox._utils.progress import Progress
from graphprox.forecast import Costs
from graphprox.forecast.largest_arrays import count_layers
from graphprox.forecast.work import Size
from graphprox.graph.graph import Graph
from graphprox.methods import MethodInfo, parameter, register_method
from graphprox.methods._edge_reconstruction import NonEdges, PairDecoder, count_pairs, to_positive_pairs
from graphprox.methods._encoder_embedder import EncoderEmbedder
from graphprox.methods._neural import GraphTensors, fork_rng, minimize
from graphprox.methods.vgae import VariationalEncoder


@register_method("arvga")
class ARVGA(EncoderEmbedder):
    """A variational graph autoencoder, and a discriminator trained to distinguish its vectors from normal samples.

    Parameters
    ----------
    n_components : int, default=16
        Size of the embedding.
    hidden_channels : int, default=32
        Size of the hidden layer of the encoder.
    discriminator_channels : int, default=64
        Size of the hidden layers of the discriminator.
    discriminator_steps : int, default=1
        Number of training steps of the discriminator per epoch.
    discriminator_learning_rate : float, default=1e-3
        Learning rate of the discriminator, and of the encoder when it is trained against it.
    reconstruction_steps : int, default=5
        Number of training steps of the encoder per epoch that reconstruct edges; one against the discriminator follows.
    epochs : int, default=200
        Number of epochs.
    learning_rate : float, default=1e-3
        Learning rate of the encoder when it reconstructs edges.
    normalize : {"rows", "none"}, default="none"
        Whether rows of the features are scaled to an absolute sum of 1.
    preset : str, default="auto"
        Settings selected for a data set; see :class:`~graphprox.methods.base.GraphMethod`.
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
    encoder_ : VariationalEncoder
        The trained encoder.

    References
    ----------
    Pan et al., Adversarially Regularized Graph Autoencoder for Graph Embedding, IJCAI 2018.

    Examples
    --------
    >>> from graphprox import synthetic
    >>> ARVGA(n_components=8, epochs=2).fit_transform(synthetic(nodes=140)).shape
    (140, 8)
    """

    info = MethodInfo(
        title="ARVGA",
        group="autoencoders",
        uses="AX",
        summary="a variational graph autoencoder whose vectors a discriminator compares with normal samples",
        paper="Pan et al., Adversarially Regularized Graph Autoencoder for Graph Embedding, IJCAI 2018",
    )
    # The authors' settings for PubMed.
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "PubMed": {"epochs": 2000, "discriminator_learning_rate": 8e-3},
    }

    n_components: int = parameter(16, min=1)
    hidden_channels: int = parameter(32, min=1)
    discriminator_channels: int = parameter(64, min=1)
    discriminator_steps: int = parameter(1, min=0)
    discriminator_learning_rate: float = parameter(1e-3, above=0)
    reconstruction_steps: int = parameter(5, min=1)
    epochs: int = parameter(200, min=0)
    learning_rate: float = parameter(1e-3, above=0)
    normalize: str = parameter("none", choices=("rows", "none"))

    def _memory_costs(self, graph: Graph) -> Costs:
        n, wide = self.n_components, self.discriminator_channels
        pairs, weights = count_pairs(graph), n * wide + wide**2
        return count_layers(Size.of(graph), [self.hidden_channels, 2 * n], weights=weights, others=pairs)

    def _fit(self, graph: Graph, seed: int, progress: Progress | None) -> FloatArray:
        from torch_geometric.nn import ARGVA

        with fork_rng(seed) as generator:
            tensors = self._to_tensors(graph, self.settings())
            positives, non_edges = to_positive_pairs(graph), NonEdges.of(graph)
            encoder = VariationalEncoder(tensors.features.shape[1], self.hidden_channels, self.n_components, generator)
            discriminator = _make_discriminator(self.n_components, self.discriminator_channels)
            model = ARGVA(encoder, discriminator, PairDecoder())
            # As in the authors' code (github.com/TrustAGI-Lab/ARGA), each objective of the encoder has its optimizer.
            # With one step for their sum instead of five and one, the validation AUC is lower by two points on Cora and
            # by one on CiteSeer.
            optimizers = [
                torch.optim.Adam(each.parameters(), lr=self.discriminator_learning_rate)
                for each in (discriminator, encoder)
            ]

            def compute_loss() -> Tensor:
                z = model.encode(tensors.features, tensors.edges)
                negatives = non_edges.sample(positives.shape[1], generator)
                # Half the sum of the losses of edges and non-edges is their mean, as in the authors' code.
                reconstruction = model.recon_loss(z, positives, negatives) / 2
                loss: Tensor = reconstruction + model.kl_loss() / graph.num_nodes
                return loss

            def play(step: int) -> None:
                if (step + 1) % self.reconstruction_steps == 0:
                    _play_against_discriminator(
                        model,
                        lambda: model.encode(tensors.features, tensors.edges),
                        *optimizers,
                        discriminator_steps=self.discriminator_steps,
                    )

            minimize(
                model,
                compute_loss,
                epochs=self.epochs * self.reconstruction_steps,
                learning_rate=self.learning_rate,
                parameters=encoder.parameters(),
                after_step=play,
                progress=progress and partial(_report_epochs, progress, self.reconstruction_steps),
            )
        return self._keep_encoder(encoder, tensors)

    def _compute_vectors(self, tensors: GraphTensors) -> Tensor:
        mean: Tensor = self.encoder_(tensors.features, tensors.edges)[0]
        return mean


def _make_discriminator(n_components: int, hidden: int) -> nn.Module:
    layers = (nn.Linear(n_components, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))
    return nn.Sequential(*layers)


def _play_against_discriminator(
    model: Any,
    encode: Callable[[], Tensor],
    discriminator_optimizer: torch.optim.Optimizer,
    encoder_optimizer: torch.optim.Optimizer,
    *,
    discriminator_steps: int,
) -> None:
    """Train the discriminator, then the encoder for one step so that its vectors pass for normal samples."""
    for _ in range(discriminator_steps):
        discriminator_optimizer.zero_grad()  # the encoder's step below reaches the discriminator too
        model.discriminator_loss(encode()).backward()  # it detaches the vectors
        discriminator_optimizer.step()
    encoder_optimizer.zero_grad()
    model.reg_loss(encode()).backward()
    encoder_optimizer.step()


def _report_epochs(progress: Progress, steps: int, stage: str, done: int, total: int) -> None:
    """Report steps as epochs of several."""
    progress(stage, done // steps, total // steps)
