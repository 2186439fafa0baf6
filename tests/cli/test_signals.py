"""Ctrl-C at any moment gives one line and exit code 130, and leaves nothing behind but what can be resumed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from graphprox.cli import main, signals

FTGCL = ["embed", "synthetic:nodes=2000", "--method", "ft-gcl", "--epochs", "60", "--no-cache", "--out", "emb.npy"]
COMMANDS = {
    "auto": ["embed", "synthetic:nodes=3000", "--out", "out/emb.parquet"],
    "auto with a model": ["embed", "synthetic:nodes=3000", "--out", "emb.parquet", "--model", "models/new"],
    "ft-gcl": FTGCL,
    "ft-gcl with a model": [*FTGCL, "--model", "model", "--checkpoint-every", "5"],
    "views": ["views", "synthetic:nodes=8000", "--out", "views", "--no-cache"],
    "compare": [
        "compare",
        "synthetic:nodes=1000",
        "--methods",
        "raw,smoothed,auto",
        "--splits",
        "3",
        "--out",
        "compare",
    ],
    "evaluate": ["evaluate", "synthetic:nodes=2000", "--embedding", "x.npy", "--splits", "20"],
}
NUM_MOMENTS = 3  # of each command
RESUMABLE = ("model", "emb.npy.training")  # folders that --resume continues from


def start(arguments, folder):
    command = [sys.executable, "-m", "graphprox", "--quiet", *arguments]
    return subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def make_files(arguments, folder):
    folder.mkdir()
    if "x.npy" in arguments:
        import numpy as np

        np.save(folder / "x.npy", np.random.default_rng(0).random((2000, 64), dtype=np.float32))
    return set(folder.iterdir())


def check_left_behind(folder, before):
    """Check that nothing is left but results that are complete, and checkpoints."""
    left = {path for path in folder.rglob("*") if path not in before}
    assert not [path for path in left if path.name.endswith((".part", ".tmp"))]
    for path in left:
        top = path.relative_to(folder).parts[0]
        if path.is_dir():
            assert any(each.is_file() for each in path.rglob("*")), f"{path} is empty"
        elif top in RESUMABLE:
            assert any((folder / top / "checkpoints").iterdir()), f"{path} cannot be resumed"
    return left


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_interruption_at_any_moment_gives_one_line(name, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    arguments, rng = COMMANDS[name], random.Random(name)
    make_files(arguments, tmp_path / "whole")
    begin = time.monotonic()
    with start(arguments, tmp_path / "whole") as process:
        _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    seconds, stopped = time.monotonic() - begin, 0
    for moment in range(NUM_MOMENTS):
        folder = tmp_path / str(moment)
        before = make_files(arguments, folder)
        with start(arguments, folder) as process:
            time.sleep(0.15 + rng.random() * (seconds - 0.15))
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        assert process.returncode in (130, 0), err
        if process.returncode == 130:
            stopped += 1
            assert err.startswith("error: ")
            assert err.count("\n") == 1, err
            check_left_behind(folder, before)
        else:  # it was done already
            assert "Traceback" not in err
    assert stopped


# Ctrl-C where the program has not begun to work: in the first import that takes time, and in one of a library.
@pytest.mark.parametrize("module", ["typer", "numpy", "graphprox.cli.embed", "torch"])
@pytest.mark.parametrize(("number", "code", "sentence"), [(2, 130, "interrupted"), (15, 143, "terminated")])
def test_interruption_of_an_import_gives_one_line(tmp_path, module, number, code, sentence):
    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}: os.kill(os.getpid(), {number})\n"
        "sys.meta_path.insert(0, Finder())\n"
    )
    search = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "graphprox", "embed", "synthetic:nodes=140", "--out", tmp_path / "new" / "emb.npy"]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": search}, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith(f"error: {sentence}")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "new").exists()


def test_interruption_in_a_destructor_is_not_lost(capsys):
    class Resource:
        def __del__(self):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)  # the signal is handled here, where Python cannot raise

    @signals.stop_on_signals()
    def work():
        Resource()
        time.sleep(10)

    with pytest.raises(SystemExit) as stopped:
        work()
    assert stopped.value.code == 130
    assert capsys.readouterr().err == "error: interrupted\n"


def test_error_that_a_library_makes_of_an_interruption_is_one(monkeypatch, capsys):
    from graphprox.cli import app

    def wrap(**_):
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(10)
        except KeyboardInterrupt:
            raise ImportError("KeyboardInterrupt: <EMPTY MESSAGE>") from None

    monkeypatch.setattr(sys, "argv", ["graphprox", "datasets"])
    monkeypatch.setattr(app, "app", wrap)
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 130
    assert capsys.readouterr().err == "error: interrupted\n"


def test_handlers_are_restored():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with signals.stop_on_signals():
        assert signal.getsignal(signal.SIGTERM) is not before[1]
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_ignored_signal_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with signals.stop_on_signals():
            os.kill(os.getpid(), signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
