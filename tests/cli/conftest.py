"""The program, run in this process."""

from __future__ import annotations

import sys

import pytest

from graphprox.cli import main


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the program; returns exit code, stdout and stderr."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["graphprox", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        printed = capsys.readouterr()
        return stopped.value.code or 0, printed.out, printed.err

    return run
