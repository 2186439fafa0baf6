"""What is committed beside the records is what the report makes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphprox.experiments.report.writing import report_on_all

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    docs = tmp_path_factory.mktemp("docs")
    sections, paths = report_on_all(ROOT / "experiments", ROOT / "results", docs)
    return sections, docs, [path.relative_to(docs) for path in paths]


def test_pages_and_tables_are_those_of_the_records(made):
    _, docs, paths = made
    texts = [path for path in paths if path.parts[0] != "figures"]
    assert Path("reproduction.md") in texts
    stale = [str(path) for path in texts if (ROOT / "docs" / path).read_text() != (docs / path).read_text()]
    assert stale == [], "run `graphprox report`"


def test_every_figure_is_there(made):
    _, _, paths = made
    # Their bytes depend on the version of matplotlib; what they show is in the tables.
    assert all((ROOT / "docs" / path).is_file() for path in paths)


def test_no_record_is_of_other_settings_than_todays(made):
    sections, _, _ = made
    assert [section.findings.experiment.name for section in sections if section.findings.unused] == []
