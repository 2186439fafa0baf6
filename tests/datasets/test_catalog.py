"""Every available data set equals the published counts and PyG's graph of the same files."""

from __future__ import annotations

import gzip
import itertools
import tomllib
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from graphprox import CATALOG, StructuralFeaturesWarning, edge_homophily, load_dataset
from graphprox.datasets.source import find_raw_folder

PUBLISHED = tomllib.loads(Path(__file__).with_name("published.toml").read_text())
PYG = {
    "Cora": "pyg:Planetoid:Cora",
    "CiteSeer": "pyg:Planetoid:CiteSeer",
    "PubMed": "pyg:Planetoid:PubMed",
    "DBLP": "pyg:CitationFull:DBLP",
    "BlogCatalog": "pyg:AttributedGraphDataset:BlogCatalog",
    "CoauthorCS": "pyg:Coauthor:CS",
    "Texas": "pyg:WebKB:Texas",
    "Cornell": "pyg:WebKB:Cornell",
    "Wisconsin": "pyg:WebKB:Wisconsin",
    "Actor": "pyg:Actor",
    "Airports-USA": "pyg:Airports:USA",
    "Airports-Brazil": "pyg:Airports:Brazil",
    "Airports-Europe": "pyg:Airports:Europe",
    "Photo": "pyg:Amazon:Photo",
    "Cornell5": "pyg:LINKXDataset:cornell5",
    "Reed98": "pyg:LINKXDataset:reed98",
}


@pytest.fixture(scope="module")
def load(data):
    loaded = {}

    def load_once(name):
        if name not in loaded:
            if find_raw_folder(CATALOG[name], data) is None:
                pytest.skip(f"{name} is not in {data}")
            with warnings.catch_warnings(action="ignore", category=StructuralFeaturesWarning):
                loaded[name] = load_dataset(name, data=data)
        return loaded[name]

    return load_once


@pytest.mark.parametrize("name", CATALOG)
def test_counts_equal_the_catalog(load, name):
    graph, entry = load(name).graph, CATALOG[name]
    found = (graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes)
    assert found == (entry.nodes, entry.edges, entry.features, entry.classes)


@pytest.mark.parametrize("name", [*PUBLISHED["loaded"], *PUBLISHED["listed"]])
def test_counts_equal_those_of_pyg_or_of_the_files(load, name):
    published, graph = (PUBLISHED["loaded"] | PUBLISHED["listed"])[name], load(name).graph
    both_ways = graph.to_undirected() if graph.directed else graph
    # PyG stores the edges of the airports in one direction, as in the files.
    entries = graph.num_edges if name.startswith("Airports") else graph.num_entries
    assert [graph.num_nodes, entries, both_ways.num_edges, graph.num_features, graph.num_classes] == published


@pytest.mark.parametrize("name", PUBLISHED["paper"])
def test_counts_equal_the_paper(load, name):
    nodes, edges, features, classes = PUBLISHED["paper"][name]
    graph = load(name).graph
    both_ways = graph.to_undirected() if graph.directed else graph
    # The paper reports the raw citation counts of Planetoid; without duplicates and self-loops they are these.
    edges = PUBLISHED["without_duplicates"].get(name, edges)
    assert [graph.num_nodes, both_ways.num_edges, graph.num_features, graph.num_classes] == [
        nodes,
        edges,
        features,
        classes,
    ]


@pytest.mark.parametrize("name", PUBLISHED["homophily"])
def test_homophily_equals_the_paper(load, name):
    assert edge_homophily(load(name).graph) == pytest.approx(PUBLISHED["homophily"][name], abs=5e-4)


@pytest.mark.parametrize("name", PUBLISHED["splits"])
def test_public_splits_have_the_published_sizes(load, name):
    dataset = load(name)
    for protocol, sizes in PUBLISHED["splits"][name].items():
        found = [[len(each.train), len(each.val), len(each.test)] for each in dataset.splits[protocol]]
        assert found == sizes["count"] * [sizes["sizes"]]


@pytest.mark.parametrize("name", [*PYG, pytest.param("Physics", marks=pytest.mark.slow)])
def test_graphs_equal_those_of_pyg(load, data, name):
    ours, pyg = load(name), load_dataset(PYG.get(name, "pyg:Coauthor:Physics"), data=data)
    one, other = ours.graph, pyg.graph if ours.graph.directed else pyg.graph.to_undirected()
    assert np.array_equal(one.edge_index, other.edge_index)
    assert np.array_equal(one.y, other.y)
    # The largest dense copy takes 500 MB; the difference of two sparse matrices takes little memory.
    assert abs(one.x - sp.csr_array(other.x)).nnz == 0
    for split, expected in zip(ours.splits.get("public", ()), pyg.splits.get("public", ()), strict=True):
        for part in ("train", "val", "test"):
            assert np.array_equal(getattr(split, part), getattr(expected, part))


