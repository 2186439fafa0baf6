"""Progress on stderr: a bar for each stage on a terminal, a line now and then in a log."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import rich.progress
from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeRemainingColumn

from graphprox._utils.amounts import format_duration
from graphprox._utils.progress import Progress, current_progress

FIRST, INTERVAL = 5.0, 10.0  # seconds until the first line of a stage, and between lines

_quiet = False


def set_quiet(quiet: bool) -> None:
    """Set whether progress and forecasts are left out, as ``--quiet`` does.

    Parameters
    ----------
    quiet : bool
    """
    global _quiet
    _quiet = quiet


def is_quiet() -> bool:
    """Return whether progress and forecasts are left out."""
    return _quiet


@contextmanager
def progress_bars(title: str) -> Iterator[Progress]:
    """Show the progress of stages: bars that disappear at the end, or lines if stderr is not a terminal.

    Parameters
    ----------
    title : str
        Text before the name of the stage.
    """
    console = Console(stderr=True)
    if not console.is_terminal and not _quiet:
        with ProgressLines(title).printing() as lines:
            yield lines
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:.0f} %"),
        TimeRemainingColumn(),
    )
    with rich.progress.Progress(*columns, console=console, transient=True, disable=_quiet) as bars:
        tasks: dict[str, TaskID] = {}

        def show(stage: str, done: int, total: int, note: str = "") -> None:
            size = total or None  # a stage of unknown size is a bar that moves
            if stage not in tasks:
                tasks[stage] = bars.add_task("", total=size)
            elif done < (bars.tasks[tasks[stage]].completed or 0):  # the stage is run again
                bars.reset(tasks[stage])
            bars.update(tasks[stage], description=f"{title}: {stage}{note}", completed=done, total=size)

        yield show


@contextmanager
def show_stage(title: str, stage: str) -> Iterator[None]:
    """Show that a stage of unknown size is running, such as reading a file.

    Parameters
    ----------
    title : str
        Text before the name of the stage.
    stage : str
    """
    with ExitStack() as opened:
        progress = current_progress() or opened.enter_context(progress_bars(title))
        progress(stage, 0, 0)
        yield
        progress(stage, 1, 1)


@dataclass
class _Stage:
    """A stage as it was last reported."""

    name: str
    done: int
    total: int
    note: str
    start: float
    first: int  # what was done at the start, as by a training that is resumed


class ProgressLines:
    """Print a line about a stage that takes more than a few seconds, every ten seconds.

    Parameters
    ----------
    title : str
        Text at the beginning of each line.

    Examples
    --------
    >>> lines = ProgressLines("Cora")
    >>> lines("training", 10, 100)
    >>> lines.describe(lines.now() + 20)
    'Cora: training 10 of 100'
    """

    now = staticmethod(time.monotonic)

    def __init__(self, title: str) -> None:
        self.title = title
        self._stage: _Stage | None = None
        self._next = 0.0
        self._lock = threading.Lock()

    def __call__(self, stage: str, done: int, total: int, note: str = "") -> None:
        """Record progress, and print a line if it is time."""
        with self._lock:
            known = self._stage
            if known is None or known.name != stage or done < known.done:
                start = self.now()
                self._stage, self._next = _Stage(stage, done, total, note, start, done), start + FIRST
            else:
                known.done, known.total, known.note = done, total, note
        self.tick()

    def tick(self) -> None:
        """Print a line if it is time, whether or not anything was done since the last one."""
        with self._lock:
            now, stage = self.now(), self._stage
            if stage is None or now < self._next or (stage.total and stage.done >= stage.total):
                return
            self._next = now + INTERVAL
            line = self.describe(now)
        print(line, file=sys.stderr, flush=True)

    def describe(self, now: float) -> str:
        """Return the line for a time: how much is done, and how much time is left or has passed."""
        stage = self._stage
        if stage is None:
            return self.title
        elapsed, done = now - stage.start, stage.done - stage.first
        if not stage.total:
            return f"{self.title}: {stage.name}{stage.note}, {format_duration(elapsed)} so far"
        left = f", {format_duration(elapsed * (stage.total - stage.done) / done)} left" if done else ""
        return f"{self.title}: {stage.name} {stage.done:,} of {stage.total:,}{stage.note}{left}"

    @contextmanager
    def printing(self) -> Iterator[ProgressLines]:
        """Print lines inside the block also while nothing is reported, as in a long step of a library."""
        finished = threading.Event()

        def run() -> None:
            while not finished.wait(FIRST):
                self.tick()

        thread = threading.Thread(target=run, name="progress", daemon=True)
        thread.start()
        try:
            yield self
        finally:
            finished.set()
            thread.join()
