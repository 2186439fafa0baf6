"""Halo exchange: loss and gradient of several processes are those of one, for all encoders and all kinds of graphs."""

from __future__ import annotations

from contextlib import nullcontext
from functools import cache, partial
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from benchmarks.gradients import double_edges, set_precision
from graphprox import Graph, synthetic
from graphprox.distributed.halo import Halo
from graphprox.ftgcl.recipe import Recipe
from graphprox.ftgcl.trainer import Trainer
from graphprox.nn.convolution import Edges
from graphprox.views.search import rank

ENCODERS = ("gcn", "sage", "gat", "gin", "mlp", "diffusion", "linear diffusion")
PRECISIONS = (torch.float32, torch.float64)


def make_graph(kind):
    """Return a graph of 61 nodes with weights, without some, or of three nodes: fewer than there are processes."""
    rng = np.random.default_rng(0)
    if kind == "three nodes":
        return Graph(np.eye(3), [[0, 1], [1, 2]])
    if kind == "undirected":
        graph = synthetic(nodes=140)
        return Graph(rng.standard_normal((140, 9)), graph.edge_index)
    edges = np.unique(rng.integers(0, 50, (2, 180)), axis=1)  # nodes from 50 on are isolated; some edges are self-loops
    if kind == "weighted":
        return Graph(rng.standard_normal((61, 7)), edges, edge_weight=rng.random(edges.shape[1]) * 3, directed=True)
    x = sp.random_array((61, 90), density=0.03, rng=0).tocsr()
    return Graph(x, edges[:, edges[1] % 3 > 0], directed=True)  # many nodes have no in-neighbors


def make_recipe(encoder, **changes):
    name, *rest = encoder.split()[::-1]
    options = {"name": name, "n_components": 8, "hidden_channels": 6, "residual": True, "jumping": "concat"}
    if name == "gat":
        options["heads"] = 2
    if rest:
        options |= {"num_layers": 1, "activation": "none"}
    recipe = Recipe(
        pairs=[["graph", "feature+light"], ["graph+heavy", "feature"]],
        schedule="sum",
        encoder=options,
        head={"num_layers": 1, "out_channels": 8},
        views={"k_min": 1, "k_max": 4},
        augmentations={"light": {"drop_edges": 0.3}, "heavy": {"drop_edges": 0.5, "mask_features": 0.2}},
        optimizer={"learning_rate": 0.01},
    )
    return recipe.merged(changes)


def train_steps(processes, graph, ranking, recipe, dtype, steps=2):
    """Return initial vectors, loss and gradient of the first step, and the weights after some."""
    # Edges have values of float64 then, so that nothing but the order of sums differs.
    with double_edges() if dtype == torch.float64 else nullcontext():
        trainer = Trainer(graph, {"feature": ranking}, recipe, device=torch.device("cpu"), processes=processes)
        set_precision(trainer, dtype)
        with torch.no_grad():
            vectors = trainer.sources.encode("graph", 0.0, None, np.random.default_rng(0))
            if processes is not None:
                vectors = processes.gather_rows(vectors, graph.num_nodes)
        trainer.step()
        gradient = torch.cat([each.grad.reshape(-1) for each in trainer.model.parameters() if each.grad is not None])
        for _ in range(steps - 1):
            trainer.step()
    weights = torch.cat([each.detach().reshape(-1) for each in trainer.model.parameters()])
    return {
        "vectors": vectors,
        "loss": torch.tensor(trainer.losses[:1], dtype=torch.float64),
        "gradient": gradient,
    }, weights


CASES = list(product(["weighted", "directed", "undirected", "three nodes"], PRECISIONS))


def train_cases(processes, encoder):
    """Train on each kind of graph, in each precision; rows are fetched by three columns at a time."""
    Halo.max_columns = 3
    results = []
    for kind, dtype in CASES:
        graph = make_graph(kind)
        results.append(train_steps(processes, graph, rank(graph.x, k_max=4), make_recipe(encoder), dtype))
    return results


train_in_one_process = cache(partial(train_cases, None))


