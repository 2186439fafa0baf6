"""Parts of error messages."""

from __future__ import annotations

import time

import numpy as np

from graphprox._utils.suggestions import MAX_REPR, did_you_mean, shorten_repr, suggest_id


def test_long_value_is_shortened():
    assert shorten_repr(list(range(3))) == "[0, 1, 2]"
    assert shorten_repr("a" * (MAX_REPR - 2)) == repr("a" * (MAX_REPR - 2))
    assert shorten_repr("a" * MAX_REPR) == "'" + "a" * (MAX_REPR - 1) + "…"


def test_nearest_name_is_suggested_as_it_is_spelled():
    assert did_you_mean("cora", ["Cora", "DBLP"]) == "did you mean 'Cora'?"
    assert did_you_mean("zzz", ["Cora", "DBLP"]) == "valid names are Cora, DBLP"


def test_nearest_node_id_is_suggested():
    ids = np.array(["Ann", "bob", "carol"], object)
    assert suggest_id("anne", ids) == "did you mean 'Ann'?"
    assert suggest_id("zzzzzzzz", ids) == "its ids are strings such as 'Ann', 'bob', 'carol'"
    assert suggest_id("ann", np.array([7, 3, 5])) == "its ids are integers in 3..7"


def test_suggestion_among_many_ids_is_fast():
    ids = np.array([f"node-{number:07d}" for number in range(20_000)], object)
    start = time.process_time()
    assert suggest_id("node-0000012x", ids).startswith("did you mean 'node-")
    assert time.process_time() - start < 4
