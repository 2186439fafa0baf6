"""Maps are drawn and saved.

Covers graphprox.visualization.scatter.
"""

from __future__ import annotations

import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from graphprox import CollapsedEmbeddingWarning, Embedding, GraphproxError, IgnoredInputWarning, map_embedding
from graphprox.visualization.scatter import OTHER_COLOR, PALETTE, UNKNOWN_COLOR


@pytest.fixture(scope="module")
def found():
    vectors = np.random.default_rng(0).normal(size=(60, 5)).astype(np.float32)
    return map_embedding(Embedding(vectors, [f"n{i}" for i in range(60)]), perplexity=5)


def draw(found, color=None, **options):
    return found.plot(color, ax=Figure(layout="constrained").add_subplot(), **options)


def drawn_points(axes):
    return sum(len(each.get_offsets()) for each in axes.collections)


def test_all_points_are_drawn_in_one_color(found):
    axes = draw(found, title="people")
    assert drawn_points(axes) == 60
    assert axes.get_legend() is None
    assert axes.get_title(loc="left") == "people"
    assert axes.get_xlabel().startswith("t-SNE of 60 nodes; trustworthiness 0.")


def test_categories_have_a_legend_and_their_color(found):
    color = {f"n{i}": ["cat", "dog"][i % 2] for i in range(50)}
    axes = draw(found, color, color_title="kind")
    legend = axes.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["cat", "dog", "unknown"]
    assert legend.get_title().get_text() == "kind"
    assert drawn_points(axes) == 60
    drawn = {}
    for collection in axes.collections:
        shades = np.resize(collection.get_facecolors(), (len(collection.get_offsets()), 4))
        for point, shade in zip(collection.get_offsets(), shades, strict=True):
            drawn[tuple(np.float32(point))] = mpl.colors.to_hex(shade).upper()
    expected = [PALETTE[i % 2] if i < 50 else UNKNOWN_COLOR for i in range(60)]
    assert [drawn[tuple(point)] for point in found.points] == expected


def test_rare_categories_are_gray_and_many_have_two_shapes(found):
    names = [letter for i, letter in enumerate("abcdefghijklmno") for _ in range(1 + (i < 11) + 4 * (i == 0))][:60]
    names += ["a"] * (60 - len(names))
    axes = draw(found, names)
    legend = axes.get_legend()
    labels = dict(zip([text.get_text() for text in legend.get_texts()], legend.legend_handles, strict=True))
    assert list(labels)[-1] == "other"
    assert labels["other"].get_color() == OTHER_COLOR
    assert len({(handle.get_color(), handle.get_marker()) for handle in labels.values()}) == 12
    assert drawn_points(axes) == 60


def test_numbers_have_a_color_bar(found):
    axes = draw(found, [*np.linspace(0, 1, 59), np.nan], color_title="age")
    (bar,) = [each for each in axes.figure.axes if each is not axes]
    assert bar.get_ylabel() == "age"
    assert drawn_points(axes) == 60


def test_dates_have_a_color_bar_of_dates(found):
    axes = draw(found, pd.date_range("2019-01-01", periods=60, freq="MS"), color_title="joined")
    axes.figure.draw_without_rendering()
    (bar,) = [each for each in axes.figure.axes if each is not axes]
    assert bar.get_ylabel() == "joined"
    assert {"2020-01", "2022-01"} <= {label.get_text() for label in bar.get_yticklabels()}


def test_what_a_column_contains_is_found_from_all_nodes():
    embedding = Embedding(np.random.default_rng(0).normal(size=(50, 3)))
    words = ["unknown", *(f"{i}.5" for i in range(49))]
    with pytest.raises(GraphproxError, match="column 'color' contains 'unknown' in row 0"):
        embedding.plot(words, max_nodes=3, ax=Figure().add_subplot())


def test_text_is_drawn_as_it_is(found):
    color = ["$a", "b$", "_c"] * 20
    axes = draw(found, color, title="$x_", color_title="$")
    axes.figure.savefig("/dev/null", format="png")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["$a", "_c", "b$"]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_coordinates_are_saved_by_id(found, tmp_path, ending):
    path = found.save(tmp_path / f"map.{ending}")
    table = (pd.read_csv if ending == "csv" else pd.read_parquet)(path)
    assert table.columns.tolist() == ["id", "x", "y"]
    assert table["id"].tolist() == found.ids.tolist()
    assert np.array_equal(table[["x", "y"]].to_numpy(np.float32), found.points)
    with pytest.raises(GraphproxError, match=r"one of \.csv, \.parquet; got 'map.txt'"):
        found.save(tmp_path / "map.txt")


def test_of_many_nodes_a_sample_is_mapped():
    embedding = Embedding(np.random.default_rng(0).normal(size=(50, 3)), ids=[f"n{i}" for i in range(50)])
    with pytest.warns(IgnoredInputWarning, match="at most 20 nodes, and the embedding has 50: a random sample"):
        found = map_embedding(embedding, max_nodes=20)
    assert len(found) == 20
    assert found.ids.tolist() == embedding.ids[found.nodes].tolist()
    with pytest.warns(IgnoredInputWarning):
        axes = embedding.plot(["a"] * 25 + ["b"] * 25, max_nodes=20, ax=Figure().add_subplot())
    assert drawn_points(axes) == 20


@pytest.mark.parametrize(
    ("num_nodes", "caption"),
    [(9, "PCA of 9 nodes"), (19, "t-SNE of 19 nodes"), (20, "at 9 neighbors"), (21, "at 10 neighbors")],
)
def test_the_caption_says_how_the_map_was_made(num_nodes, caption):
    vectors = np.random.default_rng(0).normal(size=(num_nodes, 4))
    found = map_embedding(vectors)
    assert (found.trustworthiness is None) == (num_nodes < 20)
    assert found.caption == caption or found.caption.endswith(caption)
    assert draw(found).get_xlabel() == found.caption


@pytest.mark.parametrize("vectors", [np.ones((40, 3)), np.zeros((40, 3)), np.outer(np.arange(1, 41), [1.0, 2, 3])])
def test_a_collapsed_embedding_is_warned_of_and_not_called_trustworthy(vectors):
    with pytest.warns(CollapsedEmbeddingWarning, match="all 40 nodes have the same vector"):
        found = map_embedding(vectors)
    assert found.trustworthiness is None


def test_arrays_are_read_only(found):
    for array in (found.points, found.ids, found.nodes):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_embeddings_are_plotted_on_a_new_figure_of_pyplot():
    mpl.use("agg")
    from matplotlib import pyplot

    axes = Embedding(np.eye(4)).plot([1, 2, 3, 4])
    assert axes.figure is pyplot.gcf()
    pyplot.close("all")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"perplexity": 0}, "perplexity must be a number between 1 and 10000; got 0"),
        ({"perplexity": "a"}, "perplexity must be"),
        ({"max_nodes": 1}, "max_nodes must be"),
        ({"random_state": -1}, "random_state must be"),
        ({"color": ["a"]}, r"each of the 4 nodes; got shape \(1,\)"),
    ],
)
def test_invalid_parameters_are_rejected(options, words):
    with pytest.raises(GraphproxError, match=words):
        Embedding(np.eye(4)).plot(**options)


def test_a_missing_package_is_named(monkeypatch):
    for name in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(GraphproxError, match=r"needs matplotlib.* pip install 'graphprox\[plots\]'"):
        Embedding(np.eye(4)).plot()