@pytest.mark.parametrize(
    "size", [pytest.param(1, marks=pytest.mark.slow), 2, 3, pytest.param(4, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("encoder", ENCODERS)
def test_loss_and_gradient_are_those_of_one_process(workers, encoder, size):
    expected = {case: alone for case, (alone, _) in zip(CASES, train_in_one_process(encoder), strict=True)}
    for results in (all_results := workers(size, train_cases, encoder)):
        for case, (found, weights), (_, of_first) in zip(CASES, results, all_results[0], strict=True):
            # Float64, so that the error of one process is not added to that of several.
            for name, each in expected[case[0], torch.float64].items():
                error = float((found[name] - each).abs().max() / each.abs().max())
                assert error <= tolerance(*case), (case, name, error)
            assert torch.equal(weights, of_first), "weights must be the same bytes in all processes"


def tolerance(kind, dtype):
    # The channels of three nodes are linearly dependent, and the gradient is ill-conditioned.
    return {torch.float32: 1e-5, torch.float64: 1e-12}[dtype] * (20 if kind == "three nodes" else 1)


def complete_numbers(processes, edge_index, num_nodes):
    halo = Halo(processes, edge_index, num_nodes)
    own = torch.arange(num_nodes, dtype=torch.float64)[halo.rows, None].requires_grad_()
    completed = halo.complete(own)
    completed.sum().backward()
    return completed[:, 0].tolist(), own.grad[:, 0].tolist(), halo.total(1.5)


def test_completed_rows_are_those_of_own_nodes_and_in_neighbors_in_order(workers):
    edge_index = np.array([[5, 0, 3, 1, 2, 2, 5], [0, 1, 1, 2, 2, 5, 4]])
    results = workers(3, complete_numbers, edge_index, 6)
    assert [completed for completed, _, _ in results] == [[0, 1, 3, 5], [1, 2, 3], [2, 4, 5]]
    assert [gradient for _, gradient, _ in results] == [[1, 2], [2, 2], [1, 2]]
    assert [total for _, _, total in results] == [4.5] * 3


def count_step_bytes(processes, graph, ranking, recipe):
    trainer = Trainer(graph, {"feature": ranking}, recipe, device=torch.device("cpu"), processes=processes)
    sent = []
    for _ in range(3):
        before = processes.bytes_sent
        trainer.step()
        sent.append(processes.bytes_sent - before)
    return sent[1:], [each.numel() for each in trainer.model.parameters()]


@pytest.mark.parametrize("size", [2, 4])
def test_encoder_without_edges_sends_statistics_and_gradients_alone(workers, size):
    graph = synthetic(nodes=140)
    pairs = {"pairs": [["graph", "feature"]], "schedule": "alternate"}
    recipe = make_recipe("mlp", **pairs, head={"num_layers": 0}).merged({"encoder": {"jumping": "last"}})
    statistics = 4 * (8**2 + 2 * 8)
    for sent, parameters in workers(size, count_step_bytes, graph, rank(graph.x, k_max=4), recipe):
        gradients = 4 * (sum(parameters) + len(parameters))  # and for each of them, how many processes have one
        assert sent == [2 * (size - 1) * statistics // size + 2 * (size - 1) * gradients // size] * 2


def measure_width(processes):
    """Return how many columns are fetched at a time, forward and backward."""
    graph, widths = make_graph("undirected"), []
    exchange = processes.exchange
    processes.exchange = lambda rows, *counts: widths.append(rows.shape[-1]) or exchange(rows, *counts)
    Halo.max_columns = 3
    halo = Halo(processes, graph.edge_index, graph.num_nodes)
    edges = Edges.of(halo.in_neighbors(graph.edge_index, None), part=halo)
    own = torch.ones(halo.num_rows, 8, requires_grad=True)
    widths.clear()
    edges.matmul(own).sum().backward()
    return widths


def test_columns_of_other_processes_are_fetched_some_at_a_time(workers):
    assert workers(2, measure_width) == [[3, 3, 2] * 2] * 2


def collect_numbers(processes, edge_index, num_nodes):
    halo = Halo(processes, edge_index, num_nodes)
    own = torch.arange(num_nodes, dtype=torch.float64)[halo.rows, None].requires_grad_()
    completed = halo.complete(own)
    weights = torch.arange(1.0, len(completed) + 1, dtype=torch.float64)[:, None]
    (completed * weights).sum().backward()
    return own.grad[:, 0].tolist(), halo.collect(weights)[:, 0].tolist()


def test_rows_are_collected_as_gradients_of_completed_rows_are(workers):
    edge_index = np.array([[5, 0, 3, 1, 2, 2, 5], [0, 1, 1, 2, 2, 5, 4]])
    for gradient, collected in workers(3, collect_numbers, edge_index, 6):
        assert collected == gradient
