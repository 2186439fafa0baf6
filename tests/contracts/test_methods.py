"""Laws that every method obeys."""

from __future__ import annotations

import inspect
import itertools
import pickle
import re
import warnings
from copy import deepcopy

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import graphprox
from contracts.graphs import LABELED_GRAPHS, ODD_GRAPHS, permute
from contracts.small import CLASSIFIERS, EMBEDDERS, small
from graphprox import (
    Dataset,
    Graph,
    GraphError,
    NotInductiveError,
    ParameterError,
    StructuralFeaturesWarning,
    load,
    random_split,
    report_progress,
    synthetic,
)
from graphprox.graph.structural import find_degree_buckets, use_degree_buckets
from graphprox.methods import METHODS, GraphEmbedder, InductiveEmbedder, NodeClassifier

# Graphs of a few nodes give fewer components than small methods ask for.
TOO_MANY = pytest.mark.filterwarnings("ignore:n_components must not exceed:graphprox.IgnoredInputWarning")
INDUCTIVE = [name for name in EMBEDDERS if issubclass(METHODS[name], InductiveEmbedder)]
TRANSDUCTIVE = [name for name in EMBEDDERS if name not in INDUCTIVE]
INDUCTIVE_CLASSIFIERS = [name for name in CLASSIFIERS if name != "geom-gcn-p"]  # it embeds the nodes of one graph
# Fitting these does not depend on the order of nodes. All others sample by node or edge: initial vectors, walks,
# negatives, corruptions, or ties of a ranking. Of those that are inductive, `transform` is equivariant.
EQUIVARIANT = [name for name in EMBEDDERS if not METHODS[name].stochastic or name in ("untrained", "f-gcl")]


def dense(vectors):
    return vectors.toarray() if sp.issparse(vectors) else vectors


def embed(method, graph):
    return dense(method.fit_transform(graph))


# -- metadata ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", METHODS)
def test_method_has_complete_metadata(name):
    kind = METHODS[name]
    assert kind.name == name == name.lower()
    assert issubclass(kind, NodeClassifier) == ("Y" in kind.info.uses)
    assert issubclass(kind, GraphEmbedder) != issubclass(kind, NodeClassifier)
    assert set(kind.info.uses) <= set("AXY")
    assert kind.info.title
    assert kind.info.summary
    assert "\n" not in kind.info.summary
    assert kind.preset_names()[0] == "default"


@pytest.mark.parametrize("name", METHODS)
def test_parameters_are_keywords_with_defaults(name):
    signature = inspect.signature(METHODS[name]).parameters
    assert {"preset", "random_state", "verbose"} <= set(signature)
    assert all(each.kind is each.KEYWORD_ONLY and each.default is not each.empty for each in signature.values())
    assert METHODS[name]().get_params() == {each: value.default for each, value in signature.items()}


@pytest.mark.parametrize("name", METHODS)
def test_docstring_describes_every_parameter(name):
    documented = inspect.getdoc(METHODS[name])
    for parameter in METHODS[name].parameters():
        assert re.search(rf"(^|, ){parameter}(, \w+)* :", documented, flags=re.MULTILINE), parameter


@pytest.mark.parametrize("name", METHODS)
def test_clone_has_the_same_parameters(name):
    method = small(name, preset="default", random_state=None, verbose=True)
    assert clone(method).get_params() == method.get_params()
    assert METHODS[name]().set_params(**method.get_params()).get_params() == method.get_params()


@pytest.mark.parametrize("name", METHODS)
def test_copies_resolve_to_the_same_settings(name):
    kind = METHODS[name]
    given = {each: declared.default for each, declared in kind.parameters().items() if each != "preset"}
    for method, preset in itertools.product((kind(), kind(**given)), kind.preset_names()):
        dataset = Dataset(preset, synthetic(nodes=140))
        expected = method.resolve_preset(dataset).settings()
        for copied in (clone(method), deepcopy(method), pickle.loads(pickle.dumps(method))):
            assert copied.resolve_preset(dataset).settings() == expected
            assert repr(copied) == repr(method)


@pytest.mark.parametrize("name", METHODS)
def test_every_preset_has_valid_settings(name):
    kind = METHODS[name]
    for preset in kind.preset_names():
        method = kind.from_preset(preset)
        method.check_parameters()
        settings = method.settings()
        assert method.preset == "default"
        assert kind(preset=preset).resolve_preset().settings() == settings
        assert kind.from_preset("default", **settings).settings() == settings


