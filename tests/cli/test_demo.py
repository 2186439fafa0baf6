"""graphprox demo."""

from __future__ import annotations

import numpy as np


def test_rows_are_printed_and_plotted(run, tmp_path, monkeypatch):
    import graphprox.model_selection.demonstration as module

    def rows(graph, *, preset, random_state):
        assert (preset, random_state) == ("synthetic", 3)
        vectors = np.random.default_rng(0).normal(size=(graph.num_nodes, 4)).astype(np.float32)
        yield module.DemoRow("F-GCL", "feature view", 0.5, 0.01, vectors)

    monkeypatch.setattr(module, "demo_rows", rows)
    code, printed, _ = run("demo", "--out", tmp_path, "--seed", 3)
    lines = printed.splitlines()
    assert code == 0
    assert lines[0].split() == ["embedding", "uses", "accuracy", "seconds"]
    assert "F-GCL" in lines[1]
    assert "50.0 ± 1.0 %" in lines[1]
    assert lines[2:] == [str(tmp_path / "demo.png"), str(tmp_path / "demo.svg")]
    assert (tmp_path / "demo.svg").read_text().startswith("<?xml")


def test_without_matplotlib_there_is_a_table_and_a_note(run, tmp_path, monkeypatch):
    import graphprox.model_selection.demonstration as module

    def rows(graph, *, preset, random_state):
        yield module.DemoRow("F-GCL", "feature view", 0.5, 0.01, np.zeros((graph.num_nodes, 4), dtype=np.float32))

    monkeypatch.setattr(module, "demo_rows", rows)
    monkeypatch.setattr("graphprox.cli.demo.has_matplotlib", lambda: False)
    code, printed, _ = run("demo", "--out", tmp_path)
    lines = printed.splitlines()
    assert code == 0
    assert "F-GCL" in lines[1]
    assert lines[2:] == ["a figure needs matplotlib: pip install 'graphprox[plots]'"]
    assert list(tmp_path.iterdir()) == []
