from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from graphprox.datasets.synthetic_graph import CLASS_NAMES, MIN_NODES, synthetic
from graphprox.errors import ParameterError

READERS, WRITERS, CLIQUE, STAR, RING = (0, 1), (2, 3), 4, 5, 6


# -- accuracy of a probe -----------------------------------------------------------------------------------------------


def accuracy(*descriptors, y, classes=range(7)):
    """Return the mean accuracy in percent of logistic regressions trained on 10 % of the nodes, over ten splits."""
    z = StandardScaler().fit_transform(np.column_stack(descriptors))
    tenth, right = len(y) // 10, []
    for seed in range(10):
        order = np.random.default_rng(seed).permutation(len(y))
        train, test = order[:tenth], order[2 * tenth :]
        test = test[np.isin(y[test], classes)]
        model = LogisticRegression(max_iter=1000).fit(z[train], y[train])
        right.append((model.predict(z[test]) == y[test]).mean())
    return 100 * np.mean(right)


def by_edges(graph, dimensions=16, window=5):
    """Embed nodes by their distance on short random walks: factorize the pointwise mutual information."""
    a = graph.to_scipy().toarray().astype(float)
    degree = a.sum(axis=1)
    step = a / degree[:, None]
    reach = sum(np.linalg.matrix_power(step, length) for length in range(1, window + 1)) / window
    information = np.log(np.maximum(reach / degree * degree.sum(), 1))
    values, vectors = np.linalg.eigh((information + information.T) / 2)
    leading = np.argsort(-abs(values))[:dimensions]
    return vectors[:, leading] * np.sqrt(abs(values[leading]))


def by_structure(graph):
    """Describe nodes by degrees, triangles and two-hop neighbors, independent of their position in the graph."""
    a = graph.to_scipy().astype(float)
    degree = a.sum(axis=1)
    triangles = (a @ a * a).sum(axis=1) / 2
    near = np.sort(np.where(a.toarray() > 0, degree, np.inf), axis=1)[:, :3]
    near[np.isinf(near)] = 0
    mean = a @ np.log(degree) / degree
    spread = np.sqrt(np.maximum(a @ np.log(degree) ** 2 / degree - mean**2, 0))
    most = (a * degree).max(axis=1).toarray().ravel()
    reach = (a @ a > 0).sum(axis=1)
    logs = [np.log1p(each) for each in (degree, near, triangles, most, reach)]
    return np.column_stack([*logs, mean, spread, triangles / (degree * (degree - 1) / 2)])


def mean_of_neighbors(graph):
    a = graph.to_scipy()
    return a @ graph.x / a.sum(axis=1)[:, None]


def smoothed_twice(graph):
    """Return the features averaged over neighbors twice, as an untrained network with two layers does."""
    a = graph.to_scipy() + sp.eye_array(graph.num_nodes)
    step = sp.diags_array(1 / a.sum(axis=1)) @ a
    return step @ (step @ graph.x)


@pytest.fixture(scope="module")
def graph():
    return synthetic()


@pytest.fixture(scope="module")
def proximities(graph):
    return {
        "features": graph.x,
        "edges": by_edges(graph),
        "structure": by_structure(graph),
        "neighbors": mean_of_neighbors(graph),
    }


def probe(proximities, graph, names):
    return accuracy(*(proximities[name] for name in names.split()), y=graph.y)


@pytest.mark.parametrize("alone", ["features", "edges", "structure"])
def test_one_proximity_alone_is_not_enough(graph, proximities, alone):
    assert probe(proximities, graph, alone) < 65


@pytest.mark.parametrize(
    "pair", ["features edges", "features edges neighbors", "features structure", "edges structure"]
)
def test_accuracy_grows_with_the_number_of_proximities(graph, proximities, pair):
    three = probe(proximities, graph, "features edges structure")
    assert three > 92
    assert 75 < probe(proximities, graph, pair) < three - 8


def test_edges_are_reflected_in_smoothed_features(graph, proximities):
    assert probe(proximities, graph, "features neighbors structure") > 88
    plain = synthetic(style=0.0)  # features without circles
    assert accuracy(plain.x, mean_of_neighbors(plain), by_structure(plain), y=plain.y) > 90


def test_smoothed_features_are_not_sufficient(graph, proximities):
    assert 70 < accuracy(smoothed_twice(graph), y=graph.y) < 82


def family(descriptors, y, classes):
    """Return the accuracy in percent among the classes of one family."""
    inside = np.isin(y, classes)
    return accuracy(*(each[inside] for each in descriptors), y=y[inside], classes=classes)


def test_each_family_is_classified_by_one_proximity(graph, proximities):
    assert family([proximities["edges"]], graph.y, READERS) > 85
    assert family([proximities["features"]], graph.y, WRITERS) > 85
    assert family([proximities["structure"]], graph.y, (CLIQUE, STAR, RING)) > 85


