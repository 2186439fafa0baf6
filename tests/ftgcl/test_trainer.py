"""The training loop: Algorithm 2 of the paper, on any graph, with a clear error if training diverges."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from scipy.stats import chisquare
from torch.nn import functional

import graphprox
from contracts.graphs import permute
from graphprox import Graph
from graphprox.errors import TrainingError
from graphprox.ftgcl.fit import rank_views
from graphprox.ftgcl.recipe import Recipe
from graphprox.ftgcl.trainer import EPOCH_STREAM, Trainer, train, train_with_snapshots
from graphprox.nn.encoders.base import ENCODERS
from graphprox.nn.objectives.base import OBJECTIVES
from graphprox.views.ranking import Ranking

CPU = torch.device("cpu")


@pytest.fixture
def logs(graph, rankings):
    """Train, and return the log of each epoch."""

    def logs(recipe):
        received = []
        train(graph, rankings, recipe, callbacks=[received.append])
        return received

    return logs


# -- pairs ----------------------------------------------------------------------------------------------------------


def test_pairs_alternate(logs, small):
    three = (("graph", "feature"), ("graph", "topology"), ("feature", "neighborhood"))
    epochs = logs(small.merged({"pairs": three, "epochs": 7}))
    assert [log.epoch for log in epochs] == list(range(1, 8))
    assert [log.pairs for log in epochs] == [(three[number % 3],) for number in range(7)]
    assert [sorted(log.k) for log in epochs[:3]] == [["feature"], ["topology"], ["feature", "neighborhood"]]


def test_sum_contrasts_all_pairs_in_each_epoch(logs, small):
    epochs = logs(small.merged({"schedule": "sum"}))
    assert {log.pairs for log in epochs} == {small.pairs}
    assert {tuple(log.k) for log in epochs} == {("feature", "topology")}


def test_loss_of_a_sum_is_the_sum_of_the_losses(graph, rankings, small):
    def first_loss(**changes):
        return Trainer(graph, rankings, small.merged(changes), device=CPU).step().loss

    alone = [first_loss(pairs=[pair]) for pair in small.pairs]
    assert first_loss(schedule="sum") == pytest.approx(sum(alone), abs=1e-5)


def test_callbacks_receive_the_loss_and_duration_of_each_epoch(graph, rankings, small):
    received = []
    _, losses = train(graph, rankings, small, callbacks=iter([received.append]))
    assert [log.loss for log in received] == losses
    assert all(log.seconds > 0 for log in received)


def test_training_lowers_the_loss(logs, small):
    losses = [log.loss for log in logs(small.merged({"epochs": 60, "optimizer": {"learning_rate": 0.01}}))]
    assert np.mean(losses[-10:]) < np.mean(losses[:10]) - 0.5


# -- k --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def many_logs(graph, rankings, small, monkeypatch):
    """Logs of many epochs, whose loss is constant."""

    def zero_loss(self, pairs, position, rng):
        return sum(parameter.sum() for parameter in self.model.parameters()) * 0

    monkeypatch.setattr(Trainer, "_loss", zero_loss)

    def many_logs(**changes):
        trainer = Trainer(graph, rankings, small.merged(changes), device=CPU)
        return [trainer.step() for _ in range(800)]

    return many_logs


def test_k_is_uniform_on_its_range_for_each_view(many_logs):
    logs = many_logs()
    for view in ("feature", "topology"):
        counts = Counter(log.k[view] for log in logs if view in log.k)
        assert sorted(counts) == [1, 2, 3, 4]
        assert chisquare(list(counts.values())).pvalue > 0.001


def test_views_of_one_range_share_k(many_logs):
    assert all(log.k["feature"] == log.k["topology"] for log in many_logs(schedule="sum"))


def test_views_can_have_different_ranges_of_k(many_logs):
    logs = many_logs(schedule="sum", views={"feature": {"k_min": 2, "k_max": 3}, "topology": {"k_max": 4}})
    assert {log.k["feature"] for log in logs} == {2, 3}
    assert {log.k["topology"] for log in logs} == {1, 2, 3, 4}


def test_range_of_k_can_be_a_single_number(many_logs):
    assert {k for log in many_logs(views={"k_min": 3, "k_max": 3}) for k in log.k.values()} == {3}


# -- a reference implementation -------------------------------------------------------------------------------------


def eq_2(h, h_a, temperature):
    """Eq. 2 of the paper, channel by channel."""
    channels = h.shape[1]
    cosine = [
        [functional.cosine_similarity(h[:, i], h_a[:, j], dim=0) / temperature for j in range(channels)]
        for i in range(channels)
    ]
    total = 0.0
    for i in range(channels):
        for row in (cosine[i], [cosine[j][i] for j in range(channels)]):
            negatives = sum(row[j].exp() for j in range(channels) if j != i)
            total = total - torch.log(row[i].exp() / negatives)
    return total / channels


class Reference(torch.nn.Module):
    """FT-GCL written with the layers of PyG, with the weights of a given model."""

    def __init__(self, model, graph):
        from torch_geometric.nn import GATConv

        super().__init__()
        self.x = torch.nn.functional.normalize(torch.tensor(graph.x.toarray()), p=1, dim=1)
        self.convolutions, self.activations, self.layers = (torch.nn.ModuleList() for _ in range(3))
        for ours, activation in zip(model.encoder.convolutions, model.encoder.activations, strict=True):
            layer = GATConv(*ours.weight.shape)
            copies = [(layer.lin.weight, ours.weight.T), (layer.att_src, ours.source), (layer.att_dst, ours.target)]
            slopes = torch.nn.PReLU(len(activation.slope))
            for theirs, given in [*copies, (layer.bias, ours.bias), (slopes.weight, activation.slope)]:
                theirs.data.copy_(given.detach())
            self.convolutions.append(layer)
            self.activations.append(slopes)
        for ours in model.head.layers:
            layer = torch.nn.Linear(*reversed(ours.weight.shape))
            layer.load_state_dict(ours.state_dict())
            self.layers.append(layer)

    def encode(self, edge_index):
        h = self.x
        for convolution, activation in zip(self.convolutions, self.activations, strict=True):
            h = activation(convolution(h, torch.tensor(edge_index)))
        return h

    def forward(self, edge_index):
        first, second = self.layers
        return second(functional.elu(first(self.encode(edge_index))))


@pytest.mark.usefixtures("data")
def test_training_on_cora_equals_a_reference_implementation():
    cora = graphprox.load("Cora").graph
    recipe = Recipe(
        epochs=4,
        encoder={"name": "gat", "n_components": 32, "hidden_channels": 48},
        head={"num_layers": 2, "out_channels": 12},
        views={
            "k_max": 8,
            "feature": {"binary": True},
            "topology": {"num_walks": 5, "walk_length": 5, "num_landmarks": 50},
        },
    )
    rankings = rank_views(cora, recipe, cache=False)
    trainer = Trainer(cora, rankings, recipe, device=CPU)
    reference = Reference(trainer.model, cora)
    adam = torch.optim.Adam(
        reference.parameters(), lr=recipe.optimizer.learning_rate, weight_decay=recipe.optimizer.weight_decay
    )
    for number in range(recipe.epochs):
        view = ("feature", "topology")[number % 2]
        k = 1 + int(np.random.default_rng([recipe.random_state, EPOCH_STREAM, number]).random() * 8)
        loss = eq_2(reference(cora.edge_index), reference(rankings[view].edge_index(k)), recipe.objective.temperature)
        log = trainer.step()
        assert log.k == {view: k}
        assert log.loss == pytest.approx(loss.item(), abs=1e-5 * abs(loss.item()))
        adam.zero_grad()
        loss.backward()
        adam.step()
    embedding = reference.encode(cora.edge_index).detach().numpy()
    np.testing.assert_allclose(trainer.model.embed(cora), embedding, rtol=0, atol=1e-3 * np.abs(embedding).max())


# -- invariance -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("encoder", ENCODERS)
def test_training_is_permutation_equivariant(graph, rankings, small, encoder, objective):
    recipe = small.merged({"encoder": {"name": encoder}, "objective": {"name": objective}})
    order = np.random.default_rng(1).permutation(graph.num_nodes)
    place = np.argsort(order)
    moved = permute(graph, order)
    # Permuted and not ranked again, as ties are broken at random.
    moved_rankings = {
        view: Ranking(np.where(ranking.neighbors < 0, -1, place[ranking.neighbors])[order], ranking.similarities[order])
        for view, ranking in rankings.items()
    }
    expected = train(graph, rankings, recipe)[0].embed(graph)[order]
    found = train(moved, moved_rankings, recipe)[0].embed(moved)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)


def test_random_state_determines_the_result(recipe, run, uninterrupted):
    assert run(recipe) == uninterrupted(recipe)
    other = uninterrupted(recipe.merged({"random_state": 1}))
    assert other.vectors != uninterrupted(recipe).vectors


def test_global_random_states_are_neither_used_nor_advanced(run, uninterrupted, recipe):
    torch.manual_seed(3)
    np.random.seed(3)  # noqa: NPY002
    before = torch.random.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    assert run(recipe) == uninterrupted(recipe)
    assert torch.equal(torch.random.get_rng_state(), before[0])
    assert np.array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002


def test_augmentation_is_sampled_again_in_each_epoch(graph, rankings, small):
    recipe = small.merged(
        {"pairs": [["graph+some", "graph+some"]], "augmentations": {"some": {"drop_edges": 0.5}}, "epochs": 6}
    )
    frozen = recipe.merged({"optimizer": {"learning_rate": 1e-30}})
    _, losses = train(graph, rankings, frozen)
    assert len(set(losses)) == 6


# -- odd graphs -----------------------------------------------------------------------------------------------------


def odd_graphs():
    rng = np.random.default_rng(0)
    edges = rng.integers(0, 30, (2, 60))
    x = rng.random((30, 5)).astype(np.float32)
    return {
        "isolated nodes": Graph(x, np.empty((2, 0), int)),
        "ten nodes": Graph(x[:10], [[0, 1, 2, 3], [1, 2, 3, 4]]),
        "two nodes": Graph(x[:2], [[0], [1]]),
        "two nodes without edges": Graph(x[:2], np.empty((2, 0), int)),
        "constant features": Graph(np.ones((30, 5)), edges),
        "features of zeros": Graph(np.zeros((30, 5)), edges),
        "one feature": Graph(x[:, :1], edges),
        "negative features": Graph(x - 0.5, edges),
        "weighted": Graph(x, edges, edge_weight=rng.random(60) * 5),
        "directed": Graph(x, edges, directed=True),
        "directed and weighted": Graph(x, edges, edge_weight=rng.random(60) * 5, directed=True),
        "self-loops": Graph(x, [range(30), range(30)]),
    }


ODD = odd_graphs()


@pytest.fixture(scope="module", params=ODD.values(), ids=ODD)
def odd(request):
    """An unusual graph and the rankings of its views."""
    recipe = Recipe(views={"k_max": 4, "topology": {"num_walks": 3, "walk_length": 3, "num_landmarks": 5}})
    return request.param, rank_views(request.param, recipe, cache=False)


@pytest.mark.parametrize(("objective", "head_layers"), [("channel", 0), ("channel", 2), ("node", 0)])
@pytest.mark.parametrize("encoder", ENCODERS)
def test_training_on_an_odd_graph_stays_finite(odd, encoder, objective, head_layers):
    graph, rankings = odd
    recipe = Recipe(
        epochs=5,
        encoder={"name": encoder, "n_components": 6},
        head={"out_channels": 4, "num_layers": head_layers},
        objective={"name": objective},
        optimizer={"learning_rate": 0.05},
    )
    model, losses = train(graph, rankings, recipe)
    assert np.isfinite(losses).all()
    assert all(torch.isfinite(parameter).all() for parameter in model.parameters())
    assert np.isfinite(model.embed(graph)).all()


# -- divergence -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoder", ENCODERS)
def test_infinite_loss_stops_the_training(graph, rankings, small, encoder, tmp_path):
    recipe = small.merged({"optimizer": {"learning_rate": 1e30}, "encoder": {"name": encoder}})
    with pytest.raises(TrainingError) as diverged:
        train(graph, rankings, recipe, checkpoints=tmp_path / "checkpoints")
    message = str(diverged.value)
    assert message.startswith("training diverged: the loss must be finite; it became ")
    assert "in epoch 2 (graph against topology)" in message
    assert "lower learning_rate (now 1e+30) or raise temperature (now 0.5)" in message
    assert list((tmp_path / "checkpoints").iterdir()) == []


def test_message_of_a_diverged_sum_names_all_pairs(graph, rankings, small):
    recipe = small.merged({"optimizer": {"learning_rate": 1e30}, "schedule": "sum"})
    with pytest.raises(TrainingError, match=r"\(graph against feature and graph against topology\)"):
        train(graph, rankings, recipe)


def test_snapshots_equal_training_runs_of_that_many_epochs(graph, rankings, small):
    snapshots = list(train_with_snapshots(graph, rankings, small, [10, 0, 4]))
    assert [len(losses) for losses, _ in snapshots] == [0, 4, 10]
    for losses, vectors in snapshots:
        model, expected = train(graph, rankings, small.merged({"epochs": len(losses)}))
        assert losses == expected
        assert vectors.tobytes() == model.embed(graph).tobytes()


def test_weights_that_give_no_finite_embedding_are_an_error(graph, rankings, small):
    recipe = small.merged({"optimizer": {"learning_rate": 1e30}, "epochs": 1})
    model, _ = train(graph, rankings, recipe)
    with pytest.raises(TrainingError, match=r"an embedding must be finite; .*: lower learning_rate \(now 1e"):
        model.embed(graph)
