"""Record: one trial's figures, with everything that is needed to measure them again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from graphprox.errors import ReadError
from graphprox.experiments.spec import Trial
from graphprox.io.files import reason, written_whole


@dataclass(frozen=True)
class Record:
    """What was measured, of what, by what, and at what cost.

    ``figures`` are by the name of the metric, a number per split where there are splits. ``graph`` is the checksum of
    the graph, its labels and its public splits, ``depends_on`` a hash of it and of all settings. ``seconds`` are of
    the embedding and of its evaluation, ``peak_memory`` is in bytes.
    """

    experiment: str
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
    command: str

    def is_of(self, trial: Trial) -> bool:
        """Whether it holds what the trial would measure on the same graph; not if a setting has changed since."""
        return self.depends_on == trial.fingerprint(self.graph)

    def to_json(self) -> str:
        """Its text: a line for each field, so that people can read it and a change shows where it is."""
        lines = [f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in asdict(self).items()]
        return "{\n" + ",\n".join(lines) + "\n}\n"

    def write(self, results: Path, trial: Trial) -> None:
        """Keep it in the folder of results, whole or not at all."""
        path = results / trial.path
        path.parent.mkdir(parents=True, exist_ok=True)
        with written_whole(path) as (temporary,):
            temporary.write_text(self.to_json(), encoding="utf-8")


def read_record(results: Path, trial: Trial) -> Record | None:
    """The record of a trial, or None where there is none, or one that was measured with other settings."""
    path = results / trial.path
    try:
        record = Record(**json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise ReadError(f"{path} must be a record; it cannot be read as such: {reason(error)}: delete it") from None
    return record if record.is_of(trial) else None


def read_records(results: Path, trials: Iterable[Trial]) -> list[tuple[Trial, Record]]:
    """The trials that have a record that holds, and these."""
    found = ((trial, read_record(results, trial)) for trial in trials)
    return [(trial, record) for trial, record in found if record is not None]
