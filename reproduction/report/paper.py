"""Figures reported in publications, read from TOML."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphprox._utils.suggestions import did_you_mean, shorten_repr
from graphprox.errors import ParameterError, ReadError
from graphprox.io.storage.files import check_readable, reason


@dataclass(frozen=True)
class ReportedFigure:
    """A mean, and its standard deviation if the publication gives one.

    Parameters
    ----------
    mean : float
    deviation : float, optional
    """

    mean: float
    deviation: float | None = None


@dataclass(frozen=True)
class Paper:
    """Tables of reported figures by name.

    Parameters
    ----------
    tables : mapping
        Nested mappings, such as ``tables[table][method][dataset][metric]``.

    Examples
    --------
    >>> paper = Paper({"links": {"FT-GCL": {"Cora": {"auc": [92.98, 0.81]}}}})
    >>> paper.figure("links", "FT-GCL", "Cora", "auc")
    ReportedFigure(mean=92.98, deviation=0.81)
    >>> paper.figure("links", "FT-GCL", "PubMed", "auc") is None
    True
    """

    tables: Mapping[str, Any]

    @classmethod
    def read(cls, path: Path) -> Paper:
        """Read the tables of a TOML file; there are none if the file does not exist.

        Raises
        ------
        ReadError
            If the file is not TOML.
        """
        if not path.exists():
            return cls({})
        try:
            return cls(tomllib.loads(check_readable(path).read_text(encoding="utf-8")))
        except (OSError, ValueError, RecursionError) as error:
            raise ReadError(f"{path} must be TOML; it cannot be parsed: {reason(error)}") from None

    def table(self, name: str) -> Mapping[str, Any]:
        """Return a table.

        Raises
        ------
        ParameterError
            If there is no such table.
        """
        if name not in self.tables:
            hint = (
                did_you_mean(name, self.tables)
                if self.tables
                else "there is no paper.toml in the folder of experiments"
            )
            raise ParameterError(f"paper must name a table of paper.toml; got {name!r}: {hint}")
        table: Mapping[str, Any] = self.tables[name]
        return table

    def figure(self, table: str, *keys: str) -> ReportedFigure | None:
        """Return the figure at a table and keys such as method, data set and metric, or None if it is not reported.

        Raises
        ------
        ReadError
            If what is found is not a figure.
        """
        found: Any = self.table(table)
        for key in keys:
            if not isinstance(found, Mapping) or key not in found:
                return None
            found = found[key]
        numbers = found if isinstance(found, list) else [found]
        if not 1 <= len(numbers) <= 2 or not all(isinstance(number, int | float) for number in numbers):
            place = ".".join((table, *keys))
            raise ReadError(
                f"in paper.toml, {place} must be a mean, or a mean and a deviation; got {shorten_repr(found)}"
            )
        return ReportedFigure(*map(float, numbers))
