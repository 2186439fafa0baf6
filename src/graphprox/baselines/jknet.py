"""JK-Net: layers of GCN whose outputs all reach the classifier, so that each node has the range that suits it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from graphprox.arrays import IntArray
from graphprox.baselines.base import About, ClassifyingBaseline, setting
from graphprox.baselines.neural import Tensors, seeded
from graphprox.baselines.supervised import Lesson, after_dropout, features_of, learn
from graphprox.graph import Graph
from graphprox.nn.convolutions import CONVOLUTIONS, Convolution, Edges, in_neighbours
from graphprox.proximity.descriptors import Progress
from graphprox.splits import NodeSplit


@dataclass(frozen=True)
class JKNet(ClassifyingBaseline):
    """Layers of convolutions, all joined before the last step, trained by the cross-entropy of training nodes.

    ``kind`` is that of the layers: GCN's, or GraphSAGE's, which keep a node's own features apart from its neighbours'.
    ``jump`` says how the layers are joined: side by side (``cat``), the largest of each channel (``max``), or by an
    attention that an LSTM computes for each node (``lstm``).

    >>> from graphprox import random_split, synthetic
    >>> graph = synthetic(nodes=140)
    >>> JKNet(epochs=2).predict(graph, random_split(graph, seed=0), seed=0).shape
    (140,)
    """

    about = About(
        title="JK-Net",
        group="semi-supervised",
        uses="AXY",
        paper="Xu et al., Representation Learning on Graphs with Jumping Knowledge Networks, ICML 2018",
        summary="layers of GCN that are all joined before the classifier, trained on labelled nodes",
    )
    # Where neighbours are of other classes, validation nodes ask for layers that keep the node itself apart.
    # The usual decay keeps a layer from learning thousands of features, by validation nodes too: graphprox tune
    # BlogCatalog --method jk-net --over weight_decay=5e-4,5e-5,5e-6 --splits 1.
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "CoauthorCS": {"weight_decay": 5e-5},
        "BlogCatalog": {"weight_decay": 5e-6},
        **{name: {"kind": "sage"} for name in ("Texas", "Cornell", "Cornell-2021", "Wisconsin", "Actor")},
    }

    kind: str = setting("gcn", among=("gcn", "sage"))
    width: int = setting(32, least=1)
    layers: int = setting(2, least=1)
    jump: str = setting("cat", among=("cat", "max", "lstm"))
    epochs: int = setting(500, least=1)
    patience: int = setting(100, least=1)
    learning_rate: float = setting(5e-3, least=0)
    weight_decay: float = setting(5e-4, least=0)
    dropout: float = setting(0.5, least=0, most=0.99)

    def predict(self, graph: Graph, split: NodeSplit, seed: int, *, progress: Progress | None = None) -> IntArray:
        """Train until the validation nodes say stop, and classify."""
        lesson = Lesson.of(graph, split)
        with seeded(seed) as rng:
            tensors = Tensors(features_of(lesson.graph), _edges(lesson.graph, self.kind))
            network = _Network(self, tensors.features.shape[1], lesson.num_classes, rng)
            learned = learn(
                network,
                lambda: network(tensors),
                lesson,
                epochs=self.epochs,
                patience=self.patience,
                learning_rate=self.learning_rate,
                decays=[(network.parameters(), self.weight_decay)],
                progress=progress,
            )
        return lesson.classes_of(learned.scores)


def _edges(graph: Graph, kind: str) -> Edges:
    return CONVOLUTIONS[kind].edges(in_neighbours(graph.edge_index, graph.edge_weight, graph.num_nodes))


class _Network(nn.Module):
    """From features to scores, (nodes, classes)."""

    def __init__(self, settings: JKNet, features: int, classes: int, rng: torch.Generator) -> None:
        from torch_geometric.nn import JumpingKnowledge

        super().__init__()
        width, layers = settings.width, settings.layers
        convolution = CONVOLUTIONS[settings.kind]
        self.first = convolution(features, width, rng=rng)
        self.others = nn.ModuleList(convolution(width, width, rng=rng) for _ in range(layers - 1))
        self.jump = JumpingKnowledge(settings.jump, width, layers)
        self.last = nn.Linear(width * layers if settings.jump == "cat" else width, classes)
        self.dropout = settings.dropout

    def forward(self, tensors: Tensors) -> Tensor:
        times = after_dropout(tensors.features, self.dropout, training=self.training)
        outputs = [self.first.propagate(self.first.project(times), tensors.edges).relu()]
        for convolution in cast("Iterable[Convolution]", self.others):
            hidden = functional.dropout(outputs[-1], self.dropout, self.training)
            outputs.append(convolution.propagate(convolution.project(hidden.mm), tensors.edges).relu())
        joined = functional.dropout(self.jump(outputs), self.dropout, self.training)
        scores: Tensor = self.last(joined)
        return scores
