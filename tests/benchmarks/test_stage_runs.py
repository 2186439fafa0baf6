from __future__ import annotations

import json

import pytest

from benchmarks import stage_runs
from benchmarks.stage_runs import GRAPH, HALO_STEP, STAGES, Run, make_recipe, measure_missing, run_stages


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.usefixtures("cache")
def test_every_stage_is_measured_in_the_order_of_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr(stage_runs, "CHUNK_SIZE", 400)
    stages = run_stages(Run(1_000, features=8, components=8), tmp_path, None)
    assert set(stages) >= set(STAGES) - {stage_runs.SHARDING}
    assert list(stages) == [stage for stage in STAGES if stage in stages]
    assert all(each["seconds"] >= 0 for each in stages.values())
    assert stages[HALO_STEP]["seconds"] > 0
    assert stages[GRAPH]["memory"] > 0
    assert {each["sent"] for each in stages.values()} == {0}


def test_smallest_graph_is_trained_in_chunks():
    recipe = make_recipe(Run(10_000))
    assert recipe.chunk_size < min(run.nodes for run in stage_runs.RUNS.values())
    assert make_recipe(Run(10_000), halo=True).encoder.name == "gcn"
    assert HALO_STEP in STAGES


def test_runs_that_are_in_the_records_are_not_repeated(tmp_path, monkeypatch):
    path = tmp_path / "records.json"
    done, *missing = stage_runs.RUNS
    path.write_text(json.dumps({done: {}}))
    started = []
    monkeypatch.setattr(stage_runs, "RECORDS", path)
    monkeypatch.setattr(stage_runs, "_start", lambda name, _: started.append(name) or {"stage": {}})
    measure_missing()
    assert started == missing
    assert list(json.loads(path.read_text())) == [done, *missing]