@pytest.mark.parametrize("name", CATALOG)
def test_bag_of_words_features_are_sparse(load, name):
    assert load(name).graph.has_sparse_features == (name != "WikiCS")


def test_the_old_cornell_file_has_the_features_of_texas(load):
    old, current, texas = (load(name).graph for name in ("Cornell-2021", "Cornell", "Texas"))
    assert np.array_equal(old.y, texas.y)
    assert abs(old.x - texas.x).nnz == 0
    assert not np.array_equal(current.y, texas.y)


def test_acm_equals_its_published_text_files(load, data):
    import zipfile

    published = data / "AM-GCN" / "acm.zip"
    if not published.exists():
        pytest.skip(f"AM-GCN's text is not in {data}")
    graph = load("ACM").graph
    with zipfile.ZipFile(published) as archive:
        x, y, edges = (
            np.loadtxt(archive.open(f"acm/{part}"), dtype=np.int64)
            for part in ("acm.feature", "acm.label", "acm_PAP.edge")
        )
    assert np.array_equal(graph.x.toarray(), x)
    assert np.array_equal(graph.y, y)
    pairs = {tuple(sorted(pair)) for pair in edges.tolist() if pair[0] != pair[1]}
    assert pairs == set(map(tuple, graph.edges_once().T.tolist()))


def test_uai_equals_its_published_text_files(load, data):
    import zipfile

    dataset = load("UAI")
    with zipfile.ZipFile(find_raw_folder(CATALOG["UAI"], data) / "uai.zip") as archive:
        lines = {name: archive.read(name).decode().splitlines() for name in archive.namelist()}
    graph = dataset.graph
    assert graph.y.tolist() == [int(line) for line in lines["uai/uai.label"]]
    assert set(map(tuple, graph.edge_index.T.tolist())) == {
        tuple(map(int, line.split())) for line in lines["uai/uai.edge"]
    }
    assert graph.num_self_loops == 6
    words = [[column for column, cell in enumerate(line.split()) if cell == "1"] for line in lines["uai/uai.feature"]]
    assert [graph.x.indices[start:stop].tolist() for start, stop in itertools.pairwise(graph.x.indptr)] == words
    for size in (20, 40, 60):
        (split,) = dataset.splits[f"train{size}"]
        assert split.train.tolist() == sorted(map(int, lines[f"uai/train{size}.txt"]))
        assert split.test.tolist() == sorted(map(int, lines[f"uai/test{size}.txt"]))


def test_filtered_chameleon_equals_its_published_arrays(load, data):
    dataset = load("Chameleon-filtered")
    with np.load(
        find_raw_folder(CATALOG["Chameleon-filtered"], data) / "chameleon_filtered.npz", allow_pickle=False
    ) as arrays:
        assert np.array_equal(dataset.graph.x.toarray(), arrays["node_features"])
        assert np.array_equal(dataset.graph.y, arrays["node_labels"])
        listed = np.sort(arrays["edges"], axis=1)
        masks = {part: arrays[f"{part}_masks"] for part in ("train", "val", "test")}
    assert np.array_equal(dataset.graph.edges_once().T, np.unique(listed, axis=0))
    assert len(dataset.splits["public"]) == 10
    for number, split in enumerate(dataset.splits["public"]):
        for part, mask in masks.items():
            assert np.array_equal(getattr(split, part), np.flatnonzero(mask[number]))
        # The sizes differ between splits, but every node is in one part.
        assert len(split.train) + len(split.val) + len(split.test) == dataset.graph.num_nodes


def test_astroph_has_the_ids_and_self_loops_of_its_file(load, data):
    graph = load("ca-AstroPh").graph
    with gzip.open(find_raw_folder(CATALOG["ca-AstroPh"], data) / "ca-AstroPh.txt.gz", "rt") as file:
        listed = {tuple(map(int, line.split())) for line in file if not line.startswith("#")}
    assert set(map(tuple, graph.ids[graph.edge_index].T.tolist())) == listed
    assert graph.num_self_loops == 60


def test_the_data_directory_is_not_modified(load, data):
    before = sorted(path for path in data.rglob("*"))
    load_dataset("pyg:WebKB:Texas", data=data)
    load_dataset("Texas", data=data)
    assert sorted(path for path in data.rglob("*")) == before
