"""GCN, GAT, SGC, JK-Net, Geom-GCN: the laws of every classifier, and each one's numbers by definition."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch.nn import functional
from torch_geometric.nn import GATConv, GCNConv, SAGEConv, SGConv

from graphprox import Graph, GraphError, NodeSplit, ParameterError, TrainingError, random_split, synthetic
from graphprox.baselines import gat, gcn, geom_gcn, jknet, sgc
from graphprox.baselines.gat import GAT
from graphprox.baselines.gcn import GCN
from graphprox.baselines.geom_gcn import RELATIONS, GeomGCN, Kinds
from graphprox.baselines.jknet import JKNet
from graphprox.baselines.neural import Tensors, edge_index_of, gcn_edges
from graphprox.baselines.poincare import poincare_embedding
from graphprox.baselines.sgc import SGC
from graphprox.baselines.supervised import Lesson, after_dropout, features_of, learn
from graphprox.errors import StructuralFeaturesWarning
from graphprox.nn.features import FeatureMatrix

# A few large steps, or all nodes would still be of one class.
METHODS = [
    pytest.param(GCN(epochs=10, learning_rate=0.2), id="gcn"),
    pytest.param(GAT(epochs=10, learning_rate=0.2, last_heads=2), id="gat"),
    pytest.param(SGC(epochs=10, learning_rate=1.0), id="sgc"),
    pytest.param(JKNet(epochs=10, learning_rate=0.1, width=8), id="jk-net"),
    pytest.param(JKNet(epochs=10, learning_rate=0.1, width=8, jump="lstm", layers=2), id="jk-net-lstm"),
    pytest.param(JKNet(epochs=10, learning_rate=0.1, width=8, kind="sage"), id="jk-net-sage"),
    pytest.param(GeomGCN(epochs=10, learning_rate=0.2, width=4, latent_epochs=3), id="geom-gcn"),
]
every_method = pytest.mark.parametrize("method", METHODS)


def rng(seed=0):
    return torch.Generator().manual_seed(seed)


def lesson_of(graph, seed=0):
    return Lesson.of(graph, random_split(graph, seed=seed))


def tensors_of(graph):
    return Tensors(features_of(graph), gcn_edges(graph))


def two_classes(graph):
    """The graph with labels by turns, and a split of its nodes by threes."""
    nodes = np.arange(graph.num_nodes)
    train = np.flatnonzero(nodes % 3 < 2)
    return graph.with_labels(nodes % 2), NodeSplit(train, np.flatnonzero(nodes % 3 == 2), [])


# -- the laws -------------------------------------------------------------------------------------------------------


@every_method
def test_a_seed_decides(method):
    graph = synthetic(nodes=140)
    split = random_split(graph, seed=0, train=0.3)
    found = method.predict(graph, split, seed=1)
    assert found.shape == (140,)
    assert found.dtype == np.int64
    assert set(found) <= set(graph.y)
    assert np.array_equal(found, method.predict(graph, split, seed=1))
    assert np.array_equal(found, method.predict(graph, split, seed=2)) != method.drawn


@every_method
def test_labels_of_test_nodes_never_matter_and_those_of_others_do(method):
    graph = synthetic(nodes=140)
    split = random_split(graph, seed=0, train=0.3, validation=0.3)
    found = method.predict(graph, split, seed=0)
    for test_labels in (np.roll(graph.y[split.test], 1), -1, 99):
        labels = graph.y.copy()
        labels[split.test] = test_labels
        assert np.array_equal(found, method.predict(graph.with_labels(labels), split, seed=0))
    labels = graph.y.copy()
    labels[split.train] = (labels[split.train] + 1) % 7
    assert not np.array_equal(found, method.predict(graph.with_labels(labels), split, seed=0))


@every_method
def test_no_chance_from_outside_comes_in_or_goes_out(method):
    graph = synthetic(nodes=140)
    split = random_split(graph, seed=0)
    torch.manual_seed(3)
    found = method.predict(graph, split, seed=0)
    drawn = torch.rand(2)
    torch.manual_seed(3)
    assert torch.equal(drawn, torch.rand(2))
    assert np.array_equal(found, method.predict(graph, split, seed=0))


@every_method
@pytest.mark.parametrize(
    "graph",
    [
        pytest.param(Graph(np.eye(9), [[0, 1], [1, 2]]), id="isolated nodes"),
        pytest.param(Graph(np.eye(9), [[0, 1, 3], [1, 2, 3]], directed=True), id="directed"),
        pytest.param(Graph(np.eye(9), [[], []]), id="no edges"),
        pytest.param(Graph(np.eye(9) * [[1]] * 9, [[0], [1]], edge_weight=[3.0]), id="weighted"),
        pytest.param(Graph(np.zeros((9, 2)), [[0], [1]]), id="no features set"),
        pytest.param(Graph(np.eye(3), [[0, 1], [1, 2]]), id="three nodes"),
        pytest.param(Graph(sp.csr_array(np.eye(40)), [range(39), range(1, 40)]), id="sparse"),
    ],
)
def test_odd_graphs_are_classified(method, graph):
    graph, split = two_classes(graph)
    found = method.predict(graph, split, seed=0)
    assert found.shape == (graph.num_nodes,)
    assert set(found) <= {0, 1}


@every_method
def test_a_graph_without_features_gets_structural_ones(method):
    with pytest.warns(StructuralFeaturesWarning):
        graph = Graph.from_scipy(sp.csr_array(nx.to_scipy_sparse_array(nx.path_graph(9))))
    graph, split = two_classes(graph)
    assert method.predict(graph, split, seed=0).shape == (9,)


@every_method
def test_what_cannot_be_learned_is_refused(method):
    graph = synthetic(nodes=140)
    split = random_split(graph, seed=0)
    with pytest.raises(GraphError, match="needs a graph with labels"):
        method.predict(graph.without_labels(), split, seed=0)
    with pytest.raises(GraphError, match="needs training nodes"):
        method.predict(graph, NodeSplit([], split.validation, split.test), seed=0)
    with pytest.raises(GraphError, match="needs validation nodes"):
        method.predict(graph, NodeSplit(split.train, [], split.test), seed=0)
    with pytest.raises(ParameterError, match=r"nodes 0\.\.139 of the graph; got node 140"):
        method.predict(graph, NodeSplit([0, 140], [1], [2]), seed=0)
    with pytest.raises(GraphError, match="two classes or more"):
        method.predict(graph, NodeSplit(np.flatnonzero(graph.y == 0), np.flatnonzero(graph.y == 1), []), seed=0)
    for name in ("train", "validation"):
        labels = graph.y.copy()
        labels[getattr(split, name)[3]] = -1
        with pytest.raises(GraphError, match=rf"that of node {getattr(split, name)[3]} is not known"):
            method.predict(graph.with_labels(labels), split, seed=0)


@pytest.mark.parametrize("kind", [GCN, GAT, SGC, JKNet, GeomGCN])
def test_presets_and_settings_are_sound(kind):
    assert kind.about.uses == "AXY"
    assert kind.about.group == "semi-supervised"
    for preset in kind.presets:
        assert kind.with_settings(preset).settings == {**kind().settings, **kind.presets[preset]}
    with pytest.raises(ParameterError, match="epochs must be a whole number from 1"):
        kind(epochs=0)


@pytest.mark.parametrize("kind", [GCN, GAT, SGC, JKNet, GeomGCN])
def test_what_is_learned_beats_chance(kind):
    graph = synthetic()
    split = random_split(graph, seed=0, train=0.3)
    found = kind(epochs=60).predict(graph, split, seed=0)
    assert (found[split.test] == graph.y[split.test]).mean() > 0.4  # chance is one of seven


def test_progress_hears_of_every_epoch():
    graph = synthetic(nodes=140)
    heard = []
    GCN(epochs=3).predict(graph, random_split(graph, seed=0), seed=0, progress=lambda *what: heard.append(what))
    assert heard == [("training", epoch, 3) for epoch in (1, 2, 3)]


# -- the lesson and the loop ----------------------------------------------------------------------------------------


def test_a_lesson_holds_nothing_of_other_nodes():
    graph = Graph(np.eye(5), [[0], [1]], y=[3, 3, 9, 4, 7], class_names=map(str, range(10)))
    lesson = Lesson.of(graph, NodeSplit(train=[0, 2], validation=[1], test=[3, 4]))
    assert lesson.graph.y is None
    assert lesson.graph.class_names is None
    assert lesson.classes.tolist() == [3, 9]
    scores = torch.tensor([[1.0, 0], [0, 1], [0, 1], [1, 0], [0, 2]])
    assert lesson.classes_of(scores).tolist() == [3, 9, 9, 3, 9]
    assert lesson.train.accuracy(scores) == 1
    assert float(lesson.train.loss(scores)) == pytest.approx(math.log(1 + math.exp(-1)))
    judged = lesson.judged(scores)
    assert judged.accuracy == 0
    assert judged.negative_loss == pytest.approx(-math.log(1 + math.exp(1)))


def test_a_class_that_only_validation_nodes_have_is_a_class():
    graph = Graph(np.eye(4), [[0], [1]], y=[0, 1, 2, 5])
    lesson = Lesson.of(graph, NodeSplit(train=[0, 1], validation=[2], test=[3]))
    assert lesson.classes.tolist() == [0, 1, 2]
    assert lesson.validation.targets.tolist() == [2]


class Told(torch.nn.Module):
    """Scores as they are listed for each epoch, whatever is learned."""

    def __init__(self, epochs):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(1))
        self.epochs = epochs
        self.judged = 0

    def forward(self):
        if self.training:
            return self.weight.expand(4, 2)
        self.judged += 1
        return torch.tensor(self.epochs[self.judged - 1])


def told(*margins):
    """By how much the right class of each of two validation nodes leads, epoch by epoch."""
    return Told([[[0.0, 0], [0, 0], [a, 0.0], [b, 0.0]] for a, b in margins])


@pytest.mark.parametrize(
    ("margins", "patience", "epochs", "best"),
    [
        ([(1, -1), (1, 1), (1, -1)], 9, 3, 1),  # accuracy
        ([(1, -1), (9, -0.5), (1, -1)], 9, 3, 1),  # of the same accuracy: the loss
        ([(1, 1), (9, -1e-3), (1, -1)], 9, 3, 0),  # a lower loss at a lower accuracy is not better
        ([(1, -1), (1, -1), (1, -1), (1, 1)], 2, 3, 0),  # nothing new for two epochs
        ([(0.1, 0.1), (0.1, -0.1), (9, -0.01), (9, -0.01), (1, 1)], 2, 5, 4),  # a new lowest loss counts
    ],
)
def test_the_best_epoch_is_kept_and_patience_ends(margins, patience, epochs, best):
    lesson = Lesson.of(Graph(np.eye(4), [[0], [1]], y=[0, 1, 0, 0]), NodeSplit([0, 1], [2, 3], []))
    network = told(*margins)
    learned = learn(
        network,
        network,
        lesson,
        epochs=len(margins),
        patience=patience,
        learning_rate=0.1,
        decays=[(network.parameters(), 0.0)],
    )
    assert network.judged == epochs
    assert torch.equal(learned.scores, torch.tensor(network.epochs[best]))


def test_numbers_that_are_not_finite_end_the_training():
    graph = synthetic(nodes=140)
    with pytest.raises(TrainingError, match="must be finite"):
        GCN(epochs=5, learning_rate=1e30).predict(graph, random_split(graph, seed=0), seed=0)


@pytest.mark.parametrize("filled", [0.02, 0.1, 0.9])
def test_dropout_is_torchs_on_the_entries_that_are_set(filled):
    x = (np.random.default_rng(0).random((200, 100)) < filled).astype(np.float32)
    features = features_of(Graph(x, [[0], [1]]))
    assert (features.dense is None) == (filled < 0.25)
    scaled = x / np.maximum(x.sum(axis=1, keepdims=True), 1)
    seen = after_dropout(features, 0.5, training=False)(torch.eye(100)).numpy()
    np.testing.assert_allclose(seen, scaled, atol=1e-6)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        dropped = after_dropout(features, 0.5, training=True)(torch.eye(100)).numpy()
    kept = dropped != 0
    np.testing.assert_allclose(dropped[kept], 2 * scaled[kept], rtol=1e-5)
    assert not (kept & (x == 0)).any()
    assert kept.sum() / x.sum() == pytest.approx(0.5, abs=0.05)


# -- GCN, SGC, GAT, JK-Net against PyG ------------------------------------------------------------------------------


def near(ours, theirs):
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), atol=1e-5)


@pytest.fixture(params=["undirected", "directed"])
def graph(request):
    undirected = synthetic(nodes=140)
    if request.param == "undirected":
        return undirected
    return Graph(undirected.x, undirected.edges_once(), y=undirected.y, directed=True)


def lend(convolution, layer):
    """Give a layer of PyG's the weights of ours."""
    with torch.no_grad():
        layer.lin.weight.copy_(convolution.weight.T)
        layer.bias.copy_(convolution.bias.normal_(generator=rng()))
    return layer


