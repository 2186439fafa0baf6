"""The demonstration shows what it says."""

from __future__ import annotations

import pytest

from graphprox import GraphError, synthetic
from graphprox.experiments.demo import draw, rows


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        return {row.name: row for row in rows(synthetic(), preset="synthetic")}


def test_one_proximity_falls_short_of_both(shown):
    accuracy = {name: row.accuracy for name, row in shown.items()}
    assert list(accuracy) == ["raw features", "untrained encoder", "F-GCL", "T-GCL", "FT-GCL"]
    assert accuracy["raw features"] < accuracy["untrained encoder"]
    for single in ("F-GCL", "T-GCL"):
        assert accuracy["untrained encoder"] + 0.05 < accuracy[single] < accuracy["FT-GCL"]
    assert shown["FT-GCL"].accuracy > 0.89
    assert shown["untrained encoder"].accuracy < 0.80
    assert shown["raw features"].accuracy < 0.60


def test_the_picture_is_drawn_and_the_same_each_time(shown, tmp_path):
    graph, few = synthetic(), [shown["raw features"], shown["FT-GCL"]]
    (tmp_path / "again").mkdir()
    png, svg = draw(tmp_path, graph, few)
    _, again = draw(tmp_path / "again", graph, few)
    assert png.read_bytes()[:4] == b"\x89PNG"
    assert svg.read_bytes() == again.read_bytes()


def test_a_graph_without_labels_is_refused():
    with pytest.raises(GraphError, match="must have labels"):
        next(rows(synthetic(nodes=140).without_labels(), preset="default"))
