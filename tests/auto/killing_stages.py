"""Run graphprox embed, killed in and after each of its stages, resume it, and print what differs.

    python killing_stages.py FOLDER GRAPH STEP

Tests run this in a separate process: it forks, which is only safe while it has one thread. It kills each STEPth stage.
It prints JSON: the stages, how many processes were killed, how many stages were read again, and what differs.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import sys
from pathlib import Path

os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", NUMBA_NUM_THREADS="1")

import torch

from graphprox.auto import row_store, stages
from graphprox.cli import main as run_program
from graphprox.methods import METHODS

write, find = stages.Stages._write, stages.Stages._find
STAGES = "stages.txt"  # those that were computed, and those that were read


def run(folder: Path, graph: str, *options: str) -> int:
    """Run the program in this process, and return its exit code."""
    sys.argv = ["graphprox", "embed", graph, "--dim", "24", "--out", str(folder / "v.npy"), *options]
    sys.argv += ["--model", str(folder / "model")]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            run_program()
        except SystemExit as stop:
            code = int(stop.code or 0)
            if code:
                print(printed.getvalue(), file=sys.__stderr__)
            return code
    return 0


def record(folder: Path, *, kill_after: int | None, is_described: bool) -> None:
    """Write down the stages, and end this process after one of them, before or after its description is written."""

    def write_and_end(self: stages.Stages, name: str, *arguments: object) -> None:
        note(folder, f"made {name}")
        if kill_after is not None and len(notes(folder, "made")) > kill_after:
            if not is_described:
                stages.atomic_write = end  # the arrays are written by then
            write(self, name, *arguments)
            end()
        write(self, name, *arguments)

    def find_and_note(self: stages.Stages, name: str, **options: object) -> object:
        found = find(self, name, **options)
        if found is not None:
            note(folder, f"read {name}")
        return found

    stages.Stages._write, stages.Stages._find = write_and_end, find_and_note


def end(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def note(folder: Path, line: str) -> None:
    with (folder / STAGES).open("a") as file:
        file.write(f"{line}\n")


def notes(folder: Path, verb: str) -> list[str]:
    lines = (folder / STAGES).read_text().splitlines() if (folder / STAGES).exists() else []
    return [line.removeprefix(f"{verb} ") for line in lines if line.startswith(verb)]


def run_in_child(
    folder: Path, graph: str, *options: str, kill_after: int | None = None, is_described: bool = True
) -> bool:
    """Run the program in a child process, and return whether it was killed."""
    folder.mkdir(exist_ok=True)
    child = os.fork()
    if child == 0:
        code = 99
        try:
            record(folder, kill_after=kill_after, is_described=is_described)
            code = run(folder, graph, *options)
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status) and os.WEXITSTATUS(status) != 0:
        sys.exit(f"embedding in {folder} failed with {os.WEXITSTATUS(status)}")
    return os.WIFSIGNALED(status)


def results(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in ("v.npy", "model/arrays.safetensors")}


def main(folder: Path, graph: str, step: int) -> None:
    torch.set_num_threads(1)
    assert METHODS
    # Small graphs have no stages: this one has many small blocks, in files.
    row_store.ONE_BLOCK, row_store.BLOCK_ROWS, row_store.MEMORY_BYTES = 10, 97, 0
    plain = folder / "plain"
    run_in_child(plain, graph)
    expected, names = results(plain), notes(plain, "made")
    killed, read, differences = 0, [], []
    for number in range(0, len(names), step):
        is_described = bool(number // step % 3)
        place = folder / f"run-{number}"
        killed += run_in_child(place, graph, kill_after=number, is_described=is_described)
        done = len(list((place / "model" / "stages").glob("[0-9a-f]*.json")))
        (place / STAGES).unlink()
        run_in_child(place, graph, "--resume")
        read.append([done, len(set(notes(place, "read")))])
        if results(place) != expected:
            differences.append(f"other bytes after {names[number]}")
        left = sorted(path.name for path in place.rglob("*") if path.is_file())
        if left != ["about.json", "arrays.safetensors", "stages.txt", "v.npy"] or (place / "model" / "stages").exists():
            differences.append(f"left after {names[number]}: {left}")
        again = set(notes(place, "made")) & set(names[: number + is_described])
        if again:
            differences.append(f"made again after {names[number]}: {sorted(again)}")
    print(json.dumps({"stages": names, "killed": killed, "read": read, "differences": differences}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
