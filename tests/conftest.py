"""Fixtures and settings of all tests: the real data sets, if they are available, and reproducible property tests."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# Tests run in parallel, one per core, on small tensors: more threads of torch and BLAS would mostly wait for each
# other. Both read these variables when they are first imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A shell ignores Ctrl-C for what it runs in the background, and so would the programs that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A shared machine may be slow at any time, so there are no deadlines. Every run uses the same examples.
settings.register_profile("graphprox", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("graphprox")


@pytest.fixture(scope="session")
def data() -> Path:
    """The directory of real data sets, GRAPHPROX_DATA; tests that need it are skipped if it is not set."""
    named = os.environ.get("GRAPHPROX_DATA")
    if not named:
        pytest.skip("GRAPHPROX_DATA is not set to a directory of data sets")
    return Path(named).resolve()


@pytest.fixture
def run_script(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Run a program in a process of its own, with a folder and other arguments, and return the JSON that it prints.

    Programs that fork are run so: that is only safe in a process with one thread.
    """

    def run_script(script: Path, *arguments: object) -> dict[str, Any]:
        program = [sys.executable, *map(str, (script, tmp_path, *arguments))]
        environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
        child = subprocess.run(program, capture_output=True, text=True, env=environment, timeout=900)
        assert child.returncode == 0, child.stderr
        report: dict[str, Any] = json.loads(child.stdout)
        print(report)
        return report

    return run_script


@pytest.fixture
def no_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Unset the data directory, and return the path of an empty cache."""
    monkeypatch.delenv("GRAPHPROX_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "graphprox" / "datasets"
