"""CCA-SSG, BGRL, Graph Barlow Twins, GraphMAE: the laws of every baseline, and each one's numbers by definition."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch import nn
from torch_geometric.nn import GATConv

from graphprox import Graph, synthetic
from graphprox.baselines import cca_ssg, graphmae
from graphprox.baselines.augment import BatchNorm, Copies, minimise_along, standardised, warm_cosine
from graphprox.baselines.barlow_twins import BarlowTwins, redundancy_loss
from graphprox.baselines.base import DEFAULT
from graphprox.baselines.bgrl import BGRL, bootstrap_loss, follow
from graphprox.baselines.cca_ssg import CCASSG, correlation_loss
from graphprox.baselines.graphmae import Decoder, Dropouts, Encoder, GraphMAE, Guess, Hidden
from graphprox.baselines.neural import GCNLayers, Tensors
from graphprox.errors import ParameterError, StructuralFeaturesWarning, TrainingError
from graphprox.nn.convolutions import GAT, in_neighbours
from graphprox.nn.features import FeatureMatrix

METHODS = [
    pytest.param(CCASSG(width=8, epochs=3), id="cca-ssg"),
    pytest.param(CCASSG(width=8, epochs=3, encoder="mlp"), id="cca-ssg-mlp"),
    pytest.param(CCASSG(width=8, epochs=3, layers=1), id="cca-ssg-1"),
    pytest.param(BGRL(width=8, hidden=16, predictor=12, epochs=3), id="bgrl"),
    pytest.param(BarlowTwins(width=8, hidden=16, epochs=3), id="barlow-twins"),
    pytest.param(GraphMAE(width=8, heads=2, epochs=3), id="graphmae"),
]
every_method = pytest.mark.parametrize("method", METHODS)
KINDS = [CCASSG, BGRL, BarlowTwins, GraphMAE]


def rng(seed=0):
    return torch.Generator().manual_seed(seed)


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=rng(seed), dtype=torch.float64)


def check(embedding, nodes, width=8):
    assert embedding.shape == (nodes, width)
    assert embedding.dtype == np.float32
    assert np.isfinite(embedding).all()


# -- the laws -------------------------------------------------------------------------------------------------------


@every_method
def test_a_seed_decides_and_labels_do_not(method):
    graph = synthetic(nodes=140)
    made = method.embed(graph, seed=1)
    check(made, 140)
    state = torch.get_rng_state()
    torch.manual_seed(99)
    try:
        before = torch.get_rng_state()
        again = method.embed(graph.without_labels(), seed=1)
        assert torch.equal(before, torch.get_rng_state())
    finally:
        torch.set_rng_state(state)
    assert made.tobytes() == again.tobytes()
    assert made.tobytes() != method.embed(graph, seed=2).tobytes()


@every_method
@pytest.mark.filterwarnings("ignore::graphprox.SameVectorsWarning")  # two nodes that are joined are alike
def test_odd_graphs_are_embedded(method):
    x = np.random.default_rng(0).random((6, 4)).astype(np.float32)
    x[3] = 0  # nothing is known of this one
    directed_with_isolated = Graph(x=x, edge_index=[[0, 1, 1], [1, 2, 1]], directed=True)
    without_edges = Graph(x=x, edge_index=np.empty((2, 0), np.int64))
    sparse = Graph(x=sp.csr_array(np.eye(6, 60, dtype=np.float32)), edge_index=[[0, 1, 2], [1, 2, 3]])
    for graph in (directed_with_isolated, without_edges, sparse):
        check(method.embed(graph, seed=0), 6)
    for nodes in (2, 3):
        check(method.embed(Graph(x=x[:nodes], edge_index=[[0], [1]]), seed=0), nodes)
    with pytest.warns(StructuralFeaturesWarning):
        featureless = Graph.from_scipy(sp.csr_array(np.ones((5, 5)) - np.eye(5)))
    check(method.embed(featureless, seed=0), 5)


@every_method
def test_progress_hears_of_every_epoch(method):
    heard = []
    method.embed(synthetic(nodes=140), 0, progress=lambda *told: heard.append(told))
    assert heard == [("training", epoch, 3) for epoch in (1, 2, 3)]


@every_method
def test_no_epoch_is_an_untrained_encoder(method):
    settings = {**method.settings, "epochs": 0}
    check(type(method)(**settings).embed(synthetic(nodes=140), 0), 140)


@pytest.mark.parametrize("kind", KINDS)
def test_presets_are_settings(kind):
    for name in (DEFAULT, *kind.presets):
        assert kind.with_settings(name).settings == {**kind().settings, **kind.presets.get(name, {})}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GraphMAE(width=10, heads=4), r"^width must be a multiple of heads; got 10 and 4$"),
        (lambda: GraphMAE(mask=1.5), r"^mask must be a number from 0 to 1; got 1\.5$"),
        (lambda: CCASSG(encoder="gat"), r"^encoder must be one of gcn, mlp; got 'gat'$"),
        (lambda: BGRL(momentum=2), r"^momentum must be a number from 0 to 1; got 2$"),
    ],
)
def test_what_a_setting_may_not_be(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


@pytest.mark.parametrize("kind", KINDS)
def test_training_brings_classes_apart(kind):
    """On a graph of communities an embedding tells classes better than chance by far, and not every node alike."""
    graph = synthetic(nodes=140)
    sizes = {"width": 16, "hidden": 32} if kind in (BGRL, BarlowTwins) else {"width": 16}
    z = kind(**sizes, epochs=30).embed(graph, 0)
    z = z - z.mean(0)
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    nearest = np.argmax(z @ z.T - 2 * np.eye(140), axis=1)
    assert (graph.y[nearest] == graph.y).mean() > 2 / graph.num_classes


# -- what they share ------------------------------------------------------------------------------------------------


def test_standardised_columns_and_their_gradient():
    h = drawn(9, 4).requires_grad_()
    made = standardised(h)
    expected = (h - h.mean(0)) / h.std(0, correction=0)
    torch.testing.assert_close(made, expected)
    upstream = drawn(9, 4, seed=1)
    ours, theirs = (torch.autograd.grad(each, h, upstream, retain_graph=True)[0] for each in (made, expected))
    torch.testing.assert_close(ours, theirs)
    assert torch.equal(standardised(torch.ones(5, 2)), torch.zeros(5, 2))


def test_batch_norm_is_torchs():
    ours, theirs = BatchNorm(4, momentum=0.3).double(), nn.BatchNorm1d(4, momentum=0.3).double()
    with torch.no_grad():
        for module in (ours, theirs):
            module.weight.copy_(drawn(4, seed=2))
            module.bias.copy_(drawn(4, seed=3))
    h = drawn(7, 4).requires_grad_()
    upstream = drawn(7, 4, seed=1)
    for _ in range(2):
        made, expected = ours(h), theirs(h)
        torch.testing.assert_close(made, expected)
    for one, other in zip(
        torch.autograd.grad(made, [h, ours.weight, ours.bias], upstream),
        torch.autograd.grad(expected, [h, theirs.weight, theirs.bias], upstream),
        strict=True,
    ):
        torch.testing.assert_close(one, other)


def test_batch_norm_after_many_steps_is_torchs_too():
    ours, theirs = BatchNorm(4, momentum=0.3).double(), nn.BatchNorm1d(4, momentum=0.3).double()
    for seed in range(100):
        ours(drawn(7, 4, seed=seed))
        theirs(drawn(7, 4, seed=seed))
    h = drawn(7, 4, seed=100)
    torch.testing.assert_close(ours.eval()(h), theirs.eval()(h))


@pytest.mark.parametrize("steps", [1, 2, 30])
def test_batch_norm_after_few_steps_goes_by_what_was_seen_alone(steps):
    norm = BatchNorm(4, epsilon=0).double()
    h = 1e-3 * drawn(7, 4) + 5
    for _ in range(steps):
        norm(h)
    torch.testing.assert_close(norm.eval()(h), (h - h.mean(0)) / h.std(0))


def test_batch_norm_that_saw_nothing_goes_by_the_rows_at_hand():
    h = drawn(7, 4)
    norm = BatchNorm(4, epsilon=0).double().eval()
    torch.testing.assert_close(norm(h), standardised(h))
    torch.testing.assert_close(norm(2 * h), standardised(h))  # and has still seen nothing


def test_copies_lose_about_their_share():
    graph = synthetic(nodes=700)
    tensors = Tensors.of(graph)
    copies = Copies(graph, tensors, seed=0)
    first, second = (copies.draw(edges=0.3, features=0.2) for _ in range(2))
    for each in (first, second):
        assert (each.edges.pattern.num_entries - 700) / graph.num_entries == pytest.approx(0.7, abs=0.05)
        assert float(each.kept.mean()) == pytest.approx(0.8, abs=0.15)
    assert not torch.equal(first.kept, second.kept)
    whole = copies.draw(edges=0, features=0)
    assert whole.edges is tensors.edges
    assert whole.kept.all()


def test_the_rate_rises_and_falls():
    rates = [warm_cosine(epoch, 20, warm_up=5) for epoch in range(20)]
    assert rates[:5] == [0.2, 0.4, 0.6, 0.8, 1.0]
    for epoch in range(5, 20):
        assert rates[epoch] == pytest.approx(0.5 + 0.5 * math.cos(math.pi * (epoch - 5) / 15))
    assert [warm_cosine(epoch, 3, warm_up=3) for epoch in range(3)] == pytest.approx([1 / 3, 2 / 3, 1])


@pytest.mark.parametrize("decoupled", [True, False])
def test_minimising_along_a_rate_is_adam_with_torchs_schedule(decoupled):
    ours, theirs = (nn.Linear(3, 1) for _ in range(2))
    theirs.load_state_dict(ours.state_dict())
    x = drawn(5, 3).float()
    kind = torch.optim.AdamW if decoupled else torch.optim.Adam
    optimizer = kind(theirs.parameters(), lr=0.1, weight_decay=0.1)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (1 + epoch))
    expected = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = theirs(x).square().mean()
        loss.backward()
        optimizer.step()
        schedule.step()
        expected.append(loss.item())
    made = minimise_along(
        ours,
        lambda: ours(x).square().mean(),
        lambda epoch: 0.1 / (1 + epoch),
        epochs=4,
        weight_decay=0.1,
        decoupled=decoupled,
    )
    assert made == pytest.approx(expected)
    torch.testing.assert_close(ours.weight, theirs.weight)
    assert not ours.training


def test_a_loss_that_is_no_number_is_told():
    module = nn.Linear(1, 1)
    with pytest.raises(TrainingError, match=r"the loss must be finite; it was nan in epoch 0: lower learning_rate"):
        minimise_along(module, lambda: module.weight.sum() * math.nan, lambda _: 0.1, epochs=1)


# -- CCA-SSG and Barlow Twins: losses by definition --------------------------------------------------------------------


def columns(h):
    """Columns of mean 0 and variance 1, one by one."""
    return [[(value - np.mean(column)) / np.std(column) for value in column] for column in h.numpy().T]


def test_correlation_loss_by_definition():
    a, b = drawn(7, 3), drawn(7, 3, seed=1)
    ours = correlation_loss(a, b, 0.25).item()
    za, zb = ([[value / math.sqrt(7) for value in column] for column in columns(h)] for h in (a, b))
    apart = sum((za[i][n] - zb[i][n]) ** 2 for i in range(3) for n in range(7))
    correlated = 0.0
    for z in (za, zb):
        for i in range(3):
            for j in range(3):
                correlated += (sum(z[i][n] * z[j][n] for n in range(7)) - (i == j)) ** 2
    assert ours == pytest.approx(apart + 0.25 * correlated)


def test_redundancy_loss_by_definition():
    a, b = drawn(7, 3), drawn(7, 3, seed=1)
    za, zb = columns(a), columns(b)
    expected = 0.0
    for i in range(3):
        for j in range(3):
            correlation = sum(za[i][n] * zb[j][n] for n in range(7)) / 7
            expected += (1 - correlation) ** 2 if i == j else correlation**2 / 3
    assert redundancy_loss(a, b).item() == pytest.approx(expected)


def test_the_encoder_without_edges_sees_none():
    graph = synthetic(nodes=140)
    bare = Graph(x=graph.x, edge_index=np.empty((2, 0), np.int64))
    method = CCASSG(width=8, epochs=2, encoder="mlp")
    assert method.embed(graph, 0).tobytes() == method.embed(bare, 0).tobytes()
    assert CCASSG(width=8, epochs=2).embed(graph, 0).tobytes() != CCASSG(width=8, epochs=2).embed(bare, 0).tobytes()


def test_hidden_features_are_not_seen_by_the_encoder_without_edges():
    x = drawn(6, 4).float()
    encoder = cca_ssg._Dense([4, 5, 3], rng=rng()).eval()
    kept = torch.tensor([1.0, 0.0, 1.0, 0.0])
    edges = Tensors.of(Graph(x=x.numpy(), edge_index=[[0], [1]])).edges
    of = FeatureMatrix.of
    torch.testing.assert_close(
        encoder(of(x.numpy()), edges, kept), encoder(of((x * kept).numpy()), edges), rtol=1e-5, atol=1e-6
    )


# -- BGRL -------------------------------------------------------------------------------------------------------------


def test_bootstrap_loss_by_definition():
    told, truth = drawn(5, 3).numpy(), drawn(5, 3, seed=1).numpy()
    cosines = [
        sum(u * v for u, v in zip(p, q, strict=True)) / math.sqrt(sum(u * u for u in p) * sum(v * v for v in q))
        for p, q in zip(told, truth, strict=True)
    ]
    assert bootstrap_loss(torch.tensor(told), torch.tensor(truth)).item() == pytest.approx(1 - sum(cosines) / 5)


def test_the_slower_encoder_follows_by_its_formula():
    slower, encoder = (GCNLayers([4, 3, 2], rng=rng(seed)) for seed in (0, 1))
    before = copy.deepcopy(slower)
    follow(slower, encoder, 0.9)
    for mine, old, theirs in zip(slower.parameters(), before.parameters(), encoder.parameters(), strict=True):
        torch.testing.assert_close(mine, 0.9 * old + 0.1 * theirs)
    follow(slower, encoder, 0.0)
    for mine, theirs in zip(slower.parameters(), encoder.parameters(), strict=True):
        assert torch.equal(mine, theirs)


def test_the_momentum_rises_to_one():
    method = BGRL(momentum=0.9, epochs=10)
    momenta = [method._momentum(epoch) for epoch in range(10)]
    expected = [1 - 0.1 * (math.cos(math.pi * epoch / 10) + 1) / 2 for epoch in range(10)]
    assert momenta == pytest.approx(expected)
    assert momenta == sorted(momenta)


def test_the_slower_encoder_has_a_say():
    """With momentum 1 it stays where it began, and the embedding is another one."""
    graph = synthetic(nodes=140)
    made = [BGRL(width=8, hidden=16, epochs=3, momentum=each).embed(graph, 0) for each in (0.0, 1.0)]
    assert made[0].tobytes() != made[1].tobytes()


# -- GraphMAE ---------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["dense", "sparse"])
def features(request):
    """Features of ten nodes, and the same as an array."""
    x = np.zeros((10, 90), np.float32)
    filled = 90 if request.param == "dense" else 3
    generator = np.random.default_rng(0)
    for row in x[:-1]:  # the last node has none
        row[generator.choice(90, filled, replace=False)] = generator.random(filled)
    made = FeatureMatrix.of(x)
    assert (made.dense is None) == (request.param == "sparse")
    return made, torch.tensor(x)


@pytest.fixture
def ring():
    return np.array([[*range(9), *range(1, 9), 0], [*range(1, 9), 0, *range(9)]])


def edges_of(index):
    return GAT.edges(in_neighbours(index, None, 10))


def test_nodes_are_hidden_as_told():
    hidden = Hidden.draw(1000, 0.5, 0.1, rng())
    assert len(set(hidden.nodes.tolist())) == 500
    told = torch.ones(1000, dtype=torch.bool)
    told[hidden.nodes] = False
    assert torch.equal(hidden.seen[told], torch.arange(1000)[told])
    tokens = hidden.seen[hidden.nodes] < 0
    assert int(tokens.sum()) == 450
    assert len(hidden.seen[hidden.nodes][~tokens].unique()) == 50
    assert len(Hidden.draw(3, 0.0, 0.5, rng()).nodes) == 1  # there is always something to tell


def test_the_encoder_sees_a_token_in_place_of_hidden_features(features, ring):
    made, x = features
    edges = edges_of(ring)
    encoder = Encoder(90, 8, heads=2, dropouts=Dropouts(0.5, 0.5), rng=rng()).eval()
    with torch.no_grad():
        encoder.token.copy_(torch.rand(1, 90, generator=rng(5)))
    hidden = Hidden(torch.tensor([2, 4, 7]), torch.tensor([0, 1, -1, 3, -1, 5, 6, 1, 8, 9]))
    other = x.clone()
    other[[2, 4]] = 1 - other[[2, 4]]
    other[7] = other[7].flip(0)
    with torch.no_grad():
        seen = encoder(made, edges, hidden)
        # Filled rows may make a dense matrix of a sparse one, whose products are rounded otherwise.
        torch.testing.assert_close(seen, encoder(FeatureMatrix.of(other.numpy()), edges, hidden), rtol=1e-5, atol=1e-6)
        # What stands in their place: the token, and the features of node 1.
        other[[2, 4]], other[7] = encoder.token, x[1]
        torch.testing.assert_close(seen, encoder(FeatureMatrix.of(other.numpy()), edges), rtol=1e-5, atol=1e-6)
        # What is not hidden counts.
        other = x.clone()
        other[3] += 1
        assert not torch.allclose(seen, encoder(FeatureMatrix.of(other.numpy()), edges, hidden), atol=1e-3)


def test_the_encoder_is_two_layers_of_pygs_gat(features, ring):
    made, x = features
    encoder = Encoder(90, 8, heads=2, dropouts=Dropouts(0.5, 0.5), rng=rng()).eval()
    h = x
    for layer, activation in zip((encoder.first, encoder.second), encoder.activations, strict=True):
        theirs = GATConv(h.shape[1], 4, 2)
        with torch.no_grad():
            theirs.lin.weight.copy_(layer.weight.T)
            theirs.att_src.copy_(layer.source[None])
            theirs.att_dst.copy_(layer.target[None])
        h = nn.functional.prelu(theirs(h, torch.tensor(ring)), activation.weight)
    torch.testing.assert_close(encoder(made, edges_of(ring)), h, rtol=1e-4, atol=1e-5)


def literal_loss(decoder, h, x, index, hidden, sharpness):
    """The loss written out: hide, PyG's layer to all features of all nodes, one cosine after another."""
    theirs = GATConv(h.shape[1], x.shape[1], 1).double()
    parameters = dict(theirs.named_parameters())
    layer = decoder.convolution
    ours = {
        "lin.weight": layer.weight.T,
        "att_src": layer.source[None],
        "att_dst": layer.target[None],
        "bias": layer.bias,
    }
    assert parameters.keys() == ours.keys()
    inputs = torch.stack([decoder.between(row) * (node not in hidden.nodes.tolist()) for node, row in enumerate(h)])
    guess = torch.func.functional_call(theirs, ours, (inputs, torch.tensor(index)))
    errors = []
    for node in hidden.nodes.tolist():
        lengths = guess[node].norm() * x[node].norm()
        cosine = guess[node] @ x[node] / lengths if lengths > 0 else torch.zeros(())
        errors.append((1 - cosine) ** sharpness)
    return sum(errors) / len(errors)


