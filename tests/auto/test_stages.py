"""A run of auto that is killed at any stage is resumed, and gives the bytes of one that was not.

Covers graphprox.auto.packing.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

from auto.small_blocks import make_small_blocks
from auto.topic_graphs import topic_graph
from graphprox import AutoEmbedder, DamagedCheckpointWarning, ParameterError, synthetic
from graphprox._utils.mapped import is_mapped
from graphprox.auto import stages
from graphprox.auto.row_store import RowStore
from graphprox.auto.stages import Stages, keep_stages


@pytest.fixture
def kill_at_stages(run_script):
    return lambda graph, *, step: run_script(Path(__file__).with_name("killing_stages.py"), graph, step)


def check(report):
    assert report["differences"] == []
    assert report["killed"] == len(report["read"])
    assert all(read > 0 or done == 0 for done, read in report["read"])


def test_run_that_is_killed_at_some_stages_is_resumed_to_the_same_bytes(kill_at_stages):
    report = kill_at_stages("synthetic:nodes=210", step=4)
    check(report)
    assert {"selection", "preparation", "positions", "rows", "similar nodes", "projection", "vectors"} <= set(
        report["stages"]
    )


@pytest.mark.slow
@pytest.mark.parametrize("has_features", [True, False])
def test_run_that_is_killed_at_any_stage_is_resumed_to_the_same_bytes(kill_at_stages, tmp_path, has_features):
    graph = "synthetic:nodes=210"
    if not has_features:
        graph = tmp_path / "edges.csv"
        np.savetxt(graph, np.transpose(synthetic(nodes=210).edges_once()), fmt="%d", delimiter=",")
    check(kill_at_stages(graph, step=1))


# -- whose stages are read ------------------------------------------------------------------------------------------


class StoppedError(Exception):
    """Raised in the place of a kill."""


@pytest.fixture
def stop_after(monkeypatch, tmp_path):
    """Fit in small blocks, and stop after a stage."""
    make_small_blocks(monkeypatch)
    write = Stages._write

    def stop_after(graph, stage, **parameters):
        def write_and_stop(self, name, *arguments):
            write(self, name, *arguments)
            if name == stage:
                raise StoppedError

        monkeypatch.setattr(Stages, "_write", write_and_stop)
        with pytest.raises(StoppedError), keep_stages(tmp_path):
            fit(graph, **parameters)
        monkeypatch.setattr(Stages, "_write", write)

    return stop_after


def resume(folder, graph, **parameters):
    with keep_stages(folder, resume=True):
        return fit(graph, **parameters)


def fit(graph, **parameters):
    return np.array(AutoEmbedder(**{"n_components": 24, "keep": "balanced", **parameters}).fit_transform(graph))


@pytest.mark.parametrize("stage", ["view rows", "vectors"])
def test_resumed_run_reads_the_stages_that_are_finished(stop_after, monkeypatch, tmp_path, stage):
    graph = topic_graph(nodes=210)
    stop_after(graph, stage)
    with monkeypatch.context() as read_only:
        for name in ("_select", "_prepare"):
            read_only.setattr(AutoEmbedder, name, None)
        vectors = resume(tmp_path, graph)
    assert not list(tmp_path.iterdir())
    assert np.array_equal(vectors, fit(graph))


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"graph": topic_graph(nodes=210, seed=1)}, "graph"),
        ({"random_state": 1}, "random state"),
        ({"keep": "both"}, "settings"),
        ({"scale": "none"}, "settings"),
    ],
)
def test_stages_of_another_run_are_refused(stop_after, tmp_path, changed, name):
    graph = topic_graph(nodes=210)
    stop_after(graph, "rows")
    with pytest.raises(ParameterError, match=rf"must be resumed with the same graph.* differs in {name}: use what"):
        resume(tmp_path, changed.pop("graph", graph), **changed)
    assert (tmp_path / "stages" / "run.json").exists()


def test_stages_of_another_version_are_refused(stop_after, monkeypatch, tmp_path):
    graph = topic_graph(nodes=210)
    stop_after(graph, "rows")
    monkeypatch.setattr(stages, "library_versions", lambda *_: {"graphprox": "0.0.1"})
    with pytest.raises(ParameterError, match="differs in versions"):
        resume(tmp_path, graph)


def test_run_that_is_not_resumed_starts_again(stop_after, tmp_path):
    graph = topic_graph(nodes=210)
    stop_after(topic_graph(nodes=210, seed=1), "projection")
    with keep_stages(tmp_path):
        found = fit(graph)
    assert np.array_equal(found, fit(graph))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("damage", ["flip", "truncate", "remove", "describe"])
def test_damaged_stage_is_computed_again(stop_after, tmp_path, damage):
    graph = topic_graph(nodes=210)
    stop_after(graph, "projection")
    for path in (tmp_path / "stages").glob("*.json" if damage == "describe" else "*-0.npy"):
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        if path.name == "run.json":
            continue
        if damage == "remove":
            path.unlink()
        else:
            path.write_bytes(content[:-5] if damage == "truncate" else content)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = resume(tmp_path, graph)
    assert {each.category for each in caught} == {DamagedCheckpointWarning}
    sentence = re.compile(r".*stages.* is damaged: .*: the stage '[a-z -]+' is computed again")
    assert all(sentence.fullmatch(str(each.message)) for each in caught)
    assert any("'projection'" in str(each.message) for each in caught)
    assert np.array_equal(found, fit(graph))


def test_damaged_description_of_a_run_starts_again(stop_after, tmp_path):
    graph = topic_graph(nodes=210)
    stop_after(graph, "projection")
    (tmp_path / "stages" / "run.json").write_text("{")
    with pytest.warns(DamagedCheckpointWarning, match=r"run\.json is damaged: .*: starting again"):
        found = resume(tmp_path, graph)
    assert np.array_equal(found, fit(graph))


# -- what is stored ---------------------------------------------------------------------------------------------------


def test_small_graph_stores_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr(Stages, "_write", None)
    graph = synthetic(nodes=210)
    assert np.array_equal(resume(tmp_path, graph), fit(graph))
    assert not list(tmp_path.iterdir())


def test_rows_in_files_are_read_from_the_file_of_the_stage(tmp_path):
    rows = np.random.default_rng(0).normal(size=(300, 5)).astype(np.float32)
    kept = Stages(tmp_path, "run")
    for store, mapped in ((RowStore(in_files=True), True), (RowStore(), False), (None, False)):
        made = kept.keep(f"rows {mapped}", rows.copy, store=store)
        found = kept.keep(f"rows {mapped}", None, store=store)
        assert np.array_equal(made, rows)
        assert np.array_equal(found, rows)
        assert is_mapped(made) == is_mapped(found) == mapped


@pytest.mark.parametrize(
    "array",
    [
        np.asfortranarray(np.arange(12.0).reshape(3, 4)),
        np.arange(12.0).reshape(3, 4)[:, ::2],
        np.zeros((5, 0), np.float32),
        np.arange(3, dtype=np.int32),
    ],
)
def test_arrays_of_any_layout_are_stored(tmp_path, array):
    kept = Stages(tmp_path, "run")
    kept.keep("array", lambda: array)
    found = kept.keep("array", None)
    assert np.array_equal(found, array)
    assert found.dtype == array.dtype
    assert found.flags.f_contiguous == array.flags.f_contiguous


def test_stage_of_another_run_is_not_found(tmp_path):
    Stages(tmp_path, "one").keep("rows", lambda: np.zeros(3))
    assert Stages(tmp_path, "other").keep("rows", lambda: np.ones(3)).tolist() == [1, 1, 1]


def test_result_that_is_that_of_another_stage_is_stored_once(tmp_path):
    rows = np.zeros(3)
    kept = Stages(tmp_path, "run")
    kept.keep("rows", lambda: rows)
    assert kept.keep("output own", lambda: rows, is_stored=lambda made: made is rows) is rows
    assert len(list(tmp_path.iterdir())) == 2


def test_discarded_stages_are_removed(tmp_path):
    kept = Stages(tmp_path, "run")
    for name in ("rows", "vectors"):
        kept.keep(name, lambda: np.zeros(3))
    kept.discard("rows", "unknown")
    with warnings.catch_warnings(action="error"):
        assert kept.keep("rows", lambda: np.ones(3)).tolist() == [1, 1, 1]
        assert kept.keep("vectors", None).tolist() == [0, 0, 0]
