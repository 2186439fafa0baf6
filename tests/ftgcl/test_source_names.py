"""Names of sources, and the augmentations they use."""

from __future__ import annotations

import pytest

from graphprox import ParameterError
from graphprox.ftgcl.recipe_tables import AugmentationOptions
from graphprox.ftgcl.source_names import check_sources, split_source, used_augmentations

LIGHT = {"light": AugmentationOptions()}


def test_source_is_split_into_base_and_augmentation():
    assert split_source("graph") == ("graph", None)
    assert split_source("feature+light") == ("feature", "light")


def test_augmentations_of_invalid_pairs_are_empty():
    assert used_augmentations([["graph", "feature+light"]]) == {None, "light"}
    for invalid in (3, [3], [[3]], None):
        assert used_augmentations(invalid) == set()


def test_known_sources_that_use_all_augmentations_are_accepted():
    check_sources((("graph", "feature"),), {})
    check_sources((("graph+light", "graph+light"), ("graph", "topology")), LIGHT)


@pytest.mark.parametrize(
    ("pair", "augmentations", "message"),
    [
        (("graph", "shape"), {}, "pairs must consist of sources, .*; got 'shape'"),
        (("graph", "feature+"), {}, r"pairs must consist of sources, .*; got 'feature\+'"),
        (("graph", "feature+dark"), {}, r"got 'feature\+dark': add \[augmentations\.dark\]"),
        (("graph", "feature+ligth"), LIGHT, "did you mean 'light'"),
        (("graph", "graph"), {}, "must consist of sources that differ or are augmented; got 'graph' twice"),
        (("graph", "feature"), LIGHT, r"augmentations\.light must be used in pairs"),
    ],
)
def test_invalid_sources_are_rejected(pair, augmentations, message):
    with pytest.raises(ParameterError, match=message):
        check_sources((pair,), augmentations)
