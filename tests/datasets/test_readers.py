from __future__ import annotations

import json

import numpy as np
import pytest

from graphprox import IgnoredInputWarning, load_dataset, read_graph


@pytest.fixture
def wikics(tmp_path):
    """A small file of WikiCS's format: six articles, twenty splits."""
    rng = np.random.default_rng(0)
    parts = rng.integers(0, 4, size=(20, 6))
    test = np.array([False, False, False, False, True, True])
    content = {
        "features": rng.normal(size=(6, 3)).tolist(),
        "labels": [0, 1, 2, 0, 1, 2],
        "links": [[1, 2], [0], [2, 3], [], [5], [0]],
        "train_masks": ((parts == 0) & ~test).tolist(),
        "val_masks": ((parts == 1) & ~test).tolist(),
        "stopping_masks": ((parts == 2) & ~test).tolist(),
        "test_mask": test.tolist(),
    }
    raw = tmp_path / "WikiCS" / "raw"
    raw.mkdir(parents=True)
    (raw / "data.json").write_text(json.dumps(content))
    return tmp_path, content


def test_wikics_reader(wikics):
    data, content = wikics
    dataset = load_dataset("WikiCS", data=data)
    graph = dataset.graph
    assert np.array_equal(graph.x, np.asarray(content["features"], np.float32))
    assert graph.y.tolist() == content["labels"]
    assert graph.edges_once().T.tolist() == [[0, 1], [0, 2], [0, 5], [2, 2], [2, 3], [4, 5]]
    assert len(dataset.splits["public"]) == 20
    for split, mask in zip(dataset.splits["public"], content["train_masks"], strict=True):
        assert split.train.tolist() == np.flatnonzero(mask).tolist()
        assert split.test.tolist() == [4, 5]


def test_wikics_equals_pyg(wikics):
    data, _ = wikics
    ours, pyg = load_dataset("WikiCS", data=data), load_dataset("pyg:WikiCS", data=data)
    assert np.array_equal(ours.graph.edge_index, pyg.graph.edge_index)
    assert np.array_equal(ours.graph.x, pyg.graph.x)
    assert np.array_equal(ours.graph.y, pyg.graph.y)
    for one, other in zip(ours.splits["public"], pyg.splits["public"], strict=True):
        assert np.array_equal(one.train, other.train)
        assert np.array_equal(one.val, other.val)
        assert np.array_equal(one.test, other.test)


def test_pickled_names_of_published_npz_files_are_ignored(tmp_path):
    raw = tmp_path / "dblp" / "raw"
    raw.mkdir(parents=True)
    arrays = {
        "adj_data": np.ones(2),
        "adj_indices": [1, 0],
        "adj_indptr": [0, 1, 2],
        "adj_shape": [2, 2],
        "attr_data": [3.0, 0.5],
        "attr_indices": [0, 1],
        "attr_indptr": [0, 1, 2],
        "attr_shape": [2, 2],
        "labels": [0, 1],
        "attr_names": np.array(["a", {}], object),
    }
    np.savez(raw / "dblp.npz", **arrays)
    graph = load_dataset("DBLP", data=tmp_path).graph
    assert graph.x.toarray().tolist() == [[1, 0], [0, 1]]  # every positive entry is 1, as PyG has it
    with pytest.warns(IgnoredInputWarning, match="attr_names of .* never loaded"):
        from_file = read_graph(raw / "dblp.npz")
    assert from_file.x.toarray().tolist() == [[3, 0], [0, 0.5]]  # a user's file is read as it is
