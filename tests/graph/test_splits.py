from __future__ import annotations

import re
import warnings
from fractions import Fraction
from itertools import combinations
from math import floor

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare
from sklearn.metrics import roc_auc_score

from graphprox.datasets import Dataset, synthetic
from graphprox.errors import ParameterError, StructuralFeaturesWarning
from graphprox.graph.graph import Graph
from graphprox.graph.splits import NodeSplit, edge_split, random_split
from graphprox.graph.structural import has_structural_features, structural_features

LAW = settings(deadline=None)  # a busy machine may be slow
PARTS = ("train", "val", "test")
PAIRS = ("val_edges", "val_non_edges", "test_edges", "test_non_edges")


def make_labeled_graph(y, *, seed=0):
    """Return a graph with these labels and arbitrary features and edges."""
    rng = np.random.default_rng(seed)
    nodes = 50 if y is None else len(y)
    return Graph(x=rng.normal(size=(nodes, 2)), edge_index=rng.integers(0, nodes, (2, 3 * nodes)), y=y)


def make_linked_graph(nodes, edges, *, directed=False, weights=None):
    columns = np.array(sorted(edges), np.int64).reshape(-1, 2).T
    return Graph(
        x=np.arange(2 * nodes).reshape(nodes, 2), edge_index=columns, edge_weight=weights, y=[0] * nodes,
        directed=directed, node_ids=[f"n{i}" for i in range(nodes)], class_names=["only"],
    )  # fmt: skip


def columns_of(pairs):
    return [tuple(column) for column in pairs.T.tolist()]


def same_split(one, other):
    return all(np.array_equal(getattr(one, part), getattr(other, part)) for part in PARTS)


def same_edge_split(one, other):
    return np.array_equal(one.graph.edge_index, other.graph.edge_index) and all(
        np.array_equal(getattr(one, part), getattr(other, part)) for part in PAIRS
    )


@st.composite
def graphs_to_split(draw):
    """Directed and undirected graphs with self-loops, at most two thirds of the pairs joined, and unique weights."""
    nodes = draw(st.integers(6, 12))
    ends = st.integers(0, nodes - 1)
    edges = draw(st.sets(st.tuples(ends, ends), min_size=8, max_size=nodes * (nodes - 1) // 3))
    directed = draw(st.booleans())
    if directed:
        weights = [source * nodes + target for source, target in sorted(edges)]
    else:
        weights = [min(edge) * nodes + max(edge) for edge in sorted(edges)]
    return make_linked_graph(nodes, edges, directed=directed, weights=weights)


def adjacent_pairs(graph):
    return {(min(edge), max(edge)) for edge in columns_of(graph.edge_index) if edge[0] != edge[1]}


# -- NodeSplit ------------------------------------------------------------------------------------------------------


def test_parts_are_sorted_int64_and_read_only():
    train = np.array([7, 2, 5], np.uint8)
    split = NodeSplit(train, val=(4, 1), test=[])
    assert split.train.tolist() == [2, 5, 7]
    assert split.val.tolist() == [1, 4]
    assert split.test.tolist() == []
    for part in PARTS:
        assert getattr(split, part).dtype == np.int64
        assert not getattr(split, part).flags.writeable
    with pytest.raises(AttributeError):
        split.train = np.array([1])


def test_changing_the_input_array_later_does_not_change_the_split():
    train = np.array([0, 1, 2])
    split = NodeSplit(train, [3], [4])
    train[0] = 4
    assert split.train.tolist() == [0, 1, 2]
    assert train.flags.writeable


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (([0, 1], [2], [1]), "the parts of a split must be disjoint; got node 1 in both train and test"),
        (([0], [5, 6], [6]), "the parts of a split must be disjoint; got node 6 in both val and test"),
        (([0, 3, 3], [1], [2]), "train must list each node once; got node 3 again"),
        (([0], [-1], [2]), "val must contain node numbers >= 0; got -1"),
        (([0], [1], [2.0]), "test must be a list of integer node numbers; got float64 of shape (1,)"),
        (([0], [[1, 2]], [3]), "val must be a list of integer node numbers; got int64 of shape (1, 2)"),
        (([True], [1], [2]), "got bool of shape (1,): see NodeSplit.from_masks"),
    ],
)
def test_invalid_parts_are_rejected(parts, message):
    with pytest.raises(ParameterError, match=re.escape(message)):
        NodeSplit(*parts)


