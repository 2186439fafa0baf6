"""Programs that torchrun starts, on localhost, each of whose processes has one thread."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

TIMEOUT = 240


def environment(**variables: str) -> dict[str, str]:
    outer = {name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE")}
    threads = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    paths = [str(Path(__file__).parents[2] / "src"), outer.get("PYTHONPATH", "")]
    return {**outer, **threads, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **variables}


def start(
    options: Sequence[str],
    arguments: Sequence[object],
    folder: Path,
    *,
    variables: Mapping[str, str] | None = None,
    prefix: Sequence[str] = (),
) -> subprocess.Popen[str]:
    """Start ``torchrun OPTIONS -m graphprox ARGUMENTS`` in a folder, in a session of its own."""
    command = [*prefix, sys.executable, "-m", "torch.distributed.run", *options, "-m", "graphprox"]
    return subprocess.Popen(
        [*command, *map(str, arguments)],
        cwd=folder,
        env=environment(**(variables or {})),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str, list[str]]:
    """Return the exit code, what was printed, and the sentences of graphprox on stderr."""
    out, err = process.communicate(timeout=TIMEOUT)
    return process.returncode, out, re.findall(r"^(?:error|warning): .*$", err, flags=re.MULTILINE)


def run(size: int, *arguments: object, folder: Path, **variables: str) -> tuple[int, str, list[str]]:
    """Run graphprox by some processes on this machine; torchrun's own exit code is 1 if one of them fails."""
    return finish(start(["--standalone", f"--nproc-per-node={size}"], arguments, folder, variables=variables))


def find_ranks(agent: subprocess.Popen[str]) -> dict[int, int]:
    """Return the process id of each rank that an agent of torchrun has started."""
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parent = re.search(r"^PPid:\s*(\d+)", (path / "status").read_text(), flags=re.MULTILINE)
            variables = (path / "environ").read_bytes().split(b"\0")
        except OSError:  # it has ended
            continue
        rank = next((each[5:] for each in variables if each.startswith(b"RANK=")), None)
        if parent is not None and int(parent[1]) == agent.pid and rank is not None:
            found[int(rank)] = int(path.name)
    return found


def wait_for_epoch(model: Path, epoch: int) -> None:
    """Wait until a model has been trained for some epochs."""
    metrics, end = model / "metrics.jsonl", time.monotonic() + TIMEOUT
    while not metrics.exists() or metrics.read_text().count("\n") < epoch:
        assert time.monotonic() < end, "training does not proceed"
        time.sleep(0.02)
