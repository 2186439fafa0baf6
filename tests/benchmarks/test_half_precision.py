from __future__ import annotations

import numpy as np

from benchmarks import half_precision


def test_recall_counts_the_nearest_rows_and_those_that_tie_with_them():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 8)).astype(np.float32)
    assert half_precision.measure_recall(rows, rows) == 1
    assert half_precision.measure_recall(rows, rng.permutation(rows)) < 0.2
    ties = np.repeat(rows[:3], 100, axis=0)  # 99 rows are as near as the nearest
    assert half_precision.measure_recall(ties, ties + 1e-9) == 1


def test_rows_of_the_table_name_recall_and_sizes(monkeypatch):
    monkeypatch.delenv("GRAPHPROX_DATA", raising=False)
    monkeypatch.setattr(half_precision, "SYNTHETIC", "synthetic:nodes=210")
    (row,) = half_precision.run()
    assert row["what"].startswith("topology descriptor in half precision, synthetic:nodes=210, 210 x ")
    assert row["ratio"].startswith("recall 0.99") or row["ratio"].startswith("recall 1.0")
    assert row["reference"] == "in single precision: 0.2 MB"
