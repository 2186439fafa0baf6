"""Train the same model again and again, each time killed at random moments and gone on with; tell what came of it.

    python killing.py FOLDER RUNS SEED

Run by the tests, as a process of its own: lives are forked from it, which is only safe while it has one thread. Prints
JSON: how many lives were killed, how many of them in mid-training, and in which way a run came out wrong, if any did.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import numpy as np
import torch

import graphprox
from graphprox.training.fitting import fit
from graphprox.training.recipe import Recipe

STEPS = 40
FILES = {"recipe.toml", "weights.safetensors", "metrics.jsonl", "about.json", "checkpoints", "embedding.npy"}
GRAPH = graphprox.synthetic(nodes=140)
RECIPE = Recipe(
    steps=STEPS,
    turns=[["graph", "feature"], ["graph+some", "topology"]],
    encoder={"width": 8},
    head={"width": 8},
    views={"k_max": 4},
    topology={"walks": 3, "length": 4, "landmarks": 20},
    corruptions={"some": {"drop_edges": 0.2, "mask_features": 0.1}},
)


def train(folder: Path) -> None:
    fitted = fit(GRAPH, RECIPE, device="cpu", folder=folder, resume=True, checkpoint_every=3)
    np.save(folder / "embedding.npy", fitted.embedding)


def live(folder: Path, *, until: int | None = None, seconds: float = 0.0) -> bool:
    """Train in a process of its own, which is killed some seconds after a step; whether it was."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            train(folder)
            code = 0
        finally:
            os._exit(code)
    if until is not None:
        while len(steps_taken(folder)) < until and not has_ended(child):
            time.sleep(0.0005)
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status) and os.WEXITSTATUS(status) != 0:
        sys.exit(f"a life in {folder} ended by itself, with an error")
    return os.WIFSIGNALED(status)


def has_ended(child: int) -> bool:
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def steps_taken(folder: Path) -> list[int]:
    """The steps in the metrics; a line that was being written does not count."""
    path = folder / "metrics.jsonl"
    lines = path.read_text().split("\n")[:-1] if path.exists() else []
    return [json.loads(line)["step"] for line in lines]


def faults(folder: Path, undisturbed: Path) -> list[str]:
    """In what a folder differs from that of a training that nothing happened to."""
    found = [
        f"{folder.name}: {name} differs"
        for name in ("embedding.npy", "weights.safetensors", "recipe.toml", "about.json")
        if (folder / name).read_bytes() != (undisturbed / name).read_bytes()
    ]
    if steps_taken(folder) != list(range(1, STEPS + 1)):
        found.append(f"{folder.name}: metrics tell the steps {steps_taken(folder)}")
    for place, expected in ((folder, FILES), (folder / "checkpoints", names(undisturbed / "checkpoints"))):
        if names(place) != expected:
            found.append(f"{place} holds {sorted(names(place))}")
    return found


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def main(folder: Path, runs: int, seed: int) -> None:
    torch.set_num_threads(1)
    rng = np.random.default_rng(seed)
    undisturbed = folder / "undisturbed"
    train(undisturbed)  # and warm up: rankings are found in the cache from now on
    began = time.perf_counter()
    live(folder / "timed")
    lifetime = time.perf_counter() - began
    wrong = faults(folder / "timed", undisturbed)
    killed_after, half_written = [], 0
    for run in range(runs):
        place = folder / f"run-{run}"
        for life in range(1 + rng.integers(3)):
            so_far = len(steps_taken(place))
            # The first is killed in mid-training; later ones at any moment, the first and the last among them.
            until = rng.integers(1, STEPS - 5) if life == 0 else rng.integers(so_far, STEPS + 1)
            if not live(place, until=until, seconds=rng.uniform(0, 2 * lifetime / STEPS)):
                break
            killed_after.append((run, len(steps_taken(place))))
            half_written += any(place.rglob(".*.part"))
        live(place)
        wrong += faults(place, undisturbed)
    midway = [run for run, steps in killed_after if 0 < steps < STEPS]
    told = {"killed": len(killed_after), "midway": len(midway), "runs_midway": len(set(midway))}
    print(json.dumps({**told, "half_written": half_written, "lifetime": lifetime, "wrong": wrong}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
