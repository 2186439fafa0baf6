"""Records as JSON Lines: append-safe, resumable, sorted."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphprox import ReadError, WriteError
from reproduction.records import append_record, read_current, read_records, record_file, sort_records


@pytest.fixture
def two(tmp_path, new_record):
    """Two records in a file, not sorted."""
    kept = [new_record(1), new_record(0)]
    for record in kept:
        append_record(tmp_path, "small", record)
    return kept, record_file(tmp_path, "small")


def test_records_are_read_as_they_were_written(two, tmp_path):
    kept, path = two
    assert list(read_records(tmp_path, "small").values()) == kept
    assert len(path.read_bytes().splitlines()) == 2


def test_folder_without_records_is_empty(tmp_path):
    assert read_records(tmp_path / "nowhere", "small") == {}


def test_sorting_orders_by_data_set_row_and_seed(make, records):
    records.keep(make(name="sorted", datasets=["Cora", "ACM"], rows=["ft-gcl", "dgi"], seeds=11))
    sort_records(records.folder, "sorted")
    lines = [json.loads(line) for line in record_file(records.folder, "sorted").read_text().splitlines()]
    keys = [(line["dataset"], line["row"], line["seed"]) for line in lines]
    assert keys == sorted(keys)
    assert len(keys) == 44


def test_sorted_records_are_not_written_again(two, tmp_path):
    _, path = two
    sort_records(tmp_path, "small")
    before = path.stat()
    sort_records(tmp_path, "small")
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_last_of_several_records_is_used(two, tmp_path, new_record):
    _, path = two
    again = new_record(0, figures={"accuracy": [0.5] * 5})
    append_record(tmp_path, "small", again)
    assert read_records(tmp_path, "small")[again.key] == again
    sort_records(tmp_path, "small")
    assert len(path.read_bytes().splitlines()) == 2
    assert read_records(tmp_path, "small")[again.key] == again


@given(cut=st.integers(min_value=1))
def test_incomplete_last_line_is_ignored_and_replaced(tmp_path_factory, new_record, cut):
    folder = tmp_path_factory.mktemp("records")
    first, second = new_record(0), new_record(1)
    append_record(folder, "small", first)
    path = record_file(folder, "small")
    line = second.to_json().encode()
    path.write_bytes(path.read_bytes() + line[: cut % len(line)])
    assert list(read_records(folder, "small").values()) == [first]
    append_record(folder, "small", second)
    assert path.read_text() == first.to_json() + "\n" + second.to_json() + "\n"


def test_complete_last_line_without_line_break_is_kept(tmp_path, new_record):
    first, second = new_record(0), new_record(1)
    record_file(tmp_path, "small").write_text(first.to_json())
    assert list(read_records(tmp_path, "small").values()) == [first]
    append_record(tmp_path, "small", second)
    assert list(read_records(tmp_path, "small").values()) == [first, second]


@pytest.mark.parametrize("line", ["{", '{"dataset": "Cora"}', "[1]", '"text"'])
def test_damaged_line_is_named(two, tmp_path, line):
    _, path = two
    path.write_text(line + "\n" + path.read_text())
    with pytest.raises(ReadError, match=r"line 1 of .*small\.jsonl must be a record"):
        read_records(tmp_path, "small")


def test_unwritable_file_is_an_error(tmp_path, new_record):
    record_file(tmp_path, "small").mkdir()
    with pytest.raises(WriteError, match="cannot be written"):
        append_record(tmp_path, "small", new_record(0))


def test_record_of_other_settings_is_not_current(make, records):
    records.keep(make())
    assert len(read_current(records.folder, make().trials())) == 6
    assert read_current(records.folder, make(splits=6).trials()) == []
    assert len(read_current(records.folder, make(seeds=3).trials())) == 6
