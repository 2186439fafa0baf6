"""What all tests share: the real data sets, where they are at hand, and reproducible property tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Tests run side by side, one to a core, on small tensors: further threads of torch and BLAS would mostly wait for each
# other. Both look here when they are first imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A shared machine may be slow at any moment: time never decides. The same examples are tried in every run.
settings.register_profile("graphprox", deadline=None, derandomize=True)
settings.load_profile("graphprox")


@pytest.fixture(scope="session")
def data() -> Path:
    """The directory of real data sets that GRAPHPROX_DATA names; a test that needs it is skipped without."""
    named = os.environ.get("GRAPHPROX_DATA")
    if not named:
        pytest.skip("GRAPHPROX_DATA does not name a directory of data sets")
    return Path(named).resolve()


@pytest.fixture
def no_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No data directory, and an empty cache, whose place is returned."""
    monkeypatch.delenv("GRAPHPROX_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "graphprox" / "datasets"
