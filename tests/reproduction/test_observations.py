"""Files of observations."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from reproduction.observations import format_rows, read_observations, write_observations


@dataclass(frozen=True)
class Seen:
    dataset: str
    ratio: float | None
    accuracy: dict[str, float]


def test_observations_are_read_as_they_were_written(tmp_path):
    path = tmp_path / "seen.jsonl"
    assert read_observations(path, Seen) == []
    seen = [Seen("a", 0.1 + 0.2, {"raw": 1 / 3}), Seen("ä", None, {})]
    write_observations(path, seen)
    assert read_observations(path, Seen) == seen
    assert len(path.read_text(encoding="utf-8").splitlines()) == 2


def test_failed_write_leaves_the_older_file(tmp_path):
    path = tmp_path / "seen.jsonl"
    write_observations(path, [Seen("a", 1.0, {})])
    with pytest.raises(TypeError):
        write_observations(path, [Seen("b", object(), {})])
    assert [each.dataset for each in read_observations(path, Seen)] == ["a"]


def test_rows_of_a_table():
    assert format_rows([("a", "1"), ("b", "2")]) == "| a | 1 |\n| b | 2 |\n"
