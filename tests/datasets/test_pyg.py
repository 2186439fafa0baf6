from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from urllib.error import HTTPError, URLError

import numpy as np
import pytest
import scipy.sparse as sp
import torch
import torch_geometric.datasets
from torch_geometric.data import Data, HeteroData, InMemoryDataset

from graphprox import DatasetError, GraphError, ParameterError, load, load_dataset


class Several(InMemoryDataset):
    """A PyG data set that is generated, not downloaded."""

    graphs = (Data(x=torch.eye(2), edge_index=torch.tensor([[0], [1]])),)

    def __init__(self, root):
        super().__init__(root)
        self.load(self.processed_paths[0])

    @property
    def processed_file_names(self):
        return "data.pt"

    def process(self):
        self.save(list(self.graphs), self.processed_paths[0])


@pytest.fixture
def provide(monkeypatch, no_data):
    def provide(*graphs):
        made = type("Several", (Several,), {"graphs": graphs})
        if isinstance(graphs[0], HeteroData):
            made.load = lambda self, path: InMemoryDataset.load(self, path, HeteroData)
        monkeypatch.setattr(torch_geometric.datasets, "Several", made, raising=False)

    return provide


def test_any_pyg_class_can_be_loaded_by_name(provide):
    masks = {
        f"{part}_mask": torch.tensor(mask)
        for part, mask in zip(("train", "val", "test"), torch.eye(3).bool().tolist(), strict=True)
    }
    provide(Data(x=torch.eye(3), edge_index=torch.tensor([[0], [1]]), y=torch.tensor([0, 1, 1]), **masks))
    dataset = load_dataset("pyg:Several")
    assert (dataset.name, dataset.graph.num_nodes, dataset.graph.directed) == ("pyg:Several", 3, True)
    (split,) = dataset.splits["public"]
    assert (split.train.tolist(), split.val.tolist(), split.test.tolist()) == ([0], [1], [2])


def test_data_sets_of_several_graphs_are_rejected(provide):
    graph = Data(x=torch.eye(2), edge_index=torch.tensor([[0], [1]]))
    provide(graph, graph)
    with pytest.raises(DatasetError, match=r"must contain a single graph; pyg:Several contains 2"):
        load_dataset("pyg:Several")


def test_heterogeneous_graphs_are_rejected(provide):
    graph = HeteroData()
    graph["a"].x, graph["b"].x = torch.eye(2), torch.eye(2)
    graph["a", "to", "b"].edge_index = torch.tensor([[0], [1]])
    provide(graph)
    with pytest.raises(GraphError, match="to_homogeneous"):
        load_dataset("pyg:Several")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("pyg:NoSuchClass", "torch_geometric.datasets; it has no 'NoSuchClass'"),
        ("pyg:Planetoids:Cora", "it has no 'Planetoids': did you mean 'Planetoid'"),
        ("pyg:osp", "it has no 'osp'"),
        ("pyg:__loader__", "it has no '__loader__'"),
        ("pyg:ExplainerDataset", "needs no further arguments"),
        ("pyg:Amazon", "got none: write pyg:Amazon:NAME"),
        ("pyg:Actor:Film", "got 'Film': write pyg:Actor$"),
        ("pyg:Amazon:Foto", "a data set of PyG's Amazon; it has no 'Foto'"),
    ],
)
def test_an_invalid_name_is_rejected_with_the_correct_form(no_data, name, sentence):
    with pytest.raises(DatasetError, match=sentence):
        load_dataset(name)


def test_a_class_without_a_folder_is_loaded(no_data):
    assert load_dataset("pyg:KarateClub").graph.num_nodes == 34


# -- names that lead elsewhere --------------------------------------------------------------------------------------


def tree(folder):
    """Return the paths below a folder, with the bytes of the files."""
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.mark.parametrize("class_name", ["Planetoid", "TUDataset", "SNAPDataset"])
@pytest.mark.parametrize(
    "name", ["/etc", "../../x", "..", ".", "a/b", "a\\b", "x\0y", "~", " Cora", "é", "a" * 101, "/tmp/../etc", "$HOME"]
)
def test_a_name_cannot_lead_to_another_folder(no_data, tmp_path, class_name, name):
    before = tree(tmp_path)
    with pytest.raises(DatasetError, match="the name of a data set of PyG must be"):
        load_dataset(f"pyg:{class_name}:{name}")
    assert tree(tmp_path) == before


@pytest.mark.parametrize("name", ["../os", "os", "", "Planetoid/..", "Data", "torch_geometric", "x" * 5000])
def test_only_data_set_classes_can_be_named(no_data, tmp_path, name):
    before = tree(tmp_path)
    with pytest.raises(DatasetError, match="must name a data set class") as caught:
        load_dataset(f"pyg:{name}")
    assert len(str(caught.value)) < 300
    assert tree(tmp_path) == before


