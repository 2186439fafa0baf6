"""Pages of memory maps, which count as memory of the process until they are released."""

from __future__ import annotations

import mmap
import sys

import numpy as np
import pytest

from graphprox._utils.mapped import find_map, is_mapped, release_pages
from graphprox._utils.memory import current_memory


@pytest.fixture
def mapped(tmp_path):
    return np.memmap(tmp_path / "rows", np.float32, "w+", shape=(4, 3))


def test_map_of_any_view_is_found(mapped):
    for view in (mapped, mapped[1:], mapped.T, np.asarray(mapped), mapped.view(np.int32)[:, 1]):
        assert isinstance(find_map(view), mmap.mmap)
        assert is_mapped(view)


def test_array_in_memory_has_no_map():
    assert not is_mapped(np.zeros((3, 2)))
    assert not is_mapped(np.zeros((3, 2))[1:])


def test_private_map_keeps_its_changes(tmp_path):
    np.zeros(3).tofile(tmp_path / "private")
    private = np.memmap(tmp_path / "private", mode="c")
    private[:] = 7
    release_pages(private)
    assert (private == 7).all()


def test_what_was_written_is_kept(mapped):
    mapped[:] = 7
    release_pages(mapped, np.zeros(2), None)
    assert (mapped == 7).all()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_released_pages_are_no_memory_of_the_process(tmp_path):
    large = np.memmap(tmp_path / "large", np.float32, "w+", shape=(1 << 24,))
    large[:] = 1
    with_pages = current_memory()
    release_pages(large[3:])
    assert with_pages - current_memory() > large.nbytes // 2
