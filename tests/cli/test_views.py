"""graphprox views."""

from __future__ import annotations

import json

import numpy as np
import pytest

from graphprox.views import Ranking


@pytest.fixture(autouse=True)
def own_cache(no_data):
    """Give each test a separate cache."""


def test_rankings_are_written_and_described(run, tmp_path):
    out = tmp_path / "new" / "views"
    code, printed, err = run("views", "synthetic:nodes=200", "--out", out, "--k-max", 4, "--all", "--json")
    rows = json.loads(printed)
    assert (code, err, list(rows)) == (0, "", ["feature", "neighborhood", "topology"])
    for name, row in rows.items():
        with np.load(out / f"{name}.npz", allow_pickle=False) as arrays:
            assert arrays["neighbors"].shape == arrays["similarities"].shape == (200, 4)
        assert row["num_edges"] == 800
        assert 0 <= row["reciprocity"] <= 1
        assert row["recall"] == 1
        assert 0 <= row["homophily"] <= 1
        assert row["seconds"] >= 0
        assert row["peak_memory_mb"] > 0
        assert row["max_in_degree"] >= 4
    assert sorted(path.name for path in out.iterdir()) == ["feature.npz", "neighborhood.npz", "topology.npz"]


def test_statistics_are_printed_as_a_table(run, tmp_path):
    code, printed, _ = run("views", "synthetic:nodes=200", "--out", tmp_path)
    assert code == 0
    for line in ("feature", "topology", "in-degree 0", "recall", "peak memory", "homophily, k = 6"):
        assert line in printed
    assert not (tmp_path / "neighborhood.npz").exists()


def test_homophily_is_labeled_with_its_k(run, tmp_path):
    code, printed, _ = run("views", "synthetic:nodes=200", "--out", tmp_path, "--k-max", 4)
    assert code == 0
    assert "homophily, k = 4" in printed


def test_the_same_seed_writes_the_same_bytes(run, tmp_path):
    for name in ("one", "two"):
        run("views", "synthetic:nodes=200", "--out", tmp_path / name, "--seed", 3, "--no-cache")
    one, two = (Ranking.load(tmp_path / name / "topology.npz") for name in ("one", "two"))
    assert one.neighbors.tobytes() == two.neighbors.tobytes()


def test_folder_is_checked_before_anything_is_read(run, tmp_path):
    (tmp_path / "file").write_text("")
    code, printed, err = run("views", "synthetic", "--out", tmp_path / "file" / "views")
    assert (code, printed) == (2, "")
    assert "must be a folder that can be written to" in err


def test_unknown_engine_is_rejected(run, tmp_path):
    code, _, err = run("views", "synthetic", "--out", tmp_path, "--engine", "magic")
    assert code == 2
    assert "engine must be one of" in err


def test_views_of_a_real_graph(run, data, tmp_path):
    code, printed, _ = run("views", "Texas", "--data", data, "--out", tmp_path, "--json")
    rows = json.loads(printed)
    assert code == 0
    assert rows["feature"]["homophily"] == pytest.approx(0.657, abs=4e-3)  # ties are broken at random