@LAW
@given(st.lists(st.sampled_from([0, 1, 2, 3]), min_size=1, max_size=40))
def test_masks_and_node_numbers_give_the_same_split(part_of_node):
    part_of_node = np.array(part_of_node)
    split = NodeSplit.from_masks(*(part_of_node == part for part in range(3)))
    assert same_split(split, NodeSplit(*(np.flatnonzero(part_of_node == part) for part in range(3))))


@pytest.mark.parametrize(
    ("masks", "message"),
    [
        (([True, False], [0, 1], [False, False]), "val must be a mask, one boolean per node; got int64"),
        (([[True]], [True], [True]), "train must be a mask, one boolean per node; got bool of shape (1, 1)"),
        (([True, False], [False], [False]), "must have the same length, the number of nodes; got [2, 1, 1]"),
        (([True, False], [True, False], [False, True]), "must be disjoint; got node 0 in both train and val"),
    ],
)
def test_invalid_masks_are_rejected(masks, message):
    with pytest.raises(ParameterError, match=re.escape(message)):
        NodeSplit.from_masks(*masks)


def test_repr_contains_the_sizes():
    assert repr(NodeSplit([0, 1], [2], [])) == "NodeSplit(2 train, 1 val, 0 test)"


# -- random_split ---------------------------------------------------------------------------------------------------


@LAW
@given(st.lists(st.integers(-1, 3), min_size=20, max_size=80), st.integers(0, 2**32), st.booleans())
def test_a_split_covers_each_labeled_node_once_and_no_other(y, seed, stratified):
    graph = make_labeled_graph(y)
    classes = np.unique(graph.y[graph.y != -1], return_counts=True)[1]
    assume(classes.sum() >= 10)
    split = random_split(graph, random_state=seed, stratified=stratified)
    covered = np.concatenate([split.train, split.val, split.test])
    assert sorted(covered.tolist()) == np.flatnonzero(graph.y != -1).tolist()


def test_a_graph_without_labels_is_covered_completely():
    split = random_split(make_labeled_graph(None), random_state=0)
    assert sorted(np.concatenate([split.train, split.val, split.test]).tolist()) == list(range(50))


@pytest.mark.parametrize(
    ("nodes", "train", "val", "sizes"),
    [
        (2708, 0.1, 0.1, (270, 270, 2168)),
        (100, 0.29, 0.57, (29, 57, 14)),  # neither product is an integer in floating point
        (10, 0.1, 0.1, (1, 1, 8)),
        (3, 0.34, 0.34, (1, 1, 1)),
        (2708, np.float64(0.48), 0.32, (1299, 866, 543)),
    ],
)
def test_shares_are_rounded_down_and_the_rest_is_the_test_part(nodes, train, val, sizes):
    split = random_split(make_labeled_graph([0] * nodes), random_state=1, train=train, val=val)
    assert tuple(len(getattr(split, part)) for part in PARTS) == sizes


@LAW
@given(st.integers(1, 10**9), st.integers(1, 9999))
def test_shares_are_rounded_as_decimals(nodes, ten_thousandths):
    from graphprox.graph.splits import _round_share

    assert int(_round_share(nodes, ten_thousandths / 10_000)) == floor(Fraction(ten_thousandths, 10_000) * nodes)


def test_a_split_depends_only_on_random_state():
    rng = np.random.default_rng(0)
    splits = [random_split(make_labeled_graph(rng.integers(0, 5, 90), seed=each), random_state=7) for each in range(3)]
    rng.random(1000)
    splits.append(random_split(make_labeled_graph(np.zeros(90, int)), random_state=np.int64(7)))
    splits.append(random_split(make_labeled_graph(np.zeros(90, int)).without_labels(), random_state=7))
    assert all(same_split(splits[0], other) for other in splits[1:])


def test_a_stratified_split_depends_only_on_random_state_and_labels():
    y = np.random.default_rng(0).integers(0, 5, 90)
    one, other = (random_split(make_labeled_graph(y, seed=each), random_state=7, stratified=True) for each in range(2))
    assert same_split(one, other)


