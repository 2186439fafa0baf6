"""Run graphprox embed and transform in child processes, killed at random moments, and print what they left.

    python killing_commands.py FOLDER RUNS SEED

Tests run this in a separate process: it forks, which is only safe while it has one thread. It prints JSON: how many
processes were killed, how many of them while they wrote, and everything that was not as it must be.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path

os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import numpy as np
import torch

from graphprox.cli import main as run_program
from graphprox.ftgcl.base import ContrastiveEmbedder  # imported before forking, as it takes seconds
from graphprox.methods import METHODS
from graphprox.methods.model_loading import load_embedder

GRAPH = "synthetic:nodes=280"
TRAINED = ["--method", "ft-gcl", "--dim", "8", "--set", "head_channels=8", "--epochs", "12", "--checkpoint-every", "2"]
AUTO = ["--method", "auto", "--dim", "16"]
FORMATS = ("parquet", "csv", "npy", "npz", "txt", "tsv")


def run(*arguments: str) -> int:
    """Run the program in this process, and return its exit code."""
    sys.argv = ["graphprox", *arguments]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            run_program()
        except SystemExit as stop:
            return int(stop.code or 0)
    return 0


def run_in_child(*arguments: str, kill_after: float | None = None) -> int | None:
    """Run the program in a child process, and return its exit code, or None if it was killed."""
    child = os.fork()
    if child == 0:
        code = 99
        try:
            code = run(*arguments)
        finally:
            os._exit(code)
    if kill_after is not None:
        end = time.perf_counter() + kill_after
        while time.perf_counter() < end and os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            time.sleep(0.0005)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return None if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def contents(folder: Path, *names: str) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in names if (folder / name).exists()}


def hidden(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob(".*"))


class Case:
    """A command, what it writes, and what its outputs are before and after it."""

    def __init__(self, place: Path, method: list[str], ending: str, *, is_transform: bool) -> None:
        self.place, self.method, self.ending, self.is_transform = place, method, ending, is_transform
        self.names = [f"v.{ending}", *(["v.metadata.tsv"] if ending == "tsv" else [])]
        self.is_trained = method is TRAINED

    def command(self, place: Path, seed: int, *more: str) -> list[str]:
        out = ["--out", str(place / f"v.{self.ending}")]
        if self.is_transform:
            return ["transform", f"{GRAPH},seed={seed}", "--model", str(place / "model"), *out, *more]
        return ["embed", GRAPH, *self.method, "--seed", str(seed), *out, "--model", str(place / "model"), *more]

    def prepare(self) -> None:
        """Write the older outputs to a folder, and the newer ones to another."""
        old, new = self.place / "old", self.place / "new"
        old.mkdir(parents=True)
        first = ["embed", GRAPH, *self.method, "--seed", "0", "--out", str(old / f"v.{self.ending}")]
        assert run_in_child(*first, "--model", str(old / "model")) == 0
        shutil.copytree(old, new)
        start = time.perf_counter()
        assert run_in_child(*self.command(new, 1, *([] if self.is_transform else ["--force"]))) == 0
        self.seconds = time.perf_counter() - start
        self.old, self.new = contents(old, *self.names), contents(new, *self.names)
        self.models = {load_vectors(each / "model").tobytes() for each in (old, new)}
        self.new_model = load_vectors(new / "model").tobytes()

    def kill(self, number: int, seconds: float) -> tuple[bool, bool, list[str]]:
        """Kill the command once; return whether it was killed, whether it was writing, and what is wrong."""
        place = self.place / f"run-{number}"
        shutil.copytree(self.place / "old", place)
        force = [] if self.is_transform else ["--force"]
        was_killed = run_in_child(*self.command(place, 1, *force), kill_after=seconds) is None
        was_writing = any(name.endswith(".part") for name in hidden(place))
        wrong = []
        for name, content in contents(place, *self.names).items():
            if content not in (self.old[name], self.new[name]):
                wrong.append(f"{place}: {name} is neither old nor new")
        if load_vectors(place / "model").tobytes() not in self.models:
            wrong.append(f"{place}: the model is neither old nor new")
        has_new_checkpoints = self.is_trained and not self.is_transform
        code = run_in_child(*self.command(place, 1, *(["--resume"] if has_new_checkpoints else force)))
        if has_new_checkpoints and code == 2:  # it was killed before the older checkpoints were replaced
            code = run_in_child(*self.command(place, 1, *force))
        if code != 0:
            wrong.append(f"{place}: the next run ended with {code}")
        elif contents(place, *self.names) != self.new or load_vectors(place / "model").tobytes() != self.new_model:
            wrong.append(f"{place}: the next run gives other bytes")
        if hidden(place):
            wrong.append(f"{place}: the next run left {hidden(place)}")
        shutil.rmtree(place)
        return was_killed, was_writing, wrong


def load_vectors(folder: Path) -> np.ndarray:
    from graphprox import synthetic

    return np.asarray(load_embedder(folder, device="cpu").transform(synthetic(nodes=140)))


def main(folder: Path, runs: int, seed: int) -> None:
    torch.set_num_threads(1)
    assert issubclass(METHODS.lookup("ft-gcl"), ContrastiveEmbedder)
    rng = np.random.default_rng(seed)
    assert run("embed", GRAPH, *TRAINED, "--out", str(folder / "first.npy")) == 0  # compiles, and fills the cache
    assert run("embed", GRAPH, *AUTO, "--out", str(folder / "first.npy")) == 0
    kinds = [(AUTO, False), (TRAINED, False), (AUTO, True)]
    cases = []
    for number, (method, is_transform) in enumerate(kinds):
        endings = FORMATS if runs >= 10 * len(FORMATS) else [str(rng.choice(FORMATS))]
        for ending in endings:
            case = Case(folder / f"case-{number}-{ending}", method, ending, is_transform=is_transform)
            case.prepare()
            cases.append(case)
    killed = writing = 0
    wrong: list[str] = []
    for number in range(runs):
        case = cases[number % len(cases)]
        was_killed, was_writing, found = case.kill(number, rng.uniform(0.02, 1.0) * case.seconds)
        killed, writing, wrong = killed + was_killed, writing + was_writing, wrong + found
    print(json.dumps({"killed": killed, "writing": writing, "wrong": wrong}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
