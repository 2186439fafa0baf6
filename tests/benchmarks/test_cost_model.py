from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.cost_model import (
    Job,
    Machines,
    count_halo,
    count_held,
    count_sent,
    estimate,
    fit_all,
    fit_stage,
    main,
    smallest_count,
    split_operations,
)
from benchmarks.stage_runs import ALONE, GRAPH, OUTPUT, PROPAGATION, ROWS_STEP, RUNS, SEARCH, STAGES, TWO_PROCESSES

JOB = Job(10**6, 2 * 10**7, features=100, components=256)
NEAR, FAR, COPIES = 2e-9, 5e-9, 1.5


def make_records(stage: str, *, divided: bool) -> dict[str, dict[str, dict[str, float]]]:
    """Return records of runs that follow the model exactly, with known coefficients."""
    records = {}
    for name, run in RUNS.items():
        job, machines = Job.of(run), run.processes if divided else 1
        near, far = split_operations(stage, job)
        records[name] = {
            stage: {
                "seconds": (NEAR * near + FAR * far) / machines,
                "memory": COPIES * count_held(stage, job, machines),
                "sent": count_sent(stage, job, run.processes),
            }
        }
    return records


@pytest.mark.parametrize("divided", [True, False])
@pytest.mark.parametrize("stage", [each for each in STAGES if each not in (ROWS_STEP, GRAPH)])
def test_fit_finds_the_coefficients_that_runs_follow(stage, divided):
    fit = fit_stage(stage, make_records(stage, divided=divided))
    near, far = split_operations(stage, JOB)
    seconds = fit.seconds(stage, JOB, 1, 1)
    assert seconds == pytest.approx(NEAR * near + FAR * far, rel=1e-6)
    assert fit.copies == pytest.approx(COPIES, rel=1e-6)
    assert (fit.divides_time, fit.divides_memory) == (divided, divided)
    if divided:
        assert fit.seconds(stage, JOB, 4, 1) == pytest.approx(seconds / 4)


def test_what_two_processes_take_beyond_half_of_the_time_is_kept_for_more():
    records = make_records(PROPAGATION, divided=True)
    records[TWO_PROCESSES][PROPAGATION]["seconds"] *= 1.5
    fit = fit_stage(PROPAGATION, records)
    assert fit.seconds(PROPAGATION, JOB, 4, 1) == pytest.approx(1.5 * fit.seconds(PROPAGATION, JOB, 1, 1) / 4)
    records[TWO_PROCESSES][PROPAGATION]["seconds"] *= 1.3
    assert not fit_stage(PROPAGATION, records).divides_time


def test_fit_ignores_what_is_held_out():
    records = make_records(PROPAGATION, divided=True)
    held_out = {name: each for name, each in records.items() if name not in ("300k", TWO_PROCESSES)}
    changed = {**records, "300k": {PROPAGATION: {"seconds": 1e6, "memory": 1e12, "sent": 0.0}}}
    assert fit_stage(PROPAGATION, changed) == fit_stage(PROPAGATION, records)
    # Without a second process, a stage is not known to be divided.
    assert fit_stage(PROPAGATION, held_out).divides_time is False
    assert fit_stage(PROPAGATION, {ALONE: records[ALONE]}) is None


@pytest.mark.parametrize(("degree", "machines"), [(3, 2), (10, 4), (20, 16)])
def test_halo_is_that_of_a_random_graph(degree, machines):
    nodes = 6_400
    rng = np.random.default_rng(0)
    source, target = rng.integers(0, nodes, (2, nodes * degree))
    owner = np.arange(nodes) * machines // nodes
    found = [
        len(np.setdiff1d(source[owner[target] == each], np.flatnonzero(owner == each))) for each in range(machines)
    ]
    job = Job(nodes, nodes * degree, features=10, components=8)
    assert np.mean(found) == pytest.approx(count_halo(job, degree, machines), rel=0.02)


def test_traffic_of_a_step_on_rows_depends_on_neither_nodes_nor_machines():
    d, parameters = JOB.components, JOB.features * JOB.components + JOB.components
    bound = 2 * (d**2 + 2 * d + parameters) * 4
    assert 0.9 * bound < count_sent(ROWS_STEP, JOB, 64) < count_sent(ROWS_STEP, JOB, 1024) < bound
    assert count_sent(ROWS_STEP, replace(JOB, nodes=10**9), 64) == count_sent(ROWS_STEP, JOB, 64)


@pytest.mark.parametrize("stage", STAGES)
def test_more_machines_need_no_more_of_anything_for_a_divided_stage(stage):
    fit = replace(fit_all()[stage], divides_time=True, divides_memory=True) if stage in fit_all() else None
    if fit is None:
        pytest.skip("not measured")
    costs = [estimate(stage, fit, JOB, Machines.with_network(25, count=count)) for count in (4, 16, 64)]
    assert costs == sorted(costs, key=lambda each: -each.memory)
    assert costs == sorted(costs, key=lambda each: -each.seconds["cores"])


def test_one_process_is_not_faster_beside_others():
    fit = replace(fit_all()[SEARCH["feature"]], divides_time=False, divides_memory=False)
    one, many = (estimate(SEARCH["feature"], fit, JOB, Machines.with_network(25, count=n)) for n in (1, 64))
    assert many.seconds["cores"] == one.seconds["cores"]
    assert many.memory == one.memory
    assert smallest_count(SEARCH["feature"], fit, replace(JOB, nodes=10**10), Machines.with_network(25)) is None


def test_network_limits_what_is_sent_alone():
    fit = fit_all()[PROPAGATION]
    slow, fast = (estimate(PROPAGATION, fit, JOB, Machines.with_network(each)) for each in (25, 100))
    assert slow.seconds["network"] == pytest.approx(4 * fast.seconds["network"])
    assert slow.seconds["cores"] == fast.seconds["cores"]
    assert slow.memory == fast.memory


def test_smallest_count_of_machines_is_enough_and_half_of_them_is_not():
    fit = replace(fit_all()[OUTPUT], divides_memory=True)
    job, machines = replace(JOB, nodes=10**10), Machines.with_network(25)
    count = smallest_count(OUTPUT, fit, job, machines)
    assert fit.memory(OUTPUT, job, count) <= machines.memory < fit.memory(OUTPUT, job, count // 2)


def test_command_rejects_other_arguments():
    with pytest.raises(SystemExit, match="usage: "):
        main(["fit"])
