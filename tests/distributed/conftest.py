from __future__ import annotations

import pytest

from distributed.workers import Workers


@pytest.fixture(scope="session")
def workers():
    """Four processes, of which a test takes as many as it needs."""
    workers = Workers(4)
    yield workers
    workers.stop()
