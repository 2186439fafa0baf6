"""A merge of files of ids has every id once, in order, and says where it occurs."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphprox.io.sharding import id_merge
from graphprox.io.sharding.id_files import IdWriter
from graphprox.io.sharding.id_merge import merge_ids

TEXT = st.sets(st.text(max_size=3), max_size=12)
INTEGERS = st.sets(st.integers(-20, 20), max_size=12)


@pytest.fixture(autouse=True, scope="module")
def _small_buffers():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(id_merge, "MIN_BUFFER", 2)
        yield


@given(files=st.one_of(st.lists(TEXT, max_size=5), st.lists(INTEGERS, max_size=5)), memory=st.integers(1, 30))
def test_every_id_is_there_once_in_order_with_its_positions(tmp_path_factory, files, memory):
    folder = tmp_path_factory.mktemp("merge")
    is_text = any(isinstance(each, str) for ids in files for each in ids)
    # Strings are in the order of their bytes.
    ordered = [sorted(ids, key=lambda each: each.encode() if isinstance(each, str) else each) for ids in files]
    written = []
    for number, ids in enumerate(ordered):
        with IdWriter(folder / str(number), is_text=is_text) as writer:
            writer.append(pa.array(ids, pa.string() if is_text else pa.int64()))
        written.append(writer.file)
    merged, found = [], [[] for _ in files]
    for step in merge_ids(written, memory=memory):
        for piece in step.pieces:
            assert piece.start == len(found[piece.file])
            found[piece.file].extend(step.ids.take(pa.array(piece.codes)).to_pylist())
        merged.extend(step.ids.to_pylist())
    everything = set().union(*files)
    assert merged == sorted(everything, key=lambda each: each.encode() if is_text else each)
    assert found == ordered


def test_blocks_in_memory_are_no_larger_than_they_may_be(tmp_path):
    files = []
    for number in range(4):
        with IdWriter(tmp_path / str(number), is_text=False) as writer:
            writer.append(pa.array(range(number, 400, 4)))
        files.append(writer.file)
    assert max(sum(len(piece.codes) for piece in step.pieces) for step in merge_ids(files, memory=40)) <= 40
