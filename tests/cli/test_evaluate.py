"""graphprox evaluate and holdout, as users call them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from graphprox import (
    StructuralFeaturesWarning,
    edge_split,
    load,
    random_split,
    read_embedding,
    read_graph,
    synthetic,
    write_embedding,
)
from graphprox.evaluation.clustering import cluster
from graphprox.evaluation.compat import compat_probe, compat_split
from graphprox.evaluation.links import link_scores, score_links
from graphprox.evaluation.probe import probe
from graphprox.evaluation.similar import similarity_scores

GRAPH = "synthetic:nodes=300"


@pytest.fixture(scope="module")
def graph():
    return synthetic(nodes=300)


@pytest.fixture
def emb(graph, tmp_path):
    write_embedding(tmp_path / "emb.parquet", graph.x, graph.ids)
    return tmp_path / "emb.parquet"


# -- what is measured -----------------------------------------------------------------------------------------------


def test_classification_is_the_probe_on_each_split(run, graph, emb):
    code, out, err = run("evaluate", GRAPH, "--embedding", emb, "--splits", 3, "--first-split", 5, "--json")
    said = json.loads(out)
    scores = [probe(graph.x, graph.y, random_split(graph, seed=seed)) for seed in (5, 6, 7)]
    assert (code, err) == (0, "")
    assert {name: said[name] for name in ("graph", "embedding", "task", "protocol", "splits", "first_split")} == {
        "graph": GRAPH,
        "embedding": str(emb),
        "task": "classification",
        "protocol": "random",
        "splits": 3,
        "first_split": 5,
    }
    assert said["runs"] == [vars(score) for score in scores]
    accuracies = [score.accuracy for score in scores]
    assert said["mean"]["accuracy"] == pytest.approx(np.mean(accuracies))
    assert said["deviation"]["accuracy"] == pytest.approx(np.std(accuracies))
    assert set(said["mean"]) == {"accuracy", "macro_f1", "validation_accuracy"}


def test_compat_is_the_other_probe(run, graph, emb):
    _, out, _ = run("evaluate", GRAPH, "--embedding", emb, "--protocol", "compat", "--splits", 1, "--json")
    assert json.loads(out)["runs"] == [vars(compat_probe(graph.x, graph.y, compat_split(graph, seed=0)))]


def test_clustering_and_similarity_need_no_split(run, graph, emb):
    _, out, _ = run("evaluate", GRAPH, "--embedding", emb, "--task", "clustering", "--seed", 2, "--json")
    assert json.loads(out)["runs"] == [vars(cluster(graph.x, graph.y, seed=2))]
    _, out, _ = run("evaluate", GRAPH, "--embedding", emb, "--task", "similarity", "--json")
    scores = similarity_scores(graph.x, graph.y)
    assert json.loads(out)["mean"] == {"sim@5": scores[5], "sim@10": scores[10]}


def test_public_splits_of_cora(run, data, tmp_path):
    cora = load("Cora", data=data)
    write_embedding(tmp_path / "emb.npy", cora.graph.x.toarray()[:, :100])
    code, out, _ = run(
        "evaluate", "Cora", "--data", data, "--embedding", tmp_path / "emb.npy", "--protocol", "public", "--json"
    )
    expected = probe(cora.graph.x.toarray()[:, :100], cora.graph.y, cora.splits["public"][0])
    assert (code, json.loads(out)["runs"]) == (0, [vars(expected)])


def test_figures_are_shown_as_people_read_them(run, emb):
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
def test_an_embedding_may_come_in_any_format(run, graph, emb, tmp_path, name):
    order = np.arange(300) if name.endswith(".npy") else np.random.default_rng(0).permutation(300)
    if name.endswith(".npz"):
        np.savez(tmp_path / name, embedding=graph.x[order], ids=order)
    else:
        write_embedding(tmp_path / name, graph.x[order], order)
    _, expected, _ = run("evaluate", GRAPH, "--embedding", emb, "--splits", 1, "--json")
    code, out, err = run("evaluate", GRAPH, "--embedding", tmp_path / name, "--splits", 1, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["mean"] == pytest.approx(json.loads(expected)["mean"], abs=0.01)


def test_files_of_ones_own_are_joined_by_id(run, graph, tmp_path):
    names = np.array([f"p{each:03}" for each in range(300)], dtype=object)
    edges = "".join(f"{names[a]},{names[b]}\n" for a, b in graph.edges_once().T)
    (tmp_path / "edges.csv").write_text("source,target\n" + edges)
    (tmp_path / "y.csv").write_text("id,label\n" + "".join(f"{names[i]},c{graph.y[i]}\n" for i in range(290)))
    order = np.random.default_rng(0).permutation(297)  # the last three have no vector
    write_embedding(tmp_path / "emb.txt", graph.x[order], names[order])
    files = [tmp_path / "edges.csv", "--labels", tmp_path / "y.csv", "--embedding", tmp_path / "emb.txt"]
    code, out, err = run("evaluate", *files, "--task", "similarity", "--json")
    expected = similarity_scores(graph.x[:290], graph.y[:290])
    assert code == 0
    assert json.loads(out)["mean"]["sim@5"] == pytest.approx(expected[5])
    assert err == (
        f"warning: {tmp_path}/emb.txt has no vector for 3 of 300 nodes, such as 'p297', 'p298', 'p299': "
        "vectors of zeros stand in\n"
    )


# -- links ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def rest(run, tmp_path, no_data):
    """What holdout leaves of the graph, and an embedding of it."""
    code, out, err = run("holdout", GRAPH, "--seed", 4, "--out", tmp_path / "rest.npz")
    assert (code, err) == (0, "")
    assert out == (
        f"{tmp_path}/rest.npz: 300 nodes, 1,020 of 1,200 edges; 60 pairs to validate and 120 to test are held out, "
        "by seed 4\n"
    )
    small = ["--set", "encoder.width=8", "--set", "head.width=8", "--set", "views.k_max=3", "--device", "cpu"]
    code, _, _ = run("embed", tmp_path / "rest.npz", "--steps", 2, *small, "--out", tmp_path / "rest.parquet")
    assert code == 0
    return tmp_path / "rest.parquet"


def test_links_go_from_holdout_through_embed_to_evaluate(run, graph, rest):
    split = edge_split(graph, seed=4)
    code, out, err = run("evaluate", GRAPH, "--embedding", rest, "--task", "links", "--seed", 4, "--json")
    vectors = read_embedding(rest).vectors
    assert code == 0
    assert json.loads(out)["runs"] == [link_scores(vectors, split)]
    assert json.loads(out)["mean"] == link_scores(vectors, split)  # every figure has a name to be shown by
    assert err == (
        "note: the embedding should be of what `graphprox holdout` writes for this graph, with the same options and "
        "--seed 4: one that has seen the held-out edges measures nothing\n"
    )


def test_no_held_out_edge_is_in_the_file(graph, rest):
    left = read_graph(rest.with_name("rest.npz"))
    split = edge_split(graph, seed=4)
    assert left.y is None
    assert np.array_equal(left.x, graph.x)
    present = set(map(tuple, left.edges_once().T.tolist()))
    for held in (split.validation_edges, split.test_edges):
        assert not present & set(map(tuple, held.T.tolist()))


def test_shares_may_be_chosen(run, graph, emb, tmp_path, no_data):
    shares = ["--validation", 0.1, "--test", 0.2, "--json"]
    _, out, _ = run("holdout", GRAPH, "--out", tmp_path / "rest.npz", *shares)
    assert json.loads(out) == {
        "file": str(tmp_path / "rest.npz"),
        "seed": 0,
        "directed": False,
        "nodes": 300,
        "edges": 1200,
        "kept": 840,
        "validation": 120,
        "test": 240,
    }
    _, out, _ = run("evaluate", GRAPH, "--embedding", emb, "--task", "links", *shares)
    split = edge_split(graph, seed=0, validation=0.1, test=0.2)
    assert json.loads(out)["mean"]["auc"] == score_links(graph.x, split.test_edges, split.test_non_edges).auc


def test_a_directed_graph_says_how_to_be_read(run, tmp_path, no_data):
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(f"{i},{(i * 7 + 1) % 40}\n" for i in range(40)))
    code, out, err = run("holdout", tmp_path / "edges.csv", "--directed", "--out", tmp_path / "rest.npz")
    assert (code, err) == (0, "")
    assert out.endswith("; it must be read with --directed, as the file does not say so\n")
    with pytest.warns(StructuralFeaturesWarning):
        assert read_graph(tmp_path / "rest.npz", directed=True).num_edges == 36


# -- the page -------------------------------------------------------------------------------------------------------


PAGE = (Path(__file__).parents[2] / "docs" / "evaluation.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_commands_of_the_page_print_what_it_shows(tmp_path, monkeypatch, no_data):
    monkeypatch.chdir(tmp_path)
    for block in blocks("console"):
        for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, flags=re.MULTILINE):
            program, *arguments = command.split()
            done = subprocess.run(
                [Path(sys.executable).with_name(program), *arguments],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=True,
            )
            assert unmeasured(done.stdout) == unmeasured(shown)


def test_the_python_of_the_page_runs(no_data):
    names: dict[str, object] = {}
    for block in blocks("python"):
        exec(compile(block, "evaluation.md", "exec"), names)
    assert set(names["similar"]) == {5, 10}


def unmeasured(text: str) -> list[list[str]]:
    """The words without what is measured, which differs in its last digits from machine to machine."""
    return [re.sub(r"loss [\d.]+|[\d.]+ s\b|[\d.]+( ± [\d.]+)? %", "?", line).split() for line in text.splitlines()]


# -- mistakes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--task", "art"], "--task must be one of classification, links, clustering, similarity; got 'art'"),
        (["--protocol", "privat"], "--protocol must be one of random, public, compat, descent; got 'privat'"),
        (["--protocol", "public"], f"public splits need a data set that has some; {GRAPH} has none"),
        (["--protocol", "public", "--splits", "3"], "--splits and --first-split must be left out with public"),
        (["--task", "links", "--splits", "3"], "--splits must go with --task classification; got it with --task links"),
        (["--task", "similarity", "--seed", "3"], "--seed must go with --task links or clustering"),
        (["--first-split", "3", "--task", "clustering"], "--first-split must go with --task classification"),
        (["--test", "0.2"], "--test must go with --task links; got it with --task classification"),
        (["--task", "links", "--test", "1.2"], "test must lie in (0, 1)"),
        (["--embedding", "none.npy"], "none.npy does not exist"),
        (["--embedding", "emb.doc"], "the ending of an embedding's file must be one of"),
    ],
)
def test_mistakes_get_one_sentence(run, emb, arguments, sentence):
    code, out, err = run("evaluate", GRAPH, "--embedding", emb, *arguments)
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.splitlines()[-1].startswith("error: ")


@pytest.mark.parametrize("task", ["classification", "clustering", "similarity"])
def test_labels_are_needed_to_measure_by_them(run, emb, tmp_path, task):
    (tmp_path / "edges.csv").write_text("source,target\n0,1\n1,2\n")
    code, _, err = run("evaluate", tmp_path / "edges.csv", "--embedding", emb, "--task", task)
    assert (code, err) == (
        2,
        f"error: {task} needs a graph with labels; {tmp_path}/edges.csv has none: give --labels FILE\n",
    )


def test_an_embedding_of_something_else_is_told(run, graph, tmp_path):
    write_embedding(tmp_path / "emb.npy", graph.x[:-1])
    code, _, err = run("evaluate", GRAPH, "--embedding", tmp_path / "emb.npy")
    assert (code, err.count("\n")) == (2, 1)
    assert "it must have a row for each of the 300 that are given; it has 299" in err
    write_embedding(tmp_path / "emb.csv", graph.x, [f"node {each}" for each in range(300)])
    code, _, err = run("evaluate", GRAPH, "--embedding", tmp_path / "emb.csv")
    assert (code, err.count("\n")) == (2, 1)
    assert "has none for 300 of 300, such as 0, 1, 2: its ids are such as 'node 0', 'node 1', 'node 2'" in err


def test_holdout_writes_npz_alone(run, tmp_path, no_data):
    code, _, err = run("holdout", GRAPH, "--out", tmp_path / "rest.csv")
    assert (code, err) == (2, "error: the ending of a graph without held-out edges must be .npz; got 'rest.csv'\n")
    code, _, err = run("holdout", GRAPH, "--out", tmp_path / "rest.npz", "--test", 0.99)
    assert code == 2
    assert "validation + test must stay below 1" in err
    assert list(tmp_path.glob("rest*")) == []


def test_neither_torch_nor_scikit_learn_is_imported_before_it_is_needed():
    code = "import sys, graphprox.cli; print([name for name in ('torch', 'sklearn') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