def test_gcn_is_two_layers_of_pygs(graph):
    tensors, edges = tensors_of(graph), edge_index_of(graph)
    network = gcn._Network(32, 6, 7, 0.5, rng()).eval()
    one, two = lend(network.first, GCNConv(32, 6)), lend(network.second, GCNConv(6, 7))
    near(network(tensors), two(one(tensors.features.dense, edges).relu(), edges))


def test_sgc_is_pygs(graph):
    tensors = tensors_of(graph)
    network = sgc._Network(32, 7, 3)
    layer = SGConv(32, 7, K=3)
    with torch.no_grad():
        network.weight.copy_(layer.lin.weight.T)
        network.bias.copy_(layer.lin.bias)
    near(network(tensors), layer(tensors.features.dense, edge_index_of(graph)))


def test_sgc_takes_the_weight_decay_that_suits_validation_nodes(monkeypatch):
    graph = synthetic(nodes=140)
    split = random_split(graph, seed=0)
    lesson, tensors = Lesson.of(graph, split), tensors_of(graph)
    tried = [SGC()._learn(lesson, tensors, decay, None) for decay in (1.0, 1e-5)]
    assert tried[0].quality < tried[1].quality
    monkeypatch.setattr(sgc, "WEIGHT_DECAYS", (1.0, 1e-5))
    assert np.array_equal(SGC().predict(graph, split, seed=0), lesson.classes_of(tried[1].scores))


