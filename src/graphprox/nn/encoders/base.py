"""Base classes of encoders, their options and their registry.

An encoder is one file with a class that is registered by :func:`register_encoder`. Most are a stack of one convolution
and derive from :class:`ConvolutionEncoder`; others derive from :class:`Encoder`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Annotated, ClassVar, Literal, TypeVar, cast

import scipy.sparse as sp
import torch
from pydantic import Field, StrictBool, model_validator
from torch import Generator, Tensor, nn

from graphprox._utils.arrays import FloatArray, IntArray
from graphprox._utils.options_model import Options, PositiveInt, Text
from graphprox._utils.registry import Registry
from graphprox.errors import ParameterError
from graphprox.nn._naming import derive_named_options
from graphprox.nn.activation import ACTIVATIONS, ActivationName
from graphprox.nn.convolution import Convolution, Edges, glorot, in_neighbor_matrix
from graphprox.nn.features import FeatureMatrix
from graphprox.nn.part import WHOLE, Part
from graphprox.nn.propagated_features import PropagatedFeatures


class EncoderOptions(Options):
    """Options of all encoders; an encoder with further options declares a subclass.

    Parameters
    ----------
    name : str
        Name under which the encoder is registered. Each encoder has its own as the default.
    n_components : int, default=512
        Number of channels of the last layer.
    hidden_channels : int, optional
        Number of channels of the other layers, by default ``n_components``.
    num_layers : int, default=2
        Number of layers.
    activation : {"relu", "elu", "prelu", "none"}, default="prelu"
        Activation after each layer.
    residual : bool, default=False
        Whether the input of a layer is added to its output, from the second layer on.
    jumping : {"last", "concat", "max"}, default="last"
        How the outputs of the layers are combined: only the last one, all concatenated, or the maximum per channel.
        Concatenated, the embedding has the channels of all layers, more than ``n_components`` if there are several.

    Examples
    --------
    >>> EncoderOptions(n_components=-5)
    Traceback (most recent call last):
    graphprox.errors.ParameterError: encoder.n_components must be a positive integer; got -5
    """

    prefix: ClassVar[str] = "encoder."

    name: Text = ""
    n_components: PositiveInt = 512
    hidden_channels: Annotated[PositiveInt | None, Field(description="a positive integer")] = None
    num_layers: PositiveInt = 2
    activation: ActivationName = "prelu"
    residual: StrictBool = False
    jumping: Literal["last", "concat", "max"] = "last"

    @model_validator(mode="after")
    def _check_jumping(self) -> EncoderOptions:
        hidden = self.hidden_channels or self.n_components
        if self.jumping == "max" and hidden != self.n_components:
            raise ParameterError(
                f"encoder.hidden_channels must equal encoder.n_components, which is {self.n_components}, for "
                f"encoder.jumping = 'max'; got {hidden}"
            )
        return self


class Encoder(nn.Module, ABC):
    """Model that maps the features and the edges of a graph to an embedding.

    It works in two halves: :meth:`project` uses the features alone and is shared by a graph and its views;
    :meth:`forward` continues along the edges of one of them. Subclasses implement both, and initialize all parameters
    from ``generator``.

    Parameters
    ----------
    in_channels : int
        Number of features of a node.
    options : EncoderOptions
        Options, of the type :attr:`Options` of the class.
    weighted : bool, default=False
        Whether edges have weights. Encoders may ignore it.
    generator : torch.Generator
        Source of the initial weights.

    Attributes
    ----------
    n_components : int
        Number of channels of the embedding.
    completes_rows : bool
        Whether it reads rows of other nodes from ``edges.matmul`` and ``edges.complete`` alone, so that a graph can be
        divided among processes.
    """

    Options: ClassVar[type[EncoderOptions]] = EncoderOptions
    completes_rows: ClassVar[bool] = False
    n_components: int

    def __init__(
        self,
        in_channels: int,
        options: EncoderOptions,
        *,
        weighted: bool = False,  # noqa: ARG002
        generator: Generator,  # noqa: ARG002
    ) -> None:
        super().__init__()
        self.in_channels = in_channels
        self.options = options
        self.n_components = options.n_components

    def prepare_edges(
        self,
        edge_index: IntArray,
        edge_weight: FloatArray | None,
        *,
        num_nodes: int,
        device: torch.device | str = "cpu",
    ) -> Edges:
        """Prepare edges for :meth:`forward`; they can be used any number of times.

        Parameters
        ----------
        edge_index : ndarray of shape (2, num_edges)
            Source and target of each edge.
        edge_weight : ndarray of shape (num_edges,) or None
            Weights; None means ones.
        num_nodes : int
        device : device or str, default="cpu"

        Returns
        -------
        Edges
        """
        return self.prepare_neighbors(in_neighbor_matrix(edge_index, edge_weight, num_nodes), device)

    def prepare_neighbors(
        self, neighbors: sp.csr_array, device: torch.device | str = "cpu", part: Part = WHOLE
    ) -> Edges:
        """Prepare edges that are given as a matrix.

        Parameters
        ----------
        neighbors : csr_array of shape (num_nodes, num_nodes)
            In-neighbors of each node. Of a part, its shape is (num_rows, num_completed).
        device : device or str, default="cpu"
        part : Part, default=WHOLE
            The nodes that rows stand for.

        Returns
        -------
        Edges
            By default the weights as they are. Subclasses may normalize them or add self-loops.
        """
        return Edges.of(neighbors, device, part)

    def propagation_matrix(self, neighbors: sp.csr_array) -> sp.csr_array:
        """Return the matrix of which :meth:`prepare_edges` prepares the entries.

        Parameters
        ----------
        neighbors : csr_array of shape (num_nodes, num_nodes)
            In-neighbors of each node.

        Returns
        -------
        csr_array of shape (num_nodes, num_nodes)
            By default the neighbors as they are.
        """
        return neighbors

    @classmethod
    def feature_diffusion(cls, options: EncoderOptions) -> tuple[float, ...] | None:  # noqa: ARG003
        """Return the coefficients of a diffusion of the features, if no other part of the encoder needs edges.

        A row of the embedding then follows from the same row of the diffused features by :meth:`encode_propagated`, so
        that any rows can be encoded without the others.

        Parameters
        ----------
        options : EncoderOptions

        Returns
        -------
        tuple of float or None
            ``(1.0,)`` for an encoder without edges; None, the default, for one whose layers alternate with propagation.

        Examples
        --------
        >>> mlp, gcn = ENCODERS["mlp"], ENCODERS["gcn"]
        >>> mlp.feature_diffusion(mlp.Options()), gcn.feature_diffusion(gcn.Options())
        ((1.0,), None)
        """
        return None

    @abstractmethod
    def project(self, features: FeatureMatrix, kept: Tensor | None = None) -> Tensor:
        """Return the part of the computation that does not depend on edges.

        Parameters
        ----------
        features : FeatureMatrix of shape (num_nodes, in_channels)
        kept : Tensor of shape (in_channels,), optional
            1 for features to use and 0 for features to mask; by default all are used.

        Returns
        -------
        Tensor of shape (num_nodes, any)
        """

    @abstractmethod
    def forward(self, projected: Tensor, edges: Edges) -> Tensor:
        """Return the embedding.

        Parameters
        ----------
        projected : Tensor
            Output of :meth:`project`. It must not be modified: several views share it.
        edges : Edges
            Output of :meth:`prepare_edges`.

        Returns
        -------
        Tensor of shape (num_nodes, n_components)
        """

    def propagate_features(
        self,
        features: FeatureMatrix,  # noqa: ARG002
        edges: Edges,  # noqa: ARG002
        *,
        uses: float,  # noqa: ARG002
        sharing: int = 1,  # noqa: ARG002
    ) -> PropagatedFeatures | None:
        """Propagate the features once for all epochs, if the encoder allows it and it is cheaper.

        Parameters
        ----------
        features : FeatureMatrix of shape (num_nodes, in_channels)
        edges : Edges
            Output of :meth:`prepare_edges`.
        uses : float
            Number of epochs for which they are used.
        sharing : int, default=1
            Number of sources that share the output of :meth:`project` in an epoch.

        Returns
        -------
        PropagatedFeatures or None
            Input of :meth:`encode_propagated`. None, the default, if the encoder must propagate in every epoch, or if
            that is cheaper.
        """
        return None

    def encode_propagated(self, propagated: PropagatedFeatures, kept: Tensor | None = None) -> Tensor:
        """Return the embedding from propagated features: that of :meth:`project` and :meth:`forward`, up to rounding.

        Parameters
        ----------
        propagated : PropagatedFeatures
            Output of :meth:`propagate_features`, or some of its rows.
        kept : Tensor of shape (in_channels,), optional
            1 for features to use and 0 for features to mask; by default all are used.

        Returns
        -------
        Tensor of shape (num_nodes, n_components)
        """
        raise NotImplementedError(f"{type(self).__name__} propagates no features in advance")


EncoderClass = TypeVar("EncoderClass", bound=type[Encoder])

ENCODERS: Registry[type[Encoder]] = Registry("encoder", package="graphprox.nn.encoders", group="graphprox.encoders")


def register_encoder(name: str) -> Callable[[EncoderClass], EncoderClass]:
    """Register an encoder class under a name.

    Parameters
    ----------
    name : str
        Name in recipes and on the command line. If ``name`` is not the default of that field of the class's
        ``Options``, they are replaced by a subclass with that default.

    Returns
    -------
    callable
        Class decorator.

    Examples
    --------
    >>> ENCODERS["gcn"].Options().name
    'gcn'
    """

    def register(encoder: EncoderClass) -> EncoderClass:
        ENCODERS.add(name, encoder)
        encoder.Options = derive_named_options(encoder.Options, name, owner=encoder)
        return encoder

    return register


class ConvolutionEncoder(Encoder):
    """Stack of convolutions of one kind, each followed by the activation.

    Subclasses set :attr:`convolution`, or override :meth:`make_convolution`.

    Parameters
    ----------
    in_channels : int
        Number of features of a node.
    options : EncoderOptions
    weighted : bool, default=False
        Whether edges have weights.
    generator : torch.Generator
        Source of the initial weights.

    Attributes
    ----------
    n_components : int
        Number of channels of the embedding: of the last layer, or of all layers for ``jumping="concat"``.

    Examples
    --------
    >>> import numpy as np
    >>> from graphprox.nn.encoders.sage import SAGEEncoder, SAGEOptions
    >>> encoder = SAGEEncoder(4, SAGEOptions(n_components=8), generator=torch.Generator().manual_seed(0))
    >>> features = FeatureMatrix.of(np.ones((3, 4), np.float32))
    >>> edges = encoder.prepare_edges(np.array([[0, 1], [1, 2]]), None, num_nodes=3)
    >>> encoder(encoder.project(features), edges).shape
    torch.Size([3, 8])
    """

    convolution: ClassVar[type[Convolution]]

    def __init__(
        self, in_channels: int, options: EncoderOptions, *, weighted: bool = False, generator: Generator
    ) -> None:
        super().__init__(in_channels, options, weighted=weighted, generator=generator)
        hidden = options.hidden_channels or options.n_components
        outputs = [*[hidden] * (options.num_layers - 1), options.n_components]
        if options.jumping == "concat":
            self.n_components = sum(outputs)
        self.convolutions = nn.ModuleList(
            self.make_convolution(*ends, weighted=weighted, generator=generator)
            for ends in pairwise([in_channels, *outputs])
        )
        self.activations = nn.ModuleList(ACTIVATIONS[options.activation](channels) for channels in outputs)
        self.shortcuts = nn.ModuleList(
            Shortcut(*ends, generator=generator) for ends in pairwise(outputs) if options.residual
        )

    def make_convolution(
        self,
        in_channels: int,
        out_channels: int,
        *,
        weighted: bool,  # noqa: ARG002
        generator: Generator,
    ) -> Convolution:
        """Create one layer.

        Parameters
        ----------
        in_channels : int
        out_channels : int
        weighted : bool
            Whether edges have weights.
        generator : torch.Generator
            Source of the initial weights.

        Returns
        -------
        Convolution
        """
        return self.convolution(in_channels, out_channels, generator=generator)

    def prepare_neighbors(
        self, neighbors: sp.csr_array, device: torch.device | str = "cpu", part: Part = WHOLE
    ) -> Edges:
        """Prepare edges for the convolution; see :meth:`Encoder.prepare_neighbors`."""
        return self._first.prepare_edges(neighbors, device, part)

    def propagation_matrix(self, neighbors: sp.csr_array) -> sp.csr_array:
        """Return the matrix along which the convolution propagates; see :meth:`Encoder.propagation_matrix`."""
        return self._first.propagation_matrix(neighbors)

    def project(self, features: FeatureMatrix, kept: Tensor | None = None) -> Tensor:
        """Return the projection of the first layer; see :meth:`Encoder.project`."""
        if kept is None:
            return self._first.project(features.matmul)
        # Masking columns of X equals masking rows of the weight, which is smaller and never sparse.
        return self._first.project(lambda weight: features.matmul(weight * kept[:, None]))

    def forward(self, projected: Tensor, edges: Edges) -> Tensor:
        """Return the embedding, of shape (num_nodes, n_components); see :meth:`Encoder.forward`."""
        outputs: list[Tensor] = []
        convolutions = cast("Iterable[Convolution]", self.convolutions)
        for layer, (convolution, activation) in enumerate(zip(convolutions, self.activations, strict=True)):
            previous = outputs[-1] if outputs else None
            h = convolution.propagate(projected if previous is None else convolution.project(previous.mm), edges)
            if self.options.residual and previous is not None:
                h = h + self.shortcuts[layer - 1](previous)
            outputs.append(activation(h))
        if self.options.jumping == "last":
            return outputs[-1]
        return torch.cat(outputs, 1) if self.options.jumping == "concat" else torch.stack(outputs).amax(0)

    @property
    def _first(self) -> Convolution:
        return cast("Convolution", self.convolutions[0])


class Shortcut(nn.Module):
    """Residual connection: the identity, or a linear map where the numbers of channels differ.

    Parameters
    ----------
    in_channels : int
    out_channels : int
    generator : torch.Generator
        Source of the initial weights.
    """

    def __init__(self, in_channels: int, out_channels: int, *, generator: Generator) -> None:
        super().__init__()
        is_identity = in_channels == out_channels
        self.weight = None if is_identity else glorot(in_channels, out_channels, generator=generator)

    def forward(self, h: Tensor) -> Tensor:
        """Map ``h`` of shape (num_nodes, in_channels) to (num_nodes, out_channels)."""
        return h if self.weight is None else h @ self.weight