@pytest.mark.parametrize("stratified", [False, True])
def test_different_seeds_give_different_splits(stratified):
    graph = make_labeled_graph(np.arange(200) % 3)
    trains = {tuple(random_split(graph, random_state=seed, stratified=stratified).train.tolist()) for seed in range(10)}
    assert len(trains) == 10


@pytest.mark.parametrize("stratified", [False, True])
def test_every_node_is_equally_likely_in_each_part(stratified):
    graph = make_labeled_graph([0] * 10 + [1] * 20)
    splits = [random_split(graph, random_state=seed, train=0.2, val=0.3, stratified=stratified) for seed in range(600)]
    for part, share in zip(PARTS, (0.2, 0.3, 0.5), strict=True):
        times = np.bincount(np.concatenate([getattr(split, part) for split in splits]), minlength=30)
        assert times.sum() == round(600 * 30 * share)
        assert chisquare(times).pvalue > 1e-3


@LAW
@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=6),
    st.sampled_from([(0.1, 0.1), (0.6, 0.2), (0.05, 0.9), (0.9, 0.05), (0.48, 0.32)]),
    st.integers(0, 99),
)
def test_stratified_shares_hold_within_each_class(class_sizes, shares, seed):
    assume(max(class_sizes) >= 3)
    y = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(class_sizes)), class_sizes))
    split = random_split(make_labeled_graph(y), random_state=seed, train=shares[0], val=shares[1], stratified=True)
    train, val, test = (np.bincount(y[getattr(split, part)], minlength=len(class_sizes)).tolist() for part in PARTS)
    for each, size in enumerate(class_sizes):
        assert train[each] + val[each] + test[each] == size
        if size >= 3:
            assert min(train[each], val[each], test[each]) >= 1
        assert abs(train[each] - shares[0] * size) < 2
        assert abs(val[each] - shares[1] * size) < 2
        if size >= 40:  # large enough that no part needs the minimum of one node
            assert train[each] == floor(round(shares[0] * size, 6))
            assert val[each] == floor(round(shares[1] * size, 6))


def test_stratified_needs_labels():
    with pytest.raises(ParameterError, match="stratified requires a graph with labels; got one without"):
        random_split(make_labeled_graph(None), random_state=0, stratified=True)


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        ([0] * 9, {}, "train must get at least one of the nodes; got none of 9"),
        ([0] * 9, {"train": 0.5}, "val must get at least one of the nodes; got none of 9"),
        ([-1] * 20, {}, "train must get at least one of the nodes; got none of 0"),
        ([0, 0, 1, 1, 2, 2], {"stratified": True}, "train must get at least one of the nodes; got none of 6"),
    ],
)
def test_an_empty_part_is_rejected(y, options, message):
    with pytest.raises(ParameterError, match=message):
        random_split(make_labeled_graph(y), random_state=0, **options)


# -- shares and random states of both splits ------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5, float("nan"), 270, "0.1", None])
@pytest.mark.parametrize(
    ("split", "name"),
    [(random_split, "train"), (random_split, "val"), (edge_split, "val"), (edge_split, "test")],
)
def test_shares_must_be_between_0_and_1(split, name, share):
    message = f"{name} must be a share between 0 and 1, both excluded; got {share!r}"
    with pytest.raises(ParameterError, match=re.escape(message)):
        split(make_labeled_graph([0] * 50), random_state=0, **{name: share})


@pytest.mark.parametrize(
    ("split", "shares", "message"),
    [
        (random_split, {"train": 0.5, "val": 0.5}, "train + val must be less than 1;"),
        (edge_split, {"val": 0.9, "test": 0.2}, "val + test must be less than 1; got"),
    ],
)
def test_shares_must_leave_something(split, shares, message):
    with pytest.raises(ParameterError, match=re.escape(message)):
        split(make_labeled_graph([0] * 50), random_state=0, **shares)


@pytest.mark.parametrize("seed", [-1, 0.5, True, "0"])
@pytest.mark.parametrize("split", [random_split, edge_split])
def test_random_state_must_be_a_seed_or_a_generator(split, seed):
    with pytest.raises(ParameterError, match=rf"^random_state must be a non-negative integer .*; got {seed!r}$"):
        split(make_labeled_graph([0] * 50), random_state=seed)


# -- edge_split -----------------------------------------------------------------------------------------------------


