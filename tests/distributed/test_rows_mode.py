"""Training by several processes without edges: the gradient is that of one process, and little is exchanged.

What processes change in chunked_trainer.py, row_sources.py and stored_tables.py of graphprox.ftgcl.
"""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks.gradients import read_tables_of, set_precision
from graphprox import Graph, ParameterError, synthetic
from graphprox.ftgcl.chunked_trainer import ChunkedTrainer, divide_rows
from graphprox.ftgcl.fit import fit_recipe
from graphprox.ftgcl.recipe import Recipe
from graphprox.ftgcl.row_sources import Draw
from graphprox.ftgcl.stored_tables import WorkFolder
from graphprox.ftgcl.trainer import train
from graphprox.views.search import rank

LINEAR = {"name": "diffusion", "num_layers": 1, "activation": "none", "n_components": 8}
ENCODERS = {
    "diffusion": LINEAR,
    "three linear layers": {**LINEAR, "num_layers": 3, "hidden_channels": 6, "residual": True, "jumping": "concat"},
    "mlp": {"name": "mlp", "n_components": 8},
}
TOLERANCES = {torch.float32: 1e-5, torch.float64: 1e-12}
CPU = torch.device("cpu")


@cache
def make_graph(directed=False):
    rng = np.random.default_rng(0)
    index = synthetic(nodes=140).edge_index
    if not directed:
        return Graph(rng.standard_normal((140, 9)), index)
    return Graph(rng.standard_normal((140, 9)), index, edge_weight=rng.random(index.shape[1]) * 3, directed=True)


def make_recipe(encoder=LINEAR, **changes):
    recipe = Recipe(
        pairs=[["graph", "feature+light"], ["graph+light", "graph+light"]],
        schedule="sum",
        normalize="none",
        encoder=encoder,
        head={"num_layers": 1, "out_channels": 8},
        views={"k_min": 1, "k_max": 4},
        augmentations={"light": {"drop_edges": 0.3, "mask_features": 0.2, "edge_samples": 2}},
        optimizer={"learning_rate": 0.01},
        epochs=5,
    )
    return recipe.merged(changes)


def make_rankings():
    """Rank by all processes together: each must do so as often as the others."""
    return {"feature": rank(make_graph().x, k_max=4)}


def make_trainer(processes, folder, recipe, chunk_size=30, graph=None):
    work = WorkFolder(Path(folder), processes)
    return ChunkedTrainer(graph or make_graph(), make_rankings(), recipe, device=CPU, chunk_size=chunk_size, work=work)


# -- propagation ----------------------------------------------------------------------------------------------------


def read_rows(processes, directed):
    """Return the rows of this process, of the graph, of a view and of sampled edges."""
    graph = make_graph(directed)
    with tempfile.TemporaryDirectory() as folder:
        sources = make_trainer(processes, folder, make_recipe(), graph=graph).sources
        draws = [Draw("graph", 0), Draw("feature", 3), Draw("graph", 0, ("graph+light", 1))]
        read = [sources._read(draw, sources.rows) for draw in draws]
        return [torch.cat([each.features.dense, each.ones], 1) for each in read]


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("directed", [False, True])
def test_features_that_are_propagated_together_are_those_of_one_process(workers, size, directed):
    parts = workers(size, read_rows, directed)
    for found, expected in zip(map(torch.cat, zip(*parts, strict=True)), read_rows(None, directed), strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)


def read_columns_by_blocks(processes):
    with tempfile.TemporaryDirectory() as folder:
        sources = make_trainer(processes, folder, make_recipe()).sources
        # Each process has other memory, but all have to exchange the same columns at a time.
        import graphprox.ftgcl.row_sources as module

        choose_width, module._choose_width = module._choose_width, lambda _: 2 + processes.rank
        try:
            return sources._read(Draw("feature", 2), sources.rows).features.dense, len(list(Path(folder).iterdir()))
        finally:
            module._choose_width = choose_width


def test_processes_with_different_memory_propagate_the_same_columns(workers):
    parts = workers(2, read_columns_by_blocks)
    assert [files for _, files in parts] == [1 + 5] * 2  # a description, and five blocks of two columns
    sources = make_trainer(None, tempfile.mkdtemp(), make_recipe()).sources
    expected = sources._read(Draw("feature", 2), slice(0, 140)).features.dense
    torch.testing.assert_close(torch.cat([rows for rows, _ in parts]), expected, rtol=1e-5, atol=1e-6)


def find_tables(processes, folder, damaged):
    """Return whether each process has made its rows again, after those of one were damaged."""
    first = make_trainer(processes, folder, make_recipe()).sources
    first._read(Draw("graph", 0), first.rows)
    processes.wait()
    own = make_trainer(processes, folder, make_recipe()).sources
    if processes.rank == damaged:
        name = own._work._name(own._key(Draw("graph", 0)))
        (Path(folder) / f"{name}.json").unlink()
    processes.wait()
    calls = []
    own._propagate = lambda draw, propagate=own._propagate: calls.append(draw) or propagate(draw)
    own._read(Draw("graph", 0), own.rows)
    return len(calls)


@pytest.mark.parametrize(("damaged", "made"), [(None, 0), (1, 1)])
def test_stored_features_are_used_if_all_processes_have_theirs(workers, tmp_path, damaged, made):
    assert workers(3, find_tables, str(tmp_path), damaged) == [made] * 3


# -- steps ----------------------------------------------------------------------------------------------------------


