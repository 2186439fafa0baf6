"""GraphMAE: features of some nodes are hidden, and to be told from what an encoder makes of the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional

from graphprox.arrays import FloatArray
from graphprox.baselines.augment import minimise_along, warm_cosine
from graphprox.baselines.base import About, EmbeddingBaseline, setting
from graphprox.baselines.neural import as_embedding, seeded
from graphprox.errors import ParameterError
from graphprox.graph import Graph
from graphprox.nn.convolutions import GAT, NEGATIVE_SLOPE, Edges, attention_scorer, in_neighbours
from graphprox.nn.features import FeatureMatrix
from graphprox.nn.sparse import attend, product
from graphprox.proximity.descriptors import Progress

NO_LENGTH = 1e-20  # a vector of a smaller square has no direction


@dataclass(frozen=True)
class GraphMAE(EmbeddingBaseline):
    """Two layers of GAT, from whose output another one is to tell the features that the first two did not see.

    >>> from graphprox import synthetic
    >>> GraphMAE(width=8, epochs=2).embed(synthetic(nodes=140), seed=0).shape
    (140, 8)
    """

    about = About(
        title="GraphMAE",
        group="later peers",
        uses="AX",
        paper="Hou et al., GraphMAE: Self-Supervised Masked Graph Autoencoders, KDD 2022",
        summary="hides the features of some nodes, and tells them from the nodes around",
    )
    # Those of the authors, but for PubMed, where 1,000 epochs would take more than an hour. On graphs they have no
    # settings for, 200 epochs: on validation nodes of Cora and Texas more do hardly better.
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "Cora": {"epochs": 1500},
        "CiteSeer": {"heads": 2, "epochs": 300, "replace": 0.1, "sharpness": 1.0, "weight_decay": 2e-5},
        "PubMed": {"width": 1024, "epochs": 200, "mask": 0.75, "replace": 0.0, "weight_decay": 1e-5},
    }

    width: int = setting(512, least=1)
    heads: int = setting(4, least=1)
    epochs: int = setting(200, least=0)
    learning_rate: float = setting(1e-3, least=0)  # at the beginning; it falls to 0 along half a cosine
    weight_decay: float = setting(2e-4, least=0)
    mask: float = setting(0.5, least=0, most=1)  # the share of nodes whose features are hidden
    replace: float = setting(0.05, least=0, most=1)  # the share of those that get another node's features
    sharpness: float = setting(3.0, least=1)  # the power gamma of an error: above 1, small ones count for less
    dropout: float = setting(0.2, least=0, most=0.9)  # of what goes into each layer
    attention_dropout: float = setting(0.1, least=0, most=0.9)

    def __post_init__(self) -> None:
        """Refuse a width that heads cannot share."""
        super().__post_init__()
        if self.width % self.heads:
            raise ParameterError(f"width must be a multiple of heads; got {self.width} and {self.heads}")

    def embed(self, graph: Graph, seed: int, *, progress: Progress | None = None) -> FloatArray:
        """Train, and embed the graph with nothing hidden."""
        with seeded(seed) as rng:
            features = FeatureMatrix.of(graph.x, normalize="rows")
            edges = GAT.edges(in_neighbours(graph.edge_index, None, graph.num_nodes))
            dropouts = Dropouts(self.dropout, self.attention_dropout)
            encoder = Encoder(features.shape[1], self.width, heads=self.heads, dropouts=dropouts, rng=rng)
            decoder = Decoder(self.width, features.shape[1], dropouts=dropouts, rng=rng)

            def loss() -> Tensor:
                hidden = Hidden.draw(graph.num_nodes, self.mask, self.replace, rng)
                guess = decoder(encoder(features, edges, hidden), edges, hidden)
                return scaled_cosine_error(guess.cosines(features, hidden.nodes), self.sharpness)

            minimise_along(
                nn.ModuleList([encoder, decoder]),
                loss,
                lambda epoch: self.learning_rate * warm_cosine(epoch, self.epochs),
                epochs=self.epochs,
                weight_decay=self.weight_decay,
                decoupled=False,
                progress=progress,
            )
            with torch.no_grad():
                return as_embedding(encoder(features, edges))


class Dropouts(NamedTuple):
    """What share dropout takes of a layer's input, and what share of its attention."""

    inputs: float
    attention: float


class Hidden(NamedTuple):
    """Which nodes are hidden, (hidden nodes,), and whose features each node is seen with, (all nodes,).

    A node is seen with its own features, or with another node's, or, at -1, with the mask token.
    """

    nodes: Tensor
    seen: Tensor

    @classmethod
    def draw(cls, nodes: int, mask: float, replace: float, rng: Generator) -> Hidden:
        """Hide a share of the nodes, one at least; a share of these is seen with features of any node."""
        hidden = torch.randperm(nodes, generator=rng)[: max(1, int(mask * nodes))]
        seen = torch.arange(nodes)
        seen[hidden] = -1
        others = int(replace * len(hidden))
        seen[hidden[:others]] = torch.randperm(nodes, generator=rng)[:others]
        return cls(hidden, seen)


def _layer(inputs: int, outputs: int, *, heads: int, dropouts: Dropouts, rng: Generator) -> GAT:
    """A layer whose weights begin as its authors' do: the decay shrinks what begins small before it has learned."""
    layer = GAT(inputs, outputs, rng=rng, heads=heads, dropout=dropouts.attention)
    gain = nn.init.calculate_gain("relu")
    for drawn in (layer.weight, layer.source[None], layer.target[None]):
        nn.init.xavier_normal_(drawn.detach(), gain=gain, generator=rng)
    return layer


