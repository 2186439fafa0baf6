"""Training and embedding in chunks against the full batch."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from graphprox import FTGCL, Graph, synthetic
from graphprox.errors import ParameterError, TrainingError
from graphprox.ftgcl import chunked_trainer, training_costs
from graphprox.ftgcl.chunked_trainer import ChunkedTrainer, InChunks, choose_batches
from graphprox.ftgcl.fit import fit_recipe
from graphprox.ftgcl.recipe import Recipe
from graphprox.ftgcl.row_sources import RowSources
from graphprox.ftgcl.stored_tables import WorkFolder
from graphprox.ftgcl.trainer import FULL_BATCH, Trainer, train

CPU = torch.device("cpu")
LINEAR = {"name": "diffusion", "num_layers": 1, "activation": "none", "n_components": 12}
ENCODERS_OF_ROWS = {
    "diffusion": LINEAR,
    "heat kernel": {**LINEAR, "kernel": "heat"},
    "three linear layers": {**LINEAR, "num_layers": 3, "hidden_channels": 6, "residual": True, "jumping": "concat"},
    "mlp": {"name": "mlp", "n_components": 12},
    "deep mlp": {"name": "mlp", "n_components": 12, "num_layers": 3, "residual": True, "activation": "elu"},
}
MASKED = {
    "pairs": [["graph+mask", "feature+mask"], ["graph", "topology+mask"], ["graph", "feature"]],
    "augmentations": {"mask": {"mask_features": 0.3}},
}
SAMPLED = {
    "pairs": [["graph+light", "feature+light"], ["graph+light", "graph+light"]],
    "augmentations": {"light": {"drop_edges": 0.4, "mask_features": 0.2, "edge_samples": 3}},
}
SOURCES = {"views": {}, "masked": MASKED, "sampled edges": SAMPLED}
every_encoder = pytest.mark.parametrize("encoder", ENCODERS_OF_ROWS.values(), ids=ENCODERS_OF_ROWS)
every_source = pytest.mark.parametrize("sources", SOURCES.values(), ids=SOURCES)
both_schedules = pytest.mark.parametrize(("schedule", "head"), [("alternate", 0), ("sum", 2)])


@pytest.fixture
def recipe_of(small):
    def recipe_of(encoder, *, head=0, **changes):
        return small.merged({"encoder": encoder, "head": {"num_layers": head}, "epochs": 4, **changes})

    return recipe_of


@pytest.fixture(scope="module")
def centered(graph):
    """The graph with features of mean 0: any sum in single precision loses digits if columns are nearly parallel."""
    return graph.with_features(np.random.default_rng(0).standard_normal(graph.x.shape))


@pytest.fixture
def chunked(graph, rankings, tmp_path):
    """Make a trainer of the graph in chunks."""

    def chunked(recipe, chunk_size=50, graph=graph, rankings=rankings):
        return ChunkedTrainer(
            graph, rankings, recipe, device=CPU, chunk_size=chunk_size, work=WorkFolder(tmp_path / "work")
        )

    return chunked


def shift_biases(model):
    """Change weights that are initially zero."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in model.parameters():
            weight += 0.05 * torch.randn(weight.shape, generator=generator)


def gradient_of(trainer, number):
    """Return loss and gradient of an epoch, all weights in one vector."""
    rng = np.random.default_rng([0, number])
    trainer.optimizer.zero_grad()
    loss = trainer._compute_gradient(trainer._pairs(number), rng.random(), rng)
    return loss, torch.cat(
        [weight.grad.reshape(-1) for weight in trainer.model.parameters() if weight.grad is not None]
    )


# -- the gradient ---------------------------------------------------------------------------------------------------


@every_encoder
@every_source
@both_schedules
def test_gradient_is_that_of_the_full_batch(centered, rankings, recipe_of, chunked, encoder, sources, schedule, head):
    recipe = recipe_of(encoder, head=head, schedule=schedule, normalize="none", **sources)
    full = Trainer(centered, rankings, recipe, device=CPU)
    shift_biases(full.model)
    for chunk_size in (33, 139, 1000):
        ours = chunked(recipe, chunk_size, centered)
        ours.model.load_state_dict(full.model.state_dict())
        for number in range(2):
            (loss, found), (expected_loss, expected) = (gradient_of(each, number) for each in (ours, full))
            assert loss == pytest.approx(expected_loss, abs=1e-5 * abs(expected_loss))
            assert (found - expected).norm() <= 1e-5 * expected.norm()