def try_edge_split(graph, seed):
    """Return a split with a quarter of the joined pairs in each held-out part, if the graph allows it."""
    assume(len(adjacent_pairs(graph)) >= 4)
    return edge_split(graph, random_state=seed, val=0.25, test=0.25)


@LAW
@given(graphs_to_split(), st.integers(0, 99))
def test_held_out_and_kept_edges_are_all_edges(graph, seed):
    split = try_edge_split(graph, seed)
    kept, val, test = adjacent_pairs(split.graph), *map(columns_of, (split.val_edges, split.test_edges))
    pairs = adjacent_pairs(graph)
    assert len(val) == len(test) == len(pairs) // 4
    assert len(kept) + len(val) + len(test) == len(pairs)
    assert kept | set(val) | set(test) == pairs


@LAW
@given(graphs_to_split(), st.integers(0, 99))
def test_no_held_out_edge_leaks_in_either_direction(graph, seed):
    split = try_edge_split(graph, seed)
    held_out = set(columns_of(split.val_edges)) | set(columns_of(split.test_edges))
    entries = set(columns_of(split.graph.edge_index))
    assert not held_out & entries
    assert not {(target, source) for source, target in held_out} & entries
    # All other edges are kept, in their original direction.
    assert entries == {
        (source, target)
        for source, target in columns_of(graph.edge_index)
        if (min(source, target), max(source, target)) not in held_out
    }


@LAW
@given(graphs_to_split(), st.integers(0, 99))
def test_self_loops_are_kept(graph, seed):
    split = try_edge_split(graph, seed)
    assert split.graph.num_self_loops == graph.num_self_loops
    for edges in (split.val_edges, split.test_edges):
        assert (edges[0] != edges[1]).all()


@LAW
@given(graphs_to_split(), st.integers(0, 99))
def test_edges_keep_their_weights(graph, seed):
    split = try_edge_split(graph, seed)
    weight_of = dict(zip(columns_of(graph.edge_index), graph.edge_weight.tolist(), strict=True))
    assert split.graph.edge_weight.tolist() == [weight_of[edge] for edge in columns_of(split.graph.edge_index)]


@LAW
@given(graphs_to_split(), st.integers(0, 99))
def test_non_edges_are_joined_in_neither_direction_and_all_different(graph, seed):
    split = try_edge_split(graph, seed)
    val, test = columns_of(split.val_non_edges), columns_of(split.test_non_edges)
    assert len(val) == split.val_edges.shape[1]
    assert len(test) == split.test_edges.shape[1]
    assert len(set(val + test)) == len(val) + len(test)
    assert not set(val + test) & adjacent_pairs(graph)


@LAW
@given(graphs_to_split(), st.integers(0, 99))
def test_pairs_are_sorted_and_name_two_nodes_of_the_graph(graph, seed):
    split = try_edge_split(graph, seed)
    for name in PAIRS:
        pairs = getattr(split, name)
        assert pairs.dtype == np.int64
        assert not pairs.flags.writeable
        assert columns_of(pairs) == sorted(columns_of(pairs))
        assert (pairs[0] >= 0).all()
        assert (pairs[0] < pairs[1]).all()
        assert (pairs[1] < graph.num_nodes).all()


@LAW
@given(graphs_to_split(), st.integers(0, 99))
def test_the_training_graph_is_in_canonical_form(graph, seed):
    trained = try_edge_split(graph, seed).graph
    again = Graph(
        trained.x, trained.edge_index, edge_weight=trained.edge_weight, node_ids=trained.node_ids,
        directed=trained.directed,
    )  # fmt: skip
    assert np.array_equal(again.edge_index, trained.edge_index)
    assert np.array_equal(again.edge_weight, trained.edge_weight)
    assert (again.num_edges, again.directed) == (trained.num_edges, trained.directed)
    assert not trained.edge_index.flags.writeable
    assert not trained.edge_weight.flags.writeable


@LAW
@given(graphs_to_split(), st.integers(0, 99))
def test_the_training_graph_has_the_same_nodes_and_no_labels(graph, seed):
    trained = try_edge_split(graph, seed).graph
    assert trained.x is graph.x
    assert trained.node_ids is graph.node_ids
    assert trained.directed == graph.directed
    assert trained.y is None
    assert trained.class_names is None
    assert graph.y is not None


