"""The combination of outputs against a full singular value decomposition, and cosines of blocks side by side."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.preprocessing import normalize

from graphprox.auto.combination import ALPHA, HOPS, MIN_COMPONENTS, Combination, principal_directions, sum_products
from graphprox.auto.selection import Mixture


def make_outputs(num_nodes=60, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "a": rng.normal(size=(num_nodes, 7)).astype(np.float32) + 2,
        "b": rng.normal(size=(num_nodes, 5)).astype(np.float32) * np.float32(9),
        "unused": np.full((num_nodes, 2), np.nan, np.float32),
    }


def side_by_side(outputs, weights):
    """Return centered unit rows of the outputs, in double precision."""
    unit = {name: normalize(outputs[name].astype(float)) for name in weights}
    return np.hstack([each * normalize(unit[name] - unit[name].mean(0)) for name, each in weights.items()])


def cosines(rows):
    unit = normalize(rows)
    return unit @ unit.T


# -- principal directions -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 4, 11])
def test_principal_directions_are_the_leading_singular_vectors(size):
    rng = np.random.default_rng(0)
    blocks = [rng.normal(size=(50, each)).astype(np.float32) for each in (6, 1, 5)]
    matrix = np.hstack(blocks).astype(float)
    found = principal_directions(sum_products([blocks]), size)
    _, values, right = np.linalg.svd(matrix, full_matrices=False)
    assert found.shape == (12, size)
    # The same subspace, in the same order: each direction explains its singular value, and they are orthogonal.
    np.testing.assert_allclose(found.T @ found, np.eye(size), atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(matrix @ found, axis=0), values[:size], rtol=1e-4)
    np.testing.assert_allclose(found @ found.T, right[:size].T @ right[:size], atol=1e-4)
    error = np.linalg.norm(matrix - matrix @ found @ found.T) ** 2
    assert error == pytest.approx((values[size:] ** 2).sum(), rel=1e-4)


def test_largest_entry_of_each_direction_is_positive():
    blocks = [np.random.default_rng(seed).normal(size=(30, 4)).astype(np.float32) for seed in range(3)]
    found = principal_directions(sum_products([blocks]), 12)
    assert (found[np.abs(found).argmax(0), np.arange(12)] > 0).all()


def test_directions_are_not_more_than_channels():
    block = np.random.default_rng(0).normal(size=(30, 3)).astype(np.float32)
    found = principal_directions(sum_products([[block]]), 8)
    assert found.shape == (3, 3)
    np.testing.assert_allclose(found @ found.T, np.eye(3), atol=1e-5)


def test_directions_of_zeros_are_finite():
    assert np.isfinite(principal_directions(sum_products([[np.zeros((10, 4), np.float32)]]), 3)).all()


# -- combination ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_components", [12, 20])
@pytest.mark.parametrize("weights", [{"a": 1.0, "b": 1.0}, {"b": 0.3, "a": 1.0}, {"a": 0.7}])
def test_projected_rows_have_the_cosines_of_the_outputs_side_by_side_if_nothing_is_cut(weights, n_components):
    outputs = make_outputs()
    found = Combination.fit(outputs, Mixture(weights), n_components=n_components).project(outputs)
    assert found.shape == (60, min(n_components, sum(outputs[name].shape[1] for name in weights)))
    assert found.dtype == np.float32
    expected = side_by_side(outputs, weights)
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-5)
    np.testing.assert_allclose(cosines(found), cosines(expected), atol=1e-5)


def test_cut_vectors_are_the_best_approximation_of_the_outputs_side_by_side():
    outputs, weights = make_outputs(), {"a": 1.0, "b": 0.5}
    found = Combination.fit(outputs, Mixture(weights), n_components=4).project(outputs)
    expected = side_by_side(outputs, weights)
    left, values, _ = np.linalg.svd(expected, full_matrices=False)
    best = left[:, :4] * values[:4]
    np.testing.assert_allclose(found @ found.T, best @ best.T, atol=1e-5)
    assert (np.diff((found**2).sum(0)) <= 1e-5).all()  # the first component explains most


def test_components_are_those_of_pca_where_rows_are_centered():
    rows = np.random.default_rng(0).normal(size=(100, 6)) * [5, 4, 3, 2, 1, 0.5]
    rows = normalize(np.vstack([rows, -rows])).astype(np.float32)  # their mean is zero
    found = Combination.fit({"a": rows}, Mixture({"a": 1.0}), n_components=3).project({"a": rows})
    expected = PCA(3).fit_transform(rows)
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-4)  # signs are a convention


def test_direction_that_all_rows_share_is_removed():
    rng = np.random.default_rng(0)
    rows = (rng.normal(size=(80, 6)) + 50 * np.eye(6)[0]).astype(np.float32)
    assert cosines(rows).min() > 0.95
    found = Combination.fit({"a": rows}, Mixture({"a": 1.0}), n_components=6).project({"a": rows})
    assert abs(np.mean(cosines(found))) < 0.05


def test_output_that_is_the_same_for_all_nodes_has_no_effect():
    outputs = make_outputs()
    outputs["same"] = np.tile(np.random.default_rng(1).random(4, np.float32), (60, 1))
    alone = Combination.fit(outputs, Mixture({"a": 1.0}), n_components=7).project(outputs)
    found = Combination.fit(outputs, Mixture({"a": 1.0, "same": 1.0}), n_components=7).project(outputs)
    np.testing.assert_allclose(found @ found.T, alone @ alone.T, atol=1e-4)


def test_order_of_the_outputs_does_not_matter_but_that_of_the_weights_is_kept():
    outputs, weights = make_outputs(), {"b": 0.5, "a": 1.0}
    one = Combination.fit(outputs, Mixture(weights), n_components=5)
    other = Combination.fit(dict(reversed(outputs.items())), Mixture(weights), n_components=5)
    assert list(one.means) == ["b", "a"]
    assert np.array_equal(one.projection, other.projection)
    assert np.array_equal(one.project(outputs), other.project(outputs))
    swapped = Combination.fit(outputs, Mixture({"a": 1.0, "b": 0.5}), n_components=12).project(outputs)
    whole = Combination.fit(outputs, Mixture(weights), n_components=12).project(outputs)
    np.testing.assert_allclose(swapped @ swapped.T, whole @ whole.T, atol=1e-4)


def test_means_and_directions_of_the_fitted_graph_are_applied_to_another():
    outputs, weights = make_outputs(), {"a": 1.0, "b": 0.5}
    combination = Combination.fit(outputs, Mixture(weights), n_components=6)
    part = {name: rows[10:20] for name, rows in outputs.items()}
    np.testing.assert_allclose(combination.project(part), combination.project(outputs)[10:20], atol=1e-6)


def test_sharper_results_have_the_same_directions_and_powers_of_the_singular_values():
    outputs, weights = make_outputs(), {"a": 1.0, "b": 0.5}
    plain = Combination.fit(outputs, Mixture(weights), n_components=6).project(outputs)
    sharp = Combination.fit(outputs, Mixture(weights, sharpness=1.5), n_components=6).project(outputs)
    values = np.linalg.norm(plain, axis=0)
    np.testing.assert_allclose(sharp, plain * np.sqrt(values / values[0]), rtol=1e-4, atol=1e-6)


def test_output_that_says_nothing_about_a_node_leaves_it_to_the_others():
    outputs = make_outputs()
    outputs["a"][:4] = 0
    vectors = Combination.fit(outputs, Mixture({"a": 1.0, "b": 0.5}), n_components=12).project(outputs)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), np.where(np.arange(60) < 4, 0.5, 1.25**0.5), rtol=1e-4)


def test_rows_without_features_stay_finite():
    outputs = make_outputs()
    outputs["a"][:4] = 0
    found = Combination.fit(outputs, Mixture({"a": 1.0}), n_components=4).project(outputs)
    assert np.isfinite(found).all()


def test_vectors_are_projected_rows_of_unit_length():
    outputs = make_outputs()
    outputs["a"][3] = 0
    combination = Combination.fit(outputs, Mixture({"a": 1.0}), n_components=4)
    vectors = combination.transform(outputs)
    np.testing.assert_allclose(vectors, normalize(combination.project(outputs)), atol=1e-6)
    assert not vectors[3].any()


@pytest.mark.parametrize("degrees", [None, np.arange(60)])
@pytest.mark.parametrize("similar", [0.0, 0.5])
def test_zeros_fill_a_result_that_is_larger_than_the_channels(similar, degrees):
    outputs = make_outputs()
    mixture = Mixture({"a": 1.0, "b": 0.5}, similar=similar, popularity=0.6)
    exact, larger = (
        Combination.fit(outputs, mixture, n_components=size, num_neighbors=degrees)
        for size in (MIN_COMPONENTS, 100_000)
    )
    assert larger.projection.shape == (12, 12)
    assert exact.num_used == larger.num_used == 12 + (degrees is not None)
    vectors = larger.transform(outputs, degrees)
    assert vectors.shape == (60, 100_000) == (60, larger.n_components)
    expected, last = exact.transform(outputs, degrees), 12 + (degrees is not None)
    assert np.array_equal(vectors[:, :12], expected[:, :12])
    assert not vectors[:, 12 : 100_012 - last].any()
    assert np.array_equal(vectors[:, -1], expected[:, -1])


# -- similar nodes --------------------------------------------------------------------------------------------------


def test_similar_nodes_are_averaged():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(3), 40)
    rows = (3 * np.eye(3)[groups] + rng.normal(size=(120, 3))).astype(np.float32)
    plain, averaged = (
        Combination.fit({"a": rows}, Mixture({"a": 1.0}, similar=weight), n_components=3).transform({"a": rows})
        for weight in (0.0, 1.0)
    )
    same = np.equal.outer(groups, groups)
    gap = [cosines(each)[same].mean() - cosines(each)[~same].mean() for each in (plain, averaged)]
    assert gap[1] > gap[0] + 0.1
    np.testing.assert_allclose(np.linalg.norm(averaged, axis=1), 1, rtol=1e-5)


def test_averaging_is_that_of_a_dense_diffusion():
    rows = np.random.default_rng(0).normal(size=(15, 6)).astype(np.float32)  # all others are among the most similar
    combination = Combination.fit({"a": rows}, Mixture({"a": 1.0}, similar=0.5), n_components=6)
    unit = normalize(combination.project({"a": rows})).astype(float)
    linked = (unit @ unit.T > 0).astype(float)  # a similarity of zero or less is none
    np.fill_diagonal(linked, 1)
    scale = 1 / np.sqrt(linked.sum(0))
    step, spread = scale[:, None] * linked * scale, unit
    for _ in range(HOPS):
        spread = (1 - ALPHA) * step @ spread + ALPHA * unit
    expected = normalize(unit + 0.5 * normalize(spread))
    np.testing.assert_allclose(combination.transform({"a": rows}), expected, atol=1e-4)


@pytest.mark.parametrize("num_nodes", [1, 2])
def test_graphs_of_one_and_two_nodes_are_embedded(num_nodes):
    outputs = {"a": np.eye(num_nodes, 3, dtype=np.float32)}
    combination = Combination.fit(outputs, Mixture({"a": 1.0}, similar=0.5), n_components=2)
    assert np.isfinite(combination.transform(outputs)).all()


# -- number of neighbors --------------------------------------------------------------------------------------------


def test_last_column_grows_with_the_number_of_neighbors():
    outputs, degrees = make_outputs(), np.arange(60)
    mixture = Mixture({"a": 1.0}, popularity=0.6)
    combination = Combination.fit(outputs, mixture, n_components=MIN_COMPONENTS, num_neighbors=degrees)
    vectors = combination.transform(outputs, degrees)
    assert vectors.shape == (60, MIN_COMPONENTS) == (60, combination.n_components)
    np.testing.assert_allclose(vectors[:, -1], 0.6 * np.log1p(degrees) / np.log(60), rtol=1e-5)
    without = Combination.fit(outputs, Mixture({"a": 1.0}), n_components=MIN_COMPONENTS - 1).transform(outputs)
    assert np.array_equal(vectors[:, :-1], without)
    # The scale is that of the fitted graph, and its largest entry the limit.
    assert combination.transform(outputs, 2 * degrees)[:, -1].max() == pytest.approx(0.6)
    with pytest.raises(ValueError, match="num_neighbors must be given"):
        combination.transform(outputs)


@pytest.mark.parametrize(
    ("n_components", "degrees"), [(MIN_COMPONENTS - 1, np.arange(60)), (MIN_COMPONENTS, np.zeros(60)), (20, None)]
)
def test_small_results_and_graphs_without_edges_have_no_such_column(n_components, degrees):
    outputs, mixture = make_outputs(), Mixture({"a": 1.0}, popularity=0.6)
    combination = Combination.fit(outputs, mixture, n_components=n_components, num_neighbors=degrees)
    assert combination.popularity == 0
    assert combination.transform(outputs, degrees).shape == (60, n_components)