@every_encoder
@every_source
@both_schedules
def test_gradient_in_double_precision_is_that_of_all_rows_together(
    centered, recipe_of, chunked, encoder, sources, schedule, head
):
    trainer = chunked(recipe_of(encoder, head=head, schedule=schedule, normalize="none", **sources), 30, centered)
    trainer.model.double()
    shift_biases(trainer.model)
    for number in range(3):
        loss, found = gradient_of(trainer, number)
        rng = np.random.default_rng([0, number])
        pairs = trainer._pairs(number)
        views = trainer.sources.encode_pairs(trainer.sources.draw_pairs(pairs, rng.random(), rng), slice(0, 140))
        expected_loss = sum(trainer.objective(a, b, trainer.recipe.objective) for a, b in views)
        weights = [weight for weight in trainer.model.parameters() if weight.grad is not None]
        expected = torch.cat([each.reshape(-1) for each in torch.autograd.grad(expected_loss, weights)])
        assert loss == pytest.approx(expected_loss.item(), abs=1e-12)
        assert (found - expected).norm() <= 1e-12 * expected.norm()


@pytest.mark.parametrize("directed", [False, True])
def test_weights_and_directions_of_edges_count(rankings, recipe_of, chunked, graph, directed):
    index = graph.edge_index[:, graph.edge_index[0] < graph.edge_index[1]]
    weight = np.random.default_rng(0).uniform(0.1, 3, index.shape[1])
    weighted = Graph(graph.x, index, edge_weight=weight, directed=directed)
    recipe = recipe_of(LINEAR)
    ours, full = chunked(recipe, 50, weighted), Trainer(weighted, rankings, recipe, device=CPU)
    (_, found), (_, expected) = gradient_of(ours, 0), gradient_of(full, 0)
    assert (found - expected).norm() <= 1e-5 * expected.norm()


def test_sparse_features_give_the_same_gradient(rankings, recipe_of, chunked, graph):
    x = np.where(np.random.default_rng(0).random((140, 60)) < 0.04, 1.0, 0.0).astype(np.float32)
    sparse = Graph(sp.csr_array(x), graph.edge_index)
    for encoder in (LINEAR, ENCODERS_OF_ROWS["mlp"]):
        recipe = recipe_of(encoder)
        ours, full = chunked(recipe, 50, sparse), Trainer(sparse, rankings, recipe, device=CPU)
        (_, found), (_, expected) = gradient_of(ours, 0), gradient_of(full, 0)
        assert (found - expected).norm() <= 1e-5 * expected.norm()


# -- training and embedding -----------------------------------------------------------------------------------------


@every_encoder
def test_training_in_chunks_gives_the_vectors_of_the_full_batch(graph, recipe_of, encoder):
    recipe = recipe_of(encoder, epochs=6)
    full = fit_recipe(graph, recipe, cache=False, device="cpu")
    ours = fit_recipe(graph, recipe.merged({"chunk_size": 40}), cache=False, device="cpu")
    np.testing.assert_allclose(ours.losses, full.losses, rtol=0, atol=1e-4)
    np.testing.assert_allclose(ours.vectors, full.vectors, rtol=0, atol=1e-4 * np.abs(full.vectors).max())


def test_one_chunk_is_the_full_batch_bit_by_bit(graph, recipe_of):
    recipe = recipe_of(LINEAR)
    full, ours = (
        fit_recipe(graph, each, cache=False, device="cpu") for each in (recipe, recipe.merged({"chunk_size": 140}))
    )
    assert full.losses.tobytes() == ours.losses.tobytes()
    assert full.vectors.tobytes() == ours.vectors.tobytes()


def test_training_in_chunks_is_deterministic(graph, recipe_of):
    recipe = recipe_of(LINEAR, chunk_size=40)
    first, second = (fit_recipe(graph, recipe, cache=False, device="cpu").vectors for _ in range(2))
    assert first.tobytes() == second.tobytes()


def test_resumed_training_gives_the_same_bytes(graph, rankings, recipe_of, tmp_path):
    recipe = recipe_of(LINEAR, chunk_size=40, epochs=7)
    batches = InChunks(40, WorkFolder(tmp_path / "work"))
    expected, losses = train(graph, rankings, recipe, batches=batches)
    options = {"checkpoints": tmp_path / "checkpoints", "batches": batches}
    train(graph, rankings, recipe.merged({"epochs": 3}), **options)
    model, resumed = train(graph, rankings, recipe, resume=True, **options)
    assert resumed == losses
    assert batches.embed(model, graph).tobytes() == batches.embed(expected, graph).tobytes()


