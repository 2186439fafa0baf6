from __future__ import annotations

from benchmarks.cost_model import main
from benchmarks.cost_tables import SECTION
from benchmarks.stage_runs import COMPARED, FITTED, read_records


def test_page_has_what_the_command_prints(capsys):
    main([])
    assert SECTION.read() == capsys.readouterr().out


def test_every_fitted_run_was_measured():
    assert set(read_records()) >= {*FITTED, *COMPARED}


def test_page_shows_every_measured_stage_beside_the_model():
    for stages in read_records().values():
        for stage in stages:
            assert f"| {stage} " in SECTION.read()
