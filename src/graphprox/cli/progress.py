"""Progress of long work, on stderr: a bar for each stage, gone when the stage is done."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn


class Show(Protocol):
    """Shows how far a stage of the work is; a note, such as the loss, may stand beside it."""

    def __call__(self, stage: str, done: int, total: int, note: str = "") -> None:
        """Show that so much of a stage is done."""


@contextmanager
def shown_progress(title: str) -> Iterator[Show]:
    """A callable (stage, done, total) that shows how far the work is; silent where stderr is no terminal."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:.0f} %"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        tasks: dict[str, TaskID] = {}

        def show(stage: str, done: int, total: int, note: str = "") -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task("", total=total)
            bars.update(tasks[stage], description=f"{title}: {stage}{note}", completed=done, total=total)

        yield show