def test_resumed_fit_finds_propagated_features_and_removes_them_at_the_end(graph, recipe_of, tmp_path, monkeypatch):
    recipe = recipe_of(LINEAR, chunk_size=40, epochs=7, views={"k_min": 4})
    options = {"cache": False, "device": "cpu", "folder": tmp_path / "model"}
    expected = fit_recipe(graph, recipe, cache=False, device="cpu")

    def interrupt(log):
        if log.epoch == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit_recipe(graph, recipe, callbacks=[interrupt], checkpoint_every=3, **options)
    assert len(list((tmp_path / "model" / "work").glob("*.json"))) == 3  # the graph and two views
    calls = []
    monkeypatch.setattr(RowSources, "_propagate", lambda *_: calls.append(_))
    resumed = fit_recipe(graph, recipe, resume=True, **options)
    assert calls == []
    assert resumed.vectors.tobytes() == expected.vectors.tobytes()
    assert not (tmp_path / "model" / "work").exists()


def test_transform_of_another_graph_is_that_of_the_full_batch(recipe_of):
    trained = FTGCL.from_recipe(recipe_of(LINEAR, chunk_size=40), cache=False).fit(synthetic(nodes=140))
    other = synthetic(nodes=210, random_state=1)
    np.testing.assert_allclose(trained.transform(other), trained.model_.embed(other), rtol=1e-4, atol=1e-5)


def test_vectors_that_take_much_of_the_memory_are_a_memory_map(graph, recipe_of, monkeypatch):
    recipe = recipe_of(LINEAR, chunk_size=40)
    in_memory = fit_recipe(graph, recipe, cache=False, device="cpu").vectors
    monkeypatch.setattr(chunked_trainer, "available_memory", lambda: 0)
    mapped = FTGCL.from_recipe(recipe, cache=False, device="cpu").fit(graph)
    assert isinstance(mapped.vectors_, np.memmap)
    assert mapped.vectors_.tobytes() == in_memory.tobytes()
    assert np.shares_memory(mapped.embedding_.vectors, mapped.vectors_)


def test_infinite_weights_are_an_error(graph, recipe_of):
    recipe = recipe_of(LINEAR, chunk_size=40, optimizer={"learning_rate": 1e30})
    with pytest.raises(TrainingError, match="training diverged: the loss must be finite"):
        fit_recipe(graph, recipe, cache=False)
    largest = recipe.merged({"epochs": 1, "optimizer": {"learning_rate": 3e38}})
    with pytest.raises(TrainingError, match="an embedding must be finite"):
        fit_recipe(graph.with_features(100 * graph.x), largest.merged({"normalize": "none"}), cache=False)


# -- the choice -----------------------------------------------------------------------------------------------------


def test_all_nodes_are_encoded_together_if_there_is_enough_memory(graph, recipe_of):
    with choose_batches(graph, recipe_of(LINEAR)) as batches:
        assert batches is FULL_BATCH


def test_nodes_are_encoded_in_chunks_if_there_is_too_little_memory(graph, recipe_of, monkeypatch):
    monkeypatch.setattr(training_costs, "available_memory", lambda: 2**20)
    with choose_batches(graph, recipe_of(LINEAR)) as batches:
        assert isinstance(batches, InChunks)
    with choose_batches(graph, recipe_of({"name": "gcn"})) as batches:  # which nothing else can do
        assert batches is FULL_BATCH


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"encoder": LINEAR, "objective": {"name": "node"}},
            "chunk_size needs an objective that is a function of sums over nodes; got objective.name = 'node': use one "
            "of channel, or leave chunk_size out",
        ),
        (
            {"encoder": {"name": "gat"}},
            "chunk_size needs an encoder that works on the features of single nodes once they are diffused; got "
            "encoder.name = 'gat' with 2 layers and encoder.activation = 'prelu': use diffusion with activation none, "
            "or mlp, or leave chunk_size out",
        ),
    ],
)
def test_recipe_that_cannot_be_trained_in_chunks_is_rejected(changes, message):
    with pytest.raises(ParameterError) as error:
        Recipe(chunk_size=100, **changes)
    assert str(error.value) == message
