"""graphprox evaluate and holdout.

Covers graphprox.cli.holdout.
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings

import numpy as np
import pytest
import torch

from graphprox import (
    Graph,
    StructuralFeaturesWarning,
    edge_split,
    load,
    read_embedding,
    read_graph,
    synthetic,
    write_embedding,
)
from graphprox.evaluation import classify, classify_multilabel, clustering, link_prediction, similarity
from graphprox.graph.structural import has_structural_features

GRAPH = "synthetic:nodes=300"


@pytest.fixture(scope="module")
def graph():
    return synthetic(nodes=300)


@pytest.fixture
def emb(graph, tmp_path):
    write_embedding(tmp_path / "emb.parquet", graph.x, graph.ids)
    return tmp_path / "emb.parquet"


# -- scores ---------------------------------------------------------------------------------------------------------


def test_classification_prints_the_scores_of_each_split(run, graph, emb):
    code, out, err = run("evaluate", GRAPH, "--embedding", emb, "--splits", 3, "--first-split", 5, "--json")
    printed = json.loads(out)
    scores = classify(graph, graph.x, n_splits=3, random_state=5)
    assert (code, err) == (0, "")
    assert {name: printed[name] for name in ("graph", "embedding", "task", "protocol", "splits", "first_split")} == {
        "graph": GRAPH,
        "embedding": str(emb),
        "task": "classification",
        "protocol": "random",
        "splits": 3,
        "first_split": 5,
    }
    assert printed["scores"] == scores.to_dict()
    assert printed["mean"]["accuracy"] == scores.mean
    assert printed["std"]["accuracy"] == scores.std
    assert set(printed["mean"]) == {"accuracy", "macro_f1", "val_accuracy"}


def test_the_protocol_selects_splits_and_probe(run, graph, emb, two_penalties):
    _, out, _ = run("evaluate", GRAPH, "--embedding", emb, "--protocol", "grace", "--splits", 1, "--json")
    assert json.loads(out)["scores"] == classify(graph, graph.x, protocol="grace", n_splits=1).to_dict()


def test_clustering_and_similarity_need_no_split(run, graph, emb):
    _, out, _ = run("evaluate", GRAPH, "--embedding", emb, "--task", "clustering", "--seed", 2, "--json")
    assert json.loads(out)["mean"] == clustering(graph, graph.x, random_state=2).to_dict()
    _, out, _ = run("evaluate", GRAPH, "--embedding", emb, "--task", "similarity", "--json")
    assert json.loads(out)["mean"] == similarity(graph, graph.x).to_dict()


def test_public_splits_of_cora(run, data, tmp_path):
    cora = load("Cora", data=data)
    vectors = cora.graph.x.toarray()[:, :100]
    write_embedding(tmp_path / "emb.npy", vectors)
    code, out, _ = run(
        "evaluate", "Cora", "--data", data, "--embedding", tmp_path / "emb.npy", "--protocol", "public", "--json"
    )
    assert (code, json.loads(out)["scores"]) == (0, classify(cora, vectors, protocol="public").to_dict())


def test_scores_are_printed_in_percent(run, emb):
    code, out, err = run("evaluate", GRAPH, "--embedding", emb, "--splits", 2)
    title, *rows = out.splitlines()
    assert (code, err) == (0, "")
    assert title == f"{emb}: classification on {GRAPH}, random, 2 splits from seed 0"
    assert [row.split("  ")[0].strip() for row in rows] == ["accuracy", "macro F1", "accuracy, validation"]
    assert all("±" in row and row.endswith("%") for row in rows)
    _, out, _ = run("evaluate", GRAPH, "--embedding", emb, "--task", "clustering")
    title, *rows = out.splitlines()
    assert title == f"{emb}: clustering on {GRAPH}, seed 0"
    assert [row.split()[0] for row in rows] == ["NMI", "ARI", "accuracy"]
    assert "±" not in out


@pytest.mark.parametrize("name", ["emb.npy", "emb.csv", "emb.txt", "emb.tsv", "emb.npz"])
def test_every_format_of_embeddings_is_read(run, graph, emb, tmp_path, name):
    order = np.arange(300) if name.endswith(".npy") else np.random.default_rng(0).permutation(300)
    if name.endswith(".npz"):
        np.savez(tmp_path / name, embedding=graph.x[order], ids=order)
    else:
        write_embedding(tmp_path / name, graph.x[order], order)
    _, expected, _ = run("evaluate", GRAPH, "--embedding", emb, "--splits", 1, "--json")
    code, out, err = run("evaluate", GRAPH, "--embedding", tmp_path / name, "--splits", 1, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["mean"] == pytest.approx(json.loads(expected)["mean"], abs=0.01)


def test_embedding_and_labels_from_files_are_aligned_by_id(run, graph, tmp_path):
    names = np.array([f"p{each:03}" for each in range(300)], dtype=object)
    edges = "".join(f"{names[a]},{names[b]}\n" for a, b in graph.edges_once().T)
    (tmp_path / "edges.csv").write_text("source,target\n" + edges)
    (tmp_path / "y.csv").write_text("id,label\n" + "".join(f"{names[i]},c{graph.y[i]}\n" for i in range(290)))
    order = np.random.default_rng(0).permutation(297)  # the last three have no vector
    write_embedding(tmp_path / "emb.txt", graph.x[order], names[order])
    files = [tmp_path / "edges.csv", "--labels", tmp_path / "y.csv", "--embedding", tmp_path / "emb.txt"]
    code, out, err = run("evaluate", *files, "--task", "similarity", "--json")
    known = graph.with_labels(np.where(np.arange(300) < 290, graph.y, -1))
    expected = similarity(known, graph.x)
    assert code == 0
    assert json.loads(out)["mean"]["sim@5"] == pytest.approx(expected[5])
    assert err == (
        f"warning: {tmp_path}/emb.txt has no vector for 3 of 300 nodes, such as 'p297', 'p298', 'p299': "
        "zeros are used\n"
    )


# -- links ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def rest(run, tmp_path, no_data):
    """An embedding of the graph without its held-out edges."""
    code, out, err = run("holdout", GRAPH, "--seed", 4, "--out", tmp_path / "rest.npz")
    assert (code, err) == (0, "")
    assert out == (
        f"{tmp_path}/rest.npz: 300 nodes, 1,020 of 1,200 edges; 60 validation and 120 test pairs held out with seed 4\n"
    )
    small = [
        "--set",
        "encoder.n_components=8",
        "--set",
        "head.out_channels=8",
        "--set",
        "views.k_max=3",
        "--device",
        "cpu",
    ]
    options = ["--method", "ft-gcl", "--epochs", 2, *small, "--out", tmp_path / "rest.parquet"]
    code, _, _ = run("embed", tmp_path / "rest.npz", *options)
    assert code == 0
    return tmp_path / "rest.parquet"


def test_holdout_embed_and_evaluate_use_the_same_split(run, graph, rest):
    split = edge_split(graph, random_state=4)
    code, out, err = run("evaluate", GRAPH, "--embedding", rest, "--task", "links", "--seed", 4, "--json")
    vectors = read_embedding(rest).vectors
    assert code == 0
    assert json.loads(out)["mean"] == link_prediction(split, vectors).to_dict()
    assert err == (
        "note: the embedding should be that of the graph that `graphprox holdout` has written, with the same options "
        "and --seed 4: one that was trained on the held-out edges gives meaningless scores\n"
    )


def test_held_out_edges_are_not_in_the_file(graph, rest):
    left = read_graph(rest.with_name("rest.npz"))
    split = edge_split(graph, random_state=4)
    assert left.y is None
    assert np.array_equal(left.x, graph.x)
    present = set(map(tuple, left.edges_once().T.tolist()))
    for held_out in (split.val_edges, split.test_edges):
        assert not present & set(map(tuple, held_out.T.tolist()))


def test_shares_of_held_out_edges_are_options(run, graph, emb, tmp_path, no_data):
    shares = ["--val", 0.1, "--test", 0.2, "--json"]
    _, out, _ = run("holdout", GRAPH, "--out", tmp_path / "rest.npz", *shares)
    assert json.loads(out) == {
        "file": str(tmp_path / "rest.npz"),
        "seed": 0,
        "directed": False,
        "nodes": 300,
        "edges": 1200,
        "kept": 840,
        "val": 120,
        "test": 240,
    }
    _, out, _ = run("evaluate", GRAPH, "--embedding", emb, "--task", "links", *shares)
    split = edge_split(graph, random_state=0, val=0.1, test=0.2)
    assert json.loads(out)["mean"] == link_prediction(split, graph.x).to_dict()


def test_holdout_of_a_directed_graph_prints_how_to_read_it(run, tmp_path, no_data):
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(f"{i},{(i * 7 + 1) % 40}\n" for i in range(40)))
    code, out, err = run("holdout", tmp_path / "edges.csv", "--directed", "--out", tmp_path / "rest.npz")
    assert (code, err) == (0, "")
    assert out.endswith("; read it with --directed, which the file does not record\n")
    with pytest.warns(StructuralFeaturesWarning):
        assert read_graph(tmp_path / "rest.npz", directed=True).num_edges == 36


# -- errors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["--task", "art"],
            "--task must be one of classification, multilabel, links, clustering, similarity; got",
        ),
        (["--protocol", "privat"], "protocol must be one of random, public, grace, dgi; got 'privat'"),
        (["--protocol", "compat"], "got 'compat': it is now called 'grace'"),
        (["--protocol", "public"], f"public splits need a data set that has some; {GRAPH} has none"),
        (["--protocol", "public", "--splits", "3"], "--splits and --first-split must be left out with public"),
        (["--task", "links", "--splits", "3"], "--splits needs --task classification or multilabel; got --task links"),
        (["--task", "similarity", "--seed", "3"], "--seed needs --task links or clustering; got --task similarity"),
        (["--first-split", "3", "--task", "clustering"], "--first-split needs --task classification"),
        (["--test", "0.2"], "--test needs --task links; got --task classification"),
        (["--task", "links", "--test", "1.2"], "test must be a share between 0 and 1"),
        (["--embedding", "none.npy"], "none.npy does not exist"),
        (["--embedding", "emb.doc"], "the ending of an embedding file must be one of"),
    ],
)
def test_invalid_options_are_reported_in_one_sentence(run, emb, arguments, sentence):
    code, out, err = run("evaluate", GRAPH, "--embedding", emb, *arguments)
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.splitlines()[-1].startswith("error: ")


@pytest.mark.parametrize("task", ["classification", "clustering", "similarity"])
def test_labels_are_required(run, emb, tmp_path, task):
    (tmp_path / "edges.csv").write_text("source,target\n0,1\n1,2\n")
    code, _, err = run("evaluate", tmp_path / "edges.csv", "--embedding", emb, "--task", task)
    assert (code, err) == (
        2,
        f"error: {task} needs a graph with labels; {tmp_path}/edges.csv has none: give --labels FILE\n",
    )


def test_an_embedding_of_another_graph_is_rejected(run, graph, tmp_path):
    write_embedding(tmp_path / "emb.npy", graph.x[:-1])
    code, _, err = run("evaluate", GRAPH, "--embedding", tmp_path / "emb.npy")
    assert (code, err.count("\n")) == (2, 1)
    assert "it must have a row for each of the 300 given ids; it has 299" in err
    write_embedding(tmp_path / "emb.csv", graph.x, [f"node {each}" for each in range(300)])
    code, _, err = run("evaluate", GRAPH, "--embedding", tmp_path / "emb.csv")
    assert (code, err.count("\n")) == (2, 1)
    assert "has none for 300 of 300, such as 0, 1, 2: its ids are such as 'node 0', 'node 1', 'node 2'" in err


def test_holdout_writes_npz_only(run, tmp_path, no_data):
    code, _, err = run("holdout", GRAPH, "--out", tmp_path / "rest.csv")
    assert (code, err) == (2, "error: the suffix of a graph without held-out edges must be .npz; got 'rest.csv'\n")
    code, _, err = run("holdout", GRAPH, "--out", tmp_path / "rest.npz", "--test", 0.99)
    assert code == 2
    assert "--val + --test must be less than 1" in err
    assert list(tmp_path.glob("rest*")) == []


def test_neither_torch_nor_scikit_learn_is_imported_before_it_is_needed():
    code = "import sys, graphprox.cli; print([name for name in ('torch', 'sklearn') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("ending", [".csv", ".npz", ".pt"])
def test_holdout_of_a_graph_without_features_does_not_write_degrees_of_held_out_edges(run, tmp_path, no_data, ending):
    edges = np.random.default_rng(0).integers(1200, size=(2, 6000))
    path, rest = tmp_path / f"whole{ending}", tmp_path / "rest.npz"
    with warnings.catch_warnings(action="ignore", category=StructuralFeaturesWarning):
        graph = Graph(None, edges, num_nodes=1200)
        if ending == ".csv":
            np.savetxt(path, edges.T, fmt="%d", delimiter=",")
        elif ending == ".npz":
            np.savez(path, edge_index=graph.edge_index, x=graph.x.toarray())
        else:
            torch.save(graph.to_pyg(), path)
        code, _, err = run("holdout", path, "--out", rest)
        assert code == 0, err
        left = read_graph(rest)
    assert has_structural_features(left)


def test_two_classes_have_a_roc_auc(run, tmp_path, emb, graph, no_data):
    labels = tmp_path / "labels.csv"
    labels.write_text("id,label\n" + "".join(f"{i},{'odd' if y % 2 else 'even'}\n" for i, y in enumerate(graph.y)))
    edges = tmp_path / "edges.csv"
    np.savetxt(edges, graph.edges_once().T, fmt="%d", delimiter=",")
    command = ("evaluate", edges, "--labels", labels, "--embedding", emb, "--splits", 2)
    _, out, _ = run(*command)
    assert "ROC-AUC" in out
    _, out, _ = run(*command, "--json")
    expected = classify(graph.with_labels(graph.y % 2), graph.x, n_splits=2)
    assert json.loads(out)["scores"]["roc_auc"] == expected.roc_auc.tolist()


@pytest.mark.parametrize("separator", [None, ";"])
def test_groups_of_nodes_are_evaluated_as_in_python(run, tmp_path, emb, graph, no_data, separator):
    groups = np.column_stack([np.eye(7, dtype=bool)[graph.y], graph.y % 2 == 0])
    members = [[f"g{k}" for k in np.flatnonzero(row)] for row in groups]
    path = tmp_path / "groups.csv"
    path.write_text("id,group\n" + "".join(
        f"{i},{';'.join(each)}\n" if separator else "".join(f"{i},{name}\n" for name in each)
        for i, each in enumerate(members)
    ))  # fmt: skip
    options = () if separator is None else ("--separator", separator)
    command = ("evaluate", GRAPH, "--labels", path, "--embedding", emb, "--task", "multilabel", "--splits", 2)
    code, out, _ = run(*command, *options, "--train", 0.2, "--json")
    assert code == 0
    printed = json.loads(out)
    assert printed["scores"] == classify_multilabel(graph, graph.x, groups, train_size=0.2, n_splits=2).to_dict()
    assert printed["train"] == 0.2
    _, out, _ = run(*command, *options)
    assert "multilabel on" in out
    assert "50 % training nodes, 2 splits from seed 0" in out
    assert "micro F1" in out


@pytest.mark.parametrize(("task", "words"), [("classification", '--task multilabel --separator ";"'),
                                              ("multilabel", 'set --separator ";"')])  # fmt: skip
def test_a_forgotten_separator_is_proposed(run, tmp_path, emb, graph, no_data, task, words):
    path = tmp_path / "tags.csv"
    path.write_text("id,tags\n" + "".join(f"{i},t{y};{'odd' if i % 2 else 'even'}\n" for i, y in enumerate(graph.y)))
    edges = tmp_path / "edges.csv"
    np.savetxt(edges, graph.edges_once().T, fmt="%d", delimiter=",")
    command = ("evaluate", edges, "--labels", path, "--embedding", emb, "--splits", 1, "--task", task)
    code, _, err = run(*command)
    assert (code, words in err) == (0, True), err


def test_multilabel_needs_labels_and_its_options_need_it(run, emb, no_data):
    code, _, err = run("evaluate", GRAPH, "--embedding", emb, "--task", "multilabel")
    assert (code, "--task multilabel needs --labels FILE" in err) == (2, True)
    code, _, err = run("evaluate", GRAPH, "--embedding", emb, "--train", 0.2)
    assert (code, "--train needs --task multilabel; got --task classification" in err) == (2, True)


@pytest.mark.parametrize("database", [False, True])
def test_labels_of_several_groups_are_read_by_a_query(run, graph, emb, no_data, tmp_path, monkeypatch, database):
    monkeypatch.chdir(tmp_path)
    rows = [f"{i},{name}" for i, y in enumerate(graph.y) for name in ("all", f"c{y}")]
    (tmp_path / "groups.csv").write_text("id,label\n" + "\n".join(rows) + "\n")
    command = ("evaluate", GRAPH, "--embedding", emb, "--task", "multilabel", "--splits", 1, "--json")
    table, options = "'groups.csv'", ()
    if database:
        duckdb = pytest.importorskip("duckdb")
        with duckdb.connect("groups.duckdb") as made:
            made.execute("CREATE TABLE groups AS FROM 'groups.csv'")
        table, options = "groups", ("--database", "groups.duckdb")
    code, out, err = run(*command, "--labels", f"SELECT id, label FROM {table}", *options)
    assert (code, err) == (0, "")
    assert json.loads(out)["scores"] == json.loads(run(*command, "--labels", "groups.csv")[1])["scores"]
    code, _, err = run(*command, "--labels", "groups.csv", "--database", "groups.duckdb")
    assert code == 2


def test_an_invalid_share_of_training_nodes_is_reported_by_its_option(run, emb, no_data, tmp_path):
    (tmp_path / "groups.csv").write_text("id,label\n0,a\n1,b\n")
    labels = ("--labels", tmp_path / "groups.csv", "--task", "multilabel", "--train", 2)
    code, _, err = run("evaluate", GRAPH, "--embedding", emb, *labels)
    assert code == 2
    assert "--train must be a share between 0 and 1" in err
