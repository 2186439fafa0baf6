"""Running out of memory is an error of one sentence with a remedy, whichever library reports it."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

MB = 2**20
# The address space is limited to a little more than what the imports take.
LIMITED = """
import resource, sys
from graphprox.cli import main
import torch, sklearn.utils.extmath, graphprox.ftgcl, graphprox.methods.auto
import graphprox.views.search.nn_descent
import numpy as np, scipy.linalg
torch.set_num_threads(1)
x = np.random.default_rng(0).random((500, 500), dtype=np.float32)
for y in (x, x.astype(np.float64)):  # OpenBLAS never returns if it cannot get the memory of its first call
    y @ y, scipy.linalg.lu(y), scipy.linalg.qr(y), np.linalg.svd(y)
with open("/proc/self/status") as file:
    used = next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmSize"))
resource.setrlimit(resource.RLIMIT_AS, (used + {extra} * 2**20,) * 2)
sys.argv = ["graphprox", *{arguments!r}]
main()
"""


@pytest.fixture
def embed(tmp_path, monkeypatch):
    """Embed a graph in a process with little address space."""
    for name in ("OPENBLAS", "OMP", "MKL", "NUMBA"):
        monkeypatch.setenv(f"{name}_NUM_THREADS", "1")

    def embed(*options):
        arguments = ["--quiet", "embed", "synthetic:nodes=30000", "--out", str(tmp_path / "emb.npy"), *options]
        script = LIMITED.format(extra=100, arguments=arguments)
        return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)

    return embed


@pytest.mark.parametrize("method", ["auto", "ft-gcl"])
def test_out_of_memory_is_one_sentence_with_a_remedy(method, embed, tmp_path):
    done = embed("--method", method, "--ignore-memory")
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert re.match(r"error: memory ran out: .* the .* [MG]B that are available; use a smaller --dim", done.stderr)
    assert not list(tmp_path.iterdir())


def test_limit_of_address_space_is_a_reason_to_refuse(embed, tmp_path):
    done = embed()
    assert done.returncode == 2, done.stderr
    assert re.match(
        r"error: auto must not need more memory than is available; it needs about .* are available", done.stderr
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("compare", ["synthetic:nodes=140"]),
        ("plot", ["v.parquet"]),
        ("evaluate", ["synthetic:nodes=140", "--embedding", "v.parquet"]),
        ("info", ["synthetic:nodes=140"]),
        ("embed", ["synthetic:nodes=140", "--out", "v.npy"]),
    ],
)
def test_the_remedy_names_only_options_of_the_command(run, tmp_path, monkeypatch, command, arguments):
    def fail(*_, **__):
        raise MemoryError

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("graphprox.embedding.Embedding.load", fail)
    monkeypatch.setattr("graphprox.cli.graph_source.load", fail)
    code, _, err = run(command, *arguments)
    assert code == 2
    assert err.startswith("error: memory ran out: ")
    remedy = err.partition(";")[2].replace("graphprox embed --dry-run", "")
    help_text = run(command, "--help")[1]
    named = re.findall(r"--[a-z-]+", remedy)
    assert all(each in help_text for each in named)
    assert ("--dim" in named) == (command == "embed")
