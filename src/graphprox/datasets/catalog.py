"""The catalog of named data sets: sizes, folders, readers and downloaders."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from graphprox.datasets import readers
from graphprox.datasets.dataset import Splits
from graphprox.datasets.planetoid import read_planetoid
from graphprox.graph.graph import Graph


@dataclass(frozen=True)
class CatalogEntry:
    """A named data set.

    Parameters
    ----------
    name : str
        Name of the data set.
    nodes, edges, features, classes : int
        Sizes of the loaded graph; an undirected edge is counted once.
    splits : str
        Description of the public splits.
    folder : str
        Folder of the raw files in a data directory.
    read : callable
        Reader of the raw files, which returns the graph and its public splits.
    loader : tuple of str
        PyG's class, and its name for the data set, by which the files are downloaded.
    source : str
        Where the files come from, if they cannot be downloaded.
    about : str
        Short description.
    """

    name: str
    nodes: int
    edges: int
    features: int
    classes: int
    splits: str = "none"
    folder: str = ""
    read: Callable[[Path], tuple[Graph, Splits]] = readers.read_citation_npz
    loader: tuple[str, ...] = ()
    source: str = ""
    about: str = ""


_GEOM_GCN_SPLITS = "10 (48/32/20 %)"


def _planetoid(name: str, nodes: int, edges: int, features: int, classes: int, sizes: str, about: str) -> CatalogEntry:
    loader = ("Planetoid", name)
    return CatalogEntry(
        name, nodes, edges, features, classes, f"1 ({sizes})", f"{name}/raw", read_planetoid, loader, about=about
    )


def _coauthor(name: str, part: str, nodes: int, edges: int, features: int, classes: int) -> CatalogEntry:
    read, loader, about = readers.read_citation_npz, ("Coauthor", part), "authors, words of their papers"
    return CatalogEntry(name, nodes, edges, features, classes, "none", f"{part}/raw", read, loader, about=about)


def _webkb(name: str, nodes: int, edges: int) -> CatalogEntry:
    folder, about = f"{name.lower()}/raw", "web pages of a university, directed links"
    read, loader = readers.read_webkb, ("WebKB", name)
    return CatalogEntry(name, nodes, edges, 1703, 5, _GEOM_GCN_SPLITS, folder, read, loader, about=about)


def _airports(place: str, nodes: int, edges: int) -> CatalogEntry:
    name, folder, about = f"Airports-{place}", f"{place.lower()}/raw", "flights, classes by activity; identity features"
    return CatalogEntry(
        name, nodes, edges, nodes, 4, "none", folder, readers.read_airports, ("Airports", place), about=about
    )


def _facebook(name: str, nodes: int, edges: int, features: int) -> CatalogEntry:
    folder, about = f"{name.lower()}/raw", "Facebook of a university, profile fields"
    read, loader = readers.read_facebook, ("LINKXDataset", name.lower())
    return CatalogEntry(name, nodes, edges, features, 2, "none", folder, read, loader, about=about)


_ENTRIES = (
    _planetoid("Cora", 2708, 5278, 1433, 7, "140/500/1000", "citations, words"),
    _planetoid("CiteSeer", 3327, 4552, 3703, 6, "120/500/1000", "citations, words"),
    _planetoid("PubMed", 19717, 44324, 500, 3, "60/500/1000", "citations, TF-IDF"),
    CatalogEntry(
        name="DBLP",
        nodes=17716,
        edges=52867,
        features=1639,
        classes=4,
        folder="dblp/raw",
        read=readers.read_citation_npz,
        loader=("CitationFull", "DBLP"),
        about="citations, words",
    ),
    CatalogEntry(
        name="WikiCS",
        nodes=11701,
        edges=216123,
        features=300,
        classes=10,
        splits="20",
        folder="WikiCS/raw",
        read=readers.read_wikics,
        loader=("WikiCS",),
        about="articles and links, dense features; counts as published",
    ),
    CatalogEntry(
        name="BlogCatalog",
        nodes=5196,
        edges=171743,
        features=8189,
        classes=6,
        folder="blogcatalog/raw",
        read=readers.read_attributed,
        loader=("AttributedGraphDataset", "BlogCatalog"),
        about="bloggers, word counts",
    ),
    CatalogEntry(
        name="ACM",
        nodes=3025,
        edges=13128,
        features=1870,
        classes=3,
        splits="20, 40, 60 a class",
        folder="acm/raw",
        read=readers.read_citation_npz,
        source="github.com/EdisonLeeeee/GraphData, datasets/acm.npz (the data of github.com/zhumeiqiBUPT/AM-GCN)",
        about="papers with a common author, words",
    ),
    CatalogEntry(
        name="UAI",
        nodes=3067,
        edges=28314,
        features=4973,
        classes=19,
        splits="380, 760, 1140",
        folder="AM-GCN",
        read=readers.read_uai,
        source="github.com/zhumeiqiBUPT/AM-GCN, data/uai.zip",
        about="links, words; classes of very different sizes",
    ),
    _coauthor("CoauthorCS", "CS", 18333, 81894, 6805, 15),
    _webkb("Texas", 183, 325),
    _webkb("Cornell", 183, 298),
    CatalogEntry(
        name="Cornell-2021",
        nodes=183,
        edges=298,
        features=1703,
        classes=5,
        splits=_GEOM_GCN_SPLITS,
        folder="cornell-before-2022/cornell/raw",
        read=readers.read_webkb,
        source="github.com/graphdml-uiuc-jlu/geom-gcn at commit f1fc0d14, new_data/cornell and splits",
        about="Cornell's file before July 2022, whose features and labels are those of Texas",
    ),
    _webkb("Wisconsin", 251, 515),
    CatalogEntry(
        name="Actor",
        nodes=7600,
        edges=30019,
        features=932,
        classes=5,
        splits=_GEOM_GCN_SPLITS,
        folder="Actor/raw",
        read=readers.read_actor,
        loader=("Actor",),
        about="actors on the same page, directed",
    ),
    CatalogEntry(
        name="Chameleon-filtered",
        nodes=890,
        edges=8854,
        features=2325,
        classes=5,
        splits=_GEOM_GCN_SPLITS,
        folder="chameleon_filtered",
        read=readers.read_heterophilous,
        source="github.com/yandex-research/heterophilous-graphs, data/chameleon_filtered.npz",
        about="Wikipedia articles without duplicates, classes by traffic",
    ),
    _coauthor("Physics", "Physics", 34493, 247962, 8415, 5),
    CatalogEntry(
        name="Photo",
        nodes=7650,
        edges=119081,
        features=745,
        classes=8,
        folder="Photo/raw",
        read=readers.read_citation_npz,
        loader=("Amazon", "Photo"),
        about="goods bought together, words of reviews",
    ),
    _airports("USA", 1190, 13599),
    _airports("Brazil", 131, 1074),
    _airports("Europe", 399, 5995),
    CatalogEntry(
        name="soc-Epinions1",
        nodes=75877,
        edges=405739,
        features=21,
        classes=0,
        folder="soc-Epinions1",
        read=readers.read_epinions,
        source="github.com/adriacabeza/GraphClustering, data/soc-Epinions1.txt, gzipped (SNAP's, without directions)",
        about="who trusts whom; no features, so degree buckets",
    ),
    CatalogEntry(
        name="ca-AstroPh",
        nodes=18772,
        edges=198110,
        features=17,
        classes=0,
        folder="ca-AstroPh",
        read=readers.read_astroph,
        source="the Python package pgl 2.2.4, pgl/data/arXiv, as ca-AstroPh.txt.gz (SNAP's)",
        about="coauthors in astrophysics; no features, so degree buckets",
    ),
    _facebook("Cornell5", 18660, 790777, 4735),
    _facebook("Reed98", 962, 18812, 745),
)

CATALOG: dict[str, CatalogEntry] = {entry.name: entry for entry in _ENTRIES}
