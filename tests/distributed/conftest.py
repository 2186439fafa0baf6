from __future__ import annotations

import pytest

from distributed.workers import Workers


@pytest.fixture(scope="session")
def workers():
    """Processes, as many as a test needs."""
    workers = Workers()
    yield workers
    workers.stop()
