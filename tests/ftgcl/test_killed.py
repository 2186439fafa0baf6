"""A training run that is killed at any time can be resumed, and gives the same bytes as an uninterrupted one."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def run_and_kill(run_script):
    def run_and_kill(runs, *, seed, script="killing.py"):
        return run_script(Path(__file__).with_name(script), runs, seed)

    return run_and_kill


def test_three_killed_training_runs_give_the_same_bytes(run_and_kill):
    report = run_and_kill(3, seed=1)
    assert report["differences"] == []
    assert report["runs_midway"] == 3


@pytest.mark.slow
def test_fifty_killed_training_runs_give_the_same_bytes(run_and_kill):
    report = run_and_kill(50, seed=2)
    assert report["differences"] == []
    assert report["runs_midway"] == 50  # each was killed while it trained
    assert report["partial_files"] > 0  # some while a file was written


def test_killed_commands_leave_old_or_new_files_and_the_next_run_succeeds(run_and_kill):
    report = run_and_kill(9, seed=1, script="killing_commands.py")
    assert report["wrong"] == []
    assert report["killed"] >= 3


@pytest.mark.slow
def test_three_hundred_killed_commands_leave_old_or_new_files(run_and_kill):
    report = run_and_kill(300, seed=2, script="killing_commands.py")
    assert report["wrong"] == []
    assert report["killed"] > 150
    assert report["writing"] > 0  # some while a file was written