class Encoder(nn.Module):
    """Two layers of GAT; the first has a token, learned, for nodes whose features are hidden."""

    def __init__(self, features: int, width: int, *, heads: int, dropouts: Dropouts, rng: Generator) -> None:
        super().__init__()
        self.first, self.second = (
            _layer(ends, width, heads=heads, dropouts=dropouts, rng=rng) for ends in (features, width)
        )
        self.activations = nn.ModuleList([nn.PReLU(), nn.PReLU()])  # one slope for all channels
        self.token = nn.Parameter(torch.zeros(1, features))
        self.dropout = dropouts.inputs

    def forward(self, features: FeatureMatrix, edges: Edges, hidden: Hidden | None = None) -> Tensor:
        """(nodes, width)."""
        projected = self._times(features, self.first.weight)
        if hidden is not None:
            # Rows change places after the product, where there is nothing sparse left. Dropout spares the token, which
            # it does not in the authors' code; validation nodes of Cora are told as well either way.
            token = self.token @ self.first.weight
            projected = torch.where(hidden.seen[:, None] < 0, token, projected[hidden.seen])
        h = self.activations[0](self.first.propagate(projected, edges))
        h = functional.dropout(h, self.dropout, self.training)
        last: Tensor = self.activations[1](self.second.propagate(self.second.project(h.mm), edges))
        return last

    def _times(self, features: FeatureMatrix, weight: Tensor) -> Tensor:
        """Features, less those that dropout takes, times a weight."""
        if features.dense is not None:
            return functional.dropout(features.dense, self.dropout, self.training) @ weight
        assert features.pattern is not None  # noqa: S101 - one of the two is there
        assert features.values is not None  # noqa: S101
        return product(features.pattern, functional.dropout(features.values, self.dropout, self.training), weight)


class Decoder(nn.Module):
    """A linear map and a layer of GAT of one head, to as many columns as there are features.

    Its bias learns. In the authors' code it does not: nodes that no one tells of have a guess of length 0 at first,
    whose direction has a gradient of 1e12, and after such a step Adam leaves the bias near 0.006 for good. Held there
    it does no better on validation nodes of Cora.
    """

    def __init__(self, width: int, features: int, *, dropouts: Dropouts, rng: Generator) -> None:
        super().__init__()
        self.between = nn.Linear(width, width, bias=False)
        self.convolution = _layer(width, features, heads=1, dropouts=dropouts, rng=rng)
        self.dropout = dropouts.inputs

    def forward(self, h: Tensor, edges: Edges, hidden: Hidden) -> Guess:
        """What hidden nodes' features might be, told from the others: what the encoder made of them is hidden, too."""
        inputs = self.between(h).index_fill(0, hidden.nodes, 0.0)
        inputs = functional.dropout(inputs, self.dropout, self.training)
        # GAT's mean of projected rows is the projection of the rows' mean, which is narrower, and wanted of some alone.
        layer = self.convolution
        scorer = layer.weight @ attention_scorer(layer.source, layer.target)
        factors = layer.factors(edges.pattern)
        means = attend(edges.pattern, inputs, scorer, heads=1, slope=NEGATIVE_SLOPE, factors=factors)[hidden.nodes]
        return Guess(means, layer.weight, layer.bias)


class Guess(NamedTuple):
    """Guessed features, rows times weight plus bias; not multiplied out, for there may be thousands of columns."""

    rows: Tensor
    weight: Tensor
    bias: Tensor

    def cosines(self, features: FeatureMatrix, nodes: Tensor) -> Tensor:
        """The cosine of each row and the features of its node, (rows,); 0 where either is 0."""
        if features.dense is not None:
            truth = features.dense[nodes]
            guess = torch.addmm(self.bias, self.rows, self.weight)
            products, squares = (guess * truth).sum(1), (guess * guess).sum(1)
            return products * _inverse_length(squares) * _inverse_length((truth * truth).sum(1))
        # With a column of ones the bias is one more row of the weight. Of all products of guessed features, sums are
        # wanted alone, and those come from products of the weight's rows.
        rows = torch.cat([self.rows, self.rows.new_ones(len(self.rows), 1)], 1)
        weight = torch.cat([self.weight, self.bias[None]])
        products = (rows * features.times(weight.T.contiguous())[nodes]).sum(1)
        squares = ((rows @ (weight @ weight.T)) * rows).sum(1)
        return products * _inverse_length(squares) * _inverse_length(_row_squares(features)[nodes])


def scaled_cosine_error(cosines: Tensor, sharpness: float) -> Tensor:
    """The mean of (1 - cosine) to a power; by rounding, a cosine may be a little above 1."""
    return (1 - cosines).clamp_min(0).pow(sharpness).mean()


def _row_squares(features: FeatureMatrix) -> Tensor:
    assert features.pattern is not None  # noqa: S101 - it is sparse
    assert features.values is not None  # noqa: S101
    return features.pattern.row_sums(features.values**2)


def _inverse_length(squares: Tensor) -> Tensor:
    """1 / length; 0, with gradient 0, of what has none."""
    alive = squares > NO_LENGTH
    return torch.where(alive, squares, 1).rsqrt() * alive
