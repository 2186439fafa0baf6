"""splitmix64 against its published values, compiled and in Python."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest

from graphprox._utils.hashing import GOLDEN, mix, stream, uniform

# The first outputs of the reference implementation for the seed 1234567.
REFERENCE = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821]


@pytest.fixture(params=["compiled", "python"])
def form(request):
    """Compiled functions, and the Python that they are compiled from."""
    return (lambda function: function) if request.param == "compiled" else (lambda function: function.py_func)


def test_outputs_are_those_of_the_reference(form):
    with np.errstate(over="ignore"):
        states = [np.uint64(1234567) + GOLDEN * np.uint64(step) for step in range(1, 6)]
        assert [int(form(mix)(state)) for state in states] == REFERENCE


def test_compiled_code_equals_python():
    state = np.uint64(0x123456789ABCDEF)
    with np.errstate(over="ignore"):
        assert stream(state, 7, 3) == stream.py_func(state, 7, 3)
        assert uniform(state) == uniform.py_func(state)


def test_streams_of_nodes_and_walks_differ():
    states = {int(stream(np.uint64(5), node, number)) for node in range(50) for number in range(20)}
    assert len(states) == 1000


def test_random_numbers_are_uniform():
    with np.errstate(over="ignore"):
        values = [uniform(np.uint64(3) + GOLDEN * np.uint64(step)) for step in range(2000)]
    assert 0 <= min(values) < max(values) < 1
    assert kstest(values, "uniform").pvalue > 1e-3
