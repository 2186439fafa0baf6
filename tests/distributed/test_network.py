"""Two machines: network namespaces joined by a virtual cable, each with an agent of torchrun of its own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess

import pytest

from distributed.test_torchrun import LONG, assert_alike
from distributed.torchrun import find_ranks, finish, run, start, wait_for_epoch

NAME = f"gp{os.getpid() % 10**6}"
ADDRESSES = ("10.77.31.1", "10.77.31.2")


def ip(*arguments):
    return subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True, timeout=20)


@pytest.fixture
def machines():
    """The names of two network namespaces whose interfaces, of the same names, are connected."""
    if shutil.which("ip") is None:
        pytest.skip("there is no ip command (package iproute2)")
    names = [f"{NAME}a", f"{NAME}b"]
    try:
        for name in names:
            ip("netns", "add", name)
    except subprocess.CalledProcessError as error:
        remove(names)
        pytest.skip(f"network namespaces are not allowed here: {error.stderr.strip()}")
    try:
        ip("link", "add", names[0], "type", "veth", "peer", "name", names[1])
        for name, address in zip(names, ADDRESSES, strict=True):
            ip("link", "set", name, "netns", name)
            ip("-n", name, "address", "add", f"{address}/24", "dev", name)
            ip("-n", name, "link", "set", name, "up")
            ip("-n", name, "link", "set", "lo", "up")
        yield names
    finally:
        remove(names)


def remove(names):
    for name in names:
        subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True, timeout=20)


def start_on(machine, folder, *, nodes):
    """Start the agent of a machine; the rendezvous is on the first one."""
    number = 0 if machine.endswith("a") else 1
    options = [
        f"--nnodes={nodes}",
        "--nproc-per-node=1",
        "--max-restarts=3",
        "--rdzv-backend=c10d",
        f"--rdzv-endpoint={ADDRESSES[0]}:29400",
        "--rdzv-id=test",
        f"--rdzv-conf=is_host={number == 0:d},last_call_timeout=3,join_timeout=120",
        f"--local-addr={ADDRESSES[number]}",
    ]
    arguments = [*LONG, "--resume", "--out", "several.parquet"]
    variables = {"GLOO_SOCKET_IFNAME": machine, "GRAPHPROX_TIMEOUT": "60"}
    return start(options, arguments, folder, variables=variables, prefix=["ip", "netns", "exec", machine])


def sent_bytes(machine):
    path = f"/sys/class/net/{machine}/statistics/tx_bytes"
    read = subprocess.run(["ip", "netns", "exec", machine, "cat", path], check=True, capture_output=True, timeout=20)
    return int(read.stdout)


@pytest.mark.slow
def test_two_machines_train_as_one_process_does(machines, tmp_path):
    agents = [start_on(machine, tmp_path, nodes="2") for machine in machines]
    assert [finish(agent)[0] for agent in agents] == [0, 0]
    assert all(sent_bytes(machine) > 10**6 for machine in machines)  # it went over the cable
    code, _, _ = run(1, *LONG[:-4], "--out", "one.parquet", folder=tmp_path)
    assert code == 0
    assert_alike(tmp_path / "several.parquet", tmp_path / "one.parquet")


@pytest.mark.slow
def test_machine_continues_alone_after_the_other_is_lost(machines, tmp_path):
    first, second = (start_on(machine, tmp_path, nodes="1:2") for machine in machines)
    wait_for_epoch(tmp_path / "model", 30)
    (lost,) = find_ranks(second).values()
    ip("-n", machines[1], "link", "set", machines[1], "down")  # nothing of its end arrives
    second.kill()
    os.kill(lost, signal.SIGKILL)
    second.communicate()
    code, _, _ = finish(first)
    assert code == 0
    code, _, _ = run(1, *LONG[:-4], "--out", "one.parquet", folder=tmp_path)
    assert code == 0
    assert_alike(tmp_path / "several.parquet", tmp_path / "one.parquet")
