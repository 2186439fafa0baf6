"""Files of observations: JSON Lines, rewritten atomically after each one, so that an interrupted run can be resumed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from graphprox.io.storage.files import atomic_write

T = TypeVar("T")


def read_observations(path: Path, kind: type[T]) -> list[T]:
    """Read the observations of a file, none if it does not exist.

    Parameters
    ----------
    path : Path
    kind : type
        Their dataclass.

    Returns
    -------
    list
    """
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [kind(**json.loads(line)) for line in lines]


def write_observations(path: Path, observations: Iterable[Any]) -> None:
    """Write observations, which are dataclasses, to a file.

    Parameters
    ----------
    path : Path
    observations : iterable
    """
    with atomic_write(path) as (temporary,):
        temporary.write_text("".join(json.dumps(asdict(each)) + "\n" for each in observations), encoding="utf-8")


def format_rows(rows: Iterable[Sequence[str]]) -> str:
    """Return the rows of a Markdown table.

    Parameters
    ----------
    rows : iterable of sequence of str

    Returns
    -------
    str
    """
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)
