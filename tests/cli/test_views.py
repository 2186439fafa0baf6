from __future__ import annotations

import json

import numpy as np
import pytest

from graphprox.proximity import Ranking


@pytest.fixture(autouse=True)
def own_cache(no_data):
    """No test finds rankings that another made."""


def test_views_writes_and_tells(run, tmp_path):
    out = tmp_path / "new" / "views"
    code, printed, err = run("views", "synthetic:nodes=200", "--out", out, "--k-max", 4, "--all", "--json")
    told = json.loads(printed)
    assert (code, err, list(told)) == (0, "", ["feature", "topology", "neighbourhood"])
    for name, row in told.items():
        with np.load(out / f"{name}.npz", allow_pickle=False) as held:
            assert held["neighbors"].shape == held["similarities"].shape == (200, 4)
        assert row["edges"] == 800
        assert 0 <= row["reciprocity"] <= 1
        assert row["recall"] == 1
        assert 0 <= row["homophily"] <= 1
        assert row["seconds"] >= 0
        assert row["peak_memory_mb"] > 0
        assert row["largest_in_degree"] >= 4
    assert sorted(path.name for path in out.iterdir()) == ["feature.npz", "neighbourhood.npz", "topology.npz"]


def test_views_prints_a_table(run, tmp_path):
    code, printed, _ = run("views", "synthetic:nodes=200", "--out", tmp_path)
    assert code == 0
    for line in ("feature", "topology", "listed by nobody", "recall", "peak memory", "homophily, k = 6"):
        assert line in printed
    assert not (tmp_path / "neighbourhood.npz").exists()


def test_the_same_seed_writes_the_same_bytes(run, tmp_path):
    for name in ("one", "two"):
        run("views", "synthetic:nodes=200", "--out", tmp_path / name, "--seed", 3, "--no-cache")
    one, two = (Ranking.load(tmp_path / name / "topology.npz") for name in ("one", "two"))
    assert one.neighbors.tobytes() == two.neighbors.tobytes()


def test_a_folder_that_cannot_be_is_named_before_the_work(run, tmp_path):
    (tmp_path / "file").write_text("")
    code, printed, err = run("views", "synthetic", "--out", tmp_path / "file" / "views")
    assert (code, printed) == (2, "")
    assert "must be a folder that can be written to" in err


def test_an_unknown_engine_is_refused(run, tmp_path):
    code, _, err = run("views", "synthetic", "--out", tmp_path, "--engine", "magic")
    assert code == 2
    assert "engine must be one of" in err


def test_real_graphs_have_views(run, data, tmp_path):
    code, printed, _ = run("views", "Texas", "--data", data, "--out", tmp_path, "--json")
    told = json.loads(printed)
    assert code == 0
    assert told["feature"]["homophily"] == pytest.approx(0.657, abs=4e-3)  # ties are drawn
