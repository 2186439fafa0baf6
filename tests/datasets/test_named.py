"""Data sets by name, and their files.

Covers graphprox.datasets.loading, graphprox.datasets.dataset and graphprox.datasets.planetoid.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from graphprox import DatasetError, ParameterError, load, load_dataset


@pytest.mark.parametrize(
    ("name", "meant"),
    [("cora", "Cora"), ("Coar", "Cora"), ("CORA", "Cora"), ("citeseer", "CiteSeer"), ("Airport-USA", "Airports-USA")],
)
def test_a_similar_name_is_suggested(name, meant):
    with pytest.raises(DatasetError, match=rf"did you mean {meant}\?$"):
        load(name)
    with pytest.raises(DatasetError, match=rf"did you mean {meant}\?$"):
        load_dataset(name)


def test_an_unknown_name_points_to_the_list():
    with pytest.raises(DatasetError, match="neither a data set nor a file; `graphprox datasets` lists them"):
        load("xyzzy")


def test_file_options_are_rejected_for_named_data_sets():
    with pytest.raises(ParameterError, match="features, directed can only be given with a file; 'Cora' is a data set"):
        load("Cora", features="words.csv", directed=True)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("synthetic:noddes=3", "takes the parameters nodes, .*; got 'noddes'"),
        ("synthetic:nodes=many", "nodes of synthetic must be an integer; got 'many'"),
        ("synthetic:noise=", "noise of synthetic must be a number; got ''"),
    ],
)
def test_parameters_of_synthetic_are_checked(name, sentence):
    with pytest.raises(DatasetError, match=sentence):
        load_dataset(name)


def test_parameters_of_synthetic_are_passed_on():
    one, other = (load_dataset(f"synthetic:nodes=300,noise=0.25,seed={seed}").graph for seed in (1, 2))
    assert one.num_nodes == other.num_nodes == 300
    assert not np.array_equal(one.x, other.x)


def test_a_data_set_without_a_downloader_names_its_source(no_data):
    with pytest.raises(DatasetError, match=r"copy the files of github.com/.*acm.npz.* to acm/raw in a data directory"):
        load_dataset("ACM")
    with pytest.raises(DatasetError, match=r"copy the files of github.com/.*uai.zip to AM-GCN in a data directory"):
        load_dataset("UAI")


def test_a_data_directory_must_exist(no_data, monkeypatch, tmp_path):
    with pytest.raises(DatasetError, match=r"^data must be a directory of data sets; .*nowhere is not a directory"):
        load_dataset("Cora", data=tmp_path / "nowhere")
    monkeypatch.setenv("GRAPHPROX_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DatasetError, match="GRAPHPROX_DATA must be a directory"):
        load_dataset("Cora")


# -- Planetoid ------------------------------------------------------------------------------------------------------


class Marker:
    """Pickled as a call that creates a file, which shows whether code of the pickle was run."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def write_planetoid(raw, **changes):
    """Write four nodes in the published format: two known ones and two test nodes, listed out of order."""
    raw.mkdir(parents=True)
    words = sp.csr_matrix(np.eye(4, dtype=np.float32))
    classes = np.eye(2)[[0, 1, 1, 0]]
    content = {
        "x": words[:1],
        "y": classes[:1],
        "allx": words[:2],
        "ally": classes[:2],
        "tx": words[[3, 2]],
        "ty": classes[[3, 2]],
        "graph": {0: [1, 1, 0], 1: [0, 2], 2: [1, 3], 3: [2]},
        **changes,
    }
    for part, value in content.items():
        (raw / f"ind.cora.{part}").write_bytes(pickle.dumps(value, protocol=3))
    (raw / "ind.cora.test.index").write_text("3\n2\n")


def test_a_planetoid_file_is_read_in_the_order_of_its_test_nodes(tmp_path, monkeypatch):
    monkeypatch.setattr("graphprox.datasets.planetoid._NUM_VAL_NODES", 1)
    write_planetoid(tmp_path / "Cora" / "raw")
    dataset = load_dataset("Cora", data=tmp_path)
    assert np.array_equal(dataset.graph.x.toarray(), np.eye(4))
    assert dataset.graph.y.tolist() == [0, 1, 1, 0]
    assert dataset.graph.edges_once().tolist() == [[0, 1, 2], [1, 2, 3]]
    assert (dataset.graph.duplicates, dataset.graph.num_self_loops) == (1, 0)
    (split,) = dataset.splits["public"]
    assert (split.train.tolist(), split.val.tolist(), split.test.tolist()) == ([0], [1], [2, 3])


def test_a_planetoid_file_that_could_run_code_is_rejected(tmp_path):
    marker = tmp_path / "ran"
    write_planetoid(tmp_path / "Cora" / "raw", graph=Marker(marker))
    with pytest.raises(DatasetError, match=r"must contain only arrays and lists; it contains .*open, .* is rejected"):
        load_dataset("Cora", data=tmp_path)
    assert not marker.exists()


@pytest.mark.parametrize("damage", ["cut", "missing", "noise"])
def test_damaged_files_are_reported(tmp_path, damage):
    raw = tmp_path / "Cora" / "raw"
    write_planetoid(raw)
    file = raw / "ind.cora.allx"
    if damage == "missing":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:40] if damage == "cut" else b"\x93noise" * 9)
    with pytest.raises(DatasetError, match=r"the files of Cora in .*raw are incomplete or damaged: ."):
        load_dataset("Cora", data=tmp_path)
