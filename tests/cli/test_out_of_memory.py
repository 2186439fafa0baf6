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


@pytest.mark.parametrize("method", ["auto", "ft-gcl"])
def test_out_of_memory_is_one_sentence_with_a_remedy(method, tmp_path, monkeypatch):
    for name in ("OPENBLAS", "OMP", "MKL", "NUMBA"):
        monkeypatch.setenv(f"{name}_NUM_THREADS", "1")
    arguments = ["embed", "synthetic:nodes=30000", "--method", method, "--out", str(tmp_path / "emb.npy")]
    script = LIMITED.format(extra=100, arguments=arguments)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert re.match(r"error: memory ran out: .* the .* [MG]B that are available; use a smaller --dim", done.stderr)
    assert not list(tmp_path.iterdir())