def take_steps(processes, encoder, dtype, chunk_size):
    """Return loss and gradient of the first step, the weights after three, and the bytes sent in a step."""
    with tempfile.TemporaryDirectory() as alone, tempfile.TemporaryDirectory() as folder:
        recipe = make_recipe(encoder)
        trainer = make_trainer(processes, folder, recipe, chunk_size)
        whole = make_trainer(None, alone, recipe)
        read_tables_of(whole, trainer)
        set_precision(trainer, dtype)
        loss = trainer.step().loss
        gradient = torch.cat([each.grad.reshape(-1) for each in trainer.model.parameters() if each.grad is not None])
        before = 0 if processes is None else processes.bytes_sent
        trainer.step()
        sent = 0 if processes is None else processes.bytes_sent - before
        trainer.step()
        weights = torch.cat([each.detach().reshape(-1) for each in trainer.model.parameters()])
        return loss, gradient, weights, sent


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize("encoder", ENCODERS.values(), ids=ENCODERS)
def test_gradient_is_that_of_one_process(workers, encoder, dtype, size):
    exact_loss, expected, _, _ = take_steps(None, encoder, torch.float64, 1000)
    for chunk_size in (20, 1000):
        results = workers(size, take_steps, encoder, dtype, chunk_size)
        for loss, gradient, weights, _ in results:
            assert loss == pytest.approx(exact_loss, abs=10 * TOLERANCES[dtype])
            assert (gradient - expected).norm() <= TOLERANCES[dtype] * expected.norm()
            assert torch.equal(weights, results[0][2])  # the same bytes in all processes


@pytest.mark.parametrize("size", [2, 3])
def test_traffic_of_a_step_does_not_depend_on_the_number_of_nodes(workers, size):
    trainer = make_trainer(None, tempfile.mkdtemp(), make_recipe())
    weights = list(trainer.model.parameters())
    parameters = sum(each.numel() for each in weights)
    pairs, channels = 2, 8
    statistics = pairs * (channels**2 + 2 * channels)
    for _, _, _, sent in workers(size, take_steps, LINEAR, torch.float32, 1000):
        # A ring sends 2 (P - 1) / P times a message; a flag for each weight says whether it has a gradient.
        assert sent <= 2 * (size - 1) / size * 4 * (statistics + parameters + len(weights))
        assert sent <= 2 * 4 * (statistics + parameters)


# -- training -------------------------------------------------------------------------------------------------------


def train_together(processes, folder, epochs, resume):
    recipe = make_recipe(epochs=epochs)
    with divide_rows(make_graph(), recipe, Path(folder) / str(processes.rank), processes) as batches:
        checkpoints = Path(folder) / "checkpoints"
        model, losses = train(
            make_graph(),
            make_rankings(),
            recipe,
            batches=batches,
            checkpoints=checkpoints if processes.is_first else checkpoints / "missing",
            checkpoint_every=2,
            resume=resume,
        )
        return losses, batches.embed(model, make_graph())


def test_training_is_resumed_by_another_number_of_processes(workers, tmp_path):
    workers(2, train_together, str(tmp_path), 3, False)
    resumed = workers(3, train_together, str(tmp_path), 6, True)
    uninterrupted = workers(1, train_together, str(tmp_path / "other"), 6, False)
    losses, vectors = uninterrupted[0]
    assert sorted(path.name for path in (tmp_path / "checkpoints").iterdir()) == [
        f"epoch-0000000{epoch}.{kind}" for epoch in (4, 6) for kind in ("json", "safetensors")
    ]
    for found, rows in resumed:
        assert found == resumed[0][0]
        np.testing.assert_allclose(found, losses, rtol=1e-4)
        np.testing.assert_allclose(rows, vectors, rtol=0, atol=1e-4 * np.abs(vectors).max())


def test_same_number_of_processes_gives_the_same_bytes(workers, tmp_path):
    first, second = (workers(2, train_together, str(tmp_path / name), 4, False) for name in "ab")
    for (losses, rows), (again, same_rows) in zip(first, second, strict=True):
        assert losses == again
        assert rows.tobytes() == same_rows.tobytes()


def fit_together(processes, folder, recipe):
    result = fit_recipe(make_graph(), recipe, device="cpu", cache=False, folder=folder and Path(folder))
    return result.vectors, result.losses


@pytest.mark.parametrize("chunk_size", [None, 25])
def test_fit_by_processes_gives_the_vectors_of_one(workers, tmp_path, chunk_size):
    recipe = make_recipe(chunk_size=chunk_size)
    expected = fit_recipe(make_graph(), recipe, device="cpu", cache=False)
    for vectors, losses in workers(2, fit_together, str(tmp_path / "model"), recipe):
        np.testing.assert_allclose(losses, expected.losses, rtol=1e-4)
        np.testing.assert_allclose(vectors, expected.vectors, rtol=0, atol=1e-4 * np.abs(expected.vectors).max())
    names = {path.name for path in (tmp_path / "model").iterdir()}
    assert names == {"about.json", "checkpoints", "metrics.jsonl", "recipe.toml", "weights.safetensors"}


def test_contrast_of_nodes_is_refused_in_one_sentence_by_all(workers):
    recipe = Recipe(objective={"name": "node"}, pairs=[["graph", "feature"]])
    for error in workers.run(2, fit_together, None, recipe):
        assert isinstance(error, ParameterError)
        assert str(error) == (
            "several processes need an objective that is a function of sums over nodes, such as channel; got node: set "
            "objective.name to another one, or start one process"
        )
