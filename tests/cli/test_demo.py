"""graphprox demo: a table and a picture."""

from __future__ import annotations

import numpy as np


def test_rows_become_a_table_and_a_picture(run, tmp_path, monkeypatch):
    import graphprox.experiments.demo as module

    def rows(graph, *, preset, seed):
        assert (preset, seed) == ("synthetic", 3)
        vectors = np.random.default_rng(0).normal(size=(graph.num_nodes, 4)).astype(np.float32)
        yield module.Row("F-GCL", "feature view", 0.5, 0.01, vectors)

    monkeypatch.setattr(module, "rows", rows)
    code, printed, _ = run("demo", "--out", tmp_path, "--seed", 3)
    lines = printed.splitlines()
    assert code == 0
    assert lines[0].split() == ["embedding", "sees", "accuracy", "seconds"]
    assert "F-GCL" in lines[1]
    assert "50.0 ± 1.0 %" in lines[1]
    assert lines[2:] == [str(tmp_path / "demo.png"), str(tmp_path / "demo.svg")]
    assert (tmp_path / "demo.svg").read_text().startswith("<?xml")
