"""The base class of methods that train an encoder of features and edges, and keep it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from graphprox._utils.arrays import FloatArray
from graphprox._utils.outcome import warn_if_collapsed
from graphprox.graph.graph import Graph
from graphprox.methods import InductiveEmbedder
from graphprox.methods._neural import GraphTensors, to_vectors


class EncoderEmbedder(InductiveEmbedder):
    """Base class of methods whose vectors are the output of a trained encoder.

    Subclasses implement ``_fit(graph, seed, progress)``: it trains an encoder on ``_to_tensors(graph, settings)``, and
    returns ``_keep_encoder(encoder, tensors)``. A subclass whose encoder reads the graph in another way overrides
    ``_to_tensors``, and one whose encoder is called in another way or returns more than the vectors,
    ``_compute_vectors``.

    Attributes
    ----------
    encoder_ : nn.Module
        The trained encoder.
    """

    encoder_: nn.Module

    def _keep_encoder(self, encoder: nn.Module, tensors: GraphTensors) -> FloatArray:
        """Keep the trained encoder, and return its vectors of the graph that it was trained on."""
        self.encoder_ = encoder
        return warn_if_collapsed(self._encode(tensors))

    def _transform(self, graph: Graph) -> FloatArray:
        return self._encode(self._to_tensors(graph, self.settings_))

    def _to_tensors(self, graph: Graph, settings: Mapping[str, Any]) -> GraphTensors:
        """Return the input of the encoder; ``settings`` are those that it is or was trained with."""
        return GraphTensors.of(graph, normalize=settings.get("normalize", "rows"))

    @torch.no_grad()
    def _encode(self, tensors: GraphTensors) -> FloatArray:
        return to_vectors(self._compute_vectors(tensors))

    def _compute_vectors(self, tensors: GraphTensors) -> Tensor:
        """Return the vectors, (num_nodes, n_components)."""
        vectors: Tensor = self.encoder_(tensors.features, tensors.edges)
        return vectors
