"""Downloads, by PyG's own loaders, from a folder of this machine in place of the network."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from torch_geometric.datasets import WebKB

from graphprox import DatasetError, load_dataset
from graphprox.datasets.source import cache_directory


@pytest.fixture
def published(tmp_path, monkeypatch):
    """A small Texas where the loader looks for it."""
    site = tmp_path / "site"
    (site / "new_data" / "texas").mkdir(parents=True)
    (site / "splits").mkdir()
    nodes = ["node_id\tfeature\tlabel", *(f"{i}\t{int(i == 0)},1,0\t{i % 2}" for i in range(4))]
    (site / "new_data" / "texas" / "out1_node_feature_label.txt").write_text("\n".join(nodes) + "\n")
    (site / "new_data" / "texas" / "out1_graph_edges.txt").write_text("node_id\tnode_id\n0\t1\n2\t3\n0\t1\n")
    masks = {"train_mask": [1, 1, 0, 0], "val_mask": [0, 0, 1, 0], "test_mask": [0, 0, 0, 1]}
    for i in range(10):
        np.savez(site / "splits" / f"texas_split_0.6_0.2_{i}.npz", **masks)
    monkeypatch.setattr(WebKB, "url", site.as_uri())
    return site


def test_what_is_not_at_hand_is_downloaded_once(no_data, published):
    dataset = load_dataset("Texas")
    assert dataset.graph.edge_index.tolist() == [[0, 2], [1, 3]]
    assert dataset.graph.x.toarray().tolist() == [[1, 1, 0], [0, 1, 0], [0, 1, 0], [0, 1, 0]]
    assert len(dataset.splits["public"]) == 10
    shutil.rmtree(published)
    assert np.array_equal(load_dataset("Texas").graph.edge_index, dataset.graph.edge_index)
    assert (no_data / "texas" / "raw" / "out1_graph_edges.txt").exists()


def test_pyg_names_are_downloaded_once_too(no_data, published):
    dataset = load_dataset("pyg:WebKB:Texas")
    assert dataset.graph.edge_index.tolist() == [[0, 2], [1, 3]]
    shutil.rmtree(published)
    assert len(load_dataset("pyg:WebKB:Texas").splits["public"]) == 10


@pytest.mark.parametrize("name", ["Texas", "pyg:WebKB:Texas"])
def test_half_a_download_is_none(no_data, published, name):
    (published / "splits" / "texas_split_0.6_0.2_9.npz").unlink()
    with pytest.raises(DatasetError, match="is not at hand and cannot be downloaded"):
        load_dataset(name)
    assert not [path for path in no_data.rglob("*") if path.is_file()]


def test_without_network_and_files_both_ways_out_are_named(no_data, published, tmp_path):
    shutil.rmtree(published)
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(
        DatasetError, match="connect to the network, or name a directory that holds texas/raw"
    ) as caught:
        load_dataset("Texas", data=tmp_path / "elsewhere")
    assert "not in" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_data_directory_comes_before_the_cache(no_data, published, tmp_path):
    load_dataset("Texas")
    at_hand = tmp_path / "at hand" / "texas" / "raw"
    shutil.copytree(no_data / "texas" / "raw", at_hand)
    (at_hand / "out1_graph_edges.txt").write_text("node_id\tnode_id\n3\t0\n")
    assert load_dataset("Texas", data=tmp_path / "at hand").graph.edge_index.tolist() == [[3], [0]]
    assert load_dataset("Texas").graph.num_edges == 2


def test_the_cache_is_where_the_system_keeps_caches(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_directory() == tmp_path / "graphprox" / "datasets"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_directory() == tmp_path / "home" / ".cache" / "graphprox" / "datasets"