@pytest.mark.parametrize(
    ("blind", "classes", "chance"),
    [
        ("features", READERS, 50),
        ("structure", READERS, 50),
        ("structure", WRITERS, 50),
        ("features", (CLIQUE, STAR, RING), 33.3),
    ],
)
def test_other_proximities_do_not_classify_a_family(graph, proximities, blind, classes, chance):
    assert family([proximities[blind]], graph.y, classes) == pytest.approx(chance, abs=8)


def test_the_accuracies_hold_for_another_seed():
    other = synthetic(random_state=11)
    features, edges, structure = other.x, by_edges(other), by_structure(other)
    three = accuracy(features, edges, structure, y=other.y)
    assert three > 90
    assert accuracy(features, edges, y=other.y) < three - 5
    assert accuracy(features, structure, y=other.y) < three - 5
    assert accuracy(edges, structure, y=other.y) < three - 5


# -- randomness -------------------------------------------------------------------------------------------------------


def same_bytes(a, b):
    return all(getattr(a, part).tobytes() == getattr(b, part).tobytes() for part in ("x", "edge_index", "y"))


def test_random_state_determines_the_graph(graph):
    assert same_bytes(graph, synthetic(random_state=0))
    assert not same_bytes(graph, synthetic(random_state=1))


def test_the_node_order_is_independent_of_the_class():
    y = synthetic(nodes=7000).y
    assert (y[1:] == y[:-1]).mean() == pytest.approx(1 / 7, abs=0.02)
    for each in range(7):
        assert np.flatnonzero(y == each).mean() == pytest.approx(3500, abs=200)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_split_of_the_same_seed_does_not_undo_the_shuffle(seed):
    y = synthetic(nodes=7000, random_state=seed).y
    for order in (np.random.default_rng(seed).permutation(7000), np.random.RandomState(seed).permutation(7000)):
        assert len(np.unique(y[order][:100])) == len(np.unique(y[np.argsort(order)][:100])) == 7


# -- invariants -------------------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(
    nodes=st.integers(MIN_NODES, 900),
    edges_per_node=st.floats(2, 4),
    features=st.integers(4, 12),
    homophily=st.floats(0, 1),
    noise=st.floats(0, 1000),
    seed=st.integers(0, 2**64),
)
def test_properties_hold_at_any_size(nodes, edges_per_node, features, homophily, noise, seed):
    made = synthetic(
        nodes=nodes,
        edges_per_node=edges_per_node,
        features=features,
        homophily=homophily,
        noise=noise,
        random_state=seed,
    )
    assert made.x.shape == (nodes, features)
    assert made.x.dtype == np.float32
    assert (made.x >= 0).all()
    assert np.ptp(np.bincount(made.y, minlength=7)) <= 1
    assert made.num_edges == round(nodes * edges_per_node)
    assert made.num_self_loops == made.duplicates == 0
    assert len(np.unique(made.edge_index[0])) == nodes  # no node is isolated
    assert not made.directed
    assert made.class_names == CLASS_NAMES


def groups_of(graph, label):
    """Return the sorted degrees inside each group of a class."""
    members = np.flatnonzero(graph.y == label)
    inside = graph.to_scipy()[members][:, members]
    count, group = connected_components(inside, directed=False)
    degree = inside.sum(axis=1).astype(int)
    return [sorted(degree[group == each].tolist()) for each in range(count)]


@pytest.mark.parametrize("nodes", [MIN_NODES, 151, 840, 1003])
def test_groups_have_their_shape_and_few_outside_links(nodes):
    made = synthetic(nodes=nodes)
    shapes = {
        CLIQUE: lambda size: [size - 1] * size,
        STAR: lambda size: [1] * (size - 1) + [size - 1],
        RING: lambda size: [2] * size,
    }
    degree = np.bincount(made.edge_index[0])
    for label, shape in shapes.items():
        groups = groups_of(made, label)
        assert all(6 <= len(group) <= 8 and group == shape(len(group)) for group in groups)
        outside = degree[made.y == label].sum() - sum(map(sum, groups))
        assert outside == (2 if label == STAR else 1) * (made.y == label).sum()
    source, target = made.y[made.edge_index]
    assert not ((source >= CLIQUE) & (target >= CLIQUE) & (source != target)).any()


def test_only_cliques_have_many_triangles(graph):
    members = np.flatnonzero(graph.y == CLIQUE)
    inside = graph.to_scipy()[members][:, members]
    assert ((inside @ inside * inside).sum(axis=1) / 2 == 10).all()  # pairs of the five others


def test_ring_members_and_star_leaves_have_the_same_degree(graph):
    degree = np.bincount(graph.edge_index[0])
    assert set(degree[graph.y == RING]) == {3}
    assert set(degree[graph.y == STAR]) == {3, 7}


