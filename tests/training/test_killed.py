"""A training that was killed at any moment goes on, to the same bytes as one that nothing happened to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def killing(tmp_path):
    """Run killing.py, which trains and kills, and tell what came of it."""

    def killing(runs, *, seed):
        program = [sys.executable, Path(__file__).with_name("killing.py"), tmp_path, runs, seed]
        environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
        child = subprocess.run([*map(str, program)], capture_output=True, text=True, env=environment, timeout=900)
        assert child.returncode == 0, child.stderr
        told = json.loads(child.stdout)
        print(told)
        return told

    return killing


def test_three_trainings_that_are_killed_end_as_one_that_is_not(killing):
    told = killing(3, seed=1)
    assert told["wrong"] == []
    assert told["runs_midway"] == 3


@pytest.mark.slow
def test_fifty_trainings_that_are_killed_end_as_one_that_is_not(killing):
    told = killing(50, seed=2)
    assert told["wrong"] == []
    assert told["runs_midway"] == 50  # each was killed between its first step and its last
    assert told["half_written"] > 0  # some in the middle of a file
