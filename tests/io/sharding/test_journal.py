"""A journal knows the steps of an earlier run, and only of the same one."""

from __future__ import annotations

import pytest

from graphprox.errors import WriteError
from graphprox.io.sharding.journal import JOURNAL, Journal

RUN = {"edges": [["a.csv", 5, 1]], "parts": "2"}


def test_steps_of_an_earlier_run_are_known(tmp_path):
    journal = Journal(tmp_path, RUN, resume=False)
    assert journal.find("edges") is None
    assert journal.record("edges", 0, size=3) == {"size": 3}
    journal.record("edges", 1, size=4)
    journal.record("nodes")
    again = Journal(tmp_path, RUN, resume=True)
    assert (again.count("edges"), again.find("edges", 1), again.find("nodes")) == (2, {"size": 4}, {})
    assert Journal(tmp_path, RUN, resume=False).count("edges") == 0
    assert Journal(tmp_path, RUN, resume=True).count("edges") == 0


@pytest.mark.parametrize("cut", range(1, 40))
def test_line_that_was_not_written_to_its_end_is_forgotten(tmp_path, cut):
    journal = Journal(tmp_path, RUN, resume=False)
    journal.record("edges", 0, size=3)
    length = (tmp_path / JOURNAL).stat().st_size
    journal.record("edges", 1, size=4)
    content = (tmp_path / JOURNAL).read_bytes()
    (tmp_path / JOURNAL).write_bytes(content[: length + cut])
    again = Journal(tmp_path, RUN, resume=True)
    assert again.find("edges", 0) == {"size": 3}
    assert again.count("edges") == 1
    again.record("edges", 1, size=5)
    assert Journal(tmp_path, RUN, resume=True).find("edges", 1) == {"size": 5}


def test_missing_journal_is_that_of_a_new_run(tmp_path):
    assert Journal(tmp_path, RUN, resume=True).count("edges") == 0


@pytest.mark.parametrize(
    ("other", "changed"),
    [
        ({**RUN, "parts": "3"}, "parts"),
        ({**RUN, "edges": [["a.csv", 5, 2]]}, "edges"),
        ({"parts": "2"}, "edges"),
        ({**RUN, "labels": [], "parts": "3"}, "parts, labels"),
    ],
)
def test_other_run_is_not_resumed(tmp_path, other, changed):
    Journal(tmp_path, RUN, resume=False)
    with pytest.raises(WriteError, match=rf"that it was started with; {changed} changed: leave resume out to start"):
        Journal(tmp_path, other, resume=True)


def test_unreadable_journal_is_reported(tmp_path):
    (tmp_path / JOURNAL).write_bytes(b"\xff\xfe{}\n")
    with pytest.raises(WriteError, match=r"journal.jsonl cannot be read"):
        Journal(tmp_path, RUN, resume=True)
