"""Progress bars are shown on a terminal only."""

from __future__ import annotations

import io

from rich.console import Console

from graphprox.cli import progress_display
from graphprox.cli.progress_display import progress_bars


def show_all():
    with progress_bars("Cora") as show:
        for stage in ("topology", "training"):
            for done in (1, 2):
                show(stage, done, 2, note=", loss 0.5" if stage == "training" else "")


def test_nothing_is_printed_if_stderr_is_not_a_terminal(capsys):
    show_all()
    assert capsys.readouterr() == ("", "")


def test_terminal_shows_a_bar_for_each_stage(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(
        progress_display, "Console", lambda **_: Console(file=screen, force_terminal=True, width=100, _environ={})
    )
    show_all()
    assert "Cora: topology" in screen.getvalue()
    assert "Cora: training, loss 0.5" in screen.getvalue()
    assert "100 %" in screen.getvalue()
