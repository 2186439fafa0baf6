"""Progress is shown by bars on a terminal, and by a line now and then elsewhere."""

from __future__ import annotations

import io
import time
from types import SimpleNamespace

import pytest
from rich.console import Console

from graphprox.cli import progress_display
from graphprox.cli.progress_display import ProgressLines, progress_bars, set_quiet


def show_all():
    with progress_bars("Cora") as show:
        for stage in ("topology", "training"):
            for done in (1, 2):
                show(stage, done, 2, note=", loss 0.5" if stage == "training" else "")


def test_short_stages_print_nothing_if_stderr_is_not_a_terminal(capsys):
    show_all()
    assert capsys.readouterr() == ("", "")


@pytest.fixture
def clock(monkeypatch):
    """A clock that advances when it is told to."""
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(ProgressLines, "now", lambda _: clock.now)
    return clock


def test_long_stages_print_a_line_every_ten_seconds_with_the_time_left(clock, capsys):
    lines = ProgressLines("Cora")
    for epoch in range(61):
        lines("training", epoch, 60, note=", loss 0.5")
        clock.now += 0.5
    printed = capsys.readouterr().err.splitlines()
    assert printed == [
        "Cora: training 10 of 60, loss 0.5, 25 s left",
        "Cora: training 30 of 60, loss 0.5, 15 s left",
        "Cora: training 50 of 60, loss 0.5, 5 s left",
    ]


def test_each_stage_has_its_own_time(clock, capsys):
    lines = ProgressLines("Cora")
    for stage in ("topology", "neighbors"):
        for done in (0, 1, 2):
            lines(stage, done, 2)
            clock.now += 4
    assert capsys.readouterr().err == ""


def test_a_stage_of_unknown_size_says_how_long_it_has_taken(clock, capsys):
    lines = ProgressLines("edges.csv")
    lines("reading", 0, 0)
    clock.now += 12
    lines.tick()
    assert capsys.readouterr().err == "edges.csv: reading, 12 s so far\n"


def test_a_line_is_printed_while_nothing_is_reported(monkeypatch, capsys):
    monkeypatch.setattr(progress_display, "FIRST", 0.01)
    with progress_bars("Cora") as show:
        show("embedding", 1, 4)
        time.sleep(0.1)
    assert capsys.readouterr().err == "Cora: embedding 1 of 4\n"


def test_resumed_stage_estimates_by_what_it_has_done_itself(clock, capsys):
    lines = ProgressLines("Cora")
    lines("training", 80, 100)
    clock.now += 10
    lines("training", 90, 100)
    assert capsys.readouterr().err == "Cora: training 90 of 100, 10 s left\n"


def test_quiet_prints_nothing(clock, capsys):
    set_quiet(True)
    try:
        with progress_bars("Cora") as show:
            show("training", 1, 10)
            clock.now += 100
            show("training", 2, 10)
    finally:
        set_quiet(False)
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
