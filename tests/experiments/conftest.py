"""A small experiment on the embedded graph, as a file."""

from __future__ import annotations

from pathlib import Path

import pytest

SMALL = """
title = "A small experiment"
datasets = ["synthetic"]
rows = ["raw", "smoothed", "small"]
seeds = 2
splits = 3

[variants.small]
title = "FT-GCL, small"
method = "ft-gcl"
set = { steps = 3, "encoder.width" = 8 }
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """The path of an experiment of four quick trials."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path