@pytest.mark.parametrize("last_heads", [1, 3])
def test_gat_is_two_layers_of_pygs(graph, last_heads):
    tensors, edges = tensors_of(graph), edge_index_of(graph)
    network = gat._Network(GAT(width=4, heads=2, last_heads=last_heads), 32, 7, rng()).eval()
    layers = GATConv(32, 4, 2), GATConv(8, 7, last_heads, concat=False)
    for ours, theirs in zip((network.first, network.second), layers, strict=True):
        with torch.no_grad():
            theirs.lin.weight.copy_(ours.weight.T)
            theirs.att_src.copy_(ours.source)
            theirs.att_dst.copy_(ours.target)
            theirs.bias.copy_(ours.bias.normal_(generator=rng()))
    expected = layers[1](functional.elu(layers[0](tensors.features.dense, edges)), edges)
    near(network(tensors.features, gat._pattern(graph)), expected)


def test_gat_drops_attention_in_training_and_scales_the_rest(graph):
    """Where all rows are ones and all attention is even, each mean counts the entries that stay."""
    pattern = gat._pattern(graph)
    layer = gat._Attention(1, 1, 1, 0.6, rng=rng())
    with torch.no_grad():
        layer.weight.fill_(1)
        layer.source.zero_()
        layer.target.zero_()
    torch.manual_seed(0)
    means = layer(torch.ones(graph.num_nodes, 1).mm, pattern).detach().flatten()
    sums = means * pattern.starts.diff() / 2.5
    assert torch.allclose(sums, sums.round(), atol=1e-4)  # the number of entries that stay
    assert sums.sum() / pattern.num_entries == pytest.approx(0.4, abs=0.05)


