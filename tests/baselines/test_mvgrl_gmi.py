from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.preprocessing import MinMaxScaler

from graphprox import Graph, synthetic
from graphprox.baselines import mvgrl
from graphprox.baselines.gmi import GMI, GMIMean, Pairs, products
from graphprox.baselines.gmi import _Model as GMIModel
from graphprox.baselines.mvgrl import MVGRL, diffused
from graphprox.baselines.mvgrl import _Model as MVGRLModel
from graphprox.baselines.mvgrl import _Views as Views
from graphprox.baselines.neural import Tensors
from graphprox.errors import ParameterError
from graphprox.evaluation.probe import probe
from graphprox.nn.convolutions import GCN, in_neighbours
from graphprox.nn.sparse import Pattern
from graphprox.splits import random_split

SMALL = [MVGRL(width=8, epochs=3, part_size=60, parts=2), GMI(width=8, epochs=3), GMIMean(width=8, epochs=3)]


@pytest.fixture(scope="module")
def graph() -> Graph:
    return synthetic(nodes=140)


def ring(nodes: int, *, directed: bool = False, isolated: int = 0, seed: int = 0) -> Graph:
    x = np.random.default_rng(seed).random((nodes + isolated, 5), np.float32)
    chord = [[0, 0], [nodes // 2, nodes // 3]]
    return Graph(x, np.concatenate([[range(nodes), [*range(1, nodes), 0]], chord], axis=1), directed=directed)


# -- all of them ----------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::graphprox.SameVectorsWarning")  # they are all alike
@pytest.mark.parametrize("nodes", [2, 4])
def test_all_may_be_joined_to_all(nodes: int) -> None:
    complete = Graph(np.eye(nodes), np.stack(np.nonzero(np.ones((nodes, nodes)))))
    for method in SMALL:
        assert np.isfinite(method.embed(complete, seed=0)).all()


def test_columns_of_the_diffusion_may_be_scaled(graph: Graph) -> None:
    plain, scaled = (Views.of(graph, MVGRL(threshold=0.05, scaled=scaled)).matrices[1] for scaled in (False, True))
    theirs = MinMaxScaler().fit_transform(plain.toarray())
    np.testing.assert_allclose(scaled.toarray(), theirs, rtol=1e-6)
    assert plain.max() < 1
    empty = Views.of(graph, MVGRL(threshold=1.0, scaled=True)).matrices[1]  # nothing is so near
    assert empty.nnz == 0


def test_parts_are_drawn_by_the_seed(graph: Graph) -> None:
    in_parts = SMALL[0]
    first, again, other = (in_parts.embed(graph, seed=seed) for seed in (3, 3, 4))
    assert first.tobytes() == again.tobytes()
    assert not np.allclose(first, other)


def test_learns_more_than_chance(graph: Graph) -> None:
    split = random_split(graph, seed=0)
    for method in (MVGRL(width=32, epochs=30), GMI(width=32, epochs=30), GMIMean(width=32, epochs=30)):
        assert probe(method.embed(graph, seed=0), graph.y, split).accuracy > 0.35  # of seven classes


def test_refuses_settings_beyond_limits() -> None:
    with pytest.raises(ParameterError, match=r"teleport must be a number from 0\.01 to 1"):
        MVGRL(teleport=0.0)
    with pytest.raises(ParameterError, match="neighbours must be one of adaptive, mean"):
        GMI(neighbours="median")


def test_gmi_mean_is_gmi_with_another_default(graph: Graph) -> None:
    told = GMI(width=8, epochs=3, neighbours="mean").embed(graph, seed=0)
    assert told.tobytes() == GMIMean(width=8, epochs=3).embed(graph, seed=0).tobytes()
    assert not np.allclose(told, GMI(width=8, epochs=3).embed(graph, seed=0))
    assert GMIMean.with_settings("CiteSeer").layers == 1


# -- MVGRL against what it says -------------------------------------------------------------------------------------


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("teleport", [0.05, 0.2, 1.0])
def test_diffusion_is_the_inverse(directed: bool, teleport: float, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = ring(30, directed=directed, isolated=2)
    matrix = GCN.matrix(in_neighbours(graph.edge_index, None, 32))
    exact = teleport * np.linalg.inv(np.eye(32) - (1 - teleport) * matrix.toarray())
    monkeypatch.setattr(mvgrl, "NUMBERS_AT_ONCE", 32 * 5)  # several blocks, the last one smaller
    assert np.allclose(diffused(matrix, teleport, threshold=1e-6).toarray(), exact, atol=2e-6)
    few = diffused(matrix, teleport, threshold=1e-2).toarray()
    clear = np.abs(exact - 1e-2) > 1e-3  # what lies at the threshold may go either way
    assert np.allclose(few[clear], np.where(exact < 1e-2, 0, exact)[clear], atol=1e-3)
    assert few[few > 0].min() >= 1e-2


def test_parts_are_cut_from_the_whole() -> None:
    graph = ring(20)
    views = Views.of(graph, MVGRL())
    drawn = [np.array([3, 0, 7]), np.array([7, 19, 4])]
    batch = views.batch(drawn)
    for matrix, edges in zip(views.matrices, batch.edges, strict=True):
        dense, whole = _dense(edges.pattern, edges.values), matrix.toarray()
        expected = np.zeros((6, 6))
        for place, part in enumerate(drawn):
            expected[3 * place : 3 * place + 3, 3 * place : 3 * place + 3] = whole[np.ix_(part, part)]
        assert np.allclose(dense, expected)
    rows = batch.features.times(torch.eye(5))[batch.place].numpy()
    x = np.asarray(graph.x)[np.concatenate(drawn)]
    assert np.allclose(rows, x / x.sum(1, keepdims=True), atol=1e-6)


def test_mvgrl_loss_is_that_of_a_literal_loop() -> None:
    graph, width, size = ring(12, directed=True), 4, 5
    views = Views.of(graph, MVGRL(threshold=1e-6))
    model = MVGRLModel(5, width, torch.Generator().manual_seed(0))
    with torch.no_grad():
        for each in model.parameters():
            each.add_(torch.rand(each.shape, generator=torch.Generator().manual_seed(1)))
    drawn = [np.array([3, 0, 7, 11, 2]), np.array([7, 1, 4, 5, 8])]
    loss = model.loss(views.batch(drawn), torch.Generator().manual_seed(2)).item()
    order = torch.randperm(size, generator=torch.Generator().manual_seed(2)).numpy()

    form, offset = model.form.detach().numpy(), model.offset.item()
    x = np.asarray(graph.x, np.float64)
    x /= x.sum(1, keepdims=True)
    matrices = [matrix.toarray() for matrix in views.matrices]

    def encoded(view: int, part: np.ndarray, rows: np.ndarray) -> np.ndarray:
        weight, bias = (model.convolutions[view].get_parameter(name).detach().numpy() for name in ("weight", "bias"))
        h = matrices[view][np.ix_(part, part)] @ rows @ weight + bias
        return np.where(h > 0, h, h * model.activations[view].slope.detach().numpy())

    losses = []
    for part in drawn:
        true = [encoded(view, part, x[part]) for view in (0, 1)]
        shuffled = [encoded(view, part, x[part][order]) for view in (0, 1)]
        for view in (0, 1):
            summary = 1 / (1 + np.exp(-true[view].mean(0)))
            for node in range(size):
                losses.append(math.log(1 + math.exp(-(true[1 - view][node] @ form @ summary + offset))))
                losses.append(math.log(1 + math.exp(shuffled[1 - view][node] @ form @ summary + offset)))
    assert loss == pytest.approx(np.mean(losses), rel=1e-4)


def test_scores_are_those_of_torchs_bilinear_layer() -> None:
    rng = torch.Generator().manual_seed(0)
    model, reference = MVGRLModel(5, 4, rng), torch.nn.Bilinear(4, 4, 1)
    with torch.no_grad():
        model.offset.fill_(0.7)
        reference.weight.copy_(model.form[None])
        reference.bias.fill_(0.7)
    h, summaries = torch.rand(6, 4, generator=rng), torch.rand(2, 4, generator=rng)
    expected = reference(h, summaries.repeat_interleave(3, 0)).ravel()
    assert torch.allclose(model.scores(h, summaries), expected, atol=1e-6)


def test_a_small_graph_is_seen_whole() -> None:
    graph = ring(20)
    few, many = (MVGRL(width=4, epochs=3, parts=parts, part_size=20) for parts in (1, 7))
    assert few.embed(graph, 0).tobytes() == many.embed(graph, 0).tobytes()
    assert not np.allclose(few.embed(graph, 0), MVGRL(width=4, epochs=3, parts=1, part_size=19).embed(graph, 0))


# -- GMI against what it says ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("neighbours", ["adaptive", "mean"])
@pytest.mark.parametrize("directed", [False, True])
def test_gmi_terms_are_those_of_a_literal_loop(neighbours: str, directed: bool) -> None:
    nodes = 10
    graph = ring(9, directed=directed, isolated=1)
    tensors, pairs = Tensors.of(graph), Pairs.of(graph)
    model = GMIModel(5, [6, 4], torch.Generator().manual_seed(0))
    with torch.no_grad():
        model.form.mul_(3)
    negatives = pairs.draw(3, torch.Generator().manual_seed(1))
    terms = [term.item() for term in model.terms(tensors, pairs, negatives, neighbours)]

    h = model.encoder(tensors.features, tensors.edges).detach().double().numpy()
    x = np.asarray(graph.x, np.float64)
    x /= x.sum(1, keepdims=True)
    form = model.form.detach().double().numpy()
    sources, targets = graph.edge_index

    def sigmoid(value: float) -> float:
        return 1 / (1 + math.exp(-value))

    def softplus(value: float) -> float:
        return math.log(1 + math.exp(value))

    def told(node: int, other: int) -> float:
        return float(x[other] @ form @ h[node])

    others = negatives.pairs.columns[negatives.place].tolist()
    own = near = 0.0
    joined, unjoined = [softplus(-(h[node] @ h[node])) for node in range(nodes)], []
    for node in range(nodes):
        assert node not in others[node]
        wrong = sum(softplus(told(node, other)) for other in others[node]) / 3
        own += softplus(-told(node, node)) + wrong
        around = sources[targets == node]
        for other in around:
            weight = sigmoid(h[node] @ h[other]) if neighbours == "adaptive" else 1 / len(around)
            near += weight * (softplus(-told(node, other)) + wrong)
            joined.append(softplus(-(h[node] @ h[other])))
        unjoined += [softplus(h[node] @ h[other]) for other in others[node] if other not in around]
    expected = [own / nodes, near / nodes, 2 * np.mean(joined) + np.mean(unjoined)]
    assert terms == pytest.approx(expected, rel=1e-4)


def test_products_have_the_gradients_of_a_gather() -> None:
    rng = np.random.default_rng(0)
    matrix = sp.csr_array(sp.random_array((7, 7), density=0.4, rng=0))
    pattern = Pattern.of(matrix)
    left, right = (torch.tensor(rng.random((7, 3), np.float32), requires_grad=True) for _ in range(2))
    weights = torch.tensor(rng.random(matrix.nnz, np.float32))
    made = products(pattern, left, right)
    expected = (left[pattern.rows] * right[pattern.columns]).sum(1)
    assert torch.allclose(made, expected, atol=1e-6)
    for ours, theirs in zip(
        torch.autograd.grad((made * weights).sum(), (left, right)),
        torch.autograd.grad((expected * weights).sum(), (left, right)),
        strict=True,
    ):
        assert torch.allclose(ours, theirs, atol=1e-6)
    both = torch.autograd.grad((products(pattern, left, left) * weights).sum(), left)[0]
    again = torch.autograd.grad(((left[pattern.rows] * left[pattern.columns]).sum(1) * weights).sum(), left)[0]
    assert torch.allclose(both, again, atol=1e-6)


def test_negatives_are_drawn_evenly_from_the_others() -> None:
    pairs = Pairs.of(ring(8))
    counts = np.zeros((8, 8))
    rng = torch.Generator().manual_seed(0)
    for _ in range(300):
        negatives = pairs.draw(4, rng)
        assert (negatives.pairs.rows[negatives.place] == torch.arange(8)[:, None]).all()
        np.add.at(counts, (np.arange(8)[:, None], negatives.pairs.columns[negatives.place].numpy()), 1)
    assert (np.diag(counts) == 0).all()
    others = counts[~np.eye(8, dtype=bool)]
    assert others.min() > 0.7 * others.mean()


def _dense(pattern: Pattern, values: torch.Tensor) -> np.ndarray:
    return pattern.times(values, torch.eye(pattern.shape[1])).numpy()
