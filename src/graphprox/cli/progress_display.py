"""Progress bars on stderr, one for each stage of long work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import rich.progress
from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeRemainingColumn

from graphprox._utils.progress import Progress


@contextmanager
def progress_bars(title: str) -> Iterator[Progress]:
    """Open progress bars, which disappear at the end; nothing is shown if stderr is not a terminal.

    Parameters
    ----------
    title : str
        Text before the name of the stage.
    """
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:.0f} %"),
        TimeRemainingColumn(),
    )
    with rich.progress.Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        tasks: dict[str, TaskID] = {}

        def show(stage: str, done: int, total: int, note: str = "") -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task("", total=total)
            bars.update(tasks[stage], description=f"{title}: {stage}{note}", completed=done, total=total)

        yield show
