from __future__ import annotations

import inspect
import json
import pickle
from functools import cache

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks
from torch_geometric.data import Data, HeteroData

from graphprox import Graph, GraphError, ParameterError, ReadError, StructuralFeaturesWarning, load, synthetic
from graphprox.methods.estimators import (
    ESTIMATORS,
    FGCL,
    FIELDS,
    FTGCL,
    FTGCLNL,
    FTGRACE,
    GRACE,
    PEGCL,
    TGCL,
    FTGCLPlus,
    GraphEmbedder,
)
from graphprox.methods.family import FAMILY, preset_names, recipe_for
from graphprox.methods.inputs import as_graph
from graphprox.training.fitting import fit

ALL = (FGCL, TGCL, FTGCL, FTGCLPlus, PEGCL, FTGCLNL, FTGRACE, GRACE)


def small(kind: type[GraphEmbedder] = FTGCL, **parameters) -> GraphEmbedder:
    sizes = {"steps": 2, "width": 8, "head_width": 8, "cache": False, "device": "cpu"}
    return kind(**(sizes | parameters))


@cache
def ring(nodes: int = 60, *, extra: int = 0) -> Graph:
    """A ring with dense features, and nodes beyond it that each hang on one of its first nodes."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(nodes + extra, 5)).astype(np.float32)
    around = np.arange(nodes)
    beyond = np.arange(nodes, nodes + extra)
    edges = np.stack([np.concatenate([around, beyond]), np.concatenate([(around + 1) % nodes, beyond - nodes])])
    return Graph(x, edges, y=around.tolist() + [0] * extra)


# -- scikit-learn's own checks ----------------------------------------------------------------------------------------

# All classes share their code: these have every view, both contrasts, and corruptions among them. No check is expected
# to fail.
CHECKED = [small(kind) for kind in (FTGCL, PEGCL, FTGRACE, GRACE)]


@parametrize_with_checks(CHECKED)
def test_scikit_learn_finds_an_estimator_as_it_should_be(estimator, check):
    check(estimator)


# What scikit-learn asks of its own estimators beside.
@pytest.mark.parametrize(
    "name",
    [
        "check_dataframe_column_names_consistency",
        "check_get_feature_names_out_error",
        "check_global_output_transform_pandas",
        "check_set_output_transform",
        "check_set_output_transform_pandas",
        "check_transformer_get_feature_names_out",
        "check_transformer_get_feature_names_out_pandas",
    ],
)
@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names:UserWarning")  # the checks provoke it
def test_names_of_features_are_kept(name):
    getattr(estimator_checks, name)("FTGCL", small())


# -- the family -------------------------------------------------------------------------------------------------------


def test_every_method_has_its_class():
    assert list(ESTIMATORS) == list(FAMILY)
    assert list(ESTIMATORS.values()) == list(ALL)
    for name, kind in ESTIMATORS.items():
        assert kind.__name__ == FAMILY[name].title.replace("-", "").replace("+", "Plus")
        assert kind.__doc__.startswith(f"{FAMILY[name].title}: {FAMILY[name].summary}.")


@pytest.mark.parametrize("kind", ALL)
def test_what_is_there_after_fit(kind):
    graph = ring()
    embedder = small(kind)
    assert embedder.fit(graph) is embedder
    assert embedder.embedding_.shape == (60, 8)
    assert embedder.embedding_.dtype == np.float32
    assert np.isfinite(embedder.embedding_).all()
    assert embedder.loss_curve_.shape == (2,)
    assert embedder.recipe_.method == embedder.model_.recipe.method == kind.method
    assert set(embedder.rankings_) == set(embedder.recipe_.views_needed)
    assert embedder.n_features_in_ == 5
    assert np.array_equal(embedder.node_ids_, np.arange(60))
    assert embedder.get_feature_names_out().tolist() == [f"{kind.__name__.lower()}{i}" for i in range(8)]
    assert np.array_equal(embedder.transform(graph), embedder.embedding_)


def test_node_ids_are_those_of_the_graph():
    graph = Graph(np.eye(3), [[0, 1], [1, 2]], node_ids=["ann", "bob", "cy"])
    assert small(FGCL).fit(graph).node_ids_.tolist() == ["ann", "bob", "cy"]


def test_it_trains_as_the_recipe_does():
    embedder = small(overrides={"encoder.residual": True}, random_state=3).fit(ring())
    again = fit(ring(), embedder.recipe_, cache=False)
    assert np.array_equal(embedder.embedding_, again.embedding)
    assert np.array_equal(embedder.loss_curve_, again.losses)


# -- parameters -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ALL)
def test_parameters_are_stored_as_they_are(kind):
    given = {"preset": "Cora", "steps": 3, "overrides": {"schedule": "sum"}, "random_state": None, "verbose": True}
    embedder = kind(**given)
    assert embedder.get_params() == kind().get_params() | given
    assert clone(embedder).get_params() == embedder.get_params()
    assert kind().set_params(**embedder.get_params()).get_params() == embedder.get_params()
    signature = inspect.signature(kind).parameters.values()
    assert all(each.kind is each.KEYWORD_ONLY for each in signature)
    assert all(each.default is None for each in signature if each.name in FIELDS)


@pytest.mark.parametrize("method", FAMILY)
def test_parameters_left_out_are_those_of_the_preset(method):
    for preset in preset_names(method):
        assert ESTIMATORS[method](preset=preset)._chosen_recipe() == recipe_for(method, preset=preset)


def test_parameters_reach_the_recipe():
    parameters = {
        "steps": 3,
        "k_max": 4,
        "encoder": "gat",
        "width": 12,
        "layers": 3,
        "heads": 2,
        "activation": "elu",
        "head_width": 9,
        "head_layers": 1,
        "temperature": 0.7,
        "learning_rate": 0.1,
        "weight_decay": 0.0,
        "normalize": "none",
    }
    assert set(parameters) == set(FIELDS)
    recipe = FTGCL(**parameters, random_state=5, overrides={"views.binary": True})._chosen_recipe()
    expected = {FIELDS[name]: value for name, value in parameters.items()} | {"seed": 5, "views.binary": True}
    assert recipe == recipe_for("ft-gcl", overrides=expected)


def test_a_parameter_counts_more_than_an_override():
    both = FTGCL(
        encoder="gat", heads=3, width=9, overrides={"encoder.width": 10, "encoder.jumping": "concat"}
    )._chosen_recipe()
    assert (both.encoder.width, both.encoder.jumping) == (9, "concat")


def test_the_width_counts_all_that_the_encoder_hands_out():
    embedder = small(overrides={"encoder.jumping": "concat"}).fit(ring())
    assert embedder.embedding_.shape == (60, 16)
    assert len(embedder.get_feature_names_out()) == 16


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"width": -5}, r"^encoder\.width must be a whole number of 1 or more; got -5$"),
        ({"encoder": "gta"}, r"^encoder\.kind must be one of gat, sage, gcn, gin, mlp; got 'gta'$"),
        ({"preset": "cora"}, r"^FT-GCL has no preset 'cora'; did you mean 'Cora'\?$"),
        ({"preset": None}, r"^FT-GCL has no preset 'None'; there are auto, default"),
        (
            {"overrides": {"encoder.widht": 3}},
            r"^recipe has no field 'encoder\.widht'; did you mean 'encoder\.width'\?$",
        ),
        ({"overrides": ["steps=3"]}, r"^overrides must be a mapping .* got \['steps=3'\]$"),
        ({"overrides": {"seed": 3}}, r"^overrides must leave out 'seed'; got 3: give random_state$"),
        ({"overrides": {"method": "grace"}}, r"^overrides must leave out 'method'; got 'grace': another class"),
        ({"random_state": -1}, r"^random_state must be a whole number of 0 or more, below 2\^63, .* got -1$"),
        ({"random_state": True}, r"^random_state must be .* got True$"),
        ({"random_state": "0"}, r"^random_state must be .* got '0'$"),
        ({"device": "tpu"}, r"^device must be auto or one that is at hand \(.*cpu\); got 'tpu'$"),
    ],
)
def test_a_wrong_parameter_is_told_when_it_is_used(parameters, message):
    embedder = FTGCL(**parameters)
    with pytest.raises(ParameterError, match=message):
        embedder.fit(ring())


# -- chance -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ALL)
def test_the_same_seed_gives_the_same_bytes(kind):
    one, same, other = (small(kind, random_state=seed).fit_transform(ring()) for seed in (7, np.int64(7), 8))
    assert one.tobytes() == same.tobytes()
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
def test_states_are_drawn_from_at_each_fit(make):
    embedder = small(FGCL, random_state=make(0))
    first, second = embedder.fit_transform(ring()), embedder.fit_transform(ring())
    assert not np.array_equal(first, second)
    assert np.array_equal(small(FGCL, random_state=make(0)).fit_transform(ring()), first)


def test_no_state_draws_a_seed_that_the_recipe_tells():
    first, second = (small(FGCL, random_state=None).fit(ring()) for _ in range(2))
    assert first.recipe_.seed != second.recipe_.seed
    assert np.array_equal(small(FGCL, random_state=first.recipe_.seed).fit_transform(ring()), first.embedding_)


# -- what plays no part, and what does --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ALL)
def test_labels_play_no_part(kind):
    graph = ring()
    expected = small(kind).fit_transform(graph.without_labels())
    assert np.array_equal(small(kind).fit_transform(graph), expected)
    assert np.array_equal(small(kind).fit_transform(graph.with_labels(graph.y[::-1].copy()), graph.y), expected)


@pytest.mark.parametrize("kind", ALL)
def test_renumbered_nodes_have_the_same_vectors(kind):
    graph = ring()
    embedder = small(kind).fit(graph)
    order = np.random.default_rng(1).permutation(60)
    renumbered = Graph(graph.x[order], np.argsort(order)[graph.edge_index])
    assert np.abs(embedder.transform(renumbered) - embedder.embedding_[order]).max() <= 1e-5


@pytest.mark.parametrize("encoder", ["gat", "sage", "gcn", "gin"])
def test_a_graph_that_grew_has_the_same_vectors_where_it_is_the_same(encoder):
    rng = np.random.default_rng(2)
    graph, grown = ring(), ring(extra=6)
    grown = grown.with_features(np.concatenate([graph.x, rng.normal(size=(6, 5))]))
    embedder = small(encoder=encoder).fit(graph)
    vectors = embedder.transform(grown)
    assert vectors.shape == (66, 8)
    # Nodes 0..5 have a new neighbour each, and so another degree: they lie beyond two hops of these.
    same, other = np.arange(8, 58), np.arange(6)
    assert np.abs(vectors[same] - embedder.embedding_[same]).max() <= 1e-5
    assert (np.abs(vectors[other] - embedder.embedding_[other]).max(axis=1) > 1e-4).all()


def test_another_number_of_features_is_refused():
    embedder = small().fit(ring())
    with pytest.raises(ParameterError, match="must have the 5 features that the model was trained on; got 3"):
        embedder.transform(Graph(np.eye(3), [[0], [1]]))
    with pytest.raises(ValueError, match="X has 3 features, but FTGCL is expecting 5 features as input"):
        embedder.transform((np.eye(3), [[0], [1]]))


def test_edges_and_rows_count():
    graph = ring()
    embedder = small().fit(graph)
    alone = embedder.transform(graph.x)
    assert alone.shape == (60, 8)
    assert not np.allclose(alone, embedder.embedding_, atol=1e-3)
    assert np.allclose(embedder.transform(graph.x[:1]), alone[:1], atol=1e-6)


# -- what is taken for a graph ----------------------------------------------------------------------------------------


FORMS = {
    "pyg": Graph.to_pyg,
    "networkx": Graph.to_networkx,
    "sparse adjacency": lambda graph: (graph.x, graph.to_scipy()),
    "sparse matrix of another format": lambda graph: (graph.x, sp.coo_matrix(graph.to_scipy())),
    "dense adjacency": lambda graph: (graph.x, graph.to_scipy().toarray()),
    "boolean adjacency": lambda graph: (graph.x, graph.to_scipy().toarray() > 0),
    "adjacency as lists": lambda graph: (graph.x.tolist(), graph.to_scipy().toarray().tolist()),
    "edge_index": lambda graph: (graph.x, graph.edge_index),
    "edge_index in a frame": lambda graph: (pd.DataFrame(graph.x), pd.DataFrame(graph.edge_index)),
    "tensors": lambda graph: (torch.tensor(graph.x), torch.tensor(graph.edge_index)),
    "tensors with a gradient": lambda graph: (
        torch.tensor(graph.x, requires_grad=True),
        torch.tensor(graph.edge_index),
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_same_graph_in_any_form_gives_the_same_bytes(form):
    graph = ring()
    embedder = small().fit(FORMS[form](graph))
    assert embedder.embedding_.tobytes() == small().fit_transform(graph).tobytes()
    assert embedder.transform(FORMS[form](graph)).tobytes() == embedder.embedding_.tobytes()
    assert embedder.n_features_in_ == 5


def test_sparse_features_of_a_pair_stay_sparse():
    made = as_graph((sp.coo_array(ring().x), ring().edge_index))
    assert made.has_sparse_features
    embedder = small().fit((sp.coo_array(ring().x), ring().edge_index))
    assert np.allclose(embedder.transform(ring()), embedder.embedding_, atol=1e-6)


def test_weights_and_directions_are_kept():
    x = np.eye(3)
    weighted = as_graph((x, np.array([[0, 2, 0], [2, 0, 0.5], [0, 0.5, 0]])))
    assert weighted.edge_weight.tolist() == [2, 2, 0.5, 0.5]
    assert not weighted.directed
    assert as_graph((x, np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]]))).directed
    assert as_graph((x, [[0, 1], [1, 2]])).directed
    assert not as_graph((x, [[0, 1], [1, 0]])).directed
    assert as_graph((x, np.empty((2, 0)))).num_edges == 0


def test_two_by_two_is_an_adjacency_of_two_nodes_and_else_two_edges():
    square = [[0, 1], [1, 0]]
    assert as_graph((np.eye(2), square)).edge_index.tolist() == [[0, 1], [1, 0]]
    assert as_graph((np.eye(2), [[1, 1], [1, 0]])).edge_index.tolist() == [[0, 0, 1], [0, 1, 0]]
    assert as_graph((np.eye(3), [[1, 1], [1, 0]])).edge_index.tolist() == [[1, 1], [0, 1]]


def test_a_graph_without_features_gets_structural_ones():
    with pytest.warns(StructuralFeaturesWarning):
        embedder = small().fit(ring().to_scipy())
    assert embedder.n_features_in_ == 60
    with pytest.warns(StructuralFeaturesWarning):
        assert np.array_equal(embedder.transform(nx.cycle_graph(60)), embedder.embedding_)


def test_a_matrix_alone_is_nodes_without_edges():
    for given in (ring().x, ring().x.tolist(), pd.DataFrame(ring().x), torch.tensor(ring().x)):
        made = as_graph(given)
        assert (made.num_nodes, made.num_edges, made.num_features) == (60, 0, 5)
    assert as_graph(np.eye(4)).num_edges == 0  # square as it is


def test_names_of_features_go_with_the_fit():
    named = pd.DataFrame(ring().x, columns=list("abcde"))
    embedder = small().fit((named, ring().edge_index))
    assert embedder.feature_names_in_.tolist() == list("abcde")
    with pytest.raises(ValueError, match="feature names should match"):
        embedder.transform((named[list("edcba")], ring().edge_index))
    assert not hasattr(embedder.fit(ring()), "feature_names_in_")


@pytest.mark.parametrize("given", [None, "Cora", {"x": 1}, 3, (1, 2, 3), object()])
def test_anything_else_is_refused_by_a_sentence_that_says_what_is_taken(given):
    expected = (
        r"^a graph must be a Graph, a PyG Data, a networkx graph, a pair \(X, A\) of features and edges, a sparse "
        r"adjacency matrix, or a dense matrix of features for nodes without edges; got \w+$"
    )
    with pytest.raises(GraphError, match=expected):
        small().fit(given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (HeteroData(), r"one kind of node and of edge; got HeteroData .*: call data.to_homogeneous\(\) first$"),
        (Data(), "must say how many nodes it has"),
        (load("synthetic"), "got Dataset: give its .graph$"),
        (sp.eye_array(4, 3), r"^a sparse matrix alone is taken for .* square; got shape \(4, 3\): give features as"),
        ((np.eye(3), np.eye(4)), r"^A of a pair \(X, A\) must be .* 3 × 3 .* got ndarray of shape \(4, 4\)$"),
        ((np.eye(3), [[0, 1], [2]]), r"^A of a pair \(X, A\) must be"),
        ((np.eye(3), "edges.csv"), r"got str of shape \(\)$"),
        ((np.eye(3), None), r"got NoneType of shape \(\)$"),
        ((np.eye(3), np.eye(3) * 1j), r"^A of a pair"),
        ((np.eye(3), sp.eye_array(4)), "as many features and ids as nodes; got 4 by num_nodes and 3 by features"),
        ((np.eye(3), [[0.0, 1.0], [1.0, 2.0]]), "edge_index must hold node numbers, which are integers; got float64"),
        ((np.eye(3), [[0, 1], [1, 3]]), "node 3 is unknown"),
    ],
)
def test_what_cannot_be_a_graph_is_told(given, message):
    with pytest.raises(GraphError, match=message):
        small().fit(given)


def test_a_matrix_is_judged_in_the_words_of_scikit_learn():
    for x, message in [
        (np.full((4, 2), np.nan), "Input X contains NaN"),
        (np.full((4, 2), 1e300), "Input X contains infinity or a value too large for dtype"),
        (np.ones(4), "Expected 2D array, got 1D array instead"),
        (np.ones((1, 4)), "Found array with 1 sample.* while a minimum of 2 is required by FTGCL"),
    ]:
        with np.errstate(over="ignore"), pytest.raises(ValueError, match=message):
            small().fit(x)
        with np.errstate(over="ignore"), pytest.raises(ValueError, match=message):
            small().fit((x, np.empty((2, 0))))


def test_what_is_given_is_not_changed_and_can_be_changed_later():
    x, edges = ring().x.copy(), ring().edge_index.copy()
    embedder = small().fit((x, edges))
    assert np.array_equal(x, ring().x)
    assert np.array_equal(edges, ring().edge_index)
    before = embedder.embedding_.copy()
    x[:], edges[:] = 0, 0
    assert np.array_equal(embedder.embedding_, before)


# -- among other estimators -------------------------------------------------------------------------------------------


def test_in_a_pipeline_labels_reach_the_classifier_alone():
    graph = synthetic(nodes=140, seed=1)
    pipeline = make_pipeline(small(steps=10, width=32), LogisticRegression(max_iter=1000))
    accuracy = pipeline.fit(graph, graph.y).score(graph, graph.y)
    assert accuracy > 1.5 / graph.num_classes
    assert np.array_equal(pipeline[0].embedding_, small(steps=10, width=32).fit_transform(graph))


def test_a_pipeline_takes_a_matrix():
    x, y = ring().x, ring().x[:, 0] > 0
    pipeline = make_pipeline(small(normalize="none", width=32), LogisticRegression(max_iter=1000))
    assert pipeline.fit(x[:40], y[:40]).predict(x[40:]).shape == (20,)


def test_vectors_come_as_a_frame_where_that_is_asked_for():
    for form in (ring(), ring().to_pyg(), (ring().x, ring().edge_index)):
        frame = small().set_output(transform="pandas").fit_transform(form)
        assert frame.columns.tolist() == [f"ftgcl{i}" for i in range(8)]
        assert frame.index.tolist() == list(range(60))


def test_a_graph_is_no_metadata():
    assert not hasattr(FTGCL, "set_fit_request")
    assert not hasattr(FTGCL, "set_transform_request")


@pytest.mark.parametrize("activation", ["relu", "elu", "prelu", "none"])
def test_pickles_embed_the_same(activation):
    embedder = small(activation=activation).fit(ring())
    again = pickle.loads(pickle.dumps(embedder))
    assert np.array_equal(again.transform(ring()), embedder.embedding_)
    assert again.recipe_ == embedder.recipe_


@pytest.mark.parametrize("use", [lambda embedder: embedder.transform(ring()), lambda embedder: embedder.save("x")])
def test_before_fit_there_is_nothing_to_use(use):
    with pytest.raises(NotFittedError, match="This FTGCL instance is not fitted yet"):
        use(small())


def test_rankings_are_kept_if_asked(no_data):
    kept = no_data.parent / "rankings"
    small().fit(ring())
    assert not kept.exists()
    made = small(cache=True).fit(ring())
    assert len(list(kept.iterdir())) == 2
    assert np.array_equal(small(cache=True).fit_transform(ring()), made.embedding_)


def test_verbose_tells_how_far_it_is(capsys):
    small(steps=30).fit(ring())
    assert capsys.readouterr() == ("", "")
    embedder = small(steps=30, verbose=True).fit(ring())
    out, told = capsys.readouterr()
    assert out == ""
    lines = told.splitlines()
    assert any(line.startswith("FT-GCL: topology") for line in lines)
    steps = [line for line in lines if line.startswith("FT-GCL: step")]
    assert len(steps) == 11
    assert steps[-1] == f"FT-GCL: step 30 of 30, loss {embedder.loss_curve_[-1]:.4f}"


# -- a folder ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def kept(tmp_path):
    """A folder with a model, and the estimator that it is of."""
    embedder = small(overrides={"encoder.residual": True}, random_state=3).fit(ring())
    embedder.save(tmp_path / "model")
    return tmp_path / "model", embedder


@pytest.mark.parametrize("kind", ALL)
def test_what_was_saved_is_loaded(kind, tmp_path):
    embedder = small(kind, random_state=4).fit(ring())
    embedder.save(tmp_path)
    for loaded in (kind.load(tmp_path), GraphEmbedder.load(str(tmp_path))):
        assert type(loaded) is kind
        assert loaded.transform(ring()).tobytes() == embedder.embedding_.tobytes()
        assert np.array_equal(loaded.loss_curve_, embedder.loss_curve_)
        assert (loaded.recipe_, loaded.n_features_in_) == (embedder.recipe_, 5)
        assert loaded.get_feature_names_out().tolist() == embedder.get_feature_names_out().tolist()
        assert not hasattr(loaded, "embedding_")


@pytest.mark.parametrize(("kind", "preset"), [(FTGCL, "default"), (FTGCL, "Actor"), (GRACE, "PubMed")])
def test_a_loaded_estimator_fits_by_the_same_recipe(kind, preset, tmp_path):
    changes = {"schedule": "sum", "encoder.hidden": None, "views.k_feature": (2, 3)}
    embedder = small(kind, preset=preset, random_state=9, overrides=changes).fit(ring())
    embedder.save(tmp_path)
    loaded = kind.load(tmp_path, device="cpu").set_params(cache=False)
    assert loaded.preset == "default"
    assert clone(loaded)._chosen_recipe() == embedder.recipe_
    assert clone(loaded).fit_transform(ring()).tobytes() == embedder.embedding_.tobytes()


def test_nothing_in_the_folder_is_a_pickle(kept, monkeypatch):
    folder, embedder = kept
    names = {"recipe.toml", "about.json", "metrics.jsonl", "weights.safetensors"}
    assert {path.name for path in folder.iterdir()} == names

    def refuse(*_args, **_options):
        raise AssertionError("something is unpickled")

    for name in ("pickle.load", "pickle.loads", "pickle.Unpickler", "torch.load"):
        monkeypatch.setattr(name, refuse)
    assert np.array_equal(FTGCL.load(folder).transform(ring()), embedder.embedding_)


def test_saved_again_replaces_what_was_there(kept):
    folder, embedder = kept
    embedder.set_params(steps=5).fit(ring()).save(folder)
    assert len(FTGCL.load(folder).loss_curve_) == 5


def test_metrics_are_those_of_a_training_with_a_folder(kept, tmp_path):
    folder, embedder = kept
    fit(ring(), embedder.recipe_, cache=False, folder=tmp_path / "other")

    def lines(path):
        return [json.loads(line) | {"seconds": 0} for line in (path / "metrics.jsonl").read_text().splitlines()]

    assert lines(folder) == lines(tmp_path / "other")
    assert np.array_equal(FTGCL.load(tmp_path / "other").transform(ring()), embedder.embedding_)


def test_a_class_loads_its_own_method_only(kept):
    folder, _ = kept
    expected = (
        r"^GRACE\.load takes a model of grace; got one of ft-gcl: call FTGCL\.load, or GraphEmbedder\.load for either$"
    )
    with pytest.raises(ParameterError, match=expected):
        GRACE.load(folder)


def test_a_method_of_somebodys_own_has_no_class(tmp_path):
    fit(ring(), small().fit(ring()).recipe_.merged({"method": "mine"}), cache=False, folder=tmp_path)
    expected = r"^a model must be of one of f-gcl, .* got 'mine': graphprox\.training\.store\.load_model takes any$"
    with pytest.raises(ParameterError, match=expected):
        GraphEmbedder.load(tmp_path)


def test_a_subclass_loads_as_itself(kept):
    class Mine(FTGCL):
        pass

    assert type(Mine.load(kept[0])) is Mine


def test_a_folder_without_a_model_is_told(tmp_path):
    with pytest.raises(ReadError, match="must be a folder that holds a model"):
        FTGCL.load(tmp_path / "none")


def test_a_model_needs_no_metrics(kept):
    folder, embedder = kept
    metrics = folder / "metrics.jsonl"
    metrics.write_text(metrics.read_text()[:-9])  # as a killed process leaves it
    assert FTGCL.load(folder).loss_curve_.tolist() == embedder.loss_curve_[:1].tolist()
    metrics.unlink()
    assert FTGCL.load(folder).loss_curve_.tolist() == []


def test_what_was_loaded_is_saved_again_in_the_same_bytes(kept, tmp_path):
    FTGCL.load(kept[0]).save(tmp_path / "again")
    for path in kept[0].iterdir():
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()
