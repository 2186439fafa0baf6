"""Train the same model repeatedly, killed at random moments and resumed each time, and print the result.

    python killing.py FOLDER RUNS SEED

Tests run this in a separate process: it forks, which is only safe while it has one thread. It prints JSON: how many
processes were killed, how many of them during training, and how results differ from an uninterrupted training run.
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
from graphprox.ftgcl.fit import fit_recipe
from graphprox.ftgcl.recipe import Recipe

EPOCHS = 40
FILES = {"recipe.toml", "weights.safetensors", "metrics.jsonl", "about.json", "checkpoints", "embedding.npy"}
GRAPH = graphprox.synthetic(nodes=140)
RECIPE = Recipe(
    epochs=EPOCHS,
    pairs=[["graph", "feature"], ["graph+some", "topology"]],
    encoder={"name": "gat", "n_components": 8},
    head={"num_layers": 2, "out_channels": 8},
    views={"k_max": 4, "topology": {"num_walks": 3, "walk_length": 4, "num_landmarks": 20}},
    augmentations={"some": {"drop_edges": 0.2, "mask_features": 0.1}},
)


def train(folder: Path) -> None:
    result = fit_recipe(GRAPH, RECIPE, device="cpu", folder=folder, resume=True, checkpoint_every=3)
    np.save(folder / "embedding.npy", result.vectors)


def train_in_child(folder: Path, *, kill_after: int | None = None, seconds: float = 0.0) -> bool:
    """Train in a child process, kill it some seconds after an epoch, and return whether it was killed."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            train(folder)
            code = 0
        finally:
            os._exit(code)
    if kill_after is not None:
        while len(trained_epochs(folder)) < kill_after and not has_ended(child):
            time.sleep(0.0005)
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status) and os.WEXITSTATUS(status) != 0:
        sys.exit(f"training in {folder} failed")
    return os.WIFSIGNALED(status)


def has_ended(child: int) -> bool:
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def trained_epochs(folder: Path) -> list[int]:
    """Return the epochs in the metrics, without a partial last line."""
    path = folder / "metrics.jsonl"
    lines = path.read_text().split("\n")[:-1] if path.exists() else []
    return [json.loads(line)["epoch"] for line in lines]


def find_differences(folder: Path, expected: Path) -> list[str]:
    """Return the differences of a folder from that of an uninterrupted training run."""
    found = [
        f"{folder.name}: {name} differs"
        for name in ("embedding.npy", "weights.safetensors", "recipe.toml", "about.json")
        if (folder / name).read_bytes() != (expected / name).read_bytes()
    ]
    if trained_epochs(folder) != list(range(1, EPOCHS + 1)):
        found.append(f"{folder.name}: metrics contain epochs {trained_epochs(folder)}")
    for place, files in ((folder, FILES), (folder / "checkpoints", names(expected / "checkpoints"))):
        if names(place) != files:
            found.append(f"{place} contains {sorted(names(place))}")
    return found


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def main(folder: Path, runs: int, seed: int) -> None:
    torch.set_num_threads(1)
    rng = np.random.default_rng(seed)
    expected = folder / "uninterrupted"
    train(expected)  # rankings are in the cache from now on
    start = time.perf_counter()
    train_in_child(folder / "timed")
    duration = time.perf_counter() - start
    differences = find_differences(folder / "timed", expected)
    killed_after, partial_files = [], 0
    for run in range(runs):
        place = folder / f"run-{run}"
        for attempt in range(1 + rng.integers(3)):
            so_far = len(trained_epochs(place))
            # The first attempt is killed while it trains, later ones at any moment.
            epoch = rng.integers(1, EPOCHS - 5) if attempt == 0 else rng.integers(so_far, EPOCHS + 1)
            if not train_in_child(place, kill_after=epoch, seconds=rng.uniform(0, 2 * duration / EPOCHS)):
                break
            killed_after.append((run, len(trained_epochs(place))))
            partial_files += any(place.rglob(".*.part"))
        train_in_child(place)
        differences += find_differences(place, expected)
    midway = [run for run, epochs in killed_after if 0 < epochs < EPOCHS]
    counts = {"killed": len(killed_after), "midway": len(midway), "runs_midway": len(set(midway))}
    print(json.dumps({**counts, "partial_files": partial_files, "duration": duration, "differences": differences}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