def test_large_graphs_are_supported():
    made = synthetic(nodes=100_000, edges_per_node=10, features=8)
    assert made.num_edges == 1_000_000
    assert np.bincount(made.edge_index[0], minlength=100_000).min() >= 1
    # Additional edges belong to readers and writers: the groups do not change.
    assert sum(map(sum, groups_of(made, RING))) == 2 * (made.y == RING).sum()


def test_the_densest_graph_with_full_homophily_is_generated():
    assert synthetic(nodes=MIN_NODES, edges_per_node=4.8, homophily=1.0).num_edges == 672


# -- parameters -------------------------------------------------------------------------------------------------------


def share_of_own_topic(graph, who):
    """Return the share of the links between readers and ``who`` that are within a topic."""
    a, b = graph.y[graph.edge_index]
    counted = np.isin(a, READERS) & np.isin(b, who)
    return (a % 2 == b % 2)[counted].mean()


@pytest.mark.parametrize("homophily", [0.0, 0.3, 0.5, 0.95, 1.0])
def test_homophily_is_the_share_of_links_within_a_topic(homophily):
    made = synthetic(nodes=7000, homophily=homophily, features=4)
    assert share_of_own_topic(made, WRITERS) == pytest.approx(homophily, abs=0.02)
    assert share_of_own_topic(made, READERS) == pytest.approx(homophily, abs=0.03)


def test_noise_reduces_the_accuracy_of_features():
    found = [accuracy(made.x, y=made.y, classes=WRITERS) for made in (synthetic(noise=noise) for noise in (0.3, 1, 3))]
    assert found[0] > 98
    assert found[0] > found[1] + 5 > found[2] + 15


def test_without_noise_there_are_four_distinct_feature_rows():
    made = synthetic(noise=0, features=10)
    rows, kind = np.unique(made.x, axis=0, return_inverse=True)
    assert set(np.unique(rows)) == {0, 1}
    assert len({(int(y), int(k)) for y, k in zip(made.y, kind, strict=True)}) == 7
    assert len(rows) == 4


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"nodes": 139}, "nodes must be an integer of at least 140.*; got 139"),
        ({"nodes": 200.0}, "nodes must be an integer .*; got 200.0"),
        ({"nodes": True}, "nodes must be an integer .*; got True"),
        ({"features": 3}, "features must be an integer of at least 4.*; got 3"),
        ({"random_state": -1}, "random_state must be a non-negative integer.*; got -1"),
        ({"homophily": 1.01}, "homophily must be between 0 and 1; got 1.01"),
        ({"homophily": float("nan")}, "homophily must be between 0 and 1; got nan"),
        ({"noise": -0.1}, "noise must be between 0 and 1000; got -0.1"),
        ({"noise": float("inf")}, "noise must be between 0 and 1000; got inf"),
        ({"edges_per_node": 1.7}, r"edges_per_node must be between 1\.77 and 22\.61 for 840 nodes; got 1\.7"),
        ({"edges_per_node": 23}, r"edges_per_node must be between 1\.77 and 22\.61 for 840 nodes; got 23"),
        ({"edges_per_node": float("nan")}, "edges_per_node must be between .*; got nan"),
    ],
)
def test_invalid_parameters_are_rejected(option, message):
    with pytest.raises(ParameterError, match=f"^{message}$"):
        synthetic(**option)


@pytest.mark.parametrize("edges_per_node", [1.77, 22.61])
def test_the_limits_in_the_error_message_are_valid(edges_per_node):
    assert synthetic(edges_per_node=edges_per_node).num_edges == round(840 * edges_per_node)


def test_style_is_the_correlation_within_a_circle():
    def nearest(style: float) -> float:
        x = synthetic(nodes=2000, features=100, style=style).x
        unit = x / np.linalg.norm(x, axis=1, keepdims=True)
        return float(np.sort(unit @ unit.T, axis=1)[:, -11].mean())  # of the tenth nearest

    assert nearest(0.9) > nearest(0.5) + 0.05 > nearest(0.0) + 0.1
    plain, styled = synthetic(nodes=300, style=0.0), synthetic(nodes=300, style=0.9)
    assert np.array_equal(plain.y, styled.y)
    assert np.array_equal(plain.edge_index, styled.edge_index)
    assert not np.array_equal(plain.x, styled.x)


@pytest.mark.parametrize("style", [-0.1, 1.1, float("nan")])
def test_style_must_be_a_correlation(style):
    with pytest.raises(ParameterError, match="style must be between 0 and 1"):
        synthetic(style=style)


@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
def test_any_random_state_of_scikit_learn_is_accepted(make):
    generator = make(3)
    first, second = (synthetic(nodes=140, random_state=generator) for _ in range(2))
    assert not np.array_equal(first.edge_index, second.edge_index)  # a generator is advanced
    assert np.array_equal(first.edge_index, synthetic(nodes=140, random_state=make(3)).edge_index)
    assert synthetic(nodes=140, random_state=None).num_nodes == 140
