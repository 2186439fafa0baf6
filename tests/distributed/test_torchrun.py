"""The program under torchrun: the results of one process, each sentence once, and an end to every failure.

Covers graphprox.cli.ranks and graphprox.cli.shared_embed.
"""

from __future__ import annotations

import json
import os
import signal
import time

import numpy as np
import pyarrow.parquet as pq
import pytest

from distributed.torchrun import find_ranks, finish, run, start, wait_for_epoch
from graphprox import AutoEmbedder, read_embedding, synthetic
from graphprox.io.folder.graph_folder import GraphFolder

FTGCL = ["--method", "ft-gcl", "--dim", "8", "--set", "encoder=sage", "--no-cache"]
LONG = ["embed", "synthetic:nodes=2000", *FTGCL, "--epochs", "150", "--model", "model", "--checkpoint-every", "5"]


def read_vectors(path):
    table = pq.read_table(path)
    return table["id"].to_numpy(), np.stack(table["vector"].to_numpy())


def assert_alike(path, expected):
    ids, vectors = read_vectors(path)
    expected_ids, expected_vectors = read_vectors(expected)
    np.testing.assert_array_equal(ids, expected_ids)
    np.testing.assert_allclose(vectors, expected_vectors, atol=1e-3 * np.abs(expected_vectors).max())


def test_two_processes_write_a_part_each_with_the_vectors_of_one(tmp_path):
    graph = ["embed", "synthetic", *FTGCL, "--epochs", "3"]
    code, out, sentences = run(2, *graph, "--out", "parts", "--json", folder=tmp_path)
    about = json.loads(out)  # printed once
    assert (code, sentences, about["nodes"], about["epochs"]) == (0, [], 840, 3)
    assert about["files"] == ["parts/part-00000.parquet", "parts/part-00001.parquet"]
    assert [pq.read_table(tmp_path / file).num_rows for file in about["files"]] == [420, 420]
    assert read_embedding(tmp_path / "parts").shape == (840, 8)
    code, _, _ = run(1, *graph, "--out", "one.parquet", folder=tmp_path)  # is not shared
    assert code == 0
    assert_alike(tmp_path / "parts", tmp_path / "one.parquet")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.parquet", "parts"]


def test_default_method_is_shared_and_the_first_process_writes_its_model(tmp_path):
    GraphFolder.create(tmp_path / "graph", synthetic(), num_parts=2)
    graph = ["embed", "graph", "--dim", "8", "--set", "keep=both"]
    code, out, sentences = run(
        2, *graph, "--out", "parts", "--model", "model", "--explain", "why.svg", "--json", folder=tmp_path
    )
    about = json.loads(out)
    assert (code, sentences, about["method"], about["selection"]["choice"]) == (0, [], "auto", "both")
    assert about["files"] == [*(f"parts/part-0000{rank}.parquet" for rank in range(2)), "why.svg"]
    expected = AutoEmbedder.load(tmp_path / "model").transform(synthetic())
    np.testing.assert_allclose(read_vectors(tmp_path / "parts")[1], expected, atol=1e-3)


@pytest.mark.slow
def test_file_has_the_vectors_of_all_processes(tmp_path):
    code, out, sentences = run(2, "embed", "synthetic", "--dim", "8", "--out", "v.npy", folder=tmp_path)
    assert (code, sentences) == (0, [])
    assert out.startswith("v.npy: 840 nodes, 8 components, by auto, ")
    expected = AutoEmbedder(n_components=8).fit(synthetic()).vectors_
    np.testing.assert_allclose(np.load(tmp_path / "v.npy"), expected, atol=1e-3)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["info", "synthetic"],
            "error: only embed can be shared by several processes; torchrun has started 2 for info: ",
        ),
        pytest.param(
            ["embed", "missing.csv", *FTGCL, "--out", "new/v.npy"],
            "error: missing.csv does not exist: check the name",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_error_of_the_user_is_printed_once(tmp_path, arguments, sentence):
    code, out, sentences = run(2, *arguments, folder=tmp_path)
    assert code != 0
    assert out == ""
    assert len(sentences) == 1
    assert sentences[0].startswith(sentence)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["embed", "synthetic", "--method", "dgi", "--out", "v.npy"],
            "error: several processes share the work of --method auto, ft-gcl and its family; got dgi: ",
        ),
        (
            ["embed", "synthetic", "--method", "grace", "--out", "v.npy"],
            "error: several processes need an objective that is a function of sums over nodes, such as channel; got ",
        ),
        (["embed", "synthetic", *FTGCL, "--out", "v.npy", "--dry-run"], "error: --dry-run forecasts the work of one "),
        (["embed", "synthetic", *FTGCL, "--out", "v.doc"], "error: the ending of an embedding file must be one of "),
        (["embed", "synthetic", *FTGCL, "--outt", "v.doc"], "error: graphprox embed has no option --outt; "),
    ],
)
def test_what_cannot_be_shared_is_refused_in_one_sentence(tmp_path, arguments, sentence):
    test_error_of_the_user_is_printed_once(tmp_path, arguments, sentence)


