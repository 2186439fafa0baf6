"""The program in this process, so that it can be run often."""

from __future__ import annotations

import sys

import pytest

from graphprox.cli import main


@pytest.fixture
def run(monkeypatch, capsys):
    """The program in this process: exit code, what it printed, what it complained of."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["graphprox", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        printed = capsys.readouterr()
        return stopped.value.code or 0, printed.out, printed.err

    return run
