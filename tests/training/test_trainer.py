"""The loop does what Algorithm 2 says, whatever the graph, and says so when it goes astray."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from scipy.stats import chisquare
from torch.nn import functional

import graphprox
from graphprox import Graph
from graphprox.errors import TrainingError
from graphprox.proximity.ranking import Ranking
from graphprox.training.fitting import ranked_views
from graphprox.training.recipe import Recipe
from graphprox.training.trainer import STEPS_STREAM, Trainer, train

CPU = torch.device("cpu")


@pytest.fixture
def steps(graph, rankings):
    """The steps that a training takes."""

    def steps(recipe, *, rankings=rankings):
        taken = []
        train(graph, rankings, recipe, on_step=taken.append)
        return taken

    return steps


# -- turns ----------------------------------------------------------------------------------------------------------


def test_turns_alternate(steps, small):
    three = (("graph", "feature"), ("graph", "topology"), ("feature", "neighbourhood"))
    taken = steps(small.merged({"turns": three, "steps": 7}))
    assert [step.step for step in taken] == list(range(1, 8))
    assert [step.turns for step in taken] == [(three[number % 3],) for number in range(7)]
    assert [sorted(step.k) for step in taken[:3]] == [["feature"], ["topology"], ["feature", "neighbourhood"]]


def test_a_sum_takes_all_turns_each_step(steps, small):
    taken = steps(small.merged({"schedule": "sum"}))
    assert {step.turns for step in taken} == {small.turns}
    assert {tuple(step.k) for step in taken} == {("feature", "topology")}


def test_the_loss_of_a_sum_is_the_sum_of_the_losses(graph, rankings, small):
    def first_loss(**changes):
        return Trainer(graph, rankings, small.merged(changes), device=CPU).step().loss

    alone = [first_loss(turns=[turn]) for turn in small.turns]
    assert first_loss(schedule="sum") == pytest.approx(sum(alone), abs=1e-5)


def test_a_step_tells_its_loss_and_how_long_it_took(graph, rankings, small):
    taken = []
    _, losses = train(graph, rankings, small, on_step=taken.append)
    assert [step.loss for step in taken] == losses
    assert all(step.seconds > 0 for step in taken)


def test_training_lowers_the_loss(steps, small):
    taken = steps(small.merged({"steps": 60, "optimizer": {"learning_rate": 0.01}}))
    losses = [step.loss for step in taken]
    assert np.mean(losses[-10:]) < np.mean(losses[:10]) - 0.5


# -- k --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def many_steps(graph, rankings, small, monkeypatch):
    """Steps whose loss is left out, so that thousands can be taken."""

    def nothing(self, turns, position, rng):
        return sum(parameter.sum() for parameter in self.model.parameters()) * 0

    monkeypatch.setattr(Trainer, "_loss", nothing)

    def many_steps(**changes):
        trainer = Trainer(graph, rankings, small.merged(changes), device=CPU)
        return [trainer.step() for _ in range(2_000)]

    return many_steps


def test_k_is_uniform_on_its_range(many_steps):
    counts = Counter(k for step in many_steps() for k in step.k.values())
    assert sorted(counts) == [1, 2, 3, 4]
    assert chisquare(list(counts.values())).pvalue > 0.001


def test_k_is_uniform_for_each_view_by_itself(many_steps):
    taken = many_steps()
    for view in ("feature", "topology"):
        counts = Counter(step.k[view] for step in taken if view in step.k)
        assert chisquare(list(counts.values())).pvalue > 0.001


def test_one_k_serves_both_views(many_steps):
    assert all(step.k["feature"] == step.k["topology"] for step in many_steps(schedule="sum"))


def test_views_may_have_ranges_of_their_own(many_steps):
    taken = many_steps(schedule="sum", views={"k_feature": [2, 3], "k_topology": [1, 4]})
    assert Counter(step.k["feature"] for step in taken).keys() == {2, 3}
    assert Counter(step.k["topology"] for step in taken).keys() == {1, 2, 3, 4}


def test_a_range_may_be_one_number(many_steps):
    assert {k for step in many_steps(views={"k_min": 3, "k_max": 3}) for k in step.k.values()} == {3}


# -- the plain way --------------------------------------------------------------------------------------------------


def eq_2(h, h_a, temperature):
    """Eq. 2 of the paper, as printed, one channel after another."""
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


class Plain(torch.nn.Module):
    """FT-GCL as anybody would write it with PyG, with the weights of a model of ours."""

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


def test_steps_on_cora_are_those_that_pyg_and_the_printed_formulas_take(data):
    cora = graphprox.load("Cora", data=data).graph
    recipe = Recipe(
        steps=4,
        encoder={"width": 32, "hidden": 48},
        head={"width": 12},
        views={"k_max": 8, "binary": True},
        topology={"walks": 5, "length": 5, "landmarks": 50},
    )
    rankings = ranked_views(cora, recipe, cache=False)
    trainer = Trainer(cora, rankings, recipe, device=CPU)
    plain = Plain(trainer.model, cora)
    adam = torch.optim.Adam(
        plain.parameters(), lr=recipe.optimizer.learning_rate, weight_decay=recipe.optimizer.weight_decay
    )
    for number in range(recipe.steps):
        view = ("feature", "topology")[number % 2]
        k = 1 + int(np.random.default_rng([recipe.seed, STEPS_STREAM, number]).random() * 8)
        loss = eq_2(plain(cora.edge_index), plain(rankings[view].graph(k)), recipe.objective.temperature)
        taken = trainer.step()
        assert taken.k == {view: k}
        assert taken.loss == pytest.approx(loss.item(), abs=1e-5 * abs(loss.item()))
        adam.zero_grad()
        loss.backward()
        adam.step()
    embedding = plain.encode(cora.edge_index).detach().numpy()
    np.testing.assert_allclose(trainer.model.embed(cora), embedding, rtol=0, atol=1e-3 * np.abs(embedding).max())


# -- what plays no part ---------------------------------------------------------------------------------------------


def test_labels_play_no_part(graph, rankings, recipe):
    embeddings = {
        train(each, rankings, recipe)[0].embed(each).tobytes()
        for each in (graph, graph.without_labels(), graph.with_labels(graph.y[::-1]))
    }
    assert len(embeddings) == 1


@pytest.mark.parametrize("contrast", ["channel", "node"])
@pytest.mark.parametrize("kind", ["gat", "sage", "gcn", "gin", "mlp"])
def test_nodes_in_another_order_get_the_same_embedding(graph, rankings, small, kind, contrast):
    recipe = small.merged({"encoder": {"kind": kind}, "objective": {"contrast": contrast}})
    order = np.random.default_rng(1).permutation(graph.num_nodes)  # the old number of each new node
    place = np.argsort(order)  # the new number of each old node
    moved = Graph(graph.x[order], place[graph.edge_index])
    # Moved and not ranked anew, as ties are drawn by chance.
    moved_rankings = {
        view: Ranking(np.where(ranking.neighbors < 0, -1, place[ranking.neighbors])[order], ranking.similarities[order])
        for view, ranking in rankings.items()
    }
    expected = train(graph, rankings, recipe)[0].embed(graph)[order]
    found = train(moved, moved_rankings, recipe)[0].embed(moved)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)


def test_the_seed_decides(graph, rankings, recipe, undisturbed, outcome):
    assert outcome(recipe) == undisturbed(recipe)
    other = undisturbed(recipe.merged({"seed": 1}))
    assert other.embedding != undisturbed(recipe).embedding


def test_nothing_outside_is_drawn_from(outcome, undisturbed, recipe):
    torch.manual_seed(3)
    np.random.seed(3)  # noqa: NPY002
    before = torch.random.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    assert outcome(recipe) == undisturbed(recipe)
    assert torch.equal(torch.random.get_rng_state(), before[0])
    assert np.array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002


def test_a_corruption_is_drawn_anew_each_step_and_for_each_side(graph, rankings, small):
    """Were the two copies one, each would be its own positive and the loss the least there is."""
    recipe = small.merged(
        {"turns": [["graph+some", "graph+some"]], "corruptions": {"some": {"drop_edges": 0.5}}, "steps": 6}
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
        "two nodes apart": Graph(x[:2], np.empty((2, 0), int)),
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
    """A graph out of the ordinary and the rankings of its views."""
    recipe = Recipe(views={"k_max": 4}, topology={"walks": 3, "length": 3, "landmarks": 5})
    return request.param, ranked_views(request.param, recipe, cache=False)


@pytest.mark.parametrize("contrast", ["channel", "node"])
@pytest.mark.parametrize("kind", ["gat", "sage", "gcn", "gin", "mlp"])
@pytest.mark.parametrize("layers", [0, 2])
def test_odd_graphs_train_too(odd, kind, contrast, layers):
    graph, rankings = odd
    recipe = Recipe(
        steps=5,
        encoder={"kind": kind, "width": 6},
        head={"width": 4, "layers": layers},
        objective={"contrast": contrast},
        optimizer={"learning_rate": 0.05},
    )
    model, losses = train(graph, rankings, recipe)
    assert np.isfinite(losses).all()
    assert all(torch.isfinite(parameter).all() for parameter in model.parameters())
    assert np.isfinite(model.embed(graph)).all()


# -- astray ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["gat", "sage", "gcn", "gin", "mlp"])
def test_a_loss_that_is_not_finite_stops_the_training(graph, rankings, small, kind, tmp_path):
    recipe = small.merged({"optimizer": {"learning_rate": 1e30}, "encoder": {"kind": kind}})
    with pytest.raises(TrainingError) as astray:
        train(graph, rankings, recipe, checkpoints=tmp_path / "checkpoints")
    said = str(astray.value)
    assert said.startswith("the loss must stay finite; it became ")
    assert "at step 2 (graph against topology)" in said
    assert "lower optimizer.learning_rate (now 1e+30) or raise objective.temperature (now 0.2)" in said
    assert list((tmp_path / "checkpoints").iterdir()) == []


def test_all_turns_of_a_sum_are_named_when_it_goes_astray(graph, rankings, small):
    recipe = small.merged({"optimizer": {"learning_rate": 1e30}, "schedule": "sum"})
    with pytest.raises(TrainingError, match=r"\(graph against feature and graph against topology\)"):
        train(graph, rankings, recipe)


def test_weights_that_make_no_embedding_are_told(graph, rankings, small):
    recipe = small.merged({"optimizer": {"learning_rate": 1e30}, "steps": 1})
    model, _ = train(graph, rankings, recipe)
    with pytest.raises(TrainingError, match=r"an embedding must be finite; .*: lower optimizer.learning_rate \(now 1e"):
        model.embed(graph)