def random_graph(nodes, entries, *, seed=0, directed=False):
    rng = np.random.default_rng(seed)
    return Graph(x=rng.normal(size=(nodes, 2)), edge_index=rng.integers(0, nodes, (2, entries)), directed=directed)


def test_an_edge_split_depends_only_on_edges_and_random_state():
    graph = random_graph(60, 200)
    other = Graph(x=np.ones((60, 1)), edge_index=graph.edge_index[:, ::-1], y=[0] * 60)
    np.random.default_rng(0).random(10)
    assert same_edge_split(edge_split(graph, random_state=4), edge_split(other, random_state=np.int32(4)))
    tests = {tuple(columns_of(edge_split(graph, random_state=seed).test_edges)) for seed in range(10)}
    assert len(tests) == 10
    non_edges = {tuple(columns_of(edge_split(graph, random_state=seed).test_non_edges)) for seed in range(10)}
    assert len(non_edges) == 10


def test_directed_and_undirected_graphs_hold_out_the_same_pairs():
    directed = random_graph(60, 200, directed=True)
    one, other = edge_split(directed, random_state=2), edge_split(directed.to_undirected(), random_state=2)
    assert all(np.array_equal(getattr(one, part), getattr(other, part)) for part in PAIRS)


def test_shares_of_edges_are_rounded_down():
    ring = make_linked_graph(199, {(i, (i + 1) % 199) for i in range(199)})
    split = edge_split(ring, random_state=0)
    assert split.val_edges.shape == split.val_non_edges.shape == (2, 9)
    assert split.test_edges.shape == split.test_non_edges.shape == (2, 19)
    assert split.graph.num_edges == 199 - 9 - 19
    assert repr(split) == f"EdgeSplit({split.graph!r}, 9 val, 19 test)"


@pytest.mark.parametrize("missing_pairs", [6, 7, 8])
def test_a_nearly_complete_graph_yields_its_few_non_edges(missing_pairs):
    nodes = 12
    every_pair = list(combinations(range(nodes), 2))
    missing = {every_pair[i] for i in np.random.default_rng(0).choice(len(every_pair), missing_pairs, replace=False)}
    graph = make_linked_graph(nodes, set(every_pair) - missing)
    split = edge_split(graph, random_state=0, val=0.06, test=0.06)  # three pairs each
    sampled = columns_of(split.val_non_edges) + columns_of(split.test_non_edges)
    assert len(set(sampled)) == 6
    assert set(sampled) <= missing


@pytest.mark.parametrize("missing_pairs", [0, 1, 5])
def test_a_graph_with_too_few_non_edges_is_rejected(missing_pairs):
    graph = make_linked_graph(12, list(combinations(range(12), 2))[missing_pairs:])
    message = f"requires as many non-edges as held-out edges, 6; this graph has only {missing_pairs}: lower val"
    with pytest.raises(ParameterError, match=message):
        edge_split(graph, random_state=0, val=0.06, test=0.06)


@pytest.mark.parametrize(
    ("edges", "shares", "message"),
    [
        ([], {}, "val must get at least one of the adjacent pairs; got none of 0"),
        ([(i, i) for i in range(30)], {}, "val must get at least one of the adjacent pairs; got none of 0"),
        ([(0, i) for i in range(1, 20)], {}, "val must get at least one of the adjacent pairs; got none of 19"),
        ([(0, 1), (1, 2)], {"val": 0.5}, "test must get at least one of the adjacent pairs; got none of 2"),
        # Both directions of a pair are one pair, or ten pairs would be enough for twenty.
        (
            [(0, i) for i in range(1, 11)] + [(i, 0) for i in range(1, 11)],
            {},
            "val must get at least one of the adjacent pairs; got none of 10",
        ),
    ],
)
@pytest.mark.parametrize("directed", [False, True])
def test_a_graph_with_too_few_edges_is_rejected(edges, shares, message, directed):
    with pytest.raises(ParameterError, match=message):
        edge_split(make_linked_graph(30, edges, directed=directed), random_state=0, **shares)


def frequencies(graph, name, seeds):
    """Count how often each pair is in a part, over many seeds."""
    sampled = [getattr(edge_split(graph, random_state=seed, val=0.2, test=0.3), name) for seed in range(seeds)]
    pairs = np.concatenate(sampled, axis=1)
    return np.unique(pairs[0] * graph.num_nodes + pairs[1], return_counts=True)


