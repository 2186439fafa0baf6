from __future__ import annotations

import pytest

from benchmarks.process_runs import GRADIENT, RUNS, TRAINING
from benchmarks.processes import (
    SECTION,
    main,
    memory_ratio,
    print_section,
    sent_bytes,
    step_seconds,
    traffic_limit,
)

MB = 10**6


def make_rank(seconds=(1.0, 3.0, 5.0, 5.0), *, training=500 * MB, sent=0):
    memory = {"replicated": 100 * MB, "views": 300 * MB, "training": training, "output": 900 * MB}
    steps = [{"seconds": each, "cpu": each / 2, "sent": sent} for each in seconds]
    return {"steps": steps, "memory": memory, "parameters": 1000, "tensors": 2, "graph": MB, "rankings": MB}


def make_record(run, *ranks):
    about = {"encoder": run.encoder, "processes": run.processes, "nodes": run.nodes, "cores": 2, "load": 0.0}
    return {"run": run.name, "measured": run.measured, **about, "ranks": list(ranks)}


def find_run(measured, encoder, processes):
    return next(run for run in RUNS if (run.measured, run.encoder, run.processes) == (measured, encoder, processes))


ALONE, TWO = (find_run(TRAINING, "diffusion", processes) for processes in (1, 2))


def test_page_has_what_the_command_prints(capsys):
    main([])
    assert SECTION.read() == capsys.readouterr().out


def test_seconds_are_those_of_the_best_pair_of_steps_of_the_slowest_process():
    record = make_record(TWO, make_rank(), make_rank((4.0, 4.0, 1.0, 2.0)))
    assert step_seconds(record) == 2.0
    assert step_seconds(record, "cpu") == 1.0


def test_memory_is_that_of_the_process_that_needs_most_beside_its_share():
    alone = make_record(ALONE, make_rank())
    record = make_record(TWO, make_rank(training=300 * MB), make_rank(training=320 * MB))
    assert memory_ratio(record, alone) == pytest.approx(2 * 220 / 400)


def test_traffic_is_that_of_the_process_that_sends_most():
    record = make_record(TWO, make_rank(sent=10), make_rank(sent=20))
    assert sent_bytes(record) == 20
    assert traffic_limit(record) == 2 * 4 * (256**2 + 2 * 256 + 1000)


@pytest.mark.parametrize(
    ("ranks", "missed"),
    [
        ([make_rank((1.0, 1.0), training=300 * MB)] * 2, 0),
        ([make_rank((1.3, 1.3), training=300 * MB)] * 2, 1),
        ([make_rank((1.0, 1.0), training=350 * MB)] * 2, 1),
        ([make_rank((1.0, 1.0), training=300 * MB, sent=10**9)] * 2, 1),
    ],
)
def test_targets_that_are_missed_are_marked(ranks, missed):
    records = {run.name: make_record(run, *each) for run, each in ((ALONE, [make_rank()]), (TWO, ranks))}
    assert print_section(records).count("missed") == missed


def test_error_of_a_gradient_is_that_of_the_worst_process():
    run = find_run(GRADIENT, "gat", 2)
    ranks = {"float32": 1e-6, "float64": 1e-15}, {"float32": 2e-5, "float64": 2e-15}
    section = print_section({run.name: make_record(run, *ranks)})
    assert "| gat | float32 | 2.0e-05: missed | 1e-05 |" in section
    assert "| gat | float64 | 2.0e-15 | 1e-12 |" in section
