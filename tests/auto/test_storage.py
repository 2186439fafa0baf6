"""The folder of a fitted embedder: what is loaded equals what was saved, and damaged files are named."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from auto.topic_graphs import block_model, topic_graph
from graphprox import FGCL, AutoEmbedder, Graph, ParameterError, ReadError, StructuralFeaturesWarning, synthetic
from graphprox.auto.combination import Combination
from graphprox.auto.selection import Mixture, Selection
from graphprox.auto.storage import load_fitted, save_fitted
from graphprox.io.storage.model_files import ABOUT, ARRAYS
from graphprox.io.storage.verified import dump_with_checksum


def without_features(ids=None):
    edges, _ = block_model(blocks=3, size=20)
    with pytest.warns(StructuralFeaturesWarning):
        return Graph(None, edges, num_nodes=60, node_ids=ids)


GRAPHS = {
    "words": lambda: topic_graph(nodes=100),
    "dense features": lambda: synthetic(nodes=140),
    "no features": without_features,
    "numbered nodes": lambda: without_features(np.arange(60) * 7 - 100),
    "named nodes": lambda: without_features([f"node {'é' * (each % 3)}{each}" for each in range(60)]),
}


@pytest.fixture(params=GRAPHS)
def graph(request):
    return GRAPHS[request.param]()


def test_loaded_embedder_equals_the_saved_one(graph, tmp_path):
    fitted = AutoEmbedder(n_components=12, random_state=3).fit(graph)
    fitted.save(tmp_path / "model")
    loaded = AutoEmbedder.load(tmp_path / "model")
    assert np.array_equal(loaded.transform(graph), fitted.transform(graph))
    assert loaded.selection_ == fitted.selection_
    assert loaded.explanation_ == fitted.explanation_
    assert loaded.get_params() == fitted.get_params()
    assert loaded.settings_ == fitted.settings_
    assert loaded.get_feature_names_out().tolist() == fitted.get_feature_names_out().tolist()


def test_ids_are_loaded_as_they_were(tmp_path):
    for ids in (None, np.arange(60) * 7 - 100, [f"{'ü' * (each % 4)}-{each}" for each in range(60)]):
        graph = without_features(ids)
        AutoEmbedder(n_components=4).fit(graph).save(tmp_path / "model", overwrite=True)
        found = load_fitted(tmp_path / "model").positions.ids
        assert found.tolist() == graph.ids.tolist()
        assert found.dtype == graph.ids.dtype


def test_folder_has_two_files_and_no_pickle(tmp_path):
    AutoEmbedder(n_components=4).fit(synthetic(nodes=140)).save(tmp_path / "model")
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == [ABOUT, ARRAYS]
    about = json.loads((tmp_path / "model" / ABOUT).read_text())
    assert about["method"] == "auto"
    assert about["shape"] == [140, 4]


def test_older_model_is_replaced(tmp_path):
    one, other = topic_graph(nodes=100), synthetic(nodes=140)
    AutoEmbedder(n_components=4).fit(one).save(tmp_path)
    fitted = AutoEmbedder(n_components=6).fit(other)
    fitted.save(tmp_path, overwrite=True)
    assert np.array_equal(AutoEmbedder.load(tmp_path).transform(other), fitted.vectors_)


def test_dense_features_and_number_of_neighbors_are_loaded_as_they_were(tmp_path):
    graph = synthetic(nodes=140)
    fitted = AutoEmbedder(n_components=20, keep="graph").fit(graph)
    assert fitted.preparation_.center is not None
    assert fitted.combination_.popularity > 0
    fitted.save(tmp_path)
    loaded = AutoEmbedder.load(tmp_path)
    assert loaded.explanation_ == fitted.explanation_
    assert loaded.combination_.max_neighbors == fitted.combination_.max_neighbors
    for each in (graph, synthetic(nodes=210)):
        assert np.array_equal(loaded.transform(each), fitted.transform(each))


@pytest.mark.filterwarnings("ignore:n_components must not exceed:graphprox.IgnoredInputWarning")
def test_zeros_are_loaded_without_being_stored_and_older_models_store_them(tmp_path):
    graph = synthetic(nodes=140)
    fitted = AutoEmbedder(n_components=5_000).fit(graph)
    fitted.save(tmp_path)
    assert (tmp_path / ARRAYS).stat().st_size < 5_000_000
    assert np.array_equal(AutoEmbedder.load(tmp_path).transform(graph), fitted.vectors_)

    parts = load_fitted(tmp_path)
    stored = np.pad(parts.combination.projection, ((0, 0), (0, parts.combination.num_zeros)))
    older = replace(parts, combination=replace(parts.combination, projection=stored, num_zeros=0))
    save_fitted(tmp_path, older, overwrite=True)
    about = json.loads((tmp_path / ABOUT).read_text())
    assert about.pop("num_zeros") == 0
    del about["checksum"]
    (tmp_path / ABOUT).write_text(dump_with_checksum(about))
    np.testing.assert_allclose(AutoEmbedder.load(tmp_path).transform(graph), fitted.vectors_, atol=1e-5)


def test_infinite_ratio_is_loaded_as_it_was(tmp_path):
    parts = fitted_parts(tmp_path, Selection("graph", {"own": -0.1, "graph": 0.2}, float("inf")))
    assert parts.selection.ratio == float("inf")


def test_description_has_no_number_that_is_not_finite(tmp_path):
    selection = Selection("graph", {"own": float("nan"), "graph": -float("inf")}, float("inf"))
    loaded = fitted_parts(tmp_path, selection).selection
    json.loads((tmp_path / ABOUT).read_text(), parse_constant=pytest.fail)
    assert np.isnan(loaded.scores["own"])
    assert (loaded.scores["graph"], loaded.ratio) == (-float("inf"), float("inf"))


def fitted_parts(folder, selection):
    """Save an embedder with another selection, and return what is loaded."""
    embedder = AutoEmbedder(n_components=4, keep="graph").fit(synthetic(nodes=140))
    embedder.selection_ = selection
    graph = synthetic(nodes=140)
    outputs, _ = embedder._outputs(graph, selection.weights)
    embedder.combination_ = Combination.fit(outputs, selection.mixture, n_components=4)
    embedder.save(folder)
    return load_fitted(folder)


@pytest.mark.parametrize("name", [ABOUT, ARRAYS])
@pytest.mark.parametrize("damage", ["missing", "shortened", "changed"])
def test_damaged_file_is_named(name, damage, tmp_path):
    AutoEmbedder(n_components=4).fit(synthetic(nodes=140)).save(tmp_path)
    path = tmp_path / name
    content = path.read_bytes()
    if damage == "missing":
        path.unlink()
    elif damage == "shortened":
        path.write_bytes(content[: len(content) // 2])
    else:
        changed = bytearray(content)
        changed[len(content) // 2] ^= 1
        path.write_bytes(changed)
    with pytest.raises(ReadError, match=name):
        AutoEmbedder.load(tmp_path)


def rewrite(folder, **changes):
    about = json.loads((folder / ABOUT).read_text()) | changes
    about.pop("checksum")
    (folder / ABOUT).write_text(dump_with_checksum(about))


def test_recorded_weights_are_used_even_if_this_version_has_others(tmp_path):
    graph = synthetic(nodes=140)
    fitted = AutoEmbedder(n_components=4, keep="features").fit(graph)
    weights = {"own": 1.0, "view": 0.9}
    outputs, _ = fitted._outputs(graph, weights)
    fitted.combination_ = Combination.fit(outputs, Mixture(weights, similar=0.25), n_components=4)
    fitted.save(tmp_path)
    assert load_fitted(tmp_path).combination.weights == {"own": 1.0, "view": 0.9}
    assert load_fitted(tmp_path).combination.similar == 0.25
    assert np.array_equal(AutoEmbedder.load(tmp_path).transform(graph), fitted.transform(graph))


def test_model_with_an_output_that_is_not_registered_is_rejected(tmp_path):
    AutoEmbedder(n_components=4, keep="features").fit(synthetic(nodes=140)).save(tmp_path)
    rewrite(tmp_path, weights={"own": 1.0, "mine": 0.3})
    with pytest.raises(ReadError, match="'mine' is no registered output"):
        AutoEmbedder.load(tmp_path)


def test_model_without_the_mean_of_an_output_is_rejected(tmp_path):
    AutoEmbedder(n_components=4, keep="features").fit(synthetic(nodes=140)).save(tmp_path)
    rewrite(tmp_path, weights={"own": 1.0, "graph": 0.3})
    with pytest.raises(ReadError, match=r"must fit about.json; it does not"):
        AutoEmbedder.load(tmp_path)


def test_model_of_another_method_is_rejected(tmp_path):
    graph = synthetic(nodes=140)
    FGCL(n_components=4, hidden_channels=4, head_channels=4, epochs=1, device="cpu", cache=False).fit(graph).save(
        tmp_path
    )
    with pytest.raises(ParameterError, match="must be of auto"):
        load_fitted(tmp_path)


def test_parts_are_saved_again_to_the_same_bytes(tmp_path):
    AutoEmbedder(n_components=4).fit(topic_graph(nodes=100)).save(tmp_path / "one")
    save_fitted(tmp_path / "other", load_fitted(tmp_path / "one"))
    for name in (ABOUT, ARRAYS):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()