@pytest.mark.parametrize("name", METHODS)
def test_value_outside_of_its_limits_is_rejected(name):
    graph = synthetic(nodes=140)
    data = (graph, random_split(graph, random_state=0)) if name in CLASSIFIERS else (graph,)
    for parameter, declared in METHODS[name].parameters().items():
        low, high, above, choices = (declared.metadata[key] for key in ("min", "max", "above", "choices"))
        limits = ((low, -1), (high, 1), (above, 0))  # the last one is exclusive
        wrong = [limit + step for limit, step in limits if limit is not None]
        for value in [*wrong, *(["nonsense"] if choices or wrong else [])]:
            with pytest.raises(ParameterError, match=f"{parameter} must be .*; got "):
                small(name, **{parameter: value}).fit(*data)


@pytest.mark.parametrize("name", METHODS)
def test_unknown_setting_and_preset_are_rejected(name):
    with pytest.raises(ParameterError, match=r"no (parameter|setting) 'lerning_rate'"):
        graphprox.method(name, lerning_rate=1)
    with pytest.raises(ParameterError, match="has no preset 'Coraa'"):
        graphprox.method(name, preset="Coraa")


# -- embedders ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EMBEDDERS)
def test_embedding_depends_on_the_graph_and_the_random_state_alone(name):
    graph = synthetic(nodes=140)
    torch.manual_seed(1)
    first = embed(small(name, random_state=3), graph)
    after = torch.rand(1)
    torch.manual_seed(1)
    assert torch.equal(after, torch.rand(1)), "the global random state was advanced"
    assert np.array_equal(first, embed(small(name, random_state=3), graph))
    assert first.shape[0] == graph.num_nodes
    assert first.dtype == np.float32
    assert np.isfinite(first).all()
    other = embed(small(name, random_state=4), graph)
    assert np.array_equal(first, other) != METHODS[name].stochastic


@pytest.mark.parametrize("name", EMBEDDERS)
def test_labels_are_ignored(name):
    graph = synthetic(nodes=140)
    shuffled = graph.with_labels(np.random.default_rng(0).permutation(graph.y))
    expected = embed(small(name), graph)
    assert np.array_equal(expected, embed(small(name), shuffled))
    assert np.array_equal(expected, embed(small(name), graph.without_labels()))


@pytest.mark.parametrize("name", EQUIVARIANT)
def test_embedding_is_permutation_equivariant(name):
    graph = synthetic(nodes=140)
    order = np.random.default_rng(0).permutation(graph.num_nodes)
    vectors, permuted = (embed(small(name), each) for each in (graph, permute(graph, order)))
    np.testing.assert_allclose(permuted, vectors[order], rtol=1e-4, atol=1e-5)


@TOO_MANY
@pytest.mark.parametrize("name", EMBEDDERS)
def test_fit_sets_vectors_and_embedding(name):
    graph = Graph(np.eye(4), [[0, 1, 2], [1, 2, 3]], node_ids=["ann", "bob", "cy", "dan"])
    method = small(name)
    with pytest.raises(NotFittedError):
        _ = method.embedding_
    assert method.fit(graph) is method
    assert method.embedding_.ids.tolist() == ["ann", "bob", "cy", "dan"]
    assert np.array_equal(method.embedding_.vectors, dense(method.vectors_))
    assert method.n_features_in_ == 4
    prefix = type(method).__name__.lower()
    size = method.vectors_.shape[1]
    assert method.get_feature_names_out().tolist() == [f"{prefix}{i}" for i in range(size)]
    # A floor, which learns nothing, may have no more components than features.
    sizes = (8, graph.num_features) if method.info.group == "floor" else (8,)
    assert "n_components" not in method.parameters() or size in sizes
    assert set(method.settings_) == set(method.settings())


@TOO_MANY
@pytest.mark.parametrize("kind", ODD_GRAPHS)
@pytest.mark.parametrize("name", EMBEDDERS)
def test_any_graph_can_be_embedded(name, kind):
    graph = ODD_GRAPHS[kind]()
    vectors = embed(small(name), graph)
    assert vectors.shape[0] == graph.num_nodes
    assert np.isfinite(vectors).all()


@pytest.mark.parametrize("name", EMBEDDERS)
def test_all_representations_of_a_graph_give_the_same_vectors(name):
    graph = synthetic(nodes=140).without_labels()
    expected = embed(small(name), graph)
    named = graph.to_networkx()
    for given in (graph.to_pyg(), named, (graph.x, graph.to_scipy()), (graph.x, graph.edge_index)):
        assert np.array_equal(expected, embed(small(name), given)), type(given)
    assert isinstance(named, nx.Graph)


@pytest.mark.parametrize("name", METHODS)
def test_edge_index_alone_is_rejected(name):
    edge_index = synthetic(nodes=140).edge_index
    with pytest.raises(GraphError, match="edge_index"):
        small(name).fit(edge_index, np.zeros(140, int)) if name in CLASSIFIERS else small(name).fit(edge_index)


