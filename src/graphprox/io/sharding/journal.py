"""The journal of a run: which of its steps are done, so that a run that was killed is continued."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graphprox.errors import WriteError
from graphprox.io.sharding.id_files import flush
from graphprox.io.storage.files import reason

JOURNAL = "journal.jsonl"

Facts = dict[str, Any]


class Journal:
    """A line of JSON for each step that is done, with what is known of its result.

    Files of a step are flushed to disk before its line is written, and the line before the next step begins.

    Parameters
    ----------
    folder : Path
        The working folder.
    run : mapping of str to object
        What the result depends on: files and settings.
    resume : bool
        Whether the steps of an earlier run are taken over.

    Raises
    ------
    WriteError
        If the earlier run was another one.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Journal(Path(folder), {"edges": "a.csv"}, resume=False).record("edges", 0, size=5)
    ...     Journal(Path(folder), {"edges": "a.csv"}, resume=True).find("edges", 0)
    {'size': 5}
    """

    def __init__(self, folder: Path, run: Mapping[str, Any], *, resume: bool) -> None:
        self._path = folder / JOURNAL
        self._done: dict[tuple[str, int], Facts] = {}
        lines = self._read() if resume else []
        if lines:
            self._check_run(lines[0], run)
            self._done = {(line["step"], line["number"]): line["facts"] for line in lines[1:]}
        # The last line may be a part of one.
        first = {"run": dict(run)}
        rest = [{"step": step, "number": number, "facts": facts} for (step, number), facts in self._done.items()]
        new = folder / f"{JOURNAL}.new"
        with new.open("w") as file:
            file.writelines(json.dumps(line) + "\n" for line in (first, *rest))
            flush(file)
        new.replace(self._path)

    def find(self, step: str, number: int = 0) -> Facts | None:
        """Return what is known of the result of a step, or None if it is not done.

        Parameters
        ----------
        step : str
        number : int, default=0
            Which of several steps of this name.
        """
        return self._done.get((step, number))

    def count(self, step: str) -> int:
        """Return how many steps of a name are done."""
        return sum(name == step for name, _ in self._done)

    def record(self, step: str, number: int = 0, **facts: Any) -> Facts:
        """Note that a step is done.

        Parameters
        ----------
        step : str
        number : int, default=0
        **facts
            What is known of its result.

        Returns
        -------
        dict
            The facts.
        """
        with self._path.open("a") as file:
            file.write(json.dumps({"step": step, "number": number, "facts": facts}) + "\n")
            flush(file)
        self._done[step, number] = facts
        return facts

    def _read(self) -> list[dict[str, Any]]:
        """Return the lines that are complete."""
        try:
            text = self._path.read_text()
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as error:
            raise WriteError(f"{self._path} cannot be read: {reason(error)}: leave resume out to start again") from None
        lines = []
        for line in text.split("\n")[:-1]:
            try:
                lines.append(json.loads(line))
            except ValueError:  # what follows was written later
                break
        return lines

    def _check_run(self, line: Mapping[str, Any], run: Mapping[str, Any]) -> None:
        earlier = line.get("run", {})
        wanted = json.loads(json.dumps(dict(run)))
        changed = [name for name in {**wanted, **earlier} if earlier.get(name) != wanted.get(name)]
        if changed:
            raise WriteError(
                "a run must be resumed with the files and options that it was started with; "
                f"{', '.join(changed)} changed: leave resume out to start again"
            )