@pytest.mark.parametrize("kind", ["gcn", "sage"])
@pytest.mark.parametrize("jump", ["cat", "max"])
def test_jk_net_is_layers_of_pygs_all_joined(graph, kind, jump):
    tensors, edges = Tensors(features_of(graph), jknet._edges(graph, kind)), edge_index_of(graph)
    network = jknet._Network(JKNet(width=6, layers=3, kind=kind, jump=jump), 32, 7, rng()).eval()
    h, outputs = tensors.features.dense, []
    for ours in (network.first, *network.others):
        if kind == "gcn":
            theirs = lend(ours, GCNConv(h.shape[1], 6))
        else:
            theirs = SAGEConv(h.shape[1], 6)
            with torch.no_grad():
                theirs.lin_l.weight.copy_(ours.weight.T[:6])
                theirs.lin_r.weight.copy_(ours.weight.T[6:])
                theirs.lin_l.bias.copy_(ours.bias.normal_(generator=rng()))
        h = theirs(h, edges).relu()
        outputs.append(h)
    joined = torch.cat(outputs, 1) if jump == "cat" else torch.stack(outputs).amax(0)
    near(network(tensors), network.last(joined))


@pytest.mark.parametrize("kind", [gcn, gat, jknet, geom_gcn])
def test_dropout_is_for_training_alone(kind):
    graph = synthetic(nodes=140)
    tensors = tensors_of(graph)
    if kind is gat:
        network, given = gat._Network(GAT(), 32, 7, rng()), (tensors.features, gat._pattern(graph))
    elif kind is jknet:
        network, given = jknet._Network(JKNet(), 32, 7, rng()), (tensors,)
    elif kind is gcn:
        network, given = gcn._Network(32, 6, 7, 0.5, rng()), (tensors,)
    else:
        network, given = geom_gcn._Network(32, 6, 7, 0.5, rng()), (tensors.features, Kinds.of(graph, seed=0, epochs=1))
    assert not torch.equal(network(*given), network(*given))
    network.eval()
    assert torch.equal(network(*given), network(*given))