# -- a data directory -----------------------------------------------------------------------------------------------


def planetoid_files(folder, *, prefix="ind.tiny", **replaced):
    """Write the files of a Planetoid graph of 605 nodes, of which the last two are test nodes."""
    folder.mkdir(parents=True)
    x = sp.csr_matrix(np.eye(603, 3, dtype=np.float32))
    y = np.eye(2, dtype=np.int32)[np.arange(603) % 2]
    known, tested, graph = {"x": x[:3], "allx": x}, {"tx": x[:2], "ty": y[:2]}, {0: [1], 1: [0, 604], 604: [1]}
    contents = known | tested | {"y": y[:3], "ally": y, "graph": graph}
    for part, content in (contents | replaced).items():
        (folder / f"{prefix}.{part}").write_bytes(pickle.dumps(content))
    (folder / f"{prefix}.test.index").write_text("604\n603\n")
    return folder


class Trap:
    """Creates a directory when it is unpickled."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


class OtherTrap(Trap):
    """Creates a directory by a function that torch does not reject by its module alone."""

    def __reduce__(self):
        return shutil.copytree, (str(Path(__file__).parent), self.path)


def test_pickles_of_arrays_are_read_without_trust(no_data, tmp_path):
    planetoid_files(tmp_path / "data" / "Cora" / "raw", prefix="ind.cora")
    before = tree(tmp_path / "data")
    graph = load_dataset("pyg:Planetoid:Cora", data=tmp_path / "data").graph
    assert (graph.num_nodes, graph.num_edges) == (605, 2)
    assert tree(tmp_path / "data") == before
    assert not list(no_data.iterdir())


@pytest.mark.parametrize("part", ["x", "graph", "ally"])
def test_a_pickle_that_runs_code_is_rejected_unless_trusted(no_data, tmp_path, part):
    sprung = tmp_path / "SPRUNG"
    planetoid_files(tmp_path / "data" / "Cora" / "raw", prefix="ind.cora", **{part: Trap(sprung)})
    with pytest.raises(DatasetError, match=r"mkdir, which could run code, and is rejected") as caught:
        load("pyg:Planetoid:Cora", data=tmp_path / "data")
    assert "\n" not in str(caught.value)
    assert not sprung.exists()
    with pytest.raises(DatasetError, match="incomplete or damaged"):  # what it made is no array
        load("pyg:Planetoid:Cora", data=tmp_path / "data", trust_pickles=True)
    assert sprung.exists()


def test_a_sparse_matrix_with_indices_outside_of_it_is_rejected(no_data, tmp_path):
    bad = sp.csr_matrix(np.eye(603, 3, dtype=np.float32))
    bad.indices[1] = 2**30
    planetoid_files(tmp_path / "data" / "Cora" / "raw", prefix="ind.cora", allx=bad)
    with pytest.raises(DatasetError, match="incomplete or damaged: indices must be < 3"):
        load_dataset("pyg:Planetoid:Cora", data=tmp_path / "data")
    with pytest.raises(DatasetError, match="incomplete or damaged: indices must be < 3"):
        load_dataset("Cora", data=tmp_path / "data")


def shadowing(state, *, slots=None):
    """Return a pickle of a matrix with a given state."""
    text = pickle.dumps((state if slots is None else (state, slots)), protocol=3)
    return b"\x80\x03cscipy.sparse._csr\ncsr_matrix\n)\x81" + text[2:-1] + b"b."


@pytest.mark.parametrize(
    ("name", "way"),
    [("Cora", "attribute"), ("pyg:Planetoid:Cora", "attribute"), ("Cora", "slots"), ("Cora", "not arrays")],
)
def test_a_pickle_cannot_switch_off_the_check_of_a_matrix(no_data, tmp_path, name, way):
    bad = sp.csr_matrix(np.eye(603, 3, dtype=np.float32))
    bad.indices[1] = 2**30
    raw = planetoid_files(tmp_path / "data" / "Cora" / "raw", prefix="ind.cora")
    state, shadow = vars(bad), {"check_format": defaultdict}
    content = {
        "attribute": shadowing(state | shadow),
        "slots": shadowing(state, slots=shadow),
        "not arrays": shadowing(state | shadow | {"indices": bad.indices.tolist()}),
    }
    (raw / "ind.cora.allx").write_bytes(content[way])
    code = f"import graphprox\ntry:\n graphprox.load({name!r}, data={str(tmp_path / 'data')!r})\n"
    code += "except graphprox.DatasetError as error:\n print(error)\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "matri" in done.stdout or "indices must be < 3" in done.stdout


def test_planetoid_is_read_without_the_unpickler_of_pyg(no_data, tmp_path, monkeypatch):
    planetoid_files(tmp_path / "data" / "Cora" / "raw", prefix="ind.cora")
    trusted = load("pyg:Planetoid:Cora", data=tmp_path / "data", trust_pickles=True)
    monkeypatch.setattr(torch_geometric.datasets.Planetoid, "process", None)
    found = load("pyg:Planetoid:Cora", data=tmp_path / "data")
    for part in ("x", "y", "edge_index"):
        assert np.array_equal(getattr(found.graph, part), getattr(trusted.graph, part))
    for part in ("train", "val", "test"):
        assert np.array_equal(getattr(found.splits["public"][0], part), getattr(trusted.splits["public"][0], part))


def test_a_processed_file_in_the_cache_is_not_trusted(no_data, provide, tmp_path):
    provide(Data(x=torch.eye(2), edge_index=torch.tensor([[0], [1]])))
    load_dataset("pyg:Several")
    processed = no_data / "pyg" / "Several" / "processed" / "data.pt"
    torch.save(OtherTrap(tmp_path / "SPRUNG"), processed)
    with pytest.raises(DatasetError, match="copytree, which could run code, and is rejected"):
        load_dataset("pyg:Several")
    torch.save(Trap(tmp_path / "SPRUNG"), processed)
    with pytest.raises(DatasetError, match="incomplete or damaged: Weights only load failed"):
        load_dataset("pyg:Several", trust_pickles=True)  # PyG has a list of its own
    assert not (tmp_path / "SPRUNG").exists()
    processed.write_bytes(b"junk")
    with pytest.raises(DatasetError, match="are incomplete or damaged"):
        load_dataset("pyg:Several")


class Writer(Several):
    """A loader that writes to a raw file."""

    @property
    def raw_file_names(self):
        return "raw.txt"

    def download(self):
        raise URLError("no network")

    def process(self):
        with Path(self.raw_paths[0]).open("a") as file:
            file.write("more")


def test_a_loader_cannot_write_to_the_data_directory(no_data, tmp_path, monkeypatch):
    monkeypatch.setattr(torch_geometric.datasets, "Writer", Writer, raising=False)
    raw = tmp_path / "data" / "Writer" / "raw"
    raw.mkdir(parents=True)
    (raw / "raw.txt").write_text("as it was")
    with pytest.raises(DatasetError, match="is only read; the loader of pyg:Writer tried to write"):
        load_dataset("pyg:Writer", data=tmp_path / "data")
    assert (raw / "raw.txt").read_text() == "as it was"


# -- causes of errors -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (URLError("unreachable"), "cannot be downloaded .*: connect to the network"),
        (HTTPError("http://x", 404, "Not Found", {}, None), "not on its server, which answers .*404.*: check the name"),
        (OSError(28, "No space left on device"), "cannot be saved in .*No space left on device"),
    ],
    ids=["network", "server", "disk"],
)
def test_a_failed_download_is_named_by_its_cause(no_data, monkeypatch, failure, sentence):
    def download(_):
        raise failure

    monkeypatch.setattr(torch_geometric.datasets, "Writer", type("Writer", (Writer,), {"download": download}), False)
    with pytest.raises(DatasetError, match=sentence):
        load_dataset("pyg:Writer")


def test_missing_and_damaged_files_of_a_data_directory_are_named(no_data, tmp_path):
    raw = planetoid_files(tmp_path / "data" / "Cora" / "raw", prefix="ind.cora")
    (raw / "ind.cora.ty").unlink()
    with pytest.raises(DatasetError, match=r"Cora/raw must contain .*; it lacks ind\.cora\.ty: copy them there"):
        load_dataset("pyg:Planetoid:Cora", data=tmp_path / "data")
    (raw / "ind.cora.ty").write_bytes(b"junk")
    with pytest.raises(DatasetError, match=r"the files of pyg:Planetoid:Cora in .* are incomplete or damaged"):
        load_dataset("pyg:Planetoid:Cora", data=tmp_path / "data")


@pytest.mark.parametrize("name", ["synthetic", "Cora", "edges.csv"])
def test_trust_is_rejected_where_there_are_no_pickles(no_data, name):
    with pytest.raises(ParameterError, match="can only be set for a data set of pyg:"):
        load(name, trust_pickles=True)


def test_the_text_of_a_table_is_not_evaluated(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    raw = tmp_path / "data" / "email-Eu" / "transductive" / "raw"
    raw.mkdir(parents=True)
    cell = f"__import__('os').mkdir({str(tmp_path / 'SPRUNG')!r}) or [0]"
    for name in ("train_df.csv", "val_df.csv", "test_df.csv"):
        (raw / name).write_text(f'nodes,timestamp\n"{cell}",1\n')
    with pytest.raises(DatasetError, match="evaluates one as Python code"):
        load("pyg:CornellTemporalHyperGraphDataset:email-Eu", data=tmp_path / "data")
    assert not (tmp_path / "SPRUNG").exists()
