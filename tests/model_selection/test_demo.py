"""The demonstration supports its claims."""

from __future__ import annotations

import pytest

from graphprox import GraphError, synthetic
from graphprox.model_selection.demo import demo_rows, plot_embeddings


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        return {row.name: row for row in demo_rows(synthetic(), preset="synthetic")}


def test_methods_with_one_view_fall_short_of_both_views(rows):
    accuracy = {name: row.accuracy for name, row in rows.items()}
    assert list(accuracy) == ["raw features", "untrained encoder", "F-GCL", "T-GCL", "FT-GCL"]
    assert accuracy["raw features"] < accuracy["untrained encoder"]
    for single in ("F-GCL", "T-GCL"):
        assert accuracy["untrained encoder"] + 0.05 < accuracy[single] < accuracy["FT-GCL"]
    assert accuracy["FT-GCL"] > 0.89
    assert accuracy["untrained encoder"] < 0.80
    assert accuracy["raw features"] < 0.60


def test_equal_embeddings_give_equal_plots(rows, tmp_path):
    graph, shown = synthetic(), [rows["raw features"], rows["FT-GCL"]]
    (tmp_path / "again").mkdir()
    png, svg = plot_embeddings(tmp_path, graph, shown)
    _, again = plot_embeddings(tmp_path / "again", graph, shown)
    assert png.read_bytes()[:4] == b"\x89PNG"
    assert svg.read_bytes() == again.read_bytes()


def test_labels_are_required():
    with pytest.raises(GraphError, match="must have labels"):
        next(demo_rows(synthetic(nodes=140).without_labels()))
