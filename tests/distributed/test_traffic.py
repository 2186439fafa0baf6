"""The cost model counts the bytes that processes send."""

from __future__ import annotations

import os

import pytest

from benchmarks.cost_model import Job, count_sent
from benchmarks.stage_runs import HALO_STEP, OUTPUT, PROPAGATION, ROWS_STEP, SEARCH, Run, run_stages

RUN = Run(1_200, features=16, components=32)


def count_bytes(processes, folder):
    cache = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    try:
        return {name: each["sent"] for name, each in run_stages(RUN, folder, processes).items()}
    finally:
        if cache is None:
            del os.environ["XDG_CACHE_HOME"]
        else:
            os.environ["XDG_CACHE_HOME"] = cache


@pytest.mark.parametrize("size", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_bytes_that_processes_send_are_those_of_the_model(workers, tmp_path, size):
    measured = workers(size, count_bytes, tmp_path)
    for stage in (*SEARCH.values(), PROPAGATION, ROWS_STEP, HALO_STEP, OUTPUT):
        found = max(each[stage] for each in measured)
        # Edges of the graph are not random: its halo is smaller than that of the model.
        assert 0.8 * count_sent(stage, Job.of(RUN), size) < found < 1.05 * count_sent(stage, Job.of(RUN), size), stage