def test_weight_decay_of_gcn_is_for_the_first_layer_alone(monkeypatch):
    decays = []
    monkeypatch.setattr(gcn, "learn", lambda *_, **named: decays.extend(named["decays"]) or 1 / 0)
    graph = synthetic(nodes=140)
    with pytest.raises(ZeroDivisionError):
        GCN().predict(graph, random_split(graph, seed=0), seed=0)
    (first, of_first), (second, of_second) = decays
    assert (of_first, of_second) == (5e-4, 0)
    assert [each.shape for each in first] == [(32, 16), (16,)]
    assert [each.shape for each in second] == [(16, 7), (7,)]


# -- Geom-GCN by a literal loop -------------------------------------------------------------------------------------


def test_geom_gcn_sums_over_each_kind_of_neighbours():
    points = np.array([[0.1, 0.2], [0.5, -0.3], [-0.4, -0.1], [0.1, 0.6], [-0.2, 0.3]])
    in_graph = np.array([[0, 1, 1, 2, 3, 0], [1, 0, 2, 1, 0, 3]])
    in_plane = np.array([[0, 3, 2, 4], [3, 0, 4, 2]])
    kinds = Kinds.sorted_by(points, [in_graph, in_plane])
    network = geom_gcn._Network(3, 2, 4, 0.5, rng()).eval()
    x = torch.randn(5, 3, generator=rng(1)).double()
    # The layers in words: for each node and kind, the sum over its neighbours u of that kind of W_kind x_u, divided by
    # the roots of both ends' counts of neighbours.
    neighbours = [[(v, RELATIONS - 1)] for v in range(5)]
    for space, pairs in enumerate((in_graph, in_plane)):
        for u, v in pairs.T:
            right, above = points[u][0] > points[v][0], points[u][1] > points[v][1]
            neighbours[v].append((u, 4 * space + 2 * right + above))

    def sums(h, weight):
        made = torch.zeros(5, RELATIONS, weight.shape[1] // RELATIONS).double()
        for v in range(5):
            for u, kind in neighbours[v]:
                of_kind = weight.double().view(len(weight), RELATIONS, -1)[:, kind]
                made[v, kind] += h[u] @ of_kind / math.sqrt(len(neighbours[u]) * len(neighbours[v]))
        return made

    hidden = sums(x, network.first).relu().view(5, -1)
    expected = sums(hidden, network.second).mean(1)
    near(network(FeatureMatrix.of(x.float().numpy()), kinds).double(), expected)


def test_geom_gcn_places_nodes_once_for_all_splits_of_a_seed(monkeypatch):
    graph, placed = synthetic(nodes=140), []
    monkeypatch.setattr(
        geom_gcn,
        "poincare_embedding",
        lambda *given, **named: placed.append(named) or poincare_embedding(*given, **named),
    )
    geom_gcn._placed.cache_clear()
    short = GeomGCN(epochs=2, latent_epochs=3)
    for seed, split in ((0, 0), (0, 1), (1, 1)):
        short.predict(graph, random_split(graph, seed=split), seed=seed)
    assert placed == [{"seed": 0, "epochs": 3}, {"seed": 1, "epochs": 3}]


def test_geom_gcn_has_as_many_neighbours_in_the_plane_as_in_the_graph():
    graph = Graph(np.eye(30), [[*range(29), 3], [*range(1, 30), 3]])
    kinds = Kinds.of(graph, seed=0, epochs=5)
    kind = kinds.apart.pattern.columns % RELATIONS
    assert (kind < 4).sum() == 2 * 29
    assert ((kind >= 4) & (kind < 8)).sum() == 2 * 29
    assert (kind == 8).sum() == 30
    assert torch.equal(kind, kinds.apart.pattern.rows % RELATIONS)


def test_a_neighbour_lies_opposite_to_where_it_sees_one():
    points = np.random.default_rng(0).uniform(-0.5, 0.5, (20, 2))
    source, target = np.arange(19), np.arange(1, 20)
    there, back = geom_gcn._quadrant(points, source, target), geom_gcn._quadrant(points, target, source)
    assert np.array_equal(there + back, np.full(19, 3))