@pytest.mark.parametrize("bias", [False, True])
def test_the_decoders_loss_and_gradients_by_definition(features, ring, bias):
    made, x = features
    decoder = Decoder(6, 90, dropouts=Dropouts(0.2, 0.1), rng=rng()).eval()
    if bias:
        with torch.no_grad():
            decoder.convolution.bias.copy_(torch.rand(90, generator=rng(4)))
    h = torch.randn(10, 6, generator=rng(1))
    hidden = Hidden(torch.tensor([8, 1, 9, 4]), torch.arange(10))
    guess = decoder(h.requires_grad_(), edges_of(ring), hidden)
    ours = graphmae.scaled_cosine_error(guess.cosines(made, hidden.nodes), 3.0)
    double = copy.deepcopy(decoder).double()
    twin = h.detach().double().requires_grad_()
    theirs = literal_loss(double, twin, x.double(), ring, hidden, 3.0)
    assert ours.item() == pytest.approx(theirs.item(), rel=1e-5)
    names = [name for name, _ in decoder.named_parameters()]
    mine = torch.autograd.grad(ours, [h, *decoder.parameters()])
    expected = torch.autograd.grad(theirs, [twin, *double.parameters()])
    for name, one, other in zip(["h", *names], mine, expected, strict=True):
        torch.testing.assert_close(one.double(), other, rtol=1e-3, atol=1e-6, msg=lambda text, name=name: name + text)