# -- failures -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_killed_process_is_started_again_and_resumes(tmp_path):
    agent = start(
        ["--standalone", "--nproc-per-node=2", "--max-restarts=2"], [*LONG, "--out", "several.parquet"], tmp_path
    )
    wait_for_epoch(tmp_path / "model", 30)
    os.kill(find_ranks(agent)[1], signal.SIGKILL)
    code, _, sentences = finish(agent)
    assert code == 0
    assert (
        any("no process may end before the others; process 1 of 2 did" in each for each in sentences) or sentences == []
    )
    epochs = [json.loads(line)["epoch"] for line in (tmp_path / "model" / "metrics.jsonl").read_text().splitlines()]
    assert epochs == list(range(1, 151))
    code, _, _ = run(1, *LONG[:-4], "--out", "one.parquet", folder=tmp_path)
    assert code == 0
    assert_alike(tmp_path / "several.parquet", tmp_path / "one.parquet")


@pytest.mark.slow
def test_process_that_hangs_ends_all_after_the_timeout_by_a_sentence(tmp_path):
    agent = start(
        ["--standalone", "--nproc-per-node=3"],
        [*LONG, "--out", "v.parquet"],
        tmp_path,
        variables={"GRAPHPROX_TIMEOUT": "4"},
    )
    wait_for_epoch(tmp_path / "model", 5)
    stopped = find_ranks(agent)[1]
    os.kill(stopped, signal.SIGSTOP)
    time.sleep(12)
    os.kill(stopped, signal.SIGCONT)  # else torchrun needs 30 seconds to end it
    code, _, sentences = finish(agent)
    assert code != 0
    expected = (
        "error: a process must answer within 4 s; process 1 of 3 did not: look for what holds it up, and start all"
    )
    assert len([each for each in sentences if each.startswith(expected)]) >= 2
    assert not (tmp_path / "v.parquet").exists()
    code, _, sentences = run(2, *LONG, "--resume", "--out", "v.parquet", folder=tmp_path)
    assert (code, sentences) == (0, [])


@pytest.mark.slow
def test_sigterm_to_torchrun_saves_what_was_trained(tmp_path):
    agent = start(["--standalone", "--nproc-per-node=2"], [*LONG, "--out", "v.parquet"], tmp_path)
    wait_for_epoch(tmp_path / "model", 12)
    agent.send_signal(signal.SIGTERM)
    code, _, sentences = finish(agent)
    assert code != 0
    assert len(sentences) == 1
    assert sentences[0].startswith("error: stopped after epoch ")
    assert sentences[0].endswith("of 150: --resume continues from there")


def start_machine(port, folder, *, is_host, nodes="1:2"):
    """Start the agent of one of two machines, which work in the same folder."""
    return start(
        [
            f"--nnodes={nodes}",
            "--nproc-per-node=1",
            "--max-restarts=3",
            "--rdzv-backend=c10d",
            f"--rdzv-endpoint=localhost:{port}",
            "--rdzv-id=test",
            f"--rdzv-conf=is_host={is_host:d},last_call_timeout=3,join_timeout=120",
            "--local-addr=localhost",
        ],
        [*LONG, "--resume", "--out", "several.parquet"],
        folder,
    )


@pytest.mark.slow
def test_lost_machine_leaves_the_others_to_continue_without_it(tmp_path):
    port = 29000 + os.getpid() % 1000
    first, second = (start_machine(port, tmp_path, is_host=is_host) for is_host in (True, False))
    wait_for_epoch(tmp_path / "model", 30)
    lost = find_ranks(second)
    assert len(lost) == 1
    second.kill()  # first, as it would report the end of its process
    for pid in lost.values():
        os.kill(pid, signal.SIGKILL)
    second.communicate()
    code, _, _ = finish(first)
    assert code == 0
    code, _, _ = run(1, *LONG[:-4], "--out", "one.parquet", folder=tmp_path)
    assert code == 0
    assert_alike(tmp_path / "several.parquet", tmp_path / "one.parquet")
