"""Features of all methods: names, tables and scales are part of what is fitted, saved and loaded."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pyarrow as pa
import pytest

from graphprox import (
    FTGCL,
    GCN,
    AutoEmbedder,
    CollapsedEmbeddingWarning,
    DeepWalk,
    Graph,
    GraphError,
    IgnoredInputWarning,
    ParameterError,
    RawFeatures,
    evaluation,
    load_embedder,
    random_split,
    synthetic,
)
from graphprox.auto.preparation import limit_scales
from graphprox.methods import METHODS
from graphprox.preprocessing import encode_table

NUM_NODES = 60


def make_columns(seed=0):
    rng = np.random.default_rng(seed)
    return {
        "age": [None if i == 7 else float(each) for i, each in enumerate(rng.normal(40, 9, NUM_NODES))],
        "income": rng.normal(50_000, 9_000, NUM_NODES),
        "city": rng.choice(["Paris", "Rome", "Oslo"], NUM_NODES),
    }


@pytest.fixture
def edges():
    return np.random.default_rng(1).integers(NUM_NODES, size=(2, 200))


@pytest.fixture
def people(edges):
    return Graph(encode_table(pa.table(make_columns())), edges)


@pytest.fixture
def with_income():
    """Synthetic, with a column of another scale that says nothing."""
    graph = synthetic(nodes=420)
    income = np.random.default_rng(0).normal(50_000, 9_000, graph.num_nodes)
    return graph.with_features(np.column_stack([graph.x, income]))


FITTED = {
    "auto": lambda **given: AutoEmbedder(n_components=16, **given),
    "ft-gcl": lambda **given: FTGCL(n_components=16, epochs=2, cache=False, **given),
}


@pytest.mark.parametrize("name", FITTED)
def test_embedder_knows_the_columns_of_its_table(name, people, edges, tmp_path):
    embedder = FITTED[name]().fit(people)
    assert embedder.feature_names_in_.tolist() == list(people.feature_names)
    assert len(embedder.feature_names_in_) == embedder.n_features_in_
    columns = make_columns()
    shuffled = Graph(encode_table(pa.table({key: columns[key] for key in ("city", "income", "age")})), edges)
    assert np.allclose(embedder.transform(shuffled), embedder.transform(people), atol=1e-5)
    embedder.save(tmp_path / "model")
    for again in (load_embedder(tmp_path / "model"), pickle.loads(pickle.dumps(embedder))):
        assert np.allclose(again.transform(shuffled), embedder.transform(people), atol=1e-5)
        assert again.feature_names_in_.tolist() == list(people.feature_names)


@pytest.mark.parametrize("name", FITTED)
def test_new_categories_and_missing_cells_do_not_stop_a_saved_model(name, people, edges, tmp_path):
    FITTED[name]().fit(people).save(tmp_path / "model")
    columns = make_columns()
    columns["city"] = ["Lyon", *columns["city"][1:]]
    columns["income"] = [None, *columns["income"][1:]]
    other = Graph(encode_table(pa.table(columns)), edges)
    with pytest.warns(IgnoredInputWarning, match="'city' has 'Lyon'"):
        vectors = load_embedder(tmp_path / "model").transform(other)
    assert np.isfinite(vectors).all()
    with pytest.raises(GraphError, match="column 'city' is missing"):
        load_embedder(tmp_path / "model").transform(Graph(encode_table(pa.table(columns).drop("city")), edges))


@pytest.mark.parametrize("name", FITTED)
def test_numbers_are_found_by_their_names(name, edges, tmp_path):
    x = np.random.default_rng(0).normal([40, 5e4, 0.3], [9, 9e3, 0.1], (NUM_NODES, 3))
    graph = Graph(x, edges, feature_names=["age", "income", "share"])
    embedder = FITTED[name]().fit(graph)
    embedder.save(tmp_path / "model")
    swapped = Graph(x[:, ::-1], edges, feature_names=["share", "income", "age"])
    assert np.allclose(load_embedder(tmp_path / "model").transform(swapped), embedder.vectors_, atol=1e-5)


def test_names_of_an_earlier_fit_are_forgotten(people, edges):
    embedder = AutoEmbedder(n_components=8).fit(people)
    embedder.fit(Graph(np.eye(NUM_NODES), edges))
    assert not hasattr(embedder, "feature_names_in_")
    assert embedder.preprocessor_.encoder is None


# -- scales ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FITTED)
def test_a_column_of_another_scale_hardly_matters(name, with_income):
    plain = synthetic(nodes=420)
    scores = [
        evaluation.classify(each, FITTED[name]().fit_transform(each), n_splits=3) for each in (plain, with_income)
    ]
    assert scores[1].mean > scores[0].mean - 0.1


def test_features_that_are_not_scaled_give_an_embedding_of_one_direction_with_a_warning(with_income):
    with pytest.warns(
        CollapsedEmbeddingWarning, match=r"hardly differs between nodes: 100% of the pairs .*--scale standard"
    ):
        FITTED["ft-gcl"](scale="none").fit(with_income)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FITTED["ft-gcl"]().fit(with_income)


@pytest.mark.parametrize("name", FITTED)
def test_scale_is_saved_with_the_model(name, with_income, tmp_path):
    embedder = FITTED[name](scale="standard").fit(with_income)
    embedder.save(tmp_path / "model")
    again = load_embedder(tmp_path / "model")
    assert again.scale == "standard"
    assert np.allclose(again.transform(with_income), embedder.transform(with_income), atol=1e-5)
    x = with_income.x
    assert np.allclose(again.transform(x[:3]), embedder.transform(x[:3]), atol=1e-5)


def test_a_model_scales_other_graphs_as_the_fitted_one(with_income):
    embedder = RawFeatures().fit(with_income)
    half = Graph(with_income.x[:200], [[0], [1]])
    assert np.allclose(embedder.transform(half), embedder.vectors_[:200], atol=1e-5)


@pytest.mark.parametrize("name", METHODS)
def test_scale_is_a_setting_only_if_it_is_given(name):
    method = METHODS[name]
    assert "scale" not in method(preset="default").settings()
    assert method(preset="default", scale="none").settings()["scale"] == "none"
    assert method.from_preset(**method(preset="default", scale="none").settings()).scale == "none"
    with pytest.raises(ParameterError, match="scale must be one of auto, standard, none; got 'much'"):
        method(scale="much").check_parameters()


def test_a_method_that_reads_no_features_does_not_scale_them(with_income):
    walks = DeepWalk(n_components=4, num_walks=1).fit(with_income)
    assert walks.preprocessor_.scaling is None


def test_classifiers_scale_features_too(with_income):
    split = random_split(with_income, random_state=0)
    scores = [
        GCN(epochs=60, scale=scale).fit(with_income, split).score(with_income, split) for scale in ("none", "auto")
    ]
    assert scores[1] > scores[0] + 0.2


def test_auto_scales_a_standardized_table_no_more(edges):
    rare = {f"rare {i}": np.arange(NUM_NODES) % 20 == i for i in range(3)}
    graph = Graph(encode_table(pa.table({name: make_columns()[name] for name in ("age", "income")} | rare)), edges)
    embedder = AutoEmbedder(n_components=4).fit(graph)
    scaled = embedder.preprocessor_.transform(graph).x
    assert np.ptp(limit_scales(scaled)[0]) > 1  # what would be done to a matrix
    assert set(embedder.preparation_.weights.tolist()) == {1.0}


def test_auto_scales_nothing_if_the_user_wants_none(edges):
    x = np.random.default_rng(0).normal(size=(NUM_NODES, 4)) * [1, 1, 1, 100]
    graph = Graph(x, edges)
    kept = AutoEmbedder(n_components=4, scale="none").fit(graph).preparation_
    assert kept.weights.tolist() == [1, 1, 1, 1]
    assert np.allclose(kept.center, x.mean(axis=0), atol=1e-4)
    reduced = AutoEmbedder(n_components=4).fit(graph).preparation_
    assert reduced.weights[3] < 0.1


@pytest.mark.parametrize("directed", [False, True])
def test_features_made_from_edges_are_never_scaled(edges, directed):
    with warnings.catch_warnings(action="ignore"):
        graph = Graph(None, edges, num_nodes=NUM_NODES, directed=directed)
    embedder = RawFeatures(scale="standard").fit(graph)
    assert embedder.preprocessor_.scaling is None
    assert embedder.preprocessor_.scale == "standard"
