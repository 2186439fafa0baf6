"""The base classes of embedders, tested on small methods that are defined here and in conftest.py."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest

from graphprox import NotInductiveError
from graphprox.methods import GraphEmbedder, MethodInfo, register_method


def test_embedding_is_built_once_and_again_after_fit(scaled_method, graph):
    made = scaled_method().fit(graph)
    embedding = made.embedding_
    assert made.embedding_ is embedding
    assert "embedding_" not in made.get_params()
    made.set_params(factor=3).fit(graph)
    assert np.array_equal(made.embedding_.vectors, 3 * graph.x)
    copied = deepcopy(made)
    assert "embedding_" not in vars(copied)
    assert np.array_equal(copied.embedding_.vectors, made.embedding_.vectors)


def test_single_row_of_features_can_be_transformed(scaled_method, graph):
    made = scaled_method().fit(graph)
    assert made.transform(graph.x[:1]).shape == (1, 2)


def test_error_of_a_method_without_transform_states_the_alternative(registry, graph):
    @register_method("transductive")
    class Transductive(GraphEmbedder):
        info = MethodInfo(title="Transductive", uses="A", group="floor", summary="for tests")

        def _fit(self, graph, _seed, _progress):
            return np.zeros((graph.num_nodes, 1), np.float32)

    made = Transductive().fit(graph)
    assert not hasattr(made, "transform")
    with pytest.raises(NotInductiveError, match=r"^Transductive learns a vector for each node of the graph it is fit"):
        made.transform(graph)
    with pytest.raises(AttributeError, match="'Transductive' object has no attribute 'transfrom'"):
        made.transfrom(graph)
