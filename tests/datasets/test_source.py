"""Downloads by PyG's loaders, from a local folder instead of the network."""

from __future__ import annotations

import shutil
import subprocess
import sys

import numpy as np
import pytest
from torch_geometric.data import Dataset
from torch_geometric.datasets import WebKB

from graphprox import DatasetError, load_dataset
from graphprox.datasets.source import _list_exported_names, cache_directory


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """A small copy of Texas at the address from which the loader downloads."""
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


def test_missing_files_are_downloaded_once(no_data, mirror):
    dataset = load_dataset("Texas")
    assert dataset.graph.edge_index.tolist() == [[0, 2], [1, 3]]
    assert dataset.graph.x.toarray().tolist() == [[1, 1, 0], [0, 1, 0], [0, 1, 0], [0, 1, 0]]
    assert len(dataset.splits["public"]) == 10
    shutil.rmtree(mirror)
    assert np.array_equal(load_dataset("Texas").graph.edge_index, dataset.graph.edge_index)
    assert (no_data / "texas" / "raw" / "out1_graph_edges.txt").exists()


def test_pyg_data_sets_are_downloaded_once(no_data, mirror):
    dataset = load_dataset("pyg:WebKB:Texas")
    assert dataset.graph.edge_index.tolist() == [[0, 2], [1, 3]]
    shutil.rmtree(mirror)
    assert len(load_dataset("pyg:WebKB:Texas").splits["public"]) == 10


@pytest.mark.parametrize("name", ["Texas", "pyg:WebKB:Texas"])
def test_an_incomplete_download_is_removed(no_data, mirror, name):
    (mirror / "splits" / "texas_split_0.6_0.2_9.npz").unlink()
    with pytest.raises(DatasetError, match="is not available and cannot be downloaded"):
        load_dataset(name)
    assert not [path for path in no_data.rglob("*") if path.is_file()]


def test_without_network_the_error_names_both_solutions(no_data, mirror, tmp_path):
    shutil.rmtree(mirror)
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(
        DatasetError,
        match="connect to the network, or set data or GRAPHPROX_DATA to a directory that contains texas/raw",
    ) as caught:
        load_dataset("Texas", data=tmp_path / "elsewhere")
    assert "not in" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_data_directory_has_priority_over_the_cache(no_data, mirror, tmp_path):
    load_dataset("Texas")
    raw = tmp_path / "data" / "texas" / "raw"
    shutil.copytree(no_data / "texas" / "raw", raw)
    (raw / "out1_graph_edges.txt").write_text("node_id\tnode_id\n3\t0\n")
    assert load_dataset("Texas", data=tmp_path / "data").graph.edge_index.tolist() == [[3], [0]]
    assert load_dataset("Texas").graph.num_edges == 2


def test_the_cache_follows_xdg_cache_home(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_directory() == tmp_path / "graphprox" / "datasets"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_directory() == tmp_path / "home" / ".cache" / "graphprox" / "datasets"


def test_exported_names_are_those_of_the_data_sets_of_pyg():
    import torch_geometric

    datasets = vars(torch_geometric.datasets).items()
    classes = {name for name, found in datasets if isinstance(found, type) and issubclass(found, Dataset)}
    assert classes <= set(_list_exported_names())


def test_an_unknown_class_is_rejected_without_importing_pyg():
    command = "import sys\nfrom graphprox.datasets.source import get_pyg_class\n"
    command += "try:\n    get_pyg_class('os')\nexcept Exception as error:\n    print(error, 'torch' in sys.modules)\n"
    printed = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True).stdout
    assert "it has no 'os'" in printed
    assert printed.endswith("False\n")
