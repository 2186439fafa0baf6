"""MVGRL: diffusion, subgraphs and the loss."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import MinMaxScaler

from graphprox import Graph, synthetic
from graphprox.methods import mvgrl
from graphprox.methods.mvgrl import MVGRL, GraphViews, MVGRLModel, diffuse
from graphprox.nn.convolution import in_neighbor_matrix
from graphprox.nn.encoders.gcn import GCNConv


@pytest.fixture(scope="module")
def graph() -> Graph:
    return synthetic(nodes=140)


def ring(nodes: int, *, directed: bool = False, isolated: int = 0, seed: int = 0) -> Graph:
    x = np.random.default_rng(seed).random((nodes + isolated, 5), np.float32)
    chord = [[0, 0], [nodes // 2, nodes // 3]]
    return Graph(x, np.concatenate([[range(nodes), [*range(1, nodes), 0]], chord], axis=1), directed=directed)


def make_views(graph: Graph, *, threshold: float = 1e-4, scale_diffusion: bool = False) -> GraphViews:
    return GraphViews.of(graph, alpha=0.2, threshold=threshold, scale_diffusion=scale_diffusion)


# -- diffusion ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("alpha", [0.05, 0.2, 1.0])
def test_diffusion_equals_the_matrix_inverse(directed: bool, alpha: float, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = ring(30, directed=directed, isolated=2)
    matrix = GCNConv.propagation_matrix(in_neighbor_matrix(graph.edge_index, None, 32))
    exact = alpha * np.linalg.inv(np.eye(32) - (1 - alpha) * matrix.toarray())
    monkeypatch.setattr(mvgrl, "MAX_DENSE_ENTRIES", 32 * 5)  # several blocks, the last one smaller
    assert np.allclose(diffuse(matrix, alpha, threshold=1e-6).toarray(), exact, atol=2e-6)
    sparse = diffuse(matrix, alpha, threshold=1e-2).toarray()
    is_clear = np.abs(exact - 1e-2) > 1e-3  # entries next to the threshold may be kept or dropped
    assert np.allclose(sparse[is_clear], np.where(exact < 1e-2, 0, exact)[is_clear], atol=1e-3)
    assert sparse[sparse > 0].min() >= 1e-2


def test_scaled_diffusion_has_a_column_maximum_of_one(graph: Graph) -> None:
    plain, scaled = (make_views(graph, threshold=0.05, scale_diffusion=each).matrices[1] for each in (False, True))
    np.testing.assert_allclose(scaled.toarray(), MinMaxScaler().fit_transform(plain.toarray()), rtol=1e-6)
    assert plain.max() < 1
    empty = make_views(graph, threshold=1.0, scale_diffusion=True).matrices[1]
    assert empty.nnz == 0


def test_transform_diffuses_as_fit_did(graph: Graph) -> None:
    embedder = MVGRL(n_components=4, epochs=1, alpha=0.8, threshold=0.05, scale_diffusion=True).fit(graph)
    embedder.set_params(alpha=0.1, threshold=1e-4, scale_diffusion=False)
    assert np.array_equal(embedder.transform(graph), embedder.vectors_)


@pytest.mark.filterwarnings("ignore::graphprox.CollapsedEmbeddingWarning")  # all nodes are equivalent
@pytest.mark.parametrize("nodes", [2, 4])
def test_complete_graph_can_be_embedded(nodes: int) -> None:
    complete = Graph(np.eye(nodes), np.stack(np.nonzero(np.ones((nodes, nodes)))))
    assert np.isfinite(MVGRL(n_components=8, epochs=3).fit_transform(complete)).all()


# -- subgraphs ------------------------------------------------------------------------------------------------------


def test_subgraphs_depend_on_the_random_state_alone(graph: Graph) -> None:
    first, again, other = (
        MVGRL(n_components=8, epochs=3, subgraph_size=60, num_subgraphs=2, random_state=seed).fit_transform(graph)
        for seed in (3, 3, 4)
    )
    assert first.tobytes() == again.tobytes()
    assert not np.allclose(first, other)


def test_small_graph_is_trained_on_as_a_whole() -> None:
    graph = ring(20)
    one, seven, smaller = (
        MVGRL(n_components=4, epochs=3, num_subgraphs=count, subgraph_size=size).fit_transform(graph)
        for count, size in ((1, 20), (7, 20), (1, 19))
    )
    assert one.tobytes() == seven.tobytes()
    assert not np.allclose(one, smaller)


def test_batch_has_the_rows_and_blocks_of_its_subgraphs() -> None:
    graph = ring(20)
    views = make_views(graph)
    subgraphs = [np.array([3, 0, 7]), np.array([7, 19, 4])]
    batch = views.batch(subgraphs)
    for matrix, edges in zip(views.matrices, batch.edges, strict=True):
        dense = edges.pattern.matmul(edges.values, torch.eye(6)).numpy()
        expected = np.zeros((6, 6))
        for place, nodes in enumerate(subgraphs):
            block = slice(3 * place, 3 * place + 3)
            expected[block, block] = matrix.toarray()[np.ix_(nodes, nodes)]
        assert np.allclose(dense, expected)
    rows = batch.features.matmul(torch.eye(5))[batch.row].numpy()
    x = np.asarray(graph.x)[np.concatenate(subgraphs)]
    assert np.allclose(rows, x / x.sum(1, keepdims=True), atol=1e-6)


# -- the loss -------------------------------------------------------------------------------------------------------


def test_loss_equals_an_explicit_loop() -> None:
    graph, size = ring(12, directed=True), 5
    views = make_views(graph, threshold=1e-6)
    model = MVGRLModel(5, 4, torch.Generator().manual_seed(0))
    with torch.no_grad():
        for each in model.parameters():
            each.add_(torch.rand(each.shape, generator=torch.Generator().manual_seed(1)))
    subgraphs = [np.array([3, 0, 7, 11, 2]), np.array([7, 1, 4, 5, 8])]
    loss = model.compute_loss(views.batch(subgraphs), torch.Generator().manual_seed(2)).item()
    order = torch.randperm(size, generator=torch.Generator().manual_seed(2)).numpy()

    weight, bias = model.weight.detach().numpy(), model.bias.item()
    x = np.asarray(graph.x, np.float64)
    x /= x.sum(1, keepdims=True)
    matrices = [matrix.toarray() for matrix in views.matrices]

    def encode(view: int, nodes: np.ndarray, rows: np.ndarray) -> np.ndarray:
        convolution, activation = model.convolutions[view], model.activations[view]
        h = matrices[view][np.ix_(nodes, nodes)] @ rows @ convolution.weight.detach().numpy()
        h += convolution.bias.detach().numpy()
        return np.where(h > 0, h, h * activation.slope.detach().numpy())

    losses = []
    for nodes in subgraphs:
        true = [encode(view, nodes, x[nodes]) for view in (0, 1)]
        shuffled = [encode(view, nodes, x[nodes][order]) for view in (0, 1)]
        for view in (0, 1):
            summary = 1 / (1 + np.exp(-true[view].mean(0)))
            for node in range(size):
                losses.append(math.log(1 + math.exp(-(true[1 - view][node] @ weight @ summary + bias))))
                losses.append(math.log(1 + math.exp(shuffled[1 - view][node] @ weight @ summary + bias)))
    assert loss == pytest.approx(np.mean(losses), rel=1e-4)


def test_scores_equal_those_of_torch_bilinear() -> None:
    generator = torch.Generator().manual_seed(0)
    model, reference = MVGRLModel(5, 4, generator), torch.nn.Bilinear(4, 4, 1)
    with torch.no_grad():
        model.bias.fill_(0.7)
        reference.weight.copy_(model.weight[None])
        reference.bias.fill_(0.7)
    h, summaries = torch.rand(6, 4, generator=generator), torch.rand(2, 4, generator=generator)
    expected = reference(h, summaries.repeat_interleave(3, 0)).ravel()
    assert torch.allclose(model.score(h, summaries), expected, atol=1e-6)


# -- training -------------------------------------------------------------------------------------------------------


def test_classes_can_be_predicted_from_the_embedding(graph: Graph) -> None:
    vectors = MVGRL(n_components=32, epochs=30).fit_transform(graph)
    accuracy = cross_val_score(LogisticRegression(C=1e4, max_iter=500), vectors, graph.y, cv=3).mean()
    assert accuracy > 0.35  # seven classes