def test_what_the_encoder_made_of_hidden_nodes_tells_nothing(features, ring):
    made, _ = features
    decoder = Decoder(6, 90, dropouts=Dropouts(0.0, 0.0), rng=rng())
    hidden = Hidden(torch.tensor([3, 5]), torch.arange(10))
    h = torch.randn(10, 6, generator=rng(1))
    other = h.clone()
    other[[3, 5]] += 1
    one, two = (decoder(each, edges_of(ring), hidden).cosines(made, hidden.nodes) for each in (h, other))
    assert torch.equal(one, two)
    other[4] += 1
    assert not torch.equal(one, decoder(other, edges_of(ring), hidden).cosines(made, hidden.nodes))


def test_weights_begin_wide_and_by_the_seed():
    drawn = [Encoder(400, 300, heads=2, dropouts=Dropouts(0.0, 0.0), rng=rng(seed)).first for seed in (0, 0, 1)]
    assert torch.equal(drawn[0].weight, drawn[1].weight)
    assert not torch.equal(drawn[0].weight, drawn[2].weight)
    # Glorot and Bengio's deviation, times the root of 2; attention's ends are counted of a tensor (1, heads, width).
    assert drawn[0].weight.std().item() == pytest.approx(2 / 700**0.5, rel=0.02)
    ends = torch.cat([drawn[0].source, drawn[0].target])
    assert ends.std().item() == pytest.approx(2 / (2 * 150 + 150) ** 0.5, rel=0.15)


@pytest.mark.parametrize("heads", [1, 2])
def test_attention_is_dropped_in_training_alone(heads):
    pattern = edges_of(np.array([[0, 1], [1, 0]])).pattern
    layer = GAT(4, 4, rng=rng(), heads=heads, dropout=0.75)
    factors = torch.cat([layer.factors(pattern) for _ in range(500)])
    assert factors.shape == (500 * pattern.num_entries, heads)
    assert set(factors.unique().tolist()) == {0.0, 4.0}
    assert float(factors.mean()) == pytest.approx(1, abs=0.1)
    assert layer.eval().factors(pattern) is None
    assert GAT(4, 4, rng=rng()).factors(pattern) is None


def test_a_guess_of_nothing_has_no_direction(features):
    made, _ = features
    weight = torch.ones(4, 90, requires_grad=True)
    cosines = Guess(torch.zeros(2, 4), weight, torch.zeros(90)).cosines(made, torch.tensor([0, 9]))
    assert cosines.tolist() == [0, 0]
    cosines.sum().backward()
    assert torch.isfinite(weight.grad).all()
