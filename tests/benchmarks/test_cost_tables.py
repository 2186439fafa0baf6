from __future__ import annotations

from benchmarks.cost_model import main
from benchmarks.cost_tables import BEGIN, END, PAGE, update_page, written_section
from benchmarks.stage_runs import COMPARED, FITTED, read_records


def test_page_has_what_the_command_prints(capsys):
    main([])
    assert written_section() == capsys.readouterr().out


def test_update_replaces_the_section_and_nothing_else(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n\n{BEGIN}\n\nold\n\n{END}\n\nafter\n")
    update_page(page)
    assert written_section(page) == written_section()
    assert page.read_text().startswith(f"before\n\n{BEGIN}\n\n### ")
    assert page.read_text().endswith(f"\n{END}\n\nafter\n")


def test_every_fitted_run_was_measured():
    assert set(read_records()) >= {*FITTED, *COMPARED}


def test_page_shows_every_measured_stage_beside_the_model():
    section = PAGE.read_text().partition("## Cost model")[2]
    for stages in read_records().values():
        for stage in stages:
            assert f"| {stage} " in section