@pytest.mark.parametrize("name", ["val_non_edges", "test_non_edges"])
def test_every_non_edge_is_equally_likely(name):
    # A hub, a clique and an isolated node: sampling by node would not be uniform over pairs.
    edges = {(0, i) for i in range(1, 9)} | set(combinations(range(4), 2)) | {(5, 5)}
    graph = make_linked_graph(10, edges)
    unjoined = set(combinations(range(10), 2)) - adjacent_pairs(graph)
    pairs, times = frequencies(graph, name, seeds=1500)
    assert {divmod(pair, 10) for pair in pairs.tolist()} == unjoined
    assert chisquare(times).pvalue > 1e-3


@pytest.mark.parametrize("name", ["val_edges", "test_edges"])
def test_every_edge_is_equally_likely_to_be_held_out(name):
    graph = random_graph(
        10, 25, directed=True
    )  # some pairs are joined in both directions, and must not be counted twice
    assert len(adjacent_pairs(graph)) < (graph.edge_index[0] != graph.edge_index[1]).sum()
    pairs, times = frequencies(graph, name, seeds=1500)
    assert {divmod(pair, 10) for pair in pairs.tolist()} == adjacent_pairs(graph)
    assert chisquare(times).pvalue > 1e-3


@pytest.mark.parametrize("directed", [False, True])
def test_a_large_graph_is_split_exactly(directed):
    nodes = 70_000  # nodes squared is beyond 32 bits
    graph = random_graph(nodes, 100_000, directed=directed)
    split = edge_split(graph, random_state=0)
    whole, kept = (set((each.edge_index[0] * nodes + each.edge_index[1]).tolist()) for each in (graph, split.graph))
    low, high = np.concatenate([split.val_edges, split.test_edges], axis=1)
    held_out = {*(low * nodes + high).tolist(), *(high * nodes + low).tolist()}
    assert kept == whole - held_out
    assert len(whole & held_out) == len(whole) - len(kept) >= len(low)
    low, high = np.concatenate([split.val_non_edges, split.test_non_edges], axis=1)
    sampled = set((low * nodes + high).tolist())
    assert len(sampled) == len(low)
    assert not (sampled | set((high * nodes + low).tolist())) & whole


def test_splits_of_a_data_set_are_those_of_its_graph():
    graph = make_labeled_graph([0, 1] * 25)
    nodes = random_split(Dataset("a graph", graph), random_state=1)
    assert np.array_equal(nodes.train, random_split(graph, random_state=1).train)
    edges = edge_split(Dataset("a graph", graph), random_state=1)
    assert np.array_equal(edges.test_edges, edge_split(graph, random_state=1).test_edges)


def test_a_split_takes_all_nodes_of_a_graph_without_labels_and_only_the_labeled_ones_otherwise():
    unlabeled = random_split(make_labeled_graph(None), random_state=0)
    assert sum(len(getattr(unlabeled, part)) for part in PARTS) == 50
    partly = make_labeled_graph([0, 1] * 20 + [-1] * 10)
    split = random_split(partly, random_state=0)
    assert max(getattr(split, part).max() for part in PARTS) < 40


# -- features that were computed from edges -------------------------------------------------------------------------


def test_structural_features_are_those_of_the_remaining_edges():
    edges = np.random.default_rng(0).integers(1200, size=(2, 4000))
    with pytest.warns(StructuralFeaturesWarning):
        graph = Graph(None, edges, num_nodes=1200)
    split = edge_split(graph, random_state=3)
    assert has_structural_features(graph)
    assert has_structural_features(split.graph)
    # Degrees of the whole graph would reveal which nodes have lost edges.
    lost = np.bincount(split.test_edges.ravel(), minlength=1200) > 0
    changed = (split.graph.x.indices != graph.x.indices) & ~lost
    assert changed.sum() < lost.sum()
    assert split.graph.x.shape[0] == 1200


