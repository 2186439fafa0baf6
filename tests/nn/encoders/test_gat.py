from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from graphprox.errors import ParameterError
from graphprox.nn.convolution import in_neighbor_matrix
from graphprox.nn.encoders.gat import GATConv, GATEncoder, GATOptions


def make_generator():
    return torch.Generator().manual_seed(0)


def prepare(edges, num_nodes, edge_weight=None):
    return GATConv.prepare_edges(in_neighbor_matrix(np.array(edges), edge_weight, num_nodes))


def test_self_loops_have_the_mean_weight_of_the_other_edges():
    prepared = prepare([[1, 2, 0, 0], [0, 0, 0, 1]], 4, np.array([2, 4, 9, 5], np.float32))
    dense = prepared.pattern.matmul(prepared.values, torch.eye(4))
    assert dense.tolist() == [[3, 2, 4, 0], [5, 5, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    assert prepared.pattern.num_entries == 7  # the self-loops of nodes 2 and 3 are stored although they are 0


@pytest.mark.parametrize("heads", [1, 2])
def test_attention_is_dropped_only_in_training(heads):
    pattern = prepare([[0, 1], [1, 0]], 10).pattern
    layer = GATConv(4, 4, generator=make_generator(), heads=heads, dropout=0.75)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        factors = torch.cat([layer.factors(pattern) for _ in range(500)])
    assert factors.shape == (500 * pattern.num_entries, heads)
    assert set(factors.unique().tolist()) == {0.0, 4.0}
    assert float(factors.mean()) == pytest.approx(1, abs=0.1)
    assert layer.eval().factors(pattern) is None
    assert GATConv(4, 4, generator=make_generator()).factors(pattern) is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 6, "heads": 4}, "encoder.heads must divide encoder.n_components; got 4 heads for 6 channels"),
        (
            {"n_components": 8, "hidden_channels": 6, "heads": 4},
            "encoder.heads must divide encoder.hidden_channels; got 4 heads for 6 channels",
        ),
        ({"heads": 0}, "encoder.heads must be a positive integer; got 0"),
    ],
)
def test_heads_must_divide_the_channels(options, message):
    with pytest.raises(ParameterError) as error:
        GATOptions(**options)
    assert str(error.value) == message


def test_every_layer_has_the_given_heads_and_edge_term():
    options = GATOptions(n_components=8, heads=4, num_layers=3)
    for weighted in (False, True):
        encoder = GATEncoder(5, options, weighted=weighted, generator=make_generator())
        assert [layer.source.shape for layer in encoder.convolutions] == [(4, 2)] * 3
        assert [layer.edge is not None for layer in encoder.convolutions] == [weighted] * 3


# -- memory ---------------------------------------------------------------------------------------------------------

STEPS = """
from pathlib import Path
import numpy as np, torch
from graphprox.nn.convolution import in_neighbor_matrix
from graphprox.nn.encoders.gat import GATConv

def peak():
    return next(int(line.split()[1]) for line in Path("/proc/self/status").open() if line.startswith("VmHWM")) / 1024

def step(num_nodes, degree, heads):
    gat = GATConv(8, 256, generator=torch.Generator().manual_seed(0), heads=heads)
    target = np.repeat(np.arange(num_nodes), degree)
    source = (target + np.tile(1 + 3 * np.arange(degree), num_nodes)) % num_nodes
    edges = gat.prepare_edges(in_neighbor_matrix(np.stack([source, target]), None, num_nodes))
    assert edges.pattern.num_entries == num_nodes * (degree + 1)
    gat.propagate(gat.project(torch.ones(num_nodes, 8).mm), edges).square().sum().backward()

for heads in (1, 4):
    step(50, 3, heads)  # memory that the first call allocates once is not measured
    Path("/proc/self/clear_refs").write_text("5")
    before = peak()
    step(2000, 100, heads)
    print(peak() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peak memory is only available on Linux")
def test_attention_needs_no_memory_for_messages():
    # 200,000 messages of 256 channels would take 200 MB; the edges themselves take about 30 MB.
    result = subprocess.run([sys.executable, "-c", STEPS], capture_output=True, text=True, check=True)
    assert max(map(float, result.stdout.split())) < 60
