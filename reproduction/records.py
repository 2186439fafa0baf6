"""Records: the figures of each trial with everything needed to measure them again.

The records of an experiment are one JSON Lines file, sorted by data set, row and seed. A run appends to it, so that
killing the run loses at most the line being written. If a trial has several records, the last one is used.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

from graphprox.errors import ReadError, WriteError
from graphprox.io.storage.files import atomic_write, reason
from reproduction.experiment import Trial, TrialKey

if sys.platform != "win32":
    import fcntl


@dataclass(frozen=True)
class Record:
    """The figures of one trial, what they depend on, and what they cost.

    Parameters
    ----------
    dataset, row : str
        Names of the data set and of the row.
    seed : int
        Random seed of the training run.
    figures : dict
        Values by metric, one per split where there are splits.
    settings : dict
        Everything that the figures depend on, except for the graph.
    graph : str
        Checksum of the graph, its labels and its public splits.
    depends_on : str
        Fingerprint of ``graph`` and ``settings``.
    versions : dict of str to str
        Versions of Python and of the libraries.
    seconds : dict of str to float
        Wall-clock time of the embedding and of its evaluation, and processor time of the embedding.
    peak_memory : int or None
        In bytes.
    threads : int
        Number of threads.
    """

    dataset: str
    row: str
    seed: int
    figures: dict[str, Any]
    settings: dict[str, Any]
    graph: str
    depends_on: str
    versions: dict[str, str]
    seconds: dict[str, float]
    peak_memory: int | None
    threads: int

    @property
    def key(self) -> TrialKey:
        """Data set, row and seed."""
        return self.dataset, self.row, self.seed

    def is_current(self, trial: Trial) -> bool:
        """Return whether the trial still has the settings that were measured."""
        return self.depends_on == trial.fingerprint(self.graph)

    def to_json(self) -> str:
        """Return the record as one line of JSON, without the line break."""
        return json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":"))


def record_file(folder: Path, experiment: str) -> Path:
    """Return the path of the records of an experiment."""
    return folder / f"{experiment}.jsonl"


def read_records(folder: Path, experiment: str) -> dict[TrialKey, Record]:
    """Read the last record of each trial of an experiment.

    An incomplete last line, left by a run that was killed, is ignored.

    Parameters
    ----------
    folder : Path
        Folder of records.
    experiment : str
        Name of the experiment.

    Returns
    -------
    dict
        Records by data set, row and seed; empty if there is no file.

    Raises
    ------
    ReadError
        If a line is not a record.
    """
    path = record_file(folder, experiment)
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ReadError(f"{path} cannot be read: {reason(error)}") from None
    records = {}
    for number, line in enumerate(lines, 1):
        try:
            record = Record(**json.loads(line))
        except (ValueError, TypeError) as error:
            if not line.endswith(b"\n"):
                break
            raise ReadError(
                f"line {number} of {path} must be a record; it cannot be parsed: {reason(error)}: delete the line"
            ) from None
        records[record.key] = record
    return records


def read_current(folder: Path, trials: Iterable[Trial]) -> list[tuple[Trial, Record]]:
    """Read the records of trials, leaving out trials without a record or with one of other settings."""
    by_experiment: dict[str, dict[TrialKey, Record]] = {}
    found = []
    for trial in trials:
        name = trial.experiment.name
        if name not in by_experiment:
            by_experiment[name] = read_records(folder, name)
        record = by_experiment[name].get(trial.key)
        if record is not None and record.is_current(trial):
            found.append((trial, record))
    return found


def append_record(folder: Path, experiment: str, record: Record) -> None:
    """Append a record to those of an experiment, and flush it to disk.

    Raises
    ------
    WriteError
        If the file cannot be written.
    """
    path = record_file(folder, experiment)
    try:
        with _lock(folder), path.open("ab+") as file:
            _repair_end(file)
            file.write(record.to_json().encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise WriteError(f"{path} cannot be written: {reason(error)}") from None


def sort_records(folder: Path, experiment: str) -> None:
    """Rewrite the records of an experiment sorted, without duplicates and incomplete lines.

    The file is written atomically, and only if its content changes.
    """
    path = record_file(folder, experiment)
    if not path.exists():
        return
    with _lock(folder):
        records = read_records(folder, experiment)
        content = "".join(records[key].to_json() + "\n" for key in sorted(records)).encode()
        if content != path.read_bytes():
            with atomic_write(path) as (temporary,):
                temporary.write_bytes(content)


def _repair_end(file: BinaryIO) -> None:
    """Remove an incomplete last line, or complete it if only its line break is missing."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 1))
    if file.read() in (b"", b"\n"):
        return
    file.seek(0)
    last = file.read().rpartition(b"\n")[2]
    try:
        json.loads(last)
    except ValueError:
        file.truncate(size - len(last))
    else:
        file.write(b"\n")


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, so that runs that share it do not lose each other's records."""
    if sys.platform == "win32":  # has no flock: do not write the same records from two processes there
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)  # which releases the lock
