"""The folder of temporary files."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from graphprox._utils.work_folder import use_work_folder, work_folder


def test_folder_is_that_of_the_system_unless_another_is_named(tmp_path):
    assert work_folder() == Path(tempfile.gettempdir())
    with use_work_folder(tmp_path):
        assert work_folder() == tmp_path
        with use_work_folder(tmp_path / "inner"):
            assert work_folder() == tmp_path / "inner"
        assert work_folder() == tmp_path
    assert work_folder() == Path(tempfile.gettempdir())


def test_folder_is_restored_after_an_error(tmp_path):
    with pytest.raises(ValueError, match="why"), use_work_folder(tmp_path):
        raise ValueError("why")
    assert work_folder() == Path(tempfile.gettempdir())
