"""The committed pages, tables and figures are those of the committed records."""

from __future__ import annotations

from pathlib import Path

import pytest

from reproduction.report.writing import report_all

ROOT = Path(__file__).resolve().parents[3]
DOCS = ROOT / "docs" / "reproduction"


@pytest.fixture(scope="module")
def report(tmp_path_factory, fast_figures):
    docs = tmp_path_factory.mktemp("docs")
    sections, paths = report_all(ROOT / "reproduction" / "experiments", ROOT / "reproduction" / "records", docs)
    return sections, docs, [path.relative_to(docs) for path in paths]


def test_pages_and_tables_are_up_to_date(report):
    _, docs, paths = report
    texts = [path for path in paths if path.parts[0] != "figures"]
    assert Path("index.md") in texts
    stale = [str(path) for path in texts if (DOCS / path).read_text() != (docs / path).read_text()]
    assert stale == [], "run `python -m reproduction report`"


def test_every_file_is_committed_and_no_other(report):
    _, _, paths = report
    # The bytes of figures depend on the version of matplotlib; their numbers are in the tables.
    assert {path.relative_to(DOCS) for path in DOCS.rglob("*") if path.is_file()} == set(paths)


def test_every_record_has_the_settings_of_today(report):
    sections, _, _ = report
    assert [section.findings.experiment.name for section in sections if section.findings.unused] == []
