"""What all stages of sharding share: the working folder, the journal, and how much is in memory at a time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from graphprox._utils.progress import current_progress
from graphprox.io.sharding.id_files import IdFile
from graphprox.io.sharding.journal import Journal


@dataclass(frozen=True)
class BlockSizes:
    """How much is in memory at a time.

    Parameters
    ----------
    rows : int
        Rows of a table of edges, ids or labels.
    ids : int
        Ids of all files that are merged.
    entries : int
        Entries of the adjacency matrix in a merge.
    values : int
        Values of features.
    """

    rows: int = 2**21
    ids: int = 2**22
    entries: int = 2**23
    values: int = 2**23


@dataclass(frozen=True)
class Workspace:
    """The working folder of a run.

    Parameters
    ----------
    folder : Path
    journal : Journal
    sizes : BlockSizes
    """

    folder: Path
    journal: Journal
    sizes: BlockSizes

    def path(self, kind: str, number: int | None = None) -> Path:
        """Return the path of a file of a stage.

        Parameters
        ----------
        kind : str
            What it contains.
        number : int, optional
            Which of several; None if there is one.
        """
        return self.folder / (kind if number is None else f"{kind}-{number:06d}")

    def id_files(self, step: str, kind: str, *, is_text: bool) -> list[IdFile]:
        """Return the files of ids of all blocks of a step, whose journal has the number of ``ids`` of each.

        Parameters
        ----------
        step : str
            Name of the step.
        kind : str
            What the files contain.
        is_text : bool
            Whether ids are strings.
        """
        facts = [self.journal.find(step, number) or {} for number in range(self.journal.count(step))]
        return [IdFile(self.path(kind, number), is_text, each["ids"]) for number, each in enumerate(facts)]

    def report(self, stage: str, done: int, total: int = 0, note: str = "") -> None:
        """Report the progress of a stage, whose size is 0 if it is not known."""
        progress = current_progress()
        if progress is not None:
            progress(stage, done, total, note)
