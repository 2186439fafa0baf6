from __future__ import annotations

import pytest

from benchmarks.page_sections import Section, make_table, run_command


@pytest.fixture
def section(tmp_path):
    section = Section("benchmarks.some", tmp_path / "page.md")
    section.page.write_text(f"before\n\n{section.begin}\n\nold\n\n{section.end}\n\nafter\n")
    return section


def test_update_replaces_the_section_and_nothing_else(section):
    run_command(["update"], section, measure=pytest.fail, describe=lambda: "new\n")
    assert section.read() == "new\n"
    assert section.page.read_text() == f"before\n\n{section.begin}\n\nnew\n\n{section.end}\n\nafter\n"


def test_without_arguments_the_section_is_printed_and_the_page_kept(section, capsys):
    run_command([], section, measure=pytest.fail, describe=lambda: "new\n")
    assert capsys.readouterr().out == "new\n"
    assert section.read() == "old\n"


def test_measure_writes_no_page(section):
    measured = []
    run_command(["measure"], section, measure=lambda: measured.append(1), describe=pytest.fail)
    assert measured == [1]
    assert section.read() == "old\n"


def test_unknown_arguments_are_answered_by_the_usage(section):
    with pytest.raises(SystemExit, match=r"^usage: python -m benchmarks.some \[measure \| update\]$"):
        run_command(["measur"], section, measure=pytest.fail, describe=pytest.fail)


def test_page_without_marks_is_not_changed(section):
    section.page.write_text("text\n")
    with pytest.raises(SystemExit, match="must have the lines <!-- written by"):
        section.write("new\n")
    assert section.page.read_text() == "text\n"


def test_table_is_markdown():
    assert make_table(["a", "b"], [["1", "2"]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |\n"
