"""Callbacks that log for TensorBoard; what they log is tested with ``graphprox embed --tensorboard``."""

from __future__ import annotations

import sys

import pytest

from graphprox import ParameterError
from graphprox.ftgcl.tensorboard import tensorboard_callbacks
from graphprox.ftgcl.trainer import EpochLog


def test_no_folder_has_no_callbacks():
    with tensorboard_callbacks(None) as callbacks:
        assert callbacks == []


def test_epochs_are_written_to_the_folder(tmp_path):
    with tensorboard_callbacks(tmp_path / "log") as (log_epoch,):
        log_epoch(EpochLog(epoch=1, pairs=(("graph", "feature"),), k={"feature": 3}, loss=2.5, seconds=0.1))
    (file,) = (tmp_path / "log").iterdir()
    assert b"loss/graph-feature" in file.read_bytes()


def test_missing_tensorboard_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(ParameterError, match=r"pip install 'graphprox\[track\]'"), tensorboard_callbacks(tmp_path):
        pytest.fail("the callbacks were opened")
