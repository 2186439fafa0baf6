"""GMI: losses, products at the entries of a pattern, and negative samples."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from graphprox import Graph, synthetic
from graphprox.methods._neural import GraphTensors
from graphprox.methods.gmi import GMI, GMIMean, GMIModel, NeighborPairs, pattern_products
from graphprox.nn.sparse import SparsePattern


def ring(nodes: int, *, directed: bool = False, isolated: int = 0, seed: int = 0) -> Graph:
    x = np.random.default_rng(seed).random((nodes + isolated, 5), np.float32)
    chord = [[0, 0], [nodes // 2, nodes // 3]]
    return Graph(x, np.concatenate([[range(nodes), [*range(1, nodes), 0]], chord], axis=1), directed=directed)


def test_gmi_mean_equals_gmi_with_mean_weighting() -> None:
    graph = synthetic(nodes=140)
    mean = GMI(n_components=8, epochs=3, neighbor_weighting="mean").fit_transform(graph)
    assert mean.tobytes() == GMIMean(n_components=8, epochs=3).fit_transform(graph).tobytes()
    assert not np.allclose(mean, GMI(n_components=8, epochs=3).fit_transform(graph))
    assert GMIMean.from_preset("CiteSeer").num_layers == 1


@pytest.mark.parametrize("method", [GMI, GMIMean])
def test_classes_can_be_predicted_from_the_embedding(method: type[GMI]) -> None:
    graph = synthetic(nodes=140)
    vectors = method(n_components=32, epochs=30).fit_transform(graph)
    accuracy = cross_val_score(LogisticRegression(C=1e4, max_iter=500), vectors, graph.y, cv=3).mean()
    assert accuracy > 0.35  # seven classes


@pytest.mark.filterwarnings("ignore::graphprox.CollapsedEmbeddingWarning")  # all nodes are equivalent
@pytest.mark.parametrize("nodes", [2, 4])
@pytest.mark.parametrize("method", [GMI, GMIMean])
def test_complete_graph_can_be_embedded(method: type[GMI], nodes: int) -> None:
    complete = Graph(np.eye(nodes), np.stack(np.nonzero(np.ones((nodes, nodes)))))
    assert np.isfinite(method(n_components=8, epochs=3).fit_transform(complete)).all()


@pytest.mark.parametrize("weighting", ["adaptive", "mean"])
@pytest.mark.parametrize("directed", [False, True])
def test_losses_equal_an_explicit_loop(weighting: str, directed: bool) -> None:
    nodes = 10
    graph = ring(9, directed=directed, isolated=1)
    tensors, neighbors = GraphTensors.of(graph), NeighborPairs.of(graph)
    model = GMIModel(5, [6, 4], torch.Generator().manual_seed(0))
    with torch.no_grad():
        model.weight.mul_(3)
    negatives = neighbors.sample_negatives(3, torch.Generator().manual_seed(1))
    losses = [loss.item() for loss in model.compute_losses(tensors, neighbors, negatives, weighting)]

    h = model.encoder(tensors.features, tensors.edges).detach().double().numpy()
    x = np.asarray(graph.x, np.float64)
    x /= x.sum(1, keepdims=True)
    form = model.weight.detach().double().numpy()
    sources, targets = graph.edge_index

    def sigmoid(value: float) -> float:
        return 1 / (1 + math.exp(-value))

    def softplus(value: float) -> float:
        return math.log(1 + math.exp(value))

    def score(node: int, other: int) -> float:
        return float(x[other] @ form @ h[node])

    others = negatives.pattern.columns[negatives.place].tolist()
    own = near = 0.0
    edges, non_edges = [softplus(-(h[node] @ h[node])) for node in range(nodes)], []
    for node in range(nodes):
        assert node not in others[node]
        negative = sum(softplus(score(node, other)) for other in others[node]) / 3
        own += softplus(-score(node, node)) + negative
        around = sources[targets == node]
        for other in around:
            weight = sigmoid(h[node] @ h[other]) if weighting == "adaptive" else 1 / len(around)
            near += weight * (softplus(-score(node, other)) + negative)
            edges.append(softplus(-(h[node] @ h[other])))
        non_edges += [softplus(h[node] @ h[other]) for other in others[node] if other not in around]
    expected = [own / nodes, near / nodes, 2 * np.mean(edges) + np.mean(non_edges)]
    assert losses == pytest.approx(expected, rel=1e-4)


def test_pattern_products_have_the_gradients_of_a_gather() -> None:
    rng = np.random.default_rng(0)
    matrix = sp.csr_array(sp.random_array((7, 7), density=0.4, rng=0))
    pattern = SparsePattern.of(matrix)
    left, right = (torch.tensor(rng.random((7, 3), np.float32), requires_grad=True) for _ in range(2))
    weights = torch.tensor(rng.random(matrix.nnz, np.float32))
    found = pattern_products(pattern, left, right)
    expected = (left[pattern.rows] * right[pattern.columns]).sum(1)
    assert torch.allclose(found, expected, atol=1e-6)
    for ours, theirs in zip(
        torch.autograd.grad((found * weights).sum(), (left, right)),
        torch.autograd.grad((expected * weights).sum(), (left, right)),
        strict=True,
    ):
        assert torch.allclose(ours, theirs, atol=1e-6)
    ours = torch.autograd.grad((pattern_products(pattern, left, left) * weights).sum(), left)[0]
    theirs = torch.autograd.grad(((left[pattern.rows] * left[pattern.columns]).sum(1) * weights).sum(), left)[0]
    assert torch.allclose(ours, theirs, atol=1e-6)


def test_negatives_are_sampled_uniformly_from_other_nodes() -> None:
    neighbors = NeighborPairs.of(ring(8))
    counts = np.zeros((8, 8))
    generator = torch.Generator().manual_seed(0)
    for _ in range(300):
        negatives = neighbors.sample_negatives(4, generator)
        assert (negatives.pattern.rows[negatives.place] == torch.arange(8)[:, None]).all()
        np.add.at(counts, (np.arange(8)[:, None], negatives.pattern.columns[negatives.place].numpy()), 1)
    assert (np.diag(counts) == 0).all()
    others = counts[~np.eye(8, dtype=bool)]
    assert others.min() > 0.7 * others.mean()