@pytest.mark.parametrize("name", EMBEDDERS)
def test_data_set_selects_its_preset(name):
    dataset = load("synthetic:nodes=140")
    assert dataset.name != "synthetic"  # a data set with parameters has no preset
    kind = METHODS[name]
    preset = next((each for each in kind.preset_names() if each != "default"), None)
    named = graphprox.Dataset(preset or "unknown", dataset.graph)
    sizes = small(name).get_params()
    method = kind(**{each: sizes[each] for each in ("cache", "device") if each in sizes})
    assert method.resolve_preset(named).settings() == graphprox.method(name, dataset=named.name).settings()
    assert kind(preset="default").resolve_preset(named).settings() == kind().settings()


@pytest.mark.parametrize("name", METHODS)
def test_given_parameters_take_precedence_over_a_preset(name):
    kind = METHODS[name]
    given = {each: value for each, value in kind().get_params().items() if each not in ("preset", "overrides")}
    graph = synthetic(nodes=140)
    for preset in kind.preset_names():
        named = graphprox.Dataset(preset, graph)
        for method in (kind(**given), clone(kind(**given)), kind().set_params(**given)):
            resolved = method.resolve_preset(named)
            assert {each: getattr(resolved, each) for each in given} == given


@pytest.mark.parametrize("name", INDUCTIVE)
def test_transform_of_the_fitted_graph_gives_its_vectors(name):
    graph = synthetic(nodes=140)
    method = small(name).fit(graph)
    np.testing.assert_allclose(dense(method.transform(graph)), dense(method.vectors_), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", INDUCTIVE)
def test_transform_is_permutation_equivariant(name):
    graph, other = synthetic(nodes=140), synthetic(nodes=210, random_state=1)
    order = np.random.default_rng(0).permutation(other.num_nodes)
    method = small(name).fit(graph)
    vectors = dense(method.transform(other))
    assert vectors.shape == (210, dense(method.vectors_).shape[1])
    np.testing.assert_allclose(dense(method.transform(permute(other, order))), vectors[order], rtol=1e-3, atol=1e-4)


def grown_tree(nodes: int) -> Graph:
    """Return a tree with a hub and without features, whose first nodes have the same edges in a larger one."""
    child = np.arange(1, nodes)
    edges = np.stack([np.where(child % 3, child // 3, 0), child])
    with warnings.catch_warnings(action="ignore", category=StructuralFeaturesWarning):
        return Graph(None, edges, num_nodes=nodes)


@pytest.mark.parametrize("name", [name for name in INDUCTIVE + INDUCTIVE_CLASSIFIERS if name != "auto"])
@TOO_MANY
@pytest.mark.filterwarnings("error::graphprox.StructuralFeaturesWarning", "ignore::graphprox.CollapsedEmbeddingWarning")
def test_a_grown_graph_without_features_has_the_degree_buckets_of_the_fitted_one(name):
    graph, grown = grown_tree(1001), grown_tree(1500)
    assert grown.num_features != graph.num_features
    buckets = use_degree_buckets(grown, find_degree_buckets(graph))
    method = small(name)
    if name in CLASSIFIERS:
        method.fit(graph, np.arange(1001) % 2)
        embed_grown = method.predict_proba
    else:
        method.fit(graph)
        embed_grown = method.transform
    vectors = dense(embed_grown(grown))
    assert len(vectors) == 1500
    np.testing.assert_array_equal(vectors, dense(embed_grown(Graph(buckets.x, grown.edge_index))))


@pytest.mark.parametrize("name", INDUCTIVE)
def test_transform_rejects_other_features_and_an_unfitted_method(name):
    graph = synthetic(nodes=140)
    with pytest.raises(NotFittedError):
        small(name).transform(graph)
    with pytest.raises(ParameterError, match="features"):
        small(name).fit(graph).transform(Graph(np.eye(5), [[0], [1]]))


@pytest.mark.parametrize("name", TRANSDUCTIVE)
def test_transductive_method_has_no_transform(name):
    method = small(name).fit(synthetic(nodes=140))
    assert not hasattr(method, "transform")
    with pytest.raises(NotInductiveError, match="cannot transform another graph: call fit_transform"):
        method.transform(synthetic(nodes=140))


@pytest.mark.parametrize("name", EMBEDDERS)
def test_pickled_method_has_the_same_vectors(name):
    method = small(name).fit(synthetic(nodes=140))
    again = pickle.loads(pickle.dumps(method))
    assert np.array_equal(dense(again.vectors_), dense(method.vectors_))
    assert again.get_params() == method.get_params()


@pytest.mark.parametrize("name", [name for name in EMBEDDERS if METHODS[name].info.group != "floor"])
def test_progress_is_reported_to_the_end(name):
    reported = []
    with report_progress(lambda stage, done, total, **_: reported.append((stage, done, total))):
        small(name).fit(synthetic(nodes=140))
    assert reported
    for stage in {each for each, _, _ in reported}:
        done, totals = zip(*((done, total) for each, done, total in reported if each == stage), strict=True)
        assert sorted(done) == list(done)
        assert set(totals) == {done[-1]}


# -- classifiers ----------------------------------------------------------------------------------------------------


@pytest.fixture
def graph():
    return synthetic(nodes=140)


@pytest.fixture
def split(graph):
    return random_split(graph, random_state=0, train=0.3, val=0.2)


def fit_predict(method, graph, split):
    return method.fit(graph, split).predict_proba(graph)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_predictions_depend_on_the_random_state_alone(name, graph, split):
    torch.manual_seed(1)
    expected = fit_predict(small(name, random_state=3), graph, split)
    after = torch.rand(1)
    torch.manual_seed(1)
    assert torch.equal(after, torch.rand(1)), "the global random state was advanced"
    assert np.array_equal(expected, fit_predict(small(name, random_state=3), graph, split))
    other = fit_predict(small(name, random_state=4), graph, split)
    assert np.array_equal(expected, other) != METHODS[name].stochastic


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_predictions_depend_on_labels_of_training_nodes_but_not_of_test_nodes(name, graph, split):
    def relabel(nodes, values):
        labels = graph.y.copy()
        labels[nodes] = values
        return graph.with_labels(labels)

    expected = fit_predict(small(name), graph, split)
    permuted = np.random.default_rng(0).permutation(graph.y[split.test])
    for test_labels in (permuted, -1, 99):
        assert np.array_equal(expected, fit_predict(small(name), relabel(split.test, test_labels), split))
    other = relabel(split.train, (graph.y[split.train] + 1) % 7)
    assert not np.array_equal(expected, fit_predict(small(name), other, split))


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_score_is_the_accuracy_on_test_nodes_or_on_known_labels(name, graph, split):
    method = small(name).fit(graph, split)
    predicted = method.predict(graph)
    assert predicted.dtype == np.int64
    is_correct = predicted == graph.y
    assert method.score(graph, split) == is_correct[split.test].mean()
    assert method.score(graph, np.where(np.arange(140) < 50, graph.y, -1)) == is_correct[:50].mean()
    probabilities = method.predict_proba(graph)
    np.testing.assert_allclose(probabilities.sum(1), 1)
    assert np.array_equal(method.classes_[probabilities.argmax(1)], predicted)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifier_accepts_labels_in_place_of_a_split(name, graph):
    names = np.array(["even", "odd"])[graph.y % 2]
    numbers = np.where(np.arange(140) % 3 == 0, -1, 10 * graph.y)  # -1 is unlabeled
    for labels, classes in ((names, ["even", "odd"]), (numbers, [0, 10, 20, 30, 40, 50, 60])):
        method = small(name).fit(graph.without_labels(), labels)
        assert method.classes_.tolist() == classes
        assert set(method.predict(graph)) <= set(classes)
        assert 0 <= method.score(graph, labels) <= 1


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_pickled_classifier_predicts_the_same(name, graph, split):
    method = small(name).fit(graph, split)
    again = pickle.loads(pickle.dumps(method))
    assert np.array_equal(again.predict_proba(graph), method.predict_proba(graph))
    assert again.get_params() == method.get_params()


@pytest.mark.parametrize("name", INDUCTIVE_CLASSIFIERS)
def test_prediction_for_another_graph_is_permutation_equivariant(name, graph, split):
    method, other = small(name).fit(graph, split), synthetic(nodes=210, random_state=1)
    order = np.random.default_rng(0).permutation(other.num_nodes)
    expected = method.predict_proba(other)[order]
    np.testing.assert_allclose(method.predict_proba(permute(other, order)), expected, rtol=1e-3, atol=1e-4)
    with pytest.raises(ParameterError, match="must have the 32 features"):
        method.predict(Graph(np.eye(5), [[0], [1]]))


@pytest.mark.parametrize("kind", LABELED_GRAPHS)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_any_graph_can_be_classified(name, kind):
    graph = LABELED_GRAPHS[kind]()
    split = random_split(graph, random_state=0, train=0.3, val=0.2)
    assert small(name).fit(graph, split).predict(graph).shape == (graph.num_nodes,)


@pytest.mark.parametrize("name", EMBEDDERS)
def test_a_method_warns_of_structural_features_if_and_only_if_it_reads_them(name):
    edges = nx.to_scipy_sparse_array(nx.path_graph(30))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", StructuralFeaturesWarning)
        small(name).fit(edges)
    warned = any(issubclass(each.category, StructuralFeaturesWarning) for each in caught)
    assert warned == ("X" in METHODS[name].info.uses and name != "auto")
