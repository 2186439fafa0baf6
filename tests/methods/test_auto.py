"""The default method: what it keeps in which graph, and how well the result separates nodes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize

from auto.topic_graphs import block_model, rewire, topic_graph
from contracts.graphs import directed_graph, permute
from graphprox import (
    AutoEmbedder,
    DiffusedFeatures,
    Graph,
    IgnoredInputWarning,
    ParameterError,
    RawFeatures,
    StructuralFeaturesWarning,
    edge_split,
    evaluation,
    load_dataset,
    synthetic,
)

TOO_MANY = pytest.mark.filterwarnings("ignore:n_components must not exceed:graphprox.IgnoredInputWarning")


def without_features(edges, num_nodes=None, **options):
    with pytest.warns(StructuralFeaturesWarning):
        return Graph(None, edges, num_nodes=num_nodes, **options)


def cosines(vectors):
    unit = normalize(np.asarray(vectors, float))
    return unit @ unit.T


def share_of_nearest_in_the_same_group(vectors, group, k=5):
    search = NearestNeighbors(n_neighbors=k, metric="cosine", algorithm="brute").fit(vectors)
    nearest = search.kneighbors(return_distance=False)
    return (group[nearest] == group[:, None]).mean()


# -- what is kept ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_edges_are_kept_if_they_join_similar_nodes_and_left_out_if_they_are_random(seed):
    graph = topic_graph(seed=seed)
    similar = AutoEmbedder(n_components=32).fit(graph)
    random = AutoEmbedder(n_components=32).fit(rewire(graph, seed=seed))
    assert similar.selection_.choice == "graph"
    assert random.selection_.choice == "features"
    assert similar.selection_.ratio > 1.2
    assert random.selection_.ratio < 0.9


def test_vectors_depend_on_edges_that_are_left_out_in_the_number_of_neighbors_only():
    one, other = (rewire(topic_graph(), seed=seed) for seed in (0, 1))
    first, second = (AutoEmbedder(n_components=32).fit(each) for each in (one, other))
    assert first.selection_.choice == second.selection_.choice == "features"
    np.testing.assert_allclose(first.vectors_[:, :-1], second.vectors_[:, :-1], atol=1e-5)


def test_what_is_kept_classifies_best_in_both_graphs():
    graph = topic_graph(seed=3)
    for each in (graph, rewire(graph, seed=3)):
        accuracy = {
            keep: evaluation.classify(
                each, AutoEmbedder(n_components=32, keep=keep).fit_transform(each), n_splits=20
            ).mean
            for keep in ("auto", "graph", "features", "both")
        }
        assert accuracy["auto"] >= max(accuracy.values()) - 0.005


@pytest.mark.parametrize("keep", ["graph", "features", "both"])
def test_given_choice_overrides_the_criterion(keep):
    embedder = AutoEmbedder(n_components=16, keep=keep).fit(rewire(topic_graph(nodes=150)))
    assert embedder.selection_.choice == keep
    assert embedder.selection_.scores == {}
    assert embedder.selection_.ratio is None


@pytest.mark.parametrize("make", [topic_graph, lambda: rewire(topic_graph())])
def test_choice_does_not_depend_on_the_order_of_nodes(make):
    graph = make()
    order = np.random.default_rng(0).permutation(graph.num_nodes)
    one, other = (AutoEmbedder(n_components=16).fit(each).selection_ for each in (graph, permute(graph, order)))
    assert one.choice == other.choice
    assert other.ratio == pytest.approx(one.ratio, rel=0.15)  # other nodes are fitted on


def test_too_few_words_keep_features_and_edges_alike():
    graph = Graph(np.eye(60)[:, :6] + np.eye(60)[:, -6:], [range(59), range(1, 60)])
    embedder = AutoEmbedder(n_components=8).fit(graph)
    assert embedder.selection_.choice == "balanced"
    assert "too few" in embedder.explanation_


def test_features_alone_are_kept_where_there_are_no_edges():
    graph = topic_graph(nodes=150)
    alone = AutoEmbedder(n_components=16).fit(Graph(graph.x, [[3], [3]]))
    assert alone.selection_.choice == "features"
    assert "nothing was compared, as there are no edges" in alone.explanation_


def test_explanation_has_three_lines():
    for graph in (topic_graph(nodes=150), without_features([range(29), range(1, 30)], 30)):
        lines = AutoEmbedder(n_components=8).fit(graph).explanation_.splitlines()
        assert [line.partition(":")[0] for line in lines] == ["found", "kept", "cost"]
        assert f"{graph.num_nodes} × 8 numbers" in lines[2]


# -- shape and input ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keep", ["auto", "graph", "features", "both"])
@pytest.mark.parametrize("n_components", [1, 7, 600])
@TOO_MANY
def test_number_of_components_is_exact_even_beyond_the_rank(n_components, keep):
    graph = topic_graph(nodes=100)
    embedder = AutoEmbedder(n_components=n_components, keep=keep).fit(graph)
    assert embedder.vectors_.shape == embedder.transform(graph).shape == (100, n_components)
    assert embedder.vectors_.dtype == np.float32
    assert np.isfinite(embedder.vectors_).all()
    assert len(embedder.get_feature_names_out()) == n_components


def test_components_that_are_zeros_are_counted_in_a_warning_but_not_for_the_default():
    graph = topic_graph(nodes=100)
    with pytest.warns(IgnoredInputWarning, match="n_components must not exceed what this graph can give") as raised:
        vectors = AutoEmbedder(n_components=900).fit_transform(graph)
    used = np.count_nonzero(vectors.any(axis=0))
    assert used <= 101  # nodes, and the column for the number of neighbors
    assert f"got 900, of which only {used} are not zero in all vectors" in str(raised[0].message)
    vectors = AutoEmbedder().fit_transform(graph)
    assert (vectors.shape[1], np.count_nonzero(vectors.any(axis=0))) == (256, used)


@TOO_MANY
def test_more_components_than_the_rank_do_not_change_cosines():
    graph = topic_graph(nodes=100)
    small, large = (AutoEmbedder(n_components=size).fit_transform(graph) for size in (400, 900))
    np.testing.assert_allclose(cosines(small), cosines(large), atol=1e-5)


def test_first_components_are_those_of_a_smaller_embedding_but_for_the_length_of_rows():
    graph = topic_graph(nodes=100)
    small, large = (AutoEmbedder(n_components=size, keep="features").fit_transform(graph) for size in (5, 20))
    np.testing.assert_allclose(small, normalize(large[:, :5]), atol=1e-4)


def test_direction_of_edges_does_not_matter():
    directed = directed_graph()
    one, other = (AutoEmbedder(n_components=16).fit(each) for each in (directed, directed.to_undirected()))
    assert np.array_equal(one.vectors_, other.vectors_)


def test_weights_of_edges_matter_and_weights_of_one_do_not():
    graph = topic_graph(nodes=150)
    edges = graph.edges_once()
    embedder = AutoEmbedder(n_components=16, keep="graph")
    plain = embedder.fit_transform(graph)
    ones = embedder.fit_transform(Graph(graph.x, edges, edge_weight=np.ones(edges.shape[1])))
    varied = np.random.default_rng(0).uniform(0.1, 5, edges.shape[1])
    weighted = embedder.fit_transform(Graph(graph.x, edges, edge_weight=varied))
    assert np.array_equal(plain, ones)
    assert np.abs(cosines(plain) - cosines(weighted)).max() > 0.01
    # An edge of weight zero is none.
    kept = varied > 2
    zero = embedder.fit_transform(Graph(graph.x, edges, edge_weight=np.where(kept, varied, 0)))
    fewer = embedder.fit_transform(Graph(graph.x, edges[:, kept], edge_weight=varied[kept]))
    np.testing.assert_allclose(zero, fewer, atol=1e-5)


@TOO_MANY
def test_sparse_and_dense_features_give_the_same_vectors():
    graph = topic_graph(nodes=150)
    dense = graph.with_features(graph.x.toarray())
    for keep in ("graph", "features", "both"):
        one, other = (AutoEmbedder(n_components=400, keep=keep).fit_transform(each) for each in (graph, dense))
        np.testing.assert_allclose(cosines(one), cosines(other), atol=1e-3)


def test_new_nodes_are_embedded_beside_those_of_their_topic():
    graph, grown = topic_graph(seed=0), topic_graph(seed=1)
    embedder = AutoEmbedder(n_components=32).fit(graph)
    centers = np.stack([embedder.vectors_[graph.y == topic].mean(0) for topic in range(6)])
    predicted = (normalize(embedder.transform(grown)) @ normalize(centers).T).argmax(1)
    assert (predicted == grown.y).mean() > 0.97


def test_features_without_edges_can_be_transformed():
    graph = synthetic(nodes=140)
    embedder = AutoEmbedder(n_components=8).fit(graph)
    assert embedder.transform(graph.x).shape == (140, 8)
    assert embedder.transform(graph.x[:1]).shape == (1, 8)


# -- graphs without features ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [30, 150])  # an identity matrix in place of features, or buckets of degrees
def test_blocks_of_a_graph_without_features_are_separated(size):
    edges, block = block_model(blocks=8, size=size)
    embedder = AutoEmbedder(n_components=64).fit(without_features(edges, len(block)))
    assert embedder.selection_.choice == "edges"
    assert share_of_nearest_in_the_same_group(embedder.vectors_, block) > 0.97


def test_held_out_edges_of_a_graph_without_features_are_predicted():
    edges, block = block_model(blocks=20, size=20, between=0.0005)
    split = edge_split(without_features(edges, len(block)), random_state=0, test=0.2)
    similarity = cosines(
        AutoEmbedder(n_components=64).fit_transform(without_features(split.graph.edge_index, len(block)))
    )
    pairs = np.hstack([split.test_edges, split.test_non_edges])
    is_edge = np.arange(pairs.shape[1]) < split.test_edges.shape[1]
    assert roc_auc_score(is_edge, similarity[*pairs]) > 0.9


@pytest.mark.parametrize("x", [np.eye(90), sp.eye_array(90), np.ones((90, 3)), np.zeros((90, 3))])
def test_features_that_say_nothing_are_no_features(x):
    edges, _ = block_model(blocks=3, size=30)
    expected = AutoEmbedder(n_components=16).fit(without_features(edges, 90))
    embedder = AutoEmbedder(n_components=16).fit(Graph(x, edges))
    assert embedder.selection_.choice == "edges"
    assert np.array_equal(embedder.vectors_, expected.vectors_)


def test_directions_repetitions_and_self_loops_do_not_matter_without_features():
    edges, _ = block_model(blocks=3, size=30)
    expected = AutoEmbedder(n_components=16).fit_transform(without_features(edges, 90))
    loops, both = np.tile(np.arange(20), (2, 1)), edges[::-1, ::3]  # every third edge is listed in both directions
    for options in (
        {"edges": np.hstack([edges, loops])},
        {"edges": edges, "directed": True},
        {"edges": np.hstack([edges, both, loops]), "directed": True},
    ):
        found = AutoEmbedder(n_components=16).fit_transform(without_features(num_nodes=90, **options))
        np.testing.assert_allclose(found, expected, atol=1e-5)


@TOO_MANY
def test_cosines_of_a_graph_without_features_are_permutation_equivariant():
    edges, _ = block_model(blocks=4, size=20)
    order = np.random.default_rng(0).permutation(80)
    graph, permuted = without_features(edges, 80), without_features(np.argsort(order)[edges], 80)
    one, other = (cosines(AutoEmbedder(n_components=400).fit_transform(each)) for each in (graph, permuted))
    np.testing.assert_allclose(other, one[np.ix_(order, order)], atol=1e-3)


def test_grown_graph_without_features_is_embedded_by_the_nodes_that_it_shares():
    edges, block = block_model(blocks=4, size=25)
    names = np.array([f"node {each}" for each in range(100)])
    embedder = AutoEmbedder(n_components=32).fit(without_features(edges, node_ids=names))
    # A new node of each block, in another order of nodes; one that is linked to new nodes only, and one to none.
    first = [np.flatnonzero(block == each)[:8] for each in range(4)]
    new_edges = [(100 + each, member) for each in range(4) for member in first[each]] + [(104, 100)]
    order = np.random.default_rng(0).permutation(106)
    all_names = np.array([*names, *(f"new {each}" for each in range(6))])
    grown = without_features(
        np.argsort(order)[np.hstack([edges, np.array(new_edges).T])], node_ids=all_names[order].tolist()
    )
    vectors = embedder.transform(grown)[np.argsort(order)]
    assert vectors.shape == (106, 32)
    assert np.isfinite(vectors).all()
    centers = np.stack([embedder.vectors_[block == each].mean(0) for each in range(4)])
    predicted = (normalize(vectors) @ normalize(centers).T).argmax(1)
    assert (predicted[:100] == block).mean() > 0.97
    assert predicted[100:105].tolist() == [0, 1, 2, 3, 0]


def test_transform_of_the_fitted_graph_without_features_gives_its_vectors():
    edges, block = block_model()
    graph = without_features(edges, len(block))
    embedder = AutoEmbedder(n_components=16).fit(graph)
    np.testing.assert_allclose(embedder.transform(graph), embedder.vectors_, atol=1e-6)


def test_graph_without_features_that_shares_no_node_is_rejected():
    edges, _ = block_model(blocks=2)
    embedder = AutoEmbedder(n_components=8).fit(without_features(edges, node_ids=np.arange(60)))
    with pytest.raises(ParameterError, match="none of its ids is known: call fit_transform"):
        embedder.transform(without_features(edges, node_ids=np.arange(1000, 1060)))


def test_features_are_rejected_after_a_graph_without():
    edges, _ = block_model(blocks=2)
    embedder = AutoEmbedder(n_components=8).fit(without_features(edges, 60))
    rule = r"^a graph must have no features, as the one that auto was fitted on has none and .* by their neighbors; "
    for size in (60, 7):  # as many as nodes, and others
        x = np.random.default_rng(0).random((60, size))
        with pytest.raises(ParameterError, match=rule + "got features without edges: give a graph without"):
            embedder.transform(x)
        for given in ((x, edges), Graph(x, edges)):
            with pytest.raises(ParameterError, match=rule + f"got {size} features: give a graph without"):
                embedder.transform(given)


@pytest.mark.parametrize("num_nodes", [32, 60, 1500])  # as many structural features as were fitted on, or others
def test_graph_without_features_is_rejected_after_one_with(num_nodes):
    embedder = AutoEmbedder(n_components=8).fit(synthetic(nodes=140))
    edges = np.array([range(num_nodes - 1), range(1, num_nodes)])
    adjacency = sp.csr_array((np.ones(num_nodes - 1), tuple(edges)), shape=(num_nodes, num_nodes))
    for given in (without_features(edges, num_nodes), adjacency + adjacency.T):
        with pytest.raises(
            ParameterError,
            match=r"^a graph must have features, as the one that auto was fitted on has 32; got a graph without: add",
        ):
            embedder.transform(given)


def test_adjacency_matrix_is_embedded_without_a_warning():
    # Warnings are errors in tests. Features are not those that a graph gets in place of missing ones.
    edges, _ = block_model(blocks=2)
    matrix = sp.csr_array((np.ones(edges.shape[1]), tuple(edges)), shape=(60, 60))
    embedder = AutoEmbedder(n_components=8)
    vectors = embedder.fit_transform(matrix)
    np.testing.assert_allclose(embedder.transform(matrix), vectors, atol=1e-6)
    with pytest.warns(StructuralFeaturesWarning):
        DiffusedFeatures(n_components=8).fit(matrix)


def test_graph_without_features_or_edges_gets_vectors():
    graph = without_features(np.empty((2, 0), np.int64), 10)
    vectors = AutoEmbedder(n_components=4).fit_transform(graph)
    assert vectors.shape == (10, 4)
    assert np.isfinite(vectors).all()


# -- real data ------------------------------------------------------------------------------------------------------


def test_cora_keeps_its_edges_and_is_classified_as_well_as_by_diffused_features(data):
    dataset = load_dataset("Cora", data=data)
    embedder = AutoEmbedder().fit(dataset)
    assert embedder.selection_.choice == "graph"
    found, reference = (
        evaluation.classify(dataset, each, n_splits=3).mean
        for each in (embedder.vectors_, DiffusedFeatures().fit_transform(dataset))
    )
    assert found > reference - 0.02  # 37 test nodes, ten times


def test_texas_is_not_embedded_by_its_edges_and_is_classified_as_well_as_by_raw_features(data):
    dataset = load_dataset("Texas", data=data)
    embedder = AutoEmbedder().fit(dataset)
    assert embedder.selection_.choice != "graph"
    found, reference = (
        evaluation.classify(dataset, each, protocol="public").mean
        for each in (embedder.vectors_, RawFeatures().fit_transform(dataset))
    )
    assert found > reference - 0.02  # 37 test nodes, ten times
