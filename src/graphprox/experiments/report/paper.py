"""The figures that the paper reports, from experiments/paper.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphprox.errors import ParameterError, ReadError
from graphprox.io.files import readable, reason
from graphprox.training.tables import did_you_mean, shown


@dataclass(frozen=True)
class Reported:
    """A figure of the paper's, and its standard deviation where the paper gives one."""

    mean: float
    deviation: float | None = None


@dataclass(frozen=True)
class Paper:
    """The paper's tables by name.

    >>> paper = Paper({"links": {"FT-GCL": {"Cora": {"auc": [92.98, 0.81]}}}})
    >>> paper.figure("links", "FT-GCL", "Cora", "auc")
    Reported(mean=92.98, deviation=0.81)
    >>> paper.figure("links", "FT-GCL", "PubMed", "auc") is None
    True
    """

    tables: Mapping[str, Any]

    @classmethod
    def read(cls, path: Path) -> Paper:
        """The tables in a TOML file; none where there is no such file."""
        if not path.exists():
            return cls({})
        try:
            return cls(tomllib.loads(readable(path).read_text(encoding="utf-8")))
        except (OSError, ValueError, RecursionError) as error:
            raise ReadError(f"{path} must be TOML; it cannot be read as such: {reason(error)}") from None

    def table(self, name: str) -> Mapping[str, Any]:
        """What a table lists: methods, or the data sets of a table that has no methods."""
        if name not in self.tables:
            hint = did_you_mean(name, self.tables) if self.tables else "there is no paper.toml beside the experiments"
            raise ParameterError(f"paper must name a table of paper.toml; got {name!r}: {hint}")
        listed: Mapping[str, Any] = self.tables[name]
        return listed

    def figure(self, table: str, *names: str) -> Reported | None:
        """The figure that names lead to, such as method, data set and metric; None where the paper has none."""
        found: Any = self.table(table)
        for name in names:
            if not isinstance(found, Mapping) or name not in found:
                return None
            found = found[name]
        numbers = found if isinstance(found, list) else [found]
        if not 1 <= len(numbers) <= 2 or not all(isinstance(number, int | float) for number in numbers):
            place = ".".join((table, *names))
            raise ReadError(f"in paper.toml, {place} must be a mean and perhaps a deviation; got {shown(found)}")
        return Reported(*map(float, numbers))
