"""The demonstration supports its claims."""

from __future__ import annotations

import numpy as np
import pytest

from graphprox import Dataset, Graph, GraphError, ParameterError, synthetic
from graphprox.model_selection import demonstration
from graphprox.model_selection.demonstration import DemoRow, demo_rows, plot_embeddings


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        return {row.name: row for row in demo_rows(synthetic(), preset="synthetic")}


def test_one_view_is_less_accurate_than_both_views(rows):
    accuracy = {name: row.accuracy for name, row in rows.items()}
    assert list(accuracy) == ["raw features", "untrained encoder", "F-GCL", "T-GCL", "FT-GCL", "auto"]
    assert accuracy["raw features"] < accuracy["untrained encoder"]
    for single in ("F-GCL", "T-GCL"):
        assert accuracy["untrained encoder"] + 0.05 < accuracy[single] < accuracy["FT-GCL"]
    assert accuracy["FT-GCL"] > 0.89
    assert accuracy["untrained encoder"] < 0.80
    assert accuracy["raw features"] < 0.60
    assert accuracy["auto"] > accuracy["untrained encoder"]


def test_equal_embeddings_give_equal_plots(tmp_path):
    graph = synthetic(nodes=140)
    shown = [
        DemoRow(name, "features", 0.5, 0.1, vectors) for name, vectors in (("raw", graph.x), ("half", graph.x / 2))
    ]
    (tmp_path / "again").mkdir()
    png, svg = plot_embeddings(tmp_path, graph, shown)
    _, again = plot_embeddings(tmp_path / "again", graph, shown)
    assert png.read_bytes()[:4] == b"\x89PNG"
    assert svg.read_bytes() == again.read_bytes()


def test_labels_are_required():
    with pytest.raises(GraphError, match="must have labels"):
        next(demo_rows(synthetic(nodes=140).without_labels()))


@pytest.fixture
def legend(monkeypatch):
    """The entries of the legend and their colors, of the figure that is saved."""
    found = {}

    def keep(figure, folder, name):
        found.update({each.get_label(): tuple(each.get_facecolor()[0]) for each in figure.axes[0].collections})
        return []

    monkeypatch.setattr(demonstration, "save_figure", keep)
    return found


def row(graph, columns=3):
    vectors = np.random.default_rng(0).normal(size=(graph.num_nodes, columns)).astype(np.float32)
    return DemoRow("a method", "features", 0.5, 0.1, vectors)


def test_legend_has_the_names_of_classes_and_unlabeled_nodes_are_gray(legend, tmp_path):
    y = [0, 2, -1] * 12
    graph = Graph(np.eye(36, 4), [[0], [1]], y=y, class_names=["cats", "birds", "dogs"])
    plot_embeddings(str(tmp_path), Dataset("animals", graph), [row(graph)])
    assert list(legend) == ["cats", "dogs", "unlabeled"]
    gray = legend["unlabeled"]
    assert gray[0] == gray[1] == gray[2]
    legend.clear()
    plot_embeddings(tmp_path, graph.with_labels(y), [row(graph)], random_state=None)
    assert list(legend) == ["0", "2", "unlabeled"]


def test_small_graphs_and_vectors_of_one_component_are_plotted(legend, tmp_path):
    graph = Graph(np.eye(6, 4), [[0], [1]], y=[0, 1] * 3)
    plot_embeddings(tmp_path, graph, [row(graph, columns=1)])
    assert list(legend) == ["0", "1"]


def test_invalid_embedding_is_refused_in_one_sentence(tmp_path):
    graph = Graph(np.eye(6, 4), [[0], [1]], y=[0, 1] * 3)
    broken = row(graph)
    broken.vectors[2, 1] = np.nan
    with pytest.raises(ParameterError, match=r"^vectors must be finite; node 2 has nan in component 1$"):
        plot_embeddings(tmp_path, graph, [broken])
    with pytest.raises(ParameterError, match="must have one row per node"):
        plot_embeddings(tmp_path, graph, [DemoRow("a method", "features", 0.5, 0.1, broken.vectors[:3])])
    with pytest.raises(ParameterError, match="rows must contain at least one embedding"):
        plot_embeddings(tmp_path, graph, [])