def whole_graph(path, directed):
    """Return a graph of 1,200 nodes without features, as it is or after a way that graphs take."""
    edges = np.random.default_rng(0).integers(1200, size=(2, 6000))
    with warnings.catch_warnings(action="ignore", category=StructuralFeaturesWarning):
        graph = Graph(None, edges, num_nodes=1200, directed=directed)
        if path == "PyG":
            return Graph.from_pyg(graph.to_pyg())
        if path == "networkx":
            return Graph.from_networkx(graph.to_networkx())
    x = {"dense": graph.x.toarray(), "float64": graph.x.toarray().astype(float), "sparse": graph.x.tocoo()}.get(path)
    return graph if x is None else Graph(x, graph.edge_index, directed=directed)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("path", ["as made", "PyG", "networkx", "dense", "float64", "sparse"])
def test_degree_features_do_not_reveal_held_out_edges(path, directed):
    graph = whole_graph(path, directed)
    assert has_structural_features(graph)
    split = edge_split(graph, random_state=3)
    assert leak(split.graph.x, split) == 0.5
    assert leak(graph.x, split) > 0.6  # the features of the whole graph do


def test_degree_features_of_a_graph_made_undirected_do_not_reveal_held_out_edges():
    directed = whole_graph("as made", directed=True)
    both_ways = np.concatenate([directed.edge_index, directed.edge_index[::-1, :2000]], axis=1)
    with warnings.catch_warnings(action="ignore", category=StructuralFeaturesWarning):
        directed = Graph(None, both_ways, num_nodes=directed.num_nodes, directed=True)
    undirected = directed.to_undirected()
    assert has_structural_features(undirected)
    split = edge_split(undirected, random_state=3)
    assert leak(split.graph.x, split) == 0.5
    assert leak(directed.x, split) > 0.6  # the degrees of the directed graph do


def leak(x, split):
    """Return the AUC of ranking pairs by how much the degrees of their nodes exceed those in the remaining graph."""
    rest = split.graph
    with warnings.catch_warnings(action="ignore", category=StructuralFeaturesWarning):
        left = structural_features(rest.edge_index, num_nodes=rest.num_nodes, directed=rest.directed).indices
    missing = np.asarray(x.argmax(axis=1)).ravel() - left
    scores = [missing[pairs].sum(axis=0) for pairs in (split.test_edges, split.test_non_edges)]
    return roc_auc_score(np.repeat([1, 0], [len(each) for each in scores]), np.concatenate(scores))


def test_other_features_are_kept_where_edges_are_held_out():
    graph = synthetic(nodes=140)
    assert edge_split(graph, random_state=0).graph.x is graph.x


# -- independence of other random numbers ---------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_labels_drawn_from_the_same_seed_do_not_decide_the_split(seed):
    # The first half of the same permutation is one class, and the first tenth would be all training nodes.
    y = np.zeros(1000, np.int64)
    y[np.random.default_rng(seed).permutation(1000)[:500]] = 1
    graph = make_labeled_graph(y)
    assert set(y[random_split(graph, random_state=seed, stream="legacy").train]) == {1}
    assert 0.3 < y[random_split(graph, random_state=seed).train].mean() < 0.7


def test_edges_drawn_from_the_same_seed_do_not_decide_which_are_held_out():
    pairs = np.stack([np.arange(1000), np.arange(1000) + 1000])
    is_late = np.ones(1000, bool)
    is_late[np.random.default_rng(0).permutation(1000)[:150]] = False
    graph = make_linked_graph(2000, pairs.T.tolist())
    held_out = [edge_split(graph, random_state=0, stream=stream) for stream in ("legacy", "own")]
    legacy, own = (np.concatenate([each.val_edges[0], each.test_edges[0]]) for each in held_out)
    assert not is_late[legacy].any()
    assert 0.7 < is_late[own].mean() < 0.95


def test_the_legacy_stream_is_the_generator_of_the_seed():
    graph = make_labeled_graph([0, 1] * 50)
    order = np.random.default_rng(3).permutation(100)
    split = random_split(graph, random_state=3, stream="legacy")
    assert [part.tolist() for part in (split.train, split.val)] == [sorted(order[:10]), sorted(order[10:20])]


@pytest.mark.parametrize("split", [random_split, edge_split])
def test_an_unknown_stream_is_rejected(split):
    with pytest.raises(ParameterError, match="stream must be own or legacy; got 'old'"):
        split(make_labeled_graph([0, 1] * 50), stream="old")
