"""The benchmark of several processes measures gradients within its targets."""

from __future__ import annotations

import pytest

from benchmarks import process_runs
from benchmarks.process_runs import GRADIENT, Run, measure
from benchmarks.processes import MAX_ERROR


def measure_together(processes, folder, encoder):
    process_runs.COMPONENTS = 8
    return measure(Run(GRADIENT, encoder, 2, 600), folder, processes)


@pytest.mark.parametrize("encoder", ["diffusion", "gcn"])
def test_gradient_of_two_processes_is_that_of_one(workers, tmp_path, encoder):
    for errors in workers(2, measure_together, tmp_path, encoder):
        for precision, limit in MAX_ERROR.items():
            assert 0 < errors[precision] <= limit
