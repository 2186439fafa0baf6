"""Agreement: processes that would train something else say in what they differ, all in the same sentence."""

from __future__ import annotations

import pytest

import graphprox
from distributed.test_divided import RECIPE, make_graph
from graphprox.errors import ParameterError
from graphprox.ftgcl.fit import fit_recipe


def disagree(processes, what):
    recipe, graph = RECIPE, make_graph()
    if processes.rank == 1:
        if what == "version":
            graphprox.__version__ = "0.1.9"
        recipe = recipe.merged({"encoder": {"n_components": 16}}) if what == "settings" else recipe
        graph = make_graph(seed=1) if what == "graph" else graph
    try:
        fit_recipe(graph, recipe, device="cpu", cache=False)
    except ParameterError as error:
        return str(error)
    finally:
        if what == "version":
            graphprox.__version__ = VERSION
    return None


VERSION = graphprox.__version__


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (
            "version",
            f"all processes must run one version of graphprox; got {VERSION} in process 0 and 0.1.9 in process 1: "
            "install the same version on all machines",
        ),
        (
            "settings",
            "all processes must have the same settings; encoder.n_components is 8 in process 0 and 16 in process 1: "
            "start all of them by the same command",
        ),
        (
            "graph",
            "all processes must read the same graph; that of process 1 differs from that of process 0: give all "
            "machines the same files",
        ),
    ],
)
def test_processes_that_disagree_say_in_what(workers, what, message):
    assert workers(2, disagree, what) == [message] * 2
