"""The program, run in this process."""

from __future__ import annotations

import sys
from dataclasses import replace

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


@pytest.fixture
def two_penalties(monkeypatch):
    """Let the protocol of GRACE select among two penalties, as its 21 take seconds."""
    from graphprox.evaluation import protocols
    from graphprox.evaluation.grace_probe import GRACEProbe

    quick = replace(protocols.PROTOCOLS["grace"], probe=GRACEProbe(cs=(1.0, 8.0)))
    monkeypatch.setattr(protocols, "PROTOCOLS", {**protocols.PROTOCOLS, "grace": quick})
